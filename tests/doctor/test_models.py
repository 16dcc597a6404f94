"""The doctor asks every model of a configuration once, and says in one line what it can or what is wrong."""

import json
import os
from pathlib import Path

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.doctor.checks import report
from coevolve.doctor.models import asked, managed, model_checks, places
from coevolve.errors import EndpointError
from coevolve.llm.base import ChatRequest
from coevolve.llm.faulty_server import FaultyServer
from coevolve.llm.scripted import ScriptedModel

ENDPOINT = ("models=openai_compatible", "solver=scripted", "gate.cost_unit=tokens", "models.key_env=null")
DEAD = "models.base_url=http://127.0.0.1:9/v1"


def configured(*words: str) -> RunConfig:
    return load(compose(*words), RunConfig)


def obedient(request: ChatRequest) -> str:
    return json.dumps({"colour": "blue"}) if request.schema else "yes"


async def said_of(server: FaultyServer, *words: str) -> str:
    config = configured(*ENDPOINT, f"models.base_url={server.base_url}", *words)
    return await asked(places(config)[1], config.vllm)


def test_each_model_is_asked_once_with_its_roles_named() -> None:
    found = places(configured("models=paper", "gate.cost_unit=tokens", "solver=scripted"))
    assert [(place.model, place.roles) for place in found] == [
        ("scripted", ("solver",)),
        ("deepseek-v4-pro", ("director", "extend", "revise", "verify 2", "attempt", "meta_skill")),
        ("qwen3.8-max", ("verify 1",)),
        ("gpt-5.6", ("verify 3", "meta_harness")),
    ]
    assert places(configured("models=embedded", "solver=scripted"))[0].roles == ("solver", "attempt")


async def test_an_endpoint_that_keeps_schemas_is_told_from_one_that_ignores_them() -> None:
    async with FaultyServer(ScriptedModel(obedient), {}, seed=0) as server:
        assert (await said_of(server)).endswith(", keeps JSON schemas")
    async with FaultyServer(ScriptedModel(lambda _: "Hello there!"), {}, seed=0) as server:
        said = await said_of(server)
        assert "ignores JSON schemas (it said 'Hello there!')" in said
        assert server.base_url in said and "answers in" in said


async def test_a_role_that_asks_without_a_schema_is_not_judged_by_one() -> None:
    async with FaultyServer(ScriptedModel(lambda _: "Hello there!"), {}, seed=0) as server:
        config = configured(*ENDPOINT, f"models.base_url={server.base_url}", "models.director.schema_mode=none")
        director = next(place for place in places(config) if "director" in place.roles)
        assert "schema" not in await asked(director, config.vllm)


async def test_a_missing_model_is_named_with_the_address() -> None:
    async with FaultyServer(ScriptedModel(obedient), {}, seed=0, names=("other",)) as server:
        with pytest.raises(EndpointError, match=r"127\.0\.0\.1.*no model 'default' there"):
            await said_of(server)


def test_a_dead_endpoint_is_one_broken_line(capsys: pytest.CaptureFixture[str]) -> None:
    checks = model_checks(configured(*ENDPOINT, DEAD), start=False)
    assert [report(name, check) for name, check in checks] == [True, False]
    first, second = capsys.readouterr().out.splitlines()
    assert first == "ok     solver: scripted, in this process"
    assert second.startswith("BROKEN director, extend") and "http://127.0.0.1:9/v1: cannot connect" in second


def test_weights_that_are_not_here_are_unfinished_and_never_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ((name, check), *_) = model_checks(configured("models=embedded", "solver=embedded"), start=False)
    assert report(name, check)
    assert "unfinished solver, attempt: qwen2.5-coder-0.5b-instruct: its weights are not" in capsys.readouterr().out
    assert not any(tmp_path.iterdir())


def test_a_managed_server_is_told_with_its_gpus_memory_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages" / "vllm").mkdir(parents=True)
    (tmp_path / "packages" / "vllm" / "__init__.py").write_text("")
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, NVIDIA H200, 143771, 143060'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    config = configured("models=vllm", "solver=scripted", "vllm.max_model_len=4096")
    said = managed("Qwen/Qwen3-8B", config.vllm)
    assert "weights of about 14.9 GiB, on GPU 0 (140 GiB free): " in said
    assert "CUDA_VISIBLE_DEVICES=0 " in said
    assert "-m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B" in said
    assert said.endswith("--max-model-len 4096 --tensor-parallel-size 1 --gpu-memory-utilization 0.9")
    with pytest.raises(EndpointError, match=r"needs about 67\d GiB"):
        managed("org/big-360B", config.vllm)

"""Managed servers: the command, one-line refusals, and no process left behind at any end of the run."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from coevolve.config_models import FlowConfig, VllmConfig
from coevolve.errors import EndpointError, MissingExtra
from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.keeper import descendants
from coevolve.llm.vllm import VllmModel, VllmServers
from coevolve.llm.vllm_plan import Gpu, assign_gpus, diagnose, find_gpus, free_ram_gib, server_plan, weights_gib

FLOW = FlowConfig(concurrency=4, requests_per_minute=None, tokens_per_minute=None, timeout_seconds=5.0, retries=1)
REQUEST = ChatRequest((Message("user", "hello"),), Sampling(0.0, 8, 1))
SOURCE = Path(__file__).resolve().parents[2] / "src"
FAKE_SERVER = """
import http.server, json, os, signal, subprocess, sys, time
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
mode = os.environ.get("FAKE_MODE", "")
print("INFO loading", given["--model"], flush=True)
if mode == "memory":
    sys.exit("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
if mode in ("slow", "deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as vllm at warm-up; inherited by what it starts
engine = subprocess.Popen(["sleep", "600"], start_new_session=True)
with open(os.environ["FAKE_PIDS"], "a") as file:
    file.write(f"{os.getpid()} {engine.pid} ")
if mode == "slow":
    time.sleep(600)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({})
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if mode == "dies" and asked["messages"][0]["content"] == "hello":
            print("RuntimeError: the engine is dead", flush=True)
            os._exit(1)
        message = {"content": given["--port"]}
        self.answer({"model": asked["model"], "choices": [{"message": message, "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
    def answer(self, payload):
        data = json.dumps(payload).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer((given["--host"], int(given["--port"])), Handler).serve_forever()
"""


def config(**changes) -> VllmConfig:
    plain = {
        "python": None,
        "device": "cpu",
        "tensor_parallel": 1,
        "data_parallel": 1,
        "gpu_memory": 0.9,
        "max_model_len": None,
        "startup_seconds": 30.0,
        "arguments": [],
    }
    return VllmConfig.model_validate({**plain, **changes})


@pytest.fixture
def fake_vllm(tmp_path, monkeypatch) -> Path:
    """A package that starts as vllm does; the file that names its processes."""
    folder = tmp_path / "packages" / "vllm" / "entrypoints" / "openai"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parent.parent):
        (package / "__init__.py").write_text("")
    (folder / "api_server.py").write_text(FAKE_SERVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    monkeypatch.setenv("FAKE_PIDS", str(tmp_path / "pids"))
    return tmp_path / "pids"


def fake_gpus(folder: Path, monkeypatch, *lines: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text("#!/bin/sh\ncat <<END\n" + "\n".join(lines) + "\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def alive(pids: Path) -> list[int]:
    found = []
    for word in pids.read_text().split():
        try:
            state = Path(f"/proc/{word}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(int(word))
    return found


def gone(pids: Path, within: float) -> bool:
    deadline = time.monotonic() + within
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


async def test_a_server_is_started_shared_by_its_roles_and_ended_by_the_last(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # what is on this machine is asked directly
    said: list[str] = []
    servers = VllmServers(config(), tmp_path / "logs", said.append)
    one, two = VllmModel("some/model", servers, FLOW), VllmModel("some/model", servers, FLOW)
    first = await one.chat(REQUEST)
    assert (await two.preflight()).text == first.text
    assert len(fake_vllm.read_text().split()) == 2
    await one.close()
    assert (await two.chat(REQUEST)).text == first.text
    await two.close()
    await two.close()
    assert gone(fake_vllm, 1)
    assert said[0].startswith("starting vllm for some/model on the CPU") and "is ready" in said[-1]


async def test_several_servers_of_one_model_share_the_calls(fake_vllm, tmp_path, monkeypatch):
    fake_gpus(tmp_path, monkeypatch, "0, H200, 143771, 143000", "1, H200, 143771, 143000")
    servers = VllmServers(config(device="gpu", data_parallel=2), tmp_path / "logs")
    model = VllmModel("some/model", servers, FLOW)
    await model.preflight()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.chat(REQUEST)) for _ in range(8)]
    await model.close()
    assert len({task.result().text for task in tasks}) == 2
    assert gone(fake_vllm, 1)


async def test_a_server_that_dies_at_start_says_why_in_one_line(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "memory")
    model = VllmModel("some/model", VllmServers(config(), tmp_path / "logs"), FLOW)
    with pytest.raises(EndpointError, match="some/model ended at start: memory is short") as failure:
        await model.preflight()
    assert "\n" not in str(failure.value)
    await model.close()


async def test_a_server_that_dies_later_ends_the_run_at_once_and_says_why(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "dies")
    model = VllmModel("m", VllmServers(config(), tmp_path / "logs"), FLOW.model_copy(update={"retries": 50}))
    await model.preflight()
    started = time.monotonic()
    with pytest.raises(EndpointError, match=r"vllm for m ended: RuntimeError: the engine is dead \(log: "):
        await model.chat(REQUEST)
    assert time.monotonic() - started < 10
    await model.close()
    assert gone(fake_vllm, 10)


async def test_a_server_that_never_gets_ready_is_ended(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "slow")
    monkeypatch.setattr("coevolve.llm.keeper.GRACE_SECONDS", 1.0)
    model = VllmModel("some/model", VllmServers(config(startup_seconds=1.0), tmp_path / "logs"), FLOW)
    with pytest.raises(EndpointError, match=r"not ready after 1 s"):
        await model.preflight()
    assert gone(fake_vllm, 8)


async def test_a_cancelled_start_leaves_nothing(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "slow")
    model = VllmModel("some/model", VllmServers(config(), tmp_path / "logs"), FLOW)
    starting = asyncio.create_task(model.preflight())
    for _ in range(200):
        await asyncio.sleep(0.05)
        if fake_vllm.exists() and len(fake_vllm.read_text().split()) == 2:
            break
    starting.cancel()
    await asyncio.wait([starting])
    assert gone(fake_vllm, 8)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_kill_9_of_the_run_ends_the_server_and_all_it_started(fake_vllm, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_MODE", "deaf")
    program = textwrap.dedent(f"""
        import asyncio, pathlib, sys
        sys.path.insert(0, {str(SOURCE)!r})
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_vllm import FLOW, config
        from coevolve.llm.vllm import VllmModel, VllmServers
        async def main():
            await VllmModel("m", VllmServers(config(), pathlib.Path({str(tmp_path / "logs")!r})), FLOW).preflight()
            print("up", flush=True)
            await asyncio.sleep(600)
        asyncio.run(main())
    """)
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
    assert run.stdout is not None and run.stdout.readline() == b"up\n"
    assert len(alive(fake_vllm)) == 2
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert gone(fake_vllm, 8)
    run.stdout.close()


def test_descendants_are_found_below_the_process():
    child = subprocess.Popen(["sleep", "5"])
    assert child.pid in descendants(os.getpid()) or not Path("/proc").is_dir()
    child.kill()
    child.wait()


def test_gpus_are_read_from_nvidia_smi_and_narrowed_by_the_environment(tmp_path, monkeypatch):
    fake_gpus(tmp_path, monkeypatch, "0, NVIDIA H200, 143771, 143060", "1, NVIDIA GB10, [N/A], [N/A]")
    found = find_gpus()
    assert (found[0].number, found[0].name, round(found[0].total_gib)) == (0, "NVIDIA H200", 140)
    assert len(found) == 2
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert [gpu.number for gpu in find_gpus()] == [1]


def test_a_model_too_big_for_the_memory_is_refused_on_the_cpu():
    if free_ram_gib() is None:
        pytest.skip("this system does not say how much memory is free")
    assert assign_gpus("someone/tiny-0.1B", [], config()) == [()]
    with pytest.raises(EndpointError, match=r"needs about \d+ GiB of memory on the CPU, \d+ are free"):
        assign_gpus("someone/huge-9000B", [], config())


def test_a_machine_without_gpus_and_a_demand_for_too_many_are_refused_in_one_line():
    with pytest.raises(EndpointError, match=r"no GPU found.*vllm\.device=cpu"):
        assign_gpus("m", [], config(device="gpu"))
    with pytest.raises(EndpointError, match="needs 4 GPUs, 1 found"):
        assign_gpus("m", [Gpu(0, "x", 80, 80)], config(device="gpu", tensor_parallel=2, data_parallel=2))


def test_a_model_too_big_for_its_gpus_is_refused_with_figures():
    small = [Gpu(n, "L4", 24, 23) for n in range(4)]
    with pytest.raises(EndpointError, match=r"needs about 32 GiB.*GPU 0 \(L4\) has 22"):
        assign_gpus("Qwen/Qwen3-16B", small, config(device="gpu"))
    assert len(assign_gpus("Qwen/Qwen3-16B", small, config(device="gpu", tensor_parallel=2))[0]) == 2


def test_weights_are_measured_in_a_folder_and_estimated_from_a_name(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 1024)
    assert weights_gib(str(tmp_path)) == 1024 / 1024**3
    assert weights_gib("Qwen/Qwen3-8B") == pytest.approx(14.9, abs=0.1)
    assert weights_gib("Qwen/Qwen3-8B-AWQ") == pytest.approx(3.7, abs=0.1)
    assert weights_gib("Qwen/Qwen3-8B-FP8") == pytest.approx(7.45, abs=0.1)
    assert weights_gib("someone/unsized") is None


def test_the_command_names_the_server_in_full():
    group = (Gpu(2, "x", 80, 80), Gpu(3, "x", 80, 80))
    plan = server_plan("py", "m", group, config(device="gpu", max_model_len=4096, arguments=["--seed", 1]), 8001)
    text = " ".join(plan.command)
    assert text.startswith("py -m vllm.entrypoints.openai.api_server --model m --served-model-name m --host 127.0.0.1")
    assert "--tensor-parallel-size 2" in text and "--max-model-len 4096" in text and text.endswith("--seed 1")
    assert plan.environment["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert "--enforce-eager" in server_plan("py", "m", (), config(), 8001).command


@pytest.mark.parametrize("python", [None, "/no/such/python"])
async def test_a_missing_vllm_is_one_line_with_the_cure(python, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    model = VllmModel("m", VllmServers(config(python=python), tmp_path), FLOW)
    with pytest.raises(MissingExtra, match="vllm"):
        await model.preflight()
    await model.close()


@pytest.mark.parametrize(
    ("log", "meaning"),
    [
        ("x\nModuleNotFoundError: No module named 'vllm'\n", "not installed"),
        ("ValueError: No available memory for the cache blocks. Try", "memory is short"),
        ("OSError: org/x is not a local folder and is not a valid model identifier", "weights are not found"),
        ("RuntimeError: Failed to infer device type", "no GPU is usable"),
        ("RuntimeError: operator torchvision::nms does not exist", "pip uninstall"),
        ("INFO fine\nValueError: something new\nINFO bye", "ValueError: something new"),
        ("", "it said nothing"),
    ],
)
def test_a_log_is_told_in_one_line(log, meaning):
    assert meaning in diagnose(log)

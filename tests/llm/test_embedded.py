"""The embedded model: one thread a server, the same seed the same text whatever ran before, nothing left behind."""

import asyncio
import json
import time

import pytest

from coevolve.errors import ConfigError
from coevolve.llm.base import ChatRequest, Message, Sampling, Usage
from coevolve.llm.embedded import EmbeddedModel, plan, usable_cores
from coevolve.llm.weights import locate

EXAMPLES = (
    Message("system", "Answer in one short line."),
    Message("user", "What is 90 / 3?"),
    Message("assistant", "90 / 3 = 30. Answer: 30"),
    Message("user", "What is 4 + 5?"),
    Message("assistant", "4 + 5 = 9. Answer: 9"),
)


def request(n: int, seed: int = 7, max_tokens: int = 12) -> ChatRequest:
    sampling = Sampling(0.9, max_tokens, seed, ("\n",))
    return ChatRequest((*EXAMPLES, Message("user", f"What is {n} + {n % 7}?")), sampling)


def test_one_thread_a_server_and_as_many_servers_as_cores():
    assert plan(slots=8, threads=0, cores=2) == (2, 1)
    assert plan(slots=8, threads=0, cores=64) == (8, 1)
    assert plan(slots=1, threads=0, cores=16) == (1, 1)
    assert plan(slots=8, threads=1, cores=16) == (1, 1)


def test_more_threads_a_server_only_where_asked_for():
    assert plan(slots=1, threads=4, cores=16) == (1, 4)
    assert plan(slots=2, threads=8, cores=16) == (2, 4)


def test_there_is_at_least_one_usable_core():
    assert usable_cores() >= 1


def test_a_file_that_is_no_model_is_one_line(tmp_path):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ConfigError, match=r"broken\.gguf cannot be loaded") as failure:
        EmbeddedModel(path, "broken", slots=1)
    assert "\n" not in str(failure.value)


@pytest.fixture(scope="module")
def path():
    pytest.importorskip("xllamacpp")
    return locate("smollm2-135m-instruct", None)


async def ask_all(model: EmbeddedModel, requests: list[ChatRequest]) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.chat(asked)) for asked in requests]
    return [task.result().text for task in tasks]


@pytest.mark.slow
async def test_the_same_seed_gives_the_same_text_whatever_ran_before_and_beside_it(path):
    requests = [request(n, seed) for n in range(6) for seed in (1, 2, 3)]
    one = EmbeddedModel(path, "smol", slots=1)
    alone = [(await one.chat(asked)).text for asked in requests]
    await one.close()
    many = EmbeddedModel(path, "smol", slots=4, threads=2)
    await many.chat(ChatRequest((Message("user", "Why is the sky blue?"),), Sampling(1.0, 8, 3)))
    beside = await ask_all(many, requests)
    backwards = await ask_all(many, requests[::-1])
    await many.close()
    assert beside == alone
    assert backwards[::-1] == alone
    assert len(set(alone)) > 6


@pytest.mark.slow
async def test_attempts_of_one_prompt_read_it_once(path):
    model = EmbeddedModel(path, "smol", slots=1)
    first, second = [await model.chat(request(3, seed)) for seed in (1, 2)]
    other = await model.chat(request(4))
    await model.close()
    assert first.usage.tokens_in == second.usage.tokens_in
    assert second.usage.tokens_cached == second.usage.tokens_in - 1
    assert 0 < first.usage.tokens_cached < first.usage.tokens_in
    assert other.usage.tokens_cached > other.usage.tokens_in / 2
    assert first.model == "smol" and first.seconds > 0


@pytest.mark.slow
async def test_stop_strings_limits_and_schemas_are_kept(path):
    model = EmbeddedModel(path, "smol", slots=2)
    line = await model.chat(request(3, max_tokens=40))
    cut = await model.chat(request(3, max_tokens=2))
    schema = {
        "type": "object",
        "properties": {"value": {"type": "integer"}},
        "required": ["value"],
        "additionalProperties": False,
    }
    typed = await model.chat(ChatRequest(request(3).messages, Sampling(0.0, 60, 1), schema))
    await model.close()
    assert "\n" not in line.text
    assert (cut.finish, cut.usage.tokens_out) == ("length", 2)
    assert isinstance(json.loads(typed.text)["value"], int)


@pytest.mark.slow
async def test_a_prompt_beyond_the_context_is_a_cut_reply_not_a_crash(path):
    model = EmbeddedModel(path, "smol", slots=1, context_tokens=256)
    cut = await model.chat(ChatRequest((Message("user", "word " * 1000),), Sampling(0.0, 4, 1)))
    assert (cut.text, cut.finish, cut.usage) == ("", "length", Usage(0, 0))
    assert (await model.chat(ChatRequest((Message("user", "Say yes."),), Sampling(0.0, 4, 1)))).text
    await model.close()


@pytest.mark.slow
async def test_cancelling_ends_the_work_and_frees_the_server(path):
    model = EmbeddedModel(path, "smol", slots=1, context_tokens=4096)
    long = ChatRequest((Message("user", "Count from 1 to 1000."),), Sampling(0.0, 3000, 1))
    running, queued = asyncio.create_task(model.chat(long)), asyncio.create_task(model.chat(long))
    await asyncio.sleep(1.0)
    running.cancel()
    queued.cancel()
    started = time.perf_counter()
    assert (await model.chat(request(3))).text
    assert time.perf_counter() - started < 10
    assert running.cancelled() and queued.cancelled()
    await model.close()
    await model.close()

"""The client against a server that fails in every way: bounded retries, exact counts, one-line refusals, no key."""

import asyncio
import json
import time
from dataclasses import dataclass

import pytest

from coevolve.config_models import FlowConfig
from coevolve.errors import CallFailed, EndpointError
from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling, Usage
from coevolve.llm.faulty_server import FAULTS, FaultyServer
from coevolve.llm.flow import Patience
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.scripted import ScriptedModel

QUICK = Patience(backoff=0.02, backoff_most=0.1, cool=0.05, cool_most=0.2, dead=1.0)
KEY = "sk-very-secret-0123456789"


def flow(**changes) -> FlowConfig:
    plain = {
        "concurrency": 16,
        "requests_per_minute": None,
        "tokens_per_minute": None,
        "timeout_seconds": 1.0,
        "retries": 8,
    }
    return FlowConfig.model_validate({**plain, **changes})


def model(server: FaultyServer, name: str = "m", key_env: str | None = None, **changes) -> OpenAIModel:
    return OpenAIModel.at(name, server.base_url, key_env, flow(**changes), patience=QUICK)


def request(n: int = 0) -> ChatRequest:
    return ChatRequest((Message("user", f"question {n}"),), Sampling(0.7, 64, n), {"type": "object"})


def echo() -> ScriptedModel:
    return ScriptedModel(lambda asked: json.dumps({"to": asked.messages[-1].content, "seed": asked.sampling.seed}))


async def ask_all(client: OpenAIModel, count: int) -> list[ChatReply]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.chat(request(n))) for n in range(count)]
    return [task.result() for task in tasks]


async def test_every_fault_ends_in_a_reply_and_the_token_counts_of_both_sides_agree():
    shares = dict.fromkeys(FAULTS, 0.03)
    async with FaultyServer(echo(), shares, seed=5, hang_seconds=20, slow_seconds=0.1) as server:
        client = model(server, timeout_seconds=4.0)
        replies = await ask_all(client, 300)
        served = server.served
        failures = client.state.failures
        await client.close()
    assert len(replies) == 300
    assert set(served.outcomes) == {"ok", *FAULTS}
    assert sum(len(reply.retries) for reply in replies) == served.requests - 300
    assert sum(failures.values()) == served.requests - 300
    assert failures["429"] == served.outcomes["429"] + served.outcomes["429_wait"]
    assert failures["timeout"] == served.outcomes["hang"]
    assert failures["malformed"] == served.outcomes["malformed"]
    assert failures["model"] == served.outcomes["wrong_model"]
    assert served.tokens["in"] == sum(reply.usage.tokens_in for reply in replies)
    assert served.tokens["out"] == sum(reply.usage.tokens_out for reply in replies)
    assert sum(reply.finish == "length" for reply in replies) == served.outcomes["truncation"]


async def test_retries_are_capped_in_all_and_the_failure_names_address_and_tries():
    async with FaultyServer(echo(), {"500": 1.0}, seed=1) as server:
        client = model(server, retries=2)
        with pytest.raises(CallFailed, match=r"http://127.*500.*3 tries") as failure:
            await client.chat(request())
        await client.close()
        assert failure.value.retries == ("500", "500", "500")
        assert server.served.requests == 3


async def test_a_hanging_server_ends_the_call_at_its_timeout():
    async with FaultyServer(echo(), {"hang": 1.0}, seed=1, hang_seconds=10) as server:
        client = model(server, retries=0, timeout_seconds=0.3)
        started = time.perf_counter()
        with pytest.raises(CallFailed, match="no reply in time"):
            await client.chat(request())
        assert time.perf_counter() - started < 1
        await client.close()


async def test_a_cancelled_call_leaves_no_slot_taken():
    async with FaultyServer(echo(), {"hang": 1.0}, seed=1, hang_seconds=10) as server:
        client = model(server, concurrency=2, timeout_seconds=10.0)
        tasks = [asyncio.create_task(client.chat(request(n))) for n in range(5)]
        await until(lambda: (client.state.in_flight, client.state.waiting) == (2, 3))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert (client.state.in_flight, client.state.waiting) == (0, 0)
        await client.close()


async def test_too_fast_halves_the_concurrency_and_success_raises_it_again():
    async with FaultyServer(echo(), {"429": 1.0}, seed=1) as server:
        client = model(server, concurrency=32, retries=1000)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(client.chat(request(n))) for n in range(32)]
            await until(lambda: server.served.outcomes["429"] >= 32)
            server.faults = {}
        assert all(task.result().retries for task in tasks)
        slowed = client.state.limit
        assert slowed < 32
        await ask_all(client, 400)
        assert client.state.limit > slowed
        await client.close()


async def until(holds) -> None:
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came about")


async def test_a_server_that_stays_away_opens_the_breaker_and_ends_the_run_in_one_line():
    async with FaultyServer(echo(), {"500": 1.0}, seed=1) as server:
        client = model(server, retries=1000)
        with pytest.raises(ExceptionGroup) as group:
            await ask_all(client, 30)
        assert client.state.breaker != "closed"
        assert group.group_contains(EndpointError, match="no good answer for 1 s")
        assert server.served.requests < 60
        await client.close()


async def test_a_server_that_comes_back_closes_the_breaker_and_loses_no_call():
    async with FaultyServer(echo(), {"500": 1.0}, seed=1) as server:
        client = model(server, retries=20)

        async def repair() -> None:
            await until(lambda: client.state.breaker != "closed")
            server.faults = {}

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(repair())
            asked = tasks.create_task(ask_all(client, 40))
        assert len(asked.result()) == 40
        assert client.state.breaker == "closed"
        await client.close()


@pytest.mark.parametrize("fault", ["key", "model", "dead", "hang"])
async def test_a_preflight_tells_in_one_line_what_is_wrong_and_where(fault, monkeypatch, caplog):
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setattr("coevolve.llm.openai.PREFLIGHT_SECONDS", 1.0)
    faults = {"hang": 1.0} if fault == "hang" else {}
    async with FaultyServer(echo(), faults, seed=1, key="another", names=("m",)) as server:
        server._key = KEY if fault == "model" else None if fault == "hang" else "another"
        client = model(server, name="absent" if fault == "model" else "m", key_env="TEST_KEY", timeout_seconds=60.0)
        if fault == "dead":
            await server.__aexit__()
        with pytest.raises(EndpointError) as failure:
            await client.preflight()
        await client.close()
    said = str(failure.value)
    expected = {
        "key": "the key in TEST_KEY",
        "model": "no model 'absent'",
        "dead": "cannot connect",
        "hang": "no good answer within 1 s",
    }
    assert expected[fault] in said and server.base_url in said and "\n" not in said
    assert KEY not in said + repr(client) + caplog.text + repr(vars(failure.value))


async def test_a_preflight_passes_through_a_first_429():
    async with FaultyServer(echo(), {"429_wait": 1.0}, seed=1) as server:
        client = model(server)

        async def relent() -> None:
            await until(lambda: server.served.outcomes["429_wait"] == 1)
            server.faults = {}

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(relent())
            reply = tasks.create_task(client.preflight())
        assert set(reply.result().retries) == {"429"}
        await client.close()


@pytest.mark.parametrize("address", [None, "localhost:8000", "ftp://host/v1", "http://host:port/v1"])
def test_a_wrong_address_is_refused_before_any_call(address):
    with pytest.raises(EndpointError, match="is no address"):
        OpenAIModel.at("m", address, None, flow())


def test_a_missing_key_is_refused_before_any_call_and_not_asked_for_on_this_machine(monkeypatch):
    monkeypatch.delenv("TEST_KEY", raising=False)
    with pytest.raises(EndpointError, match="TEST_KEY is not set"):
        OpenAIModel.at("m", "https://models.example/v1", "TEST_KEY", flow())
    OpenAIModel.at("m", "http://127.0.0.1:1/v1", "TEST_KEY", flow())


def test_user_and_password_of_an_address_are_not_shown():
    client = OpenAIModel.at("m", "https://user:pass@models.example/v1?token=t", None, flow())
    assert client.where == "https://models.example/v1"
    assert "pass" not in repr(client)


async def test_requests_a_minute_are_spread_and_never_passed():
    async with FaultyServer(echo(), {}, seed=1) as server:
        client = model(server, requests_per_minute=600)
        started = time.perf_counter()
        await ask_all(client, 70)
        assert 0.9 < time.perf_counter() - started < 2.5
        await client.close()


@dataclass
class Thinking:
    """Thinks before it answers."""

    name: str = "thinking"

    async def chat(self, asked: ChatRequest) -> ChatReply:
        return ChatReply("42", "stop", Usage(10, 8, 0, 6), self.name, 0.0, reasoning="six times seven")

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("thinking", [True, False, None])
async def test_thinking_is_switched_separated_and_counted(thinking):
    async with FaultyServer(Thinking(), {}, seed=1) as server:
        client = OpenAIModel.at("m", server.base_url, None, flow(), thinking)
        reply = await client.chat(request())
        await client.close()
        asked = server.bodies[-1].get("chat_template_kwargs")
    assert asked == (None if thinking is None else {"enable_thinking": thinking, "thinking": thinking})
    assert (reply.text, reply.reasoning, reply.usage.tokens_reasoning) == ("42", "six times seven", 6)


async def test_a_server_that_knows_no_template_variables_is_asked_by_effort_and_many_calls_learn_it_once():
    async with FaultyServer(Thinking(), {}, seed=1) as server:
        server.refuses = ("chat_template_kwargs",)
        client = OpenAIModel.at("m", server.base_url, None, flow(), True, patience=QUICK)
        replies = await ask_all(client, 20)
        assert server.bodies[-1]["reasoning_effort"] == "medium"
        server.refuses = ("chat_template_kwargs", "reasoning_effort")
        with pytest.raises(EndpointError, match=r"refuses thinking=True.*set thinking=null"):
            await client.chat(request())
        await client.close()
    assert not any(reply.retries for reply in replies)


async def test_a_prompt_longer_than_the_context_is_a_cut_reply_and_not_a_failure():
    async with FaultyServer(echo(), {}, seed=1) as server:
        server.context_tokens = 100
        client = model(server)
        long = ChatRequest((Message("user", "word " * 200),), Sampling(0.7, 64, 0))
        reply = await client.chat(long)
        assert (reply.text, reply.finish, reply.usage) == ("", "length", Usage(0, 0))
        assert (await client.chat(request())).text
        with pytest.raises(EndpointError, match="max_tokens=100 leaves no room in the context of 100 tokens"):
            await client.chat(ChatRequest(request().messages, Sampling(0.7, 100, 0)))
        await client.close()

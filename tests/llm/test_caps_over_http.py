"""A cap in dollars is never passed, by the server's own count, however many calls are in flight."""

import asyncio
from pathlib import Path

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.config_models import FlowConfig, PriceConfig
from coevolve.errors import CoevolveError, RunCeilingReached
from coevolve.events import Scope
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger
from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls, Seat
from coevolve.llm.faulty_server import FaultyServer, Served
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.scripted import ScriptedModel

CAP_USD = 0.50
PRICE = PriceConfig(input=100.0, output=100.0, cached=None, reasoning=None, nominal=False)
"""A call of the loads below costs 0.3 to 1.2 cents."""
MAX_TOKENS = 100
BUDGET = load(compose("experiment=demo", f"budget.total.usd={CAP_USD}"), RunConfig).budget


def flow(at_once: int) -> FlowConfig:
    return FlowConfig(
        concurrency=at_once, requests_per_minute=None, tokens_per_minute=None, timeout_seconds=20.0, retries=5
    )


def varied() -> ScriptedModel:
    """Replies of 10 to 100 tokens."""
    return ScriptedModel(lambda asked: "word " * (8 + asked.sampling.seed * 37 % 72), seconds=0.02)


async def spend(folder: Path, calls: int, at_once: int, faults: dict[str, float]) -> tuple[Served, Ledger, int]:
    """Start `calls` calls at once under the cap; what the server served, the ledger, and how many were refused."""
    ledger = Ledger(folder / "ledger.jsonl", 0)
    made = Calls(Journal(folder / "journal"), ledger, Budgets(BUDGET, ledger), lambda row: None)
    made.start_round(1)
    async with FaultyServer(varied(), faults, seed=4, slow_seconds=0.1) as server:
        model = OpenAIModel.at("m", server.base_url, None, flow(at_once))

        async def one(n: int) -> ChatReply | CoevolveError:
            request = ChatRequest((Message("user", f"question {n} " * 4),), Sampling(0.7, MAX_TOKENS, n))
            key = CallKey(Scope(round=1, phase="reporting"), f"c{n}", 0, "solver", 0)
            try:
                return await made.call(key, Seat(model, PRICE, 0.7, MAX_TOKENS), request)
            except RunCeilingReached as error:
                return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(n)) for n in range(calls)]
        await model.close()
        made.journal.close()
        return server.served, ledger, sum(isinstance(task.result(), RunCeilingReached) for task in tasks)


def dollars(served: Served) -> float:
    return (served.tokens["in"] + served.tokens["out"]) * 100.0 / 1_000_000


async def test_half_a_dollar_is_not_passed_by_64_calls_in_flight(tmp_path: Path) -> None:
    served, ledger, refused = await spend(tmp_path, 160, 64, {})
    assert 0.97 * CAP_USD < dollars(served) <= CAP_USD
    assert ledger.run.microusd == round(1_000_000 * dollars(served))
    assert refused == 160 - served.requests


async def test_nor_by_200_at_a_server_that_fails(tmp_path: Path) -> None:
    served, ledger, refused = await spend(tmp_path, 200, 200, dict.fromkeys(("429", "429_wait", "slow"), 0.05))
    assert 0.97 * CAP_USD < dollars(served) <= CAP_USD
    assert ledger.run.microusd == round(1_000_000 * dollars(served))
    assert refused == 200 - ledger.run.calls

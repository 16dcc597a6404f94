"""Every call: recorded once, charged once, stopped by ceilings before it is made, also under concurrency."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, load
from coevolve.config import BudgetConfig, RunConfig
from coevolve.config_models import PriceConfig
from coevolve.errors import CallFailed, CeilingReached, Interrupted, RunCeilingReached
from coevolve.events import Scope
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger, evolution, generation, operators
from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling, Usage
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls, Seat

PRICE = PriceConfig(input=1.0, output=2.0, cached=None, reasoning=None, nominal=True)
BUDGET = load(compose("experiment=demo"), RunConfig).budget.model_dump()
REQUEST = ChatRequest((Message("user", "hello"),), Sampling(0.0, 100, 1))


@dataclass
class Counting:
    """Answers after a moment, with 10 tokens in and 20 out; counts its calls."""

    name: str = "counting"
    seconds: float = 0.0
    fails: bool = False
    made: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.made.append(request.messages[-1].content)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.seconds)
        self.at_once -= 1
        if self.fails:
            raise CallFailed("no")
        return ChatReply("hi", "stop", Usage(10, 20), self.name, 0.1)

    async def close(self) -> None:
        return None


def calls(folder: Path, number: int = 1, **ceilings: dict[str, Any]) -> Calls:
    base = dict(BUDGET)
    none = {"calls": None, "tokens": None, "usd": None, "seconds": None}
    base.update(
        {scope: {**none, **ceilings.get(scope, {})} for scope in ("generation", "evaluation", "chain", "total")}
    )
    ledger = Ledger(folder / "ledger.jsonl", 0)
    budgets = Budgets(BudgetConfig.model_validate(base), ledger)
    made = Calls(Journal(folder / "journal"), ledger, budgets, lambda row: None)
    made.start_round(number)
    return made


def key(n: int = 0, phase: Any = "generation", role: str = "extend", chain: str = "c", probe: str = "") -> CallKey:
    return CallKey(Scope(round=1, phase=phase, probe=probe), chain, n, role, 0)


async def test_a_recorded_call_is_not_made_again_and_is_charged_again_once(tmp_path: Path) -> None:
    model = Counting()
    first = calls(tmp_path)
    reply = await first.call(key(), Seat(model, PRICE, 0, 100), REQUEST, seen=3)
    second = calls(tmp_path)
    assert second.recorded_seen(key()) == 3
    assert await second.call(key(), Seat(model, PRICE, 0, 100), REQUEST) == reply
    assert len(model.made) == 1
    assert second.ledger.run.microusd == first.ledger.run.microusd == 50


async def test_a_record_answers_only_the_same_request(tmp_path: Path) -> None:
    model = Counting()
    await calls(tmp_path).call(key(), Seat(model, PRICE, 0, 100), REQUEST)
    other = ChatRequest((Message("user", "other"),), Sampling(0.0, 100, 1))
    await calls(tmp_path).call(key(), Seat(model, PRICE, 0, 100), other)
    await calls(tmp_path).call(key(1), Seat(model, PRICE, 0, 100), REQUEST)
    assert model.made == ["hello", "other", "hello"]


async def test_a_ceiling_is_checked_before_the_call(tmp_path: Path) -> None:
    model = Counting()
    made = calls(tmp_path, generation={"calls": 2}, evaluation={"calls": 1}, total={"calls": 4})
    seat = Seat(model, PRICE, 0, 100)
    await made.call(key(1), seat, REQUEST)
    await made.call(key(2), seat, REQUEST)
    with pytest.raises(CeilingReached) as caught:
        await made.call(key(3), seat, REQUEST)
    assert caught.value.scope == "generation"
    await made.call(key(4, "in_loop", "solver"), seat, REQUEST)
    assert not made.budgets.left("evaluation")
    with pytest.raises(CeilingReached):
        await made.call(key(5, "candidate", "extend", probe="candidate-1"), seat, REQUEST)
    await made.call(key(6, "reporting", "solver"), seat, REQUEST)
    with pytest.raises(RunCeilingReached):
        await made.call(key(7, "reporting", "solver"), seat, REQUEST)
    assert len(model.made) == 4


async def test_a_chain_ceiling_stops_one_chain_only(tmp_path: Path) -> None:
    made = calls(tmp_path, chain={"calls": 1})
    seat = Seat(Counting(), PRICE, 0, 100)
    await made.call(key(1, chain="a"), seat, REQUEST)
    with pytest.raises(CeilingReached) as caught:
        await made.call(key(2, chain="a"), seat, REQUEST)
    assert caught.value.scope == "chain"
    await made.call(key(1, chain="b"), seat, REQUEST)


async def test_200_calls_at_once_never_pass_a_dollar_cap(tmp_path: Path) -> None:
    model = Counting(seconds=0.002)
    cap = 0.002
    made = calls(tmp_path, total={"usd": cap})
    results = await asyncio.gather(
        *(made.call(key(n), Seat(model, PRICE, 0, 100), REQUEST) for n in range(200)), return_exceptions=True
    )
    assert (made.ledger.run.microusd or 0) <= cap * 1_000_000
    assert (made.ledger.run.microusd or 0) > 0.85 * cap * 1_000_000, "room left by settled calls is used"
    assert sum(isinstance(result, RunCeilingReached) for result in results) == 200 - len(model.made)
    assert model.most_at_once > 1


async def test_a_failure_that_the_run_went_on_from_stands_and_stays_counted(tmp_path: Path) -> None:
    model = Counting(fails=True)
    made = calls(tmp_path)
    with pytest.raises(CallFailed) as first:
        await made.call(key(), Seat(model, PRICE, 0, 100), REQUEST)
    again = calls(tmp_path)
    with pytest.raises(CallFailed) as second:
        await again.call(key(), Seat(model, PRICE, 0, 100), REQUEST)
    assert (str(first.value), first.value.retries) == (str(second.value), second.value.retries)
    assert len(model.made) == 1
    assert made.ledger.run.calls == again.ledger.run.calls == 1


async def test_a_failure_that_ended_the_run_stays_counted_and_the_call_is_made_again(tmp_path: Path) -> None:
    model = Counting(fails=True)
    place = key(phase="reporting", role="solver")
    with pytest.raises(CallFailed):
        await calls(tmp_path).call(place, Seat(model, PRICE, 0, 100), REQUEST)
    again = calls(tmp_path)
    assert again.ledger.run.calls == 1
    model.fails = False
    await again.call(place, Seat(model, PRICE, 0, 100), REQUEST)
    assert len(model.made) == again.ledger.run.calls == 2
    last = calls(tmp_path)
    await last.call(place, Seat(model, PRICE, 0, 100), REQUEST)
    assert (len(model.made), last.ledger.run.calls) == (2, 2)


async def test_what_an_earlier_process_paid_counts_before_it_is_come_to(tmp_path: Path) -> None:
    seat = Seat(Counting(), PRICE, 0, 100)
    first = calls(tmp_path, generation={"calls": 3})
    for n in range(3):
        await first.call(key(n), seat, REQUEST)
    again = calls(tmp_path, generation={"calls": 3})
    with pytest.raises(CeilingReached):
        await again.call(key(9), seat, REQUEST)
    for n in range(3):
        await again.call(key(n), seat, REQUEST)
    assert again.ledger.expected.run.calls == 0
    assert again.ledger.run.calls == 3


async def test_a_ceiling_that_refused_once_is_closed_for_the_round_also_after_a_restart(tmp_path: Path) -> None:
    short = Seat(Counting(), PRICE, 0, 100)
    long = Seat(Counting(), PRICE, 0, 1000)
    room = {"tokens": 200}
    first = calls(tmp_path, evaluation=room)
    wide = ChatRequest(REQUEST.messages, Sampling(0.0, 1000, 1))
    assert first.budgets.left("evaluation")
    with pytest.raises(CeilingReached) as refused:
        await first.call(key(1, "in_loop"), long, wide)
    with pytest.raises(CeilingReached):
        await first.call(key(2, "in_loop"), short, REQUEST)
    assert not first.budgets.left("evaluation")
    again = calls(tmp_path, evaluation=room)
    assert again.budgets.left("evaluation"), "asked before this process meets the refusal, as it was the first time"
    with pytest.raises(CeilingReached) as repeated:
        await again.call(key(2, "in_loop"), short, REQUEST)
    assert str(repeated.value) == str(refused.value)
    assert not again.budgets.left("evaluation")
    await calls(tmp_path, number=2, evaluation=room).call(key(2, "in_loop"), short, REQUEST)


async def test_paid_calls_that_a_resumed_round_does_not_come_to_are_charged_at_its_end(tmp_path: Path) -> None:
    seat = Seat(Counting(), PRICE, 0, 100)
    first = calls(tmp_path)
    await first.call(key(1), seat, REQUEST)
    await first.call(key(2), seat, REQUEST)
    again = calls(tmp_path)
    await again.call(key(2), seat, REQUEST)
    again.end_round()
    again.ledger.close()
    rows = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [(row["step"], row["outcome"]) for row in rows] == [(2, "ok"), (1, "unused")]
    assert again.ledger.run.microusd == first.ledger.run.microusd


async def test_short_calls_of_each_start_are_charged_to_the_round_it_takes_up(tmp_path: Path) -> None:
    reply = ChatReply("yes", "stop", Usage(10, 1), "m", 0.1)
    for start in (1, 2, 3):
        made = calls(tmp_path)
        assert made.ledger.run.calls == start - 1, "those of earlier starts stay paid for"
        made.charge([("director", Seat(Counting(), PRICE, 0, 100), reply)])
        made.start_round(1)
        (cell,) = made.ledger.cells()
        assert (cell["phase"], cell["role"], cell["calls"]) == ("initialisation", "director", start)
        assert cell["microusd"] == 12 * start


async def test_a_reply_that_does_not_fit_is_told_apart_in_the_ledger(tmp_path: Path) -> None:
    made = calls(tmp_path)
    seat = Seat(Counting(), PRICE, 0, 100)
    await made.call(key(1), seat, REQUEST, fits=lambda text: text == "hi")
    await made.call(key(2), seat, REQUEST, fits=lambda text: text != "hi")
    made.ledger.close()
    rows = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["ok", "unparsed"]


async def test_after_stop_calls_in_flight_end_and_no_new_one_starts(tmp_path: Path) -> None:
    model = Counting(seconds=0.05)
    made = calls(tmp_path)
    seat = Seat(model, PRICE, 0, 100)
    flying = asyncio.create_task(made.call(key(1), seat, REQUEST))
    await asyncio.sleep(0.01)
    made.stop()
    with pytest.raises(Interrupted):
        await made.call(key(2), seat, REQUEST)
    assert (await flying).text == "hi"
    assert calls(tmp_path).recorded_seen(key(1)) == 0


async def test_costs_are_sums_by_scope(tmp_path: Path) -> None:
    made = calls(tmp_path)
    seat = Seat(Counting(), PRICE, 0, 100)
    roles = ["director", "extend", "revise", "verify", "meta_skill"]
    for n, role in enumerate(roles):
        await made.call(key(n, role=role), seat, REQUEST)
    await made.call(key(9, "in_loop", "solver"), seat, REQUEST)
    await made.call(key(9, "candidate", "extend", probe="candidate-1"), seat, REQUEST)
    await made.call(key(9, "reporting", "solver"), seat, REQUEST)
    assert made.ledger.sum(generation).microusd == 5 * 50
    assert made.ledger.sum(operators).microusd == 3 * 50
    assert made.ledger.sum(evolution).microusd == 7 * 50
    assert sum(cell["calls"] for cell in made.ledger.cells()) == 8


async def test_one_unknown_price_makes_a_sum_unknown_not_smaller(tmp_path: Path) -> None:
    made = calls(tmp_path)
    unknown = PriceConfig(input=None, output=None, cached=None, reasoning=None, nominal=False)
    await made.call(key(1), Seat(Counting(), PRICE, 0, 100), REQUEST)
    await made.call(key(2), Seat(Counting(), unknown, 0, 100), REQUEST)
    assert made.ledger.run.microusd is None
    assert made.ledger.run.tokens == 60

"""A real batch with the procedural model: who sees a new skill, what counts as a miss, and what a resume repeats."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.synthesis.played import Says, Slow

from coevolve.agents.base import Desk
from coevolve.agents.meta_skill import meta_skill
from coevolve.agents.solver import Solver
from coevolve.algorithm import update_online
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.config_models import PriceConfig
from coevolve.errors import EndpointError
from coevolve.evaluation.gate import accept
from coevolve.evaluation.outcomes import Probe, Scores, TaskScore
from coevolve.event_log import EventLog
from coevolve.events import Scope, SolverMiss
from coevolve.harness import Harness
from coevolve.harness_folder import initial_harness
from coevolve.journal import Journal
from coevolve.lab import ModelLab
from coevolve.ledger import CallKey, Ledger
from coevolve.llm.base import ChatReply, ChatRequest
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls, Seat
from coevolve.skills import SkillProposal
from coevolve.start import Start
from coevolve.synthesis.batch import Batch, Workshop
from coevolve.synthesis.verification import FixedVerifier
from coevolve.tasks import Answer, Certificate, Task
from coevolve.verifiers.base import Verifiers

CONFIG = load(compose("experiment=demo", "models=procedural"), RunConfig)
PRICE = PriceConfig(input=0.1, output=0.4, cached=None, reasoning=None, nominal=True)


def tasks(n: int) -> list[Task]:
    return [
        Task(
            id=f"m{number}",
            chain=f"m{number}",
            domain="math",
            round=0,
            question=f"Ann has {number + 2} pens and buys {number + 3} more. How many pens does she have?",
            answer=Answer(type="integer", value=str(2 * number + 5)),
            certificate=Certificate(kind="source"),
            source="test",
            license="CC0-1.0",
        )
        for number in range(n)
    ]


@asynccontextmanager
async def workshop(folder: Path, solver: Says, model: Slow, events: list[Any]) -> AsyncIterator[Workshop]:
    ledger = Ledger(folder / "ledger.jsonl", 0)
    calls = Calls(Journal(folder / "journal"), ledger, Budgets(CONFIG.budget, ledger), lambda row: None)
    calls.start_round(1)
    seat = Seat(model, PRICE, 0.0, 4096)
    roles = ("director", "extend", "revise", "verify", "meta_skill", "meta_harness")
    desk = Desk(calls, dict.fromkeys(roles, (seat,)), 0, CONFIG.constraints)
    verifiers = Verifiers(CONFIG.verification)
    own = Solver(calls, Seat(solver, PRICE, 0.7, 64, False), "few_shot", verifiers, 0)
    try:
        yield Workshop(desk, FixedVerifier(desk, verifiers, own, CONFIG.verification), 3, events.append)
    finally:
        await verifiers.close()
        calls.journal.close()


async def run(
    shop: Workshop, harness: Harness, n: int, learn: Callable[[Batch, SolverMiss], Any] | None = None, scope: Any = None
) -> Batch:
    batch = Batch(harness, tasks(n), scope or Scope(round=1, phase="generation"), shop)
    async with asyncio.TaskGroup() as group:
        async for event in batch.steps():
            if isinstance(event, SolverMiss) and learn is not None:
                group.create_task(learn(batch, event))
            elif isinstance(event, SolverMiss):
                event.settled.set()
    return batch


async def new_skill(batch: Batch, miss: SolverMiss) -> None:
    name = "learnt-" + miss.trace.replace("/", "-")
    await batch.admit(miss, [SkillProposal(name=name, intent="i", method=name, difficulty_effect="d", tool_hint="")])


async def test_a_batch_makes_valid_harder_tasks_with_certificates(tmp_path: Path) -> None:
    events: list[Any] = []
    async with workshop(tmp_path, Says("Answer: 1"), Slow(), events) as shop:
        batch = await run(shop, initial_harness(), 6)
    assert len(batch.produced) >= 5
    for task in batch.produced.values():
        assert task.certificate.kind in ("program", "derivation")
        assert task.parent == task.chain
        assert len(task.question) <= CONFIG.constraints.question_chars
        assert set(task.skills) <= {skill.name for skill in initial_harness().skills}
    assert sum(event.kind == "chain" for event in events) == 6


async def test_misses_are_only_parsed_untruncated_wrong_answers_on_valid_tasks(tmp_path: Path) -> None:
    for number, (solver, misses) in enumerate(
        [(Says("Answer: -12345"), True), (Says("no idea"), False), (Says("Answer: -12345", finish="length"), False)]
    ):
        events: list[Any] = []
        async with workshop(tmp_path / str(number), solver, Slow(), events) as shop:
            batch = await run(shop, initial_harness(), 4)
        assert any(event.kind == "miss" for event in events) is misses
        assert len(batch.produced) >= 3, "a failed attempt says nothing about validity"


async def test_the_next_director_step_and_the_siblings_see_an_admitted_skill(tmp_path: Path) -> None:
    model = Slow()
    async with workshop(tmp_path, Says("Answer: -12345"), model, []) as shop:
        batch = await run(shop, initial_harness(), 5, new_skill)
    learnt = [skill.name for skill in batch.harness.skills if skill.name.startswith("learnt")]
    assert len(learnt) == 5
    assert all(skill.provenance and skill.status == "online" for skill in batch.harness.skills[-5:])
    asked = [text for role, text in model.calls if role == "director"]
    assert any(learnt[0] in text for text in asked)
    assert learnt[0] in asked[-1], "the last chain, which started later, sees what a sibling taught"


async def test_the_model_is_told_neither_round_nor_arm(tmp_path: Path) -> None:
    model = Slow()

    async def ask(batch: Batch, miss: SolverMiss) -> None:
        key = CallKey(miss.scope, miss.chain, miss.step, "meta_skill", 0)
        harness, seen = await batch.view(key)
        await batch.admit(miss, (await meta_skill(shop.desk, key, harness, [miss], seen)).skills)

    told: dict[int, list[tuple[str, str]]] = {}
    for number in (1, 7):
        model.calls.clear()
        async with workshop(tmp_path / str(number), Says("Answer: -12345"), model, []) as shop:
            shop.desk.calls.start_round(number)
            await run(shop, initial_harness(), 2, ask, Scope(round=number, phase="generation"))
        told[number] = [(role, text) for role, text in model.calls if role == "meta_skill"]
        for _, text in model.calls:
            words = set(json.loads(text))
            assert not words & {"round", "ablation", "arm", "phase", "probe", "seed", "scope"}
            assert f"r{number}/" not in text
    assert told[1] and told[7]


async def test_probes_leave_production_untouched(tmp_path: Path) -> None:
    harness = initial_harness()
    async with workshop(tmp_path, Says("Answer: -12345"), Slow(), []) as shop:
        scope = Scope(round=1, phase="candidate", probe="candidate-1")
        probe = await run(shop, harness, 3, new_skill, scope)
        production = Batch(harness, tasks(3), Scope(round=1, phase="generation"), shop)
    assert len(probe.harness.skills) > len(harness.skills)
    assert production.harness == harness == initial_harness()
    again = Journal(tmp_path / "journal")
    again.open_round(1)
    assert set(again.admissions) == {"candidate/candidate-1"}
    again.close()


async def test_removing_a_skill_or_changing_the_workflow_changes_the_tasks(tmp_path: Path) -> None:
    questions = []
    full = initial_harness()
    fewer = full.with_skills(full.skills[1:2])
    longer = full.replaced(workflow=full.workflow.model_copy(update={"extends": 2, "steps": 9}))
    for number, harness in enumerate((full, fewer, longer)):
        async with workshop(tmp_path / str(number), Says("Answer: -12345"), Slow(), []) as shop:
            batch = await run(shop, harness, 6)
        questions.append([task.question for task in batch.produced.values()])
    assert questions[0] != questions[1]
    assert questions[0] != questions[2]
    assert sum(map(len, questions[2])) > sum(map(len, questions[0]))


async def test_a_resumed_batch_pays_for_nothing_twice_and_ends_alike(tmp_path: Path) -> None:
    async with workshop(tmp_path, Says("Answer: -12345", slowest=0.01), Slow(seconds=0.01), []) as shop:
        first = await run(shop, initial_harness(), 8, new_skill)
    journal = tmp_path / "journal" / "r001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for cut in (len(lines), len(lines) * 2 // 3, len(lines) // 3, 1):
        journal.write_bytes(b"".join(lines[:cut]))
        kept = sum(b'"call"' in line[:8] for line in lines[:cut])
        model = Slow(seconds=0.01, rng=random.Random(cut))
        solver = Says("Answer: -12345", slowest=0.01, rng=random.Random(cut))
        async with workshop(tmp_path, solver, model, []) as shop:
            again = await asyncio.wait_for(run(shop, initial_harness(), 8, new_skill), 60)
            made = len(model.calls) + solver.calls
            rows = shop.desk.calls.ledger.run.calls
        assert made == rows - kept, "every recorded call was found, every other one made once"
        if cut == len(lines):
            assert made == 0
            assert again.harness == first.harness
            assert again.produced == first.produced


async def test_a_generation_ceiling_ends_the_batch_and_keeps_what_is_done(tmp_path: Path) -> None:
    budget = CONFIG.budget.model_copy(update={"generation": CONFIG.budget.generation.model_copy(update={"calls": 14})})
    async with workshop(tmp_path, Says("Answer: 1"), Slow(), []) as shop:
        calls = shop.desk.calls
        calls.budgets = Budgets(budget, calls.ledger)
        batch = await run(replace(shop, concurrency=1), initial_harness(), 8)
    assert 1 <= len(batch.produced) < 8
    assert len(batch.produced) + batch.failed == 8
    assert calls.ledger.run.calls <= 14


async def test_a_batch_resumed_at_its_ceiling_pays_for_nothing_more_and_ends_alike(tmp_path: Path) -> None:
    budget = CONFIG.budget.model_copy(update={"generation": CONFIG.budget.generation.model_copy(update={"calls": 31})})
    ends = []
    for seconds in (0.01, 0.0, 0.003):
        model, solver, events = Slow(seconds=seconds), Says("Answer: -12345", slowest=seconds), []
        async with workshop(tmp_path, solver, model, events) as shop:
            calls = shop.desk.calls
            calls.budgets = Budgets(budget, calls.ledger)
            calls.start_round(1)
            batch = await asyncio.wait_for(run(shop, initial_harness(), 12, new_skill), 60)
            calls.end_round()
        shown = sorted(event.model_dump_json() for event in events if event.kind == "chain")
        ends.append((batch.produced, shown, calls.ledger.run.calls, calls.ledger.run.tokens))
        assert 1 <= len(batch.produced) < 12
        assert ends[0] == ends[-1]
        assert (len(model.calls) == 0) == (len(ends) > 1)


async def test_a_probe_ended_early_is_reported_as_less_valid(tmp_path: Path) -> None:
    async with workshop(tmp_path, Says("Answer: 1"), Slow(), []) as whole:
        desk = replace(whole.desk, constraints=CONFIG.constraints.model_copy(update={"question_chars": 10}))
        shop = replace(whole, desk=desk, verify=replace(whole.verify, desk=desk), concurrency=1)
        scope = Scope(round=1, phase="candidate", probe="candidate-1")
        batch = Batch(initial_harness(), tasks(6), scope, shop, may_miss=1)
        async for _ in batch.steps():
            pass
    assert batch.ended_early and not batch.complete
    scores = Scores(tasks=(TaskScore(chain="a", domain="math", correct=2, attempts=4),))
    baseline = Probe("baseline", "h", True, 6, 5, scores, 100, 100)
    cut = baseline._replace(complete=False, valid=len(batch.produced), scores=None, ended_early=batch.ended_early)
    (reason,) = accept(cut, baseline, CONFIG.gate).reasons
    assert reason.startswith("less valid")
    (reason,) = accept(cut._replace(ended_early=False), baseline, CONFIG.gate).reasons
    assert reason == "incomplete evaluation"


async def test_an_endpoint_that_dies_while_a_skill_is_asked_for_ends_the_batch_and_hangs_nobody(tmp_path: Path) -> None:
    class Dying(Slow):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if request.schema_name == "meta_skill":
                raise EndpointError("http://host: refuses the key")
            return await super().chat(request)

    async with workshop(tmp_path, Says("Answer: -12345"), Dying(seconds=0.01), []) as shop:
        log = EventLog(tmp_path / "events.jsonl")
        lab = ModelLab(CONFIG, shop.desk, shop.verify.own, shop.verify, log, "", "", Start(CONFIG), lambda event: None)
        with pytest.raises(EndpointError, match="refuses the key"):
            batch = lab.start_batch(initial_harness(), tasks(5), Scope(round=1, phase="generation"), None)
            await asyncio.wait_for(drive(batch, lab), 60)
        log.close()
    assert len([event for event in batch.events if event.kind == "chain"]) == 5


async def drive(batch: Batch, lab: ModelLab) -> None:
    try:
        async with asyncio.TaskGroup() as updates:
            async for event in batch.steps():
                if isinstance(event, SolverMiss):
                    updates.create_task(update_online(batch, event, lab))
    except* EndpointError as errors:
        raise errors.exceptions[0] from None

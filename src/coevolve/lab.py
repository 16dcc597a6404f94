"""The model-backed operators that algorithm.py calls, delegating to agents, synthesis and evaluation."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coevolve.agents.base import Desk
from coevolve.agents.meta_harness import meta_harness
from coevolve.agents.meta_skill import meta_skill
from coevolve.agents.solver import Solver
from coevolve.algorithm import Improvement, InLoopTest, Proposed
from coevolve.archive import Version
from coevolve.concurrency import finish_all
from coevolve.config import RunConfig
from coevolve.errors import (
    CallFailed,
    CeilingReached,
    ConstraintViolation,
    ModelError,
    Stopped,
    ToolError,
    UserError,
)
from coevolve.evaluation.outcomes import Probe, Scores
from coevolve.evaluation.paired import judge
from coevolve.evaluation.solver import score
from coevolve.event_log import EventLog
from coevolve.events import Event, Scope, SolverMiss
from coevolve.harness import Harness, apply
from coevolve.ledger import CallKey, evolution, generation, operators
from coevolve.procedural.inert import inert_prompts
from coevolve.skills import SkillProposal, admit
from coevolve.synthesis.batch import Batch, Workshop
from coevolve.synthesis.chain import trace_of
from coevolve.synthesis.feedback import summarise
from coevolve.synthesis.verification import FixedVerifier
from coevolve.tasks import DOMAINS, Task

WEAKEST = ("derivation", "source")
FAILURES_A_DOMAIN = 6
"""Failed tasks of the in-loop test that one MetaSkill call sees."""


@dataclass(slots=True)
class ModelLab:
    """Algorithm 1's effects, on models, tools and a ledger."""

    config: RunConfig
    desk: Desk
    solver: Solver
    verify: FixedVerifier
    log: EventLog
    fixed_hash: str
    config_hash: str
    start: Callable[["ModelLab"], Awaitable[Version]]
    """Curates and screens seeds and loads H_0 (lines 3-4)."""
    watch: Callable[[Event], None]

    async def initialize(self) -> Version:
        """Lines 3-4: seeds and H_0."""
        return await self.start(self)

    def start_round(self, number: int) -> None:
        """Open the journal of a round."""
        self.desk.calls.start_round(number)
        self.emit(Event(kind="round", scope=Scope(round=number, phase="generation")))

    def start_batch(self, harness: Harness, tasks: Sequence[Task], scope: Scope, may_miss: int | None) -> Batch:
        """Line 6: a batch on a working copy."""
        concurrency = self.config.budget.chain_concurrency
        self.emit(Event(kind="batch", scope=scope, data={"chains": len(tasks), "harness_id": harness.id}))
        workshop = Workshop(self.desk, self.verify, concurrency, self.emit)
        return Batch(harness, tasks, scope, workshop, may_miss)

    async def meta_skill(self, batch: Batch, miss: SolverMiss) -> tuple[SkillProposal, ...]:
        """Line 10's MetaSkill; an unusable reply or a spent ceiling teaches nothing."""
        key = CallKey(miss.scope, miss.chain, miss.step, "meta_skill", 0)
        harness, seen = await batch.view(key)
        try:
            return (await meta_skill(self.desk, key, harness, [miss], seen)).skills
        except (ModelError, CeilingReached):
            return ()
        except (Stopped, UserError) as error:
            batch.stop(error)
            return ()

    async def in_loop_test(self, scope: Scope, tasks: Sequence[Task], before: Sequence[Task]) -> InLoopTest:
        """Line 16: four attempts at each retained task; wrong ones at new tasks are failures to learn from."""
        try:
            scores, attempts = await score(self.solver, scope, tasks, self.config.budget.attempts)
        except (CeilingReached, CallFailed, ToolError) as error:
            self.emit(Event(kind="warning", scope=scope, data={"message": f"in-loop test incomplete: {error}"}))
            return InLoopTest(None, ())
        old = {task.id for task in before}
        failures = []
        for task in tasks:
            wrong = next((found for found in attempts[task.chain] if found.outcome == "wrong"), None)
            if wrong is None or task.id in old:
                continue
            trace = trace_of(Scope(round=scope.round, phase="in_loop", probe="test"), task.chain, 0)
            draft = task.draft().model_copy(update={"skills_used": task.skills[-self._skills_a_round :]})
            failures.append(SolverMiss(trace, scope, task.chain, 0, task, draft, wrong.text, wrong.extracted))
        self.emit(Event(kind="test", scope=scope, data={**brief(scores), "failures": len(failures)}))
        return InLoopTest(scores, tuple(failures))

    async def learn(self, scope: Scope, online: Harness, test: InLoopTest) -> Harness:
        """Lines 17-18: Admit(L, MetaSkill(F)) on a copy of the online harness; one call a domain."""
        groups = [[miss for miss in test.failures if miss.task.domain == domain] for domain in DOMAINS]
        groups = [group[:FAILURES_A_DOMAIN] for group in groups if group]

        async def ask(group: list[SolverMiss]) -> tuple[SkillProposal, ...]:
            key = CallKey(scope, group[0].task.domain, 0, "meta_skill", 0)
            try:
                return (await meta_skill(self.desk, key, online, group)).skills
            except (ModelError, CeilingReached):
                return ()

        revised = online
        for group, proposals in zip(groups, await finish_all(ask(group) for group in groups), strict=True):
            traces = tuple(miss.trace for miss in group)
            result = admit(revised.skills, proposals, traces, "post_task", self.config.constraints)
            revised = revised.with_skills(result.skills)
            data = {"trace": ", ".join(traces), "admitted": list(result.admitted), "refused": result.refused}
            self.emit(Event(kind="admission", scope=scope, data=data))
        return revised

    def evaluation_left(self) -> bool:
        """Line 22: whether the evaluation ceiling has room."""
        return self.desk.calls.budgets.left("evaluation")

    async def meta_harness(
        self, scope: Scope, revised: Harness, batch: Batch, test: InLoopTest, rejections: Sequence[Mapping[str, object]]
    ) -> Proposed | None:
        """Line 25: a proposal applied to a fresh copy of the revised harness; Gamma is checked before any probe.

        None when the evaluation budget does not suffice for asking.
        """
        feedback = {
            "metrics": self._metrics(batch),
            "logs": summarise(batch),
            "scores": brief(test.scores) if test.scores else {},
        }
        key = CallKey(Scope(round=scope.round, phase="post_task"), scope.probe, 0, "meta_harness", 0)
        try:
            proposal = await meta_harness(self.desk, key, revised, self.config.goal, feedback, rejections)
        except CeilingReached:
            return None
        except ModelError as error:
            return Proposed(None, f"no usable proposal: {error}", {})
        plain = proposal.model_dump(mode="json")
        try:
            candidate, violation = apply(revised, proposal.edits, self.config.constraints), None
        except ConstraintViolation as error:
            candidate, violation = None, str(error)
        plain["inert"] = self._inert(revised, candidate or revised)
        if candidate and all(edit.kind == "prompt" and edit.name in plain["inert"] for edit in proposal.edits):
            candidate, violation = None, "its prompt edits change nothing that the procedural model reads"
        self.emit(Event(kind="proposal", scope=scope, data={**plain, "violation": violation}))
        return Proposed(candidate, violation, plain)

    def _inert(self, revised: Harness, candidate: Harness) -> list[str]:
        played = [role for role in candidate.prompts if getattr(self.config.models, role).kind == "procedural"]
        return inert_prompts(revised.prompts, candidate.prompts, played)

    async def close_probe(self, batch: Batch, retained: Sequence[Task]) -> Probe:
        """Score a probe's outputs after fallback, with its own generation cost."""
        scope, scores = batch.scope, None
        if batch.complete:
            try:
                scores, _ = await score(self.solver, scope, retained, self.config.budget.attempts)
            except (CeilingReached, CallFailed, ToolError) as error:
                self.emit(Event(kind="warning", scope=scope, data={"message": f"probe incomplete: {error}"}))
        cost = self.desk.calls.ledger.sum(
            lambda phase, probe, role: (phase, probe) == (scope.phase, scope.probe) and role != "solver"
        )
        probe = Probe(
            name=scope.probe,
            harness_id=batch.snapshot.id,
            complete=scores is not None,
            cohort=len(batch.tasks),
            valid=len(batch.produced),
            scores=scores,
            microusd=cost.microusd,
            tokens=cost.tokens,
            tasks=tuple(retained),
            ended_early=batch.ended_early,
        )
        record = probe.record()
        self.emit(Event(kind="probe", scope=scope, data={**record, "scores": brief(scores) if scores else None}))
        return probe

    async def report_accuracy(self, number: int, tasks: Sequence[Task]) -> Scores:
        """Accuracy from attempts made for that alone, in every arm and round; feeds nothing back (I12, I14)."""
        scope = Scope(round=number, phase="reporting")
        scores, _ = await score(self.solver, scope, tasks, self.config.budget.attempts)
        self.emit(Event(kind="accuracy", scope=scope, data=brief(scores)))
        return scores

    def close_round(
        self, parent: Version, batch: Batch, tasks: tuple[Task, ...], outcome: Improvement, scores: Scores
    ) -> Version:
        """Line 32: everything the archive keeps of a round."""
        evaluations: dict[str, Any] = {
            "reporting": scores.record(),
            "batch": {**summarise(batch), "n_tasks": len(tasks)},
        }
        if weak := weak_zeros(tasks, scores):
            evaluations["weak_zeros"] = weak
        if outcome.test is not None and outcome.test.scores is not None:
            evaluations["in_loop"] = outcome.test.scores.record()
        if outcome.baseline is not None:
            evaluations["baseline"] = outcome.baseline.record()
            evaluations["candidates"] = [
                {**probe.record(), "verdict": verdict.record(), "proposal": dict(proposal)}
                for probe, verdict, proposal in zip(outcome.probes, outcome.verdicts, outcome.proposals, strict=True)
            ]
            for name, verdict in zip((probe.name for probe in outcome.probes), outcome.verdicts, strict=True):
                scope = Scope(round=batch.scope.round, phase="candidate", probe=name)
                self.emit(Event(kind="verdict", scope=scope, data=verdict.record()))
            if outcome.repeat is not None:
                would = judge(outcome.repeat, outcome.baseline, self.config.gate)
                evaluations["baseline_repeat"] = {**outcome.repeat.record(), "verdict": would.record()}
        return self.version(
            version=parent.version + 1,
            round=batch.scope.round,
            parents=(parent.harness.id,),
            status=outcome.status,
            harness=outcome.harness,
            tasks=measured(tasks, scores),
            evaluations=evaluations,
            rejections=outcome.rejections,
            candidates=outcome.candidates,
        )

    def version(self, **fields: Any) -> Version:
        """A version with this run's hashes, the round's costs and the sizes of its logs."""
        self.desk.calls.end_round()
        files = {"ledger": self.desk.calls.ledger.flush(), "events": self.log.flush()}
        return Version(
            fixed_hash=self.fixed_hash, config_hash=self.config_hash, costs=self._costs(), files=files, **fields
        )

    def emit(self, event: Event) -> None:
        """Log an event and show it."""
        self.log.append(event)
        self.watch(event)

    @property
    def _skills_a_round(self) -> int:
        return self.config.constraints.skills_per_extend * self.config.constraints.extends

    def _metrics(self, batch: Batch) -> dict[str, Any]:
        ledger = self.desk.calls.ledger
        by_role = {cell["role"]: cell["microusd"] for cell in ledger.cells() if cell["phase"] == "generation"}
        return {
            "validity": len(batch.produced) / len(batch.tasks),
            "fallback_rate": 1 - len(batch.produced) / len(batch.tasks),
            "cost_microusd_by_role": by_role,
            "question_chars": sum(len(task.question) for task in batch.produced.values()) / max(1, len(batch.produced)),
        }

    def _costs(self) -> dict[str, Any]:
        ledger = self.desk.calls.ledger
        return {
            "cells": ledger.cells(),
            "c_gen_microusd": ledger.sum(generation).microusd,
            "c_erv_microusd": ledger.sum(operators).microusd,
            "evolution_microusd": ledger.sum(evolution).microusd,
            "calls": ledger.sum(lambda *_: True).calls,
        }


def brief(scores: Scores) -> dict[str, Any]:
    """Scores without their per-task counts."""
    record = scores.record()
    record.pop("tasks")
    return record


def weak_zeros(tasks: Sequence[Task], scores: Scores) -> list[str]:
    """Tasks that no attempt solved and whose certificate is of the weakest kinds: worth a person's look."""
    unsolved = {score.chain for score in scores.tasks if score.correct == 0}
    return [task.id for task in tasks if task.chain in unsolved and task.certificate.kind in WEAKEST]


def measured(tasks: Sequence[Task], scores: Scores) -> tuple[Task, ...]:
    """Tasks with their reported accuracy."""
    found = {score.chain: score for score in scores.tasks}
    return tuple(
        task.model_copy(
            update={
                "p_hat": f"{found[task.chain].correct}/{found[task.chain].attempts}",
                "n_attempts": found[task.chain].attempts,
            }
        )
        for task in tasks
    )

"""Algorithm 1: recursive task synthesis with an adaptive harness. Line numbers are the paper's."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from coevolve.archive import Archive, Candidate, Status, Version
from coevolve.config import RunConfig
from coevolve.evaluation.gate import beatable, reject_report
from coevolve.evaluation.outcomes import Probe, Scores
from coevolve.evaluation.paired import Verdict, judge
from coevolve.events import REPEAT, Scope, SolverMiss
from coevolve.harness import Harness
from coevolve.skills import SkillProposal
from coevolve.synthesis.batch import Batch
from coevolve.tasks import Task, advance_or_retain_valid_seeds, freeze_gate_cohort


class InLoopTest(NamedTuple):
    """In-loop test of the retained tasks: scores E and failures F; no scores where the budget did not suffice."""

    scores: Scores | None
    failures: tuple[SolverMiss, ...]


class Proposed(NamedTuple):
    """A candidate harness, or why there is none, with the proposal it came from."""

    harness: Harness | None
    violation: str | None
    proposal: Mapping[str, object]


class Improvement(NamedTuple):
    """What post-task self-improvement came to."""

    harness: Harness
    status: Status
    rejections: tuple[Mapping[str, object], ...] = ()
    test: InLoopTest | None = None
    baseline: Probe | None = None
    probes: tuple[Probe, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    candidates: tuple[Candidate | None, ...] = ()
    proposals: tuple[Mapping[str, object], ...] = ()
    repeat: Probe | None = None
    """The baseline probed again (A/A), where the noise floor is asked for."""


class Lab(Protocol):
    """Everything Algorithm 1 needs that has an effect: models, tools, ledger."""

    async def initialize(self) -> Version: ...
    def start_round(self, number: int) -> None: ...
    def start_batch(self, harness: Harness, tasks: Sequence[Task], scope: Scope, may_miss: int | None) -> Batch: ...
    async def meta_skill(self, batch: Batch, miss: SolverMiss) -> tuple[SkillProposal, ...]: ...
    async def in_loop_test(self, scope: Scope, tasks: Sequence[Task], before: Sequence[Task]) -> InLoopTest: ...
    async def learn(self, scope: Scope, online: Harness, test: InLoopTest) -> Harness: ...
    def evaluation_left(self) -> bool: ...
    async def meta_harness(
        self, scope: Scope, revised: Harness, batch: Batch, test: InLoopTest, rejections: Sequence[Mapping[str, object]]
    ) -> Proposed | None: ...
    async def close_probe(self, batch: Batch, retained: Sequence[Task]) -> Probe: ...
    async def report_accuracy(self, number: int, tasks: Sequence[Task]) -> Scores: ...
    def close_round(
        self, parent: Version, batch: Batch, tasks: tuple[Task, ...], outcome: Improvement, scores: Scores
    ) -> Version: ...


async def evolve(lab: Lab, archive: Archive, config: RunConfig) -> Version:
    """Algorithm 1. Resumes from the newest archived version; calls already paid for are not made again."""
    version = archive.latest() or archive.add(await lab.initialize())  # 3-4
    while (n := version.round + 1) <= config.rounds:  # 5
        lab.start_round(n)
        scope = Scope(round=n, phase="generation")
        batch = await synthesize(version.harness, version.tasks, scope, lab, config)  # 6-13
        tasks = advance_or_retain_valid_seeds(version.tasks, batch.produced)  # 14
        outcome = Improvement(batch.harness, "online-only")  # 15
        if config.ablation.post_task:
            outcome = await OPTIMIZERS[config.optimizer](batch, version.tasks, tasks, lab, config)  # 16-31
        scores = await lab.report_accuracy(n, tasks)  # feeds nothing back
        version = archive.add(lab.close_round(version, batch, tasks, outcome, scores))  # 32-33
    return version  # 36; an export audits what it takes (35)


async def synthesize(
    harness: Harness,
    tasks: Sequence[Task],
    scope: Scope,
    lab: Lab,
    config: RunConfig,
    may_miss: int | None = None,
) -> Batch:
    """Lines 6-13, for production and for every probe alike: chains run, and misses become skills at once."""
    batch = lab.start_batch(harness, tasks, scope, may_miss)  # 6
    async with asyncio.TaskGroup() as updates:
        async for event in batch.steps():  # 7-8
            if isinstance(event, SolverMiss) and config.ablation.online:  # 9
                updates.create_task(update_online(batch, event, lab))  # 10
            elif isinstance(event, SolverMiss):
                event.settled.set()
    return batch  # 13


async def update_online(batch: Batch, miss: SolverMiss, lab: Lab) -> None:
    """Line 10: Admit(L, MetaSkill(e)); the next Director call reads the new library."""
    await batch.admit(miss, await lab.meta_skill(batch, miss))


async def improve(
    batch: Batch, before: Sequence[Task], tasks: Sequence[Task], lab: Lab, config: RunConfig
) -> Improvement:
    """Lines 16-31: learn from the batch, then propose, probe and gate up to three candidates."""
    online, n = batch.harness, batch.scope.round
    test = await lab.in_loop_test(Scope(round=n, phase="in_loop"), tasks, before)  # 16
    revised = await lab.learn(Scope(round=n, phase="post_task"), online, test)  # 17-18
    cohort = freeze_gate_cohort(tasks, config.budget.gate_per_domain, f"{config.seed}/{n}")  # 19
    baseline = await evaluate_one_round(online, cohort, Scope(round=n, phase="baseline", probe="baseline"), lab, config)
    found = Improvement(online, "online-only", test=test, baseline=baseline)  # 31
    for j in range(1, config.budget.candidates + 1):  # 21
        if not (lab.evaluation_left() and baseline.complete and beatable(baseline)):  # 22-23
            break
        scope = Scope(round=n, phase="candidate", probe=f"candidate-{j}")
        proposed = await lab.meta_harness(scope, revised, batch, test, found.rejections)  # 25
        if proposed is None:
            break
        probe = await checked_evaluate_one_round(proposed, baseline, cohort, scope, lab, config)  # 26
        verdict = judge(probe, baseline, config.gate)
        kept = None if proposed.harness is None else Candidate(harness=proposed.harness, tasks=probe.tasks)
        found = found._replace(
            probes=(*found.probes, probe),
            verdicts=(*found.verdicts, verdict),
            candidates=(*found.candidates, kept),
            proposals=(*found.proposals, proposed.proposal),
        )
        if verdict.decision.accepted and proposed.harness is not None:  # 27
            found = found._replace(harness=proposed.harness, status="accepted")  # 28
            break
        report = reject_report(probe, baseline, verdict.decision, dict(proposed.proposal))
        found = found._replace(rejections=(*found.rejections, report))  # 30
    if config.gate.noise_floor and baseline.complete:  # last, so that no candidate lacks the budget it costs
        scope = Scope(round=n, phase="baseline", probe=REPEAT)
        found = found._replace(repeat=await evaluate_one_round(online, cohort, scope, lab, config))
    return found


async def evaluate_one_round(
    harness: Harness, cohort: Sequence[Task], scope: Scope, lab: Lab, config: RunConfig, may_miss: int | None = None
) -> Probe:
    """One isolated round over the cohort: nothing of it reaches production (I6)."""
    batch = await synthesize(harness, cohort, scope, lab, config, may_miss)
    return await lab.close_probe(batch, advance_or_retain_valid_seeds(cohort, batch.produced))


async def checked_evaluate_one_round(
    proposed: Proposed, baseline: Probe, cohort: Sequence[Task], scope: Scope, lab: Lab, config: RunConfig
) -> Probe:
    """A candidate's probe; one outside Gamma is not run, and uses up its turn."""
    if proposed.harness is None:
        return Probe(scope.probe, "", True, len(cohort), 0, None, 0, 0, proposed.violation or "no proposal")
    may_miss = baseline.cohort - baseline.valid if config.gate.early_reject else None
    return await evaluate_one_round(proposed.harness, cohort, scope, lab, config, may_miss)


OPTIMIZERS = {"rsi": improve}

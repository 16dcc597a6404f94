"""Algorithm 1 driven by a scripted lab, without any model: decisions, isolation, ablations, resume."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coevolve.algorithm import Improvement, InLoopTest, Proposed, evolve
from coevolve.archive import Archive, Version
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.evaluation.outcomes import Probe, Scores, TaskScore
from coevolve.events import Scope, SolverMiss
from coevolve.harness import Harness
from coevolve.harness_folder import initial_harness
from coevolve.skills import SkillProposal, admit
from coevolve.tasks import Answer, Certificate, Task

GAMMA = load(compose("experiment=demo"), RunConfig).constraints


def task(chain: str, number: int = 0) -> Task:
    return Task(
        id=chain if number == 0 else f"{chain}@{number}",
        chain=chain,
        domain="math",
        round=number,
        question=f"question {number} of {chain}",
        answer=Answer(type="integer", value=str(number)),
        certificate=Certificate(kind="source"),
        source="test",
        license="CC0-1.0",
    )


def proposal(name: str) -> SkillProposal:
    return SkillProposal(name=name, intent="i", method=name, difficulty_effect="d")


@dataclass
class ScriptedBatch:
    """Every chain advances, except `fails`; one miss a batch."""

    harness: Harness
    tasks: tuple[Task, ...]
    scope: Scope
    fails: frozenset[str]
    complete: bool = True
    produced: dict[str, Task] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.snapshot = self.harness

    async def steps(self) -> AsyncIterator[SolverMiss]:
        first = self.tasks[0]
        trace = f"r{self.scope.round}/{self.scope.probe}/{first.chain}/1"
        miss = SolverMiss(trace, self.scope, first.chain, 1, first, first.draft(), "wrong", "wrong")
        yield miss
        await miss.settled.wait()
        for old in self.tasks:
            self.seen.append(self.harness.id)
            if old.chain not in self.fails:
                self.produced[old.chain] = task(old.chain, self.scope.round)

    async def admit(self, miss: SolverMiss, proposals: Sequence[SkillProposal]) -> None:
        result = admit(self.harness.skills, proposals, (miss.trace,), "online", GAMMA)
        self.harness = self.harness.with_skills(result.skills)
        miss.settled.set()


@dataclass
class ScriptedLab:
    """Probes score what `accuracy` says of a harness by its number of `better` skills."""

    config: RunConfig
    candidate_correct: list[int]
    fails: frozenset[str] = frozenset()
    baseline_complete: bool = True
    baseline_correct: int = 3
    reported: Scores = field(default_factory=lambda: Scores(tasks=()))
    budget: int = 99
    calls: list[str] = field(default_factory=list)
    batches: list[ScriptedBatch] = field(default_factory=list)
    proposed_from: list[str] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    violations: frozenset[int] = frozenset()

    async def initialize(self) -> Version:
        return self._version(0, 0, (), "initial", initial_harness(), (task("a"), task("b")))

    def _version(self, number: int, n: int, parents: Any, status: Any, harness: Harness, tasks: Any) -> Version:
        return Version(
            version=number,
            round=n,
            parents=parents,
            status=status,
            harness=harness,
            tasks=tasks,
            fixed_hash="f",
            config_hash="c",
            evaluations={},
            rejections=(),
            costs={},
            files={},
        )

    def start_round(self, number: int) -> None:
        self.calls.append(f"round {number}")

    def start_batch(self, harness: Harness, tasks: Sequence[Task], scope: Scope, may_miss: int | None) -> Any:
        batch = ScriptedBatch(harness, tuple(tasks), scope, self.fails)
        self.batches.append(batch)
        return batch

    async def meta_skill(self, batch: Any, miss: SolverMiss) -> tuple[SkillProposal, ...]:
        return (proposal(f"online-{miss.scope.round}-{miss.scope.probe or 'production'}"),)

    async def in_loop_test(self, scope: Scope, tasks: Sequence[Task], before: Sequence[Task]) -> InLoopTest:
        self.calls.append("test")
        return InLoopTest(None, ())

    async def learn(self, scope: Scope, online: Harness, test: InLoopTest) -> Harness:
        extra = admit(online.skills, [proposal(f"post-{scope.round}")], (), "post_task", self.config.constraints)
        return online.with_skills(extra.skills)

    def evaluation_left(self) -> bool:
        self.budget -= 1
        return self.budget >= 0

    async def meta_harness(
        self, scope: Scope, revised: Harness, batch: Any, test: InLoopTest, rejections: Sequence[Any]
    ) -> Proposed:
        self.proposed_from.append(revised.id)
        self.told.append(len(rejections))
        number = int(scope.probe.rsplit("-", 1)[1])
        if number in self.violations:
            return Proposed(None, "outside", {"edits": []})
        skills = admit(revised.skills, [proposal(f"candidate-{scope.round}-{number}")], (), "online", GAMMA)
        return Proposed(revised.with_skills(skills.skills), None, {"edits": [number]})

    async def close_probe(self, batch: Any, retained: Sequence[Task]) -> Probe:
        name = batch.scope.probe
        self.calls.append(name)
        correct = self.baseline_correct if name == "baseline" else self.candidate_correct.pop(0)
        scores = Scores(tasks=(TaskScore(chain="a", domain="math", correct=correct, attempts=4),))
        complete = self.baseline_complete or name != "baseline"
        return Probe(
            name, batch.snapshot.id, complete, 2, 2, scores if complete else None, 100, 100, None, tuple(retained)
        )

    async def report_accuracy(self, number: int, tasks: Sequence[Task]) -> Scores:
        self.calls.append("report")
        return self.reported

    def close_round(
        self, parent: Version, batch: Any, tasks: tuple[Task, ...], outcome: Improvement, scores: Scores
    ) -> Version:
        version = self._version(
            parent.version + 1,
            batch.scope.round,
            (parent.harness.id,),
            outcome.status,
            outcome.harness,
            tasks,
        )
        return version.model_copy(update={"rejections": outcome.rejections, "candidates": outcome.candidates})


async def run(tmp_path: Path, lab: ScriptedLab) -> list[Version]:
    added: list[Version] = []
    await evolve(lab, Archive(tmp_path / "archive", added.append), lab.config)
    return added


def lab(*overrides: str, correct: Sequence[int] = (), **fields: Any) -> ScriptedLab:
    config = load(compose("experiment=demo", "rounds=1", "budget.candidates=3", *overrides), RunConfig)
    return ScriptedLab(config, list(correct), **fields)


def names(version: Version) -> set[str]:
    return {skill.name for skill in version.harness.skills}


async def test_the_first_harder_candidate_is_adopted_and_the_search_ends(tmp_path: Path) -> None:
    script = lab(correct=[3, 2, 1])
    _, version = await run(tmp_path, script)
    assert version.status == "accepted"
    assert script.calls == ["round 1", "test", "baseline", "candidate-1", "candidate-2", "report"]
    assert "candidate-1-2" in names(version)
    assert "candidate-1-1" not in names(version), "rejected edits do not accumulate"
    assert script.told == [0, 1]


async def test_three_rejections_keep_the_online_snapshot_exactly(tmp_path: Path) -> None:
    script = lab(correct=[3, 4, 3])
    _, version = await run(tmp_path, script)
    assert version.status == "online-only"
    assert version.harness.id == script.batches[0].harness.id
    assert "online-1-production" in names(version)
    assert "post-1" not in names(version), "post-batch skills are gone too"
    assert len(version.rejections) == 3
    assert len(set(script.proposed_from)) == 1, "each proposal starts from a fresh copy of the revised harness"


async def test_the_baseline_is_evaluated_once_and_with_the_online_harness(tmp_path: Path) -> None:
    script = lab(correct=[3, 3, 3])
    await run(tmp_path, script)
    assert script.calls.count("baseline") == 1
    assert script.batches[1].snapshot.id == script.batches[0].harness.id


async def test_probes_change_nothing_in_production(tmp_path: Path) -> None:
    script = lab(correct=[1])
    _, version = await run(tmp_path, script)
    assert not any(skill.split("-", 2)[-1] == "candidate-1" for skill in names(version) if skill.startswith("online"))
    assert [one.id for one in version.tasks] == ["a@1", "b@1"]
    assert not any(name.endswith(("baseline", "candidate-1")) and name.startswith("online") for name in names(version))


async def test_a_candidate_outside_gamma_uses_up_its_turn_without_a_probe(tmp_path: Path) -> None:
    script = lab(correct=[1], violations=frozenset({1, 2}))
    _, version = await run(tmp_path, script)
    assert script.calls == ["round 1", "test", "baseline", "candidate-3", "report"]
    assert version.status == "accepted"
    assert [report["reasons"][0].split(":")[0] for report in version.rejections] == ["outside the constraints"] * 2


@pytest.mark.parametrize("fields", [{"budget": 0}, {"baseline_complete": False}])
async def test_without_budget_or_baseline_no_candidate_is_tried(tmp_path: Path, fields: dict[str, Any]) -> None:
    script = lab(correct=[1], **fields)
    _, version = await run(tmp_path, script)
    assert not script.proposed_from
    assert version.status == "online-only"


async def test_nothing_is_tried_against_a_baseline_that_cannot_be_beaten(tmp_path: Path) -> None:
    script = lab(correct=[0], baseline_correct=0)
    _, version = await run(tmp_path, script)
    assert not script.proposed_from
    assert version.status == "online-only"


async def test_a_failed_chain_keeps_its_predecessor(tmp_path: Path) -> None:
    script = lab("ablation=task_only", "rounds=2", fails=frozenset({"b"}))
    *_, version = await run(tmp_path, script)
    assert [one.id for one in version.tasks] == ["a@2", "b"]
    assert [one.chain for one in version.tasks] == ["a", "b"]


@pytest.mark.parametrize(
    ("arm", "learns", "gates"),
    [("task_only", False, False), ("online", True, False), ("post_task", False, True), ("full", True, True)],
)
async def test_the_four_arms_are_two_switches(tmp_path: Path, arm: str, learns: bool, gates: bool) -> None:
    script = lab(f"ablation={arm}", correct=[1])
    _, version = await run(tmp_path, script)
    assert any(name.startswith("online-1-production") for name in names(version)) is learns
    assert ("baseline" in script.calls) is gates
    assert "report" in script.calls, "accuracy is reported in every arm"
    probes = [batch for batch in script.batches if batch.scope.probe]
    assert all((batch.harness != batch.snapshot) is learns for batch in probes), "probes follow the arm's protocol"


async def test_the_step_after_an_admission_sees_the_new_skill(tmp_path: Path) -> None:
    script = lab("ablation=online")
    await run(tmp_path, script)
    batch = script.batches[0]
    assert set(batch.seen) == {batch.harness.id} != {batch.snapshot.id}


async def test_what_is_reported_feeds_nothing_back(tmp_path: Path) -> None:
    easy = Scores(tasks=(TaskScore(chain="a", domain="math", correct=4, attempts=4),))
    hard = Scores(tasks=(TaskScore(chain="a", domain="math", correct=0, attempts=4),))
    ends = []
    for name, scores in (("easy", easy), ("hard", hard)):
        script = lab("rounds=2", correct=[3, 2, 3, 3, 3], reported=scores)
        ends.append((await run(tmp_path / name, script), script.calls))
    assert ends[0] == ends[1]


def test_the_number_of_chains_at_work_is_the_same_in_all_arms() -> None:
    arms = ("task_only", "online", "post_task", "full")
    found = {
        load(compose("experiment=ablations", f"ablation={arm}"), RunConfig).budget.chain_concurrency for arm in arms
    }
    assert len(found) == 1


async def test_a_second_start_goes_on_after_the_newest_version(tmp_path: Path) -> None:
    await run(tmp_path, lab("ablation=online"))
    script = lab("ablation=online", "rounds=3")
    added = await run(tmp_path, script)
    assert [version.round for version in added] == [2, 3]
    assert added[0].version == 2
    assert script.calls[0] == "round 2"

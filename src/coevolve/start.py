"""Lines 3-4 of Algorithm 1: seeds and H_0, or an archived version to go on from."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from coevolve.archive import Version, load_version
from coevolve.config import RunConfig
from coevolve.curation.curated import curated_folder, curated_harness, origin_marks, paid_rows
from coevolve.curation.records import SeedReport
from coevolve.curation.screen import screen
from coevolve.curation.sources import read_seeds, verified
from coevolve.errors import ConfigError, ConstraintViolation, DataError
from coevolve.evaluation.outcomes import Scores
from coevolve.evaluation.solver import attempts
from coevolve.events import Event, Scope
from coevolve.harness import Harness, check_constraints
from coevolve.harness_folder import initial_harness
from coevolve.lab import ModelLab, measured
from coevolve.ledger import Row
from coevolve.llm.calls import Calls
from coevolve.tasks import Task


def carry(calls: Calls, rows: Iterable[Row]) -> None:
    """Charge what was paid for before the run began, once, however often the run is taken up again."""
    known = sum(paid["role"] == "acquisition" for paid in calls.journal.paid)
    for row in islice(rows, known, None):
        calls.journal.append_paid(row.record())
        calls.ledger.append(row)


@dataclass(slots=True)
class Start:
    """Makes the version a run begins with."""

    config: RunConfig

    async def __call__(self, lab: ModelLab) -> Version:
        """Curate, screen, measure round 0 on fresh attempts; or take up `from_version`."""
        if self.config.from_version is not None:
            return self._continued(lab, load_version(Path(self.config.from_version), edited=True))
        lab.start_round(0)
        harness = self.harness()
        try:
            check_constraints(harness, self.config.constraints)
        except ConstraintViolation as error:
            raise ConfigError(f"the first harness lies outside constraints=: {error}; give wider ones") from error
        tasks, seeds = await self._seeds(lab)
        tasks = tuple(task.model_copy(update={"harness_id": harness.id}) for task in tasks)
        scores: Scores = await lab.report_accuracy(0, tasks)
        return lab.version(
            version=0,
            round=0,
            parents=(),
            status="initial",
            harness=harness,
            tasks=measured(tasks, scores),
            evaluations={"reporting": scores.record(), "seeds": seeds},
            rejections=(),
        )

    def harness(self) -> Harness:
        """H_0: as shipped, or as curated."""
        seeds = self.config.seeds
        return curated_harness(curated_folder(seeds)) if seeds.harness == "curated" else initial_harness()

    def candidates(self, lab: ModelLab) -> SeedReport:
        """Seeds in the order they are to be tried; what curating them cost is carried into the total (I10)."""
        if self.config.seeds.source == "curated":
            carry(lab.desk.calls, paid_rows(curated_folder(self.config.seeds)))
        return read_seeds(self.config.seeds, self.config.domain.include, self.config.seed)

    def _continued(self, lab: ModelLab, source: Version) -> Version:
        where = self.config.from_version
        if source.fixed_hash != lab.fixed_hash:
            raise DataError(
                f"from_version={where}: made under another verifier, solver or fixed prompt; its accuracy could not be "
                "compared. Give the configuration it was made under"
            )
        check_constraints(source.harness, self.config.constraints)
        strange = {task.domain for task in source.tasks} ^ set(self.config.domain.include)
        if strange:
            raise DataError(f"from_version={where}: domain= must be that of the version (differs in {sorted(strange)})")
        lab.start_round(source.round)
        return lab.version(
            version=0,
            round=source.round,
            parents=(source.harness.id,),
            status="initial",
            harness=source.harness,
            tasks=source.tasks,
            evaluations={"reporting": source.evaluations["reporting"], "from_version": self.config.from_version},
            rejections=(),
        )

    async def _seeds(self, lab: ModelLab) -> tuple[tuple[Task, ...], dict[str, Any]]:
        config, scope = self.config, Scope(round=0, phase="initialisation")
        report = self.candidates(lab)
        issues = list(report.issues)

        async def verify(task: Task) -> Task | None:
            found = await verified(task, lab.verify.verifiers)
            if isinstance(found, Task):
                return found
            issues.append(found)
            return None

        async def solve(task: Task, n: int) -> tuple[int, int]:
            made = await attempts(lab.solver, scope, task, n)
            return sum(attempt.outcome == "correct" for attempt in made), len(made)

        result = await screen(report.tasks, config.seeds, config.domain.include, solve, verify)
        for issue in issues:
            lab.emit(Event(kind="seed_issue", scope=scope, data=issue._asdict()))
        for domain in config.domain.include:
            if not any(task.domain == domain for task in result.kept):
                source = " ".join(filter(None, (config.seeds.source, config.seeds.path)))
                raise DataError(
                    f"no {domain} seed is left of {report.read} records ({source}), {len(issues)} remarks"
                    + (f", the first: {issues[0].message}" if issues else "")
                    + "; give more seeds, other domain=, or seeds.screen.enabled=false"
                )
        shares = {"read": len(report.tasks), "issues": len(issues), **result.shares}
        if config.seeds.source == "curated":
            shares |= origin_marks(curated_folder(config.seeds))
        lab.emit(Event(kind="seeds", scope=scope, data=shares))
        return result.kept, shares

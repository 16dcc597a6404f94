"""Original seeds from any source, as verified tasks of round 0 (Stage 1; Section 3.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevolve.concurrency import finish_all
from coevolve.config import SeedsConfig
from coevolve.curation.bundled import bundled_rows
from coevolve.curation.curated import curated_folder, evolution_seeds
from coevolve.curation.forms import Form
from coevolve.curation.readers import file_rows, huggingface_rows, reasoning_gym_rows
from coevolve.curation.records import Notes, Pool, Row, SeedIssue, SeedReport, Unusable
from coevolve.curation.twins import Asked, asked, digest
from coevolve.errors import DataError
from coevolve.tasks import DOMAINS, Domain, Task
from coevolve.verifiers.base import Verifiers

CANDIDATES_PER_CHAIN = 50
FEWEST_CANDIDATES = 1000
TOGETHER = 128
"""Seeds verified at once."""


@dataclass(slots=True)
class Reading:
    """One pass over a source: what was met, what was remarked, and the candidates kept by domain."""

    form: Form
    domains: Sequence[Domain]
    seed: int
    pools: dict[str, Pool]
    issues: list[SeedIssue] = field(default_factory=list)
    questions: dict[bytes, tuple[Asked, str]] = field(default_factory=dict)
    """Folded question -> how it was asked first, and by whom."""
    ids: set[bytes] = field(default_factory=set)
    withdrawn: set[str] = field(default_factory=set)
    read: int = 0

    def take(self, row: Row) -> None:
        """Read one record: a candidate, or a remark on why not."""
        self.read += 1
        notes, name = Notes(), str(row.data.get("id") or "")
        try:
            if row.fault:
                raise Unusable(*row.fault)
            if row.note:
                notes.repair(*row.note)
            task = self.form.task(row, notes)
            name = task.id
            if task.domain in self.domains:
                self._new(task)
        except Unusable as error:
            self._remark(row.line, name, error.outcome, error.reason, error.message)
            return
        for outcome, reason, message in notes.found:
            self._remark(row.line, name, outcome, reason, message)
        if task.domain in self.domains:
            first = 0 if "screened" in task.meta else 1
            self.pools[task.domain].offer((first, _priority(self.seed, task.id)), task)

    def _remark(self, line: int, name: str, outcome: Any, reason: str, message: str) -> None:
        where = f"{self.form.origin}, line {line}" + (f" ({name})" if name else "")
        self.issues.append(SeedIssue(line, name, outcome, reason, f"{where}: {message}"))

    def _new(self, task: Task) -> None:
        key = digest(task.id)
        if key in self.ids:
            raise Unusable("duplicate_id", "another record has this id; give each its own")
        self.ids.add(key)
        now = asked(task)
        before, name = self.questions.setdefault(now.folded, (now, task.id))
        if name == task.id:
            return
        if before.answer == now.answer:
            raise Unusable("duplicate_question", f"the same question as {name}", "drop_duplicate")
        if before.exact == now.exact:
            self.withdrawn.add(name)
            message = f"the same question as {name} with another answer; neither is used until one is corrected"
            raise Unusable("conflicting_answers", message, "quarantine")


def read_seeds(config: SeedsConfig, domains: Sequence[Domain], seed: int) -> SeedReport:
    """Candidates of each domain in the order they are to be tried, drawn by `seed`; screened bundled ones come first.

    At most CANDIDATES_PER_CHAIN candidates a wanted chain are kept, so memory does not grow with the source beyond a
    few bytes a record. Raises DataError, MissingExtra.
    """
    size = max(FEWEST_CANDIDATES, CANDIDATES_PER_CHAIN * config.per_domain)
    if config.source == "curated":
        return _curated(config, {domain: Pool(size) for domain in domains}, seed)
    form = Form(_origin(config), config.columns, config.defaults, config.question_chars)
    reading = Reading(form, domains, seed, {domain: Pool(size) for domain in domains})
    for row in _rows(config, domains, seed):
        reading.take(row)
    if reading.read == 0:
        raise DataError(f"{form.origin} holds no record; give a file with one JSON object a line, or a table")
    tasks = [task for domain in DOMAINS if domain in reading.pools for task in reading.pools[domain].ordered()]
    kept = tuple(task for task in tasks if task.id not in reading.withdrawn)
    return SeedReport(kept, tuple(reading.issues), reading.read)


def _curated(config: SeedsConfig, pools: dict[Domain, Pool], seed: int) -> SeedReport:
    """The evolution side of a curated folder, which is screened already."""
    issues, read = list[SeedIssue](), 0
    for read, task in enumerate(evolution_seeds(curated_folder(config)), 1):
        if len(task.question) > config.question_chars:
            message = f"{task.id}: its question has {len(task.question)} characters; raise seeds.question_chars"
            issues.append(SeedIssue(read, task.id, "reject", "question_too_long", message))
        elif task.domain in pools:
            pools[task.domain].offer((_priority(seed, task.id),), task)
    tasks = tuple(task for pool in pools.values() for task in pool.ordered())
    return SeedReport(tasks, tuple(issues), read)


async def verified_seeds(tasks: Sequence[Task], verifiers: Verifiers) -> tuple[tuple[Task, ...], tuple[SeedIssue, ...]]:
    """The tasks whose reference passes its own verifier, with the certificate it gave, and remarks on the others."""
    kept: list[Task] = []
    issues: list[SeedIssue] = []
    for start in range(0, len(tasks), TOGETHER):
        for found in await finish_all(verified(task, verifiers) for task in tasks[start : start + TOGETHER]):
            if isinstance(found, Task):
                kept.append(found)
            else:
                issues.append(found)
    return tuple(kept), tuple(issues)


async def verified(task: Task, verifiers: Verifiers) -> Task | SeedIssue:
    """The task with the certificate its own evidence gives, or why it is not used."""
    found = await verifiers.check(task.domain, task.draft())
    if found.ok:
        return task.model_copy(update={"certificate": found.certificate}) if found.certificate else task
    problem = "; ".join(found.problems)[:300]
    if found.cause == "tool_failure":
        return SeedIssue(0, task.id, "quarantine", "not_checked", f"{task.id}: it could not be checked: {problem}")
    reason: str = found.cause or "invalid_problem"
    if "timeout" in problem:
        reason = "tests_timeout"
    elif task.answer.type == "code_tests" and found.cause == "wrong_reference":
        reason = "reference_fails_own_tests"
    return SeedIssue(0, task.id, "reject", reason, f"{task.id}: {problem}")


def _rows(config: SeedsConfig, domains: Sequence[Domain], seed: int) -> Iterator[Row]:
    if config.source == "bundled":
        return bundled_rows(domains)
    if config.source == "huggingface":
        return huggingface_rows(config)
    if config.source == "reasoning_gym":
        return reasoning_gym_rows(config, seed, CANDIDATES_PER_CHAIN * config.per_domain)
    if config.path is None:
        raise DataError("seeds.source=file needs seeds.path=<a .jsonl, .csv or .parquet file>")
    return file_rows(Path(config.path), config.columns)


def _origin(config: SeedsConfig) -> str:
    return config.path if config.path and config.source != "reasoning_gym" else f"{config.source} seeds"


def _priority(seed: int, name: str) -> int:
    return int.from_bytes(digest(f"{seed}/{name}"), "big")

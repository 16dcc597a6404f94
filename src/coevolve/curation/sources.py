"""Original seeds from any source, as verified tasks of round 0 (Stage 1; Section 3.1)."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevolve.concurrency import finish_all
from coevolve.config import SeedsConfig
from coevolve.curation import normalise
from coevolve.curation.answers import typed_answer, typed_tests
from coevolve.curation.bundled import bundled_rows
from coevolve.curation.readers import file_rows, huggingface_rows, reasoning_gym_rows
from coevolve.curation.records import Notes, Pool, Row, SeedIssue, SeedReport, Unusable, plain_json
from coevolve.errors import DataError
from coevolve.tasks import DOMAINS, Answer, Certificate, Domain, Task, content_hash
from coevolve.verifiers import plain
from coevolve.verifiers.base import Verifiers

DOMAIN_NAMES: Mapping[str, Domain] = {
    **dict.fromkeys(("math", "maths", "mathematics", "algebra", "geometry", "arithmetic", "statistics"), "math"),
    **dict.fromkeys(("coding", "code", "programming", "python"), "coding"),
    **dict.fromkeys(("science", "physics", "chemistry", "biology", "astronomy", "earth science"), "science"),
}
CANDIDATES_PER_CHAIN = 50
FEWEST_CANDIDATES = 1000
TOGETHER = 16
"""Seeds verified at once."""
LONGEST_ID = 200


@dataclass(slots=True)
class Seen:
    """A question met before: its text up to spacing, its answer, and who asked it."""

    exact: bytes
    answer: str
    id: str


@dataclass(slots=True)
class Reading:
    """One pass over a source: what was met, what was remarked, and the candidates kept by domain."""

    config: SeedsConfig
    domains: Sequence[Domain]
    seed: int
    origin: str
    pools: dict[str, Pool]
    issues: list[SeedIssue] = field(default_factory=list)
    questions: dict[bytes, Seen] = field(default_factory=dict)
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
            task = self._task(row, notes)
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
        where = f"{self.origin}, line {line}" + (f" ({name})" if name else "")
        self.issues.append(SeedIssue(line, name, outcome, reason, f"{where}: {message}"))

    def _task(self, row: Row, notes: Notes) -> Task:
        data = {name: row.data.get(column) for name, column in self.config.columns.items() if column in row.data}
        data = {**self.config.defaults, **{k: v for k, v in row.data.items() if v is not None or k == "answer"}, **data}
        for name in ("tests", "meta", "choices"):
            data[name] = plain_json(data.get(name))
        meta = dict(data["meta"]) if isinstance(data["meta"], Mapping) else {}
        domain = _domain(data.get("domain"), meta, notes)
        question = self._question(domain, data, notes)
        answer = typed_answer(domain, data, question, notes)
        return Task(
            id=(name := _id(data, question, answer, notes)),
            chain=name,
            domain=domain,
            round=0,
            question=question,
            answer=answer,
            solution=str(data.get("solution") or meta.pop("solution", "") or ""),
            tests=typed_tests(data, answer) if domain == "coding" else None,
            certificate=Certificate(kind="source", detail=str(meta.get("verified", ""))[:200]),
            source=str(data.get("source") or self.origin),
            license=str(data.get("license") or "unstated"),
            meta=meta,
        )

    def _question(self, domain: Domain, data: Mapping[str, Any], notes: Notes) -> str:
        text = data.get("question")
        if text is None:
            raise Unusable("null_question", "it has no question")
        if not isinstance(text, str) or not text.strip():
            raise Unusable("empty_question", "its question is empty or no text")
        if normalise.LONE_SURROGATE.search(f"{text}{data.get('answer')}{data.get('id')}"):
            raise Unusable("broken_unicode", "it holds half a character (a lone surrogate); save it as UTF-8 again")
        if len(text) > self.config.question_chars:
            limit = self.config.question_chars
            raise Unusable(
                "question_too_long", f"its question has {len(text)} characters; raise seeds.question_chars={limit}"
            )
        if normalise.INSTRUCTION.search(text):
            raise Unusable(
                "instruction_like_text", "its question holds instructions to a model; reword it to use it", "flag"
            )
        if domain == "coding":
            return text.strip()
        if normalise.odd_dollars(text):
            notes.accept("warning_unbalanced_math", "a $ in its question has no partner")
        return normalise.clean(text, notes, "question")

    def _new(self, task: Task) -> None:
        key = _digest(task.id)
        if key in self.ids:
            raise Unusable("duplicate_id", "another record has this id; give each its own")
        self.ids.add(key)
        exact = task.question if task.domain == "coding" else normalise.same_words(task.question)
        fold = exact if task.domain == "coding" else exact.casefold()
        question, answer = _digest(f"{task.domain}/{fold}"), _answer_key(task.answer)
        before = self.questions.get(question)
        if before is None:
            self.questions[question] = Seen(_digest(exact), answer, task.id)
        elif before.answer == answer or task.answer.type == "code_tests":
            raise Unusable("duplicate_question", f"the same question as {before.id}", "drop_duplicate")
        elif before.exact == _digest(exact):
            self.withdrawn.add(before.id)
            message = f"the same question as {before.id} with another answer; neither is used until one is corrected"
            raise Unusable("conflicting_answers", message, "quarantine")


def read_seeds(config: SeedsConfig, domains: Sequence[Domain], seed: int) -> SeedReport:
    """Candidates of each domain in the order they are to be tried, drawn by `seed`; screened bundled ones come first.

    At most CANDIDATES_PER_CHAIN candidates a wanted chain are kept, so memory does not grow with the source beyond a
    few bytes a record. Raises DataError, MissingExtra.
    """
    size = max(FEWEST_CANDIDATES, CANDIDATES_PER_CHAIN * config.per_domain)
    reading = Reading(config, domains, seed, _origin(config), {domain: Pool(size) for domain in domains})
    for row in _rows(config, domains, seed):
        reading.take(row)
    if reading.read == 0:
        raise DataError(f"{reading.origin} holds no record; give a file with one JSON object a line, or a table")
    tasks = [task for domain in DOMAINS if domain in reading.pools for task in reading.pools[domain].ordered()]
    kept = tuple(task for task in tasks if task.id not in reading.withdrawn)
    return SeedReport(kept, tuple(reading.issues), reading.read)


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


def _domain(given: Any, meta: dict[str, Any], notes: Notes) -> Domain:
    if given is None:
        known = ", ".join(DOMAINS)
        raise Unusable("missing_domain", f"it has no domain ({known}); add it or set seeds.defaults.domain")
    name = str(given).strip().casefold()
    domain = DOMAIN_NAMES.get(name)
    if domain is None:
        raise Unusable("unknown_domain", f"domain {str(given)[:40]!r} is none of {', '.join(DOMAINS)}")
    if given != domain:
        notes.repair("domain_mapped", f"domain {given!r} is taken as {domain}")
        if name != domain:
            meta.setdefault("topic", name)
    return domain


def _id(data: Mapping[str, Any], question: str, answer: Answer, notes: Notes) -> str:
    given = str(data.get("id") or "").strip()
    if given:
        return given[:LONGEST_ID]
    assigned = f"seed-{content_hash([question, answer.model_dump(mode='json')])[:12]}"
    notes.repair("id_assigned", f"it has no id; {assigned} was made from its content")
    return assigned


def _answer_key(answer: Answer) -> str:
    written = plain.written(answer.value) if answer.type in plain.NUMERIC or answer.type == "quantity" else None
    return f"{written.value if written else answer.value.strip()} {answer.unit or ''}".casefold()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _priority(seed: int, name: str) -> int:
    return int.from_bytes(_digest(f"{seed}/{name}"), "big")

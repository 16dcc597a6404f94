"""The audit that every export passes or is refused: length, duplicates, overlap, skill leakage, gold (line 35)."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from coevolve.errors import DataError, ToolError
from coevolve.export.comparison import UNVERIFIED
from coevolve.export.config import StudentConfig
from coevolve.export.rows import Row
from coevolve.export.targets import answer_text
from coevolve.export.tokens import overlength
from coevolve.harness_folder import load_harness
from coevolve.skills import Skill
from coevolve.verifiers.base import Verifiers

LEAK_WORDS = 10
"""A row that shares this many words in a row with a skill's text repeats the skill."""
WORD = re.compile(r"\w+")
AT_ONCE = 16
"""Rows whose gold is judged side by side."""


class Drop(NamedTuple):
    """A row that stays out, by which rule, and the evidence."""

    key: str
    rule: str
    detail: str


class Audit(NamedTuple):
    """What was looked at and what stayed out; `benchmarks` and `verifier` say against what it was judged."""

    looked_at: int
    drops: tuple[Drop, ...]
    skills: Mapping[str, int]
    """Skills looked at, and those found to overlap a benchmark."""
    benchmarks: Mapping[str, Any]
    verifier: str

    @property
    def kept(self) -> int:
        return self.looked_at - len(self.drops)

    def record(self) -> dict[str, Any]:
        """audit.json: counts by rule; the drops themselves are dropped.jsonl."""
        return {
            "format": 1,
            "passed": self.kept > 0,
            "looked_at": self.looked_at,
            "kept": self.kept,
            "dropped": dict(sorted(Counter(drop.rule for drop in self.drops).items())),
            "skills": dict(self.skills),
            "benchmarks": dict(self.benchmarks),
            "verifier": self.verifier,
        }

    def write_drops(self, path: Path) -> None:
        """One line a row that stayed out."""
        with path.open("w", encoding="utf-8") as file:
            for drop in self.drops:
                file.write(json.dumps(drop._asdict(), ensure_ascii=False) + "\n")


def too_long(rows: Sequence[Row], student: StudentConfig) -> list[Drop]:
    """Rows over the student's limits. Raises DataError for the first one unless they are to be dropped (Table 9)."""
    found = [Drop(row.key, "overlength", why) for row in rows if (why := overlength(row, student))]
    if found and student.overlength == "error":
        raise DataError(
            f"{found[0].key}: {found[0].detail} ({len(found)} rows in all); raise the limit, or student.overlength=drop"
        )
    return found


def duplicates(rows: Sequence[Row]) -> list[Drop]:
    """Rows whose question and answer another row already has, up to case, spacing and punctuation."""
    first: dict[tuple[str, str], str] = {}
    found = []
    for row in rows:
        words = " ".join(WORD.findall(row.task.question.lower()))
        key = first.setdefault((words, row.task.answer.value), row.key)
        if key != row.key:
            found.append(Drop(row.key, "duplicate", f"same question and answer as {key}"))
    return found


def leaks(rows: Iterable[Row], skills: Iterable[Skill]) -> list[Drop]:
    """Rows that repeat a skill's text, or whose text a skill repeats."""
    grams: dict[tuple[str, ...], str] = {}
    for skill in skills:
        for text in (skill.intent, skill.method, skill.difficulty_effect):
            for gram in _grams(text):
                grams.setdefault(gram, skill.name)
    found = []
    for row in rows:
        texts = (row.task.question, row.target or row.task.solution)
        name = next((grams[gram] for text in texts for gram in _grams(text) if gram in grams), None)
        if name is not None:
            found.append(Drop(row.key, "skill_leak", f"shares {LEAK_WORDS} words in a row with skill {name}"))
    return found


async def wrong_gold(rows: Sequence[Row], verifiers: Verifiers, tick: Callable[[int], None]) -> list[Drop]:
    """Rows whose gold, or whose target's answer, the verifier does not accept again. Raises ToolError."""
    found: list[Drop] = []
    left, done = iter(rows), count(1)

    async def judge() -> None:
        for row in left:
            why = await _fault(row, verifiers)
            tick(next(done))
            if why is not None:
                found.append(Drop(row.key, "gold", why))

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(judge())
    return sorted(found)


def libraries(runs: Sequence[Path]) -> list[Skill]:
    """Every skill of every archived version of `runs`, once."""
    found: dict[str, Skill] = {}
    for run in runs:
        for folder in sorted(run.glob("archive/v[0-9]*/harness")):
            for skill in load_harness(folder).skills:
                found.setdefault(skill.model_dump_json(exclude={"provenance", "status"}), skill)
    return list(found.values())


async def _fault(row: Row, verifiers: Verifiers) -> str | None:
    """Why the verifier refuses the row now, or None."""
    domain, draft = row.task.domain, row.task.draft()
    if row.task.certificate.detail == UNVERIFIED:
        return None if row.target else "the data set states no answer that a verifier could judge"
    if row.target:
        grade = await verifiers.grade(domain, draft, row.target)
    else:
        grade = await verifiers.compare(domain, draft, answer_text(draft.answer))
    if grade.reason.startswith("infra"):
        raise ToolError(f"{row.key}: its gold could not be judged: {grade.reason}")
    if grade.verdict != "equal":
        what = "the target's answer" if row.target else "the reference"
        return f"{what} is not accepted ({grade.verdict}): {grade.reason or grade.extracted}"
    checked = await verifiers.confirm(domain, draft)
    if checked.cause == "tool_failure":
        raise ToolError(f"{row.key}: its gold could not be judged: {checked.problems}")
    return None if checked.ok else "; ".join(checked.problems)


def _grams(text: str) -> list[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    return [tuple(words[start : start + LEAK_WORDS]) for start in range(len(words) - LEAK_WORDS + 1)]

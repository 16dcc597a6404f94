"""Seeds apart: what runs have evolved is recognised by chain, text, text with other numbers, or nearly that text."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from coevolve.archive import load_record, load_tasks
from coevolve.curation.normalise import same_words
from coevolve.curation.twins import asked
from coevolve.errors import DataError
from coevolve.tasks import Task

GRAM_CHARS = 5
NEAR = 0.8
"""Share of common character runs from which two questions count as nearly the same text."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Known(NamedTuple):
    """An original seed that was evolved."""

    id: str
    grams: frozenset[str]


class Apart:
    """What some runs have met; a seed that clashes with it is no held-out seed for their harnesses."""

    def __init__(self, folders: Sequence[str]) -> None:
        """`folders` are run folders, or single archived versions. Raises DataError."""
        self._chains: dict[str, str] = {}
        self._texts: dict[bytes, str] = {}
        self._patterns: dict[str, str] = {}
        self._known: dict[str, list[Known]] = {}
        for folder in folders:
            for path in _versions(Path(folder)):
                for task in load_tasks(path / "tasks.jsonl"):
                    self._take(task)

    def clash(self, task: Task) -> str | None:
        """Why `task` is not apart, or None."""
        if task.chain in self._chains:
            return f"{task.chain} is a chain that was evolved"
        if (found := self._texts.get(asked(task).folded)) is not None:
            return f"the same question as {found}, which was evolved"
        if (found := self._patterns.get(_pattern(task))) is not None:
            return f"the same text as {found} with other numbers"
        grams = _grams(task.question)
        for known in self._known.get(task.domain, []):
            if _alike(grams, known.grams):
                return f"nearly the same text as {known.id}"
        return None

    def _take(self, task: Task) -> None:
        if task.chain not in self._chains:
            self._chains[task.chain] = task.id
            self._known.setdefault(task.domain, []).append(Known(task.id, _grams(task.question)))
            self._patterns.setdefault(_pattern(task), task.id)
        self._texts.setdefault(asked(task).folded, task.id)


def _versions(folder: Path) -> Iterator[Path]:
    """Version folders of a run oldest first, after those of the run that it continued; or the one version given."""
    if (folder / "version.json").is_file():
        yield folder
        return
    own = sorted((path for path in folder.glob("archive/v*") if path.is_dir()), key=lambda path: int(path.name[1:]))
    if not own:
        raise DataError(f"{folder}: neither a run folder with archived versions nor one of its versions")
    before = load_record(own[0])["evaluations"].get("from_version")
    if before is not None and (Path(before) / "version.json").is_file():
        run = Path(before).absolute().parents[1]
        yield from _versions(run if (run / "config.yaml").is_file() else Path(before))
    yield from own


def _pattern(task: Task) -> str:
    """The question of one domain with every number masked."""
    return f"{task.domain}/{NUMBER.sub('#', same_words(task.question).casefold())}"


def _grams(text: str) -> frozenset[str]:
    plain = same_words(text).casefold()
    return frozenset(plain[start : start + GRAM_CHARS] for start in range(max(1, len(plain) - GRAM_CHARS + 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Jaccard's index of at least NEAR; sizes that rule it out are not compared."""
    small, large = sorted((len(one), len(other)))
    if small < NEAR * large:
        return False
    shared = len(one & other)
    return shared >= NEAR * (len(one) + len(other) - shared)

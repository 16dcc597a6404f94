"""The benchmark registry K: named files, frozen before screening, held here and nowhere else (Section 3.1)."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevolve.errors import DataError

QUESTION_COLUMNS = ("question", "problem", "prompt", "text", "input", "instruction")
ANSWER_COLUMNS = ("answer", "target", "solution", "expected", "output", "label")
ID_COLUMNS = ("id", "task_id", "question_id", "name", "problem_id")
FORMAT = 1


@dataclass(frozen=True, slots=True, repr=False)
class BenchmarkItem:
    """One benchmark item. Its repr is its address, so that no log line can hold its text."""

    benchmark: str
    id: str
    text: str
    answer: str | None

    def __repr__(self) -> str:
        return f"BenchmarkItem({self.benchmark}/{self.id})"


@dataclass(frozen=True, slots=True)
class BenchmarkVersion:
    """One benchmark as it was frozen: how many items, and the hash of its bytes."""

    name: str
    items: int
    sha256: str


class Registry:
    """The benchmarks a screening is held against, fixed when it is made.

    `version` is a name the user gives; `hash` covers every benchmark's name and bytes, so that two screenings with the
    same hash saw the same items.
    """

    def __init__(self, version: str, benchmarks: Sequence[BenchmarkVersion], items: Sequence[BenchmarkItem]) -> None:
        self.version = version
        self.benchmarks = tuple(sorted(benchmarks, key=lambda entry: entry.name))
        self._items = tuple(sorted(items, key=lambda item: (item.benchmark, item.id)))
        listing = [[entry.name, entry.items, entry.sha256] for entry in self.benchmarks]
        self.hash = hashlib.sha256(json.dumps(listing).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Registry({self.version}, {len(self.benchmarks)} benchmarks, {len(self)} items, {self.hash[:12]})"

    def manifest(self) -> dict[str, Any]:
        """What may be written anywhere: names, counts and hashes, no text."""
        rows = [{"name": entry.name, "items": entry.items, "sha256": entry.sha256} for entry in self.benchmarks]
        return {"format": FORMAT, "version": self.version, "hash": self.hash, "benchmarks": rows}

    def held(self) -> tuple[BenchmarkItem, ...]:
        """The items themselves, for this package alone, ordered by benchmark and id."""
        return self._items

    def require(self, manifest: Mapping[str, Any]) -> None:
        """Raise DataError unless this registry is the one that was frozen as `manifest`."""
        if manifest.get("hash") == self.hash:
            return
        before = {row["name"]: row["sha256"] for row in manifest.get("benchmarks", ())}
        now = {entry.name: entry.sha256 for entry in self.benchmarks}
        changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
        raise DataError(
            f"benchmarks: the registry was frozen as {str(manifest.get('hash'))[:12]} and is {self.hash[:12]} now "
            f"(changed: {', '.join(changed) or 'its form'}); give the frozen files back, or screen anew"
        )


def load_registry(paths: Sequence[Path], version: str) -> Registry:
    """Read benchmark files (JSON lines), or folders of them; a benchmark is named by its file.

    A record needs a question (one of QUESTION_COLUMNS); answer and id are used where they are there. Raises DataError.
    """
    benchmarks, items = list[BenchmarkVersion](), list[BenchmarkItem]()
    for path in _files(paths):
        if any(entry.name == path.stem for entry in benchmarks):
            raise DataError(f"benchmarks: two files are named {path.stem}; rename one, findings name them by it")
        content = _bytes(path)
        rows = list(_rows(path, content))
        if not rows:
            raise DataError(f"benchmarks={path}: the file holds no item; nothing could be held against it")
        benchmarks.append(BenchmarkVersion(path.stem, len(rows), hashlib.sha256(content).hexdigest()))
        items += rows
    return Registry(version, benchmarks, items)


def _files(paths: Sequence[Path]) -> list[Path]:
    files = list[Path]()
    for path in paths:
        found = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not found:
            raise DataError(f"benchmarks={path}: the folder holds no .jsonl file; give benchmark files as JSON lines")
        files += found
    return files


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"benchmarks={path}: cannot be read ({error.strerror}); give a file of JSON lines") from error


def _rows(path: Path, content: bytes) -> Iterator[BenchmarkItem]:
    seen = set[str]()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}); convert it") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        item = _item(path, number, line)
        if item.id in seen:
            raise DataError(f"{path}:{number}: the id {item.id} stands there twice; make ids unique in a benchmark")
        seen.add(item.id)
        yield item


def _item(path: Path, number: int, line: str) -> BenchmarkItem:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{path}:{number}: no JSON object; write one object a line") from error
    question = _first(row, QUESTION_COLUMNS) if isinstance(row, dict) else None
    if question is None or not question.strip():
        raise DataError(f"{path}:{number}: no question (one of {', '.join(QUESTION_COLUMNS)}); name the column so")
    identity = _first(row, ID_COLUMNS) or str(number)
    return BenchmarkItem(path.stem, identity, _with_choices(question, row), _first(row, ANSWER_COLUMNS))


def _first(row: Mapping[str, Any], columns: Sequence[str]) -> str | None:
    for column in columns:
        value = row.get(column)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
    return None


def _with_choices(question: str, row: Mapping[str, Any]) -> str:
    """The question with its choices, where they stand apart from it."""
    meta = row.get("meta")
    choices = row.get("choices") or (meta.get("choices") if isinstance(meta, dict) else None)
    if isinstance(choices, list):
        choices = {chr(ord("A") + place): value for place, value in enumerate(choices[:10])}
    if not isinstance(choices, dict) or all(str(value) in question for value in choices.values()):
        return question
    return "\n".join([question, *(f"{letter}) {value}" for letter, value in choices.items())])

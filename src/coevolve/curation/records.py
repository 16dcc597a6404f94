"""What reading seeds gives: tasks of round 0, and one line on everything that was not taken as it stood."""

import heapq
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from coevolve.tasks import Task

SeedOutcome = Literal["accept", "repair", "drop_duplicate", "reject", "quarantine", "flag"]
"""accept: used, with a warning; repair: used after a change; drop_duplicate, reject: not used; quarantine, flag: set
aside until a person decides."""


class SeedIssue(NamedTuple):
    """One remark about one seed; `reason` is a stable code, `message` says where, what and the cure."""

    line: int
    id: str
    outcome: SeedOutcome
    reason: str
    message: str


class SeedReport(NamedTuple):
    """Candidate seeds in the order they are to be tried, the remarks, and how many records were read."""

    tasks: tuple[Task, ...]
    issues: tuple[SeedIssue, ...]
    read: int


class Row(NamedTuple):
    """One record of a source as it stands there; `fault` replaces `data` where it could not be read."""

    line: int
    data: Mapping[str, Any]
    fault: tuple[str, str] | None = None
    note: tuple[str, str] | None = None
    """How the source was read, where that is not as usual."""


class Unusable(Exception):
    """A record cannot be used; it becomes a SeedIssue."""

    def __init__(self, reason: str, message: str, outcome: SeedOutcome = "reject") -> None:
        super().__init__(message)
        self.reason, self.message, self.outcome = reason, message, outcome


class NumberText(str):
    """A JSON number as it is written, so that 42 stays 42 and 0.1 stays 0.1."""

    __slots__ = ()


@dataclass(slots=True)
class Notes:
    """Remarks on the record at hand, in the order they arise."""

    found: list[tuple[SeedOutcome, str, str]] = field(default_factory=list)

    def repair(self, reason: str, message: str) -> None:
        """A change was made."""
        self.found.append(("repair", reason, message))

    def accept(self, reason: str, message: str) -> None:
        """Used as it is, with a warning."""
        self.found.append(("accept", reason, message))


@dataclass(slots=True)
class Pool:
    """The `size` tasks of lowest priority number seen so far, so that memory stays flat on long sources."""

    size: int
    _heap: list[tuple[tuple[int, ...], str, Task]] = field(default_factory=list)

    def offer(self, priority: tuple[int, ...], task: Task) -> None:
        """Take the task in if it belongs to the `size` first."""
        entry = (tuple(-part for part in priority), task.id, task)
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, entry)

    def ordered(self) -> Iterator[Task]:
        """The tasks, first to be tried first."""
        return (task for _, _, task in sorted(self._heap, key=lambda entry: entry[:2], reverse=True))


def parse_line(text: str) -> dict[str, Any]:
    """One JSON object with numbers as written. Raises Unusable."""
    try:
        value = json.loads(
            text, parse_int=NumberText, parse_float=NumberText, parse_constant=_no_constant, object_pairs_hook=_once
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise Unusable("invalid_json_line", f"no JSON object ({error}); write one object a line") from error
    if not isinstance(value, dict):
        raise Unusable("invalid_json_line", f"a {type(value).__name__}, not an object; write one object a line")
    return value


def plain_json(value: Any) -> Any:
    """`value` with written numbers turned into int and float."""
    if isinstance(value, NumberText):
        return int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, dict):
        return {name: plain_json(item) for name, item in value.items()}
    return [plain_json(item) for item in value] if isinstance(value, list) else value


def _no_constant(name: str) -> None:
    raise Unusable("invalid_json_constant", f"{name} is not JSON; give a finite number or leave the record out")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unusable("duplicate_key", f"the key {twice!r} stands there twice; keep the right one")
    return found

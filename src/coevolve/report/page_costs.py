"""What a run cost by role and phase, and what in it calls for a second look: parse errors, truncations, timeouts."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from coevolve.errors import DataError, boundary
from coevolve.events import PHASES
from coevolve.ledger import Totals
from coevolve.report.runs import TrackedRun, read_lines

ROLES = ("director", "extend", "revise", "verify", "meta_skill", "meta_harness", "acquisition", "solver")
SHOWN_MESSAGES = 12
CLEAN = b'"outcome": "ok", "retries": []'
"""What nearly every row of a ledger holds; such rows need no parsing."""


class Costs(NamedTuple):
    """Sums over the archived rounds; a phase or role that made no call is left out."""

    phases: tuple[str, ...]
    roles: tuple[str, ...]
    cells: Mapping[tuple[str, str], Totals]
    """(role, phase); "all" stands for the sum over either."""


class Warnings(NamedTuple):
    """What to look at before believing a curve."""

    rounds: tuple[Mapping[str, Any], ...]
    """One record a round: counts out of `n_attempts` reporting attempts, and of the batch's chains."""
    calls: Mapping[str, int]
    """Calls of all phases that ended otherwise than `ok`, and retries, by kind."""
    causes: Mapping[str, int]
    """Why chains ended without a new task, over all rounds."""
    weak_zeros: tuple[tuple[int, str], ...]
    """(round, chain): nobody solved it, and its certificate is of the weakest kinds."""
    messages: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there is something to look at."""
        counted = ("truncated", "unparsed", "unknown")
        some = any(row[name] for row in self.rounds for name in counted)
        return bool(some or self.calls or self.causes or self.weak_zeros or self.messages)


def costs(run: TrackedRun) -> Costs:
    """What every role cost in every phase, over all archived rounds."""
    cells: dict[tuple[str, str], Totals] = {}
    names = Totals.__dataclass_fields__
    for found in run.rounds:
        for cell in found.record["costs"]["cells"]:
            part = Totals(**{name: cell[name] for name in names})
            for place in ((cell["role"], cell["phase"]), (cell["role"], "all"), ("all", cell["phase"]), ("all", "all")):
                cells.setdefault(place, Totals()).add(part)
    roles = tuple(role for role in ROLES if (role, "all") in cells)
    return Costs(tuple(phase for phase in PHASES if ("all", phase) in cells), roles, cells)


def warnings(run: TrackedRun) -> Warnings:
    """Counts by round from the archive, calls that went wrong from the ledger, and the run's own warnings.

    Raises DataError.
    """
    causes: Counter[str] = Counter()
    for found in run.rounds:
        causes.update((found.record["evaluations"].get("batch") or {}).get("causes") or {})
    with boundary(DataError, f"{run.folder}: a record of its logs lacks what every run writes"):
        return Warnings(
            rounds=tuple(_rounds(run)),
            calls=dict(sorted(_calls(run).items())),
            causes=dict(sorted(causes.items())),
            weak_zeros=tuple(_weak_zeros(run)),
            messages=tuple(_messages(run)),
        )


def _rounds(run: TrackedRun) -> Iterator[Mapping[str, Any]]:
    for found in run.rounds:
        tasks = found.scores.tasks
        batch = found.record["evaluations"].get("batch") or {}
        yield {
            "round": found.round,
            "n_attempts": found.scores.n_attempts,
            **{name: sum(getattr(task, name) for task in tasks) for name in ("truncated", "unparsed", "unknown")},
            "chains": batch.get("chains"),
            "invalid": batch["chains"] - batch["valid"] if batch else None,
            "problems": batch.get("problems") or [],
            "weak_zeros": len(found.record["evaluations"].get("weak_zeros", ())),
        }


def _calls(run: TrackedRun) -> Counter[str]:
    """Calls that did not end `ok` by role, failed tries by their word, and steps without a usable reply."""
    found: Counter[str] = Counter()
    for row in _odd_rows(run.folder / "ledger.jsonl"):
        if row["outcome"] != "ok":
            found[f"{row['role']} calls {row['outcome']}"] += 1
        found.update(f"tries that failed and were made again: {word}" for word in row.get("retries") or ())
    for event in read_lines(run.folder / "events.jsonl", '"kind":"step"', '"action":"none"'):
        found[f"steps of a chain, {event['data']['outcome']}"] += 1
    return found


def _odd_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Ledger rows of calls that did not go smoothly. Raises DataError naming the line."""
    lines = path.open("rb") if path.exists() else nullcontext(())
    with lines as rows:
        for number, line in enumerate(rows, 1):
            if CLEAN in line or not line.endswith(b"\n"):
                continue
            with boundary(DataError, f"{path} line {number}"):
                row = json.loads(line)
            yield row


def _weak_zeros(run: TrackedRun) -> Iterator[tuple[int, str]]:
    for found in run.rounds:
        weak: Sequence[str] = found.record["evaluations"].get("weak_zeros", ())
        chains = {task.id: task.chain for task in found.tasks()} if weak else {}
        yield from ((found.round, chains.get(task, task)) for task in weak)


def _messages(run: TrackedRun) -> Iterator[str]:
    """The run's own warnings, each once, as far as there is room."""
    said: dict[str, None] = {}
    for event in read_lines(run.folder / "events.jsonl", '"kind":"warning"'):
        if event["kind"] == "warning":
            said[f"round {event['scope']['round']}: {event['data'].get('message', event['data'])}"] = None
    yield from list(said)[:SHOWN_MESSAGES]
    if len(said) > SHOWN_MESSAGES:
        yield f"and {len(said) - SHOWN_MESSAGES} more in events.jsonl"

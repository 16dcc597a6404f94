"""summary.json: one row a round, from the archive alone; what tables, trackers and screens read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coevolve.archive import Archive, load_record, load_version, write_json
from coevolve.errors import DataError

FORMAT = 1
EXTRA = ("control", "seconds_an_attempt")
"""Figures of the run as a whole, beside the rows."""


class Summary:
    """Keeps summary.json true to the archive; rewritten whole after each round."""

    def __init__(self, path: Path, head: Mapping[str, Any], archive: Archive) -> None:
        """`head` holds what does not change: experiment, ablation, seed, solver, models …"""
        self._path = path
        old = _read(path)
        self.complete: bool = old.get("complete", False)
        """Whether the run on disk had ended."""
        self.wall_seconds: float = old.get("wall_seconds", 0.0)
        """Time that earlier processes spent, as far as they wrote it down."""
        self._head = dict(head)
        self._extra: dict[str, Any] = {name: old[name] for name in EXTRA if name in old}
        self._rows: list[dict[str, Any]] = []
        self._spent: int | None = 0
        for folder in archive.paths():
            self._add(load_record(folder))

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """One row a round so far."""
        return self._rows

    def add(self, record: Mapping[str, Any], wall_seconds: float) -> None:
        """Take up a new version record and write the file."""
        self._add(record)
        self.write(complete=False, wall_seconds=wall_seconds)

    def note(self, **extra: Any) -> None:
        """Figures of the run as a whole, such as the control."""
        self._extra.update(extra)

    def write(self, complete: bool, wall_seconds: float) -> dict[str, Any]:
        """Write summary.json and return its content."""
        self.complete, self.wall_seconds = complete, round(wall_seconds, 1)
        write_json(self._path, self.content())
        return self.content()

    def content(self) -> dict[str, Any]:
        """What summary.json holds."""
        return {
            "format": FORMAT,
            **self._head,
            "complete": self.complete,
            "wall_seconds": self.wall_seconds,
            **self._extra,
            "rounds": self._rows,
        }

    def _add(self, record: Mapping[str, Any]) -> None:
        if "seeds" in record["evaluations"]:
            self._extra["seeds"] = record["evaluations"]["seeds"]
        row = summary_row(record, self._spent)
        self._spent = row.pop("_spent")
        self._rows.append(row)


def check_whole(folder: Path, archive: Archive) -> None:
    """Raise DataError unless a run that is called complete still holds its versions, tasks and ledger."""
    cure = f"restore it (python scripts/doctor.py run={folder} checks the rest), or fresh=true starts anew"
    calls = 0
    for path in archive.paths():
        version = load_version(path)
        calls += version.costs["calls"]
        wanted = version.evaluations["reporting"]["n_tasks"]
        if len(version.tasks) != wanted:
            raise DataError(f"{path}/tasks.jsonl: {len(version.tasks)} tasks, its version.json says {wanted}; {cure}")
    ledger, rows = folder / "ledger.jsonl", 0
    try:
        with ledger.open("rb") as file:
            for rows, line in enumerate(file, 1):  # noqa: B007
                json.loads(line)
    except (OSError, ValueError) as error:
        raise DataError(f"{ledger} line {rows}: broken record ({error}); {cure}") from error
    if rows < calls:
        raise DataError(f"{ledger}: {rows} calls, its versions paid for {calls}; {cure}")


def lengths_and_losses(rows: Sequence[Mapping[str, Any]]) -> str:
    """By round: question length and the attempts lost to truncation or parsing; a fall that vanishes at equal length
    is not difficulty.
    """
    chars = " ".join(f"{row['question_chars']:.0f}" for row in rows)
    cut, lost = (" ".join(f"{row[name]:.0%}" for row in rows) for name in ("truncated", "unparsed"))
    return f"by round: question characters {chars} | truncated {cut} | unparsed {lost}"


def _read(path: Path) -> dict[str, Any]:
    """What the file holds; a missing or broken one is rebuilt from the archive."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def summary_row(record: Mapping[str, Any], spent_before: int | None) -> dict[str, Any]:
    """A version record as a row. Costs are US dollars per original seed; total is cumulative, reporting apart (I10)."""
    evaluations, costs = record["evaluations"], record["costs"]
    reporting, batch = evaluations["reporting"], evaluations.get("batch")
    n_seeds = reporting["n_tasks"]
    evolution = costs["evolution_microusd"]
    spent = None if spent_before is None or evolution is None else spent_before + evolution
    validity = batch["valid"] / batch["n_tasks"] if batch else None

    def per_seed(micro: int | None) -> float | None:
        return None if micro is None else micro / 1_000_000 / n_seeds

    return {
        "round": record["round"],
        "accuracy": reporting["accuracy"],
        "interval": reporting["interval"],
        "n_tasks": n_seeds,
        "n_attempts": reporting["n_attempts"],
        "truncated": reporting["truncated"],
        "unparsed": reporting["unparsed"],
        "question_chars": reporting["question_chars"],
        "validity": validity,
        "fallback_rate": None if validity is None else 1 - validity,
        "misses": batch["misses"] if batch else None,
        "weak_zeros": len(evaluations.get("weak_zeros", [])),
        "skills": record["n_skills"],
        "status": record["status"],
        "candidates": len(evaluations.get("candidates", [])),
        "harness_id": record["harness_id"],
        "c_gen_usd": per_seed(costs["c_gen_microusd"]) if batch else None,
        "c_erv_usd": per_seed(costs["c_erv_microusd"]) if batch else None,
        "total_usd": per_seed(spent),
        "calls": costs["calls"],
        "_spent": spent,
    }

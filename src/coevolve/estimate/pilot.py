"""What a finished or running run has measured: calls, tokens and model time by phase, part, round and chain."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coevolve.archive import load_record, load_tasks
from coevolve.errors import DataError
from coevolve.estimate.parts import COLUMNS, Numbers, part_of
from coevolve.tracking.reading import flatten, read_config, read_summary, versions

WHOLE = ("meta_skill", "meta_harness")
"""Parts of the post-task phase: one chain of their own, units are rounds and proposals."""


@dataclass(slots=True)
class Pilot:
    """Sums of a pilot's archived rounds; rounds are the first axis (0 = the seeds), chains the second."""

    folder: Path
    rounds: int
    domains: tuple[str, ...]
    """Of each chain."""
    config: Mapping[str, str]
    """Its configuration, flat."""
    models: dict[str, str] = field(default_factory=dict)
    """Part -> the model that the ledger names."""
    sums: dict[tuple[str, str], Numbers] = field(default_factory=dict)
    """(phase, part) -> (rounds + 1, chains, COLUMNS)."""
    units: dict[str, Numbers] = field(default_factory=dict)
    """Phase -> (rounds + 1, chains): how often the chain was worked on, in a round or over its probes."""
    accepted: int = 0
    probed: int = 0
    proposals: list[int] = field(default_factory=list)
    """Candidates proposed, a round."""
    work: Numbers = field(default_factory=lambda: np.zeros(len(COLUMNS)))
    """Sums over every row that `wall_seconds` covers."""
    wall_seconds: float = 0.0

    @property
    def post_task(self) -> bool:
        """Whether it had post-task updates."""
        return self.config.get("ablation.post_task") == "True"

    @property
    def online(self) -> bool:
        """Whether it had online updates."""
        return self.config.get("ablation.online") == "True"

    @property
    def cohort(self) -> int:
        """Size of its gate cohort."""
        each = min(self.number("budget.gate_per_domain"), self.number("seeds.per_domain"))
        return each * len(set(self.domains))

    def number(self, key: str) -> int:
        """An integer of its configuration."""
        return int(self.config[key])


def read_pilot(folder: Path, domains: Sequence[str]) -> Pilot:
    """Measure the chains of `domains` in a run folder. Raises DataError when it has none, or no finished round."""
    config, summary, archived = read_config(folder), read_summary(folder), versions(folder)
    if len(archived) < 2:
        raise DataError(f"pilot={folder}: it has no finished round; let it finish one, two show growth")
    records = [load_record(path) for path in archived]
    if records[0]["round"] != 0:
        raise DataError(f"pilot={folder}: it went on from a version; give a run that began with its seeds")
    seeds = load_tasks(archived[0] / "tasks.jsonl")
    lacking = set(domains) - {task.domain for task in seeds}
    if lacking:
        raise DataError(f"pilot={folder}: it has no chain of {', '.join(sorted(lacking))}; give one with every domain")
    pilot = Pilot(folder, len(records) - 1, tuple(task.domain for task in seeds), dict(flatten(config)))
    _count_search(pilot, records)
    places = {task.chain: number for number, task in enumerate(seeds)}
    seen: dict[tuple[str, int, int], set[str]] = {}
    for row in _rows(folder / "ledger.jsonl"):
        late = row["round"] > pilot.rounds
        if not late or (summary["complete"] and row["probe"] == "control"):
            pilot.work += _figures(row)
        if not late:
            _add(pilot, row, places, seen)
    for (phase, number, place), probes in seen.items():
        pilot.units[phase][number, place] = len(probes)
    pilot.wall_seconds = float(summary.get("wall_seconds") or 0.0)
    return pilot


def _count_search(pilot: Pilot, records: list[dict[str, Any]]) -> None:
    for record in records:
        candidates = record["evaluations"].get("candidates") or []
        pilot.proposals.append(len(candidates))
        pilot.probed += sum(candidate["violation"] is None for candidate in candidates)
        pilot.accepted += record["status"] == "accepted"


def _add(
    pilot: Pilot, row: Mapping[str, Any], places: Mapping[str, int], seen: dict[tuple[str, int, int], set[str]]
) -> None:
    phase, part, number = row["phase"], part_of(row), row["round"]
    if row["chain"] == "preflight":
        return
    whole = phase == "post_task" and part in WHOLE
    if not whole and phase != "initialisation" and row["chain"] not in places:
        return
    place = places[row["chain"]] if phase != "initialisation" and not whole else 0
    size = (pilot.rounds + 1, 1 if whole or phase == "initialisation" else len(places))
    pilot.sums.setdefault((phase, part), np.zeros((*size, len(COLUMNS))))[number, place] += _figures(row)
    pilot.models.setdefault(part, row["model"])
    if not whole:
        pilot.units.setdefault(phase, np.zeros(size))
        seen.setdefault((phase, number, place), set()).add(row["probe"])


def _figures(row: Mapping[str, Any]) -> Numbers:
    return np.array([1, *(row[name] for name in COLUMNS[1:])], dtype=np.float64)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        raise DataError(f"{path}: missing; a pilot needs its ledger")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise DataError(f"{path} line {number}: not JSON ({error})") from error

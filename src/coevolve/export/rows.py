"""Candidate rows: every new task of the chosen rounds of tracked runs, with where it came from."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from coevolve.archive import load_record, load_tasks
from coevolve.errors import DataError
from coevolve.export.config import RoundsConfig
from coevolve.tasks import Task


class Row(NamedTuple):
    """One task on its way to a data set."""

    task: Task
    run: str
    """Id of the run that made it, or name of the released data set it is from."""
    ablation: str
    family: str
    """What never crosses from train to validation: the seed's family, or its chain."""
    target: str = ""
    """What a student learns to write; empty for GRPO."""
    prompt_tokens: int | None = None
    total_tokens: int | None = None

    @property
    def key(self) -> str:
        """Names the row in the audit."""
        return f"{self.run}/{self.task.id}"

    @property
    def pass_rate(self) -> Fraction | None:
        """The solver's share of right answers, exact; None when it was never measured."""
        return Fraction(self.task.p_hat) if self.task.p_hat is not None else None


def run_folders(places: str | Sequence[str]) -> list[Path]:
    """The run folders at or below `places`, sorted; earlier runs that were set aside are left out. Raises DataError."""
    found: set[Path] = set()
    for place in [places] if isinstance(places, str) else places:
        folder = Path(place)
        below = {path.parent.parent for path in folder.glob("**/archive/v000") if ".before-" not in str(path)}
        if not below:
            raise DataError(f"runs={place}: no run folder there (one holds archive/v000); make one with evolve.py")
        found |= below
    ids: dict[str, Path] = {}
    for run in sorted(found):
        if (other := ids.setdefault(run_id(run), run)).resolve() != run.resolve():
            raise DataError(
                f"two runs are called {run_id(run)}: {other} and {run}; give one of them, or rename a folder"
            )
    return list(ids.values())


def run_id(run: Path) -> str:
    """What rows and reports call a run: the last two parts of its folder."""
    return "/".join(run.absolute().parts[-2:])


def rows_of(run: Path, rounds: RoundsConfig, with_attempts: bool) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Each task of `run` that is new in a chosen round, and the texts of its reporting attempts if asked for.

    A retained task belongs to the round that made it, so no task comes twice.
    """
    summary = _summary(run)
    for folder in sorted(run.glob("archive/v[0-9]*")):
        number = int(load_record(folder)["round"])
        if number < rounds.first or (rounds.last is not None and number > rounds.last):
            continue
        texts = _attempts(run / "journal" / f"r{number:03d}.jsonl") if with_attempts else {}
        for task in load_tasks(folder / "tasks.jsonl"):
            if task.round == number:
                family = str(task.meta.get("family", task.chain))
                yield Row(task, run_id(run), str(summary["ablation"]), family), texts.get(task.chain, ())


def _summary(run: Path) -> Mapping[str, Any]:
    path = run / "summary.json"
    try:
        summary: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: no readable summary ({error}); run scripts/doctor.py run={run}") from error
    return summary


def _attempts(journal: Path) -> dict[str, tuple[str, ...]]:
    """Chain -> texts of its finished reporting attempts, by attempt number."""
    if not journal.is_file():
        raise DataError(f"{journal}: format.target=attempt needs the run's journal; use format.target=derivation")
    found: dict[str, dict[int, str]] = {}
    with journal.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            row = record.get("row", {})
            if row.get("phase") == "reporting" and row["outcome"] == "ok" and not row["probe"]:
                found.setdefault(row["chain"], {})[row["attempt"]] = record["reply"]["text"]
    return {chain: tuple(texts[number] for number in sorted(texts)) for chain, texts in found.items()}

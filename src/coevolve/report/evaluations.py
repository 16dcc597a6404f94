"""Benchmark scores that scripts/evaluate.py left, read: the input of Tables 1-4 and Figure 2b."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coevolve.errors import ConfigError, DataError, boundary
from coevolve.evaluation.outcomes import TaskScore

UNTRAINED = "untrained"
"""Label of a checkpoint before any training of ours: what the other rows are compared with."""
FORMAT = 1
RESULT, ASKED = "evaluation.json", "asked.json"
"""What a finished evaluation leaves, and what one that has begun does."""
SET_ASIDE = ".before-"


@dataclass(frozen=True)
class Evaluation:
    """One model's attempts at one benchmark: exact counts of every item."""

    id: str
    """The last two parts of its folder: `<benchmark>/<student>-<label>`."""
    benchmark: str
    n_items: int
    """Items the benchmark has; the evaluation may be of a part of them."""
    items_hash: str
    student: str
    label: str
    """Data the student was trained on, or `untrained`."""
    training_seed: int | None
    model: str
    attempts: int
    """k of mean-k."""
    sampling: str
    """Temperature and token limit in words."""
    tasks: tuple[TaskScore, ...]


class Found(NamedTuple):
    """What lies in the places that `runs=` names, as far as evaluations go."""

    evaluations: tuple[Evaluation, ...]
    unfinished: tuple[str, ...]
    """Ids of those that have begun and have no result yet."""
    places: tuple[str, ...]
    """The words that name a folder with evaluations in it."""


def find_evaluations(words: Sequence[str], outputs: Path) -> Found:
    """Evaluations in the folders, or folders below `outputs`, of these words. Raises ConfigError, DataError."""
    finished: dict[Path, Evaluation] = {}
    unfinished: dict[Path, str] = {}
    places = []
    for word in words:
        folders = [inner for folder in (Path(word), outputs / word) if folder.is_dir() for inner in _below(folder)]
        places += [word] if folders else []
        for folder in (folder.absolute() for folder in folders):
            if (folder / RESULT).is_file():
                finished[folder] = read_evaluation(folder)
            else:
                unfinished[folder] = _id(folder)
    ids: dict[str, Path] = {}
    for folder, found in finished.items():
        if found.id in ids:
            raise ConfigError(f"two evaluations are called {found.id}: {ids[found.id]} and {folder}; give one of them")
        ids[found.id] = folder
    ordered = tuple(sorted(finished.values(), key=lambda found: found.id))
    return Found(ordered, tuple(sorted(set(unfinished.values()))), tuple(places))


def read_evaluation(folder: Path) -> Evaluation:
    """One finished evaluation. Raises DataError naming the file."""
    path = folder / RESULT
    with boundary(DataError, f"{path}: not a result of scripts/evaluate.py"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise DataError(f"{path}: format {record['format']}, this version reads {FORMAT}; evaluate it again")
        tasks = tuple(TaskScore.model_validate(task) for task in record["tasks"])
        if not tasks:
            raise DataError(f"{path}: no item in it; evaluate it again")
        return Evaluation(
            id=_id(folder),
            benchmark=record["benchmark"]["name"],
            n_items=record["benchmark"]["items"],
            items_hash=record["benchmark"]["hash"],
            student=record["student"],
            label=record["label"],
            training_seed=record["training_seed"],
            model=record["model"],
            attempts=record["attempts"],
            sampling=f"temperature {record['temperature']:g}, at most {record['max_tokens']} tokens",
            tasks=tasks,
        )


def _id(folder: Path) -> str:
    return "/".join(folder.absolute().parts[-2:])


def _below(folder: Path) -> Iterator[Path]:
    """Folders of evaluations at or below `folder`; run folders, hidden ones and those set aside are passed over."""
    if (folder / RESULT).is_file() or (folder / ASKED).is_file():
        yield folder
        return
    if (folder / "archive").is_dir() or (folder / "mlflow.db").exists():
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.name.startswith(".") and SET_ASIDE not in inner.name:
            yield from _below(inner)

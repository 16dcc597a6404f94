"""The archive B on disk: complete harness and task snapshots with parents, status, evaluations, rejections, costs.

    archive/vNNN/harness/        the harness as a folder
    archive/vNNN/tasks.jsonl     one task a chain
    archive/vNNN/version.json    everything else
    archive/vNNN/candidates/N/   each proposed harness with its probe's outputs, adopted or not

A version appears whole or not at all: it is written beside the archive, forced to disk, and renamed.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from coevolve.errors import DataError
from coevolve.harness import Harness
from coevolve.harness_folder import fsync_folder, load_harness, save_harness
from coevolve.tasks import Frozen, Task

Status = Literal["initial", "online-only", "accepted"]


class Candidate(Frozen):
    """A proposed harness with what its probe produced; kept whatever the gate decided."""

    harness: Harness
    tasks: tuple[Task, ...]


class Version(Frozen):
    """One entry of the archive."""

    version: int
    round: int
    parents: tuple[str, ...]
    """Harness ids of the versions this one came from."""
    status: Status
    harness: Harness
    tasks: tuple[Task, ...]
    fixed_hash: str
    config_hash: str
    evaluations: Mapping[str, Any]
    """reporting, and after post-task updates in_loop, baseline and candidates."""
    rejections: tuple[Mapping[str, Any], ...]
    costs: Mapping[str, Any]
    files: Mapping[str, int]
    """Sizes in bytes of ledger.jsonl and events.jsonl when this version was archived."""
    candidates: tuple[Candidate | None, ...] = ()

    def record(self) -> dict[str, Any]:
        """version.json: everything but the snapshots themselves."""
        plain = self.model_dump(mode="json", exclude={"harness", "tasks", "candidates"})
        return {**plain, "harness_id": self.harness.id, "n_skills": len(self.harness.skills)}


class Archive:
    """Versions in order of their number; `on_add` hears of each new one."""

    def __init__(self, folder: Path, on_add: Callable[[Version], None] | None) -> None:
        self.folder = folder
        self.on_add = on_add
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".writing-*"):
            shutil.rmtree(left)

    def paths(self) -> list[Path]:
        """Folders of the archived versions, oldest first."""
        found = [path for path in self.folder.glob("v*") if path.is_dir() and path.name[1:].isdigit()]
        return sorted(found, key=lambda path: int(path.name[1:]))

    def latest(self) -> Version | None:
        """The newest version, or None in a new archive."""
        paths = self.paths()
        return load_version(paths[-1]) if paths else None

    def add(self, version: Version) -> Version:
        """Snapshot `version` (Algorithm 1, lines 4 and 32) and return it."""
        final = self.folder / f"v{version.version:03d}"
        if final.exists():
            raise DataError(f"{final}: this version exists already; another process works on this run")
        writing = self.folder / f".writing-{version.version:03d}"
        save_harness(version.harness, writing / "harness")
        write_tasks(writing / "tasks.jsonl", version.tasks)
        for number, candidate in enumerate(version.candidates, 1):
            if candidate is not None:
                save_harness(candidate.harness, writing / "candidates" / str(number) / "harness")
                write_tasks(writing / "candidates" / str(number) / "tasks.jsonl", candidate.tasks)
        write_json(writing / "version.json", version.record())
        fsync_folder(writing)
        writing.rename(final)
        _sync_entry(self.folder)
        if self.on_add is not None:
            self.on_add(version)
        return version


def load_version(folder: Path, edited: bool = False) -> Version:
    """Read one version folder; `edited` takes a harness that a person changed. Raises DataError naming the fault."""
    if not (folder / "version.json").is_file():
        raise DataError(f"{folder}: no archived version; give a folder like <run>/archive/v002, or a copy of one")
    record = load_record(folder)
    expected = record.pop("harness_id")
    record.pop("n_skills", None)
    harness = load_harness(folder / "harness")
    if harness.id != expected and not edited:
        raise DataError(
            f"{folder}/harness: its content is {harness.id}, version.json says {expected}; restore it, and start a "
            "run with from_version=<an edited copy> to try it"
        )
    try:
        return Version(**record, harness=harness, tasks=load_tasks(folder / "tasks.jsonl"))
    except ValidationError as error:
        raise DataError(f"{folder}/version.json: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from error


def load_record(folder: Path) -> dict[str, Any]:
    """version.json of a version folder. Raises DataError."""
    path = folder / "version.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: no readable version ({error})") from error
    if not isinstance(record, dict) or "harness_id" not in record:
        raise DataError(f"{path}: not a version record")
    return record


def write_tasks(path: Path, tasks: tuple[Task, ...]) -> None:
    """Write tasks as JSON lines without null fields."""
    with path.open("w", encoding="utf-8") as file:
        for task in tasks:
            file.write(json.dumps(task.model_dump(mode="json", exclude_none=True), ensure_ascii=False) + "\n")


def load_tasks(path: Path) -> tuple[Task, ...]:
    """Read tasks.jsonl. Raises DataError naming file and line."""
    tasks = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                tasks.append(Task.model_validate_json(line))
            except ValidationError as error:
                raise DataError(f"{path} line {number}: {error.errors()[0]['msg']}") from error
    return tuple(tasks)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file atomically: whole or not at all."""
    writing = path.with_name(f".{path.name}.writing")
    with writing.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    writing.replace(path)


def _sync_entry(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

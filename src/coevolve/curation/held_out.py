"""Held-out seeds are sealed: they are read by transfer and reporting alone, and every reading is on record.

The import contract keeps this module out of everything that evolves; the file's ending keeps it out of `seeds=file`.
"""

import getpass
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from coevolve.archive import load_tasks
from coevolve.curation.curated import HELD_OUT, READS, check_file
from coevolve.errors import DataError
from coevolve.tasks import Task

Reader = Literal["transfer", "report"]
READERS: tuple[Reader, ...] = get_args(Reader)


class Reading(NamedTuple):
    """One line of reads.jsonl."""

    time: str
    """UTC, ISO 8601."""
    reader: str
    run: str
    """The run folder or command that asked; "" where none was named."""
    user: str
    seeds: int


def open_sealed(folder: Path, reader: Reader, run: str = "") -> tuple[Task, ...]:
    """The held-out seeds of a curated folder, as tasks of round 0, counted in reads.jsonl before they are returned.

    Raises DataError for another reader, a folder that is not curated, or a file that was changed.
    """
    if reader not in READERS:
        raise DataError(f"held-out seeds are for {' and '.join(READERS)} alone, not for {reader!r}")
    path = check_file(folder, HELD_OUT)
    tasks = load_tasks(path)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = Reading(now, reader, run, getpass.getuser(), len(tasks))._asdict()
    with (folder / READS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return tasks


def readings(folder: Path) -> list[Reading]:
    """Who has read the held-out seeds so far, oldest first."""
    path = folder / READS
    if not path.exists():
        return []
    return [Reading(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]

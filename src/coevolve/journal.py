"""The append-only record of what was paid for: a call that finished is never made again (I13, I16).

One file a round. A record is written to the operating system at once (so kill -9 loses nothing) and forced to disk in
groups by a thread of its own. Only the records that an earlier process left are held in memory, without their requests.

A journal is also a recording: a replay starts from a copy of another run's.
"""

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

from coevolve.errors import DataError

SYNC_SECONDS = 0.5


def decided(folder: Path) -> bool:
    """Whether a journal holds anything that the configuration decided: more than the short calls of starts."""
    for path in sorted(folder.glob("r*.jsonl")):
        with path.open("rb") as file:
            if any(not line.startswith(b'{"paid": ') or b'"role": "acquisition"' in line for line in file):
                return True
    return False


class Journal:
    """Records of one round: calls and self-checks by key, the order of admissions, what was paid, ceilings reached."""

    def __init__(self, folder: Path, recording: Path | None = None) -> None:
        """`recording`: the journal folder of the run that is replayed."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._recording = recording
        self._path = folder
        self._descriptor: int | None = None
        self._calls: dict[str, list[dict[str, Any]]] = {}
        self._checks: dict[str, dict[str, Any]] = {}
        self.admissions: dict[str, list[str]] = {}
        """Per `<phase>/<probe>`: keys of the admissions an earlier process made, in order."""
        self.paid: list[dict[str, Any]] = []
        """Ledger rows of calls that answer nothing: the short ones at each start."""
        self.closed: dict[str, str] = {}
        """Ceilings that refused a call of this round, and how they said it."""
        self._dirty = threading.Event()
        self._closed = threading.Event()
        self._syncer = threading.Thread(target=self._sync, name="journal-sync", daemon=True)
        self._syncer.start()

    @property
    def path(self) -> Path:
        """The file of the round at work."""
        return self._path

    def open_round(self, number: int) -> None:
        """Start (or take up again) the record of round `number`; a cut last line is dropped."""
        self._close_file()
        path = self._path = self._folder / f"r{number:03d}.jsonl"
        self._calls, self._checks, self.admissions, self.paid, self.closed = {}, {}, {}, [], {}
        if self._recording is not None and not path.exists():
            self._copy(self._recording / path.name)
        good = self._load(path) if path.exists() else 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.ftruncate(self._descriptor, good)

    def calls(self) -> list[dict[str, Any]]:
        """Records of calls that an earlier process finished and this one has not come to yet."""
        return [record for records in self._calls.values() for record in records]

    def find(self, key: str) -> dict[str, Any] | None:
        """The newest record of the call `key` that an earlier process left, if it is still to be taken."""
        return self._calls[key][-1] if key in self._calls else None

    def take(self, key: str, fingerprint: str) -> dict[str, Any] | None:
        """The oldest record of the call `key` that asked the same, if an earlier process left one; it is used up."""
        for record in self._calls.get(key, ()):
            if record["hash"] == fingerprint:
                self.drop(record)
                return record
        return None

    def drop(self, record: dict[str, Any]) -> None:
        """Use a record up."""
        left = [other for other in self._calls[record["call"]] if other is not record]
        if left:
            self._calls[record["call"]] = left
        else:
            del self._calls[record["call"]]

    def append_call(self, key: str, record: dict[str, Any]) -> None:
        """Record a finished call."""
        self._write({"call": key, **record})

    def append_paid(self, row: dict[str, Any]) -> None:
        """Record the cost of a call that answers nothing."""
        self._write({"paid": row})

    def append_closed(self, ceiling: str, why: str) -> None:
        """Record that `ceiling` refused a call, so that a resumed round ends where this one did."""
        if ceiling not in self.closed:
            self.closed[ceiling] = why
            self._write({"closed": ceiling, "why": why})

    def find_check(self, key: str) -> dict[str, Any] | None:
        """What the self-check of `key` found, if an earlier process made it."""
        return self._checks.get(key)

    def append_check(self, key: str, record: dict[str, Any]) -> None:
        """Record a self-check: run again under load it could end otherwise, and the batch take another course."""
        self._write({"check": key, **record})

    def append_admission(self, probe: str, key: str) -> None:
        """Record that the admission `key` came next in `probe`."""
        self._write({"admission": key, "probe": probe})

    def close(self) -> None:
        """Force everything to disk and end the thread."""
        self._closed.set()
        self._dirty.set()
        self._syncer.join()
        self._close_file()

    def _load(self, path: Path) -> int:
        good = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    if line.endswith(b"\n"):
                        raise DataError(f"{path} line {number}: broken record ({error}); restore the file") from error
                    break
                if not line.endswith(b"\n"):
                    break
                good += len(line)
                self._keep(record)
        return good

    def _keep(self, record: dict[str, Any]) -> None:
        if "call" in record:
            record.pop("request", None)
            self._calls.setdefault(record["call"], []).append(record)
        elif "check" in record:
            self._checks[record["check"]] = record
        elif "paid" in record:
            self.paid.append(record["paid"])
        elif "closed" in record:
            self.closed[record["closed"]] = record["why"]
        else:
            self.admissions.setdefault(record["probe"], []).append(record["admission"])

    def _copy(self, recorded: Path) -> None:
        if recorded.exists():
            copying = self._path.with_name(f".{self._path.name}.copying")
            shutil.copyfile(recorded, copying)
            copying.replace(self._path)

    def _write(self, record: dict[str, Any]) -> None:
        if self._descriptor is None:
            raise RuntimeError("no round is open")
        os.write(self._descriptor, json.dumps(record, ensure_ascii=False).encode(errors="replace") + b"\n")
        self._dirty.set()

    def _sync(self) -> None:
        while not self._closed.is_set():
            self._dirty.wait()
            self._dirty.clear()
            descriptor = self._descriptor
            if descriptor is not None:
                try:
                    os.fdatasync(descriptor)
                except OSError:
                    continue
            self._closed.wait(SYNC_SECONDS)

    def _close_file(self) -> None:
        if self._descriptor is not None:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

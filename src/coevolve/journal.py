"""The append-only record of what was paid for: a call that finished is never made again (I13, I16).

One file a round. A record is written to the operating system at once (so kill -9 loses nothing) and forced to disk in
groups by a thread of its own. Only the records that an earlier process left are held in memory.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any

from coevolve.errors import DataError

SYNC_SECONDS = 0.5


class Journal:
    """Records of one round: finished calls and self-checks by key, and the order of admissions."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._descriptor: int | None = None
        self._calls: dict[str, dict[str, Any]] = {}
        self._checks: dict[str, dict[str, Any]] = {}
        self.admissions: dict[str, list[str]] = {}
        """Per `<phase>/<probe>`: keys of the admissions an earlier process made, in order."""
        self._dirty = threading.Event()
        self._closed = threading.Event()
        self._syncer = threading.Thread(target=self._sync, name="journal-sync", daemon=True)
        self._syncer.start()

    def open_round(self, number: int) -> None:
        """Start (or take up again) the record of round `number`; a cut last line is dropped."""
        self._close_file()
        path = self._folder / f"r{number:03d}.jsonl"
        self._calls, self._checks, self.admissions = {}, {}, {}
        good = self._load(path) if path.exists() else 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.ftruncate(self._descriptor, good)

    def find(self, key: str) -> dict[str, Any] | None:
        """The record of the finished call `key`, if an earlier process left one."""
        return self._calls.get(key)

    def append_call(self, key: str, record: dict[str, Any]) -> None:
        """Record a finished call."""
        self._write({"call": key, **record})

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
                if "call" in record:
                    self._calls[record["call"]] = record
                elif "check" in record:
                    self._checks[record["check"]] = record
                else:
                    self.admissions.setdefault(record["probe"], []).append(record["admission"])
        return good

    def _write(self, record: dict[str, Any]) -> None:
        if self._descriptor is None:
            raise RuntimeError("no round is open")
        os.write(self._descriptor, json.dumps(record, ensure_ascii=False).encode() + b"\n")
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

"""What was paid for, in a run folder: the ledger against the archive, and against the journal."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any

from coevolve.archive import load_record
from coevolve.errors import DataError
from coevolve.ledger import Row, Totals

SUMS = ("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "microusd")
UNCOUNTED = ("failed", "unused")
"""Outcomes of calls that may be made again under the same name."""
KINDS = ("call", "check", "admission", "paid", "closed")
"""What a journal record is; its first key says it."""


def lines(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(line number, end in bytes, record) of a JSON-lines file, if there is one; a cut last line is no record."""
    end = 0
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            end += len(line)
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path} line {number}: not JSON ({error})") from error
            if not isinstance(record, dict):
                raise DataError(f"{path} line {number}: not a record")
            yield number, end, record


def _rows(path: Path) -> Iterator[tuple[int, int, Row]]:
    for number, end, fields in lines(path):
        try:
            yield number, end, Row.read(fields)
        except (TypeError, KeyError) as error:
            raise DataError(f"{path} line {number}: not a call's row ({error})") from error


def check_ledger(run: Path, folders: list[Path]) -> str:
    """Every archived round's sums are those of its rows, and no finished call stands twice."""
    path = run / "ledger.jsonl"
    records = [load_record(folder) for folder in folders]
    ends = [record["files"]["ledger"] for record in records]
    sums: list[dict[tuple[str, str, str], Totals]] = [{} for _ in records]
    finished: set[str] = set()
    rows = current = 0
    for number, end, row in _rows(path):
        if row.outcome not in UNCOUNTED:
            if row.call in finished:
                raise DataError(f"{path} line {number}: the call {row.call} was paid for twice")
            finished.add(row.call)
        rows += 1
        while current < len(ends) and end > ends[current]:
            current += 1
        if current < len(ends):
            sums[current].setdefault((row.phase, row.probe, row.role), Totals()).add(row)
    for folder, record, found in zip(folders, records, sums, strict=True):
        _same_sums(f"{folder}/version.json", record["costs"]["cells"], found)
    return f"{rows} calls, sums agree"


def _same_sums(where: str, cells: list[dict[str, Any]], found: Mapping[tuple[str, str, str], Totals]) -> None:
    kept = {(cell["phase"], cell["probe"], cell["role"]): cell for cell in cells}
    for key in sorted(set(kept) | set(found)):
        cell, totals = kept.get(key), found.get(key)
        if cell is None or totals is None:
            raise DataError(f"{where}: calls of {'/'.join(key)} stand only in {'the ledger' if totals else 'version'}")
        differing = [name for name in SUMS if cell[name] != getattr(totals, name)]
        if differing or not isclose(cell["seconds"], totals.seconds, rel_tol=1e-6, abs_tol=1e-3):
            name = differing[0] if differing else "seconds"
            raise DataError(
                f"{where}: {name} of {'/'.join(key)} is {cell[name]}, the ledger says {getattr(totals, name)}"
            )


def check_journal(run: Path, folders: list[Path]) -> str:
    """Every record can be read, and each call of an archived round stands in that round's journal as it was charged.

    One round's journal is held in memory at a time.
    """
    records = [load_record(folder) for folder in folders]
    ledger, rows = run / "ledger.jsonl", _rows(run / "ledger.jsonl")
    pending = next(rows, None)
    calls = 0
    for record in records:
        path = run / "journal" / f"r{record['round']:03d}.jsonl"
        paid, end = _paid(path), record["files"]["ledger"]
        while pending is not None and pending[1] <= end:
            number, _, row = pending
            if paid[_mark(row)] == 0:
                raise DataError(f"{ledger} line {number}: {row.call} does not stand so in {path}")
            paid[_mark(row)] -= 1
            calls += 1
            pending = next(rows, None)
    later = [path for path in sorted(run.glob("journal/r*.jsonl")) if int(path.stem[1:]) > _last(records)]
    waiting = sum(_paid(path).total() for path in later)
    return f"{calls} calls of archived rounds" + (f", {waiting} after them" if waiting else "")


def _last(records: list[dict[str, Any]]) -> int:
    return int(records[-1]["round"]) if records else -1


def _mark(row: Row) -> tuple[object, ...]:
    """A call and what was charged for it; the outcome may have become `unused` since."""
    return (row.call, row.model, row.tokens_in, row.tokens_out, row.microusd, row.seconds)


def _paid(path: Path) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for number, _, record in lines(path):
        kind = next(iter(record), None)
        if kind not in KINDS:
            raise DataError(f"{path} line {number}: no record of a journal (it begins with {kind!r})")
        try:
            if kind in ("call", "paid"):
                found[_mark(Row.read(record["row"] if kind == "call" else record["paid"]))] += 1
        except (TypeError, KeyError) as error:
            raise DataError(f"{path} line {number}: a call without its row ({error})") from error
    return found

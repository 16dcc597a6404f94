"""Diagnostics as sections of rows: one Markdown page for people, one long CSV (a line a figure) for programs."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Unit = Literal["share", "points", "usd", "number", "count", "text"]
"""share: 0 to 1, printed in per cent; points: a difference of shares, printed in percentage points with its sign."""
COLUMNS = ("section", "run", "round", "item", "quantity", "unit", "value", "low", "high", "n", "n_of", "note")
NOTHING = "–"


class Cell(NamedTuple):
    """One figure; an interval where it is an estimate, None where it cannot be had."""

    value: float | int | str | None
    low: float | None = None
    high: float | None = None


class Column(NamedTuple):
    """What the cells below it hold."""

    name: str
    unit: Unit


class Line(NamedTuple):
    """One row: where it is from, how many it rests on, and its cells."""

    run: str
    round: int | None
    item: str
    n: int
    cells: tuple[Cell, ...]
    note: str = ""


class Section(NamedTuple):
    """One question, its answer as rows, and how to read them."""

    name: str
    """One word: what CSV rows carry."""
    title: str
    words: str
    n_of: str
    """What `n` counts: chains, decisions …"""
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    missing: str = ""
    """Said when there are no rows: what would make them."""


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Markdown; the same sections give the same bytes."""
    parts = [f"# {title}", "", lead, ""]
    for section in sections:
        parts += [f"## {section.title}", ""]
        parts += [section.words, ""] if section.words else []
        parts += [*(_table(section) if section.lines else [section.missing]), ""]
    return "\n".join(parts).rstrip() + "\n"


def sheet(sections: Sequence[Section]) -> str:
    """CSV, one line a figure; shares and differences as fractions."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section in sections:
        for line in section.lines:
            for column, cell in zip(section.columns, line.cells, strict=True):
                if cell.value is None:
                    continue
                where = (section.name, line.run, line.round, line.item, column.name, column.unit)
                figures = (_plain(cell.value), _plain(cell.low), _plain(cell.high))
                writer.writerow((*where, *figures, line.n, section.n_of, line.note))
    return file.getvalue()


def _table(section: Section) -> Iterator[str]:
    rounds, items, notes = (any(getattr(line, name) not in (None, "") for line in section.lines) for name in _OPTIONAL)
    heads = ["run", *(["round"] if rounds else []), *(["item"] if items else [])]
    heads += [*map(_head, section.columns), section.n_of, *(["note"] if notes else [])]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for line in section.lines:
        texts = [line.run, *([_round(line.round)] if rounds else []), *([line.item] if items else [])]
        texts += [_text(cell, column.unit) for cell, column in zip(line.cells, section.columns, strict=True)]
        texts += [str(line.n), *([line.note] if notes else [])]
        yield f"| {' | '.join(text.replace('|', '/') for text in texts)} |"


_OPTIONAL = ("round", "item", "note")
_MARKS: dict[Unit, str] = {"share": " (%)", "points": " (points)", "usd": " ($)", "number": "", "count": "", "text": ""}


def _head(column: Column) -> str:
    return column.name + _MARKS[column.unit]


def _round(number: int | None) -> str:
    return "" if number is None else str(number)


def _text(cell: Cell, unit: Unit) -> str:
    if cell.value is None:
        return NOTHING
    shown = _shown(cell.value, unit)
    if cell.low is None or cell.high is None:
        return shown
    return f"{shown} [{_shown(cell.low, unit)}, {_shown(cell.high, unit)}]"


def _shown(value: float | str, unit: Unit) -> str:
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit in ("share", "points"):
        return f"{100 * value:{'+' if unit == 'points' else ''}.1f}"
    if unit == "count":
        return str(round(value))
    return f"{value:.4g}"


def _plain(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

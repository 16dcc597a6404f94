"""What the paper publishes in Tables 1-4: data, not ours, from paper_downstream.yaml, in tenths of a point."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import yaml

from coevolve.report.evaluations import UNTRAINED

ScoreTable = Literal["table1", "table2", "table3", "table4"]
OVERALL = "overall"


@dataclass(frozen=True)
class PaperScores:
    """One published table of benchmark scores."""

    title: str
    student: str
    own: tuple[str, ...]
    """Benchmarks that only this table shows: who was evaluated on one of them has a block in it."""
    columns: Mapping[str, str]
    """Benchmark (and `overall`) -> its heading."""
    labels: Mapping[str, str]
    """Row -> its label."""
    values: Mapping[str, Mapping[str, int]]
    """Row -> column -> per mille, as displayed."""
    notes: tuple[str, ...]

    def gain(self, row: str, column: str) -> int | None:
        """Change from the checkpoint, of the displayed values; None where there is none."""
        if row == UNTRAINED or UNTRAINED not in self.values:
            return None
        return self.values[row][column] - self.values[UNTRAINED][column]

    def best(self, column: str) -> int:
        """The column's highest value."""
        return max(values[column] for values in self.values.values())


def paper_scores() -> dict[ScoreTable, PaperScores]:
    """`table1` … `table4`."""
    text = resources.files("coevolve.report").joinpath("paper_downstream.yaml").read_text(encoding="utf-8")
    return {name: _table(plain) for name, plain in yaml.safe_load(text).items()}


def _table(plain: Mapping[str, Any]) -> PaperScores:
    columns = {**plain["columns"], **({OVERALL: "Overall"} if plain["overall"] else {})}
    rows: Mapping[str, Any] = plain["rows"]
    return PaperScores(
        title=plain["title"],
        student=plain["student"],
        own=tuple(plain["own"]),
        columns=columns,
        labels={row: told["label"] for row, told in rows.items()},
        values={
            row: {column: round(value * 10) for column, value in zip(columns, told["values"], strict=True)}
            for row, told in rows.items()
        },
        notes=tuple(" ".join(note.split()) for note in plain["notes"]),
    )

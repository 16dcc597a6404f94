"""What the paper publishes in Tables 5-8: data, not ours, read from paper_values.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True)
class PaperTable:
    """One published table."""

    title: str
    rounds: tuple[int, ...]
    rows: Mapping[str, tuple[float, ...]]
    """Row -> one value a round: accuracy in per cent, or US dollars per original seed."""
    chains: Mapping[str, int]
    notes: tuple[str, ...]

    def value(self, row: str, round: int) -> float | None:
        """The published value, or None where the paper prints none."""
        return self.rows[row][self.rounds.index(round)] if row in self.rows and round in self.rounds else None


def paper_tables() -> dict[str, PaperTable]:
    """`table5` … `table8`."""
    text = resources.files("coevolve.report").joinpath("paper_values.yaml").read_text(encoding="utf-8")
    return {name: _table(plain) for name, plain in yaml.safe_load(text).items()}


def _table(plain: Mapping[str, Any]) -> PaperTable:
    rows = {name: tuple(values) for name, values in plain["rows"].items()}
    notes = tuple(" ".join(note.split()) for note in plain["notes"])
    return PaperTable(plain["title"], tuple(plain["rounds"]), rows, plain["chains"], notes)

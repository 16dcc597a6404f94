"""A table as a picture: the same cells as in Markdown, with rules as in print. One panel a block."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coevolve.report.grid import Grid, Text, grid
from coevolve.report.markdown import BOLD, WHAT, run_line, sentence
from coevolve.report.panels import GAP, LETTER, PAPER_COLOR, ROW, SMALL_LETTER, sentences, stacked, widen, wrapped
from coevolve.report.tables import Block, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT = 0.05
"""Where titles, sentences and rules begin, in inches."""


def write_picture(table: Table, out: Path) -> list[Path]:
    """`out`/tableN.svg and .png; the paths."""
    blocks: Sequence[Block | None] = table.blocks or (None,)
    return stacked([_Panel(table, block) for block in blocks], out / table.name)


class _Panel:
    """One block: sizes first, then drawn in inches from the top left."""

    def __init__(self, table: Table, block: Block | None) -> None:
        self.grid: Grid = grid(table, block)
        self.title = f"Table {table.number}. {table.paper.title}"
        self.said = [block.title if block else sentence(table.missing or ""), f"{WHAT[table.name]} {BOLD[table.name]}"]
        self.notes = ["Ours with 95 % intervals; columns headed paper are the paper's published values, without any."]
        self.notes += [*(run_line(run) for run in block.runs), *block.notes] if block else []
        below = [text for head in self.grid.headings for text in head.below]
        cells = zip(*self._texts(), strict=True)
        self.widths = [max(_width(Text(head)), *map(_width, column)) for head, column in zip(below, cells, strict=True)]
        widen(self.widths, [(head.label, len(head.below)) for head in self.grid.headings])
        self.intervals = [
            SMALL_LETTER * (max(len(text.interval) for text in column) + 1.5)
            for column in zip(*self._texts(), strict=True)
        ]
        self.width = 0.6 + sum(self.widths) + GAP * len(self.widths)
        self.height = 0.0

    def _texts(self) -> list[tuple[Text, ...]]:
        return [texts for _, texts in self.grid.rows]

    def wrap(self, width: float) -> None:
        """Break the sentences at the width of the picture; fixes the height."""
        self.said, self.notes = wrapped(self.said, width), wrapped(self.notes, width)
        lines = 1.3 + 0.8 * (len(self.said) + len(self.notes)) + 2 + len(self.grid.rows) + 2.2
        self.height = ROW * lines

    def draw(self, axes: "Axes", width: float) -> None:
        """Everything of the block, top down."""
        y = ROW * 0.9
        axes.text(LEFT, y, self.title, fontsize=9.5, fontweight="bold", va="center")
        y = sentences(axes, LEFT, y + ROW, self.said) + ROW * 0.2
        right = 0.45 + sum(self.widths) + GAP * len(self.widths)
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=1.0)
        y = self._headings(axes, y)
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=0.6)
        for round, texts in self.grid.rows:
            axes.text(0.3, y, str(round), ha="right", va="center", fontsize=8)
            for x, text, color, room in zip(self._rights(), texts, self._colors(), self.intervals, strict=True):
                _cell(axes, x, y, text, color, room)
            y += ROW
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=1.0)
        sentences(axes, LEFT, y + ROW * 0.1, self.notes)

    def _headings(self, axes: "Axes", y: float) -> float:
        rights, first = self._rights(), 0
        for head in self.grid.headings:
            last = first + len(head.below) - 1
            left, right = rights[first] - self.widths[first], rights[last]
            axes.text((left + right) / 2, y, head.label, ha="center", va="center", fontsize=8, fontweight="bold")
            axes.plot([left, right], [y + ROW * 0.5] * 2, color="black", linewidth=0.4)
            first = last + 1
        below = [text for head in self.grid.headings for text in head.below]
        axes.text(0.3, y + ROW, "round", ha="right", va="center", fontsize=6.5)
        for x, text, color in zip(rights, below, self._colors(), strict=True):
            axes.text(x, y + ROW, text, ha="right", va="center", fontsize=6.5, color=color)
        return y + 2 * ROW

    def _rights(self) -> list[float]:
        """Right edge of each column."""
        edges, x = [], 0.45
        for width in self.widths:
            x += width + GAP
            edges.append(x)
        return edges

    def _colors(self) -> list[str]:
        return [PAPER_COLOR if text.startswith("paper") else "black" for h in self.grid.headings for text in h.below]


def _width(text: Text) -> float:
    return LETTER * len(text.text) * (0.75 if "(" in text.text else 1) + SMALL_LETTER * (len(text.interval) + 1)


def _cell(axes: "Axes", right: float, y: float, text: Text, color: str, room: float) -> None:
    """One cell, its estimate `room` inches left of the interval's right edge."""
    if text.interval:
        axes.text(right, y, text.interval, ha="right", va="center", fontsize=6.5, color="#333333")
        right -= room
    weight = "bold" if text.bold else "normal"
    axes.text(right, y, text.text, ha="right", va="center", fontsize=8, color=color, fontweight=weight)

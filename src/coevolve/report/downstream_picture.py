"""Tables of benchmark scores as pictures: the same cells as in Markdown, with rules as in print. One panel a block."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coevolve.report.downstream import Downstream, ScoreBlock
from coevolve.report.downstream_grid import BOLD, WHAT, Shown, score_grid, sources
from coevolve.report.markdown import sentence
from coevolve.report.panels import GAP, LETTER, PAPER_COLOR, ROW, SMALL_LETTER, sentences, stacked, widen, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT = 0.08


def write_score_picture(table: Downstream, out: Path) -> list[Path]:
    """`out`/<table>.svg and .png; the paths."""
    blocks: Sequence[ScoreBlock | None] = table.blocks or (None,)
    return stacked([_Panel(table, block) for block in blocks], out / table.name)


class _Panel:
    """One block: sizes first, then drawn in inches from the top left."""

    def __init__(self, table: Downstream, block: ScoreBlock | None) -> None:
        self.grid = score_grid(table, block)
        self.title = f"{table.heading}. {table.title}"
        self.said = [block.title if block else sentence(table.missing or ""), f"{WHAT[table.name]} {BOLD}"]
        self.notes = ["Ours: value, change from the checkpoint, 95 % interval, n problems."]
        if table.paper:
            self.notes[0] += " Columns headed paper are the paper's published values, without any interval."
        self.notes += [*sources(block), *block.notes] if block else []
        self.heads = [text for head in self.grid.headings for text in head.below]
        columns = zip(*(cells for _, cells in self.grid.rows), strict=True)
        self.widths = [
            max(LETTER * len(head), *map(_width, cells)) for head, cells in zip(self.heads, columns, strict=True)
        ]
        if self.widths:
            widen(self.widths, [(head.label, len(head.below)) for head in self.grid.headings])
        self.first = LEFT + LETTER * max((len(label) for label, _ in self.grid.rows), default=0)
        self.width = self.first + sum(self.widths) + GAP * (len(self.widths) + 1)
        self.height = 0.0

    def wrap(self, width: float) -> None:
        """Break the sentences at the width of the picture; fixes the height."""
        self.said, self.notes = wrapped(self.said, width), wrapped(self.notes, width)
        self.height = ROW * (4.5 + 0.8 * (len(self.said) + len(self.notes)) + len(self.grid.rows))

    def draw(self, axes: "Axes", width: float) -> None:
        """Everything of the block, top down."""
        axes.text(LEFT, ROW * 0.9, self.title, fontsize=9.5, fontweight="bold", va="center")
        y = sentences(axes, LEFT, ROW * 1.9, self.said) + ROW * 0.2
        if self.widths:
            y = self._grid(axes, y)
        sentences(axes, LEFT, y + ROW * 0.1, self.notes)

    def _grid(self, axes: "Axes", y: float) -> float:
        lefts = [self.first + GAP + sum(self.widths[:place]) + GAP * place for place in range(len(self.widths))]
        right = lefts[-1] + self.widths[-1]
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=1.0)
        place = 0
        for head in self.grid.headings:
            last = place + len(head.below) - 1
            ends = lefts[place], lefts[last] + self.widths[last]
            axes.text(sum(ends) / 2, y, head.label, ha="center", va="center", fontsize=8, fontweight="bold")
            axes.plot(ends, [y + ROW * 0.5] * 2, color="black", linewidth=0.4)
            place = last + 1
        y += ROW
        colors = [PAPER_COLOR if text == "paper" else "black" for text in self.heads]
        for left, text, color in zip(lefts, self.heads, colors, strict=True):
            axes.text(left, y, text, va="center", fontsize=6.5, color=color)
        y += ROW
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=0.6)
        for label, cells in self.grid.rows:
            axes.text(LEFT, y, label, va="center", fontsize=8)
            for left, cell, color in zip(lefts, cells, colors, strict=True):
                _cell(axes, left, y, cell, color)
            y += ROW
        axes.plot([LEFT, right], [y - ROW * 0.5] * 2, color="black", linewidth=1.0)
        return y


def _width(cell: Shown) -> float:
    small = len(cell.gain) + len(cell.beside) + 2
    return LETTER * len(cell.value) + SMALL_LETTER * small


def _cell(axes: "Axes", left: float, y: float, cell: Shown, color: str) -> None:
    """Value, change and interval, from the left."""
    weight = "bold" if cell.bold else "normal"
    axes.text(left, y, cell.value, va="center", fontsize=8, color=color, fontweight=weight)
    left += LETTER * (len(cell.value) + 0.5)
    for text in (cell.gain, cell.beside):
        axes.text(left, y, text, va="center", fontsize=6.5, color=color if text == cell.gain else "#333333")
        left += SMALL_LETTER * (len(text) + 1) if text else 0.0

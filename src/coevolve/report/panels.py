"""Pictures of tables: panels of one width, one above the other, with the sentences above and below their cells."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coevolve.report.style import save, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.19
"""Height of a row in inches."""
LETTER = 0.075
"""Width of a letter of a cell in inches."""
SMALL_LETTER = 0.056
GAP = 0.12
LEAST_WIDTH = 6.5
PAPER_COLOR = "#666666"


class Panel(Protocol):
    """One block of a table; sizes in inches."""

    width: float
    height: float
    """Known once it is wrapped."""

    def wrap(self, width: float) -> None:
        """Break the sentences at the width of the picture; fixes the height."""

    def draw(self, axes: "Axes", width: float) -> None:
        """Everything of the block, top down."""


def stacked(panels: Sequence[Panel], path: Path) -> list[Path]:
    """`path`.svg and .png, the panels one above the other; the paths."""
    width = max(LEAST_WIDTH, *(panel.width for panel in panels))
    for panel in panels:
        panel.wrap(width)
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, sum(panel.height for panel in panels)))
        ratios = [panel.height for panel in panels]
        axes = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": ratios, "hspace": 0})
        figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
        for panel, row in zip(panels, axes, strict=True):
            axis = row[0]
            axis.set_xlim(0, width)
            axis.set_ylim(panel.height, 0)
            axis.axis("off")
            panel.draw(axis, width)
        return save(figure, path)


def wrapped(texts: Sequence[str], width: float) -> list[str]:
    """The sentences as lines of `width` inches."""
    letters = int(width / SMALL_LETTER)
    return [line for text in texts for line in textwrap.wrap(text, letters, break_on_hyphens=False)]


def sentences(axes: "Axes", left: float, y: float, lines: Sequence[str]) -> float:
    """Small lines of text from `y` down; where the next would stand."""
    for line in lines:
        axes.text(left, y, line, fontsize=6.5, color="#333333", va="center")
        y += ROW * 0.8
    return y


def widen(widths: list[float], headings: Sequence[tuple[str, int]]) -> None:
    """Widen the first column below each (label, columns) until its heading fits."""
    first = 0
    for label, count in headings:
        room = sum(widths[first : first + count]) + GAP * (count - 1)
        widths[first] += max(0.0, LETTER * len(label) - room)
        first += count

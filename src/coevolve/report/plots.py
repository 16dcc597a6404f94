"""Lines, bands and axes of one panel."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coevolve.report.columns import Column
from coevolve.report.paper import PaperTable
from coevolve.report.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = tuple[list[int], list[float]]
"""Rounds and values."""


def our_line(column: Column) -> Points:
    """Every round of a column; accuracy in per cent."""
    scale = 100.0 if column.measure == "accuracy" else 1.0
    rounds = sorted(column.cells)
    return rounds, [column.cells[round].estimate.value * scale for round in rounds]


def paper_line(paper: PaperTable, row: str) -> Points:
    """The published rounds of a row."""
    return list(paper.rounds), list(paper.rows[row])


def draw(axes: "Axes", points: Points, look: Look, label: str) -> None:
    """One line with its marks."""
    axes.plot(*points, color=look.color, marker=look.marker, linestyle=look.dashes, label=label, clip_on=False)


def draw_ours(axes: "Axes", column: Column, look: Look, label: str) -> None:
    """A column of ours: its line over its 95 % band."""
    scale = 100.0 if column.measure == "accuracy" else 1.0
    rounds = sorted(column.cells)
    estimates = [column.cells[round].estimate for round in rounds]
    low, high = [estimate.low * scale for estimate in estimates], [estimate.high * scale for estimate in estimates]
    axes.fill_between(rounds, low, high, color=look.color, alpha=0.15, linewidth=0)
    draw(axes, our_line(column), look, label)


def floor_of(columns: Sequence[Column], papers: float) -> float:
    """Where the y-axis starts: as the paper's does, or at 0 when a value of ours lies below that."""
    values = [value for column in columns if column.measure == "accuracy" for value in our_line(column)[1]]
    return papers if min(values, default=100.0) >= papers else 0.0


def accuracy_axes(axes: "Axes", title: str, last: int, floor: float, papers: float, named: bool) -> None:
    """Round and accuracy; says so where the axis does not start where the paper's does."""
    round_axis(axes, title, 0, last)
    axes.set_ylim(floor, 100)
    if named:
        axes.set_ylabel("accuracy (%), lower is harder")
    if floor != papers:
        axes.axhline(papers, color="#777777", linewidth=0.6, linestyle=(0, (1, 2)))
        axes.annotate(
            f"the paper's axis starts at {papers:g} %",
            (0.98, papers),
            xycoords=("axes fraction", "data"),
            xytext=(0, 1.5),
            textcoords="offset points",
            ha="right",
            fontsize=5.5,
            color="#555555",
        )


def round_axis(axes: "Axes", title: str, first: int, last: int) -> None:
    """Even rounds along the bottom."""
    axes.set_title(title, loc="left")
    axes.set_xlabel("evolution round")
    axes.set_xlim(first - 0.3, last + 0.3)
    axes.set_xticks(range(first + first % 2, last + 1, 2))

"""Figures 2a, 4, 5 and 6 on the paper's axes, ours with 95 % bands and the paper's values beside them.

An axis starts where the paper's does unless a value of ours lies below; then it starts at 0 and the picture says so.
Of several groups of runs the largest is drawn.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from coevolve.report.columns import Column
from coevolve.report.groups import ARMS, COHORTS
from coevolve.report.markdown import commit_text
from coevolve.report.paper import PaperTable
from coevolve.report.plots import accuracy_axes, draw, draw_ours, floor_of, our_line, paper_line, round_axis
from coevolve.report.style import ARM_LOOKS, HARNESS_LOOKS, PAPER_LOOK, save, styled
from coevolve.report.tables import Block, Table, TableName

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THE_PAPER = "the paper's values"
LETTERS_AN_INCH = 22
"""Of the line that names the runs."""


def write_figures(tables: Sequence[Table], out: Path) -> list[Path]:
    """figure2a, figure4, figure5 and figure6 as SVG and PNG below `out`; the paths."""
    by_name: Mapping[TableName, Table] = {table.name: table for table in tables}
    with styled():
        return [
            *save(_passed_and_failed(by_name["table5"]), out / "figure2a"),
            *save(_progression(by_name["table5"]), out / "figure4"),
            *save(_updates(by_name["table6"]), out / "figure5"),
            *save(_transfer_and_cost(by_name["table7"], by_name["table8"]), out / "figure6"),
        ]


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _passed_and_failed(table: Table) -> "Figure":
    """Figure 2a: the line is Passed, what lies above it is Failed; from 50 %."""
    figure = _figure(4.0, 3.0)
    axes = figure.subplots()
    column = table.blocks[0].columns[0] if table.blocks else None
    look, papers = ARM_LOOKS["full"], paper_line(table.paper, "all")
    rounds, passed = our_line(column) if column else papers
    floor = floor_of([column] if column else [], 50.0)
    axes.fill_between(rounds, passed, 100, color="#D55E00", alpha=0.13, linewidth=0)
    axes.fill_between(rounds, floor, passed, color=look.color, alpha=0.07, linewidth=0)
    if column:
        draw(axes, papers, PAPER_LOOK, f"Passed, {THE_PAPER} (n = 150)")
        draw_ours(axes, column, look, f"Passed, ours (n = {column.chains})")
    else:
        draw(axes, papers, look, f"Passed, {THE_PAPER} (n = 150)")
    axes.text(rounds[-1], 97, "Failed (complement)", ha="right", va="top", color="#8a3d00")
    axes.text(rounds[0] + 0.2, floor + 2, "Passed", ha="left", va="bottom", color="#00507f")
    accuracy_axes(axes, "(a) all chains, domains equally weighted", _last(table.paper, rounds), floor, 50.0, True)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=1)
    _source(figure, *table.blocks[:1])
    return figure


def _progression(table: Table) -> "Figure":
    """Figure 4: all chains and each domain on one y-axis from 45 to 100 %."""
    figure = _figure(7.4, 2.7)
    columns = {column.key: column for column in table.blocks[0].columns} if table.blocks else {}
    cohorts = [cohort for cohort in COHORTS if cohort in columns or not columns]
    floor = floor_of(list(columns.values()), 45.0)
    panels = figure.subplots(1, len(cohorts), sharey=True, squeeze=False)[0]
    for letter, cohort, axes in zip("abcd", cohorts, panels, strict=False):
        draw(axes, paper_line(table.paper, cohort), PAPER_LOOK, f"paper (n = {table.paper.chains[cohort]})")
        if cohort in columns:
            draw_ours(axes, columns[cohort], ARM_LOOKS["full"], f"ours (n = {columns[cohort].chains})")
        last = _last(table.paper, columns[cohort].cells if columns else ())
        accuracy_axes(axes, f"({letter}) {COHORTS[cohort]}", last, floor, 45.0, axes is panels[0])
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25))
    _source(figure, *table.blocks[:1])
    return figure


def _updates(table: Table) -> "Figure":
    """Figure 5: four configurations; the paper's in a panel of their own, because eight lines are too many for one."""
    blocks = [block for block in table.blocks if block.runs == table.blocks[0].runs]
    figure = _figure(2.5 * (len(blocks) + 1), 3.0)
    floor = floor_of([column for block in blocks for column in block.columns], 45.0)
    last = _last(table.paper, [round for block in blocks for column in block.columns for round in column.cells])
    panels = figure.subplots(1, len(blocks) + 1, sharey=True, squeeze=False)[0]
    for letter, block, axes in zip("abc", blocks, panels, strict=False):
        for column in block.columns:
            draw_ours(axes, column, ARM_LOOKS[column.key], column.label)
        accuracy_axes(axes, f"({letter}) ours, {_cohort(block)}", last, floor, 45.0, axes is panels[0])
    papers = panels[-1]
    for row in table.paper.rows:
        draw(papers, paper_line(table.paper, row), ARM_LOOKS[row], ARMS[row])
    title = f"({'abc'[len(blocks)]}) {THE_PAPER} (n = 50)"
    accuracy_axes(papers, title, last, floor, 45.0, papers is panels[0])
    papers.legend(loc="lower left")
    _source(figure, *blocks[:1])
    return figure


def _transfer_and_cost(transfer: Table, cost: Table) -> "Figure":
    """Figure 6: frozen harnesses (a) and operator cost (b); ours above, the paper's below."""
    ours = bool(transfer.blocks or cost.blocks)
    figure = _figure(6.6, 5.4 if ours else 2.9)
    rows = figure.subplots(2 if ours else 1, 2, squeeze=False)
    if ours:
        _our_transfer(rows[0][0], transfer)
        _our_costs(rows[0][1], cost)
    left, right = rows[-1]
    for row, look, label in zip(transfer.paper.rows, HARNESS_LOOKS, ("Initial H₀", "Evolved H₁₄"), strict=False):
        draw(left, paper_line(transfer.paper, row), look, label)
    floor = floor_of(transfer.blocks[0].columns if transfer.blocks else (), 45.0)
    accuracy_axes(left, f"(a) {THE_PAPER} (n = 50)", transfer.paper.rounds[-1], floor, 45.0, True)
    for key in ("task_only", "full"):
        draw(right, paper_line(cost.paper, f"{key}_cost"), ARM_LOOKS[key], ARMS[key])
    _cost_axes(right, f"(b) {THE_PAPER} (n = 50)", "USD per seed and round", cost.paper.rounds[-1])
    for axes in (left, right):
        axes.legend(loc="best")
    _source(figure, *transfer.blocks[:1], *cost.blocks[:1])
    return figure


def _our_transfer(axes: "Axes", table: Table) -> None:
    block = table.blocks[0] if table.blocks else None
    columns: Sequence[Column] = block.columns if block else ()
    for column, look in zip(columns, cycle(HARNESS_LOOKS), strict=False):
        draw_ours(axes, column, look, column.label)
    last = _last(table.paper, [round for column in columns for round in column.cells])
    title = f"(a) ours, {_cohort(block)}" if block else "(a) ours"
    accuracy_axes(axes, title, last, floor_of(columns, 45.0), 45.0, True)
    _legend_or_nothing(axes, columns)


def _our_costs(axes: "Axes", table: Table) -> None:
    block = table.blocks[0] if table.blocks else None
    columns = [column for column in block.columns if column.measure != "accuracy"] if block else []
    for column in columns:
        draw_ours(axes, column, ARM_LOOKS[column.key], ARMS[column.key])
    unit = "tokens" if columns and columns[0].measure == "tokens" else "USD"
    nominal = "nominal " if block and any("nominal" in note for note in block.notes) else ""
    last = _last(table.paper, [round for column in columns for round in column.cells])
    title = f"(b) ours, {_cohort(block)}" if block else "(b) ours"
    _cost_axes(axes, title, f"{nominal}{unit} per seed and round", last)
    _legend_or_nothing(axes, columns)


def _cost_axes(axes: "Axes", title: str, unit: str, last: int) -> None:
    round_axis(axes, title, 1, last)
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)


def _legend_or_nothing(axes: "Axes", columns: Sequence[Column]) -> None:
    if columns:
        axes.legend(loc="best")
    else:
        axes.text(0.5, 0.5, "no run yet", transform=axes.transAxes, ha="center", color="#777777")


def _last(paper: PaperTable, rounds: Iterable[int]) -> int:
    """The last round of the axis: the paper's, or ours where they go on."""
    return max(paper.rounds[-1], *rounds, 0)


def _cohort(block: Block) -> str:
    """The cohort in words with its size; arms may have different numbers of seeds."""
    return f"{block.cohort} (n = {' or '.join(dict.fromkeys(column.chains for column in block.columns))})"


def _source(figure: "Figure", *blocks: Block) -> None:
    """Which runs are drawn, below everything else; the CSVs of the tables name them cell by cell."""
    runs = sorted({run.id: run for block in blocks for run in block.runs}.items())
    said = "No runs of ours yet: only the values that the paper publishes."
    if runs:
        commits = sorted({commit_text(run) for _, run in runs})
        names = ", ".join(name for name, _ in runs)
        said = f"Ours: {runs[0][1].solver_model}, bands 95 %, commit {', '.join(commits)}; {names}"
    lines = textwrap.fill(said, round(figure.get_figwidth() * LETTERS_AN_INCH), break_on_hyphens=False)
    figure.supxlabel(lines, x=0.005, ha="left", fontsize=5.5, color="#555555", linespacing=1.3)

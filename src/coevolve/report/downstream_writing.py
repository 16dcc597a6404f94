"""Everything that scripts/report.py writes about benchmark scores: Tables 1-4, the students, Figure 2b."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coevolve.report.downstream import Downstream
from coevolve.report.downstream_picture import write_score_picture
from coevolve.report.downstream_text import score_differences_sheet, score_latex, score_markdown, score_sheet
from coevolve.report.evaluations import Found
from coevolve.report.scores import Row
from coevolve.report.style import save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPERS_START = 20.0
"""Where the paper's axis of Figure 2b starts, in per cent."""
LETTERS_AN_INCH = 22


def lines_of(found: Found) -> Iterator[str]:
    """What was found, for the terminal."""
    for one in found.evaluations:
        yield f"{one.id}: {one.model}, {len(one.tasks)} of {one.n_items} items, mean-{one.attempts}"
    yield from (f"{name}: not finished; its command, given again, goes on" for name in found.unfinished)


def missing(tables: Sequence[Downstream]) -> Iterator[str]:
    """What to run for tables without evaluations of ours; one line when there are none at all."""
    if any(table.blocks for table in tables):
        yield from (table.missing for table in tables if table.missing)
    else:
        yield "no evaluation for Tables 1-4 yet; scripts/evaluate.py makes them, and each table names its command"


def write(tables: Sequence[Downstream], out: Path) -> list[Path]:
    """Each table as Markdown, LaTeX, CSV and pictures, scores_differences.csv and figure2b; the paths."""
    texts = {"scores_differences.csv": score_differences_sheet(tables)}
    for table in tables:
        forms = {"md": score_markdown, "tex": score_latex, "csv": score_sheet}
        texts |= {f"{table.name}.{ending}": form(table) for ending, form in forms.items()}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    pictures = [path for table in tables for path in write_score_picture(table, out)]
    apex = next(table for table in tables if table.name == "table4")
    with styled():
        return [*(out / name for name in texts), *pictures, *save(_figure_2b(apex), out / "figure2b")]


def _figure_2b(table: Downstream) -> "Figure":
    """APEX accuracy of every model: ours as bars with 95 % intervals, the paper's values as marks; from 20 %."""
    from matplotlib.figure import Figure

    block = table.blocks[0] if table.blocks else None
    paper = table.paper.values if table.paper else {}
    rows = (
        block.rows
        if block
        else [Row(key, label, {}) for key, label in table.paper.labels.items()]
        if table.paper
        else ()
    )
    figure = Figure(figsize=(5.2, 1.2 + 0.24 * len(rows)), layout="constrained")
    axes = figure.subplots()
    ours = [(place, row.cells["apex"]) for place, row in enumerate(rows) if "apex" in row.cells]
    marks = [(place, paper[row.key]["apex"] / 10) for place, row in enumerate(rows) if row.key in paper]
    if ours:
        lengths = [score.tenths / 10 for _, score in ours]
        axes.barh([place for place, _ in ours], lengths, height=0.6, color="#0072B2", alpha=0.75, label="ours")
        for place, score in ours:
            ends = score.estimate.low * 100, score.estimate.high * 100
            axes.plot(ends, [place, place], color="black", linewidth=1.0)
            n = f"n = {score.estimate.n_chains}"
            axes.annotate(n, (ends[1], place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=5.5)
    places, values = [place for place, _ in marks], [value for _, value in marks]
    if ours:
        axes.plot(values, places, "x", color="#777777", markersize=4, label="the paper's values")
    else:
        axes.barh(places, values, height=0.6, color="#bbbbbb", label="the paper's values")
    lowest = min((score.estimate.low * 100 for _, score in ours), default=100.0)
    start = PAPERS_START if lowest >= PAPERS_START else 0.0
    axes.set_xlim(start, 100 if ours else 70)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("APEX, mean-k accuracy (%), higher is better")
    if start != PAPERS_START:
        axes.axvline(PAPERS_START, color="#777777", linewidth=0.6, linestyle=(0, (1, 2)))
    axes.legend(loc="lower right")
    said = "No evaluation of ours yet: only the values that the paper publishes."
    if block:
        said = "Ours with 95 % intervals clustered by problem: " + ", ".join(one.id for one in block.evaluations)
        said += (
            "" if start == PAPERS_START else f". The dotted line is where the paper's axis starts ({PAPERS_START:g} %)."
        )
    lines = textwrap.fill(said, round(figure.get_figwidth() * LETTERS_AN_INCH), break_on_hyphens=False)
    figure.supxlabel(lines, x=0.005, ha="left", fontsize=5.5, color="#555555", linespacing=1.3)
    return figure

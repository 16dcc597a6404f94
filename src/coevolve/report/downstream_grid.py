"""Tables of benchmark scores as texts in rows and columns: what Markdown, LaTeX and pictures share.

Every benchmark takes two columns, ours with its interval and n, and the paper's published value.
"""

from collections.abc import Iterator
from typing import NamedTuple

from coevolve.report.downstream import Downstream, ScoreBlock
from coevolve.report.grid import NOTHING, Heading, p_text
from coevolve.report.paper_downstream import PaperScores
from coevolve.report.scores import Row, Score

WHAT = {
    "table1": "Mean-k accuracy (%) after GRPO on each training data set; higher is better.",
    "table2": "Mean-k accuracy (%) after SFT on each training data set; higher is better.",
    "table3": "Mean-k accuracy (%) on APEX before and after SFT, and the gain in points.",
    "table4": "Mean-k accuracy (%) on APEX of every model evaluated, best first.",
    "students": "Mean-k accuracy (%) of every student on every benchmark evaluated; higher is better.",
}
OURS = (
    "Ours: displayed value, change from the checkpoint, [95 % interval], n problems. Values have one decimal, "
    "halves up; Overall and changes are computed from displayed values. Intervals are Wilson's at the effective sample "
    "size, clustered by problem; for several trainings on the same data Student's between them where that is wider."
)
PAPERS = "Columns headed paper are the values the paper publishes (mean of 16 attempts), without any uncertainty."
BOLD = "Bold: the highest displayed value of each column, ours and the paper's apart."
PAIRED = (
    "Trained less untrained on the same problems (Student's over problems; between trainings where that is wider; Holm "
    "over the rows of a column). Of exact values: the last digit may differ from the change of displayed ones. Above "
    "zero, training helped."
)
DIFFERENCE_HEADS = ("training data", "benchmark", "difference", "95 % interval", "p", "p (Holm)", "n")


class Shown(NamedTuple):
    """One cell."""

    value: str
    gain: str = ""
    """Change from the checkpoint, with an arrow."""
    interval: str = ""
    n: str = ""
    bold: bool = False

    @property
    def beside(self) -> str:
        """What follows the value and its change."""
        return " ".join(text for text in (self.interval, self.n) if text)


class ScoreGrid(NamedTuple):
    """A block as it is printed."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, tuple[Shown, ...]], ...]
    """Label of the row and its cells."""


def score_grid(table: Downstream, block: ScoreBlock | None) -> ScoreGrid:
    """The printed form of one block; without a block, the paper's values alone."""
    paper = table.paper
    if block is None:
        rows = tuple(Row(key, label, {}) for key, label in paper.labels.items()) if paper else ()
        columns = paper.columns if paper else {}
    else:
        rows, columns = block.rows, block.columns
    below = ("ours", "paper") if paper else ("ours",)
    headings = [Heading(label, below) for label in columns.values()]
    if table.name == "table3":
        headings.append(Heading("Gain (pp)", below))
    return ScoreGrid(
        tuple(headings),
        tuple((row.label, tuple(cell for column in columns for cell in _cells(table, row, column))) for row in rows),
    )


def _cells(table: Downstream, row: Row, column: str) -> Iterator[Shown]:
    """Ours and the paper's; in Table 3 their gains are columns of their own."""
    own, paper = row.cells.get(column), table.paper
    apart = table.name == "table3"
    yield Shown(NOTHING) if own is None else _ours(own, with_gain=not apart)
    if paper:
        yield _papers(paper, row.key, column, with_gain=not apart)
    if apart and paper:
        yield Shown(NOTHING if own is None or own.gain is None else points(own.gain))
        gain = paper.gain(row.key, column) if row.key in paper.values else None
        yield Shown(NOTHING if gain is None else points(gain))


def _ours(score: Score, with_gain: bool) -> Shown:
    found = score.estimate
    n = f"{found.n_runs} x {found.n_chains}" if found.n_runs > 1 else str(found.n_chains)
    ends = f"[{found.low * 100:.1f}, {found.high * 100:.1f}]"
    return Shown(per_cent(score.tenths), _arrow(score.gain) if with_gain else "", ends, f"n = {n}", score.best)


def _papers(paper: PaperScores, row: str, column: str, with_gain: bool) -> Shown:
    value = paper.values.get(row, {}).get(column)
    if value is None:
        return Shown(NOTHING)
    gain = _arrow(paper.gain(row, column)) if with_gain else ""
    return Shown(per_cent(value), gain, bold=value == paper.best(column))


def per_cent(tenths: int) -> str:
    """A displayed value."""
    return f"{tenths // 10}.{tenths % 10}"


def points(tenths: int) -> str:
    """A signed difference of displayed values."""
    return f"{'-' if tenths < 0 else '+'}{per_cent(abs(tenths))}"


def _arrow(tenths: int | None) -> str:
    if tenths is None:
        return ""
    return f"{'=' if tenths == 0 else '↑' if tenths > 0 else '↓'}{per_cent(abs(tenths))}"


def score_difference_rows(block: ScoreBlock) -> list[tuple[str, ...]]:
    """A row for each comparison with the checkpoint."""
    made: list[tuple[str, ...]] = []
    for found in block.differences:
        estimate = found.difference.estimate
        n = f"{estimate.n_chains} problems" + (f", {estimate.n_runs} trainings" if estimate.unit == "run" else "")
        made.append(
            (
                found.difference.first,
                block.columns[found.column],
                f"{estimate.value * 100:+.1f} points",
                f"[{estimate.low * 100:+.1f}, {estimate.high * 100:+.1f}]",
                p_text(found.difference.p),
                p_text(found.difference.p_holm),
                n,
            )
        )
    return made


def caption(table: Downstream) -> str:
    """What the table shows and how to read it."""
    return " ".join((WHAT[table.name], OURS, *([PAPERS] if table.paper else []), BOLD))


def sources(block: ScoreBlock) -> list[str]:
    """One line an evaluation: where figures come from."""
    return [
        f"{one.id}: {one.model}, {len(one.tasks)} of {one.n_items} items, mean-{one.attempts}, {one.sampling}, "
        f"items {one.items_hash[:12]}"
        for one in block.evaluations
    ]

"""A table as texts in rows and columns: what Markdown, LaTeX and pictures share. Rows are rounds.

Every configuration takes two columns, ours with its interval and the paper's published value, so that the two can be
compared where they stand.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coevolve.report.columns import Column, Measure
from coevolve.report.groups import ARMS, COHORTS
from coevolve.report.paper import PaperTable
from coevolve.report.statistics import Difference, Estimate
from coevolve.report.tables import Block, Table

NOTHING = "–"
COSTS = {"task_only_cost": "Task-only: cost", "full_cost": "Full: cost"}
PAPER_LABELS = {**COHORTS, **ARMS, **COSTS, "initial": "Initial H₀", "evolved": "Evolved H₁₄"}
"""What the columns are called when nothing of ours is in a table."""


class Text(NamedTuple):
    """One cell."""

    text: str
    interval: str = ""
    """The 95 % interval; the paper gives none."""
    bold: bool = False


class Heading(NamedTuple):
    """One configuration: its name, and what each of its columns holds."""

    label: str
    below: tuple[str, ...]


class Grid(NamedTuple):
    """A block as it is printed."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[int, tuple[Text, ...]], ...]
    """Round and its cells; rounds without any figure are left out."""


def grid(table: Table, block: Block | None) -> Grid:
    """The printed form of one block; without a block, the paper's values alone."""
    columns = block.columns if block else tuple(_without_ours(row) for row in table.paper.rows)
    digits = digits_of(columns)
    rows = tuple(
        (round, tuple(text for column in columns for text in _texts(table.paper, column, round, digits)))
        for round in table.paper.rounds
    )
    said = tuple((round, texts) for round, texts in rows if any(text.text != NOTHING for text in texts))
    return Grid(tuple(_heading(table.paper, column) for column in columns), said)


def _without_ours(row: str) -> Column:
    return Column(row, PAPER_LABELS[row], "usd" if row in COSTS else "accuracy", "", row, {})


def _heading(paper: PaperTable, column: Column) -> Heading:
    below = [f"ours (n = {column.chains})" if column.cells else "ours"]
    if column.paper_row is not None:
        named = "paper H₁₄" if column.paper_row == "evolved" else "paper"
        below.append(f"{named} (n = {paper.chains[column.paper_row]})")
    return Heading(column.label, tuple(below))


def _texts(paper: PaperTable, column: Column, round: int, digits: int) -> list[Text]:
    """Ours, and the paper's where it has a row beside it."""
    cell = column.cells.get(round)
    texts = [Text(NOTHING)]
    if cell is not None:
        ends = (cell.estimate.low, cell.estimate.high)
        shown = number(cell.estimate.value, column.measure, digits)
        texts = [Text(shown, interval(ends, column.measure, digits), cell.lowest)]
    if column.paper_row is not None:
        value = paper.value(column.paper_row, round)
        decimals = 3 if column.paper_row in COSTS else 1
        bold = value is not None and round > 0 and value == _paper_lowest(paper, column.paper_row, round)
        texts.append(Text(NOTHING if value is None else f"{value:.{decimals}f}", "", bold))
    return texts


def _paper_lowest(paper: PaperTable, row: str, round: int) -> float:
    """The paper's lowest non-initial: of the configurations in a round, or in Table 5 of a domain's rounds."""
    if row in COHORTS:
        return min(value for value, at in zip(paper.rows[row], paper.rounds, strict=True) if at > 0)
    rivals = [other for other in paper.rows if (other in COSTS) == (row in COSTS)]
    return min(value for other in rivals if (value := paper.value(other, round)) is not None)


def digits_of(columns: Sequence[Column]) -> int:
    """Decimals of dollar amounts: the paper's three, and more where ours are so small that three would show nothing."""
    most = max((cell.estimate.value for c in columns if c.measure == "usd" for cell in c.cells.values()), default=1.0)
    return 3 if most <= 0 else max(3, 2 - math.floor(math.log10(most)))


def number(value: float, measure: Measure, digits: int, signed: bool = False) -> str:
    """A figure as it is printed: per cent with one decimal, dollars with `digits`, whole tokens."""
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    sign = "+" if signed else ""
    scales: Mapping[Measure, tuple[float, int]] = {"accuracy": (100.0, 1), "usd": (1.0, digits), "tokens": (1.0, 0)}
    scale, decimals = scales[measure]
    return f"{value * scale:{sign}.{decimals}f}"


def interval(ends: tuple[float, float], measure: Measure, digits: int, signed: bool = False) -> str:
    """An interval as it is printed."""
    return f"[{number(ends[0], measure, digits, signed)}, {number(ends[1], measure, digits, signed)}]"


UNITS: Mapping[Measure, str] = {"accuracy": "points", "usd": "USD", "tokens": "tokens"}


def difference_rows(block: Block) -> tuple[int | None, list[tuple[str, ...]]]:
    """The last round with most comparisons, and a row for each: comparison, difference, interval, p, Holm's p, n."""
    counts = Counter(found.round for _, found in block.differences)
    if not counts:
        return None, []
    last, digits = max(counts, key=lambda round: (counts[round], round)), digits_of(block.columns)
    found = [(measure, found) for measure, found in block.differences if found.round == last]
    return last, [_difference(measure, difference, digits) for measure, difference in found]


def _difference(measure: Measure, difference: Difference, digits: int) -> tuple[str, ...]:
    estimate: Estimate = difference.estimate
    return (
        f"{difference.first} − {difference.second}",
        f"{number(estimate.value, measure, digits, signed=True)} {UNITS[measure]}",
        interval((estimate.low, estimate.high), measure, digits, signed=True),
        p_text(difference.p),
        p_text(difference.p_holm),
        f"{estimate.n_chains} chains" if estimate.unit == "chain" else f"{estimate.n_runs} runs",
    )


def p_text(p: float | None) -> str:
    """A p value with three decimals."""
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"

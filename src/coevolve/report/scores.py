"""Mean-k accuracy of rows of training data on benchmarks, gains on the checkpoint, and how sure both are.

Displayed values are per cent with one decimal, halves up, kept as whole tenths, so that Overall and gains can be
computed from what is printed, as the paper's are. The problem is the unit of every interval; several trainings on the
same data are pooled by problem, and where they differ more than that allows, the interval between trainings counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coevolve.evaluation.outcomes import clustered_interval
from coevolve.report.evaluations import UNTRAINED, Evaluation
from coevolve.report.paper_downstream import OVERALL
from coevolve.report.statistics import (
    Difference,
    Estimate,
    Values,
    bootstrap,
    holm,
    paired,
    stratified_mean,
    student,
)

Trainings = Sequence[Evaluation]
"""Evaluations of one row on one benchmark, one for each training seed."""
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Score:
    """One cell of ours."""

    estimate: Estimate
    """Of the exact value, a share; n_chains are problems, n_runs trainings."""
    tenths: int
    """The displayed value in tenths of a point."""
    evaluations: tuple[str, ...]
    gain: int | None = None
    """Displayed value less the checkpoint's, in tenths; None for the checkpoint and without one."""
    best: bool = False
    """The column's highest displayed value."""


@dataclass(frozen=True)
class Row:
    """One training data set (Table 4: one model), or only the paper's row of that key."""

    key: str
    label: str
    cells: Mapping[str, Score]
    """Benchmark, or `overall`, to score."""


@dataclass(frozen=True)
class ColumnDifference:
    """A trained row less the checkpoint, on the same problems of one column."""

    column: str
    difference: Difference


def cells_of(trainings: Mapping[str, Trainings], columns: Sequence[str]) -> dict[str, Score]:
    """Scores of one row; Overall only where every other column has a score."""
    wanted = [column for column in columns if column != OVERALL]
    cells = {
        column: Score(estimate([made]), displayed(made), tuple(one.id for one in made))
        for column in wanted
        if (made := trainings.get(column))
    }
    if OVERALL in columns and len(cells) == len(wanted):
        tenths = half_up(Fraction(sum(cell.tenths for cell in cells.values()), len(cells)))
        names = tuple(name for cell in cells.values() for name in cell.evaluations)
        cells[OVERALL] = Score(estimate([trainings[column] for column in wanted]), tenths, names)
    return cells


def displayed(made: Trainings) -> int:
    """Mean over problems, and over trainings, in tenths of a point."""
    shares = [Fraction(task.correct, task.attempts) for one in made for task in one.tasks]
    return half_up(Fraction(sum(shares) * 1000, len(shares)))


def half_up(value: Fraction) -> int:
    """The nearest whole number, halves up."""
    return math.floor(value + HALF)


def estimate(columns: Sequence[Trainings]) -> Estimate:
    """Unweighted mean over columns of the mean over problems, with the wider of the two intervals."""
    pooled = [_pooled(made) for made in columns]
    rates = [[correct / attempts for correct, attempts in counts.values()] for counts in pooled]
    low, high = clustered_interval([list(counts.values()) for counts in pooled])
    attempts = sum(attempts for counts in pooled for _, attempts in counts.values())
    seeds = _seeds(columns)
    found = Estimate(
        stratified_mean(rates), low, high, "chain", sum(map(len, rates)), max(1, len(seeds)), attempts, bootstrap(rates)
    )
    means = [stratified_mean([_rates(_of_seed(made, seed)) for made in columns]) for seed in seeds]
    if len(set(means)) < 2:
        return found
    between = student([means], 0.0, 1.0)
    wider = between[1] - between[0] > high - low
    return replace(found, low=between[0], high=between[1], unit="run") if wider else found


def compared(
    label: str, trained: Mapping[str, Trainings], untrained: Mapping[str, Trainings], columns: Sequence[str]
) -> list[ColumnDifference]:
    """Trained less untrained on the problems that both were asked, for each column that both have."""
    both = [
        column
        for column in columns
        if column != OVERALL
        and trained.get(column)
        and untrained.get(column)
        and _pooled(trained[column]).keys() & _pooled(untrained[column]).keys()
    ]
    sets = {column: [column] for column in both}
    if OVERALL in columns and len(both) == len(columns) - 1:
        sets[OVERALL] = both
    return [ColumnDifference(column, _difference(label, trained, untrained, names)) for column, names in sets.items()]


def adjusted(found: Sequence[ColumnDifference]) -> list[ColumnDifference]:
    """With Holm's p over the rows of a column, columns in order of appearance."""
    made = []
    for column in dict.fromkeys(one.column for one in found):
        family = [one for one in found if one.column == column]
        ps = holm([one.difference.p for one in family])
        made += [replace(one, difference=replace(one.difference, p_holm=p)) for one, p in zip(family, ps, strict=True)]
    return made


def _difference(
    label: str, trained: Mapping[str, Trainings], untrained: Mapping[str, Trainings], names: Sequence[str]
) -> Difference:
    """Over problems; over trainings where that interval is wider."""
    before = _values({name: untrained[name] for name in names})
    found = paired(label, UNTRAINED, 0, [(_values({name: trained[name] for name in names}), before)], 1.0)
    seeds = _seeds([trained[name] for name in names])
    if len(seeds) > 1:
        each = [(_values({name: _of_seed(trained[name], seed) for name in names}), before) for seed in seeds]
        between = paired(label, UNTRAINED, 0, each, 1.0)
        if between.estimate.high - between.estimate.low > found.estimate.high - found.estimate.low:
            found = replace(
                between,
                estimate=replace(between.estimate, n_chains=found.estimate.n_chains, value=found.estimate.value),
            )
    ids = tuple(one.id for side in (trained, untrained) for name in names for one in side[name])
    return replace(found, runs=ids)


def _pooled(made: Trainings) -> dict[str, tuple[int, int]]:
    """Problem -> right and all attempts over the trainings."""
    counts: dict[str, tuple[int, int]] = {}
    for task in (task for one in made for task in one.tasks):
        right, attempts = counts.get(task.chain, (0, 0))
        counts[task.chain] = (right + task.correct, attempts + task.attempts)
    return counts


def _values(trainings: Mapping[str, Trainings]) -> Values:
    return {
        name: {problem: right / attempts for problem, (right, attempts) in _pooled(made).items()}
        for name, made in trainings.items()
    }


def _rates(made: Trainings) -> list[float]:
    return [right / attempts for right, attempts in _pooled(made).values()]


def _seeds(columns: Sequence[Trainings]) -> list[int]:
    """Training seeds that every column has."""
    return sorted(set.intersection(*({one.training_seed or 0 for one in made} for made in columns)))


def _of_seed(made: Trainings, seed: int) -> list[Evaluation]:
    return [one for one in made if (one.training_seed or 0) == seed]

"""One configuration's figures over the rounds, and how two configurations differ."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from coevolve.report.groups import Arm, cohort_scores
from coevolve.report.operator_costs import OperatorCosts
from coevolve.report.runs import TrackedRun
from coevolve.report.statistics import (
    Difference,
    Estimate,
    Values,
    accuracy,
    between_runs,
    holm,
    mean_cost,
    paired,
    rates,
)

Measure = Literal["accuracy", "usd", "tokens"]


@dataclass(frozen=True)
class Cell:
    """One figure of ours: the estimate and the runs it comes from."""

    estimate: Estimate
    runs: tuple[str, ...]
    lowest: bool = False
    """The lowest non-initial of those it is compared with; set in bold."""


@dataclass(frozen=True)
class Column:
    """One configuration's (or domain's) measure over the rounds."""

    key: str
    """An arm's key, or in Table 5 a cohort."""
    label: str
    measure: Measure
    chains: str
    """How many chains, in words: 10, or 3 x 10 for three seeds."""
    paper_row: str | None
    """Row of the paper's table beside it; None where it has none."""
    cells: Mapping[int, Cell]


def accuracy_column(arm: Arm, cohort: str) -> Column:
    """Reported accuracy of an arm on a cohort, in every round that all its runs have."""
    cells = {}
    for round in arm.rounds():
        made = [accuracy(cohort_scores(found, cohort)) for run in arm.runs if (found := run.at(round))]
        cells[round] = Cell(between_runs(made, 0.0, 1.0), tuple(run.id for run in arm.runs))
    return Column(arm.key, arm.label, "accuracy", _chains(arm, cohort), None, cells)


def cost_column(arm: Arm, cohort: str, costs: Mapping[str, OperatorCosts], in_tokens: bool) -> Column:
    """Operator cost of an arm on a cohort, per original seed, in every production round."""
    cells = {}
    for round in (round for round in arm.rounds() if round > 0):
        made = [mean_cost(_lists(costs[run.id].cohort(round, cohort, in_tokens))) for run in arm.runs]
        cells[round] = Cell(between_runs(made, 0.0, math.inf), tuple(run.id for run in arm.runs))
    measure: Measure = "tokens" if in_tokens else "usd"
    return Column(arm.key, arm.label, measure, _chains(arm, cohort), None, cells)


def _lists(values: Values) -> list[list[float]]:
    return [list(chains.values()) for chains in values.values()]


def _chains(arm: Arm, cohort: str) -> str:
    sizes = [len(cohort_scores(run.rounds[0], cohort)) for run in arm.runs]
    return str(sizes[0]) if len(sizes) == 1 else f"{len(sizes)} x {sizes[0]}" if len(set(sizes)) == 1 else str(sizes)


def lowest_in_each_round(columns: Sequence[Column]) -> list[Column]:
    """Columns with the lowest of each round marked, round 0 apart; nothing is marked where only one has the round."""
    marked: list[dict[int, Cell]] = [dict(column.cells) for column in columns]
    for round in {round for column in columns for round in column.cells if round > 0}:
        there = [cells for cells in marked if round in cells]
        least = min(cells[round].estimate.value for cells in there)
        for cells in there if len(there) > 1 else []:
            if math.isclose(cells[round].estimate.value, least):
                cells[round] = replace(cells[round], lowest=True)
    return [replace(column, cells=cells) for column, cells in zip(columns, marked, strict=True)]


def lowest_round(column: Column, rounds: Sequence[int]) -> Column:
    """The column with its lowest printed non-initial figure marked (Table 5: domains are not rivals)."""
    later = [round for round in rounds if round > 0 and round in column.cells]
    if not later:
        return column
    least = min(column.cells[round].estimate.value for round in later)
    cells = dict(column.cells)
    for round in later:
        if math.isclose(cells[round].estimate.value, least):
            cells[round] = replace(cells[round], lowest=True)
    return replace(column, cells=cells)


ValuesAt = Callable[[TrackedRun, int], Values]


def accuracy_values(cohort: str) -> ValuesAt:
    """Each chain's accuracy in a round of a run."""

    def values(run: TrackedRun, round: int) -> Values:
        return next(rates(cohort_scores(found, cohort)) for found in run.rounds if found.round == round)

    return values


def cost_values(cohort: str, costs: Mapping[str, OperatorCosts], in_tokens: bool) -> ValuesAt:
    """Each chain's operator cost in a round of a run."""
    return lambda run, round: costs[run.id].cohort(round, cohort, in_tokens)


def differences(arms: Sequence[Arm], values: ValuesAt, bound: float) -> list[Difference]:
    """Every pair of arms in every round after 0 that both have, later arm first; Holm's family is one round's pairs."""
    rounds = sorted(set().union(*(arm.rounds() for arm in arms)) - {0})
    made = []
    for round in rounds:
        there = [arm for arm in arms if round in arm.rounds()]
        family = [
            found for two, one in combinations(there, 2) if (found := _difference(one, two, round, values, bound))
        ]
        adjusted = holm([found.p for found in family])
        made += [replace(found, p_holm=p) for found, p in zip(family, adjusted, strict=True)]
    return made


def _difference(first: Arm, second: Arm, round: int, values: ValuesAt, bound: float) -> Difference | None:
    """Over the seeds that both have and that share chains; None where there is none."""
    others = {run.seed: run for run in second.runs}
    pairs, runs = [], []
    for run in first.runs:
        if (other := others.get(run.seed)) and _common(one := values(run, round), two := values(other, round)):
            pairs.append((one, two))
            runs += [run.id, other.id]
    return replace(paired(first.label, second.label, round, pairs, bound), runs=tuple(runs)) if pairs else None


def _common(one: Values, other: Values) -> bool:
    return any(set(chains) & set(other.get(domain, {})) for domain, chains in one.items())

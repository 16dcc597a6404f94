"""How sure the figures are: intervals clustered by chain, paired differences, intervals between runs, Holm.

Attempts at one task are not independent and chains share nothing but the harness, so the chain is the unit: everything
is computed from one rate a chain, with domains weighted equally (Section 4.2). All intervals are 95 %.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from coevolve.evaluation.outcomes import TaskScore, clustered_interval

Unit = Literal["chain", "run"]
"""What an interval counts as independent: the chains of one run, or whole runs of several seeds."""
ALPHA = 0.05
RESAMPLES = 4000
Strata = Sequence[Sequence[float]]
"""One list of per-chain values a domain."""
Values = Mapping[str, Mapping[str, float]]
"""Domain -> chain -> value."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval and what it rests on."""

    value: float
    low: float
    high: float
    unit: Unit
    n_chains: int
    """Chains, summed over runs."""
    n_runs: int
    n_attempts: int
    """Solver attempts behind it; 0 for costs."""
    bootstrap: tuple[float, float] | None = None
    """Percentile interval of the chain bootstrap, beside the analytic one; None between runs."""


def by_domain(scores: Sequence[TaskScore]) -> list[list[TaskScore]]:
    """Scores in groups of one domain, in order of appearance."""
    groups: dict[str, list[TaskScore]] = {}
    for score in scores:
        groups.setdefault(score.domain, []).append(score)
    return list(groups.values())


def accuracy(scores: Sequence[TaskScore]) -> Estimate:
    """Accuracy of one run's tasks, domains weighted equally. Analytic: Wilson's at the effective sample size."""
    groups = by_domain(scores)
    rates = [[score.correct / score.attempts for score in group] for group in groups]
    low, high = clustered_interval([[(score.correct, score.attempts) for score in group] for group in groups])
    attempts = sum(score.attempts for score in scores)
    return Estimate(stratified_mean(rates), low, high, "chain", len(scores), 1, attempts, bootstrap(rates))


def stratified_mean(strata: Strata) -> float:
    """Mean of the strata's means."""
    return sum(math.fsum(values) / len(values) for values in strata) / len(strata)


def bootstrap(strata: Strata, resamples: int = RESAMPLES) -> tuple[float, float]:
    """Percentile interval of the stratified mean, chains drawn again within each stratum; always the same draws.

    Where all chains are alike it has no width: the analytic interval is the one that is printed.
    """
    total = sum(_shares(len(values), resamples, index) @ np.asarray(values) for index, values in enumerate(strata))
    low, high = np.quantile(np.asarray(total) / len(strata), [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


@cache
def _shares(n: int, resamples: int, stratum: int) -> NDArray[np.float64]:
    """How often each of `n` chains is drawn in each resample, over n."""
    return np.random.default_rng([n, stratum]).multinomial(n, np.full(n, 1 / n), size=resamples) / n


def student(strata: Strata, floor: float = -math.inf, ceiling: float = math.inf) -> tuple[float, float]:
    """Student's interval of the stratified mean; chains that are all alike get the exact bound of `alike`."""
    mean, error, freedom = standard_error(strata)
    if error == 0:
        return alike(mean, sum(map(len, strata)), floor, ceiling)
    half = t_quantile(freedom) * error
    return max(floor, mean - half), min(ceiling, mean + half)


def standard_error(strata: Strata) -> tuple[float, float, float]:
    """Mean, its standard error between chains, and degrees of freedom (Satterthwaite's). Single chains add no error."""
    parts = []
    for stratum in strata:
        values = np.asarray(stratum, dtype=float)
        if len(values) > 1:
            parts.append((float(values.var(ddof=1)) / len(values) / len(strata) ** 2, len(values) - 1))
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / size for part, size in parts) if variance > 0 else 1.0
    return stratified_mean(strata), math.sqrt(variance), freedom


def alike(value: float, n: int, floor: float, ceiling: float) -> tuple[float, float]:
    """Interval of a mean when all `n` chains show `value`: at most a share q of all chains can differ, and by how much
    is bounded by the range. Without a range there is nothing to say and the interval is infinite.
    """
    q = 1 - (ALPHA / 2) ** (1 / n)
    low = value - q * (value - floor) if math.isfinite(floor) else -math.inf
    high = value + q * (ceiling - value) if math.isfinite(ceiling) else math.inf
    return low, high


def t_quantile(freedom: float) -> float:
    """Upper 2.5 % point of Student's t."""
    return float(stdtrit(freedom, 1 - ALPHA / 2))


def t_p_value(statistic: float, freedom: float) -> float:
    """Two-sided p of Student's t."""
    return float(2 * stdtr(freedom, -abs(statistic)))


def sign_p_value(value: float, n: int) -> float:
    """Two-sided p of `n` differences that all are `value`: all on one side by chance."""
    return 1.0 if value == 0 else min(1.0, 2.0 * 0.5**n)


def mean_cost(strata: Strata) -> Estimate:
    """Mean cost of a chain (any unit); its interval is Student's, at least zero; infinite where all are alike."""
    low, high = student(strata, floor=0.0)
    return Estimate(stratified_mean(strata), low, high, "chain", sum(map(len, strata)), 1, 0, bootstrap(strata))


def between_runs(estimates: Sequence[Estimate], floor: float, ceiling: float) -> Estimate:
    """Several seeds as one figure: the mean over runs with Student's interval between them.

    Where one run is all there is, or the runs do not differ at all, the interval is the clustered one (of the run; the
    widest of them). Runs with other seeds have other original tasks, so this is about the method, not about one cohort.
    """
    if len(estimates) == 1:
        return estimates[0]
    values = [estimate.value for estimate in estimates]
    n_chains = sum(estimate.n_chains for estimate in estimates)
    n_attempts = sum(estimate.n_attempts for estimate in estimates)
    low, high, unit = min(e.low for e in estimates), max(e.high for e in estimates), estimates[0].unit
    if max(values) > min(values):
        low, high = student([values], floor, ceiling)
        unit = "run"
    return Estimate(math.fsum(values) / len(values), low, high, unit, n_chains, len(estimates), n_attempts)


@dataclass(frozen=True)
class Difference:
    """First minus second, on the same chains: below zero, the first has the harder tasks."""

    first: str
    second: str
    round: int
    estimate: Estimate
    p: float
    """Two-sided, Student's t on the pairs; the exact sign test where all pairs differ alike."""
    p_holm: float | None = None
    """Adjusted over the family that was tested together."""
    runs: tuple[str, ...] = ()
    """Ids of the runs on both sides."""


def paired(first: str, second: str, round: int, pairs: Sequence[tuple[Values, Values]], bound: float) -> Difference:
    """The difference of two configurations; `pairs` holds both sides' values for each seed.

    With one seed the unit is the chain, with several it is the run. Only chains that both sides have are compared; a
    pair without any raises ValueError. `bound` is the largest difference there can be (1 for rates, else infinite).
    """
    strata = [_differences(one, other) for one, other in pairs]
    n_chains = sum(len(values) for run in strata for values in run)
    unit: Unit = "chain" if len(strata) == 1 else "run"
    used: Strata = strata[0] if unit == "chain" else [[stratified_mean(run) for run in strata]]
    mean, error, freedom = standard_error(used)
    low, high = student(used, -bound, bound)
    p = t_p_value(mean / error, freedom) if error > 0 else sign_p_value(mean, sum(map(len, used)))
    ends = bootstrap(used) if unit == "chain" else None
    return Difference(first, second, round, Estimate(mean, low, high, unit, n_chains, len(strata), 0, ends), p)


def rates(scores: Sequence[TaskScore]) -> Values:
    """Each chain's share of right attempts."""
    return {group[0].domain: {s.chain: s.correct / s.attempts for s in group} for group in by_domain(scores)}


def _differences(first: Values, second: Values) -> list[list[float]]:
    """Per domain, the difference of each chain that both sides have."""
    both = {domain: [chain for chain in first[domain] if chain in second.get(domain, {})] for domain in first}
    groups = [[first[d][chain] - second[d][chain] for chain in chains] for d, chains in both.items() if chains]
    if not groups:
        raise ValueError("no chain in common")
    return groups


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted

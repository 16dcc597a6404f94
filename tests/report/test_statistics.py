"""Intervals: that they cover what they claim to, agree with one another, and never pretend to be sure."""

import math

import numpy as np
import pytest

from coevolve.evaluation.outcomes import TaskScore, clustered_interval
from coevolve.report.statistics import (
    accuracy,
    alike,
    between_runs,
    holm,
    mean_cost,
    paired,
    rates,
    standard_error,
    student,
)

ATTEMPTS = 4
DOMAINS = ("math", "coding", "science")


def drawn(rng: np.random.Generator, per_domain: int, a: float, b: float) -> list[TaskScore]:
    """Chains whose true rates follow a Beta distribution, each tried four times."""
    return [
        TaskScore(chain=f"{d}{i}", domain=d, correct=int(rng.binomial(ATTEMPTS, rng.beta(a, b))), attempts=ATTEMPTS)
        for d in DOMAINS
        for i in range(per_domain)
    ]


@pytest.mark.parametrize(("a", "b"), [(1.2, 1.0), (3.0, 1.0), (0.4, 0.6)], ids=["wide", "easy", "all or nothing"])
def test_accuracy_intervals_cover_the_truth_as_often_as_they_say(a: float, b: float) -> None:
    rng, runs, truth = np.random.default_rng(1), 1000, a / (a + b)
    covered = 0
    for _ in range(runs):
        correct = rng.binomial(ATTEMPTS, rng.beta(a, b, size=(3, 50)))
        low, high = clustered_interval([[(count, ATTEMPTS) for count in domain] for domain in correct.tolist()])
        covered += low <= truth <= high
    assert 0.93 <= covered / runs <= 0.97


def test_paired_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng, runs, covered = np.random.default_rng(2), 1000, 0
    for _ in range(runs):
        base = rng.beta(2, 1, size=(3, 50))
        first, second = rng.binomial(ATTEMPTS, base * 0.8) / ATTEMPTS, rng.binomial(ATTEMPTS, base) / ATTEMPTS
        low, high = student([*(first - second)])
        covered += low <= -0.2 * 2 / 3 <= high
    assert 0.93 <= covered / runs <= 0.97


def test_the_bootstrap_agrees_with_the_analytic_interval() -> None:
    found = accuracy(drawn(np.random.default_rng(3), 50, 1.2, 1.0))
    assert found.bootstrap is not None
    width = found.high - found.low
    assert found.bootstrap == pytest.approx((found.low, found.high), abs=0.1 * width)
    costs = np.random.default_rng(4).gamma(4, 1, size=(3, 50))
    fees = mean_cost(costs.tolist())
    assert fees.bootstrap == pytest.approx((fees.low, fees.high), abs=0.1 * (fees.high - fees.low))


def test_the_same_scores_give_the_same_bootstrap() -> None:
    scores = drawn(np.random.default_rng(5), 10, 1.0, 1.0)
    assert accuracy(scores).bootstrap == accuracy(scores).bootstrap


def test_domains_weigh_equally_whatever_their_size() -> None:
    scores = [TaskScore(chain="m", domain="math", correct=0, attempts=4)]
    scores += [TaskScore(chain=f"c{i}", domain="coding", correct=4, attempts=4) for i in range(9)]
    assert accuracy(scores).value == 0.5


@pytest.mark.parametrize("correct", [0, 4])
def test_a_perfect_score_still_has_an_interval(correct: int) -> None:
    scores = [TaskScore(chain=f"m{i}", domain="math", correct=correct, attempts=4) for i in range(10)]
    found = accuracy(scores)
    assert found.value == correct / 4
    assert found.high - found.low == pytest.approx(0.2775, abs=0.001), "Wilson's at ten chains, not forty attempts"


def test_chains_that_are_all_alike_bound_how_many_others_there_can_be() -> None:
    low, high = alike(0.0, 10, -1.0, 1.0)
    assert (low, high) == pytest.approx((-0.3085, 0.3085), abs=1e-4)
    assert (1 - high) ** 10 == pytest.approx(0.025), "ten alike by chance, were the share as large as this"
    assert student([[5.0, 5.0]], floor=0.0)[1] == math.inf


def test_the_standard_error_is_stratified_by_domain() -> None:
    mean, error, freedom = standard_error([[0.0, 1.0], [10.0, 10.0]])
    assert mean == 5.25
    assert error == pytest.approx(math.sqrt(0.5 / 2 / 4))
    assert freedom == pytest.approx(1.0)


def test_several_seeds_give_an_interval_between_runs() -> None:
    rng = np.random.default_rng(6)
    runs = [accuracy(drawn(rng, 50, 2.0, 1.0)) for _ in range(3)]
    found = between_runs(runs, 0.0, 1.0)
    values = [run.value for run in runs]
    half = 4.302653 * np.std(values, ddof=1) / math.sqrt(3)
    assert (found.low, found.high) == pytest.approx((np.mean(values) - half, np.mean(values) + half), abs=1e-6)
    assert (found.unit, found.n_runs, found.n_chains, found.n_attempts) == ("run", 3, 450, 1800)
    assert between_runs(runs[:1], 0.0, 1.0) == runs[0]


def test_runs_that_do_not_differ_keep_the_widest_clustered_interval() -> None:
    perfect = accuracy([TaskScore(chain=f"m{i}", domain="math", correct=4, attempts=4) for i in range(10)])
    found = between_runs([perfect, perfect], 0.0, 1.0)
    assert (found.low, found.high, found.unit) == (perfect.low, perfect.high, "chain")


def test_a_paired_difference_is_that_of_the_same_chains() -> None:
    rng = np.random.default_rng(7)
    second = drawn(rng, 20, 2.0, 1.0)
    first = [score.model_copy(update={"correct": max(0, score.correct - 1)}) for score in second]
    found = paired("one", "other", 3, [(rates(first), rates(second))], 1.0)
    true = np.mean([f.correct / 4 - s.correct / 4 for f, s in zip(first, second, strict=True)])
    assert found.estimate.value == pytest.approx(true)
    unpaired = accuracy(second).high - accuracy(second).low
    assert found.estimate.high - found.estimate.low < unpaired / 2, "what chains share cancels"
    assert found.p < 1e-6
    assert found.estimate.unit == "chain"


def test_a_paired_difference_over_seeds_takes_runs_as_the_unit() -> None:
    rng = np.random.default_rng(8)
    pairs = [(rates(drawn(rng, 10, 1.0, 2.0)), rates(drawn(rng, 10, 2.0, 1.0))) for _ in range(4)]
    found = paired("one", "other", 3, pairs, 1.0)
    assert (found.estimate.unit, found.estimate.n_runs) == ("run", 4)
    assert found.estimate.value == pytest.approx(-1 / 3, abs=0.15)


def test_identical_arms_do_not_differ_and_are_not_sure_of_it() -> None:
    scores = rates(drawn(np.random.default_rng(9), 10, 1.0, 1.0))
    found = paired("one", "other", 1, [(scores, scores)], 1.0)
    assert (found.estimate.value, found.p) == (0.0, 1.0)
    assert found.estimate.low < 0 < found.estimate.high


def test_a_pair_without_a_common_chain_is_refused() -> None:
    with pytest.raises(ValueError, match="no chain in common"):
        paired("one", "other", 1, [({"math": {"a": 1.0}}, {"math": {"b": 1.0}})], 1.0)


def test_holm_steps_down_and_never_swaps() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []

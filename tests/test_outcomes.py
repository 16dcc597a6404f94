"""Accuracy is counted exactly and its interval knows that attempts at one task are not independent."""

import random
from fractions import Fraction

from coevolve.evaluation.outcomes import Scores, TaskScore, clustered_interval


def scored(*counts: tuple[str, int]) -> Scores:
    return Scores(
        tasks=tuple(
            TaskScore(chain=str(number), domain=domain, correct=correct, attempts=4)
            for number, (domain, correct) in enumerate(counts)
        )
    )


def test_all_weights_domains_equally_and_seed_mean_weights_seeds_equally() -> None:
    scores = scored(("math", 4), ("math", 4), ("math", 4), ("coding", 0))
    assert scores.all == Fraction(1, 2)
    assert scores.seed_mean == Fraction(3, 4)


def test_an_interval_at_zero_or_one_is_as_wide_as_the_number_of_tasks_warrants() -> None:
    low, high = clustered_interval([[(4, 4)] * 6])
    assert high == 1.0
    assert 0.5 < low < 0.7


def test_attempts_that_agree_within_tasks_count_as_few() -> None:
    alike = clustered_interval([[(4, 4)] * 10 + [(0, 4)] * 10])
    mixed = clustered_interval([[(2, 4)] * 20])
    assert alike[1] - alike[0] > 1.7 * (mixed[1] - mixed[0])


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(1)
    covered = 0
    for _ in range(1500):
        group = []
        for _ in range(30):
            p = rng.betavariate(1.2, 1.2)
            group.append((sum(rng.random() < p for _ in range(4)), 4))
        low, high = clustered_interval([group])
        covered += low <= 0.5 <= high
    assert 0.93 <= covered / 1500 <= 0.975

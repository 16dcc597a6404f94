"""The paired gate, by the paper's example and by counts whose variance is known by hand."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from coevolve.config import GateConfig
from coevolve.evaluation.gate import accept
from coevolve.evaluation.outcomes import Probe, Scores, TaskScore
from coevolve.evaluation.paired import accept_paired, compare, judge, paired_gain

PAPER = GateConfig(
    name="paper", z=None, cost_slope="1.5", cost_cap="1.5", cost_unit="usd", early_reject=False, noise_floor=False
)
PAIRED = PAPER.model_copy(update={"name": "paired", "z": "1.645"})


def scores(counts: Sequence[int], attempts: int = 4) -> Scores:
    return Scores(
        tasks=tuple(
            TaskScore(chain=f"c{number}", domain="math", correct=right, attempts=attempts)
            for number, right in enumerate(counts)
        )
    )


def probe(counts: Sequence[int], cost: int = 1_000_000, valid: int | None = None, complete: bool = True) -> Probe:
    n = len(counts)
    return Probe("p", "h", complete, n, n if valid is None else valid, scores(counts) if complete else None, cost, cost)


BASELINE = probe([4] * 60 + [2] * 60 + [0] * 30)
"""150 chains, 600 attempts, accuracy 0.60 as in the paper's example."""


def test_the_standard_error_is_that_of_chains_not_of_attempts() -> None:
    found = compare(scores([2, 4, 1, 1]), scores([4, 4, 3, 1]))
    assert found.gain == Fraction(1, 4)
    assert found.variance == Fraction(1, 48), "differences 1/2, 0, 1/2, 0: 4 (1/4)^2 / (4 * 3)"
    assert found.se == pytest.approx(0.1443, abs=1e-4)


def test_chains_are_paired_by_name_not_by_place() -> None:
    mine, theirs = scores([0, 4, 2]), scores([1, 4, 3])
    turned = Scores(tasks=tuple(reversed(theirs.tasks)))
    assert compare(mine, turned) == compare(mine, theirs)


def test_other_chains_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="c2"):
        compare(scores([1, 2]), scores([1, 2, 3]))


def test_the_papers_example_passes_where_the_fall_is_even_and_fails_where_it_is_noise() -> None:
    even = probe([4] * 45 + [2] * 60 + [0] * 45, 1_300_000)  # 15 chains fall from 4 of 4 to 0
    noise = probe([0] * 30 + [4] * 30 + [2] * 60 + [4] * 25 + [0] * 5)  # 30 fall from 4 to 0, 25 rise from 0 to 4
    assert judge(even, BASELINE, PAIRED).decision.accepted
    assert judge(noise, BASELINE, PAPER).decision.accepted
    found = judge(noise, BASELINE, PAIRED)
    assert not found.decision.accepted
    assert found.paired is not None
    assert (float(found.paired.gain), found.paired.se) == pytest.approx((1 / 30, 0.0495), abs=1e-4)


@pytest.mark.parametrize(
    ("fallen", "accepted"),
    [
        pytest.param(2, False, id="2 of 150 chains harder lie within the noise"),
        pytest.param(3, True, id="3 lie beyond it"),
    ],
)
def test_few_harder_chains_are_noise(fallen: int, accepted: bool) -> None:
    candidate = probe([0] * fallen + [4] * (60 - fallen) + [2] * 60 + [0] * 30)
    assert accept(candidate, BASELINE, PAPER).accepted
    assert accept_paired(candidate, BASELINE, PAIRED).accepted is accepted


def test_the_boundary_is_exact() -> None:
    """Differences 1, 0 have gain 1/2 and SE 1/2: at z = 1 the gain is not beyond the noise, a hair below it is."""
    at = paired_gain([Fraction(1), Fraction(0)])
    assert at.variance == Fraction(1, 4)
    assert not at.exceeds(Fraction(1))
    assert at.exceeds(Fraction("0.999999999999999999999"))


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        pytest.param(probe([3] * 60 + [1] * 60 + [0] * 30, 1_600_000), "too dear", id="too dear stays refused"),
        pytest.param(probe([4] * 60 + [2] * 60 + [0] * 30), "not harder", id="equal is not harder"),
        pytest.param(probe([3] * 60 + [1] * 60 + [0] * 30, valid=149), "less valid", id="less valid stays refused"),
        pytest.param(probe([0] * 150, complete=False), "incomplete", id="incomplete is never accepted"),
    ],
)
def test_what_equation_5_refuses_the_paired_gate_refuses_for_the_same_reason(candidate: Probe, reason: str) -> None:
    assert accept_paired(candidate, BASELINE, PAIRED) == accept(candidate, BASELINE, PAIRED)
    assert accept_paired(candidate, BASELINE, PAIRED).reasons[0].startswith(reason)


def test_one_chain_has_no_standard_error_and_is_refused() -> None:
    found = judge(probe([0]), probe([4]), PAIRED)
    assert not found.decision.accepted
    assert found.paired is not None
    assert found.paired.record() == {"n_chains": 1, "gain": 1.0, "se": None, "z": None}


def test_both_gates_report_the_same_figures_and_the_papers_decides_as_it_always_did() -> None:
    candidate = probe([0] * 2 + [4] * 58 + [2] * 60 + [0] * 30)
    by_paper, by_paired = judge(candidate, BASELINE, PAPER), judge(candidate, BASELINE, PAIRED)
    assert by_paper.record()["paired"] == by_paired.record()["paired"]
    assert by_paper.decision == accept(candidate, BASELINE, PAPER)
    assert (by_paper.decision.accepted, by_paired.decision.accepted) == (True, False)
    assert by_paired.record()["reasons"] == ["not beyond noise: gain 0.013 <= 1.645 x 0.009 (paired SE)"]


def shares_accepted(gain: float, cohorts: int = 150, chains: int = 50) -> tuple[float, float]:
    """How often a candidate whose tasks are truly harder by `gain` passes either gate at equal validity and cost.

    Simulated: chains differ (accuracy uniform from 0.25 to 0.95), both sides' tasks lie within 0.2 of their chain.
    """
    draw = random.Random(0)

    def counts(levels: Sequence[float], lower: float) -> list[int]:
        found = [level + draw.uniform(-0.2, 0.2) - lower for level in levels]
        return [sum(draw.random() < rate for _ in range(4)) for rate in found]

    accepted = [0, 0]
    for _ in range(cohorts):
        levels = [draw.uniform(0.25, 0.95) for _ in range(chains)]
        candidate, baseline = probe(counts(levels, gain)), probe(counts(levels, 0.0))
        for place, gate in enumerate((PAPER, PAIRED)):
            accepted[place] += judge(candidate, baseline, gate).decision.accepted
    return accepted[0] / cohorts, accepted[1] / cohorts


def test_a_candidate_that_is_no_better_passes_equation_5_about_half_the_time_and_the_paired_gate_rarely() -> None:
    paper, paired = shares_accepted(0.0)
    assert 0.35 < paper < 0.6
    assert paired < 0.12, "nominally 5 %; 12 % is four standard errors of 150 cohorts away"


def test_a_candidate_that_is_harder_by_a_tenth_passes_the_paired_gate_less_often() -> None:
    paper, paired = shares_accepted(0.1)
    assert paper > 0.9
    assert 0.4 < paired < 0.75

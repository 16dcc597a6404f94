"""Eq. 5 by the paper's own examples and boundary cases."""

from fractions import Fraction

import pytest

from coevolve.config import GateConfig
from coevolve.evaluation.gate import accept, allowance
from coevolve.evaluation.outcomes import Probe, Scores, TaskScore

GATE = GateConfig(
    name="paper", z=None, cost_slope="1.5", cost_cap="1.5", cost_unit="usd", early_reject=False, noise_floor=False
)


def probe(correct: int, cost: int, valid: int = 150, complete: bool = True, violation: str | None = None) -> Probe:
    """150 chains, four attempts each, `correct` of the 600 right."""
    counts = [4] * (correct // 4) + ([correct % 4] if correct % 4 else [])
    counts += [0] * (150 - len(counts))
    scores = Scores(
        tasks=tuple(
            TaskScore(chain=str(number), domain="math", correct=right, attempts=4)
            for number, right in enumerate(counts)
        )
    )
    return Probe("p", "h", complete, 150, valid, scores if complete else None, cost, cost, violation)


BASELINE = probe(360, 1_000_000)


@pytest.mark.parametrize(
    ("candidate", "accepted"),
    [
        pytest.param(probe(300, 1_300_000), True, id="0.60 to 0.50 allows exactly 1.30"),
        pytest.param(probe(300, 1_300_001), False, id="one micro-dollar above 1.30 is too dear"),
        pytest.param(probe(180, 1_500_000), True, id="a doubling of difficulty is capped at 1.5"),
        pytest.param(probe(180, 1_500_001), False, id="and not above the cap"),
        pytest.param(probe(360, 1), False, id="equal accuracy is not harder, however cheap"),
        pytest.param(probe(361, 1), False, id="easier is refused"),
        pytest.param(probe(359, 1_000_000), True, id="one outcome harder at equal cost passes"),
        pytest.param(probe(0, 1_500_000), True, id="accuracy 0 takes the cap without dividing by zero"),
        pytest.param(probe(0, 1_500_001), False, id="accuracy 0 above the cap is too dear"),
        pytest.param(probe(300, 1_000_000, valid=149), False, id="one missing candidate lowers Q"),
        pytest.param(probe(300, 1_000_000, complete=False), False, id="an incomplete probe is never accepted"),
        pytest.param(probe(300, 1, violation="outside"), False, id="a harness outside Gamma is never accepted"),
    ],
)
def test_the_gate_decides_as_equation_5_says(candidate: Probe, accepted: bool) -> None:
    decision = accept(candidate, BASELINE, GATE)
    assert decision.accepted is accepted
    assert bool(decision.reasons) is not accepted


def test_a_baseline_at_accuracy_zero_cannot_be_beaten() -> None:
    assert not accept(probe(0, 1), probe(0, 1_000_000), GATE).accepted


def test_lower_validity_on_both_sides_is_compared_not_judged() -> None:
    baseline = probe(360, 1_000_000, valid=100)
    assert accept(probe(300, 1_000_000, valid=100), baseline, GATE).accepted
    assert not accept(probe(300, 1_000_000, valid=99), baseline, GATE).accepted


def test_an_unknown_cost_is_a_reason_against() -> None:
    unknown = probe(300, 1)._replace(microusd=None)
    assert accept(unknown, BASELINE, GATE).reasons == ("cost unknown",)
    tokens = GATE.model_copy(update={"cost_unit": "tokens"})
    assert accept(unknown, BASELINE, tokens).accepted


def test_the_allowance_is_exact_where_floats_are_not() -> None:
    assert allowance(Fraction(1, 2), Fraction(3, 5), GATE) == Fraction(13, 10)
    assert min(1 + 1.5 * (0.6 / 0.5 - 1), 1.5) < 1.3

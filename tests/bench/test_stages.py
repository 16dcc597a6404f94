"""The simulator behind `bench section=round`: what a round takes when nothing but its calls costs time."""

import pytest

from coevolve.bench.stages import Line, Side, Stage, makespan, round_stages
from coevolve.ledger import Row
from coevolve.synthesis.verification import OWN_ATTEMPT


@pytest.mark.parametrize(
    ("stage", "slots", "seconds"),
    [
        (Line((1.0, 2.0, 3.0)), 1, 6.0),
        (Side((1.0, 2.0, 3.0)), 3, 3.0),
        (Side((1.0, 2.0, 3.0)), 1, 6.0),
        (Side((1.0, 2.0, 3.0)), 2, 4.0),
        (Side((3.0, 1.0, 1.0, 1.0), at_once=2), 9, 3.0),
        (Line((Side(()), 2.0, Line(()))), 1, 2.0),
        (Side((Line((1.0, 1.0)), Line((1.0, 1.0)))), 1, 4.0),
    ],
)
def test_a_stage_takes_as_long_as_its_slots_and_order_allow(stage: Stage, slots: int, seconds: float) -> None:
    assert makespan(stage, slots) == seconds


def row(phase: str, role: str, chain: str, step: int = 0, attempt: int = 0, probe: str = "") -> Row:
    call = f"r1/{phase}/{probe}/{chain}/{step}/{role}/{attempt}"
    return Row(call, 1, phase, probe, chain, step, role, attempt, "m", 1, 1, 0, 0, 1, 1.0, "ok")


def test_a_round_may_report_beside_stage_3_and_probe_the_baseline_beside_the_test() -> None:
    made = [row("generation", "director", "a", 1), row("generation", "extend", "a", 1)]
    made += [row("generation", "verify", "a", 2, member) for member in (0, 2, 4)]
    made += [row("generation", "verify", "a", 2, OWN_ATTEMPT), row("generation", "meta_skill", "a", 2)]
    test = [row("in_loop", "solver", "a"), row("post_task", "meta_skill", "math")]
    baseline = [row("baseline", "director", "a", 1, probe="baseline"), row("baseline", "solver", "a", probe="baseline")]
    asked = [row("post_task", "meta_harness", "candidate-1")]
    tried = [row("candidate", "extend", "a", 1, probe="candidate-1")]
    tried += [row("candidate", "solver", "a", 0, number, "candidate-1") for number in range(4)]
    reporting = [row("reporting", "solver", "a", 0, number) for number in range(4)]
    rows = made + test + baseline + asked + tried + reporting
    stages = round_stages(rows, lambda _: 1.0, ["a"], 1)
    assert makespan(stages.generation, 9) == 5.0, "director, extend, the ensemble at once, the own attempt, the update"
    assert makespan(stages.in_line, 9) == 5 + 2 + 2 + 1 + 2 + 1
    assert makespan(stages.whole, 9) == 5 + 2 + 1 + 2

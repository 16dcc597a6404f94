"""Diagnostics of runs whose truth is known by hand."""

import csv
import io
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.report.made_up import GATE, cost, probe, round_, run

from coevolve.evaluation.outcomes import wilson
from coevolve.report import diagnostics
from coevolve.report.gate_noise import gate_sections
from coevolve.report.money import cost_section, hardest_rate, matched_section, spent_by_round
from coevolve.report.runs import FrozenHarness, TrackedRun
from coevolve.report.sections import Section, page, sheet
from coevolve.report.yields import frozen_section, solver_section, yield_section

BASELINE = [4, 4, 2, 2]
HARDER = [3, 3, 1, 2]
"""Differences 1/4, 1/4, 1/4, 0: gain 3/16, variance 3/4 (1/4)^2 / 12 = 1/256, so SE 1/16."""


def rows(section: Section) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sheet([section]))))


def figure(section: Section, quantity: str, **where: str) -> dict[str, str]:
    [found] = [
        row
        for row in rows(section)
        if row["quantity"] == quantity and all(row[key] == value for key, value in where.items())
    ]
    return found


def number(section: Section, quantity: str, **where: str) -> float:
    return float(figure(section, quantity, **where)["value"])


def gated(*candidates: dict[str, Any], status: str = "online-only", **evaluations: Any) -> TrackedRun:
    evaluations |= {"baseline": probe("baseline", BASELINE), "candidates": list(candidates)}
    return run("a/full", [round_(0, [4] * 4), round_(1, [3] * 4, status=status, **evaluations)])


def test_a_decision_shows_gain_error_and_what_either_gate_says() -> None:
    found = gated(probe("candidate-1", [4, 4, 2, 2]), probe("candidate-2", HARDER, usd=1.2), status="accepted")
    decisions, _, _ = gate_sections([found])
    at = {"item": "candidate-2"}
    assert number(decisions, "gain", **at) == 3 / 16
    assert number(decisions, "paired SE", **at) == 1 / 16
    assert number(decisions, "gain / SE", **at) == 3
    assert number(decisions, "seen at 80 % power", **at) == pytest.approx((1.645 + 0.8416) / 16, abs=1e-4)
    assert number(decisions, "cost ratio", **at) == pytest.approx(1.2)
    interval = figure(decisions, "gain", **at)
    assert float(interval["low"]) == pytest.approx(3 / 16 - 3.1824 / 16, abs=1e-4), "Student's with three degrees"
    verdicts = [
        [figure(decisions, name, item=f"candidate-{j}")["value"] for name in ("decided", "Eq. 5")] for j in (1, 2)
    ]
    assert verdicts == [["rejected", "reject"], ["accepted", "accept"]]
    assert figure(decisions, "Eq. 5 and paired", **at)["value"] == "accept"
    assert figure(decisions, "Eq. 5", item="candidate-1")["note"].startswith("not harder")


def test_the_paired_column_is_of_the_runs_own_z_where_it_has_one() -> None:
    kept = gated(probe("candidate-1", HARDER))
    strict = run("a/strict", kept.rounds, config={"gate": GATE | {"name": "paired", "z": "3"}})
    assert [figure(gate_sections([one])[0], "Eq. 5 and paired")["value"] for one in (kept, strict)] == [
        "accept",
        "reject",
    ]


def test_a_candidate_outside_gamma_has_a_line_without_figures() -> None:
    outside = {**probe("candidate-1", HARDER), "violation": "too many edits", "scores": None}
    decisions, _, power = gate_sections([gated(outside)])
    assert {row["quantity"] for row in rows(decisions)} == {"decided", "Eq. 5", "Eq. 5 and paired"}
    assert "too many edits" in rows(decisions)[0]["note"]
    assert not power.lines


def test_the_noise_floor_counts_how_often_a_harness_beats_itself() -> None:
    repeats = [[3, 4, 2, 2], [4, 4, 2, 2], [4, 4, 3, 3], [3, 3, 1, 1]]
    rounds = [round_(0, [4] * 4)]
    for place, counts in enumerate(repeats, 1):
        again = probe("baseline-repeat", counts)
        rounds.append(
            round_(place, [3] * 4, baseline=probe("baseline", BASELINE), candidates=[], baseline_repeat=again)
        )
    _, floor, power = gate_sections([run("a/full", rounds)])
    gains = [1 / 16, 0, -1 / 8, 1 / 4]
    assert number(floor, "typical A/A gain (root mean square)") == pytest.approx(
        math.sqrt(sum(gain**2 for gain in gains) / 4), rel=1e-5
    )
    harder = figure(floor, "harder than itself")
    assert (float(harder["value"]), harder["n"]) == (0.5, "4")
    assert (float(harder["low"]), float(harder["high"])) == pytest.approx(wilson(0.5, 4), rel=1e-5)
    assert number(floor, "Eq. 5 would accept") == 0.5
    assert number(floor, "Eq. 5 and paired would accept") == 0.25, "one chain alone is noise; all four are not"
    assert power.lines, "without candidates the repeats tell the error"


def test_without_a_second_probe_the_page_says_how_to_get_one() -> None:
    assert "gate.noise_floor=true" in page("t", "l", gate_sections([gated(probe("candidate-1", HARDER))]))


def test_power_at_a_true_gain_of_nothing_is_the_chance_of_a_phantom() -> None:
    _, _, power = gate_sections([gated(probe("candidate-1", HARDER))])
    assert number(power, "harder by Eq. 5", item="true gain 0 points") == 0.5
    assert number(power, "beyond noise (paired)", item="true gain 0 points") == pytest.approx(0.05, abs=1e-4)
    assert number(power, "harder by Eq. 5", item="true gain 10 points") == pytest.approx(0.9452, abs=1e-4)
    assert number(power, "beyond noise (paired)", item="true gain 10 points") == pytest.approx(0.4821, abs=1e-4)


def test_validity_and_fallback_are_counted_over_all_chains() -> None:
    batch = {"n_tasks": 4, "valid": 3, "misses": 2, "causes": {"ambiguous": 1}}
    section = yield_section([run("a/full", [round_(0, [4] * 4), round_(1, [3] * 4, batch=batch)])])
    assert (number(section, "validity"), number(section, "fallback")) == (0.75, 0.25)
    low, high = wilson(0.75, 4)
    fallback = figure(section, "fallback")
    assert (float(fallback["low"]), float(fallback["high"])) == pytest.approx((1 - high, 1 - low), rel=1e-5)
    assert figure(section, "most frequent cause of failure")["value"] == "ambiguous (1)"


def spending(name: str, per_round: int, counts: list[list[int]], ablation: str = "full", **changes: Any) -> TrackedRun:
    rounds = [round_(0, counts[0], [cost("reporting", 999)])]
    rounds += [
        round_(place, found, [cost("generation", per_round), cost("reporting", 999)])
        for place, found in enumerate(counts[1:], 1)
    ]
    return run(name, rounds, ablation, **changes)


def test_costs_are_cumulative_a_seed_without_reporting_and_a_point_has_its_price() -> None:
    found = spending("a/full", 8_000_000, [[4] * 4, [3] * 4, [2, 2, 1, 1]])
    assert [amount.usd for amount in spent_by_round(found).values()] == [0, 2, 4]
    section = cost_section([found])
    assert number(section, "total a seed") == 4
    assert number(section, "accuracy fell by") == 0.625
    price = figure(section, "a point cost a seed")
    assert float(price["value"]) == pytest.approx(4 / 62.5)
    assert float(price["low"]) < 4 / 62.5 < float(price["high"])
    assert number(section, "generation") == 1


def test_a_fall_that_may_be_none_has_an_open_price_and_a_rise_has_none() -> None:
    unsure, risen = (spending("a/full", 1_000_000, [[2] * 4, last]) for last in ([0, 4, 0, 2], [3] * 4))
    assert figure(cost_section([unsure]), "a point cost a seed")["high"] == "inf"
    assert not [row for row in rows(cost_section([risen])) if row["quantity"] == "a point cost a seed"]


def test_unknown_prices_leave_dollars_out_and_count_tokens() -> None:
    found = run("a/full", [round_(0, [4] * 4), round_(1, [3] * 4, [cost("generation", None, 80)])])
    assert spent_by_round(found)[1] == (None, 20)
    section = cost_section([found])
    assert number(section, "total a seed, tokens") == 20
    assert not [row for row in rows(section) if row["unit"] == "usd"]


def test_the_same_money_buys_task_only_more_rounds() -> None:
    full = spending("a/full", 8_000_000, [[4] * 4, [3] * 4, [2] * 4])
    only = spending("a/only", 4_000_000, [[4] * 4, [4] * 4, [4, 4, 3, 3], [3] * 4, [3, 3, 2, 2], [1] * 4], "task_only")
    section = matched_section([full, only])
    at = {"item": "more rounds"}
    assert number(section, "spent a seed", **at) == 4
    assert number(section, "task_only spent", **at) == 4, "the fourth round is the last that costs no more"
    assert number(section, "task_only: accuracy", **at) == 0.625
    assert number(section, "arm minus task_only", **at) == -0.125
    assert figure(section, "arm minus task_only", **at)["note"] == "a/only after round 4"


def test_a_match_that_is_short_says_how_many_rounds_would_do() -> None:
    full = spending("a/full", 8_000_000, [[4] * 4, [3] * 4, [2] * 4])
    only = spending("a/only", 2_000_000, [[4] * 4, [4] * 4, [3] * 4], "task_only")
    note = figure(matched_section([full, only]), "task_only spent")["note"]
    assert "spent only 25%" in note
    assert note.endswith("rounds=8")


def test_without_task_only_the_commands_that_make_it_are_named() -> None:
    lone = spending("a/full", 8_000_000, [[4] * 4, [3] * 4])
    notes = {line.item: line.note for line in matched_section([lone]).lines}
    assert "evolve.py experiment=made ablation=task_only seed=0" in notes["more rounds"]
    assert "transfer.py harness=h0 tasks=outputs/a/full/archive/v000 rounds=1 seed=" in notes["more samples"]


def test_the_same_money_buys_task_only_more_samples_of_the_same_rounds() -> None:
    full = spending("a/full", 8_000_000, [[4] * 4, [2] * 4])
    only = spending("a/only", 4_000_000, [[4] * 4, [4, 4, 0, 0]], "task_only")
    first = FrozenHarness("h0", "", 0, 0)
    copy = spending("t/h0", 4_000_000, [[4] * 4, [0, 4, 4, 0]], "task_only", frozen=first, seed=1)
    other = spending("t/h8", 1_000_000, [[4] * 4, [0] * 4], "task_only", frozen=FrozenHarness("x", "a", 8, 8), seed=1)
    section = matched_section([full, only, copy, other])
    at = {"item": "more samples"}
    assert number(section, "task_only: accuracy", **at) == 0.25, "chains keep 0, 1, 0, 0"
    assert number(section, "task_only spent", **at) == 2
    assert figure(section, "task_only spent", **at)["note"] == "hardest of 2: a/only, t/h0"


@pytest.mark.parametrize(
    "tries", [[(2, 4)], [(2, 4), (2, 4)], [(0, 4), (3, 4)], [(1, 3), (2, 4), (4, 4)], [(1, 1), (0, 1)]]
)
def test_choosing_the_hardest_never_flatters_itself(tries: list[tuple[int, int]]) -> None:
    """Against every way of ordering the attempts, counted one by one."""
    if min(attempts for _, attempts in tries) < 2:
        assert hardest_rate(tries) == 0.5
        return
    orders = [set(_orders(correct, attempts)) for correct, attempts in tries]
    found = []
    for chosen in product(*orders):
        halves = [(order[: len(order) // 2], order[len(order) // 2 :]) for order in chosen]
        least = min(sum(first) / len(first) for first, _ in halves)
        left = [sum(rest) / len(rest) for first, rest in halves if sum(first) / len(first) == least]
        found.append(sum(left) / len(left))
    assert hardest_rate(tries) == pytest.approx(sum(found) / len(found))


def _orders(correct: int, attempts: int) -> list[tuple[int, ...]]:
    return [order for order in product((0, 1), repeat=attempts) if sum(order) == correct]


def test_the_hardest_of_equal_tasks_is_as_hard_as_they_are() -> None:
    """Over all counts of three tasks that the solver answers half the time, the mean is one half: no winner's curse."""
    chances = {correct: math.comb(4, correct) / 16 for correct in range(5)}
    mean = sum(
        math.prod(chances[correct] for correct in counts) * hardest_rate([(correct, 4) for correct in counts])
        for counts in product(chances, repeat=3)
    )
    assert mean == pytest.approx(0.5)


def test_frozen_harnesses_are_compared_with_h0_under_the_same_solver() -> None:
    def moved(name: str, counts: list[int], frozen: FrozenHarness, solver: str) -> TrackedRun:
        return run(name, [round_(0, [4] * 4), round_(1, counts)], "task_only", frozen=frozen, solver=solver)

    first, evolved = FrozenHarness("h0", "", 0, 0), FrozenHarness("/x/v008", "a/full", 8, 8)
    runs = [
        moved("t/h0", [4, 4, 4, 2], first, "small"),
        moved("t/h8", [2, 2, 4, 2], evolved, "small"),
        moved("t/h8-large", [3] * 4, evolved, "large"),
    ]
    section = frozen_section(runs)
    assert number(section, "less than H_0's", run="t/h8") == -0.25
    lone = next(line for line in section.lines if line.run == "t/h8-large")
    assert lone.note == "no run of h0 on these seeds under this solver"


def test_archived_tasks_are_compared_under_both_solvers() -> None:
    source = run("a/full", [round_(0, [4] * 4), round_(1, [1, 1, 2, 2])])
    begun = {"frozen": {"tasks": str(source.rounds[1].folder)}}
    measured = run("t/h0", [round_(0, [3, 3, 4, 4])], "task_only", solver="large", config=begun)
    section = solver_section([source, measured])
    assert number(section, "accuracy") == 0.875
    assert number(section, "its accuracy") == 0.375
    assert number(section, "difference") == 0.5
    [alone] = solver_section([measured]).lines
    assert alone.note == "give the run of made/up/archive/v001 too"


def test_both_files_are_written_the_same_every_time(tmp_path: Path) -> None:
    runs = [gated(probe("candidate-1", HARDER)), spending("a/only", 1_000_000, [[4] * 4, [3] * 4], "task_only")]
    first = [path.read_bytes() for path in diagnostics.write(runs, tmp_path)]
    assert first == [path.read_bytes() for path in diagnostics.write(runs, tmp_path)]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["diagnostics.csv", "diagnostics.md"]
    assert b"+18.8" in first[0]
    assert b"gate,a/full,1,candidate-1,gain,points,0.1875" in first[1]

"""A forecast is exact where counting suffices, near the truth where a pilot has measured, and open about the rest."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.errors import ConfigError, DataError
from coevolve.estimate import EstimateConfig, main
from coevolve.estimate.forecast import Forecast, forecast, spread
from coevolve.estimate.parts import CALLS, TOKENS_IN, TOKENS_OUT
from coevolve.estimate.pilot import Pilot, read_pilot
from coevolve.estimate.text import ceilings_met, closing_lines, short
from coevolve.run import main as run

SMALL = (
    "models=procedural",
    "solver=scripted",
    "domain=math",
    "budget=demo",
    "budget.gate_per_domain=4",
    "budget.chain_concurrency=1",  # else the order of admissions, and with it the run, hangs on the clock
    "constraints=demo",
    "seeds.per_domain=4",
    "seeds.screen.enabled=false",
)
DECLARED = "declared.parts."


def configured(*words: str) -> EstimateConfig:
    return load(compose(*words, config_name="estimate"), EstimateConfig)


def forecast_of(*words: str, pilot: Pilot | None = None) -> Forecast:
    config = configured(*words)
    return forecast(config, config.declared, pilot)


def expected(made: Forecast, column: int, **which: tuple[str, ...]) -> float:
    return float(made.sums(**which)[0, column])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run after two rounds, as it stood then, and after five."""
    outputs = tmp_path_factory.mktemp("runs")
    words = (*SMALL, "tracking=off", "live=false", f"outputs={outputs}")
    assert run(load(compose(*words, "rounds=5", "name=five"), RunConfig)) == 0
    shutil.copytree(outputs / "five", outputs / "two")
    for number in (3, 4, 5):
        shutil.rmtree(outputs / "two" / "archive" / f"v00{number}")
    summary = json.loads((outputs / "two" / "summary.json").read_text())
    cut = {**summary, "complete": False, "rounds": summary["rounds"][:3]}
    (outputs / "two" / "summary.json").write_text(json.dumps(cut))
    return outputs / "two", outputs / "five"


def test_a_pilot_of_two_rounds_foretells_a_run_of_five(runs: tuple[Path, Path]) -> None:
    pilot, truth = (read_pilot(folder, ["math"]) for folder in runs)
    made = forecast_of(*SMALL, "rounds=5", pilot=pilot)
    actual = {
        phase: sum(sums.sum(axis=(0, 1)) for (of, _), sums in truth.sums.items() if of == phase)
        for phase in truth.units
    }
    assert expected(made, CALLS, phases=("in_loop",)) == actual["in_loop"][CALLS]
    assert expected(made, CALLS, phases=("reporting",)) == actual["reporting"][CALLS] + 4 * 4  # the control
    for column, most in ((CALLS, 0.15), (TOKENS_IN, 0.35)):
        assert expected(made, column, phases=("generation",)) == pytest.approx(actual["generation"][column], rel=most)
    for column in (CALLS, TOKENS_IN, TOKENS_OUT):
        low, _, high = spread(made.sums()[:, column])
        assert low <= truth.work[column] <= high
    assert made.used["declared"] == set()


def test_the_rounds_that_a_pilot_had_are_told_as_they_were(runs: tuple[Path, Path]) -> None:
    pilot = read_pilot(runs[0], ["math"])
    made = forecast_of(*SMALL, "rounds=2", pilot=pilot)
    for part in ("director", "extend", "verify 1", "attempt", "meta_skill"):
        measured = pilot.sums["generation", part].sum(axis=(0, 1))
        assert np.allclose(made.sums(phases=("generation",), parts=(part,))[0], measured)


def test_twice_the_chains_cost_twice_and_another_arm_leaves_out_what_it_does_not_do(runs: tuple[Path, Path]) -> None:
    pilot = read_pilot(runs[0], ["math"])
    one = forecast_of(*SMALL, "ablation=task_only", "rounds=4", pilot=pilot)
    two = forecast_of(*SMALL, "ablation=task_only", "rounds=4", "seeds.per_domain=8", pilot=pilot)
    assert np.allclose(two.sums()[0], 2 * one.sums()[0])
    assert {cell.phase for cell in one.cells} == {"generation", "reporting"}
    assert "meta_skill" not in {cell.part for cell in one.cells}


def test_what_the_pilot_lacks_is_declared_and_said_so(runs: tuple[Path, Path]) -> None:
    pilot = read_pilot(runs[0], ["math"])
    made = forecast_of(*SMALL, "rounds=3", "seeds.screen.enabled=true", "models.director.max_tokens=99", pilot=pilot)
    said = "\n".join(closing_lines(made))
    assert "declared, not measured: tried_a_kept_seed" in said
    assert "differs in what is not modelled: models.director.max_tokens (4096 there, 99 here)" in said
    assert "nominal prices" in said and "not in it: " in said


def test_declared_averages_are_counted_exactly() -> None:
    fixed = [
        f"{DECLARED}{part}.calls=[2.0,2.0,2.0]" for part in ("director", "extend", "verify", "attempt", "meta_skill")
    ]
    fixed += [f"{DECLARED}revise.calls=[0.0,0.0,0.0]", f"{DECLARED}extend.tokens_out=[10.0,10.0,10.0]"]
    made = forecast_of(*SMALL, "ablation=online", "rounds=3", *fixed)
    assert np.all(made.sums(phases=("generation",))[:, CALLS] == 3 * 4 * 5 * 2)
    assert np.all(made.sums(phases=("reporting",))[:, CALLS] == (3 + 1 + 1) * 4 * 4)
    assert np.all(made.sums(parts=("extend",))[:, TOKENS_OUT] == 3 * 4 * 2 * 10)
    assert "nothing measured" in "\n".join(closing_lines(made))


def test_every_member_of_verify_is_counted_and_priced() -> None:
    one = forecast_of("models=paper", "solver=scripted", "ablation=online", "rounds=1")
    assert {cell.part for cell in one.cells} >= {"verify 1", "verify 2", "verify 3"}
    assert one.usd() is None
    assert one.usd(parts=("solver",)) is not None
    said = "\n".join(closing_lines(one))
    assert "prices unknown: director, extend, revise, verify 1, verify 2, verify 3, attempt, meta_skill; give" in said


def test_a_price_turns_tokens_into_dollars() -> None:
    words = [
        f"{DECLARED}solver.{name}=[{value},{value},{value}]"
        for name, value in (("tokens_in", 1000.0), ("tokens_out", 100.0))
    ]
    made = forecast_of(*SMALL, "rounds=0", "solver.price.input=2.0", "solver.price.output=5.0", *words)
    usd = made.usd()
    assert usd is not None and np.allclose(usd, 2 * 4 * 4 * (1000 * 2 + 100 * 5) / 1e6)


def test_a_ceiling_in_the_way_is_named_with_its_round() -> None:
    met = list(ceilings_met(forecast_of(*SMALL, "rounds=1", "budget.generation.calls=20", "budget.total.tokens=10")))
    assert met[0].startswith("budget.generation.calls=20 is met in round 1 of")
    assert any(line.startswith("budget.total.tokens=10 is met") for line in met)
    assert not list(ceilings_met(forecast_of(*SMALL, "rounds=1", "budget.evaluation.calls=null")))


@pytest.mark.parametrize("value", ["[3.0,2.0,1.0]", "[1.0]", "[-1.0,0.0,1.0]"])
def test_a_declared_range_that_does_not_rise_is_refused(value: str) -> None:
    for key in (f"{DECLARED}solver.tokens_in", "declared.busy"):
        with pytest.raises(ConfigError, match=key):
            configured(f"{key}={value}")


def test_a_pilot_that_cannot_serve_is_one_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run folder"):
        read_pilot(tmp_path, ["math"])
    with pytest.raises(DataError, match="no chain of coding"):
        read_pilot(runs[0], ["math", "coding"])
    shutil.copytree(runs[0], tmp_path / "cut")
    shutil.rmtree(tmp_path / "cut" / "archive" / "v001")
    shutil.rmtree(tmp_path / "cut" / "archive" / "v002")
    with pytest.raises(DataError, match="no finished round"):
        read_pilot(tmp_path / "cut", ["math"])


def test_the_command_prints_tables_hours_and_origin(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(configured(*SMALL, "rounds=5", f"pilot={runs[0]}")) == 0
    said = capsys.readouterr().out
    assert "by role" in said and "by phase" in said and "wall time: " in said
    assert "resampled from 4 chains x 2 rounds" in said
    wall = json.loads((runs[0] / "summary.json").read_text())["wall_seconds"]
    assert wall > 0 and "at the pilot's pace" in said


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.01234, "0.012"), (12, "12"), (123.4, "123"), (12345, "12.3k"), (2.5e6, "2.5M")]
)
def test_figures_are_shown_with_three_digits(value: float, text: str) -> None:
    assert short(value) == text

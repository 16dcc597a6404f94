"""scripts/report.py as a user meets it: all files, the same bytes again, one line for a mistake."""

import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, conf_dir, load, run_folder
from coevolve.config import RunConfig
from coevolve.errors import ConfigError
from coevolve.report.picture import write_picture
from coevolve.report.runs import SHARED
from coevolve.report.settings import ReportConfig
from coevolve.report.tables import build_tables
from coevolve.report.writing import report
from coevolve.transfer_config import TransferConfig

REPOSITORY = Path(__file__).resolve().parents[2]
COUNTS = {
    0: {"math": (4, 4, 4), "coding": (4, 4, 4), "science": (4, 4, 4)},
    1: {"math": (4, 3, 2), "coding": (4, 4, 1), "science": (3, 3, 3)},
    2: {"math": (2, 2, 2), "coding": (4, 2, 1), "science": (1, 0, 3)},
}
TABLES = {f"table{number}.{ending}" for number in (5, 6, 7, 8) for ending in ("md", "tex", "csv", "svg", "png")}
FIGURES = {f"figure{name}.{ending}" for name in ("2a", "4", "5", "6") for ending in ("svg", "png")}


@cache
def configured(experiment: str) -> RunConfig:
    return load(compose(f"experiment={experiment}"), RunConfig)


def settings(folder: Path, out: Path) -> ReportConfig:
    return ReportConfig(runs=str(folder), out=str(out), html=False, outputs="outputs", tracking=str(out / "none"))


def arms(write_run: Any, folder: Path) -> Path:
    for arm in ("task_only", "full"):
        write_run(folder / "x" / arm, COUNTS, ablation=arm, microusd={1: 1000, 2: 1500}, harness=True)
    return folder


def test_every_table_and_figure_is_written(write_run: Any, tmp_path: Path) -> None:
    begun = write_run(tmp_path / "runs" / "x" / "online", {})
    said = list(report(settings(arms(write_run, tmp_path / "runs"), tmp_path / "out")))
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(written) >= TABLES | FIGURES | {"runs.csv", "differences.csv", "diagnostics.md", "skills.md"}
    assert f"left out: {begun}, which has no archived round yet" in said
    assert any("no run for Table 7 yet; this makes it: python scripts/transfer.py" in line for line in said)
    assert str(tmp_path).encode() not in b"".join(written.values()), "no path of this machine"


def test_a_picture_is_the_same_bytes_again(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        write_picture(build_tables([])[2], tmp_path / place)
    for name in ("table7.svg", "table7.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_one_word_or_a_list_names_the_runs() -> None:
    assert load(compose("runs=x", config_name="report"), ReportConfig).runs == "x"
    assert load(compose("runs=[x,y]", "html=true", config_name="report"), ReportConfig).runs == ["x", "y"]


def test_a_place_that_cannot_be_written_is_one_line(write_run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written"):
        list(report(settings(arms(write_run, tmp_path / "runs"), tmp_path / "out")))


@pytest.mark.slow
def test_everything_is_the_same_bytes_again(write_run: Any, tmp_path: Path) -> None:
    folder = arms(write_run, tmp_path / "runs")
    for place in ("one", "two"):
        list(report(settings(folder, tmp_path / place)))
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / place).iterdir()} for place in ("one", "two"))
    assert one == two


def test_the_command_explains_a_mistake_in_one_line(tmp_path: Path) -> None:
    for words, told in ((["runs=nowhere"], "runs=nowhere: no such folder"), ([], "runs")):
        command = [sys.executable, str(REPOSITORY / "scripts" / "report.py"), *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 2
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", ["", "_small"])
def test_tables_5_6_and_8_are_one_set_of_runs(size: str) -> None:
    sweep = configured(f"table6{size}")
    for name in (f"table5{size}", f"table8{size}"):
        config = configured(name)
        assert run_folder(config) == run_folder(sweep)
        assert run_folder(config).parent.name == SHARED[name]
        assert config.tracking.experiment == sweep.tracking.experiment
        alike = {"experiment", "name", "tracking"}
        assert config.model_dump(exclude=alike) == sweep.model_dump(exclude=alike)


def test_the_experiments_have_the_papers_sizes_and_small_ones_fit_the_embedded_solver() -> None:
    for number, domains, rounds in ((5, 3, 14), (6, 3, 14), (7, 1, 10), (8, 3, 14)):
        large = configured(f"table{number}")
        small = configured(f"table{number}_small")
        assert (len(large.domain.include), large.seeds.per_domain, large.rounds) == (domains, 50, rounds)
        assert (large.budget.attempts, large.budget.gate_per_domain, large.budget.candidates) == (4, 50, 3)
        assert (len(small.domain.include), small.seeds.per_domain, small.rounds) == (domains, 10, 8)
        assert small.solver.name == "embedded"


def test_the_small_ablations_are_those_of_the_experiment_ablations() -> None:
    named = {"experiment", "tracking"}
    small, ablations = (configured(name) for name in ("table6_small", "ablations"))
    assert small.model_dump(exclude=named) == ablations.model_dump(exclude=named)


def test_the_sweeps_are_written_into_their_experiments() -> None:
    for name, swept in (("table6", "task_only,online,post_task,full"), ("table8", "task_only,full")):
        for size in ("", "_small"):
            assert f"ablation: {swept}\n" in (conf_dir() / "experiment" / f"{name}{size}.yaml").read_text()


@pytest.mark.parametrize("size", ["", "_small"])
def test_table_7_takes_frozen_harnesses_on_its_own_settings(size: str) -> None:
    words = (f"experiment=table7{size}", "harness=h0")
    transfer = load(compose(*words, config_name="transfer"), TransferConfig)
    alone = configured(f"table7{size}")
    for name in ("rounds", "domain", "seeds", "solver", "models", "budget", "constraints", "ablation"):
        assert getattr(transfer, name) == getattr(alone, name)


@pytest.mark.slow
def test_twenty_runs_of_the_papers_size_take_under_thirty_seconds_of_work(write_run: Any, tmp_path: Path) -> None:
    domain = {
        place: tuple(max(0, min(4, 4 - place // 4 + chain % 3 - 1)) for chain in range(50)) for place in range(15)
    }
    counts = {place: dict.fromkeys(("math", "coding", "science"), domain[place]) for place in range(15)}
    for seed in range(5):
        for arm in ("task_only", "online", "post_task", "full"):
            fees = dict.fromkeys(range(1, 15), 1000)
            write_run(tmp_path / "x" / f"{arm}{seed}", counts, ablation=arm, seed=seed, microusd=fees, harness=True)
    begun = time.process_time()
    list(report(settings(tmp_path / "x", tmp_path / "out")))
    assert time.process_time() - begun < 30

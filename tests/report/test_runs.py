"""Reading run folders: what is found, in which order, and what is said about a broken one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from coevolve.errors import ConfigError, DataError
from coevolve.report.operator_costs import operator_costs
from coevolve.report.runs import SHARED, below, find_runs, read_lines, read_run

COUNTS = {0: {"math": (4, 4), "science": (4,)}, 1: {"math": (2, 1), "science": (0,)}}


def found(*where: str, outputs: Path) -> list[str]:
    return [run.id for run in find_runs(where, outputs, str(outputs / "tracking"))]


def test_a_run_says_what_it_was(write_run: Any, tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "demo" / "one", COUNTS, ablation="online", seed=3))
    assert (run.id, run.ablation, run.seed, run.solver_name) == ("demo/one", "online", 3, "embedded")
    assert (run.last_round, run.attempts, run.complete, run.frozen) == (1, 4, True, None)
    assert run.chains == {"math": ("math-3-0", "math-3-1"), "science": ("science-3-0",)}
    assert run.rounds[1].scores.tasks[1].correct == 1
    assert run.at(7) is None


def test_a_folder_an_experiment_and_several_of_them_are_found(write_run: Any, tmp_path: Path) -> None:
    for name in ("x/b", "x/a", "y/c"):
        write_run(tmp_path / name, COUNTS)
    assert found("x", outputs=tmp_path) == ["x/a", "x/b"]
    assert found(str(tmp_path), outputs=tmp_path) == ["x/a", "x/b", "y/c"]
    assert found("y", str(tmp_path / "x" / "b"), "x", outputs=tmp_path) == ["x/a", "x/b", "y/c"], "each once"


def test_an_experiment_that_shares_another_ones_runs_is_found_there(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "table6_small" / "full", COUNTS)
    for name in ("table5_small", "table8_small"):
        assert SHARED[name] == "table6_small"
        assert found(name, outputs=tmp_path) == ["table6_small/full"]


def test_set_aside_runs_and_tracking_stores_are_passed_over(write_run: Any, tmp_path: Path) -> None:
    kept = write_run(tmp_path / "x" / "full", COUNTS)
    shutil.copytree(kept, tmp_path / "x" / "full.before-20260101-000000")
    write_run(tmp_path / "tracking" / "artifacts", COUNTS)
    (tmp_path / "tracking" / "mlflow.db").touch()
    assert list(below(tmp_path)) == [kept]


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_word_that_names_no_run_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=f"runs={name}: no") as caught:
        found(name, outputs=tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "tracking").exists(), "looking makes no store"


def test_two_runs_of_one_name_are_refused(write_run: Any, tmp_path: Path) -> None:
    for place in ("here", "there"):
        write_run(tmp_path / place / "x" / "full", COUNTS)
    with pytest.raises(ConfigError, match="two runs are called x/full"):
        found(str(tmp_path), outputs=tmp_path)


def test_broken_files_are_named(write_run: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "x" / "full", COUNTS, microusd={1: 10})
    record = folder / "archive" / "v001" / "version.json"
    whole = record.read_text()
    record.write_text("{")
    with pytest.raises(DataError, match=r"v001/version.json"):
        read_run(folder)
    record.write_text(json.dumps({**json.loads(whole), "evaluations": {}}))
    with pytest.raises(DataError, match=r"v001/version.json: evaluations.reporting"):
        read_run(folder)
    record.write_text(whole)
    with (folder / "ledger.jsonl").open("a") as ledger:
        ledger.write('{"generation"\n')
    with pytest.raises(DataError, match=r"ledger.jsonl line 13: not JSON"):
        operator_costs(read_run(folder))


def test_a_run_without_an_archived_round_is_refused(write_run: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "x" / "full", {})
    with pytest.raises(DataError, match="no archived round yet"):
        read_run(folder)


def test_beside_others_it_is_passed_over(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "x" / "full", COUNTS)
    write_run(tmp_path / "x" / "online", {})
    (tmp_path / "x" / "online" / "summary.json").unlink()
    assert found("x", outputs=tmp_path) == ["x/full"]


def test_a_summary_without_its_head_is_one_line(write_run: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "x" / "full", COUNTS)
    (folder / "summary.json").write_text('{"rounds": []}')
    with pytest.raises(
        DataError, match=r"summary.json: no experiment, ablation, seed, solver, complete; the run's own"
    ):
        read_run(folder)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"kind": "a"}\n{"kind": "b"}\n{"ki')
    assert [line["kind"] for line in read_lines(path)] == ["a", "b"]
    assert [line["kind"] for line in read_lines(path, '"b"')] == ["b"]
    assert not list(read_lines(tmp_path / "none"))


def test_operator_costs_are_those_of_each_chain(write_run: Any, tmp_path: Path) -> None:
    costs = operator_costs(read_run(write_run(tmp_path / "x" / "full", COUNTS, microusd={1: 4000})))
    assert costs.cohort(1, "math", False) == {"math": pytest.approx({"math-0-0": 0.003998, "math-0-1": 0.004002})}
    assert costs.cohort(1, "all", True)["science"] == {"science-0-0": 300}
    assert costs.nominal


def test_runs_are_compared_only_when_they_measured_the_same_way(write_run: Any, tmp_path: Path) -> None:
    one = read_run(write_run(tmp_path / "x" / "a", COUNTS, ablation="full", seed=0))
    other_arm = read_run(write_run(tmp_path / "x" / "b", COUNTS, ablation="online", seed=1))
    other_size = read_run(write_run(tmp_path / "x" / "c", {0: {"math": (4,)}}))
    other_solver = read_run(write_run(tmp_path / "x" / "d", COUNTS, solver="openai"))
    assert one.measuring_hash == other_arm.measuring_hash
    assert len({one.measuring_hash, other_size.measuring_hash, other_solver.measuring_hash}) == 3


def test_an_mlflow_experiment_names_its_runs_by_their_tag(write_run: Any, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    place = tmp_path / "store"
    place.mkdir()
    address = f"sqlite:///{place / 'mlflow.db'}"
    folder = write_run(tmp_path / "elsewhere" / "full", COUNTS, commit="")
    client = MlflowClient(address)
    experiment = client.create_experiment("coevolve-x", artifact_location=place.as_uri())
    run = client.create_run(experiment, tags={"folder": str(folder), "git_sha": "f" * 40})
    (folder / "tracking.json").write_text(json.dumps({"uri": address, "run": run.info.run_id}))
    for where in (str(place), address):
        (read,) = find_runs(["coevolve-x"], tmp_path / "outputs", where)
        assert (read.id, read.commit) == ("elsewhere/full", "f" * 40)
    shutil.rmtree(folder)
    with pytest.raises(ConfigError, match="which is gone"):
        find_runs(["coevolve-x"], tmp_path / "outputs", address)

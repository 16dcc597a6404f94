"""The MLflow mirror: what it writes, that it can be repeated, and that a bad store never stops or slows a run."""

import fcntl
import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from coevolve.config import TrackingConfig
from coevolve.errors import ConfigError
from coevolve.tracking import Store, Tracker
from coevolve.tracking.later import track
from coevolve.tracking.reading import flatten, harness_diff, registered_name, round_metrics, run_tags
from coevolve.tracking.store import view

ROW = {
    "round": 1,
    "accuracy": {"all": 0.5, "seed_mean": 0.5, "math": 0.5, "coding": 0.25, "science": None},
    "interval": [0.25, 0.75],
    "n_tasks": 6,
    "n_attempts": 24,
    "validity": 1.0,
    "fallback_rate": 0.0,
    "skills": 4,
    "status": "accepted",
    "harness_id": "abc",
    "c_gen_usd": 0.01,
    "c_erv_usd": 0.005,
    "total_usd": 0.02,
    "calls": 40,
    "truncated": 0.1,
}


def write_version(folder: Path, number: int) -> None:
    version = folder / "archive" / f"v{number:03d}"
    (version / "harness" / "prompts").mkdir(parents=True)
    (version / "harness" / "prompts" / "extend.md").write_text(f"prompt of version {number}\n")
    (version / "tasks.jsonl").write_text('{"id": "m1"}\n')
    record = {"version": number, "round": number, "parents": [f"h{number - 1}"], "harness_id": f"h{number}"}
    record["status"] = "accepted" if number == 1 else "online-only"
    (version / "version.json").write_text(json.dumps(record))


def write_run(folder: Path, rounds: int, complete: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"experiment": "demo", "seed": 3, "rounds": 2, "ablation": {"name": "full", "online": True}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "events.jsonl").write_text("{}\n")
    for number in range(rounds):
        if not (folder / "archive" / f"v{number:03d}").exists():
            write_version(folder, number)
    rows = [{**ROW, "round": number} for number in range(rounds)]
    (folder / "summary.json").write_text(json.dumps({"format": 1, "complete": complete, "rounds": rows}))


def tracking(place: Path | str, enabled: bool = True) -> TrackingConfig:
    return TrackingConfig(enabled=enabled, uri=str(place), experiment="demo", every_seconds=0.2)


def points(database: Path) -> list[tuple[str, int, float]]:
    with sqlite3.connect(database) as connection:
        return connection.execute("select key, step, value from metrics order by key, step").fetchall()


def wait_for_rounds(tracker: Tracker, rounds: int) -> None:
    deadline = time.monotonic() + 90
    while tracker.state.get("rounds") != rounds:
        assert time.monotonic() < deadline, tracker.error
        time.sleep(0.1)


def test_a_summary_row_becomes_named_metrics() -> None:
    metrics = round_metrics(ROW)
    assert metrics["accuracy/all"] == 0.5
    assert metrics["accuracy/low"] == 0.25
    assert metrics["quality/validity"] == 1.0
    assert metrics["quality/truncated"] == 0.1
    assert metrics["harness/accepted"] == 1.0
    assert metrics["cost/total_usd"] == 0.02
    assert metrics["calls/all"] == 40
    assert "accuracy/science" not in metrics, "what is null is left out"
    assert not {"round", "status", "harness_id"} & {key.rpartition("/")[2] for key in metrics}


def test_a_configuration_flattens_to_dotted_text() -> None:
    tree = {"a": {"b": 1, "c": None}, "d": [1, 2], "e": [{"f": True}], "g": {}}
    assert dict(flatten(tree)) == {"a.b": "1", "a.c": "null", "d": "[1, 2]", "e.0.f": "True", "g": "{}"}


def test_runs_are_found_by_arm_seed_sweep_and_folder() -> None:
    tags = run_tags(Path("/runs/x"), {"ablation": {"name": "full"}, "seed": 3, "experiment": "demo"}, "s1")
    assert tags["ablation"] == "full"
    assert (tags["seed"], tags["sweep"], tags["folder"], tags["experiment"]) == ("3", "s1", "/runs/x", "demo")


def test_a_diff_names_the_file_and_both_texts(tmp_path: Path) -> None:
    for name, text in (("old", "one\n"), ("new", "two\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "workflow.yaml").write_text(text)
    text = harness_diff(tmp_path / "old", tmp_path / "new")
    assert "--- a/workflow.yaml" in text
    assert "-one" in text
    assert "+two" in text
    assert harness_diff(tmp_path / "new", tmp_path / "new") == "no change\n"


def test_links_open_the_chart_page_and_start_one_worker(tmp_path: Path) -> None:
    command, page = Store.of(str(tmp_path)).links("7")
    assert f"sqlite:///{tmp_path}/mlflow.db" in command
    assert "--workers 1" in command
    assert page.endswith("#/experiments/7/runs?compareRunsMode=CHART&workflowType=machine_learning")
    assert len(Store.of("http://host:1/").links("7")) == 1
    assert Store.of("http://host:1/").links("7", "by-ablation")[0].endswith("&viewStateShareKey=by-ablation")


def test_the_view_that_the_link_opens_groups_a_sweeps_runs_by_ablation() -> None:
    key, content = view("ablations-1a2b")
    assert key == "by-ablation-ablations-1a2b"
    assert json.loads(content) == {
        "groupBy": {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": "ablation"}]},
        "searchFilter": "tags.sweep = 'ablations-1a2b'",
    }
    assert json.loads(view("")[1])["searchFilter"] == ""


def test_all_versions_of_a_run_share_a_registered_name() -> None:
    assert registered_name("ablations", Path("/o/full-all-seed0")) == "ablations.full-all-seed0"
    assert not set("/:") & set(registered_name("a/b", Path("/o/x:y")))


def test_a_run_is_mirrored_round_by_round_and_again_without_doubling(tmp_path: Path) -> None:
    folder, place = tmp_path / "run", tmp_path / "tracking"
    write_run(folder, rounds=1)
    place.mkdir()
    (place / "mlflow.db.new").write_text("what a killed process left of a new store")
    tracker = Tracker(tracking(place), folder)
    tracker.start()
    wait_for_rounds(tracker, 1)
    write_run(folder, rounds=2, complete=True)
    other = sqlite3.connect(place / "mlflow.db", isolation_level=None, check_same_thread=False)
    other.execute("begin exclusive")
    threading.Timer(1.0, other.rollback).start()
    tracker.notify()
    assert tracker.finish("FINISHED", patience_seconds=60) is None, "a store that is locked for a while is waited for"
    other.close()
    assert tracker.links()[0].endswith("mlflow.db")
    first = points(place / "mlflow.db")
    assert ("accuracy/all", 0, 0.5) in first
    assert ("accuracy/all", 1, 0.5) in first
    stored = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    for wanted in (
        "harness/v001/prompts/extend.md",
        "diffs/v001.diff.txt",
        "versions/v000/tasks.jsonl",
        "events.jsonl",
    ):
        assert any(path.endswith(wanted) for path in stored), wanted
    diff = next(place.rglob("v001.diff.txt")).read_text()
    assert "-prompt of version 0" in diff
    assert "+prompt of version 1" in diff
    state = json.loads((folder / "tracking.json").read_text())
    (folder / "tracking.json").write_text(json.dumps({**state, "rounds": 0, "ended": False}))
    again = subprocess.run(
        [sys.executable, "scripts/track.py", f"run={folder}", f"uri={place}"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert points(place / "mlflow.db") == first
    with sqlite3.connect(place / "mlflow.db") as connection:
        made = connection.execute("select name, version, run_id from model_versions order by version").fetchall()
        aliases = connection.execute("select alias, version from registered_model_aliases").fetchall()
    assert [(name, version) for name, version, _ in made] == [("demo.run", 1), ("demo.run", 2)]
    assert aliases == [("accepted", 2)]
    fetch = "import sys, mlflow; print(mlflow.artifacts.download_artifacts(sys.argv[1]))"
    environment = {**os.environ, "MLFLOW_TRACKING_URI": f"sqlite:///{place}/mlflow.db"}
    for alias in ("accepted", "latest"):
        got = subprocess.run(
            [sys.executable, "-c", fetch, f"models:/demo.run@{alias}"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert got.returncode == 0, got.stderr
        assert (Path(got.stdout.strip()) / "prompts" / "extend.md").read_text() == "prompt of version 1\n"


def test_a_store_locked_by_another_process_delays_nothing_and_is_written_later(tmp_path: Path) -> None:
    folder, place = tmp_path / "run", tmp_path / "tracking"
    place.mkdir()
    write_run(folder, rounds=1)
    with (place / "mlflow.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tracker = Tracker(tracking(place), folder)
        begun = time.monotonic()
        tracker.start()
        tracker.notify()
        assert time.monotonic() - begun < 0.5
        left = tracker.finish("FINISHED", patience_seconds=1)
        assert time.monotonic() - begun < 5
    assert left is not None
    assert f"scripts/track.py run={folder}" in left


@pytest.mark.parametrize("place", ["http://127.0.0.1:9", "/proc/nowhere"], ids=["no server there", "no such folder"])
def test_a_store_that_is_gone_is_told_and_stops_nothing(tmp_path: Path, place: str) -> None:
    write_run(tmp_path, rounds=1)
    tracker = Tracker(tracking(place), tmp_path)
    tracker.start()
    left = tracker.finish("FINISHED", patience_seconds=3)
    assert left is not None
    assert "later: python scripts/track.py" in left


def test_a_wrong_place_for_the_store_is_one_line_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("experiment: demo\n")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"File exists.*; give uri=<folder or server that answers>"):
        track(tmp_path, str(tmp_path / "file"))


def test_tracking_off_starts_no_thread_and_leaves_no_file(tmp_path: Path) -> None:
    tracker = Tracker(tracking(tmp_path / "t", enabled=False), tmp_path)
    tracker.start()
    tracker.notify()
    assert tracker.finish("FINISHED") is None
    assert tracker.links() == ()
    assert not list(tmp_path.iterdir())


def outcome(outputs: Path, *words: str) -> tuple[str, list[dict[str, object]], float]:
    """What a tiny run made: its tasks, its summary rows, and the seconds it took by its own account."""
    tiny = ("experiment=machinery", "domain=math", "rounds=1", "seeds.per_domain=2", "ablation=task_only")
    command = [sys.executable, "scripts/evolve.py", *tiny, f"outputs={outputs}", "name=run", *words]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads((outputs / "run" / "summary.json").read_text())
    return (outputs / "run/archive/v001/tasks.jsonl").read_text(), summary["rounds"], summary["wall_seconds"]


@pytest.mark.slow
def test_a_store_that_is_locked_gone_or_slow_changes_nothing_in_a_run(tmp_path: Path) -> None:
    tasks, rows, seconds = outcome(tmp_path / "off", "tracking=off")
    (tmp_path / "store").mkdir()
    with socket.socket() as deaf, (tmp_path / "store" / "mlflow.db.lock").open("w") as lock:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        fcntl.flock(lock, fcntl.LOCK_EX)
        places = {
            "slow": f"http://127.0.0.1:{deaf.getsockname()[1]}",
            "gone": "http://127.0.0.1:9",
            "locked": str(tmp_path / "store"),
        }
        for name, place in places.items():
            found = outcome(tmp_path / name, f"tracking.uri={place}")
            assert (found[0], found[1]) == (tasks, rows), name
            assert found[2] < 3 * seconds + 5, name

"""Killed at any moment and started again with the same command, a run ends as if nothing had happened (I13)."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def command(folder: Path, *overrides: str) -> list[str]:
    return [
        sys.executable,
        "scripts/evolve.py",
        "experiment=machinery",
        "rounds=2",
        "seeds.per_domain=3",
        "tracking=off",
        f"outputs={folder}",
        "name=run",
        *overrides,
    ]


def start(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(folder, *overrides),
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(folder: Path, *overrides: str) -> tuple[int, str, str]:
    process = start(folder, *overrides)
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def check_whole(run: Path) -> None:
    """Each version once, each call once in the journal and once in the ledger, sums as archived."""
    versions = sorted(path.name for path in (run / "archive").iterdir())
    assert versions == ["v000", "v001", "v002"]
    summary = json.loads((run / "summary.json").read_text())
    assert summary["complete"]
    assert [row["round"] for row in summary["rounds"]] == [0, 1, 2]
    journaled = Counter(
        record["call"]
        for path in sorted((run / "journal").glob("*.jsonl"))
        for line in path.read_text().splitlines()
        if "call" in (record := json.loads(line))
    )
    ledger = Counter(json.loads(line)["call"] for line in (run / "ledger.jsonl").read_text().splitlines())
    assert max(journaled.values()) == 1, "a finished call was paid for twice"
    outcomes = Counter(json.loads(line)["outcome"] for line in (run / "ledger.jsonl").read_text().splitlines())
    assert outcomes["unused"] == 0, "the resumed run took another course than the one that was paid for"
    assert ledger == journaled
    for version in versions:
        record = json.loads((run / "archive" / version / "version.json").read_text())
        chains = [json.loads(line)["chain"] for line in (run / "archive" / version / "tasks.jsonl").open()]
        assert len(chains) == len(set(chains)) == 9
        assert record["version"] == int(version[1:])


def test_a_run_killed_at_random_moments_ends_whole(tmp_path: Path) -> None:
    rng = random.Random(5)
    kills = 0
    for _ in range(4):
        process = start(tmp_path)
        time.sleep(1.0 + rng.random() * 3.0)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
    code, _, err = finish(tmp_path)
    assert code == 0, err
    assert kills
    check_whole(tmp_path / "run")


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    rng = random.Random(6)
    for _ in range(20):
        process = start(tmp_path)
        time.sleep(0.5 + rng.random() * 2.5)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    code, _, err = finish(tmp_path)
    assert code == 0, err
    check_whole(tmp_path / "run")


def test_ctrl_c_once_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    process = start(tmp_path)
    while not (tmp_path / "run" / "archive" / "v000").exists():
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()[1]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "same command" in err
    code, out, err = finish(tmp_path)
    assert code == 0, err
    check_whole(tmp_path / "run")
    code, out, err = finish(tmp_path)
    assert code == 0
    assert "complete" in err
    assert "accuracy" in out


def test_a_run_that_could_not_begin_takes_the_corrected_command(tmp_path: Path) -> None:
    code, _, err = finish(tmp_path, "seeds=file", "seeds.path=none.jsonl")
    assert code == 2
    assert "none.jsonl" in err
    assert finish(tmp_path)[0] == 0
    check_whole(tmp_path / "run")
    code, _, err = finish(tmp_path, "seeds=file", "seeds.path=none.jsonl")
    assert code == 2
    assert "was started with another configuration: seeds.path" in err


def test_a_changed_configuration_is_refused_naming_the_keys(tmp_path: Path) -> None:
    assert finish(tmp_path, "rounds=1")[0] == 0
    code, _, err = finish(tmp_path, "rounds=1", "gate.cost_cap='2.0'")
    assert code == 2
    assert "gate.cost_cap" in err
    assert err.strip().count("\n") == 0
    assert finish(tmp_path, "rounds=2")[0] == 0, "more rounds go on from where it ended"
    code, _, err = finish(tmp_path, "rounds=1", "gate.cost_cap='2.0'", "fresh=true")
    assert code == 0, err
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("run.before-")]) == 1

"""What a run records of its gate's noise: the paired figures of every verdict, and the baseline probed twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from coevolve.agents.base import draw_seed
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.doctor import report, run_checks
from coevolve.errors import ConfigError
from coevolve.events import REPEAT, Scope
from coevolve.ledger import CallKey
from coevolve.run import main

COMMON = ("experiment=machinery", "domain=math", "rounds=2", "seeds.per_domain=6", "tracking=off", "live=false")
IN_TURN = ("budget.chain_concurrency=1", "name=run")
"""One chain after another: two runs then take the same course."""


def configured(folder: Path, *overrides: str) -> RunConfig:
    return load(compose(*COMMON, *IN_TURN, f"outputs={folder}", *overrides), RunConfig)


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "run/archive").glob("v*/version.json"))]


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / name).read_text().splitlines()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, overrides in {"plain": [], "twice": ["gate.noise_floor=true"]}.items():
        found[name] = tmp_path_factory.mktemp(name)
        assert main(configured(found[name], *overrides)) == 0
    return found


def test_every_verdict_carries_its_paired_figures_in_version_and_event(runs: dict[str, Path]) -> None:
    kept = [
        candidate["verdict"]
        for record in records(runs["plain"])[1:]
        for candidate in record["evaluations"]["candidates"]
    ]
    told = [event["data"] for event in lines(runs["plain"], "events.jsonl") if event["kind"] == "verdict"]
    assert kept
    assert kept == told
    for verdict in kept:
        assert verdict["paired"]["n_chains"] == 6
        assert verdict["paired"]["se"] >= 0
        assert verdict["accepted"] is not bool(verdict["reasons"])


def test_the_second_probe_of_the_baseline_changes_nothing_but_the_bill(runs: dict[str, Path]) -> None:
    plain, twice = records(runs["plain"]), records(runs["twice"])
    for one, other in zip(plain, twice, strict=True):
        assert one["harness_id"] == other["harness_id"]
        assert one["status"] == other["status"]
        assert one["evaluations"]["reporting"] == other["evaluations"]["reporting"]
        assert one["evaluations"].get("candidates") == other["evaluations"].get("candidates")
    number = plain[-1]["version"]
    tasks = [(folder / f"run/archive/v{number:03d}/tasks.jsonl").read_text() for folder in runs.values()]
    assert tasks[0] == tasks[1]
    rows = [[row for row in lines(folder, "ledger.jsonl") if row["probe"] != REPEAT] for folder in runs.values()]
    assert [row["call"] for row in rows[0]] == [row["call"] for row in rows[1]]
    assert twice[-1]["costs"]["evolution_microusd"] > plain[-1]["costs"]["evolution_microusd"]
    assert twice[-1]["costs"]["c_gen_microusd"] == plain[-1]["costs"]["c_gen_microusd"]
    assert all(report(name, check) for name, check in run_checks(runs["twice"] / "run"))


def test_the_second_probe_pays_its_own_calls_with_draws_of_its_own(runs: dict[str, Path]) -> None:
    baseline, again = (
        [row for row in lines(runs["twice"], "ledger.jsonl") if row["probe"] == probe] for probe in ("baseline", REPEAT)
    )
    assert {row["phase"] for row in again} == {"baseline"}
    assert sum(row["role"] == "solver" for row in again) == sum(row["role"] == "solver" for row in baseline)
    first, repeat = (
        CallKey(Scope(round=1, phase="baseline", probe=probe), "c", 0, "solver", 0) for probe in ("baseline", REPEAT)
    )
    candidate = first._replace(scope=Scope(round=1, phase="candidate", probe="candidate-1"))
    assert draw_seed(0, first) == draw_seed(0, candidate) != draw_seed(0, repeat)
    for record in records(runs["twice"])[1:]:
        found = record["evaluations"]["baseline_repeat"]
        assert found["harness_id"] == record["evaluations"]["baseline"]["harness_id"]
        assert found["verdict"]["paired"]["n_chains"] == 6


def test_under_the_paired_gate_only_a_gain_beyond_the_noise_is_adopted(tmp_path: Path) -> None:
    assert main(configured(tmp_path, "gate=paired", "gate.z=9", "rounds=1")) == 0
    for record in records(tmp_path)[1:]:
        assert record["status"] == "online-only", "nothing is nine standard errors harder here"
        for candidate in record["evaluations"]["candidates"]:
            gained = candidate["verdict"]["paired"]["gain"] > 0
            assert any("not beyond noise" in reason for reason in candidate["verdict"]["reasons"]) is gained


@pytest.mark.parametrize("words", [("gate.z=2",), ("gate=paired", "gate.z=null")])
def test_z_belongs_to_the_paired_gate_and_to_no_other(tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"^gate\.z=\S+ under gate=pa"):
        configured(tmp_path, *words)

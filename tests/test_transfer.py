"""Frozen harnesses on held-out seeds: what stays, what evolves, and which seeds are met."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.curation.curated import FORMAT, HELD_OUT, file_hash
from coevolve.curation.held_out import readings
from coevolve.doctor import report, run_checks
from coevolve.errors import ConfigError, DataError
from coevolve.report.runs import read_run
from coevolve.run import main
from coevolve.transfer import arms, evaluate
from coevolve.transfer_config import FrozenRun, TransferConfig

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "transfer.py"
COMMON = ("domain=math", "rounds=2", "seeds.per_domain=3", "seeds.screen.enabled=false", "tracking=off", "live=false")
NO_WEIGHTS = ("models=procedural", "solver=scripted", *COMMON)


def configured(outputs: Path, *overrides: str) -> TransferConfig:
    return load(compose(*NO_WEIGHTS, f"outputs={outputs}", *overrides, config_name="transfer"), TransferConfig)


def versions(run: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((run / "archive").glob("v*/version.json"))]


def tasks(run: Path, number: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"archive/v{number:03d}/tasks.jsonl").read_text().splitlines()]


def held_out(run: Path) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    return [event["data"] for event in events if event["kind"] == "held_out"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outputs = tmp_path_factory.mktemp("source")
    assert main(load(compose(*NO_WEIGHTS, f"outputs={outputs}", "name=grown/full"), RunConfig)) == 0
    return outputs / "grown" / "full"


@pytest.fixture(scope="module")
def moved(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    outputs = tmp_path_factory.mktemp("moved")
    found = arms(configured(outputs, f"harness=[{source}/archive/v002,h0]"))
    assert [evaluate(arm) for arm in found] == [0, 0]
    return {arm.frozen.source_run or "h0": outputs / str(arm.name) for arm in found}


def test_the_harness_stays_as_it_was_and_only_tasks_evolve(source: Path, moved: dict[str, Path]) -> None:
    frozen = versions(source)[2]["harness_id"]
    assert frozen != versions(source)[0]["harness_id"], "the source run learnt something"
    for run, harness in ((moved["grown/full"], frozen), (moved["h0"], versions(source)[0]["harness_id"])):
        assert {record["harness_id"] for record in versions(run)} == {harness}
        assert {task["harness_id"] for task in tasks(run, 2)} == {harness}
        assert any(task["round"] == 2 for task in tasks(run, 2))
        assert {record["costs"]["evolution_microusd"] > 0 for record in versions(run)[1:]} == {True}


def test_both_start_from_the_same_seeds_which_the_source_run_never_met(source: Path, moved: dict[str, Path]) -> None:
    evolved, grown, h0 = (tasks(run, 0) for run in (source, moved["grown/full"], moved["h0"]))
    assert [task["id"] for task in grown] == [task["id"] for task in h0]
    assert not {task["chain"] for task in evolved} & {task["chain"] for task in grown}
    assert len(grown) == 3


def test_the_summary_says_which_harness_and_report_reads_it(source: Path, moved: dict[str, Path]) -> None:
    run = moved["grown/full"]
    assert json.loads((run / "summary.json").read_text())["frozen"] == {
        "harness": str(source / "archive" / "v002"),
        "source_run": "grown/full",
        "version": 2,
        "round": 2,
    }
    found = read_run(run).frozen
    assert found is not None
    assert (found.version, found.source_run) == (2, "grown/full")
    first = read_run(moved["h0"]).frozen
    assert first is not None
    assert (first.harness, first.version) == ("h0", 0)
    assert run.parent.name == "transfer"


def test_reading_held_out_seeds_is_counted_and_the_folder_passes_inspection(moved: dict[str, Path]) -> None:
    for run in moved.values():
        [reading] = held_out(run)
        assert reading["read"] == reading["evolved"] + reading["left"]
        assert reading["evolved"] >= 3
        assert all(report(name, check) for name, check in run_checks(run))


def test_a_second_start_pays_for_nothing_and_another_harness_is_refused(
    source: Path, moved: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = moved["h0"].parents[1]
    rows = (moved["grown/full"] / "ledger.jsonl").read_bytes()
    [arm, _] = arms(configured(outputs, f"harness=[{source}/archive/v002,h0]"))
    assert evaluate(arm) == 0
    assert "complete" in capsys.readouterr().err
    assert (moved["grown/full"] / "ledger.jsonl").read_bytes() == rows
    other = arms(configured(outputs, f"harness={source}/archive/v001"))[0].model_copy(update={"name": arm.name})
    with pytest.raises(ConfigError, match=r"frozen\.harness_id"):
        evaluate(other)


def test_another_solver_and_another_domain_are_groups_like_any(source: Path, tmp_path: Path) -> None:
    words = ("domain=coding", "solver=embedded_smol", "gate.cost_unit=tokens", f"harness={source}/archive/v002")
    [arm] = arms(configured(tmp_path, *words))
    assert arm.name == "transfer/full-v002-on-coding-embedded_smol-seed0"
    assert arm.ablation.name == "task_only"
    [named] = arms(configured(tmp_path, "experiment=table7_small", "harness=h0"))
    assert named.name == "table7_small/h0-on-math-scripted-seed0"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("harness=h0", "ablation=full"), "a frozen harness learns nothing"),
        (("harness=h0", "from_version=x"), "starts from seeds"),
        (("harness=[h0,h0]",), "holds h0 twice"),
        (("harness=[]",), "harness= is empty"),
        (("harness={source}",), "give one of its versions, like {source}/archive/v002"),
        (("harness={source}/archive/v009",), "no archived version"),
        (("harness=h0", "apart_from=/nowhere"), "/nowhere: neither a run folder"),
        (("harness=h0", "held_out=/nowhere"), "no curated folder"),
        (("harness=h0", "tasks=/nowhere"), "/nowhere: no archived version"),
        (("harness=h0", "tasks={source}/archive/v001", "held_out=x"), "leave them out"),
    ],
)
def test_a_mistake_is_one_line_before_any_folder_is_made(
    source: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    filled = [word.format(source=source) for word in words]
    with pytest.raises((ConfigError, DataError)) as caught:
        arms(configured(tmp_path / "o", *filled))
    assert said.format(source=source) in str(caught.value)
    assert not (tmp_path / "o").exists()


def test_a_harness_too_large_for_the_constraints_is_the_users_to_mend(source: Path, tmp_path: Path) -> None:
    [arm] = arms(configured(tmp_path, f"harness={source}/archive/v002", "constraints.skills=3"))
    with pytest.raises(ConfigError, match="more than 3; give the constraints="):
        evaluate(arm)


def test_sealed_seeds_of_a_curated_folder_are_read_and_every_reading_is_on_record(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curated = tmp_path / "curated"
    curated.mkdir()
    sealed = curated / HELD_OUT
    lines = (source / "archive/v000/tasks.jsonl").read_text().splitlines()
    apart = [
        json.loads(lines[0])
        | {"id": name, "chain": name, "question": question, "answer": {"type": "integer", "value": "4"}}
        for name, question in (("one", "What is 2 + 2?"), ("two", "How many sides has a square?"))
    ]
    sealed.write_text("".join(f"{json.dumps(row)}\n" for row in (json.loads(lines[0]), *apart)))
    manifest = {"format": FORMAT, "files": {HELD_OUT: file_hash(sealed)}, "folder_hash": "f"}
    manifest |= {"registry": {"hash": "r"}, "shares": {"seed": {}}}
    (curated / "manifest.json").write_text(json.dumps(manifest))
    ways = ((f"held_out={curated}",), ("seeds=curated", f"seeds.path={curated}"))
    for number, way in enumerate(ways, 1):
        words = (f"harness={source}/archive/v001", "rounds=0", f"name=way{number}", *way)
        [arm] = arms(configured(tmp_path / "o", *words))
        assert evaluate(arm) == 0
        run = tmp_path / "o" / str(arm.name)
        assert sorted(task["id"] for task in tasks(run, 0)) == ["one", "two"], "the third was evolved"
        assert "2 held-out math seeds are left apart from what was evolved, 3 were wanted" in capsys.readouterr().err
        assert held_out(run) == [{"read": 3, "evolved": 1, "left": 2, "reading": number}]
    assert [reading.reader for reading in readings(curated)] == ["transfer", "transfer"]


def test_another_solver_is_measured_on_archived_tasks(source: Path, tmp_path: Path) -> None:
    words = ("harness=h0", f"tasks={source}/archive/v002", "rounds=0", "seeds.per_domain=1", "solver.temperature=0.1")
    [arm] = arms(configured(tmp_path, *words))
    assert arm.name == "transfer/h0-from-full-v002-on-math-scripted-seed0"
    assert evaluate(arm) == 0
    run = tmp_path / str(arm.name)
    assert [task["question"] for task in tasks(run, 0)] == [task["question"] for task in tasks(source, 2)]
    [version] = versions(run)
    assert version["evaluations"]["reporting"]["n_tasks"] == 3, "all of them, whatever seeds.per_domain says"
    assert version["fixed_hash"] != versions(source)[2]["fixed_hash"]


def test_seeds_of_further_runs_are_left_out_on_request(source: Path, tmp_path: Path) -> None:
    [arm] = arms(configured(tmp_path, "harness=h0", f"apart_from={source}"))
    assert isinstance(arm, FrozenRun)
    assert arm.frozen.apart_from == [str(source)]


def test_the_command_takes_harnesses_by_comma(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), *NO_WEIGHTS, f"harness=h0,{source}/archive/v007", f"outputs={tmp_path}/o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{source}/archive/v007: no archived version" in done.stderr

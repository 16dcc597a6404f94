"""Invariants seen from the outside: whole runs of two arms, without weights, and what they leave on disk."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.doctor import report, run_checks
from coevolve.errors import DataError
from coevolve.run import main


def configured(folder: Path, *overrides: str) -> RunConfig:
    common = ("experiment=machinery", "rounds=2", "seeds.per_domain=2", "tracking=off", "live=false")
    return load(compose(*common, f"outputs={folder}", "name=run", *overrides), RunConfig)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / "ledger.jsonl").read_text().splitlines()]


def versions(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "run" / "archive").glob("v*/version.json"))
    return [json.loads(path.read_text()) for path in paths]


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for arm in ("task_only", "full"):
        found[arm] = tmp_path_factory.mktemp(arm)
        assert main(configured(found[arm], f"ablation={arm}")) == 0
    return found


@pytest.mark.parametrize("arm", ["task_only", "full"])
def test_the_own_attempt_is_made_in_every_arm_and_charged_to_verify(arms: dict[str, Path], arm: str) -> None:
    own = [row for row in rows(arms[arm]) if row["phase"] == "generation" and row["model"] == "scripted-solver"]
    assert own
    assert {row["role"] for row in own} == {"verify"}


def test_only_arms_with_online_updates_turn_misses_into_skills(arms: dict[str, Path]) -> None:
    roles = {arm: Counter((row["phase"], row["role"]) for row in rows(folder)) for arm, folder in arms.items()}
    assert roles["full"]["generation", "meta_skill"] > 0
    assert roles["task_only"]["generation", "meta_skill"] == 0
    assert {phase for phase, _ in roles["task_only"]} == {"generation", "reporting"}
    assert {record["n_skills"] for record in versions(arms["task_only"])} == {versions(arms["full"])[0]["n_skills"]}


@pytest.mark.parametrize("arm", ["task_only", "full"])
def test_accuracy_is_reported_in_every_round_from_attempts_made_for_that_alone(arms: dict[str, Path], arm: str) -> None:
    reporting = [row for row in rows(arms[arm]) if row["phase"] == "reporting"]
    assert {row["role"] for row in reporting} == {"solver"}
    assert Counter((row["round"], row["probe"]) for row in reporting) == {
        (0, ""): 24,
        (1, ""): 24,
        (2, ""): 24,
        (3, "control"): 24,
    }


def test_costs_are_sums_over_the_ledger_and_divide_by_the_original_seeds(arms: dict[str, Path]) -> None:
    folder = arms["full"]
    summary = json.loads((folder / "run" / "summary.json").read_text())
    spent = 0
    for row in summary["rounds"]:
        mine = [found for found in rows(folder) if found["round"] == row["round"]]
        spent += sum(found["microusd"] for found in mine if found["phase"] != "reporting")
        assert row["total_usd"] == pytest.approx(spent / 1e6 / 6)
        if row["round"] == 0:
            assert row["c_gen_usd"] is None, "no cost is assigned to the seeds"
            continue
        produced = [found for found in mine if found["phase"] == "generation"]
        assert row["c_gen_usd"] == pytest.approx(sum(found["microusd"] for found in produced) / 1e6 / 6)
        operators = [found for found in produced if found["role"] in ("extend", "revise", "verify")]
        assert row["c_erv_usd"] == pytest.approx(sum(found["microusd"] for found in operators) / 1e6 / 6)
        assert row["c_erv_usd"] < row["c_gen_usd"] < row["total_usd"]


def test_every_version_carries_the_hash_of_what_no_edit_may_touch(arms: dict[str, Path]) -> None:
    assert len({record["fixed_hash"] for folder in arms.values() for record in versions(folder)}) == 1


def test_probes_and_candidates_are_archived_whatever_was_decided(arms: dict[str, Path]) -> None:
    for record in versions(arms["full"])[1:]:
        evaluations = record["evaluations"]
        assert evaluations["baseline"]["complete"]
        beatable = evaluations["baseline"]["scores"]["accuracy"]["seed_mean"] > 0
        assert len(evaluations["candidates"]) == beatable
        if not beatable:
            continue
        probe = arms["full"] / "run" / "archive" / f"v{record['version']:03d}" / "candidates" / "1"
        assert (probe / "harness" / "workflow.yaml").is_file()
        assert (probe / "tasks.jsonl").is_file()
        assert bool(record["rejections"]) is (record["status"] == "online-only")


@pytest.mark.parametrize("arm", ["task_only", "full"])
def test_the_run_folder_passes_its_own_inspection(arms: dict[str, Path], arm: str) -> None:
    assert all(report(name, check) for name, check in run_checks(arms[arm] / "run"))


def test_a_run_refuses_to_go_on_under_another_verifier(arms: dict[str, Path], tmp_path: Path) -> None:
    assert main(configured(tmp_path, "rounds=1")) == 0
    path = tmp_path / "run" / "archive" / "v001" / "version.json"
    path.write_text(path.read_text().replace(versions(tmp_path)[1]["fixed_hash"], "0" * 16))
    with pytest.raises(DataError, match="another verifier"):
        main(configured(tmp_path, "rounds=2"))


def test_an_edited_harness_in_the_archive_is_noticed(tmp_path: Path) -> None:
    assert main(configured(tmp_path, "rounds=1", "ablation=task_only")) == 0
    skill = next((tmp_path / "run" / "archive" / "v001" / "harness" / "skills").iterdir())
    skill.write_text(skill.read_text().replace("intent: ", "intent: another "))
    with pytest.raises(DataError, match="its content is"):
        main(configured(tmp_path, "rounds=2", "ablation=task_only"))


def test_a_run_goes_on_from_any_archived_version(arms: dict[str, Path], tmp_path: Path) -> None:
    source = arms["full"] / "run" / "archive" / "v001"
    assert main(configured(tmp_path, f"from_version={source}")) == 0
    first, second = versions(tmp_path)
    assert (first["round"], first["status"], second["round"]) == (1, "initial", 2)
    assert first["harness_id"] == json.loads((source / "version.json").read_text())["harness_id"]
    before = [json.loads(line)["question"] for line in (source / "tasks.jsonl").open()]
    after = [json.loads(line)["question"] for line in (tmp_path / "run/archive/v000/tasks.jsonl").open()]
    assert before == after

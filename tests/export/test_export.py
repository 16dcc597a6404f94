"""An export holds audited rows with their lineage, in the trainers' own forms, and is whole or not there."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.export.conftest import BENCHMARK, configured

from coevolve.archive import load_tasks, write_tasks
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.errors import ConfigError, DataError
from coevolve.export.audit import duplicates, leaks
from coevolve.export.config import ExportConfig, RoundsConfig
from coevolve.export.job import export
from coevolve.export.rows import Row, rows_of, run_folders
from coevolve.export.schema import arrow_schema
from coevolve.export.selection import choose, is_validation, shuffled
from coevolve.skills import Skill
from coevolve.tasks import Answer, Certificate, Domain, Task

pq = pytest.importorskip("pyarrow.parquet")


def task(number: int, domain: Domain = "math", question: str = "", answer: str = "1") -> Task:
    return Task(
        id=f"{domain}{number}@1",
        chain=f"{domain}{number}",
        domain=domain,
        round=1,
        question=question or f"What is {number} more than nothing in case {domain}?",
        answer=Answer(type="integer", value=answer),
        solution=f"It is {answer}.",
        certificate=Certificate(kind="derivation"),
        source="own",
        license="CC0-1.0",
        p_hat="1/4",
        n_attempts=4,
    )


def row(number: int, domain: Domain = "math", **fields: str) -> Row:
    made = task(number, domain, **fields)
    return Row(made, "run", "full", made.chain)


def test_every_new_task_of_a_run_comes_once_and_names_its_line(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    out = tmp_path / "grpo"
    words = ("format=grpo", "format.pass_rate_above=-1", "format.pass_rate_below=2", "mix=even")
    export(configured(runs, benchmarks, out, *words), print)
    rows = [json.loads(line) for path in out.glob("jsonl/*.jsonl") for line in path.read_text().splitlines()]
    assert rows
    assert len({one["id"] for one in rows}) == len(rows)
    for one in rows:
        assert one["round"] >= 1
        assert one["parent"]
        assert one["skills"]
        assert one["harness_id"]
        assert one["run"] == "small/full"
        assert one["n_attempts"] == 4
        assert json.loads(one["ground_truth"])["domain"] == one["domain"]


def test_all_forms_hold_the_same_rows_under_one_schema(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft"
    export(configured(runs, benchmarks, out, "mix=even", "validation=0.4"), print)
    for split in ("train", "validation"):
        full = pq.read_table(out / "data" / f"{split}.parquet")
        assert full.schema.equals(arrow_schema())
        messages = pq.read_table(out / "verl" / f"sft_{split}.parquet")
        assert messages.column("id").to_pylist() == full.column("id").to_pylist()
        trl = [json.loads(line) for line in (out / "trl" / "messages" / f"{split}.jsonl").read_text().splitlines()]
        assert [one["messages"] for one in trl] == messages.column("messages").to_pylist()
        for one in trl:
            assert [message["role"] for message in one["messages"]] == ["user", "assistant"]
    families = [
        set(pq.read_table(out / "data" / f"{name}.parquet")["family"].to_pylist()) for name in ("train", "validation")
    ]
    assert not families[0] & families[1]


def test_the_card_opens_as_a_hugging_face_dataset(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    out = tmp_path / "sft"
    export(configured(runs, benchmarks, out), print)
    front = yaml.safe_load((out / "README.md").read_text().split("---")[1])
    assert front["license"] == "cc0-1.0"
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == pq.read_table(out / "data" / "train.parquet").num_rows


def test_the_same_export_twice_is_the_same_bytes(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(configured(runs, benchmarks, tmp_path / name), print)
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    ]
    assert files[0] == files[1]


def test_a_row_whose_gold_is_wrong_or_that_is_a_benchmark_item_stays_out_and_is_listed(
    runs: Path, benchmarks: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "outputs"
    shutil.copytree(runs, copy)
    path = copy / "small" / "full" / "archive" / "v002" / "tasks.jsonl"
    tasks = [one for one in load_tasks(path) if one.domain != "math"]
    wrong = task(1).model_copy(update={"round": 2, "solution": "It is 3.\nAnswer: 3"})
    planted = task(2, question=BENCHMARK["question"], answer="9").model_copy(update={"round": 2})
    good = task(3).model_copy(update={"round": 2})
    write_tasks(path, (*tasks, wrong, planted, good))
    out = tmp_path / "sft"
    export(configured(copy, benchmarks, out, "rounds.first=2", "validation=0"), print)
    dropped = {json.loads(line)["key"]: json.loads(line) for line in (out / "dropped.jsonl").read_text().splitlines()}
    assert dropped["small/full/math1@1"]["rule"] == "gold"
    assert dropped["small/full/math2@1"]["rule"] == "benchmark_overlap"
    kept = [json.loads(line)["id"] for line in (out / "jsonl" / "train.jsonl").read_text().splitlines()]
    assert kept == ["math3@1"]
    assert all(BENCHMARK["question"] not in path.read_text(errors="replace") for path in out.rglob("*.*"))


def test_an_export_without_benchmarks_is_refused(runs: Path, tmp_path: Path) -> None:
    config = load(compose(f"runs={runs}", f"out={tmp_path / 'x'}", config_name="export"), ExportConfig)
    with pytest.raises(ConfigError, match="benchmarks"):
        export(config, print)
    assert not list(tmp_path.iterdir())


def test_an_export_that_is_there_is_kept(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft"
    export(configured(runs, benchmarks, out), print)
    with pytest.raises(ConfigError, match="fresh=true"):
        export(configured(runs, benchmarks, out), print)
    export(configured(runs, benchmarks, out, "fresh=true"), print)
    assert len(list(tmp_path.glob("sft*"))) == 2


def test_too_large_a_size_says_which_would_do(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"size=\d+ is the most with this mix"):
        export(configured(runs, benchmarks, tmp_path / "sft", "size=500"), print)
    assert not list(tmp_path.iterdir())


def test_round_and_retained_tasks_belong_to_the_round_that_made_them(runs: Path) -> None:
    [run] = run_folders(str(runs))
    for number in (1, 2):
        only = RoundsConfig(first=number, last=number)
        assert {one.task.round for one, _ in rows_of(run, only, False)} == {number}


def test_runs_of_one_name_in_two_places_are_told_apart(runs: Path, tmp_path: Path) -> None:
    for place in ("a", "b", "c/a"):
        shutil.copytree(runs / "small" / "full", tmp_path / place / "full")
    found = run_folders([str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "a")])
    keys = [one.key for run in found for one, _ in rows_of(run, RoundsConfig(first=1, last=None), False)]
    assert keys
    assert len(set(keys)) == len(keys)
    with pytest.raises(DataError, match="two runs are called a/full"):
        run_folders(str(tmp_path))


def test_the_mix_is_met_to_the_row() -> None:
    rows = [row(number, domain) for number in range(40) for domain in ("math", "coding", "science")]
    chosen = choose(rows, {"math": 10, "coding": 2}, 12, None)
    assert [one.task.domain for one in chosen] == ["math"] * 10 + ["coding"] * 2
    assert len(choose(rows, {"math": 1, "coding": 1, "science": 1}, 10, None)) == 10
    assert len(choose(rows, {"math": 10, "coding": 2}, None, None)) == 48


def test_mix_all_leaves_no_row_out_and_keeps_the_shares_at_a_size(runs: Path, benchmarks: Path, tmp_path: Path) -> None:
    words = ("format=grpo", "format.pass_rate_above=-1", "format.pass_rate_below=2", "mix=all", "files=[jsonl]")
    export(configured(runs, benchmarks, tmp_path / "all", *words), print)
    audit = json.loads((tmp_path / "all" / "audit.json").read_text())
    written = [line for path in (tmp_path / "all").glob("jsonl/*.jsonl") for line in path.read_text().splitlines()]
    assert len(written) == audit["kept"] > 0
    rows = [row(number) for number in range(30)] + [row(number, "science") for number in range(30, 40)]
    assert len(choose(rows, None, None, None)) == 40
    assert [one.task.domain for one in choose(rows, None, 8, None)] == ["math"] * 6 + ["science"] * 2
    with pytest.raises(DataError, match="size=40 is the most"):
        choose(rows, None, 60, None)
    with pytest.raises(DataError, match="no row can be exported"):
        choose([], None, 5, None)
    with pytest.raises(ConfigError, match="null to all three"):
        configured(runs, benchmarks, tmp_path / "some", "mix=all", "mix.math=3")


def test_a_token_budget_is_never_passed() -> None:
    rows = [row(number)._replace(total_tokens=30) for number in range(40)]
    assert sum(one.total_tokens or 0 for one in choose(rows, {"math": 1}, None, 100)) == 90


def test_order_and_split_depend_on_the_seed_alone() -> None:
    rows = [row(number) for number in range(200)]
    assert shuffled(rows, 1) == shuffled(list(reversed(rows)), 1) != shuffled(rows, 2)
    share = sum(is_validation(one, 0.2, 0) for one in rows) / len(rows)
    assert 0.1 < share < 0.3


def test_a_question_twice_is_a_duplicate_up_to_case_and_spacing() -> None:
    rows = [row(1, question="What is 2 + 2?"), row(2, question="what  is 2 + 2"), row(3, question="What is 2 + 3?")]
    assert [drop.key for drop in duplicates(rows)] == ["run/math2@1"]


def test_a_row_that_repeats_a_skill_is_a_leak() -> None:
    text = "take the last number of the question and add another number of the same size to it twice"
    skill = Skill(name="add", intent="carry a value", method=text, difficulty_effect="one more step")
    rows = [row(1, question=f"Please {text}."), row(2)]
    assert [drop.key for drop in leaks(rows, [skill])] == ["run/math1@1"]


def test_production_takes_more_seeds_and_leaves_the_gate_cohort_alone(
    runs: Path, benchmarks: Path, tmp_path: Path
) -> None:
    produce = load(compose("experiment=produce"), RunConfig)
    table5 = load(compose("experiment=table5"), RunConfig)
    assert produce.seeds.per_domain > table5.seeds.per_domain
    assert produce.budget == table5.budget
    assert produce.gate == table5.gate
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    export(configured(runs, benchmarks, tmp_path / "sft"), print)
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before

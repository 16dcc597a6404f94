"""Benchmark scores: every published layout is read, every attempt is judged and kept, a second start pays nothing."""

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from coevolve.archive import write_tasks
from coevolve.benchmark.config import EvaluateConfig
from coevolve.benchmark.items import drawn, read_items
from coevolve.benchmark.job import asked, evaluate
from coevolve.benchmark.layouts import relaid
from coevolve.build import compose, load
from coevolve.curation.bundled import bundled_rows
from coevolve.curation.forms import Form
from coevolve.curation.records import Notes, Row
from coevolve.errors import ConfigError, DataError, RunCeilingReached
from coevolve.tasks import DOMAINS, Answer, Tolerance


def configured(*words: str) -> EvaluateConfig:
    return load(compose("solver=scripted", *words, config_name="evaluate"), EvaluateConfig)


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    records = [
        {"id": f"s{n}", "domain": "math", "question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(6)
    ]
    return write(tmp_path / "sums.jsonl", *records)


def test_the_score_is_the_mean_over_all_attempts_with_its_interval(sums: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = evaluate(configured(f"benchmark.path={sums}", "attempts=3", f"out={out}"), print)
    result = json.loads((out / "evaluation.json").read_text())
    right = sum(task["correct"] for task in result["tasks"])
    assert result["accuracy"]["all"] == right / 18
    assert (result["n_tasks"], result["n_attempts"], result["attempts"]) == (6, 18, 3)
    assert result["interval"][0] <= result["accuracy"]["all"] <= result["interval"][1]
    assert "6 items, 18 attempts" in lines[0]


def test_a_second_start_answers_from_what_was_recorded(sums: Path, tmp_path: Path) -> None:
    words = (f"benchmark.path={sums}", "attempts=2", f"out={tmp_path / 'out'}")
    first = evaluate(configured(*words), print)
    journal = tmp_path / "out" / "journal" / "r000.jsonl"
    before = journal.read_bytes()
    whole = before.splitlines(keepends=True)
    journal.write_bytes(b"".join(whole[:5]))
    assert evaluate(configured(*words), print) == first
    assert journal.read_bytes().splitlines(keepends=True)[:5] == whole[:5]
    assert len(journal.read_bytes().splitlines()) == len(whole)


def test_another_question_set_in_the_same_folder_is_refused(sums: Path, tmp_path: Path) -> None:
    out = f"out={tmp_path / 'out'}"
    evaluate(configured(f"benchmark.path={sums}", "attempts=1", out), print)
    with pytest.raises(ConfigError, match="attempts"):
        evaluate(configured(f"benchmark.path={sums}", "attempts=2", out), print)
    evaluate(configured(f"benchmark.path={sums}", "attempts=2", out, "fresh=true"), print)
    assert len(list(tmp_path.glob("out*"))) == 2


def test_what_answers_do_not_depend_on_may_change(sums: Path, tmp_path: Path) -> None:
    words = (f"benchmark.path={sums}", "attempts=1", f"out={tmp_path / 'out'}")
    first = evaluate(configured(*words), print)
    moved = sums.rename(tmp_path / "moved.jsonl")
    free = ("solver.base_url=http://elsewhere/v1", "solver.flow.concurrency=1", "at_once=1", "verification.workers=1")
    again = evaluate(configured(f"benchmark.path={moved}", "benchmark.name=sums", *words[1:], *free), print)
    assert again == first
    with pytest.raises(ConfigError, match="another solver"):
        evaluate(configured(f"benchmark.path={moved}", *words[1:], "solver.temperature=0.1"), print)


def test_a_trained_student_is_named_and_an_untrained_one_goes_by_its_own_name(sums: Path, tmp_path: Path) -> None:
    words = (f"benchmark.path={sums}", "attempts=1", f"outputs={tmp_path}")
    evaluate(configured(*words, "solver.model=org/base"), print)
    evaluate(configured(*words, "student=base", "label=full", "training_seed=2"), print)
    assert {path.name for path in (tmp_path / "evaluations" / "sums").iterdir()} == {
        "base-untrained",
        "base-full-seed2",
    }
    with pytest.raises(ConfigError, match="student: name the model that was trained on label=full"):
        configured(*words, "label=full")
    with pytest.raises(ConfigError, match="label"):
        configured(*words, "student=base", "label=a/b")


def test_every_problem_counts_alike_whatever_its_domain(tmp_path: Path) -> None:
    records = [{"id": f"m{n}", "domain": "math", "question": f"What is {n} + 1?", "answer": "7"} for n in range(5)]
    records += [{"id": "s", "domain": "science", "question": "How many metres are 3 km?", "answer": "3000 m"}]
    path = write(tmp_path / "mixed.jsonl", *records)
    evaluate(configured(f"benchmark.path={path}", "attempts=4", f"out={tmp_path / 'out'}"), print)
    result = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert result["mean"] == sum(task["correct"] for task in result["tasks"]) / 24
    assert result["interval"][0] <= result["mean"] <= result["interval"][1]


def test_a_ceiling_names_its_own_key(sums: Path, tmp_path: Path) -> None:
    config = configured(f"benchmark.path={sums}", "attempts=4", f"out={tmp_path / 'out'}", "ceiling.calls=3")
    with pytest.raises(RunCeilingReached, match=r"^ceiling\.calls=3"):
        evaluate(config, print)


def test_hidden_tests_are_read_as_text_and_never_run() -> None:
    cases = json.dumps([{"input": "3\n", "output": "6\n", "testtype": "stdin"}])
    record = {
        "question_id": "7",
        "question_content": "Read a number and print its double.",
        "starter_code": "",
        "metadata": "{}",
        "public_test_cases": cases,
        "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(cases))).decode(),
    }
    row = relaid("livecodebench", Row(1, record))
    assert row.fault is None
    assert row.data["tests"]["kind"] == "stdin_stdout"
    assert len(row.data["tests"]["cases"]) == 2

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return (print, ("ran",))

    record["private_test_cases"] = base64.b64encode(zlib.compress(pickle.dumps(Hostile()))).decode()
    assert "print" in str(relaid("livecodebench", Row(1, record)).fault)


def test_a_livecodebench_program_is_judged_by_its_cases(tmp_path: Path) -> None:
    cases = json.dumps([{"input": "3\n", "output": "6\n", "testtype": "stdin"}])
    record = {"question_id": "7", "question_content": "Double.", "starter_code": "", "metadata": "{}"}
    path = write(tmp_path / "lcb.jsonl", {**record, "public_test_cases": cases, "private_test_cases": "[]"})
    config = configured("benchmark=livecodebench_v6", f"benchmark.path={path}", "benchmark.source=file")
    [task] = read_items(config.benchmark).tasks
    assert task.answer.type == "code_tests"
    assert asked(config, task)[0].content.endswith(config.benchmark.program_closing)


def test_scibench_gives_a_number_its_unit_and_its_tolerance(tmp_path: Path) -> None:
    record = {
        "problem_text": "How far?",
        "answer_number": "14.8",
        "unit": "$\\mathrm{m}$",
        "source": "stat",
        "problemid": " 5.2",
    }
    path = write(tmp_path / "sci.jsonl", record)
    config = configured("benchmark=scibench", f"benchmark.path={path}", "benchmark.source=file")
    [task] = read_items(config.benchmark).tasks
    assert task.answer.tolerance is not None
    assert task.answer.tolerance.rel == 0.05
    assert "\\mathrm{m}" in task.question


def test_archived_tasks_are_read_as_they_were(tmp_path: Path) -> None:
    form = Form("seeds", {}, {}, 600)
    tasks = [form.task(row, Notes()) for row in bundled_rows(DOMAINS)]
    count = Answer(type="integer", value="14")
    metres = Answer(type="quantity", value="3.5", unit="m", tolerance=Tolerance(abs=0.5))
    named = Answer(type="text", value="helium", aliases=("He",))
    tasks += [tasks[-1].model_copy(update={"id": answer.type, "answer": answer}) for answer in (count, metres, named)]
    write_tasks(tmp_path / "tasks.jsonl", tuple(tasks))
    read = read_items(configured(f"benchmark.path={tmp_path / 'tasks.jsonl'}", "benchmark.form=tasks").benchmark)
    kept = {"id", "domain", "question", "answer", "tests"}
    assert not read.unusable
    assert [task.model_dump(include=kept) for task in read.tasks] == [task.model_dump(include=kept) for task in tasks]


def test_a_broken_item_is_named_and_the_others_are_scored(tmp_path: Path) -> None:
    good = {"id": "a", "domain": "math", "question": "What is 1 + 1?", "answer": "2"}
    path = write(tmp_path / "mixed.jsonl", good, {"id": "b", "domain": "math", "question": "What?"})
    items = read_items(configured(f"benchmark.path={path}").benchmark)
    assert [task.id for task in items.tasks] == ["a"]
    assert "line 2" in items.unusable[0]
    with pytest.raises(DataError, match="no item"):
        read_items(configured(f"benchmark.path={write(tmp_path / 'none.jsonl', {'id': 'b'})}").benchmark)


def test_a_drawn_part_depends_on_the_seed_alone(sums: Path) -> None:
    tasks = read_items(configured(f"benchmark.path={sums}").benchmark).tasks
    assert drawn(tasks, 3, 1) == drawn(tasks, 3, 1)
    assert len(drawn(tasks, 3, 1)) == 3
    assert drawn(tasks, None, 1) == tasks


@pytest.mark.parametrize(
    ("file", "benchmark"),
    [("math_hmmt2025feb", "hmmt_2025"), ("math_apex_shortlist2025", "apex_shortlist"), ("code_livecodebench", "file")],
)
def test_published_items_in_our_own_form_are_scored(shared_data: Path, file: str, benchmark: str) -> None:
    words = (
        f"benchmark={benchmark}",
        f"benchmark.path={shared_data / 'benchmarks' / file}.jsonl",
        "benchmark.columns={}",
    )
    items = read_items(configured(*words, "benchmark.source=file").benchmark)
    assert len(items.tasks) > 10
    assert len(items.unusable) <= len(items.tasks) // 10

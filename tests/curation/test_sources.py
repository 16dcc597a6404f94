"""Reading seeds: what is taken, what is repaired, what is refused, and what a wrong file says."""

import base64
import json
import tracemalloc

import pytest

from coevolve.config import ScreenConfig, SeedsConfig
from coevolve.curation.sources import read_seeds
from coevolve.errors import DataError
from coevolve.tasks import DOMAINS

BY_OTHER_PARTS = {"D33", "D34", "D35", "D36", "D37"}
"""Benchmark overlap and test execution are judged after reading."""


def config(path, **changes):
    values = {
        "source": "file",
        "path": None if path is None else str(path),
        "harness": "shipped",
        "split": None,
        "config_name": None,
        "columns": {},
        "defaults": {},
        "per_domain": 10,
        "question_chars": 2000,
        "screen": ScreenConfig(enabled=False, attempts=4),
    }
    return SeedsConfig(**(values | changes))


def read(path, **changes):
    return read_seeds(config(path, **changes), DOMAINS, seed=1)


def written(tmp_path, *records, name="seeds.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def math(name, question, answer="4", **more):
    return {"id": name, "domain": "math", "question": question, "answer": answer, **more}


def science(**more):
    return {"id": "a", "domain": "science", "question": "q", "answer": "5", **more}


def dirty_cases(folder):
    lines = (folder / "dirty_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["case_id"] not in BY_OTHER_PARTS]


def test_every_dirty_case_ends_as_expected(shared_data, tmp_path):
    wrong = []
    for case in dirty_cases(shared_data):
        path = tmp_path / f"{case['case_id']}.jsonl"
        path.write_bytes(base64.b64decode(case["raw_b64"]))
        report, expected = read(path), case["expected"]
        decoded = case["case_id"] == "D22"  # also acceptable: decoded by its byte order mark
        outcomes = {issue.outcome for issue in report.issues}
        reasons = {issue.reason for issue in report.issues}
        kept = 1 if decoded else expected["records_kept"]
        silent = expected["outcome"] == "accept" and not report.issues
        named = {"repair"} == outcomes if decoded else outcomes == {expected["outcome"]}
        if len(report.tasks) != kept or not (silent or (named and expected["reason"] in reasons)):
            wrong.append((case["case_id"], len(report.tasks), report.issues))
    assert not wrong


def test_dirty_cases_are_normalised_as_expected(shared_data, tmp_path):
    for case in dirty_cases(shared_data):
        wanted = case["expected"].get("normalized", {})
        if not case["expected"]["records_kept"]:
            continue
        path = tmp_path / f"{case['case_id']}.jsonl"
        path.write_bytes(base64.b64decode(case["raw_b64"]))
        task = read(path).tasks[0]
        found = {
            "answer": task.answer.value,
            "unit": task.answer.unit,
            "question": task.question,
            "domain": task.domain,
        }
        found |= {"id": task.id, "kept_id": task.id, "topic": task.meta.get("topic")}
        compared = {name: value for name, value in wanted.items() if name in found}
        assert {name: found[name] for name in compared} == compared, case["case_id"]


def test_messages_name_file_line_and_cure_on_one_line(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(math("a", "What is 2 + 2?")) + "\n{broken\n", encoding="utf-8")
    report = read(path)
    message = report.issues[0].message
    assert len(report.tasks) == 1
    assert str(path) in message and "line 2" in message and "one object a line" in message and "\n" not in message


def test_an_assigned_id_is_the_same_on_each_run(tmp_path):
    path = written(tmp_path, {"domain": "math", "question": "What is 2 + 2?", "answer": "4"})
    assert read(path).tasks[0].id == read(path).tasks[0].id


def test_a_seed_is_a_task_of_round_zero_and_its_own_chain(tmp_path):
    task = read(written(tmp_path, math("a", "What is 2 + 2?", license="MIT"))).tasks[0]
    assert (task.chain, task.round, task.certificate.kind, task.license) == ("a", 0, "source", "MIT")


@pytest.mark.parametrize(
    ("record", "kind", "value", "unit"),
    [
        (math("a", "q", "3/4", answer_type="number"), "rational", "3/4", None),
        (math("a", "q", "0.25"), "decimal", "0.25", None),
        (math("a", "q", "\\sqrt{2}", answer_type="expression"), "expression", "\\sqrt{2}", None),
        (math("a", "q", "(1, 2)", answer_type="expression"), "tuple", "(1, 2)", None),
        (science(unit="$\\mathrm{~m} / \\mathrm{s}$"), "quantity", "5", "m/s"),
        (science(unit="$10^7 \\mathrm{~s}$"), "quantity", "5e7", "s"),
        ({"id": "a", "domain": "coding", "question": "q", "answer": "'x'"}, "code_output", "'x'", None),
    ],
)
def test_answers_get_their_type_from_what_they_are(tmp_path, record, kind, value, unit):
    answer = read(written(tmp_path, record)).tasks[0].answer
    assert (answer.type, answer.value, answer.unit) == (kind, value, unit)


def test_a_tolerance_comes_from_meta(tmp_path):
    record = {"id": "a", "domain": "science", "question": "q", "answer": "5", "meta": {"tolerance_rel": 0.04}}
    assert read(written(tmp_path, record)).tasks[0].answer.tolerance.rel == 0.04


def test_text_with_comparison_signs_is_not_taken_for_html(tmp_path):
    question = "For how many integers a is 2 <a and a < b when b > 7?"
    report = read(written(tmp_path, math("a", question)))
    assert report.tasks[0].question == question and not report.issues


def test_code_is_left_as_it_is(tmp_path):
    question = "What does this give?\n\n'<b>  &amp;</b>'.upper()"
    record = {"id": "a", "domain": "coding", "question": question, "answer": "'<B>  &AMP;</B>'"}
    task = read(written(tmp_path, record)).tasks[0]
    assert (task.question, task.answer.value) == (question, "'<B>  &AMP;</B>'")


def test_questions_that_differ_in_case_and_answer_are_two_questions(tmp_path):
    path = written(tmp_path, math("a", "How large is Mg?", "1"), math("b", "How large is mg?", "2"))
    assert len(read(path).tasks) == 2


def test_a_record_whose_domain_is_not_wanted_is_left_out_silently(tmp_path):
    report = read_seeds(config(written(tmp_path, math("a", "What is 2 + 2?"))), ("coding",), seed=1)
    assert (report.tasks, report.issues, report.read) == ((), (), 1)


def test_the_order_depends_on_the_seed_alone(tmp_path):
    records = [math(f"m{n}", f"What is {n} + {n}?", str(2 * n)) for n in range(40)]
    forward = written(tmp_path, *records)
    backward = written(tmp_path, *reversed(records), name="backward.jsonl")
    orders = [[task.id for task in read_seeds(config(path), DOMAINS, 1).tasks] for path in (forward, backward)]
    other = [task.id for task in read_seeds(config(forward), DOMAINS, 2).tasks]
    assert orders[0] == orders[1] != other


def test_csv_with_other_column_names_is_read(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('problem,solution_value,note\n"What is 2 + 2, then?",4,x\n', encoding="utf-8")
    report = read(path, columns={"question": "problem", "answer": "solution_value"}, defaults={"domain": "math"})
    assert [(task.question, task.answer.value, task.domain) for task in report.tasks] == [
        ("What is 2 + 2, then?", "4", "math")
    ]


def test_parquet_is_read(tmp_path):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "mine.parquet"
    table = pyarrow.table({"question": ["What is 2 + 2?", "What is 3 + 3?"], "answer": [4, 6], "domain": ["math"] * 2})
    pyarrow.parquet.write_table(table, path)
    assert sorted(task.answer.value for task in read(path).tasks) == ["4", "6"]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.csv", "problem,answer\nx,1\n", ("no column 'question'", "problem", "seeds.columns.question=<column>")),
        ("a.xlsx", "x", (".xlsx", ".jsonl")),
        ("a.parquet", "no parquet", ("no Parquet file",)),
        ("a.jsonl", "\n\n", ("no record",)),
    ],
)
def test_a_wrong_file_is_one_line_with_the_cure(tmp_path, name, content, parts):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    assert all(part in message for part in parts)


def test_a_missing_file_and_a_missing_path_are_named(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"seeds\.path"):
        read(None)


def test_memory_hardly_grows_with_the_file(tmp_path):
    peaks = []
    for length in (2000, 8000):
        path = tmp_path / f"{length}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for n in range(length):
                file.write(json.dumps(math(f"m{n}", f"{'word ' * 380} What is {n} + 1?", str(n + 1))) + "\n")
        tracemalloc.start()
        report = read(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.read == length and len(report.tasks) == 1000
    assert (peaks[1] - peaks[0]) / 6000 < 700


def test_a_local_hugging_face_dataset_is_read(tmp_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list([{"problem": "What is 2 + 2?", "answer": "4"}])
    data.save_to_disk(str(tmp_path / "saved"))
    plain = tmp_path / "plain"
    plain.mkdir()
    written(plain, {"problem": "What is 2 + 2?", "answer": "4"}, name="train.jsonl")
    for folder in (tmp_path / "saved", plain):
        report = read(folder, source="huggingface", columns={"question": "problem"}, defaults={"domain": "math"})
        assert [task.answer.value for task in report.tasks] == ["4"]
    with pytest.raises(DataError, match="split test"):
        read(plain, source="huggingface", split="test")
    with pytest.raises(DataError, match="no column 'question'"):
        read(tmp_path / "saved", source="huggingface", defaults={"domain": "math"})


def test_reasoning_gym_generates_seeds(tmp_path):
    pytest.importorskip("reasoning_gym")
    changes = {"source": "reasoning_gym", "per_domain": 1}
    first = read("chain_sum", **changes)
    assert len(first.tasks) > 20 and first.tasks[0].answer.type == "integer"
    assert [task.id for task in read("chain_sum", **changes).tasks] == [task.id for task in first.tasks]
    with pytest.raises(DataError, match="no_such_set"):
        read("no_such_set", **changes)


def test_public_seed_files_are_read_whole(shared_data):
    for path in sorted((shared_data / "seeds").glob("*.jsonl")):
        report = read(path, question_chars=6000)
        assert len(report.tasks) == report.read, path.name

"""Released data sets become the same rows: equal counts or equal tokens, answers checked where they are stated."""

import json
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, load
from coevolve.errors import DataError
from coevolve.export.comparison import UNVERIFIED, comparison_rows
from coevolve.export.config import ExportConfig
from coevolve.export.job import export

pytest.importorskip("datasets")
MATH = {"openmathinstruct2": "generated_solution", "mmiqc": "output", "metamath": "response"}


def configured(name: str, path: Path, benchmarks: Path, out: Path, *words: str) -> ExportConfig:
    mix = {"opencodereasoning": "coding", "wildsci": "science"}.get(name, "math")
    given = [f"comparison={name}", f"comparison.path={path}", f"benchmarks={benchmarks}", f"out={out}", f"mix={mix}"]
    return load(compose(*given, *words, config_name="export"), ExportConfig)


def stand_in(folder: Path, config: ExportConfig, *rows: tuple[str, str, str]) -> Path:
    """A small local file with the columns of the released set."""
    columns = config.comparison
    path = folder / f"{columns.name}.jsonl"
    records: list[dict[str, Any]] = []
    for question, solution, answer in rows:
        record = {columns.question: question, columns.solution: solution, "other": 1}
        records.append({**record, columns.answer: answer} if columns.answer else record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def rows_for(name: str) -> list[tuple[str, str, str]]:
    return [
        (f"What is {n} plus {n} for {name}?", f"It is {n} + {n}.\nThe answer is: {2 * n}", str(2 * n))
        for n in range(1, 9)
    ]


@pytest.mark.parametrize("name", ["openmathinstruct2", "opencodereasoning", "mmiqc", "metamath", "wildsci"])
def test_each_released_set_is_exported_from_its_own_columns(name: str, benchmarks: Path, tmp_path: Path) -> None:
    path = stand_in(tmp_path, configured(name, tmp_path, benchmarks, tmp_path / "o"), *rows_for(name))
    out = tmp_path / "out"
    export(configured(name, path, benchmarks, out, "size=5", "validation=0"), print)
    rows = [json.loads(line) for line in (out / "jsonl" / "train.jsonl").read_text().splitlines()]
    assert len(rows) == 5
    assert {row["run"] for row in rows} == {name}
    assert all(row["messages"][1]["content"].startswith("It is") for row in rows)


def test_a_solution_that_contradicts_its_stated_answer_stays_out(benchmarks: Path, tmp_path: Path) -> None:
    good, bad = ("What is 1 + 1?", "So 2.\nAnswer: 2", "2"), ("What is 2 + 2?", "So 5.\nAnswer: 5", "4")
    name = "openmathinstruct2"
    path = stand_in(tmp_path, configured(name, tmp_path, benchmarks, tmp_path / "o"), good, bad)
    export(configured(name, path, benchmarks, tmp_path / "out", "validation=0"), print)
    [row] = (tmp_path / "out" / "jsonl" / "train.jsonl").read_text().splitlines()
    assert json.loads(row)["question"] == "What is 1 + 1?"
    [drop] = (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()
    assert json.loads(drop)["rule"] == "gold"


def test_without_a_stated_answer_a_row_serves_sft_alone(benchmarks: Path, tmp_path: Path) -> None:
    name = "opencodereasoning"
    path = stand_in(
        tmp_path, configured(name, tmp_path, benchmarks, tmp_path / "o"), ("Sort a list.", "Use sorted.", "")
    )
    config = configured(name, path, benchmarks, tmp_path / "grpo", "format=grpo", "validation=0")
    [row] = comparison_rows(config.comparison)
    assert row.task.certificate.detail == UNVERIFIED
    with pytest.raises(DataError, match="no row can be exported"):
        export(config, print)


def test_a_missing_column_is_named_with_those_that_are_there(benchmarks: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"q": "x", "a": "y"}) + "\n")
    with pytest.raises(DataError, match=r"no column .*it has: q, a"):
        list(comparison_rows(configured("metamath", path, benchmarks, tmp_path / "o").comparison))

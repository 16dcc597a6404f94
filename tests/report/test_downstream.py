"""Tables 1-4 and Figure 2b from evaluations: the paper's arithmetic, honest intervals, and what is missing is said."""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.report.made_up_evaluations import write_evaluation

from coevolve.benchmark.config import EvaluateConfig
from coevolve.benchmark.job import evaluate
from coevolve.build import compose, conf_dir, load
from coevolve.errors import ConfigError, DataError
from coevolve.evaluation.outcomes import TaskScore, clustered_interval
from coevolve.report.downstream import Downstream, build_downstream
from coevolve.report.downstream_text import score_differences_sheet, score_latex, score_markdown, score_sheet
from coevolve.report.downstream_writing import write
from coevolve.report.evaluations import UNTRAINED, Evaluation, find_evaluations
from coevolve.report.paper_downstream import OVERALL, ScoreTable, paper_scores
from coevolve.report.scores import estimate, half_up
from coevolve.report.settings import ReportConfig
from coevolve.report.statistics import holm
from coevolve.report.writing import report

PAPER = paper_scores()
COUNTS: dict[str, dict[str, tuple[int, ...]]] = {
    "apex_shortlist": {UNTRAINED: (4, 8, 0, 2), "full": (8, 8, 4, 1), "task_only": (4, 8, 0, 3)},
    "hmmt_2025": {UNTRAINED: (16, 9, 8), "full": (16, 16, 8), "task_only": (16, 9, 8)},
    "livecodebench_v6": {UNTRAINED: (16, 0), "full": (16, 1), "task_only": (0, 16)},
    "scibench": {UNTRAINED: (8, 8, 8), "full": (9, 8, 8), "task_only": (8, 8, 7)},
}


def tables(outputs: Path) -> dict[str, Downstream]:
    return {table.name: table for table in build_downstream(find_evaluations([str(outputs)], outputs).evaluations)}


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    for benchmark, rows in COUNTS.items():
        for label, counts in rows.items():
            write_evaluation(tmp_path, benchmark, "Small-4B", label, counts)
    return tmp_path


def test_the_papers_overall_and_gains_follow_from_its_displayed_values() -> None:
    published: dict[ScoreTable, dict[str, Sequence[int]]] = {
        "table1": {
            "openmathinstruct2": (12, 19, -32, -9, -3),
            "opencodereasoning": (-49, -27, 29, -2, -12),
            "wildsci": (-42, -35, -22, -12, -28),
            "metamath": (-31, -54, -36, -34, -39),
            "mmiqc": (20, 15, -6, 17, 11),
            "full": (40, 48, 34, 51, 43),
        },
        "table2": {
            "openmathinstruct2": (-6, 10, 9, -26, -4),
            "opencodereasoning": (-16, -39, -53, 27, -21),
            "mmiqc": (-11, 20, 13, -19, 0),
            "full": (31, 54, 58, 43, 46),
        },
        "table3": {"full": (62,)},
    }
    for name, rows in published.items():
        paper = PAPER[name]
        for row, gains in rows.items():
            assert tuple(paper.gain(row, column) for column in paper.columns) == gains
        for values in paper.values.values() if OVERALL in paper.columns else ():
            others = [value for column, value in values.items() if column != OVERALL]
            assert half_up(Fraction(sum(others), len(others))) == values[OVERALL]


def test_the_papers_apex_values_are_whole_numbers_of_attempts_with_halves_up() -> None:
    possible = {half_up(Fraction(right * 1000, 192)) for right in range(193)}
    shown = {values["apex"] for name in ("table2", "table3", "table4") for values in PAPER[name].values.values()}
    assert shown <= possible
    assert max(PAPER["table4"].values, key=lambda row: PAPER["table4"].values[row]["apex"]) == "kimi-k3-think"
    assert PAPER["table4"].values["qwen3.8-27b-full"] == PAPER["table3"].values["full"]


def test_columns_are_benchmarks_and_rows_are_data_sets_that_can_be_exported() -> None:
    benchmarks = {path.stem for path in (conf_dir() / "benchmark").glob("*.yaml")}
    comparisons = {path.stem for path in (conf_dir() / "comparison").glob("*.yaml")}
    for name in ("table1", "table2", "table3"):
        assert set(PAPER[name].columns) - {OVERALL} <= benchmarks
        assert set(PAPER[name].labels) - {UNTRAINED, "full"} <= comparisons


def test_values_gains_and_overall_come_from_what_is_displayed(outputs: Path) -> None:
    [block] = tables(outputs)["table1"].blocks
    rows = {row.key: row.cells for row in block.rows}
    full, before = rows["full"], rows[UNTRAINED]
    assert [cell.tenths for cell in before.values()] == [219, 688, 500, 500, 477]  # 21.875, 68.75, 50, 50; 47.675
    assert [cell.tenths for cell in full.values()] == [328, 833, 531, 521, 553]  # 53.125 and 52.083: down; 55.325
    assert [cell.gain for cell in full.values()] == [109, 145, 31, 21, 76]
    assert all(cell.gain is None for cell in before.values())
    assert [cell.best for cell in full.values()] == [True] * 5
    assert not rows["wildsci"]


def test_every_cell_has_its_interval_clustered_by_problem_and_n(outputs: Path) -> None:
    [block] = tables(outputs)["table1"].blocks
    cells = {row.key: row.cells for row in block.rows}["full"]
    for benchmark, rows in COUNTS.items():
        found = cells[benchmark].estimate
        assert (found.low, found.high) == clustered_interval([[(right, 16) for right in rows["full"]]])
        assert found.n_chains == len(rows["full"])
    strata = [[(right, 16) for right in rows["full"]] for rows in COUNTS.values()]
    assert (cells[OVERALL].estimate.low, cells[OVERALL].estimate.high) == clustered_interval(strata)
    assert "**32.8** ↑10.9 [" in score_markdown(tables(outputs)["table1"])
    assert "] n = 4 | **36.4** ↑4.0 |" in score_markdown(tables(outputs)["table1"])


def test_differences_are_paired_on_the_same_problems_and_adjusted_within_a_column(outputs: Path) -> None:
    sheet = [row for row in lines(score_differences_sheet(list(tables(outputs).values()))) if row["table"] == "table1"]
    assert {(row["first"], row["column"]) for row in sheet} == {
        (first, column) for first in ("Evolved (full)", "task_only") for column in (*COUNTS, OVERALL)
    }
    shortlist = [row for row in sheet if row["column"] == "apex_shortlist"]
    assert [float(row["value"]) for row in shortlist] == [100 * (4 + 0 + 4 - 1) / 64, 100 / 64]
    assert [float(row["p_holm"]) for row in shortlist] == pytest.approx(
        holm([float(row["p"]) for row in shortlist]), rel=1e-3
    )
    mixed = next(row for row in sheet if row["column"] == "livecodebench_v6" and row["first"] == "task_only")
    assert float(mixed["value"]) == 0
    assert float(mixed["low"]) < -50


def test_a_missing_column_takes_overall_away_and_names_its_command(tmp_path: Path) -> None:
    for label in (UNTRAINED, "full"):
        for benchmark in ("hmmt_2025", "scibench", "livecodebench_v6"):
            write_evaluation(tmp_path, benchmark, "S", label, COUNTS[benchmark][label])
    [block] = tables(tmp_path)["table1"].blocks
    assert all(OVERALL not in row.cells for row in block.rows)
    assert any("APEX Shortlist" in note and "benchmark=apex_shortlist" in note for note in block.notes)
    assert all(f"label={label}" in " ".join(block.notes) for label in (UNTRAINED, "full"))


def test_without_evaluations_every_table_prints_the_papers_values_and_its_command(tmp_path: Path) -> None:
    for table in build_downstream([]):
        told = score_markdown(table)
        assert "scripts/evaluate.py -m benchmark=" in told
        assert ("32.4" in told) == (table.name == "table1")
        assert "begin{table*}" in score_latex(table)
        assert len(lines(score_sheet(table))) == sum(map(len, table.paper.values.values()) if table.paper else ())
    command = next(table.missing for table in build_downstream([]) if table.name == "students")
    assert command is not None
    words = [word for word in command.split("evaluate.py -m ")[1].split() if "<" not in word]
    assert load(compose(*words, config_name="evaluate"), EvaluateConfig).benchmark.title == "file"


def test_a_student_of_any_size_on_any_benchmark_has_a_table(tmp_path: Path) -> None:
    write_evaluation(tmp_path, "held_out", "Tiny", UNTRAINED, (0, 4, 8))
    for seed, counts in enumerate(((2, 6, 9), (12, 16, 16), (0, 1, 2))):
        write_evaluation(tmp_path, "held_out", "Tiny", "seeds", counts, training_seed=seed)
    found = tables(tmp_path)
    assert not any(found[f"table{number}"].blocks for number in (1, 2, 3, 4))
    [block] = found["students"].blocks
    assert list(block.columns) == ["held_out"]
    cell = block.rows[1].cells["held_out"]
    assert cell.estimate.value == pytest.approx(64 / (9 * 16))
    assert (cell.estimate.n_runs, cell.estimate.unit) == (3, "run"), "trainings differ more than problems allow"
    assert block.differences[0].difference.estimate.unit == "run"
    assert "n = 3 x 3" in score_markdown(found["students"])


@pytest.mark.slow
@pytest.mark.parametrize("n_problems", [12, 48])
@pytest.mark.parametrize(("trainings", "spread"), [(1, 0.0), (3, 0.0), (3, 0.08)])
def test_the_interval_covers_the_truth_in_about_95_percent(n_problems: int, trainings: int, spread: float) -> None:
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        rates = draw.beta(0.8, 1.2, size=n_problems)  # mean 0.4
        made = []
        for seed in range(trainings):
            right = draw.binomial(16, np.clip(rates + draw.normal(0, spread), 0, 1))
            made.append(evaluation(seed, right.tolist()))
        found = estimate([made])
        covered += found.low <= 0.4 <= found.high
    assert 0.90 <= covered / 300 <= 0.985


def evaluation(seed: int, right: Sequence[int]) -> Evaluation:
    tasks = tuple(TaskScore(chain=str(n), domain="math", correct=k, attempts=16) for n, k in enumerate(right))
    return Evaluation(f"b/{seed}", "b", len(tasks), "h", "S", "full", seed, "m", 16, "", tasks)


def test_table_4_ranks_every_model_and_finds_its_published_value(tmp_path: Path) -> None:
    for student, label, right in (("DeepSeek-v4-pro", UNTRAINED, 3), ("Other", UNTRAINED, 9), ("Other", "full", 1)):
        write_evaluation(tmp_path, "apex", student, label, (right,) * 12)
    [block] = tables(tmp_path)["table4"].blocks
    assert [row.label for row in block.rows][:4] == ["Other", "DeepSeek-v4-pro", "Other, full", "Kimi K3 (Think)"]
    assert "| DeepSeek-v4-pro | 18.8 [" in score_markdown(tables(tmp_path)["table4"])
    assert "n = 12 | 61.5 |" in score_markdown(tables(tmp_path)["table4"])
    gains = score_markdown(tables(tmp_path)["table3"])
    assert "| -50.0 | +6.2 |" in gains


def test_what_cannot_be_compared_is_left_out_or_said(tmp_path: Path) -> None:
    write_evaluation(tmp_path, "b", "S", UNTRAINED, (1, 2))
    write_evaluation(tmp_path, "b", "S", "full", (1, 2), temperature=0.1)
    write_evaluation(tmp_path, "b", "S", "other", (1, 2), benchmark={"name": "b", "items": 2, "hash": "another"})
    again = write_evaluation(tmp_path / "again", "b", "S", "full", (16, 16))
    with pytest.raises(ConfigError, match="two evaluations are called b/S-full"):
        find_evaluations([str(tmp_path)], tmp_path)
    again.rename(again.with_name("S-full-2"))
    write_evaluation(tmp_path, "b", "S", "part", (3,), benchmark={"name": "b", "items": 2, "hash": "hash-of-b"})
    (tmp_path / "evaluations" / "b" / "begun").mkdir()
    (tmp_path / "evaluations" / "b" / "begun" / "asked.json").write_text("{}")
    found = find_evaluations([str(tmp_path)], tmp_path)
    assert found.unfinished == ("b/begun",)
    [block] = tables(tmp_path)["students"].blocks
    assert {row.key for row in block.rows} == {UNTRAINED, "full", "part"}
    assert block.rows[1].cells["b"].tenths == 94, "the first by name stays"
    told = " ".join(block.notes)
    assert "b/S-other is left out: its items are not those" in told
    assert "the same student, label, training seed and benchmark" in told
    assert "b/S-part is over 1 of 2 items" in told
    assert "not asked alike" in told


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2}', '{"format": 1, "tasks": []}'])
def test_a_broken_evaluation_is_named(tmp_path: Path, text: str) -> None:
    folder = write_evaluation(tmp_path, "b", "S", UNTRAINED, (1,))
    (folder / "evaluation.json").write_text(text)
    with pytest.raises(DataError, match=r"evaluation\.json"):
        find_evaluations([str(tmp_path)], tmp_path)


def test_the_same_evaluations_give_the_same_bytes_in_every_form(tmp_path: Path) -> None:
    write_evaluation(tmp_path, "apex", "S", UNTRAINED, (3, 4))
    apex = tables(tmp_path)["table4"]
    made = [tmp_path / name for name in ("one", "two")]
    for out in made:
        out.mkdir()
        write([apex], out)
    names = {f"table4.{form}" for form in ("md", "tex", "csv", "svg", "png")}
    assert {path.name for path in made[0].iterdir()} >= names | {"figure2b.svg", "figure2b.png"}
    for path in made[0].iterdir():
        assert path.read_bytes() == (made[1] / path.name).read_bytes()
        assert str(tmp_path).encode() not in path.read_bytes()


def test_what_evaluate_leaves_is_what_the_tables_read(tmp_path: Path) -> None:
    sums = tmp_path / "sums.jsonl"
    sums.write_text('{"id": "s", "domain": "math", "question": "What is 1 + 1?", "answer": "2"}\n')
    words = ("solver=scripted", f"benchmark.path={sums}", "attempts=2", f"outputs={tmp_path}")
    evaluate(load(compose(*words, config_name="evaluate"), EvaluateConfig), print)
    evaluate(load(compose(*words, "student=scripted", "label=full", config_name="evaluate"), EvaluateConfig), print)
    config = ReportConfig(runs=str(tmp_path), out=str(tmp_path / "out"), html=False, outputs="o", tracking="t")
    told = list(report(config))
    assert any(line.startswith("sums/scripted-full: scripted, 1 of 1 items, mean-2") for line in told)
    [block] = tables(tmp_path)["students"].blocks
    assert [(row.key, row.cells["sums"].estimate.n_attempts) for row in block.rows] == [(UNTRAINED, 2), ("full", 2)]

"""Synthetic runs with known truth give exactly the expected tables."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coevolve.report.grid import difference_rows, grid
from coevolve.report.latex import latex
from coevolve.report.markdown import markdown
from coevolve.report.runs import find_runs
from coevolve.report.sheets import cells_sheet, differences_sheet, runs_sheet
from coevolve.report.tables import Table, build_tables

SEEDS = {"math": (4, 4, 4, 4), "coding": (4, 4, 4, 4), "science": (4, 4, 4, 4)}
FULL = {
    0: SEEDS,
    1: {"math": (4, 4, 3, 3), "coding": (4, 4, 4, 4), "science": (4, 4, 4, 2)},
    2: {"math": (2, 1, 0, 1), "coding": (3, 3, 1, 1), "science": (4, 2, 2, 0)},
}
TASK_ONLY = {
    0: SEEDS,
    1: {"math": (4, 4, 4, 4), "coding": (4, 4, 4, 4), "science": (4, 4, 4, 4)},
    2: {"math": (4, 3, 2, 3), "coding": (3, 3, 1, 1), "science": (4, 2, 2, 0)},
}


ROUND_1 = (
    *("91.7 [77.4, 97.2] | 97.7", "87.5 [64.0, 96.5] | 98.5"),
    *("100.0 [51.0, 100.0] | 97.0", "87.5 [50.5, 98.0] | 97.5"),
)
"""Wilson's interval at effective sizes of 33, 16, 4 and 7, worked out by hand."""
ROUND_2 = (
    *("*41.7* [26.0, 59.2] | 92.8", "*25.0* [10.2, 49.5] | 91.0"),
    *("*50.0* [25.4, 74.6] | 93.5", "*50.0* [18.8, 81.2] | 94.0"),
)
"""At 30, 16, 12 and 6."""


def tables_of(folder: Path) -> dict[str, Table]:
    return {table.name: table for table in build_tables(find_runs([str(folder)], folder, str(folder / "none")))}


def printed(table: Table, block: int = 0) -> list[str]:
    """Round and cells of a block as text, bold in stars."""
    shown = grid(table, table.blocks[block] if table.blocks else None)
    stars = {True: "*", False: ""}
    return [
        " | ".join([str(r), *(f"{stars[t.bold]}{t.text}{stars[t.bold]} {t.interval}".strip() for t in texts)])
        for r, texts in shown.rows
    ]


def rows(sheet: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sheet)))


def four_arms(write_run: Any, folder: Path, seeds: Sequence[int] = (0,)) -> Path:
    for seed in seeds:
        for arm, counts in (("task_only", TASK_ONLY), ("online", TASK_ONLY), ("post_task", FULL), ("full", FULL)):
            fees = {1: 2000, 2: 4000 if arm == "task_only" else 3000}
            write_run(folder / f"{arm}-seed{seed}", counts, ablation=arm, seed=seed, microusd=fees)
    return folder


def test_table_5_has_each_domain_and_their_mean(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "x" / "full-seed0", FULL)
    found = printed(tables_of(tmp_path)["table5"])
    assert found[:3] == [
        " | ".join(("0", "100.0 [75.8, 100.0] | 100.0", *["100.0 [51.0, 100.0] | 100.0"] * 3)),
        " | ".join(("1", *ROUND_1)),
        " | ".join(("2", *ROUND_2)),
    ]
    assert found[3:] == printed(paper_only("table5"))[3:], "what we lack is a dash beside the paper's value"


def paper_only(name: str) -> Table:
    return next(table for table in build_tables([]) if table.name == name)


def test_table_6_reports_the_mathematics_cohort_and_marks_the_lowest(write_run: Any, tmp_path: Path) -> None:
    table = tables_of(four_arms(write_run, tmp_path / "x"))["table6"]
    assert [column.label for column in table.blocks[0].columns] == [
        "Task-only",
        "Online only",
        "Post-task only",
        "Full",
    ]
    assert printed(table)[1] == (
        "2 | 75.0 [50.5, 89.8] | 95.5 | 75.0 [50.5, 89.8] | 94.5 | *25.0* [10.2, 49.5] | 94.0 | "
        "*25.0* [10.2, 49.5] | *91.0*"
    )
    assert printed(table)[0].startswith("0 | 100.0 [51.0, 100.0] | 100.0 |"), "round 0 is never bold"
    assert printed(table, 1)[1].startswith("2 | 58.3 "), "all domains, equally weighted, in a block of its own"


def test_differences_are_paired_by_chain_and_adjusted_over_the_pairs_of_a_round(write_run: Any, tmp_path: Path) -> None:
    table = tables_of(four_arms(write_run, tmp_path / "x"))["table6"]
    round, found = difference_rows(table.blocks[0])
    assert round == 2
    assert len(found) == 6
    assert found[2] == ("Full − Task-only", "-50.0 points", "[-80.1, +40.4]", "0.125", "0.750", "4 chains")
    ours = [row for row in rows(differences_sheet([table])) if row["round"] == "2" and row["cohort"] == "all"]
    full = next(row for row in ours if (row["first"], row["second"]) == ("Full", "Task-only"))
    assert float(full["value"]) == pytest.approx(-100 / 6, abs=1e-4)
    assert float(full["p_holm"]) >= float(full["p"])
    assert full["runs"] == "x/full-seed0 x/task_only-seed0"


def test_table_8_gives_operator_costs_per_seed_from_the_ledger(write_run: Any, tmp_path: Path) -> None:
    table = tables_of(four_arms(write_run, tmp_path / "x"))["table8"]
    assert [column.label for column in table.blocks[0].columns] == [
        *("Task-only: accuracy", "Task-only: cost", "Full: accuracy", "Full: cost")
    ]
    assert printed(table)[0] == (
        "2 | 75.0 [50.5, 89.8] | 95.5 | 0.00400 [0.00400, 0.00400] | *1.022* | *25.0* [10.2, 49.5] | *91.0* | "
        "*0.00300* [0.00300, 0.00300] | 1.042"
    )
    sheet = rows(cells_sheet(table))
    cost = next(row for row in sheet if row["configuration"] == "Full: cost" and row["round"] == "1")
    assert float(cost["value"]) == 0.002, "Director and skill updates are no operators"
    assert cost["measure"] == "usd_per_seed"
    assert any("nominal" in note for note in table.blocks[0].notes)


def test_an_unknown_price_makes_table_8_count_tokens(write_run: Any, tmp_path: Path) -> None:
    for arm in ("task_only", "full"):
        write_run(tmp_path / "x" / arm, FULL, ablation=arm, microusd={1: None, 2: None}, solver="openai")
    table = tables_of(tmp_path)["table8"]
    assert [column.measure for column in table.blocks[0].columns] == ["accuracy", "tokens", "accuracy", "tokens"]
    assert "300" in printed(table)[0]
    assert "1.022" not in printed(table)[0], "the paper's dollars do not stand beside tokens"


def test_table_7_compares_frozen_harnesses_and_keeps_them_out_of_the_others(write_run: Any, tmp_path: Path) -> None:
    counts = {0: {"math": (4, 4, 4, 4)}, 2: {"math": (3, 3, 2, 2)}}
    harder = {0: {"math": (4, 4, 4, 4)}, 2: {"math": (1, 1, 0, 0)}}
    for version, made in ((0, counts), (8, harder)):
        frozen = {"harness": f"v{version:03d}", "source_run": "x/full-seed0", "version": version, "round": version}
        write_run(tmp_path / "transfer" / f"h{version}", made, ablation="task_only", frozen=frozen)
    found = tables_of(tmp_path)
    assert [column.label for column in found["table7"].blocks[0].columns] == ["Initial H₀", "Evolved H₈"]
    assert printed(found["table7"])[1] == "2 | 62.5 [38.6, 81.5] | 95.5 | *12.5* [3.5, 36.0] | *90.0*"
    assert "Evolved H₈: version 8 (round 8) of x/full-seed0" in found["table7"].blocks[0].notes
    assert not found["table5"].blocks
    assert not found["table6"].blocks


def test_harnesses_of_one_round_are_told_apart_by_their_runs(write_run: Any, tmp_path: Path) -> None:
    for place, source in enumerate(("x/full-seed0", "x/full-seed1")):
        frozen = {"harness": f"v8-{place}", "source_run": source, "version": 8, "round": 8}
        counts = {0: {"math": (4, 4)}, 2: {"math": (2, place)}}
        write_run(tmp_path / "transfer" / str(place), counts, ablation="task_only", frozen=frozen)
    block = tables_of(tmp_path)["table7"].blocks[0]
    assert [(column.label, column.paper_row) for column in block.columns] == [
        ("Evolved H₈: evolved by x/full-seed0 v8", None),
        ("Evolved H₈: evolved by x/full-seed1 v8", "evolved"),
    ]
    assert block.notes[0].startswith("No run of Initial H₀ yet: python scripts/transfer.py")


def test_several_seeds_become_one_column_with_intervals_between_runs(write_run: Any, tmp_path: Path) -> None:
    folder = four_arms(write_run, tmp_path / "x", seeds=(0, 1))
    easier = {0: SEEDS, 1: SEEDS, 2: {**FULL[2], "math": (4, 3, 2, 3)}}
    write_run(folder / "full-seed2", easier, seed=2, microusd={2: 3000})
    table = tables_of(tmp_path)["table6"]
    full = table.blocks[0].columns[3]
    assert full.chains == "3 x 4"
    estimate = full.cells[2].estimate
    assert (estimate.unit, estimate.n_runs, estimate.n_chains) == ("run", 3, 12)
    assert abs(estimate.value - 1.25 / 3) < 1e-12
    assert estimate.bootstrap is None
    assert full.cells[2].runs == ("x/full-seed0", "x/full-seed1", "x/full-seed2")


def test_runs_under_another_solver_or_verifier_never_share_a_block(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "x" / "full", FULL)
    write_run(tmp_path / "x" / "task_only", TASK_ONLY, ablation="task_only", solver="openai")
    found = tables_of(tmp_path)
    assert len(found["table5"].blocks) == 1
    assert not found["table6"].blocks


def test_a_repeated_run_and_one_that_lags_are_left_out_and_named(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "full", FULL)
    write_run(tmp_path / "b" / "full", FULL)
    write_run(tmp_path / "c" / "full", {0: SEEDS, 1: FULL[1]}, seed=1)
    block = tables_of(tmp_path)["table5"].blocks[0]
    assert [run.id for run in block.runs] == ["a/full"]
    assert "b/full is left out: a/full is the same arm and seed" in block.notes
    assert "c/full is left out: it has come to round 1 of 2" in block.notes


def test_missing_arms_and_tables_say_which_command_makes_them(write_run: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "x" / "full", FULL)
    write_run(tmp_path / "x" / "online", FULL, ablation="online")
    found = tables_of(tmp_path)
    assert found["table6"].blocks[0].notes == (
        "No run of Task-only, Post-task only yet: python scripts/evolve.py -m experiment=table6_small",
    )
    assert "scripts/transfer.py" in (found["table7"].missing or "")
    assert "experiment=table8_small" in (found["table8"].missing or "")
    assert found["table5"].missing is None


def test_every_cell_of_ours_has_n_an_interval_and_its_runs(write_run: Any, tmp_path: Path) -> None:
    for table in tables_of(four_arms(write_run, tmp_path / "x")).values():
        for row in rows(cells_sheet(table)):
            if row["value"]:
                assert row["low"]
                assert row["high"]
                assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
                assert int(row["n_chains"]) > 0
                assert row["runs"].startswith("x/")


def test_the_texts_name_solver_commit_size_and_runs_and_mark_the_papers(write_run: Any, tmp_path: Path) -> None:
    table = tables_of(four_arms(write_run, tmp_path / "x"))["table6"]
    page, tex = markdown(table), latex(table)
    for text in (page, tex.replace("\\_", "_")):
        assert "embedded-model (embedded default, not the paper's solver)" in text
        assert "commit 0123456789ab" in text
        assert "x/full-seed0" in text
        assert "paper (n = 50)" in text
    assert "| **25.0** [10.2, 49.5] |" in page
    assert "\\textbf{25.0} [10.2, 49.5]" in tex
    assert tex.count("\\begin{tabular}") == tex.count("\\end{tabular}") == 2
    assert "H$_1$$_4$" in latex(paper_only("table7"))


def test_every_row_of_latex_has_as_many_cells_as_its_columns(write_run: Any, tmp_path: Path) -> None:
    for table in tables_of(four_arms(write_run, tmp_path / "x")).values():
        for part in latex(table).split("\\begin{tabular}")[1:]:
            columns, _, body = part.partition("}\n")
            cells = [line for line in body.partition("\\end{tabular}")[0].splitlines() if line[0].isdigit()]
            assert cells
            assert {line.count("&") + 1 for line in cells} == {len(columns.strip("{"))}
            assert part.count("{") == part.count("}")


def test_the_same_runs_give_the_same_texts(write_run: Any, tmp_path: Path) -> None:
    folder = four_arms(write_run, tmp_path / "x", seeds=(0, 1))
    made = [
        [form(table) for table in tables_of(folder).values() for form in (markdown, latex, cells_sheet)]
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_the_sheet_of_runs_has_one_row_a_run(write_run: Any, tmp_path: Path) -> None:
    folder = four_arms(write_run, tmp_path / "x")
    found = rows(runs_sheet(find_runs([str(folder)], folder, "none")))
    assert [row["run"] for row in found] == ["x/full-seed0", "x/online-seed0", "x/post_task-seed0", "x/task_only-seed0"]
    assert {row["chains"] for row in found} == {"12"}

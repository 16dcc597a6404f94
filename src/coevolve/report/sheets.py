"""Tables as CSV: every figure with its interval, n and the runs it comes from. Percentages and points, not shares."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from coevolve.report.columns import Column, Measure
from coevolve.report.runs import TrackedRun
from coevolve.report.statistics import Estimate
from coevolve.report.tables import Block, Table

CELLS = """table block cohort configuration measure round value low high bootstrap_low bootstrap_high unit n_chains
n_attempts n_runs runs lowest paper_row paper_value""".split()
DIFFERENCES = """table block cohort first second measure round value low high bootstrap_low bootstrap_high unit n_chains
n_runs p p_holm runs""".split()
RUNS = """run experiment ablation domain gate seed solver model commit fixed_hash chains attempts first_round last_round
complete frozen""".split()


def cells_sheet(table: Table) -> str:
    """All rounds of ours; the paper's value in a column of its own, also where there is nothing of ours."""
    rows: list[dict[str, Any]] = []
    for block in table.blocks:
        for column in block.columns:
            rows += _column_rows(table, block, column)
    if not table.blocks:
        rows = [
            {"table": table.name, "round": round, "paper_row": row, "paper_value": table.paper.value(row, round)}
            for row in table.paper.rows
            for round in table.paper.rounds
        ]
    return _sheet(CELLS, rows)


def _column_rows(table: Table, block: Block, column: Column) -> Iterator[dict[str, Any]]:
    row = column.paper_row
    for round in sorted({*column.cells, *(table.paper.rounds if row else ())}):
        cell = column.cells.get(round)
        yield {
            **_place(table, block, column.measure, round),
            **(_figures(cell.estimate, column.measure) if cell else {}),
            **({"runs": " ".join(cell.runs), "lowest": cell.lowest} if cell else {}),
            "configuration": column.label,
            "paper_row": row,
            "paper_value": table.paper.value(row, round) if row else None,
        }


def differences_sheet(tables: Sequence[Table]) -> str:
    """Paired differences of every round and table: first minus second."""
    rows = [
        {
            **_place(table, block, measure, found.round),
            **_figures(found.estimate, measure),
            "first": found.first,
            "second": found.second,
            "p": f"{found.p:.4g}",
            "p_holm": None if found.p_holm is None else f"{found.p_holm:.4g}",
            "runs": " ".join(found.runs),
        }
        for table in tables
        for block in table.blocks
        for measure, found in block.differences
    ]
    return _sheet(DIFFERENCES, rows)


def _place(table: Table, block: Block, measure: Measure, round: int) -> dict[str, Any]:
    named = "accuracy_percent" if measure == "accuracy" else f"{measure}_per_seed"
    return {"table": table.name, "block": block.title, "cohort": block.cohort, "measure": named, "round": round}


def _figures(estimate: Estimate, measure: Measure) -> dict[str, Any]:
    ends = estimate.bootstrap or (None, None)
    values = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    shares: dict[str, float | None] = {**values, "bootstrap_low": ends[0], "bootstrap_high": ends[1]}
    scale = 100 if measure == "accuracy" else 1
    return {
        **{name: None if share is None else f"{share * scale:.6g}" for name, share in shares.items()},
        "unit": estimate.unit,
        "n_chains": estimate.n_chains,
        "n_attempts": estimate.n_attempts or None,
        "n_runs": estimate.n_runs,
    }


def runs_sheet(runs: Sequence[TrackedRun]) -> str:
    """One row a run: what it was and how far it went."""
    rows = [
        {
            "run": run.id,
            "experiment": run.experiment,
            "ablation": run.ablation,
            "domain": run.summary.get("domain"),
            "gate": run.summary.get("gate"),
            "seed": run.seed,
            "solver": run.solver_name,
            "model": run.solver_model,
            "commit": run.commit,
            "fixed_hash": run.rounds[0].record.get("fixed_hash"),
            "chains": sum(map(len, run.chains.values())),
            "attempts": run.attempts,
            "first_round": run.rounds[0].round,
            "last_round": run.last_round,
            "complete": run.complete,
            "frozen": f"{run.frozen.source_run} v{run.frozen.version}" if run.frozen else None,
        }
        for run in runs
    ]
    return _sheet(RUNS, rows)


def _sheet(fields: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, fields, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()

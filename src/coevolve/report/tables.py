"""Tables 5-8 from tracked runs: the paper's rows and rounds, an interval in every cell, its values beside ours.

A table has one block for each group of comparable runs and cohort. Accuracies are percentages, costs US dollars (or
tokens) per original seed. Configurations of a block are compared in pairs, on the same chains.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coevolve.report.columns import (
    Column,
    Measure,
    accuracy_column,
    accuracy_values,
    cost_column,
    cost_values,
    differences,
    lowest_in_each_round,
    lowest_round,
)
from coevolve.report.groups import ARMS, COHORTS, EVOLVED, Arm, Group, ablation_groups, transfer_groups
from coevolve.report.operator_costs import operator_costs
from coevolve.report.paper import PaperTable, paper_tables
from coevolve.report.runs import TrackedRun
from coevolve.report.statistics import Difference

TableName = Literal["table5", "table6", "table7", "table8"]
COMMANDS: Mapping[TableName, str] = {
    "table5": "python scripts/evolve.py experiment=table5_small",
    "table6": "python scripts/evolve.py -m experiment=table6_small",
    "table7": "python scripts/transfer.py experiment=table7_small harness=<run>/archive/vNNN,h0",
    "table8": "python scripts/evolve.py -m experiment=table8_small",
}
"""What makes the runs that a table needs; without `_small`, at the paper's size."""


@dataclass(frozen=True)
class Block:
    """One group of comparable runs on one cohort."""

    title: str
    cohort: str
    columns: tuple[Column, ...]
    differences: tuple[tuple[Measure, Difference], ...]
    runs: tuple[TrackedRun, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One of the paper's tables: ours, and its values."""

    name: TableName
    paper: PaperTable
    blocks: tuple[Block, ...]

    @property
    def number(self) -> int:
        """The paper's number."""
        return int(self.name.removeprefix("table"))

    @property
    def missing(self) -> str | None:
        """What to run when there is nothing of ours in it."""
        return None if self.blocks else f"no run for Table {self.number} yet; this makes it: {COMMANDS[self.name]}"


def build_tables(runs: Sequence[TrackedRun]) -> tuple[Table, ...]:
    """Tables 5-8 of whatever was run; every one of them, even where nothing of ours is in it."""
    paper, groups = paper_tables(), ablation_groups(runs)
    return (
        Table("table5", paper["table5"], tuple(_progression(g, f) for g in groups if (f := g.arm("full")))),
        Table("table6", paper["table6"], tuple(_updates(g, c) for g in groups if len(g.arms) > 1 for c in g.cohorts)),
        Table("table7", paper["table7"], tuple(_transfer(g, c) for g in transfer_groups(runs) for c in g.cohorts)),
        Table("table8", paper["table8"], tuple(_costs(g, c) for g in groups if _both(g) for c in g.cohorts)),
    )


def _both(group: Group) -> bool:
    return group.arm("task_only") is not None and group.arm("full") is not None


def _progression(group: Group, full: Arm) -> Block:
    """Table 5: one arm, a column for each domain and for all."""
    domains = list(full.runs[0].chains)
    wanted = [*(["all"] if len(domains) > 1 else []), *domains]
    rounds = paper_tables()["table5"].rounds
    columns = [
        lowest_round(
            replace(accuracy_column(full, cohort), key=cohort, label=COHORTS[cohort], paper_row=cohort), rounds
        )
        for cohort in wanted
    ]
    notes = [] if len(domains) in (1, 3) else [f"All weighs {' and '.join(domains)} equally; the paper has three."]
    return Block(group.title, "all", tuple(columns), (), full.runs, (*notes, *group.left_out))


def _updates(group: Group, cohort: str) -> Block:
    """Table 6: the arms side by side."""
    lacking = [ARMS[key] for key in ARMS if group.arm(key) is None]
    notes = [f"No run of {', '.join(lacking)} yet: {COMMANDS['table6']}"] if lacking else []
    return _side_by_side(group, cohort, notes)


def _transfer(group: Group, cohort: str) -> Block:
    """Table 7: frozen harnesses side by side."""
    notes = [f"No run of Initial H₀ yet: {COMMANDS['table7']}"] if group.arm("initial") is None else []
    frozen = {(arm.label, run.frozen) for arm in group.arms for run in arm.runs if run.frozen and run.frozen.source_run}
    notes += sorted({f"{label}: version {of.version} (round {of.round}) of {of.source_run}" for label, of in frozen})
    return _side_by_side(group, cohort, notes)


def _side_by_side(group: Group, cohort: str, notes: Sequence[str]) -> Block:
    columns = [replace(accuracy_column(arm, cohort), paper_row=_paper_row(arm, group, cohort)) for arm in group.arms]
    compared = differences(group.arms, accuracy_values(cohort), 1.0)
    return Block(
        _title(group, cohort),
        cohort,
        tuple(lowest_in_each_round(columns)),
        tuple(("accuracy", found) for found in compared),
        group.runs,
        (*notes, *group.left_out),
    )


def _costs(group: Group, cohort: str) -> Block:
    """Table 8: accuracy and operator cost of task_only and full."""
    arms = [arm for arm in group.arms if arm.key in ("task_only", "full")]
    costs = {run.id: operator_costs(run) for arm in arms for run in arm.runs}
    in_tokens = any(cost.usd is None for cost in costs.values())
    accuracies, fees = [], []
    for arm in arms:
        row = _paper_row(arm, group, cohort)
        accuracies.append(replace(accuracy_column(arm, cohort), label=f"{arm.label}: accuracy", paper_row=row))
        cost_row = f"{row}_cost" if row and not in_tokens else None
        column = cost_column(arm, cohort, costs, in_tokens)
        fees.append(replace(column, label=f"{arm.label}: cost", paper_row=cost_row))
    notes = list(group.left_out)
    if in_tokens:
        notes.append(
            "A price is unknown: our costs are tokens (input and output) per original seed, the paper's dollars."
        )
    elif any(cost.nominal for cost in costs.values()):
        notes.append("Our prices are nominal ones of local and procedural models, which nobody is billed.")
    compared: list[tuple[Measure, Difference]] = [
        ("accuracy", found) for found in differences(arms, accuracy_values(cohort), 1.0)
    ]
    unit: Measure = "tokens" if in_tokens else "usd"
    compared += [(unit, found) for found in differences(arms, cost_values(cohort, costs, in_tokens), math.inf)]
    both = zip(lowest_in_each_round(accuracies), lowest_in_each_round(fees), strict=True)
    columns = tuple(column for pair in both for column in pair)
    runs = tuple(run for arm in arms for run in arm.runs)
    return Block(_title(group, cohort), cohort, columns, tuple(compared), runs, tuple(notes))


def _paper_row(arm: Arm, group: Group, cohort: str) -> str | None:
    """The paper's row beside an arm: its cohort is the mathematics one, its evolved harness the last of ours."""
    if cohort != "math":
        return None
    if not arm.key.startswith(EVOLVED):
        return arm.key
    return "evolved" if arm is group.arms[-1] else None


def _title(group: Group, cohort: str) -> str:
    named = "mathematics cohort" if cohort == "math" else f"cohort {cohort}, domains equally weighted"
    return f"{group.title}; {named}" + ("" if cohort == "math" else " (not in the paper)")

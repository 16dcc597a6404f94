"""Tables 1-4 and a table of every student, from tracked evaluations (Section 4.5, Appendix C).

A row is a training data set (`label=`), a column a benchmark, a block a student. Tables 1 and 2 take the students that
were evaluated on a benchmark of their own, Table 3 those with APEX scores before and after training, Table 4 every
model with an APEX score; the table `students` takes all of them, with whatever benchmarks were run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coevolve.report.evaluations import UNTRAINED, Evaluation
from coevolve.report.paper_downstream import OVERALL, PaperScores, paper_scores
from coevolve.report.scores import ColumnDifference, Row, Trainings, adjusted, cells_of, compared

Name = Literal["table1", "table2", "table3", "table4", "students"]
COMMAND = (
    "python scripts/evaluate.py -m benchmark={benchmarks} solver=openai solver.base_url=<url> solver.model=<name> "
    "student=<student> label={labels}"
)
"""What makes the evaluations; `untrained` is the checkpoint."""
ByRow = Mapping[str, Mapping[str, Trainings]]
"""Row -> benchmark -> evaluations."""


@dataclass(frozen=True)
class ScoreBlock:
    """One student (Table 4: all models)."""

    title: str
    rows: tuple[Row, ...]
    columns: Mapping[str, str]
    """Benchmark -> heading."""
    differences: tuple[ColumnDifference, ...]
    evaluations: tuple[Evaluation, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Downstream:
    """One table: ours, and the paper's values where it has them."""

    name: Name
    title: str
    paper: PaperScores | None
    blocks: tuple[ScoreBlock, ...]

    @property
    def heading(self) -> str:
        """What it is called in print."""
        return f"Table {self.name.removeprefix('table')}" if self.paper else "Table of students"

    @property
    def missing(self) -> str | None:
        """What to run when there is nothing of ours in it."""
        if self.blocks:
            return None
        benchmarks = [column for column in self.paper.columns if column != OVERALL] if self.paper else ["file"]
        labels = UNTRAINED if self.name == "table4" else "<data>"
        made = COMMAND.format(benchmarks=",".join(benchmarks), labels=labels)
        made += "" if self.paper else " benchmark.path=<file>"
        return f"no evaluation for {self.heading} yet; this makes it: {made}"


def build_downstream(evaluations: Sequence[Evaluation]) -> tuple[Downstream, ...]:
    """Every table, even where nothing of ours is in it."""
    papers = paper_scores()
    kept, left_out = one_each(evaluations)
    students = sorted({one.student for one in kept})
    of = {student: [one for one in kept if one.student == student] for student in students}
    tables = []
    for name in ("table1", "table2", "table3"):
        paper = papers[name]
        chosen = [_student_block(student, of[student], paper) for student in students if _belongs(of[student], paper)]
        tables.append(Downstream(name, paper.title, paper, tuple(chosen)))
    models = [_models_block(kept, papers["table4"])] if any(one.benchmark == "apex" for one in kept) else []
    tables.append(Downstream("table4", papers["table4"].title, papers["table4"], tuple(models)))
    every = [_student_block(student, of[student], None) for student in students]
    every = [replace(every[0], notes=(*every[0].notes, *left_out)), *every[1:]] if every else []
    return (*tables, Downstream("students", "Every student and benchmark evaluated", None, tuple(every)))


def one_each(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[str]]:
    """One evaluation for each student, label, training seed and benchmark, of the same items; who is left out and why.

    Of several versions of a benchmark the one with the most evaluations stays.
    """
    kept: list[Evaluation] = []
    left_out = []
    seen: dict[tuple[str, str, int | None, str], str] = {}
    for one in evaluations:
        items = _usual_items(one.benchmark, evaluations)
        key = (one.student, one.label, one.training_seed, one.benchmark)
        if one.items_hash != items:
            left_out.append(
                f"{one.id} is left out: its items are not those of the other evaluations of {one.benchmark}"
            )
        elif key in seen:
            left_out.append(
                f"{one.id} is left out: {seen[key]} is the same student, label, training seed and benchmark"
            )
        else:
            seen[key] = one.id
            kept.append(one)
    return kept, left_out


def _usual_items(benchmark: str, evaluations: Sequence[Evaluation]) -> str:
    found = [one.items_hash for one in evaluations if one.benchmark == benchmark]
    return max(sorted(set(found)), key=found.count)


def _belongs(made: Sequence[Evaluation], paper: PaperScores) -> bool:
    """A student evaluated on one of the table's own benchmarks; where only it is shown, before and after training."""
    there = [one for one in made if one.benchmark in paper.own]
    trained = {one.label == UNTRAINED for one in there}
    return bool(there) and (len(paper.columns) > 1 or trained == {True, False})


def _student_block(student: str, made: Sequence[Evaluation], paper: PaperScores | None) -> ScoreBlock:
    columns = paper.columns if paper else _every_column(made)
    used = [one for one in made if one.benchmark in columns]
    by_row = {label: _by_benchmark(label, used) for label in sorted({one.label for one in used})}
    rows = _with_gains([_row(key, by_row, columns, paper) for key in _row_keys(by_row, paper)], list(columns))
    before = by_row.get(UNTRAINED, {})
    found = [
        difference
        for row in rows
        if row.key != UNTRAINED
        for difference in compared(row.label, by_row.get(row.key, {}), before, list(columns))
    ]
    beside = f"; the paper's student: {paper.student}" if paper else ""
    notes = (*_notes(student, rows, columns, used), *_sampling(used))
    return ScoreBlock(f"{student}{beside}", tuple(rows), columns, tuple(adjusted(found)), tuple(used), notes)


def _models_block(made: Sequence[Evaluation], paper: PaperScores) -> ScoreBlock:
    """Table 4: a row a model, best first, ours before rows that only the paper has."""
    used = [one for one in made if one.benchmark in paper.own]
    by_row: dict[str, dict[str, list[Evaluation]]] = {}
    names: dict[str, str] = {}
    for one in used:
        name = one.student if one.label == UNTRAINED else f"{one.student}, {one.label}"
        key = _slug(name)
        names.setdefault(key, name)
        by_row.setdefault(key, {}).setdefault(one.benchmark, []).append(one)
    found = [Row(key, names[key], cells_of(made_of, list(paper.columns))) for key, made_of in by_row.items()]
    found += [Row(key, label, {}) for key, label in paper.labels.items() if key not in by_row]
    column = paper.own[0]
    found.sort(key=lambda row: (-_tenths(row, column), -paper.values.get(row.key, {}).get(column, -1), row.label))
    rows = _marked(found, list(paper.columns))
    notes = tuple(_sampling(used))
    return ScoreBlock("every model evaluated", tuple(rows), paper.columns, (), tuple(used), notes)


def _tenths(row: Row, column: str) -> int:
    return row.cells[column].tenths if column in row.cells else -1


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _every_column(made: Sequence[Evaluation]) -> dict[str, str]:
    """The benchmarks found, the paper's first, and Overall where there are several."""
    headings = {name: label for paper in paper_scores().values() for name, label in paper.columns.items()}
    headings.pop(OVERALL)
    names = {one.benchmark for one in made}
    ordered = [*(name for name in headings if name in names), *sorted(names - headings.keys())]
    columns = {name: headings.get(name, name) for name in ordered}
    return {**columns, OVERALL: "Overall"} if len(columns) > 1 else columns


def _row_keys(by_row: ByRow, paper: PaperScores | None) -> list[str]:
    """The checkpoint first, then the paper's order, then others by name."""
    order = dict.fromkeys((UNTRAINED, *(key for table in _papers(paper) for key in table.labels)))
    shown = [key for key in order if key in by_row or key == UNTRAINED or (paper and key in paper.labels)]
    return [*shown, *sorted(by_row.keys() - order.keys())]


def _papers(paper: PaperScores | None) -> list[PaperScores]:
    return [paper] if paper else [paper_scores()[name] for name in ("table1", "table2", "table3")]


def _row(key: str, by_row: ByRow, columns: Mapping[str, str], paper: PaperScores | None) -> Row:
    labels = paper.labels if paper else {UNTRAINED: "No additional training"}
    return Row(key, labels.get(key, key), cells_of(by_row.get(key, {}), list(columns)))


def _by_benchmark(label: str, made: Sequence[Evaluation]) -> dict[str, list[Evaluation]]:
    found: dict[str, list[Evaluation]] = {}
    for one in sorted(made, key=lambda one: (one.training_seed or 0, one.id)):
        if one.label == label:
            found.setdefault(one.benchmark, []).append(one)
    return found


def _with_gains(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """Gains from displayed values, and the best of each column."""
    before = next((row.cells for row in rows if row.key == UNTRAINED), {})
    gained = []
    for row in rows:
        cells = {
            column: replace(cell, gain=cell.tenths - before[column].tenths)
            if row.key != UNTRAINED and column in before
            else cell
            for column, cell in row.cells.items()
        }
        gained.append(replace(row, cells=cells))
    return _marked(gained, columns)


def _marked(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """With the highest displayed value of each column marked; nothing where only one row has it."""
    shown = {column: [row.cells[column].tenths for row in rows if column in row.cells] for column in columns}
    best = {column: max(values) for column, values in shown.items() if len(values) > 1}
    return [
        replace(
            row,
            cells={column: replace(cell, best=cell.tenths == best.get(column)) for column, cell in row.cells.items()},
        )
        for row in rows
    ]


def _notes(student: str, rows: Sequence[Row], columns: Mapping[str, str], used: Sequence[Evaluation]) -> Iterator[str]:
    """What is missing, and the command that makes it; what is only a part."""
    wanted = [column for column in columns if column != OVERALL]
    for row in rows:
        lacking = [column for column in wanted if column not in row.cells]
        if lacking and (row.cells or row.key == UNTRAINED):
            made = COMMAND.format(benchmarks=",".join(lacking), labels=row.key).replace("<student>", student)
            yield f"{row.label}: no evaluation on {', '.join(columns[name] for name in lacking)} yet: {made}"
    for one in used:
        if len(one.tasks) < one.n_items:
            yield f"{one.id} is over {len(one.tasks)} of {one.n_items} items"


def _sampling(used: Sequence[Evaluation]) -> Iterator[str]:
    """Where a column's evaluations did not ask alike: then their difference is not one of training data alone."""
    for benchmark in dict.fromkeys(one.benchmark for one in used):
        ways = sorted({f"{one.attempts} attempts, {one.sampling}" for one in used if one.benchmark == benchmark})
        if len(ways) > 1:
            yield f"{benchmark} was not asked alike in all rows ({'; '.join(ways)}): differences are not of data alone"

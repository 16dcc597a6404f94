"""What the paper leaves out of its tables: validity and fallback by round, and tasks under another solver."""

from collections.abc import Sequence
from pathlib import Path

from coevolve.evaluation.outcomes import wilson
from coevolve.report.runs import TrackedRound, TrackedRun
from coevolve.report.sections import Cell, Column, Line, Section
from coevolve.report.statistics import accuracy, paired, rates

FROZEN_COMMAND = "No frozen-harness run; python scripts/transfer.py harness=<run>/archive/vNNN,h0 makes them."
SOLVER_COMMAND = (
    "No archived tasks under another solver; python scripts/transfer.py harness=h0 tasks=<run>/archive/vNNN rounds=0 "
    "solver=<another> measures them."
)


def yield_section(runs: Sequence[TrackedRun]) -> Section:
    """Validity before fallback and the share that kept its predecessor, round by round."""
    columns = (
        Column("validity", "share"),
        Column("fallback", "share"),
        Column("misses of the own attempt", "count"),
        Column("most frequent cause of failure", "text"),
    )
    words = (
        "Validity: chains whose new task passed every check; the others were refused, missing or cut, and fell back on "
        "their predecessor. Intervals are Wilson's over chains."
    )
    lines = tuple(_yield_line(run, found) for run in runs for found in run.rounds if _batch(found))
    return Section("validity", "Validity and fallback by round", words, "chains", columns, lines, "No round yet.")


def _batch(found: TrackedRound) -> dict[str, object]:
    batch: dict[str, object] = found.record["evaluations"].get("batch") or {}
    return batch


def _yield_line(run: TrackedRun, found: TrackedRound) -> Line:
    batch = found.record["evaluations"]["batch"]
    n, valid = batch["n_tasks"], batch["valid"]
    low, high = wilson(valid / n, n)
    causes = batch.get("causes") or {}
    worst = max(sorted(causes), key=lambda cause: causes[cause], default="")
    cells = (
        Cell(valid / n, low, high),
        Cell(1 - valid / n, 1 - high, 1 - low),
        Cell(batch["misses"]),
        Cell(f"{worst} ({causes[worst]})" if worst else None),
    )
    return Line(run.id, found.round, "", n, cells)


def frozen_section(runs: Sequence[TrackedRun]) -> Section:
    """Frozen harnesses against H_0 under the same solver on the same seeds, at the last round both have."""
    columns = (
        Column("harness", "text"),
        Column("solver", "text"),
        Column("accuracy", "share"),
        Column("less than H_0's", "points"),
    )
    words = (
        "Each frozen harness at the last round that it shares with H_0; every solver and domain in lines of its own. "
        "Accuracy with Wilson's interval clustered by chain; the difference is harness minus H_0 on the same chains "
        "(Student's), below zero where the harness makes harder tasks."
    )
    frozen = [run for run in runs if run.frozen is not None and run.last_round > 0]
    lines = tuple(_frozen_line(run, _h_0(run, frozen)) for run in frozen)
    return Section("frozen", "Frozen harnesses by solver", words, "chains", columns, lines, FROZEN_COMMAND)


def _h_0(run: TrackedRun, frozen: Sequence[TrackedRun]) -> TrackedRun | None:
    """The run of H_0 with the same solver, roles, seeds and fixed parts."""
    return next(
        (
            other
            for other in frozen
            if other.frozen is not None
            and other.frozen.version == 0
            and other is not run
            and other.measuring_hash == run.measuring_hash
            and other.seed == run.seed
            and other.chains == run.chains
        ),
        None,
    )


def _frozen_line(run: TrackedRun, initial: TrackedRun | None) -> Line:
    found = run.rounds[-1]
    both = [number for number in run.rounds if initial is not None and initial.at(number.round) is not None]
    found = both[-1] if both else found
    reference = initial.at(found.round) if initial is not None else None
    estimate = accuracy(found.scores.tasks)
    change = Cell(None)
    if reference is not None:
        pair = (rates(found.scores.tasks), rates(reference.scores.tasks))
        difference = paired("harness", "h0", found.round, [pair], 1.0).estimate
        change = Cell(difference.value, difference.low, difference.high)
    harness = f"{run.frozen.source_run or 'h0'} v{run.frozen.version}" if run.frozen else ""
    cells = (Cell(harness), Cell(run.solver_model), Cell(estimate.value, estimate.low, estimate.high), change)
    is_initial = run.frozen is not None and run.frozen.version == 0
    note = "" if reference is not None or is_initial else "no run of h0 on these seeds under this solver"
    return Line(run.id, found.round, "", estimate.n_chains, cells, note)


def solver_section(runs: Sequence[TrackedRun]) -> Section:
    """The same archived tasks under the solver they evolved against and under another one."""
    columns = (
        Column("solver", "text"),
        Column("accuracy", "share"),
        Column("solver it evolved against", "text"),
        Column("its accuracy", "share"),
        Column("difference", "points"),
    )
    words = (
        "Whether difficulty is the solver's or the task's: archived tasks, as they are, answered by another solver. "
        "Difference: the other solver minus the one they evolved against, on the same tasks (Student's over chains)."
    )
    lines = tuple(line for run in runs if (line := _solver_line(run, runs)) is not None)
    return Section(
        "other_solver", "Archived tasks under another solver", words, "chains", columns, lines, SOLVER_COMMAND
    )


def _solver_line(run: TrackedRun, runs: Sequence[TrackedRun]) -> Line | None:
    """None for runs that did not start from archived tasks; their source is read where it lies or among `runs`."""
    begun = (run.config.get("frozen") or {}).get("tasks")
    if begun is None:
        return None
    source = next((other for other in runs for found in other.rounds if found.folder == Path(begun)), None)
    found = next((number for number in source.rounds if number.folder == Path(begun)), None) if source else None
    mine = accuracy(run.rounds[0].scores.tasks)
    cells = (Cell(run.solver_model), Cell(mine.value, mine.low, mine.high))
    if source is None or found is None:
        note = f"give the run of {'/'.join(Path(begun).parts[-4:])} too"
        return Line(run.id, None, Path(begun).name, mine.n_chains, (*cells, *((Cell(None),) * 3)), note)
    theirs = accuracy(found.scores.tasks)
    pair = (rates(run.rounds[0].scores.tasks), rates(found.scores.tasks))
    difference = paired("other", "own", found.round, [pair], 1.0).estimate
    rest = (
        Cell(source.solver_model),
        Cell(theirs.value, theirs.low, theirs.high),
        Cell(difference.value, difference.low, difference.high),
    )
    return Line(run.id, found.round, f"{source.id} {found.folder.name}", mine.n_chains, (*cells, *rest))

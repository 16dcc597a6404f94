"""Scoring: the fixed solver's attempts at a set of tasks, as counts."""

from collections.abc import Sequence

from coevolve.agents.solver import Attempt, Solver
from coevolve.concurrency import finish_all
from coevolve.evaluation.outcomes import Scores, TaskScore
from coevolve.events import Scope
from coevolve.ledger import CallKey
from coevolve.tasks import Task


async def attempts(solver: Solver, scope: Scope, task: Task, n: int) -> list[Attempt]:
    """`n` attempts at one task; they share its prompt. Raises CeilingReached, CallFailed."""
    draft = task.draft()
    keys = [CallKey(scope, task.chain, 0, "solver", number) for number in range(n)]
    return await finish_all(solver.attempt(key, task.domain, draft) for key in keys)


async def score(solver: Solver, scope: Scope, tasks: Sequence[Task], n: int) -> tuple[Scores, dict[str, list[Attempt]]]:
    """`n` attempts at each task: counts, and the attempts by chain. Raises CeilingReached, CallFailed."""
    made = await finish_all(attempts(solver, scope, task, n) for task in tasks)
    scores = Scores(tasks=tuple(task_score(task, found) for task, found in zip(tasks, made, strict=True)))
    return scores, {task.chain: found for task, found in zip(tasks, made, strict=True)}


def task_score(task: Task, found: Sequence[Attempt]) -> TaskScore:
    """Counts of one task's attempts."""
    ends = [attempt.outcome for attempt in found]
    return TaskScore(
        chain=task.chain,
        domain=task.domain,
        correct=ends.count("correct"),
        attempts=len(ends),
        truncated=ends.count("truncated"),
        unparsed=ends.count("unparsed"),
        unknown=ends.count("unknown"),
        question_chars=len(task.question),
    )

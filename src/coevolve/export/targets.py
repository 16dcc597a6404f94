"""What a student is asked, and what it learns to write."""

from collections.abc import Sequence
from typing import Literal

from coevolve.agents.solver_prompts import solver_messages
from coevolve.tasks import Answer, Task
from coevolve.verifiers import extract
from coevolve.verifiers.base import Verifiers

Message = dict[str, str]


def prompt(task: Task) -> list[Message]:
    """The question with the fixed closing instruction, as able solvers are asked it."""
    return [
        {"role": message.role, "content": message.content}
        for message in solver_messages(task.domain, task.draft(), "plain")
    ]


async def target(
    kind: Literal["derivation", "attempt"], task: Task, attempts: Sequence[str], verifiers: Verifiers
) -> str | None:
    """The text to learn, or None when there is none: no derivation, or no attempt that is judged right."""
    if kind == "derivation":
        return derivation(task)
    for text in attempts:
        if (await verifiers.grade(task.domain, task.draft(), text)).verdict == "equal":
            return text.strip()
    return None


def derivation(task: Task) -> str | None:
    """The task's own solution, closed by its answer unless it declares one; None without a solution.

    For a program it is the reference program itself.
    """
    if task.answer.type == "code_tests":
        return f"```python\n{task.answer.value.strip()}\n```"
    solution = task.solution.strip()
    if not solution:
        return None
    if extract.answer(solution) is not None:
        return solution
    return f"{solution}\nAnswer: {answer_text(task.answer)}"


def answer_text(answer: Answer) -> str:
    """An answer as it is written out: the value with its unit."""
    return f"{answer.value} {answer.unit}" if answer.unit else answer.value

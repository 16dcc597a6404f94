"""Worked steps and recomputing programs that grow with a draft."""

from fractions import Fraction

from coevolve.construction.grammar import Operands, StepKind
from coevolve.tasks import Answer, Draft

HEADER = "from decimal import Decimal\nfrom fractions import Fraction\n"
ANSWER = "Answer: "


def worked(draft: Draft, sentence: str, after: Answer) -> str:
    """The draft's solution, one line more, and the new answer at its end."""
    before = _shown(draft.answer)
    start = without_answer(draft.solution) or f"The first answer is {before}."
    return f"{start}\n{sentence} From {before} this gives {_shown(after)}.\n{ANSWER}{_shown(after)}"


def unchanged(draft: Draft, sentence: str) -> str:
    """The draft's solution with a remark that leaves the answer as it is."""
    return f"{without_answer(draft.solution)}\n{sentence}\n{ANSWER}{_shown(draft.answer)}".lstrip()


def without_answer(solution: str) -> str:
    """A solution without the answer line at its end."""
    head, _, last = solution.rstrip().rpartition("\n")
    return head if last.startswith(ANSWER) else solution.rstrip()


def without_last_step(draft: Draft, before: Answer) -> Draft:
    """The draft as it was before its last step, as far as the worked solution tells."""
    solution = without_answer(draft.solution)
    head, _, last = solution.rpartition("\n")
    return draft.model_copy(update={"answer": before, "solution": head if " this gives " in last else solution})


def _shown(answer: Answer) -> str:
    if answer.type == "code_tests":
        return "the program above"
    return f"{answer.value} {answer.unit}" if answer.type == "quantity" and answer.unit else answer.value


def base_program(value: Fraction) -> str:
    """The program that starts from a known value."""
    return f'{HEADER}x = Fraction("{value}")\nprint(x)\n'


def captured_program(program: str) -> str:
    """The program that takes its first value from the number that another program prints last."""
    return (
        f"{HEADER}import contextlib\nimport io\n\nprinted = io.StringIO()\n"
        f"with contextlib.redirect_stdout(printed):\n"
        f'    exec({program!r}, {{"__name__": "__main__"}})\n'
        f"x = Fraction(printed.getvalue().strip().splitlines()[-1].split()[0])\nprint(x)\n"
    )


def extended_program(program: str | None, before: Fraction, kind: StepKind, operands: Operands, answer: Answer) -> str:
    """A program that recomputes `answer`: the parent's (or the verified value `before`) and one step more."""
    if program is None:
        program = base_program(before)
    elif not program.startswith(HEADER):
        program = captured_program(program)
    body = program.rstrip("\n").rpartition("\n")[0]
    exact = "/" in answer.value or answer.value.lstrip("-").isdigit()
    shown = "x" if exact else "Decimal(x.numerator) / Decimal(x.denominator)"
    unit = f", {answer.unit!r}" if answer.type == "quantity" and answer.unit else ""
    return f"{body}\nx = Fraction({kind.code.format(*operands)})\nprint({shown}{unit})\n"

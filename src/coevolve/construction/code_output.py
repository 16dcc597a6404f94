"""Constructions over output prediction: one pure operation more on the value a Python expression has."""

import ast
import random
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from coevolve.construction.base import ANY, Asked, Base, Inapplicable, Limits, within
from coevolve.construction.code_forms import expression, filled, literal, written
from coevolve.construction.code_values import NAMES, OPERATIONS, Operands, Operation
from coevolve.construction.working import without_last_step, worked
from coevolve.tasks import Answer, Domain, Draft, Tests

TAIL = re.compile(r"\n(?:Take that value and [^\n]*; what is the result\?|Then [^\n]*\.)\Z")
WITH_OPERAND = re.compile(r"(?:add \S+ to it|subtract \S+ from it|multiply it by \S+|append \S+ to it)\W[^\n]*\Z")
VERBOSE_TAIL = re.compile(r"\nTake that value and ([^\n]*); what is the result\?")
TRUE_OR_FALSE = re.compile(r"\s*Answer (?:with )?True or False\.\s*\Z")
FAILURES = (TypeError, ValueError, IndexError, KeyError, OverflowError, ZeroDivisionError, AttributeError)


def computed(operation: Operation, value: Any, operands: Operands) -> Any:
    """The value after an operation. Raises Inapplicable where it is undefined."""
    try:
        return operation.compute(value, tuple(literal(operand) for operand in operands))
    except FAILURES as error:
        raise Inapplicable(f"{operation.name} is undefined for {value!r}"[:120]) from error


def drawn(operation: Operation, size: int, value: Any, rng: random.Random) -> Operands | None:
    """Operands for a value, or None; values of a mixed kind that cannot be handled count as unfit."""
    if type(value) not in operation.types or operation.size > size:
        return None
    try:
        return operation.draw(size, value, rng)
    except FAILURES:
        return None


def ordered(op: str, size: int, rng: random.Random) -> list[Operation]:
    """The operations of a size in drawing order, those at home near that size first."""
    choices = [operation for operation in OPERATIONS if op in (ANY, operation.name)]
    rng.shuffle(choices)
    return sorted(choices, key=lambda operation: operation.size < min(size, 4) - 1)


def composed_tests(tests: Tests, operation: Operation, operands: Operands) -> Tests:
    """The call with one operation more around it."""
    if tests.call is None:
        raise Inapplicable("the tests hold no call")
    call = filled(operation.expression, tests.call.strip(), operands)
    expression(call)
    return tests.model_copy(update={"call": call})


def printing_program(tests: Tests | None) -> str | None:
    """A program that prints the value the call has."""
    return f"{tests.code.rstrip()}\n\nprint(repr({tests.call}))\n".lstrip() if tests and tests.call else None


def in_place(draft: Draft) -> bool:
    """Whether the question shows the whole expression whose value it asks for, so that it can grow there."""
    call = draft.tests.call if draft.tests and draft.tests.kind == "call_output" else None
    return bool(call) and (call or "") in draft.question and TAIL.search(draft.question) is None


def replaced(question: str, old: str, new: str) -> str:
    """`question` with the last `old` in it replaced."""
    head, _, rest = question.rpartition(old)
    return f"{head}{new}{rest}"


@dataclass(frozen=True)
class CodeOutput(Base):
    """One operation more: terse in the expression itself, verbose as a sentence after it."""

    name: ClassVar[str] = "code_step"
    domains: ClassVar[tuple[Domain, ...]] = ("coding",)
    ops: ClassVar[tuple[str, ...]] = NAMES

    def suits(self, asked: Asked) -> bool:
        """Questions for the value of a Python expression."""
        return asked.answer_type == "code_output"

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with one operation more, of the first kind drawn that changes the value."""
        if not self.applies(draft, domain):
            raise Inapplicable("the answer is no Python literal")
        value = literal(draft.answer.value)
        reason = f"no operation of size {size} fits a {type(value).__name__}"
        for operation in ordered(self.op, size, rng):
            operands = drawn(operation, size, value, rng)
            if operands is None:
                continue
            try:
                return self._extended(draft, operation, operands, limits)
            except Inapplicable as refused:
                reason = str(refused)
        raise Inapplicable(reason)

    def _extended(self, draft: Draft, operation: Operation, operands: Operands, limits: Limits) -> Draft:
        value = literal(draft.answer.value)
        after = computed(operation, value, operands)
        if (type(after), after) == (type(value), value) or after in ("", [], (), {}):
            raise Inapplicable(f"{operation.name} leaves nothing new")
        text = written(after)
        calling = draft.tests is not None and draft.tests.kind == "call_output"
        tests = composed_tests(draft.tests, operation, operands) if draft.tests and calling else None
        question = draft.question if type(after) is bool else TRUE_OR_FALSE.sub("", draft.question)
        words = operation.words.format(*operands)
        if self.style == "terse" and in_place(draft) and draft.tests and tests:
            question = replaced(question, draft.tests.call or "", tests.call or "")
        elif self.style == "terse":
            question = f"{question.rstrip()}\nThen {words}."
        else:
            question = f"{question.rstrip()}\nTake that value and {words}; what is the result?"
        answer = Answer(type="code_output", value=text)
        extended = Draft(
            question=question,
            answer=answer,
            solution=worked(draft, f"Then {words}.", answer),
            program=printing_program(tests),
            tests=tests,
            skills_used=draft.skills_used,
        )
        return within(extended, limits)


def last_operation(call: str) -> tuple[str, str, str] | None:
    """(left side, operator, right literal) of an expression that ends in `+`, `-` or `*` and a constant."""
    node = expression(call)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return None
    if not isinstance(node.right, ast.Constant) or type(node.right.value) not in (int, str):
        return None
    symbol = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(node.op)]
    left, right = ast.get_source_segment(call, node.left), ast.get_source_segment(call, node.right)
    if left is None or right is None:
        return None
    opening = call[: call.index(left)]
    return (f"({left})" if opening.strip().startswith("(") else left), symbol, right


def undone(value: Any, symbol: str, operand: Any) -> Any:
    """The value before `symbol operand`. Raises Inapplicable where it cannot be known."""
    if type(value) is int and type(operand) is int:
        if symbol == "*":
            if operand == 0 or value % operand:
                raise Inapplicable("the last product cannot be undone")
            return value // operand
        return value - operand if symbol == "+" else value + operand
    if type(value) is str and type(operand) is str and symbol == "+" and value.endswith(operand) and operand:
        return value[: -len(operand)]
    raise Inapplicable("the last operation cannot be undone")


def sharpened(draft: Draft, size: int, rng: random.Random, limits: Limits) -> Draft:
    """The draft whose last operation has an operand at least twice as large. Raises Inapplicable."""
    found = last_operation(draft.tests.call) if draft.tests and draft.tests.call else None
    if found is None or draft.tests is None or draft.tests.call is None:
        raise Inapplicable("the expression ends in no operation with an operand")
    left, symbol, right = found
    before = undone(literal(draft.answer.value), symbol, literal(right))
    names = {"+": ("add", "concat"), "-": ("sub",), "*": ("mul",)}[symbol]
    for operation in OPERATIONS:
        operands = drawn(operation, size, before, rng) if operation.name in names else None
        if operands is None or not _twice(literal(operands[0]), literal(right)):
            continue
        call = filled(operation.expression, left, operands)
        old, new = operation.words.format(right), operation.words.format(*operands)
        answer = Answer(type="code_output", value=written(computed(operation, before, operands)))
        tests = draft.tests.model_copy(update={"call": call})
        earlier = without_last_step(draft, Answer(type="code_output", value=written(before)))
        sharper = {
            "question": _with_operand(draft, (old, new), call),
            "answer": answer,
            "solution": worked(earlier, f"Then {new}.", answer),
            "tests": tests,
            "program": printing_program(tests),
        }
        return within(draft.model_copy(update=sharper), limits)
    raise Inapplicable(f"no operand of size {size} is twice as large as {right}")


def _with_operand(draft: Draft, words: tuple[str, str], call: str) -> str:
    """The question with its last operation changed, where the expression or the last sentence says it."""
    if in_place(draft) and draft.tests and draft.tests.call:
        return replaced(draft.question, draft.tests.call, call)
    old, new = words
    for sentence in (f"\nThen {old}.", f"\nTake that value and {old}; what is the result?"):
        if draft.question.endswith(sentence):
            return draft.question.removesuffix(sentence) + sentence.replace(old, new)
    raise Inapplicable("the question does not end in the operation that could be sharpened")


def tightened(draft: Draft, limits: Limits) -> Draft:
    """The same task with its added sentences in the terse wording. Raises Inapplicable."""
    question = VERBOSE_TAIL.sub(lambda found: f"\nThen {found[1]}.", draft.question)
    if question == draft.question:
        raise Inapplicable("no added sentence could be worded more tersely")
    return within(draft.model_copy(update={"question": question}), limits)


def _twice(new: Any, old: Any) -> bool:
    return len(new) >= 2 * len(old) if isinstance(new, str) else bool(new >= 2 * old)

"""Constructions over programs judged by tests: a further function that carries the result on.

The new tests come from the old ones: our own pure operation is applied to each expected literal.
"""

import ast
import random
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from coevolve.construction.base import Asked, Base, Inapplicable, Limits, within
from coevolve.construction.code_forms import filled, written
from coevolve.construction.code_output import computed, drawn, ordered
from coevolve.construction.code_values import NAMES, Operands, Operation
from coevolve.tasks import Answer, Domain, Draft, Tests

NAME_CHOICES = ("solve", "finish", "combined", "final_step", "carry_on")
TAIL = re.compile(r"\n(?:Also write a function|Then write) `(\w+)`[^\n]*\.\Z")
VERBOSE_HEAD = re.compile(
    r"\nAlso write a function `(\w+)` that passes its arguments on to `(\w+)` and returns the outcome of this "
    r"on its value: "
)
VERBOSE_LINK, TERSE_LINK = "; after that, with the value so far, ", "; "
RETURN = "    return value\n"


@dataclass(frozen=True)
class Case:
    """One assertion `call == expected`, with the call's own text."""

    arguments: str
    expected: Any


def cases_of(tests: Tests) -> list[Case]:
    """Assertions of the plain form among the tests."""
    if tests.kind == "asserts":
        sources, names = [str(case) for case in tests.cases], {tests.entry_point or ""}
    elif tests.kind == "check_function":
        sources, names = [tests.code], {"candidate", tests.entry_point or ""}
    else:
        return []
    found = []
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found += [case for node in ast.walk(tree) if (case := _case(node, source, names))]
    return found


def _case(node: ast.AST, source: str, names: set[str]) -> Case | None:
    if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1):
        return None
    call, expected = node.test.left, node.test.comparators[0]
    if not (isinstance(node.test.ops[0], ast.Eq) and isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    text = ast.get_source_segment(source, call)
    if call.func.id not in names or text is None or not text.startswith(call.func.id):
        return None
    try:
        value = ast.literal_eval(expected)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return Case(text[len(call.func.id) :].strip(), value)


@dataclass(frozen=True)
class CodeTests(Base):
    """A function around the asked one that applies one pure operation more to what it returns."""

    name: ClassVar[str] = "compose_function"
    domains: ClassVar[tuple[Domain, ...]] = ("coding",)
    ops: ClassVar[tuple[str, ...]] = NAMES

    def suits(self, asked: Asked) -> bool:
        """Questions for a program."""
        return asked.answer_type == "code_tests"

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Suits, and at least two tests compare a call with a literal."""
        tested = draft.tests is not None and bool(draft.tests.entry_point) and len(cases_of(draft.tests)) > 1
        return super().applies(draft, domain) and tested and bool(draft.answer.value.strip())

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with one operation more after its function."""
        if not self.applies(draft, domain) or draft.tests is None:
            raise Inapplicable("the tests hold too few plain comparisons with literals")
        cases = cases_of(draft.tests)
        reason = f"no operation of size {size} fits what the function returns"
        for operation in ordered(self.op, size, rng):
            longest = max(cases, key=lambda case: len(repr(case.expected)))
            operands = drawn(operation, size, longest.expected, rng)
            if operands is None or any(drawn(operation, size, case.expected, rng) is None for case in cases):
                continue
            try:
                return self._extended(draft, cases, operation, operands, limits)
            except Inapplicable as refused:
                reason = str(refused)
        raise Inapplicable(reason)

    def _extended(
        self, draft: Draft, cases: list[Case], operation: Operation, operands: Operands, limits: Limits
    ) -> Draft:
        after = [computed(operation, case.expected, operands) for case in cases]
        if all(new == case.expected for new, case in zip(after, cases, strict=True)):
            raise Inapplicable(f"{operation.name} changes no test")
        if len({repr(case.expected) for case in cases}) > 1 and len({repr(new) for new in after}) == 1:
            raise Inapplicable(f"{operation.name} makes all tests alike")
        own = self._own_entry(draft)
        entry = own or self._fresh_name(draft)
        expected = [written(value) for value in after]
        asserts = tuple(f"assert {entry}{case.arguments} == {text}" for case, text in zip(cases, expected, strict=True))
        words = operation.words.format(*operands)
        program = self._program(draft, entry, filled(operation.expression, "value", operands), own is not None)
        setup = draft.tests.setup if draft.tests else ""
        extended = Draft(
            question=self._question(draft, entry, words, own is not None),
            answer=Answer(type="code_tests", value=program),
            solution=f"{draft.solution.rstrip()}\nThen {words}.".lstrip(),
            tests=Tests(kind="asserts", entry_point=entry, setup=setup, cases=asserts),
            skills_used=draft.skills_used,
        )
        return within(extended, limits)

    def _question(self, draft: Draft, entry: str, words: str, extends: bool) -> str:
        called = draft.tests.entry_point if draft.tests else ""
        if extends:
            link = TERSE_LINK if self.style == "terse" else VERBOSE_LINK
            return f"{draft.question.rstrip().removesuffix('.')}{link}{words}."
        head = draft.question.rstrip()
        if self.style == "terse":
            return f"{head}\nThen write `{entry}`: call `{called}` with the same arguments and {words}."
        return (
            f"{head}\nAlso write a function `{entry}` that passes its arguments on to `{called}` and returns the "
            f"outcome of this on its value: {words}."
        )

    @staticmethod
    def _program(draft: Draft, entry: str, step: str, extends: bool) -> str:
        called = draft.tests.entry_point if draft.tests else ""
        body = draft.answer.value.rstrip("\n") + "\n"
        if extends and body.endswith(RETURN):
            return f"{body.removesuffix(RETURN)}    value = {step}\n{RETURN}"
        return (
            f"{body}\n\ndef {entry}(*args, **kwargs):\n    value = {called}(*args, **kwargs)\n"
            f"    value = {step}\n{RETURN}"
        )

    @staticmethod
    def _own_entry(draft: Draft) -> str | None:
        found = TAIL.search(draft.question.rstrip())
        known = found and draft.tests and draft.tests.entry_point == found[1]
        return found[1] if found and known and draft.answer.value.rstrip("\n").endswith(RETURN.rstrip("\n")) else None

    @staticmethod
    def _fresh_name(draft: Draft) -> str:
        taken = f"{draft.answer.value}\n{draft.question}\n{draft.tests}"
        for name in NAME_CHOICES:
            if not re.search(rf"\b{name}\b", taken):
                return name
        raise Inapplicable("every name for a further function is taken")


def tightened(draft: Draft, limits: Limits) -> Draft:
    """The same task with its added function worded tersely. Raises Inapplicable."""
    found = TAIL.search(draft.question.rstrip())
    if found is None:
        raise Inapplicable("the question describes no added function")
    terse = VERBOSE_HEAD.sub(r"\nThen write `\1`: call `\2` with the same arguments and ", found[0])
    question = draft.question[: found.start()] + terse.replace(VERBOSE_LINK, TERSE_LINK)
    if len(question) >= len(draft.question):
        raise Inapplicable("the added function cannot be worded more tersely")
    return within(draft.model_copy(update={"question": question}), limits)

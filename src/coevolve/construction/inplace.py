"""Constructions that change a question where it stands: a larger operand, a terser wording."""

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from coevolve.construction import code_output, code_tests
from coevolve.construction.base import Asked, Base, Inapplicable, Limits, within
from coevolve.construction.grammar import Step, StepKind, joined, last_step, numbers, split_steps
from coevolve.construction.numbers import NUMERIC, numeric_answer
from coevolve.construction.numeric import slope_of, step_answer, value_of
from coevolve.construction.step_kinds import STEP_KINDS
from coevolve.construction.working import base_program, extended_program, without_last_step, worked
from coevolve.tasks import DOMAINS, Domain, Draft

SHARPENABLE: tuple[StepKind, ...] = tuple(kind for kind in STEP_KINDS if kind.inverse and "{0}" in kind.terse)


@dataclass(frozen=True)
class Sharpen(Base):
    """Replaces the last step's operand by one of the wanted size, at least twice as large; nothing grows but digits."""

    name: ClassVar[str] = "sharpen"
    domains: ClassVar[tuple[Domain, ...]] = DOMAINS

    def suits(self, asked: Asked) -> bool:
        """Questions that end in a step with an operand, or in an expression that may."""
        if asked.answer_type == "code_output":
            tail = code_output.TAIL.search(asked.question)
            return tail is None or code_output.WITH_OPERAND.search(tail[0]) is not None
        return asked.answer_type in NUMERIC and last_step(asked.question, SHARPENABLE) is not None

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with a larger last operand and the answer that follows."""
        if not self.applies(draft, domain):
            raise Inapplicable("the question ends in no step that could be sharpened")
        if draft.answer.type == "code_output":
            return code_output.sharpened(draft, size, rng, limits)
        return self._sharpened(draft, size, rng, limits)

    def _sharpened(self, draft: Draft, size: int, rng: random.Random, limits: Limits) -> Draft:
        found = last_step(draft.question, SHARPENABLE)
        if found is None:
            raise Inapplicable("the question ends in no step that could be sharpened")
        head, step = found
        before = _before(draft, step)
        operands = step.kind.draw(size, before, rng)
        if operands is None or Fraction(operands[0]) < 2 * Fraction(step.operands[0]):
            raise Inapplicable(f"no operand of size {size} is twice as large as {step.operands[0]}")
        unit = step.kind.unit_in or draft.answer.unit
        past = numeric_answer(draft.answer, before, 1 / slope_of(step.kind, before, step.operands), unit)
        if past is None:
            raise Inapplicable("the value before the last step cannot be written briefly")
        answer = step_answer(past, before, step.kind, operands)
        style = "terse" if self.style == "terse" else step.style
        earlier = without_last_step(draft, past)
        sharper = Draft(
            question=joined(head, step.kind.text(operands, style)),
            answer=answer,
            solution=worked(earlier, step.kind.text(operands, "terse"), answer),
            program=extended_program(base_program(before), before, step.kind, operands, answer),
            skills_used=draft.skills_used,
        )
        return within(sharper, limits)


def _before(draft: Draft, step: Step) -> Fraction:
    value = value_of(draft.answer)
    before = step.kind.inverse(value, numbers(step.operands)) if step.kind.inverse else value
    if step.kind.after(before, step.operands) != value:
        raise Inapplicable("the last step cannot be undone exactly")
    return before


@dataclass(frozen=True)
class Tighten(Base):
    """Says every step at the question's end in the terse wording; the answer stays, and room is won."""

    name: ClassVar[str] = "tighten"
    domains: ClassVar[tuple[Domain, ...]] = DOMAINS

    def suits(self, asked: Asked) -> bool:
        """Questions that end in a verbose step."""
        if asked.answer_type == "code_output":
            return code_output.VERBOSE_TAIL.search(asked.question) is not None
        if asked.answer_type == "code_tests":
            return code_tests.VERBOSE_HEAD.search(asked.question) is not None
        steps = split_steps(asked.question, STEP_KINDS)[1]
        return asked.answer_type in NUMERIC and any(step.style == "verbose" for step in steps)

    @override
    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The same task in fewer characters."""
        if draft.answer.type == "code_output":
            return code_output.tightened(draft, limits)
        if draft.answer.type == "code_tests":
            return code_tests.tightened(draft, limits)
        question, steps = split_steps(draft.question, STEP_KINDS)
        for step in steps:
            question = joined(question, step.kind.text(step.operands, "terse"))
        if draft.answer.type not in NUMERIC or len(question) >= len(draft.question):
            raise Inapplicable("no step at the question's end could be worded more tersely")
        return within(draft.model_copy(update={"question": question}), limits)

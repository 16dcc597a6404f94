"""Constructions over any question whose answer is a number: one exact step more at its end."""

import random
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from coevolve.construction import kinds as arithmetic
from coevolve.construction.base import ANY, SIZES, Asked, Base, Inapplicable, Limits, Style, within
from coevolve.construction.formulas import FORMULAS
from coevolve.construction.grammar import Operands, StepKind, joined, numbers
from coevolve.construction.numbers import NUMERIC, number_of, numeric_answer
from coevolve.construction.unit_kinds import CONVERSIONS, READ_AS, plain_unit
from coevolve.construction.working import extended_program, worked
from coevolve.tasks import DOMAINS, Answer, Domain, Draft

FORMAT_REQUEST = re.compile(
    r"\s*\b(?:Give|Report|State|Answer with|Return|Provide)\b(?:(?!round|unit|decimal|[.?!]\s).)*\b"
    r"(?:final )?answer\.?\s*\Z",
    re.IGNORECASE,
)


def value_of(answer: Answer) -> Fraction:
    """The exact value of a numeric answer. Raises Inapplicable where the text is no number."""
    value = number_of(answer.value)
    if value is None:
        raise Inapplicable(f"the answer {answer.value[:40]!r} is no number")
    return value


def slope_of(kind: StepKind, value: Fraction, operands: Operands) -> Fraction:
    """How much a scaling or shifting step magnifies differences."""
    values = numbers(operands)
    if kind.effect == "scale":
        return kind.compute(value, values) / value if value else Fraction(1)
    if kind.effect == "shift":
        return kind.compute(Fraction(1), values) - kind.compute(Fraction(0), values)
    return Fraction(1)


def refusal(kind: StepKind, operands: Operands, answer: Answer, value: Fraction) -> str | None:
    """Why a step would not keep this answer exact, or None."""
    if kind.integer and value.denominator != 1:
        return f"{kind.name} needs a whole number"
    if answer.type != "quantity":
        return None
    if kind.effect == "discrete" and (answer.tolerance or (answer.unit and kind.unit_in is None)):
        return f"{kind.name} needs an exact bare number"
    if kind.effect == "shift":
        if answer.unit and "10" in answer.unit:
            return f"{kind.name} would be ambiguous in {answer.unit}"
        constant = kind.compute(Fraction(0), numbers(operands))
        if answer.tolerance and constant * (kind.compute(value, numbers(operands)) - constant) < 0:
            return f"{kind.name} would magnify the answer's tolerance"
    return None


def step_answer(answer: Answer, value: Fraction, kind: StepKind, operands: Operands) -> Answer:
    """The exact answer after a step. Raises Inapplicable."""
    if reason := refusal(kind, operands, answer, value):
        raise Inapplicable(reason)
    after = kind.after(value, operands)
    unit = kind.unit_out or (answer.unit if answer.type == "quantity" and kind.effect != "discrete" else None)
    found = numeric_answer(answer, after, slope_of(kind, value, operands), unit)
    if found is None:
        raise Inapplicable(f"{kind.name} leads to a number that cannot be written briefly")
    return found


def extended(draft: Draft, kind: StepKind, operands: Operands, style: Style, limits: Limits) -> Draft:
    """The draft with one step more. Raises Inapplicable."""
    value = value_of(draft.answer)
    answer = step_answer(draft.answer, value, kind, operands)
    sentence = kind.text(operands, style)
    written = Draft(
        question=joined(FORMAT_REQUEST.sub("", draft.question) or draft.question, sentence),
        answer=answer,
        solution=worked(draft, kind.text(operands, "terse"), answer),
        program=extended_program(draft.program, value, kind, operands, answer),
        skills_used=draft.skills_used,
    )
    return within(written, limits)


@dataclass(frozen=True)
class StepConstruction(Base):
    """Adds one step of its kinds, drawn at the wanted size."""

    domains: ClassVar[tuple[Domain, ...]] = DOMAINS
    kinds: ClassVar[tuple[StepKind, ...]] = ()

    def candidates(self, unit: str | None, size: int) -> list[StepKind]:
        """The kinds that fit the answer's unit and the size."""
        del unit, size
        return [kind for kind in self.kinds if self.op in (ANY, kind.name)]

    def suits(self, asked: Asked) -> bool:
        """Any numeric answer but a percentage."""
        if asked.answer_type not in NUMERIC or asked.answer_type == "percent" or asked.domain not in self.domains:
            return False
        physical = asked.answer_type == "quantity" and asked.unit is not None
        candidates = self.candidates(asked.unit, SIZES[-1])
        return any(not physical or kind.effect != "discrete" or kind.unit_in for kind in candidates)

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Suits, and the answer reads as one exact number."""
        return super().applies(draft, domain) and number_of(draft.answer.value) is not None

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with one step more, of the first kind drawn that fits."""
        if not self.applies(draft, domain):
            raise Inapplicable(f"{self.name} needs a numeric answer it can read")
        value = value_of(draft.answer)
        choices = self.candidates(draft.answer.unit, size)
        rng.shuffle(choices)
        reason = f"{self.name} has no step of size {size} for this answer"
        for kind in choices:
            operands = kind.draw(size, value, rng)
            if operands is None:
                continue
            try:
                return extended(draft, kind, operands, self.style, limits)
            except Inapplicable as refused:
                reason = str(refused)
        raise Inapplicable(reason)


@dataclass(frozen=True)
class FollowOn(StepConstruction):
    """One arithmetic operation more."""

    name: ClassVar[str] = "follow_on"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.FOLLOW_ON
    ops: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in arithmetic.FOLLOW_ON)


@dataclass(frozen=True)
class SecondUnknown(StepConstruction):
    """A second number in a relation to the first; both together are asked for."""

    name: ClassVar[str] = "second_unknown"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.SECOND_UNKNOWN
    ops: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in arithmetic.SECOND_UNKNOWN)


@dataclass(frozen=True)
class Constraint(StepConstruction):
    """The nearest number that meets a divisibility constraint."""

    name: ClassVar[str] = "constraint"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.CONSTRAINT
    ops: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in arithmetic.CONSTRAINT)


@dataclass(frozen=True)
class CaseSplit(StepConstruction):
    """A step that depends on a property of the result."""

    name: ClassVar[str] = "case_split"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.CASE_SPLIT
    ops: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in arithmetic.CASE_SPLIT)


@dataclass(frozen=True)
class Digits(StepConstruction):
    """A step on the result's decimal digits."""

    name: ClassVar[str] = "digits"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.DIGITS
    ops: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in arithmetic.DIGITS)


@dataclass(frozen=True)
class Percentage(StepConstruction):
    """What a percentage answer makes of a number."""

    name: ClassVar[str] = "percentage"
    kinds: ClassVar[tuple[StepKind, ...]] = arithmetic.PERCENTAGE

    def suits(self, asked: Asked) -> bool:
        """Percentages only."""
        return asked.answer_type == "percent"


@dataclass(frozen=True)
class FormulaChain(StepConstruction):
    """A formula that takes the quantity on to another one."""

    name: ClassVar[str] = "formula_chain"
    domains: ClassVar[tuple[Domain, ...]] = ("science", "math")
    kinds: ClassVar[tuple[StepKind, ...]] = FORMULAS

    def candidates(self, unit: str | None, size: int) -> list[StepKind]:
        """The formulas that start from this unit."""
        del size
        known = plain_unit(unit)
        return [kind for kind in self.kinds if kind.unit_in == known]


@dataclass(frozen=True)
class UnitChange(StepConstruction):
    """Another unit for the same quantity; a bare number is first read as a number of something."""

    name: ClassVar[str] = "unit_change"
    domains: ClassVar[tuple[Domain, ...]] = ("science", "math")
    kinds: ClassVar[tuple[StepKind, ...]] = tuple(kind for _, kind in (*CONVERSIONS, *READ_AS))

    def suits(self, asked: Asked) -> bool:
        """Known units; and bare numbers that are no physical quantities."""
        bare = plain_unit(asked.unit) is None and asked.answer_type == "quantity"
        return super().suits(asked) and not bare

    def candidates(self, unit: str | None, size: int) -> list[StepKind]:
        """Conversions up to the size, else the easiest; those of bare numbers at the size, or the nearest below it."""
        known = plain_unit(unit)
        if any(kind.unit_in == known for _, kind in CONVERSIONS):
            easiest = min(grade for grade, kind in CONVERSIONS if kind.unit_in == known)
            return [kind for grade, kind in CONVERSIONS if kind.unit_in == known and grade <= max(size, easiest)]
        nearest = max((grade for grade, _ in READ_AS if grade <= size), default=0)
        return [kind for grade, kind in READ_AS if grade == nearest and known is None]

"""Exact numbers of answers: text to Fraction and back, and what a tolerance becomes."""

import re
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

from coevolve.tasks import Answer, AnswerType, Tolerance

NUMERIC: frozenset[AnswerType] = frozenset({"integer", "rational", "decimal", "percent", "quantity", "expression"})
NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?\Z")
RATIO = re.compile(r"([+-]?\d{1,40})\s*/\s*([1-9]\d{0,39})\Z")
LATEX_RATIO = re.compile(r"([+-]?)\s*\\[dt]?frac\{?(\d{1,40})\}?\{?([1-9]\d{0,39})\}?\Z")
LARGEST = 10**12
DIGITS = 15
LARGEST_REL = 0.2


def number_of(text: str) -> Fraction | None:
    """The exact number that `text` writes (integer, decimal, a/b, LaTeX fraction, with or without %), or None."""
    plain = text.strip().strip("$").strip().removesuffix("%").removesuffix("\\").strip()
    if NUMBER.match(plain):
        return Fraction(plain)
    if ratio := RATIO.match(plain):
        return Fraction(int(ratio[1]), int(ratio[2]))
    if ratio := LATEX_RATIO.match(plain):
        return Fraction(int(ratio[1] + ratio[2]), int(ratio[3]))
    return None


def decimal_text(value: Fraction) -> str | None:
    """`value` as a terminating decimal, or None where it does not end within 40 digits."""
    with localcontext(prec=40) as context:
        context.clear_flags()
        quotient = Decimal(value.numerator) / Decimal(value.denominator)
        if context.flags[Inexact]:
            return None
        plain = format(quotient, "f")
        return plain if len(plain) <= DIGITS + 2 else str(quotient.normalize())


def operand_text(value: Fraction) -> str:
    """`value` for a question or a worked step: decimal where it ends, else a/b."""
    return decimal_text(value) or f"{value.numerator}/{value.denominator}"


def numeric_answer(parent: Answer, value: Fraction, slope: Fraction, unit: str | None) -> Answer | None:
    """The answer `value`, typed by itself and by its parent's kind; None where it cannot be written briefly.

    `slope` is how much the step magnified differences, and with them the parent's tolerance.
    """
    if abs(value) >= LARGEST and parent.type != "quantity":
        return None
    if parent.type == "quantity":
        text = decimal_text(value)
        if text is None or len(text) > DIGITS + 5:
            return None
        tolerance = _scaled(parent, slope, value)
        return Answer(type="quantity", value=text, unit=unit, tolerance=tolerance)
    if value.denominator == 1:
        return Answer(type="integer", value=str(value.numerator), unit=unit)
    text = decimal_text(value)
    if text and len(text) <= DIGITS and parent.type != "rational":
        return Answer(type="decimal", value=text, unit=unit)
    if value.denominator > 10**6:
        return None
    return Answer(type="rational", value=f"{value.numerator}/{value.denominator}", unit=unit)


def _scaled(parent: Answer, slope: Fraction, value: Fraction) -> Tolerance | None:
    """The parent's tolerance as that of `value`: the same error, magnified by `slope`, relative to the new value."""
    tolerance, before = parent.tolerance, number_of(parent.value)
    if tolerance is None or before is None:
        return tolerance
    rel, absolute = tolerance.rel, tolerance.abs
    if rel is not None:
        rel = min(LARGEST_REL, float(Fraction(str(rel)) * abs(slope * before / value))) if value else 0.0
    if absolute is not None:
        absolute = float(Fraction(str(absolute)) * abs(slope))
    return Tolerance(rel=rel, abs=absolute)

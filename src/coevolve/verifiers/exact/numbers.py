"""Numbers as they are written, kept exactly, and when two writings mean the same number."""

import re
from fractions import Fraction
from typing import Literal, NamedTuple

Form = Literal["integer", "decimal", "fraction"]

DIGITS = 2000
EXPONENT = 4000
NEAR = Fraction(1, 10**6)
FLOAT_NEAR = Fraction(1, 10**14)
ROUNDED_DIGITS = 6
FLOAT_DIGITS = 15

GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d*)?\Z")
PLAIN = re.compile(r"(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<power>[-+]?\d{1,5}))?\Z")
RATIO = re.compile(r"(?P<top>[-+]?\d+)\s*/\s*(?P<bottom>[-+]?\d+)\Z")
FRAC = re.compile(r"(?P<sign>[-+]?)\s*\\[dtc]?frac\s*\{\s*(?P<top>[-+]?\d+)\s*\}\s*\{\s*(?P<bottom>\d+)\s*\}\Z")
MIXED = re.compile(r"(?P<sign>[-+]?)(?P<whole>\d+)\s+(?P<top>\d+)\s*/\s*(?P<bottom>\d+)\Z")


class Number(NamedTuple):
    """A written number: its exact value, its form, and for decimals how finely it was written."""

    value: Fraction
    form: Form
    digits: int = 0
    """Significant digits shown (decimals)."""
    unit: Fraction = Fraction(0)
    """Value of one unit in the last place shown (decimals)."""


def parse(text: str) -> Number | None:
    """A number standing alone: integer, decimal, scientific, thousands with commas, a/b, LaTeX fraction, mixed."""
    text = text.strip()
    if not text or len(text) > DIGITS:
        return None
    for pattern in (RATIO, FRAC, MIXED):
        found = pattern.match(text)
        if found:
            return _fraction(found.groupdict())
    sign = -1 if text[0] in "-−–" else 1
    body = text[1:].lstrip() if text[0] in "-+−–" else text
    return _decimal(body.replace(",", "") if GROUPED.match(body) else body, sign)


def _fraction(parts: dict[str, str]) -> Number | None:
    bottom = int(parts["bottom"])
    if bottom == 0:
        return None
    value = Fraction(int(parts["top"]), bottom) + int(parts.get("whole") or 0)
    return Number(-value if parts.get("sign") == "-" else value, "fraction")


def _decimal(body: str, sign: int) -> Number | None:
    found = PLAIN.match(body)
    if not found or not (found["whole"] or found["part"]) or not body.isascii():
        return None
    power = int(found["power"] or 0)
    if abs(power) > EXPONENT:
        return None
    part = found["part"] or ""
    mantissa = int((found["whole"] or "") + part)
    unit = Fraction(10) ** (power - len(part))
    value = sign * mantissa * unit
    if not part and power >= 0 and found["power"] is None:
        return Number(value, "integer")
    return Number(value, "decimal", len(str(mantissa)) if mantissa else len(part), unit)


def percent(number: Number) -> Number:
    """The same writing followed by a percent sign."""
    form: Form = "decimal" if number.form == "decimal" else "fraction"
    return Number(number.value / 100, form, number.digits, number.unit / 100)


def same(one: Number, other: Number) -> bool:
    """Equal values; or a decimal of six digits or more that rounds or cuts an exact fraction (never an integer)."""
    if one.value == other.value:
        return True
    if one.form == "decimal" and other.form == "fraction":
        return rounds(one, other.value)
    if other.form == "decimal" and one.form == "fraction":
        return rounds(other, one.value)
    return False


def rounds(decimal: Number, exact: Fraction) -> bool:
    """Whether the decimal, as finely as it is written, stands for the non-integer `exact`."""
    if exact.denominator == 1 or decimal.digits < ROUNDED_DIGITS:
        return False
    gap = abs(decimal.value - exact)
    if gap > NEAR * abs(exact):
        return False
    return gap < decimal.unit or (decimal.digits >= FLOAT_DIGITS and gap <= FLOAT_NEAR * abs(exact))

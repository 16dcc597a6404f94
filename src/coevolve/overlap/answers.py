"""Whether two reference answers are the same: evidence for or against two texts being one problem."""

import re
from fractions import Fraction

from coevolve.overlap.text import Form, plain

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
FRACTION = re.compile(r"(-?)\\?d?frac\{?(-?\d+)\}?\{?(\d+)\}?$|(-?)(-?\d+)/(\d+)$")
MARKUP = re.compile(r"\\(?:boxed|fbox|text|mathrm|left|right|,|;|!)|[$\s{}]")
MEASURED = re.compile(r"\s*[$€£]?\s*(?P<value>[-+]?\d[\d,]*(?:\.\d+)?)\s*(?:[%°$€£]|\s[^\W\d_][^\d]*)\s*\.?\s*")
LONGEST = 200
"""A longer answer, as one of several lines, is a program or a proof: there are many right ones."""
LONG = "long:"


def key(answer: str | None, form: Form) -> str | None:
    """One spelling of an answer: numbers as exact fractions and without unit, a letter as the choice listed for it."""
    if answer is None or not answer.strip():
        return None
    if "\n" in answer.strip() or len(answer) > LONGEST:
        return LONG + Form(answer).template_hash.hex()
    text = form.choices.get(answer.strip().strip("().").upper(), answer)
    measured = MEASURED.fullmatch(text)
    text = measured["value"] if measured else text
    bare = MARKUP.sub("", plain(text)).strip(".").casefold()
    fraction = FRACTION.match(bare)
    if fraction:
        first, over, under, second, above, below = fraction.groups()
        sign = -1 if (first or second) == "-" else 1
        bottom = int(under or below)
        return str(sign * Fraction(int(over or above), bottom)) if bottom else bare
    plain_number = bare.replace(",", "") if GROUPED.fullmatch(bare) else bare
    if NUMBER.fullmatch(plain_number):
        mantissa, _, exponent = plain_number.partition("e")
        return str(Fraction(plain_number)) if abs(int(exponent or 0)) < LONGEST else f"{mantissa}e{exponent}"
    return " ".join(re.sub(r"[^\w+\-*/^=()\[\]]+", " ", bare).split()) or None


def apart(first: str | None, second: str | None) -> bool:
    """Whether two keys say that the answers differ; unknown answers and different programs say nothing."""
    known = first is not None and second is not None and not first.startswith(LONG) and not second.startswith(LONG)
    return known and first != second

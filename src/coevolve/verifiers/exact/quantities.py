"""Where a number ends and its unit begins."""

import re
from typing import NamedTuple

from coevolve.verifiers.exact import units
from coevolve.verifiers.exact.tokens import FUNCTIONS, GREEK

WRAPPED = re.compile(r"\\(?:text|mathrm|textrm|mbox|rm)\s*\{")
DEGREES = re.compile(
    r"(?P<value>.*?)\s*(?P<unit>\^\\circ\s*(?:(?:\\(?:text|mathrm)\s*\{\s*)?[CF](?:\s*\})?)?)\Z", re.DOTALL
)
NUMBER = (
    r"[-+]?\s*(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:\s*(?:\\times|\\cdot|\*)\s*10\s*\^\s*(?:\{\s*[-+]?\d+\s*\}|[-+]?\d+))?"
    r"|[-+]?\s*\d*\s*\\frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\}|[-+]?\s*(?:\d+\s+)?\d+\s*/\s*\d+"
)
PLAIN = re.compile(rf"(?P<value>{NUMBER})(?P<gap>\s*)(?P<unit>[A-Za-zÅ\\%/(].*)\Z", re.DOTALL)
LONE = frozenset("m g s N J K W V A C L l h d b T F H u".split())
VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


class Quantity(NamedTuple):
    """A value and the unit text after it, both still text."""

    value: str
    unit: str


def trailing_unit(text: str) -> Quantity | None:
    """The value and unit of a cleaned text that ends in a unit; None when it ends in none."""
    found = DEGREES.match(text)
    if found and found["value"] and not re.search(r"\\(?:sin|cos|tan|cot|sec|csc|arc\w+)\b", found["value"]):
        return Quantity(found["value"], found["unit"])
    start = _wrapped_at(text)
    if start:
        value, unit = text[:start].strip(), text[start:].strip()
        return Quantity(value, unit) if value and value[-1] not in "=+-*/^_<>,(" and not _is_math(unit) else None
    found = PLAIN.match(text)
    if found and _is_unit(found["unit"].strip(), bool(found["gap"])):
        return Quantity(found["value"].strip(), found["unit"].strip())
    return None


def _wrapped_at(text: str) -> int:
    """Where the first text wrapper outside brackets begins; 0 when there is none after the start."""
    level = 0
    for position, letter in enumerate(text):
        if level == 0 and letter == "\\" and WRAPPED.match(text, position):
            return position
        level += (letter in "([{") - (letter in ")]}")
    return 0


def _is_math(unit: str) -> bool:
    """Whether wrapped text is part of an expression: one function name or a letter that more follows."""
    found = re.match(r"\\\w+\s*\{\s*([A-Za-z]*)\s*\}\s*(.*)", unit, re.DOTALL)
    return bool(found and (found[1] in FUNCTIONS or (found[1] in ("e", "i", "d", "") and found[2])))


def _is_unit(text: str, gap: bool) -> bool:
    """Whether plain text after a number is a unit: a known one, or, after a space, a word."""
    first = re.match(r"\\?[A-Za-zÅ]+(?:-[A-Za-z]{3,})*", text)
    if first is None:
        return text[0] in "%(/" and gap and _known(text)
    word = first.group().removeprefix("\\")
    if word in FUNCTIONS or (word in GREEK | {"pi", "infty"} and not (word in ("mu", "Omega") and _known(text))):
        return False
    if word in ("e", "i", "x", "y", "z", "frac", "sqrt", "cdot", "times", "log", "pm", "cup", "cap", "binom"):
        return False
    if len(word) == 1:
        return gap and (word in LONE or len(text) > 1) and _known(text)
    if _known(text):
        return True
    return gap and len(word) > 2 and bool(VOWEL.search(word)) and bool(re.fullmatch(r"[A-Za-z][A-Za-z' .-]*", text))


def _known(text: str) -> bool:
    try:
        return bool(units.read(text).powers) or text.lower() in units.NOUNS | units.PLAIN_UNITS
    except units.UnknownUnit:
        return False

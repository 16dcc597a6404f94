"""Rule S: one number and at most one unit, compared within a tolerance; formulas of chemistry by composition."""

import re
from fractions import Fraction
from typing import NamedTuple

from coevolve.verifiers.exact import chemistry, notation, numbers, sameness, units
from coevolve.verifiers.exact.judge import Verdict, compare
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.tokens import Unreadable

LEAST, MOST = Fraction(1, 100), Fraction(5, 100)

LABEL = re.compile(r"\A\\?[A-Za-z][\w\\{},' ]{0,24}(?:\([^()]*\))?\s*(?:=|\\approx)\s*(?=[-+\d.(\\])")
ABOUT = re.compile(
    r"\A\s*(?:\\approx|~|(?:about|around|approximately|approx\.?|roughly|nearly|is|equals|=)(?![a-z]))\s*",
    re.IGNORECASE,
)
UNCERTAIN = re.compile(
    r"\A\(?\s*(?P<value>[^()]*?)\s*(?:\\pm|\+/-|\+-)\s*(?P<spread>[\d.]+(?:[eE][-+]?\d+)?)\s*\)?\s*(?P<rest>.*)\Z",
    re.DOTALL,
)
SPREAD = re.compile(r"\((?:\d+)\)(?=\s|\\times|[eE]|\Z)")
POWER = re.compile(
    r"\s*(?:\\times|\\cdot|\*|[xX])\s*10\s*(?:\^|\*\*)\s*\{?\s*\(?\s*(?P<power>[-+]?\d{1,3})\s*\)?\s*\}?"
)
BARE_POWER = re.compile(r"(?P<sign>[-+]?)\s*10\s*\^\s*\{?\s*(?P<power>[-+]?\d{1,3})\s*\}?")
VALUE = re.compile(r"[-+]?\s*(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3}(?!\d))?")
HEDGE = re.compile(r"(?<![a-zA-Z])(?:or|and|between|to)(?![a-zA-Z])|[;<>]|\\(?:le|ge|to)(?![a-zA-Z])", re.IGNORECASE)


class Rule(NamedTuple):
    """How near is near enough; None = by the reference's own digits. `unit_in_prompt`: a bare number may stand."""

    rel: Fraction | None = None
    abs: Fraction | None = None
    exact: bool = False
    unit_in_prompt: bool = False


class Measured(NamedTuple):
    """A number as written and its unit text."""

    number: numbers.Number
    unit: str


def quantity(text: str) -> Measured:
    """The one number and unit of a text. Raises Unreadable for anything more or less, Refused over a cap."""
    cleaned = notation.clean(text)
    cleaned = ABOUT.sub("", LABEL.sub("", ABOUT.sub("", cleaned))).strip()
    uncertain = UNCERTAIN.match(cleaned)
    if uncertain:
        cleaned = f"{uncertain['value']} {uncertain['rest']}"
    cleaned = SPREAD.sub("", cleaned)
    split = _fraction(cleaned) or _leading_number(cleaned)
    if split is None:
        raise Unreadable("no number")
    number, rest = split
    rest = rest.strip()
    if HEDGE.search(re.sub(r"\\(?:text|mathrm)\s*\{", "{", rest)) or re.search(r"\d\s*[,.]\s*\d", rest):
        raise Unreadable("more than one value")
    return Measured(number, rest)


def _fraction(text: str) -> tuple[numbers.Number, str] | None:
    found = re.match(r"[-+]?\s*\\frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\}|[-+]?\d+\s*/\s*\d+(?![\d.])", text)
    number = numbers.parse(found.group()) if found else None
    return (number, text[found.end() :]) if found and number else None


def _leading_number(text: str) -> tuple[numbers.Number, str] | None:
    found = VALUE.match(text)
    bare = BARE_POWER.match(text)
    if bare:
        value = Fraction(10) ** int(bare["power"]) * (-1 if bare["sign"] == "-" else 1)
        return numbers.Number(value, "decimal", 1, abs(value)), text[bare.end() :]
    number = numbers.parse(found.group().replace(" ", "")) if found else None
    if found is None or number is None:
        return None
    rest = text[found.end() :]
    power = POWER.match(rest)
    if power:
        scale = Fraction(10) ** int(power["power"])
        unit = (number.unit or Fraction(1)) * scale
        digits = number.digits or len(str(abs(number.value)))
        return numbers.Number(number.value * scale, "decimal", digits, unit), rest[power.end() :]
    if rest[:1] in ("^", "_", "!") or re.match(r"\s*[-+*=]|\s*\\(?:times|cdot|frac|sqrt|pi|pm)", rest):
        return None
    return number, rest


def grade(gold: str, unit: str, answer: str, rule: Rule, sizes: sameness.Sizes) -> Verdict:
    """Compare an answer with a reference value and unit under Rule S."""
    if not gold.strip() or not answer.strip():
        return Verdict("different", "an empty answer", True)
    if chemistry.is_chemical(gold):
        same = chemistry.same(gold, answer)
        return Verdict("equal" if same else "different", "" if same else "another substance or reaction", True)
    try:
        reference = quantity(gold)
    except (Unreadable, Refused):
        return compare(gold if not unit else f"{gold} {unit}", answer, "symbolic", sizes)
    try:
        given = quantity(answer)
    except Refused as error:
        return Verdict("unknown", f"not read: {error}", True)
    except Unreadable as error:
        if notation.clean(answer).strip().startswith(("\\", "-\\", "(")) and not given_hedge(error):
            return _computed(reference, unit, answer, sizes)
        return Verdict("different", f"no single quantity: {error}", True)
    return _measured(reference, unit or reference.unit, given, rule, sizes)


def given_hedge(error: Unreadable) -> bool:
    """Whether an answer was refused for holding several values."""
    return "more than one" in str(error)


def _computed(reference: Measured, unit: str, answer: str, sizes: sameness.Sizes) -> Verdict:
    """An answer written as an expression (`\\sqrt{2}`, `\\pi/3`): compared as mathematics, exactly."""
    value = str(reference.number.value)
    return compare(f"{value} {unit or reference.unit}".strip(), answer, "", sizes)


def _measured(reference: Measured, unit: str, given: Measured, rule: Rule, sizes: sameness.Sizes) -> Verdict:
    known = sizes(unit) if unit else None
    counted = bool(unit) and (known is None or not known.dimension) and _is_noun(unit)
    factor = Fraction(1)
    if unit and not counted:
        if known is None:
            return _by_text(reference, unit, given, rule)
        if not given.unit:
            if known.dimension and not rule.unit_in_prompt:
                return Verdict("different", "the unit is missing", True)
            return _near(reference.number, given.number.value, rule, unit=True)
        theirs = sizes(given.unit)
        if theirs is None:
            return Verdict("different", f"unknown unit {given.unit[:30]!r}", True)
        if theirs.dimension != known.dimension:
            return Verdict("different", "a unit of another kind", True)
        if known.scale or theirs.scale:
            return _temperature(reference.number, known, given.number.value, theirs, rule)
        factor = theirs.factor / known.factor
    elif given.unit and not _may_follow(given.unit, unit, sizes):
        return Verdict("different", "a unit where none belongs", True)
    elif given.unit and (size := sizes(given.unit)) is not None:
        factor = size.factor
    return _near(reference.number, given.number.value * factor, rule, unit=bool(unit) and not counted)


def _is_noun(unit: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z ]+", notation.words(unit)))


def _may_follow(text: str, unit: str, sizes: sameness.Sizes) -> bool:
    """After a plain number: nothing, a percent sign, or a counting noun (the reference's own where it has one)."""
    size = sizes(text)
    if size is not None:
        return not size.dimension
    if not unit:
        return False
    return notation.words(text).casefold().removesuffix("s") == notation.words(unit).casefold().removesuffix("s")


def _by_text(reference: Measured, unit: str, given: Measured, rule: Rule) -> Verdict:
    """A unit outside the allow-list is compared as text."""
    if given.unit:
        same = re.sub(r"[\s{}]", "", notation.words(given.unit)) == re.sub(
            r"[\s{}]", "", notation.words(notation.clean(unit))
        )
        if not same:
            return Verdict("different", f"unit {given.unit[:30]!r} is not {unit[:30]!r}", True)
    elif not rule.unit_in_prompt:
        return Verdict("different", "the unit is missing", True)
    return _near(reference.number, given.number.value, rule, unit=True)


def _temperature(gold: numbers.Number, known: units.Size, value: Fraction, theirs: units.Size, rule: Rule) -> Verdict:
    """Absolute temperatures: the tolerance is that of the reference's own scale."""
    there = sameness.kelvin(value, theirs)
    if known.scale == "degC":
        there -= Fraction("273.15")
    elif known.scale == "degF":
        there = there * 9 / 5 - Fraction("459.67")
    else:
        there /= known.factor
    return _near(gold, there, rule, unit=True)


def _near(gold: numbers.Number, value: Fraction, rule: Rule, unit: bool) -> Verdict:
    gap = abs(value - gold.value)
    if rule.exact or (gold.form == "integer" and not unit and rule.rel is None and rule.abs is None):
        return _verdict(gap == 0)
    if rule.abs is not None or rule.rel is not None:
        return _verdict(gap <= max(rule.abs or 0, (rule.rel or 0) * abs(gold.value)))
    if gold.value == 0:
        return _verdict(gap == 0)
    shown = (gold.unit if gold.form == "decimal" else Fraction(1)) / 2 / abs(gold.value)
    allowed = min(MOST, max(LEAST, shown)) if gold.form != "fraction" else LEAST
    return _verdict(gap <= allowed * abs(gold.value))


def _verdict(near: bool) -> Verdict:
    return Verdict("equal", "", True) if near else Verdict("different", "outside the tolerance", True)

"""Comparisons that need no process: written numbers, words, choices. Plain bounded text work, nothing evaluated."""

import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction

from coevolve.tasks import Answer, Tolerance
from coevolve.verifiers.exact import numbers
from coevolve.verifiers.exact.notation import CHARS
from coevolve.verifiers.grades import Sameness

LETTER = re.compile(
    r"(?:(?:option|choice|answer)\s+)?[(\[]?\s*([A-Za-z])\s*(?:[)\].:]|\Z)(.*)\Z", re.IGNORECASE | re.DOTALL
)
WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|bf)\s*\{([^{}]*)\}")
ARTICLES = re.compile(r"\A(?:the|a|an)\s+")
NUMERIC = frozenset(("integer", "rational", "decimal", "percent"))


def compare(answer: Answer, value: str) -> tuple[Sameness, str] | None:
    """A verdict with its reason where plain means suffice, else None."""
    if not value.strip() or not answer.value.strip():
        return "different", "an empty answer"
    if answer.type == "text":
        return _text(answer, value)
    if answer.type == "choice":
        return _choice(answer, value)
    if answer.type in NUMERIC:
        return _numbers(answer, value)
    return None


def written(text: str) -> numbers.Number | None:
    """A number standing alone, in math delimiters or not, with a percent sign or not; None for anything else."""
    text = text.strip()
    if len(text) > CHARS:
        return None
    if len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1].strip()
    text = text.removesuffix(".").strip() if re.fullmatch(r"[^.]*\d\.?|.*\d\.\d+\.", text) else text
    if text.endswith("%"):
        inner = numbers.parse(text.removesuffix("%").removesuffix("\\").strip())
        return numbers.percent(inner) if inner else None
    return numbers.parse(text)


def _numbers(answer: Answer, value: str) -> tuple[Sameness, str] | None:
    gold, given = written(answer.value), written(value)
    if gold is None or given is None:
        return None
    asks_percent = (answer.type == "percent" and "%" not in answer.value) or answer.unit in ("%", "\\%", "percent")
    if asks_percent and "%" in value:
        given = given._replace(value=given.value * 100, unit=given.unit * 100)
    if answer.tolerance is not None:
        return _verdict(within(answer.tolerance, gold.value, given.value), "outside the tolerance")
    return _verdict(numbers.same(gold, given), "another value")


def within(tolerance: Tolerance, gold: Fraction, given: Fraction) -> bool:
    """Whether a value lies within an explicit tolerance of the reference."""
    allowed = max(Fraction(tolerance.abs or 0), Fraction(tolerance.rel or 0) * abs(gold))
    return abs(given - gold) <= allowed


def fold(text: str) -> str:
    """Words for comparison: no wrappers, case, accents kept, surrounding punctuation and leading article away."""
    text = unicodedata.normalize("NFKC", text[:CHARS].replace("$", " "))
    for _ in range(4):
        text = WRAPPER.sub(r"\1", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf").replace("\\ ", " ").replace("’", "'")
    text = re.sub(r"\s+", " ", text).casefold().strip(" \t\n\"'`*.,;:!")
    return ARTICLES.sub("", text)


def _text(answer: Answer, value: str) -> tuple[Sameness, str]:
    if len(value) > CHARS:
        return "different", f"over {CHARS} characters"
    wanted = {fold(answer.value), *map(fold, answer.aliases)} - {""}
    return _verdict(fold(value) in wanted, "other words")


def _choice(answer: Answer, value: str) -> tuple[Sameness, str]:
    chosen = choice(value, answer.choices)
    if chosen is None:
        return "different", "no single choice named"
    wanted = choice(answer.value, answer.choices) or fold(answer.value)
    return _verdict(chosen == wanted, f"chose {chosen}")


def choice(value: str, choices: Mapping[str, str] | None) -> str | None:
    """The key a value names, by letter or by the choice's own text; None when it names none or several."""
    text = fold(value)
    keys = {fold(key): key for key in choices or {}}
    if text in keys:
        return text
    named = LETTER.match(re.sub(r"\s+", " ", WRAPPER.sub(r"\1", value.replace("$", " "))).replace("\\", " ").strip())
    letter = named.group(1).casefold() if named else None
    if not choices:
        return letter or (text or None)
    if letter in keys and named is not None:
        rest = fold(named.group(2))
        others = [fold(words) for key, words in choices.items() if fold(key) != letter]
        if not rest or rest not in others:
            hedged = re.search(r"(?:\bor\b|\band\b|,)\s*[(\[]?[A-Za-z][)\].]?\s*\Z", named.group(2))
            return None if hedged else letter
        return None
    by_text = [fold(key) for key, words in choices.items() if fold(words) == text]
    return by_text[0] if len(by_text) == 1 else None


def _verdict(same: bool, reason: str) -> tuple[Sameness, str]:
    return ("equal", "") if same else ("different", reason)

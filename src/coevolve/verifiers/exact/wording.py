"""Words and word-like notations: numbers in words, times of day, ratios, the names of nothing and of everything."""

import re

from coevolve.verifiers.exact.notation import words
from coevolve.verifiers.exact.shapes import Row, Scalar, Shape, Words, tree
from coevolve.verifiers.exact.tokens import FUNCTIONS, GREEK, Unreadable, number

NOTHING = frozenset(
    "no solution;no solutions;no real solution;no real solutions;empty set;the empty set;none;no such number;no value;"
    "no values".split(";")
)
EVERYTHING = frozenset(
    "all real numbers;all reals;all real x;any real number;every real number;all real values".split(";")
)
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:([ap])\.?\s*m\.?)?\Z", re.IGNORECASE)
RATIO = re.compile(r"[\d.]+(?:\s*:\s*[\d.]+)+\Z")
UNITS = {name: value for value, name in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split())}  # fmt: skip
TENS = {
    name: 20 + 10 * place for place, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
SHORT_WORDS = frozenset(("no", "up", "on", "in", "it"))


def clock(text: str) -> Words | None:
    """A time of day; None for any other text."""
    found = CLOCK.match(text)
    if found is None:
        return None
    hour, minute, second, half = found.groups()
    return Words(f"{int(hour)}:{minute}:{second or '00'} {(half or '').lower()}".strip(), text)


def ratio(text: str) -> Shape:
    """`a:b` as a quotient, longer ratios as a row over their first part. Raises Unreadable for a part that is zero."""
    parts = [tree(part) for part in text.split(":")]
    if any(part[0] == "num" and part[1].value == 0 for part in parts):
        raise Unreadable("a ratio with zero")
    if len(parts) == 2:
        return Scalar(("div", parts[0], parts[1]))
    return Row(tuple(Scalar(("div", part, parts[0])) for part in parts), "()")


def number_words(text: str) -> Shape | None:
    """`forty-two`, `one hundred and five`; None for other words."""
    total = current = 0
    pieces = [word for word in re.split(r"[\s-]+", text) if word != "and"]
    if not pieces or len(pieces) > 12:
        return None
    for word in pieces:
        if word in UNITS or word in TENS:
            current += UNITS.get(word, 0) + TENS.get(word, 0)
        elif word == "hundred" and current:
            current *= 100
        elif word in SCALES and current:
            total, current = total + current * SCALES[word], 0
        else:
            return None
    return Scalar(number(total + current))


def is_words(text: str) -> bool:
    """Whether a text is words, not symbols: one of three letters or more that names nothing in mathematics."""
    opened = words(text)
    if not re.fullmatch(r"[A-Za-z][A-Za-z' \-.,]*", opened):
        return False
    found = re.findall(r"[A-Za-z]+", opened)
    if opened.lower() in SHORT_WORDS:
        return True
    return any(
        len(word) > 2 and word not in FUNCTIONS | GREEK and word.lower() not in ("infinity", "inf") for word in found
    ) or ("\\text" in text and len(opened) > 1)

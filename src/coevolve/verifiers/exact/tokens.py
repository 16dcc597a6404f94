"""Tokens of mathematical text, the names it may use, and a cursor over them."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

from coevolve.verifiers.exact import numbers

Tree = tuple[Any, ...]
"""An expression; `syntax` lists the forms."""

NODES = 600


class Unreadable(Exception):
    """The text is no expression of this grammar."""


FUNCTIONS = frozenset(
    """
    sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh coth arcsinh arccosh
    arctanh asinh acosh atanh ln log lg exp sqrt cbrt abs floor ceil gcd lcm max min sgn det Re Im
    """.split()
)
CONSTANTS = {"pi": "pi", "e": "e", "i": "i", "infty": "inf", "infinity": "inf", "oo": "inf", "Infinity": "inf"}
GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega hbar ell partial nabla".split()
)
WORDS = tuple(
    sorted(
        FUNCTIONS | {"pi", "infinity"} | (GREEK - {"mu", "nu", "xi", "Xi", "Pi", "chi", "eta", "psi"}),
        key=len,
        reverse=True,
    )
)
RANGES = frozenset(("sum", "prod", "int"))

TOKEN = re.compile(
    r"\s*(?:(?P<num>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+(?![\d.]))?)|\\(?P<cmd>[a-zA-Z]+|[{}|])|(?P<word>[a-zA-Z]+)|(?P<op>[-+*/^_!|(){}\[\]',=]))"
)


class Token(NamedTuple):
    """A token: num, cmd, letter or op, its text and where it starts."""

    kind: str
    text: str
    start: int


def tokens(text: str) -> list[Token]:
    """The tokens of an expression. Raises Unreadable at the first character that belongs to none."""
    found: list[Token] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match or match.lastgroup is None:
            raise Unreadable(f"{text[position : position + 10]!r}")
        kind = match.lastgroup
        if kind == "word":
            found += _split_word(match[kind], match.start(kind))
        else:
            found.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
        if len(found) > NODES:
            raise Unreadable("too long")
    return found


def _split_word(word: str, start: int) -> list[Token]:
    """Known names inside a run of letters, the rest as single letters."""
    parts: list[Token] = []
    place = 0
    while place < len(word):
        name = next((known for known in WORDS if word.startswith(known, place)), word[place])
        parts.append(Token("cmd" if len(name) > 1 else "letter", name, start + place))
        place += len(name)
    return parts


class Cursor:
    """A place in a row of tokens."""

    def __init__(self, items: list[Token]) -> None:
        self.items, self.place, self.bars = items, 0, 0

    def peek(self, ahead: int = 0) -> str | None:
        """Text of the token ahead."""
        at = self.place + ahead
        return self.items[at].text if at < len(self.items) else None

    def kind(self, ahead: int = 0) -> str:
        """Kind of the token ahead; empty at the end."""
        at = self.place + ahead
        return self.items[at].kind if at < len(self.items) else ""

    def take(self, text: str | None = None) -> str:
        """Consume one token, of this text where one is given."""
        got = self.peek()
        if got is None or (text is not None and got != text):
            raise Unreadable(f"wanted {text or 'more'}, got {got!r}")
        self.place += 1
        return got


def number(value: int | Fraction) -> Tree:
    """A tree for an exact number."""
    return ("num", numbers.Number(Fraction(value), "integer" if Fraction(value).denominator == 1 else "fraction"))

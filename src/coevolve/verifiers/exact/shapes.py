"""What an answer is: one value, several, an ordered row, a region of the line, a matrix, a relation, words."""

import re
from typing import Literal, NamedTuple

from coevolve.verifiers.exact import syntax
from coevolve.verifiers.exact.notation import words
from coevolve.verifiers.exact.tokens import Tree, Unreadable


class Scalar(NamedTuple):
    """One expression, with the unit written after it, if any."""

    tree: Tree
    unit: str = ""


class Row(NamedTuple):
    """Values in order between brackets."""

    items: "tuple[Shape, ...]"
    brackets: str
    """`()`, `[]`, `(]`, `[)`, or `<>`."""


class Many(NamedTuple):
    """Values in no order. `braced` tells a set in braces from a bare list."""

    items: "tuple[Shape, ...]"
    braced: bool


class Piece(NamedTuple):
    """An interval of the real line."""

    low: Tree
    high: Tree
    closed: tuple[bool, bool]


class Region(NamedTuple):
    """A union of intervals, of a named variable or none."""

    pieces: tuple[Piece, ...]
    name: str = ""


class Matrix(NamedTuple):
    """Rows of expressions."""

    rows: tuple[tuple[Tree, ...], ...]


class Named(NamedTuple):
    """A value said to be that of a name: `x = 3`, `x \\in [0, 1]`, `f(x) = x^2`."""

    name: str
    value: "Shape"
    parameter: str = ""


class Relation(NamedTuple):
    """`left - right` compared with zero."""

    operator: Literal["=", "<", "<=", "!="]
    difference: Tree
    left: Tree
    right: Tree


class Words(NamedTuple):
    """Plain text, case folded; `written` is what stood there, for another reading of it."""

    text: str
    written: str = ""


Shape = Scalar | Row | Many | Region | Matrix | Named | Relation | Words

INFINITE: Tree = ("const", "inf")
LINE = Region((Piece(("neg", INFINITE), INFINITE, (False, False)),))
OPENERS, CLOSERS = "([{", ")]}"
MATRIX = re.compile(
    r"\\begin\{(?P<kind>[pbvBV]?matrix|smallmatrix|array|cases)\}(?:\{[lcr|\s]*\})?(?P<body>.*)\\end\{(?P=kind)\}\Z",
    re.DOTALL,
)
NAME = re.compile(r"(?P<name>\\?[a-zA-Z]+(?:_(?:\w|\{\w+\}))?)\s*(?:\(\s*(?P<parameter>[a-zA-Z])\s*\))?\Z")


def split(text: str, pattern: str) -> list[str]:
    """Pieces of `text` between matches of `pattern` that lie outside all brackets and LaTeX environments."""
    parts, start, level, position = [], 0, 0, 0
    matcher = re.compile(pattern)
    while position < len(text):
        if text.startswith(r"\begin", position):
            level += 1
        elif text.startswith(r"\end", position):
            level -= 1
        elif text.startswith((r"\{", r"\langle", r"\lfloor", r"\lceil"), position):
            level += 1
        elif text.startswith((r"\}", r"\rangle", r"\rfloor", r"\rceil"), position):
            level -= 1
        elif text[position] in OPENERS and text[position - 1 : position] != "\\":
            level += 1
        elif text[position] in CLOSERS and text[position - 1 : position] != "\\":
            level -= 1
        found = matcher.match(text, position) if level == 0 else None
        if found and found.end() > found.start():
            parts.append(text[start:position])
            position = start = found.end()
            continue
        command = re.match(r"\\[a-zA-Z]+|\\.", text[position:])
        position += command.end() if command else 1
    return [part.strip() for part in (*parts, text[start:])]


def enclosed(text: str) -> tuple[str, str] | None:
    """Brackets and content when one pair encloses the whole text: `()`, `[)`, `{}` (escaped), `<>` …"""
    for opener, closer in ((r"\{", r"\}"), (r"\langle", r"\rangle")):
        if text.startswith(opener) and text.endswith(closer) and len(split(text + " ;", ";")[0]) == len(text):
            inner = text[len(opener) : -len(closer)].strip()
            return ("{}" if opener == r"\{" else "<>"), inner
    if len(text) > 1 and text[0] in "([{" and text[-1] in ")]}":
        level = 0
        for position, letter in enumerate(text):
            level += (letter in OPENERS) - (letter in CLOSERS)
            if level == 0:
                return (text[0] + text[-1], text[1:-1].strip()) if position == len(text) - 1 else None
    return None


def tree(text: str, sign: int = 1) -> Tree:
    """One expression; text wrappers are opened only around single letters, numbers and function names."""
    text = re.sub(
        r"\\(?:text|mathrm|textbf|mathit|rm)\s*\{\s*(\(?\\?[a-zA-Z]\)?|[\d.,+-]+|sin|cos|tan|ln|log|exp)\s*\}",
        r" \1 ",
        text,
    )
    return syntax.parse(text, sign)


def matrix(text: str) -> Matrix | None:
    """A LaTeX matrix."""
    found = MATRIX.match(text)
    if not found or found["kind"] in ("cases", "vmatrix", "Vmatrix"):
        return None
    lines = [line for line in split(found["body"], r"\\\\(?:\[[^\]]*\])?") if line]
    rows = tuple(tuple(tree(cell) for cell in split(line, "&")) for line in lines)
    if sum(map(len, rows)) > 100 or len({len(row) for row in rows}) != 1:
        raise Unreadable("a matrix of unequal rows or over 100 cells")
    return Matrix(rows)


def folded(text: str) -> str:
    """Words without wrappers, case, quotes and surrounding punctuation."""
    text = words(text).replace("\\ ", " ")
    return re.sub(r"\s+", " ", text.casefold().strip(" \"'.,;:!()")).strip()

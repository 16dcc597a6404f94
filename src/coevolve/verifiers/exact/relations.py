"""Equations, inequalities and memberships, read into shapes."""

import re
from collections.abc import Callable
from itertools import pairwise

from coevolve.verifiers.exact.equality import DIGITS, Unsure, close, constant, same, substituted, symbols
from coevolve.verifiers.exact.shapes import (
    INFINITE,
    NAME,
    Many,
    Named,
    Piece,
    Region,
    Relation,
    Row,
    Scalar,
    Shape,
    enclosed,
    folded,
    split,
    tree,
)
from coevolve.verifiers.exact.tokens import Tree, Unreadable, number

RELATION = r"\\(?:le|ge|ne|in|approx)(?![a-zA-Z])|[<>=]"
LESS, MORE = ("<", r"\le"), (">", r"\ge")
CALLED = re.compile(r"\\?[a-zA-Z]+'?(?:_(?:\w|\{\w+\}))?\s*\([^()=<>]*\)\Z")


def relation(text: str, read: Callable[[str], Shape]) -> Shape | None:
    """The shape of a text with a relation sign outside brackets; None without one. Raises Unreadable."""
    signs = [sign.strip() for sign in _signs(text)]
    if not signs:
        return None
    sides = split(text, RELATION)
    if signs[0] == r"\approx" and len(signs) == 1:
        return read(sides[1]) if not sides[0] or NAME.match(sides[0]) else read(sides[0])
    if not all(sides):
        raise Unreadable("a relation with an empty side")
    if r"\approx" in signs[1:]:
        exact = 1 + signs.index(r"\approx", 1)
        sides, signs = sides[:exact], signs[: exact - 1]
    if set(signs) <= {"=", r"\approx"}:
        return _chain(sides, read) if len(sides) > 2 else _equation(sides[0], sides[1], read)
    if signs == [r"\in"]:
        return Named(_name(sides[0]), read(sides[1]))
    if len(signs) == 1:
        return _one(sides[0], signs[0], sides[1])
    if len(signs) == 2 and (all(sign in LESS for sign in signs) or all(sign in MORE for sign in signs)):
        return _between(sides, signs)
    raise Unreadable("a chain of relations")


def _signs(text: str) -> list[str]:
    """The relation signs outside brackets, in order."""
    sides = split(text, RELATION)
    found, position = [], 0
    for side in sides[:-1]:
        position = text.index(side, position) + len(side)
        match = re.compile(rf"\s*({RELATION})").match(text, position)
        if match is None:
            raise Unreadable("relation")
        found.append(match.group(1))
        position = match.end()
    return found


def _name(side: str) -> str:
    found = NAME.match(side)
    if found and not found["parameter"] and not re.fullmatch(r"[a-z]{2}", found["name"]):
        return found["name"].removeprefix("\\")
    row = enclosed(side)
    if row and row[0] == "()" and all(NAME.match(part) for part in split(row[1], ",")):
        return side.replace(" ", "")
    if CALLED.match(side):
        return side.replace(" ", "")
    if re.fullmatch(r"\\text\s*\{[^{}]*\}|[A-Za-z ]{3,}", side):
        return folded(side)
    raise Unreadable(f"{side[:20]!r} is no name")


def _equation(left: str, right: str, read: Callable[[str], Shape]) -> Shape:
    function = NAME.match(left)
    if function and function["parameter"]:
        return Named(function["name"], read(right), function["parameter"])
    for name_side, value_side in ((left, right), (right, left)):
        try:
            name = _name(name_side)
        except Unreadable:
            continue
        value = read(value_side)
        if not isinstance(value, Scalar) or name not in symbols(value.tree):
            return Named(name, value)
        break
    return Relation("=", ("sub", tree(left), tree(right)), tree(left), tree(right))


def _chain(sides: list[str], read: Callable[[str], Shape]) -> Shape:
    """`x = 1 + 2 = 3`: the last side, when the sides before it agree with it."""
    try:
        name, rest = _name(sides[0]), sides[1:]
    except Unreadable:
        name, rest = "", sides
    last = read(rest[-1])
    for side in rest[:-1]:
        middle = read(side)
        if not (isinstance(middle, Scalar) and isinstance(last, Scalar)):
            raise Unreadable("a chain of equations")
        try:
            agree = same(middle.tree, last.tree) or symbols(middle.tree) != frozenset()
        except Unsure:
            agree = False
        if not agree:
            raise Unreadable("a chain of unequal sides")
    return Named(name, last) if name else last


def _one(left: str, sign: str, right: str) -> Shape:
    a, b = tree(left), tree(right)
    difference: Tree = ("sub", a, b)
    if sign == r"\ne":
        solved = _solved(difference)
        if solved:
            ends = (("neg", INFINITE), solved[1], INFINITE)
            pieces = tuple(Piece(low, high, (False, False)) for low, high in pairwise(ends))
            return Region(pieces, solved[0])
        return Relation("!=", difference, a, b)
    if sign in MORE:
        a, b = b, a
    strict = sign in ("<", ">")
    return _absolute(a, b, strict) or _half_line(a, b, strict) or Relation("<" if strict else "<=", ("sub", a, b), a, b)


def _half_line(a: Tree, b: Tree, strict: bool) -> Region | None:
    """`a < b` of first degree in one unknown."""
    solved = _solved(("sub", a, b))
    if solved is None:
        return None
    name, end, rising = solved
    if rising:
        return Region((Piece(("neg", INFINITE), end, (False, not strict)),), name)
    return Region((Piece(end, INFINITE, (not strict, False)),), name)


def _solved(difference: Tree) -> tuple[str, Tree, bool] | None:
    """Unknown, root and whether it rises, of an expression of first degree in one unknown; None for any other."""
    names = symbols(difference)
    if len(names) != 1:
        return None
    name = next(iter(names))
    try:
        at = [constant(substituted(difference, name, number(value))) for value in (0, 1, 2)]
        if not close(at[0] + at[2], 2 * at[1], DIGITS[0]) or close(at[0], at[1], DIGITS[0]):
            return None
    except (Unsure, TypeError):
        return None
    root: Tree
    if difference[0] == "sub" and ("sym", name) in difference[1:]:
        root = difference[1] if difference[2] == ("sym", name) else difference[2]
    else:
        zero, one = (substituted(difference, name, number(value)) for value in (0, 1))
        root = ("div", zero, ("sub", zero, one))
    return name, root, bool(at[1] > at[0])


def _absolute(a: Tree, b: Tree, strict: bool) -> Region | None:
    """`|x - c| < r` and `|x - c| > r` (as `r < |x - c|`)."""
    inside = a[:2] == ("fun", "abs") and not symbols(b)
    outside = b[:2] == ("fun", "abs") and not symbols(a)
    if not inside and not outside:
        return None
    solved = _solved((a if inside else b)[2])
    slope = (a if inside else b)[2]
    if solved is None or slope[0] not in ("sym", "sub", "add"):
        return None
    radius = b if inside else a
    low, high = ("sub", solved[1], radius), ("add", solved[1], radius)
    if inside:
        return Region((Piece(low, high, (not strict, not strict)),), solved[0])
    return Region(
        (Piece(("neg", INFINITE), low, (False, not strict)), Piece(high, INFINITE, (not strict, False))), solved[0]
    )


def _between(sides: list[str], signs: list[str]) -> Shape:
    trees: list[Tree] = [tree(side) for side in sides]
    if signs[0] in MORE:
        trees.reverse()
        signs = [signs[1], signs[0]]
    low, middle, high = trees
    if middle[0] != "sym" or symbols(low) or symbols(high):
        raise Unreadable("a double inequality that bounds no single unknown")
    closed = (signs[0] in (r"\le", r"\ge"), signs[1] in (r"\le", r"\ge"))
    return Region((Piece(low, high, closed),), middle[1])


def assignments(shape: Shape) -> dict[str, Shape] | None:
    """`x = 2, y = 5` as a mapping; None for anything else."""
    if isinstance(shape, Many) and shape.items and all(isinstance(item, Named) for item in shape.items):
        named = [item for item in shape.items if isinstance(item, Named)]
        if len({item.name for item in named}) == len(named):
            return {item.name: item.value for item in named}
    if isinstance(shape, Named) and shape.name.startswith("(") and isinstance(shape.value, Row):
        names = shape.name.strip("()").split(",")
        if len(names) == len(shape.value.items):
            return dict(zip(names, shape.value.items, strict=True))
    return None

"""From the text of an answer to its shape. Several readings where the notation is ambiguous; none invented."""

import math
import re
from collections.abc import Sequence

from coevolve.verifiers.exact import equality, numbers, quantities, wording
from coevolve.verifiers.exact.relations import RELATION, relation
from coevolve.verifiers.exact.shapes import (
    INFINITE,
    LINE,
    Many,
    Named,
    Piece,
    Region,
    Row,
    Scalar,
    Shape,
    Words,
    enclosed,
    folded,
    matrix,
    split,
    tree,
)
from coevolve.verifiers.exact.syntax import in_base
from coevolve.verifiers.exact.tokens import Tree, Unreadable, number

JOINERS = (
    r"\\text(?:rm|bf)?\s*\{\s*(?:,\s*)?(?:and|or)\s*\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])"
    r"|\\(?:lor|vee|land|wedge)(?![a-zA-Z])"
)
LISTED = rf",?\s*(?:{JOINERS})\s*|[,;]"
AND = r"\\text\s*\{\s*and\s*\}|(?<![a-zA-Z])and(?![a-zA-Z])|\\(?:land|wedge)(?![a-zA-Z])"
GROUPED = re.compile(r"(?P<head>\A[-+]?\s*)(?P<digits>\d{1,3}(?:,\d{3})+)(?![\d,])")
IN_BASE = re.compile(r"((?=[A-Z]*\d)[0-9A-Z]+)_\{?(\d{1,2})\}?\Z")
REPEATING = re.compile(r"([-+]?\d*\.\d*?)(\d{1,6}?)\2{2,}\s*\\ldots\Z")
ITEMS = 60


def read(text: str, inside: bool = False) -> Shape:
    """The shape of a cleaned text; `inside` brackets commas never group thousands. Raises Unreadable."""
    text = text.strip()
    if not text:
        raise Unreadable("nothing")
    if not inside:
        text = GROUPED.sub(lambda m: m["head"] + m["digits"].replace(",", ""), text)
    for attempt in (_fixed, _region, _listed, relation_of, _bracketed, _plus_minus, _single):
        shape = attempt(text)
        if shape is not None:
            return shape
    raise Unreadable(text[:40])


def _fixed(text: str) -> Shape | None:
    if text in (r"\emptyset", r"\{\}", r"\{ \}") or folded(text) in wording.NOTHING:
        return Many((), True)
    if text.replace(" ", "") == r"\mathbb{R}" or folded(text) in wording.EVERYTHING:
        return LINE
    if text.startswith(r"\begin"):
        return matrix(text)
    clock = wording.clock(text)
    if clock:
        return clock
    if wording.RATIO.match(text):
        return wording.ratio(text)
    based = IN_BASE.match(text)
    if based and int(based[2]) <= 36:
        return Scalar(in_base(based[1], int(based[2])))
    repeating = REPEATING.match(text)
    if repeating:
        return Scalar(tree(rf"{repeating[1]}\overline{{{repeating[2]}}}"))
    written = numbers.parse(text) if "," not in text else None
    return Scalar(("num", written)) if written else wording.number_words(folded(text))


def _region(text: str) -> Shape | None:
    """Unions of intervals, and the line without some points."""
    if re.search(RELATION, text) and not enclosed(text):
        return None
    minus = split(text, r"\\setminus(?![a-zA-Z])|\\backslash(?![a-zA-Z])|(?<=\})\s*-\s*(?=\\\{)")
    if len(minus) == 2:
        base, taken = _as_region(read(minus[0])), read(minus[1])
        if isinstance(taken, Many) and all(isinstance(item, Scalar) for item in taken.items):
            return without(base, [item.tree for item in taken.items if isinstance(item, Scalar)])
        raise Unreadable("a difference of sets")
    union = split(text, r"\\cup(?![a-zA-Z])|(?<=[)\]}])\s*U\s*(?=[(\[\\])")
    if len(union) < 2:
        return None
    pieces: list[Piece] = []
    for part in union:
        pieces += _as_region(read(part, inside=True)).pieces
    return Region(tuple(pieces))


def without(region: Region, points: Sequence[Tree]) -> Region:
    """A region without some points. Raises Unsure for points or ends without a value."""
    pieces = list(region.pieces)
    for point in points:
        cut: list[Piece] = []
        for piece in pieces:
            if _between(piece, point):
                cut += [
                    Piece(piece.low, point, (piece.closed[0], False)),
                    Piece(point, piece.high, (False, piece.closed[1])),
                ]
            else:
                cut.append(piece)
        pieces = cut
    return Region(tuple(pieces), region.name)


def _between(piece: Piece, point: Tree) -> bool:
    where = float(equality.constant(point))
    low = -math.inf if piece.low == ("neg", INFINITE) else float(equality.constant(piece.low))
    high = math.inf if piece.high == INFINITE else float(equality.constant(piece.high))
    return low <= where <= high


def _as_region(shape: Shape) -> Region:
    region = as_region(shape)
    if region is None:
        raise Unreadable("no part of the line")
    return region


def as_region(shape: Shape) -> Region | None:
    """A two-place row as an interval, a set of numbers as points; None for anything else."""
    if isinstance(shape, Region):
        return shape
    if isinstance(shape, Row) and len(shape.items) == 2 and shape.brackets in ("()", "[]", "(]", "[)"):
        low, high = shape.items
        if isinstance(low, Scalar) and isinstance(high, Scalar):
            return Region((Piece(low.tree, high.tree, (shape.brackets[0] == "[", shape.brackets[1] == "]")),))
    if isinstance(shape, Many) and all(isinstance(item, Scalar) for item in shape.items):
        return Region(
            tuple(Piece(item.tree, item.tree, (True, True)) for item in shape.items if isinstance(item, Scalar))
        )
    return None


def _listed(text: str) -> Shape | None:
    parts = split(text, LISTED)
    parts = [part for place, part in enumerate(parts) if part or place < len(parts) - 1]
    if len(parts) < 2 or len(parts) > ITEMS or enclosed(text):
        return None
    joined_by_and = len(split(text, AND)) > 1
    if any(not part for part in parts):
        raise Unreadable("an empty place in a list")
    shapes = [read(part, inside=True) for part in parts]
    regions = [shape for shape in shapes if isinstance(shape, Region)]
    if len(regions) == len(shapes):
        return _combined(regions, joined_by_and or "," in text)
    return _gathered(shapes)


def _combined(regions: list[Region], both: bool) -> Region:
    """Inequalities joined by `or` (a union) or, where each bounds one side, by `and` (one interval)."""
    names = {region.name for region in regions}
    if len(names) != 1:
        raise Unreadable("inequalities of several unknowns")
    if not both:
        return Region(tuple(piece for region in regions for piece in region.pieces), names.pop())
    low: Tree = ("neg", ("const", "inf"))
    high: Tree = ("const", "inf")
    closed = [False, False]
    for region in regions:
        if len(region.pieces) != 1:
            raise Unreadable("an intersection")
        piece = region.pieces[0]
        if piece.high == ("const", "inf") and low == ("neg", ("const", "inf")):
            low, closed[0] = piece.low, piece.closed[0]
        elif piece.low == ("neg", ("const", "inf")) and high == ("const", "inf"):
            high, closed[1] = piece.high, piece.closed[1]
        else:
            raise Unreadable("an intersection")
    return Region((Piece(low, high, (closed[0], closed[1])),), names.pop())


def _gathered(shapes: list[Shape]) -> Shape:
    """`x = 2, x = 5` and `n = 2, 3, 4` as one named list; other lists as they are."""
    names = [shape.name for shape in shapes if isinstance(shape, Named)]
    first = shapes[0]
    if isinstance(first, Named) and not first.parameter and (len(set(names)) == 1) and len(names) in (1, len(shapes)):
        values = [shape.value if isinstance(shape, Named) else shape for shape in shapes]
        flat: list[Shape] = []
        for value in values:
            flat += value.items if isinstance(value, Many) and not value.braced else [value]
        return Named(first.name, Many(tuple(flat), False))
    flat = []
    for shape in shapes:
        flat += shape.items if isinstance(shape, Many) and not shape.braced else [shape]
    return Many(tuple(flat), False)


def relation_of(text: str) -> Shape | None:
    """Equations, inequalities and memberships."""
    if enclosed(text):
        return None
    return relation(text, read)


def _bracketed(text: str) -> Shape | None:
    found = enclosed(text)
    if not found:
        return None
    brackets, inner = found
    if inner.startswith(r"\begin") and brackets in ("()", "[]"):
        return matrix(inner)
    if brackets == "{}":
        return _set(inner, escaped=text.startswith("\\"))
    parts = split(inner, ",|;")
    if len(parts) < 2:
        if brackets == "()" and split(inner, RELATION)[1:]:
            return read(inner)
        if brackets == "[]" and inner.startswith(("[", "(")):
            return Row((read(inner, inside=True),), brackets)
        return None
    if len(parts) > ITEMS or not all(parts):
        raise Unreadable("an empty place in a row")
    return Row(tuple(read(part, inside=True) for part in parts), brackets)


def _set(inner: str, escaped: bool) -> Shape | None:
    """A set by its members or by a condition."""
    condition = split(inner, r"\||:")
    if len(condition) == 2 and escaped:
        name = re.sub(r"\\in.*", "", condition[0]).strip()
        shape = read(re.sub(r",\s*\w+\s*\\in\s*\\mathbb\{R\}\Z", "", condition[1]))
        if isinstance(shape, Region) and shape.name in (name, ""):
            return shape._replace(name="")
        raise Unreadable("a set by condition")
    if not escaped and not split(inner, ",")[1:]:
        return None
    if not inner:
        return Many((), True)
    shape = read(inner, inside=True)
    return Many(shape.items, True) if isinstance(shape, Many) else Many((shape,), True)


def _plus_minus(text: str) -> Shape | None:
    if not re.search(r"\\(?:pm|mp)(?![a-zA-Z])", text):
        return None
    unit = quantities.trailing_unit(text)
    value, name = (unit.value, unit.unit) if unit else (text, "")
    return Many((Scalar(tree(value, 1), name), Scalar(tree(value, -1), name)), False)


def _single(text: str) -> Shape | None:
    percent = re.fullmatch(
        r"(.+?)\s*(?:\\?%|\\text\s*\{\s*\\?%\s*\}|(?:\\text\s*\{\s*)?(?:percent|percentage|pct)\s*\}?)", text, re.DOTALL
    )
    if percent:
        inner = tree(percent.group(1))
        return Scalar(("num", numbers.percent(inner[1])) if inner[0] == "num" else ("div", inner, number(100)))
    quantity = quantities.trailing_unit(text)
    if quantity:
        return Scalar(tree(quantity.value), quantity.unit)
    if wording.is_words(text):
        return Words(folded(text), text)
    return Scalar(tree(text))

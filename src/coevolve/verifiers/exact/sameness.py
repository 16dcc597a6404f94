"""When two shapes are the same answer. Symmetric: neither side is favoured."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from coevolve.verifiers.exact import equality, reading, regions, units
from coevolve.verifiers.exact.equality import Unsure
from coevolve.verifiers.exact.relations import assignments
from coevolve.verifiers.exact.shapes import (
    Many,
    Matrix,
    Named,
    Piece,
    Region,
    Relation,
    Row,
    Scalar,
    Shape,
    Words,
    folded,
    tree,
)
from coevolve.verifiers.exact.tokens import Tree, Unreadable, number

Sizes = Callable[[str], units.Size | None]
"""Looks a unit text up; None for a unit that is not known."""

CONSTANTS_OF_INTEGRATION = frozenset("C K c k".split())
INFINITE: Tree = ("const", "inf")


def same(one: Shape, other: Shape, sizes: Sizes) -> bool:
    """Whether two answers are the same. Raises Unsure when that cannot be told."""
    for this, that in ((one, other), (other, one)):
        if isinstance(this, Named):
            return _named(one, other, sizes)
        if isinstance(this, Many) and len(this.items) == 1 and not isinstance(that, Many | Region | Named):
            return same(this.items[0], that, sizes)
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return scalars(one, other, sizes)
    if isinstance(one, Many) and isinstance(other, Many):
        return _many(one, other, sizes)
    if isinstance(one, Words) and isinstance(other, Words):
        return one.text == other.text
    return _same_structure(one, other, sizes)


def _same_structure(one: Shape, other: Shape, sizes: Sizes) -> bool:
    if isinstance(one, Relation) and isinstance(other, Relation):
        return _relations(one, other)
    if isinstance(one, Matrix) or isinstance(other, Matrix):
        return _matrices(one, other)
    if isinstance(one, Row) and isinstance(other, Row):
        return _rows(one, other, sizes)
    if isinstance(one, Region) or isinstance(other, Region):
        return _regions(one, other)
    for this, that in ((one, other), (other, one)):
        if isinstance(this, Row) and isinstance(that, Many) and not that.braced and this.brackets in ("()", "<>", "[]"):
            return _in_order(this.items, _values(that), sizes)
    return False


def _values(shape: Many) -> Sequence[Shape]:
    named = assignments(shape)
    return list(named.values()) if named else shape.items


def _named(one: Shape, other: Shape, sizes: Sizes) -> bool:
    if isinstance(one, Named) and isinstance(other, Named):
        if one.parameter and other.parameter:
            return one.name == other.name and same(
                one.value, _renamed(other.value, other.parameter, one.parameter), sizes
            )
        if one.name != other.name:
            return _as_equations(one, other)
        return same(one.value, other.value, sizes)
    for this, that in ((one, other), (other, one)):
        if isinstance(this, Named):
            if isinstance(that, Relation):
                equation = _equation(this)
                return equation is not None and _relations(equation, that)
            if isinstance(that, Region) and that.name:
                return that.name == this.name and same(this.value, that._replace(name=""), sizes)
            return same(this.value, that, sizes)
    return False


def _as_equations(one: Named, other: Named) -> bool:
    """`y = 2x` and `x = y/2` are one line; `x = 3` and `y = 3` are two."""
    first, second = _equation(one), _equation(other)
    if (
        first is None
        or second is None
        or not (equality.symbols(first.left) | equality.symbols(first.right)) - {one.name}
    ):
        return False
    return _relations(first, second)


def _equation(named: Named) -> Relation | None:
    if not isinstance(named.value, Scalar) or named.value.unit or named.name.startswith("("):
        return None
    try:
        left = tree(named.name)
    except Unreadable:
        left = ("sym", named.name)
    return Relation("=", ("sub", left, named.value.tree), left, named.value.tree)


def _renamed(shape: Shape, old: str, new: str) -> Shape:
    if not isinstance(shape, Scalar):
        return shape

    def walk(tree: Tree) -> Tree:
        if tree == ("sym", old):
            return ("sym", new)
        return tuple(
            walk(item) if isinstance(item, tuple) and item and isinstance(item[0], str) else item for item in tree
        )

    return Scalar(walk(shape.tree), shape.unit)


def scalars(one: Scalar, other: Scalar, sizes: Sizes) -> bool:
    """Two single values; a unit on one side only is ignored, two units must agree in kind and are converted."""
    if one.unit and other.unit:
        here, there = sizes(one.unit), sizes(other.unit)
        if here is None or there is None:
            return _noun(one.unit) == _noun(other.unit) and trees(one.tree, other.tree)
        if here.dimension != there.dimension:
            return False
        if (here.factor, here.scale) != (there.factor, there.scale):
            return _converted(one.tree, other.tree, here, there)
    return trees(one.tree, other.tree)


def _noun(unit: str) -> str:
    return folded(unit).removesuffix("s")


def _converted(one: Tree, other: Tree, here: units.Size, there: units.Size) -> bool:
    if here.scale or there.scale:
        a, b = (kelvin(equality.constant(tree), size) for tree, size in ((one, here), (other, there)))
        return bool(a == b)
    ratio = here.factor / there.factor
    if ratio.denominator > 10**9 or ratio.numerator > 10**12 * ratio.denominator:
        a, b = equality.constant(one), equality.constant(other)
        return bool(abs(float(a) * float(ratio) - float(b)) <= 1e-9 * abs(float(b)))
    return trees(("mul", one, number(ratio)), other)


def kelvin(value: Fraction, size: units.Size) -> Fraction:
    """A temperature in kelvin."""
    if size.scale == "degC":
        return value + Fraction("273.15")
    if size.scale == "degF":
        return (value + Fraction("459.67")) * 5 / 9
    return value * size.factor


def trees(one: Tree, other: Tree) -> bool:
    """Two expressions; infinities by sign, an additive constant of integration by any of its usual names."""
    infinite = [tree for tree in (one, other) if tree in (INFINITE, ("neg", INFINITE))]
    if infinite:
        return one == other
    names = equality.symbols(one), equality.symbols(other)
    only = names[0] - names[1], names[1] - names[0]
    if all(len(part) == 1 and part <= CONSTANTS_OF_INTEGRATION for part in only) and names[0] & names[1]:
        constants = [next(iter(part)) for part in only]
        if all(_additive(tree, name) for tree, name in zip((one, other), constants, strict=True)):
            renamed = _renamed(Scalar(other), constants[1], constants[0])
            return isinstance(renamed, Scalar) and equality.same(one, renamed.tree)
    return equality.same(one, other)


def _additive(tree: Tree, name: str) -> bool:
    """Whether `name` is a term of its own in a sum."""
    if tree == ("sym", name):
        return True
    if tree[0] == "add":
        return _additive(tree[1], name) != _additive(tree[2], name)
    return tree[0] == "sub" and _additive(tree[1], name)


def _many(one: Many, other: Many, sizes: Sizes) -> bool:
    named = assignments(one), assignments(other)
    if named[0] and named[1]:
        return named[0].keys() == named[1].keys() and all(same(named[0][key], named[1][key], sizes) for key in named[0])
    if bool(named[0]) != bool(named[1]):
        return _in_order(_values(one), _values(other), sizes)
    unsure: list[Unsure] = []

    def has(item: Shape, items: Sequence[Shape]) -> bool:
        return any(_tried(item, candidate, sizes, unsure) for candidate in items)

    matched = all(has(item, other.items) for item in one.items) and all(has(item, one.items) for item in other.items)
    if not matched and unsure:
        raise unsure[0]
    return matched


def _tried(one: Shape, other: Shape, sizes: Sizes, unsure: list[Unsure]) -> bool:
    try:
        return same(one, other, sizes)
    except Unsure as error:
        unsure.append(error)
        return False


def _in_order(one: Sequence[Shape], other: Sequence[Shape], sizes: Sizes) -> bool:
    return len(one) == len(other) and all(same(a, b, sizes) for a, b in zip(one, other, strict=True))


def _rows(one: Row, other: Row, sizes: Sizes) -> bool:
    kinds = ["()" if row.brackets == "<>" else row.brackets for row in (one, other)]
    if kinds[0] != kinds[1] and (len(one.items) == 2 or len(set(kinds) - {"()", "[]"}) > 0):
        return False
    return _in_order(one.items, other.items, sizes)


def _matrices(one: Shape, other: Shape) -> bool:
    first, second = _matrix(one), _matrix(other)
    if first is None or second is None:
        return False
    if len(first) != len(second) and 1 in (len(first), len(second)):
        flat = [[cell for row in rows for cell in row] for rows in (first, second)]
        both_written = isinstance(one, Matrix) and isinstance(other, Matrix)
        return (
            not both_written and len(flat[0]) == len(flat[1]) and all(trees(a, b) for a, b in zip(*flat, strict=True))
        )
    if [len(row) for row in first] != [len(row) for row in second]:
        return False
    cells = ((a, b) for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True))
    return all(trees(a, b) for a, b in cells)


def _matrix(shape: Shape) -> tuple[tuple[Tree, ...], ...] | None:
    """Rows of cells of a matrix, a row of rows, or a plain row read as one line."""
    if isinstance(shape, Matrix):
        return shape.rows
    if not isinstance(shape, Row):
        return None
    if all(isinstance(item, Scalar) for item in shape.items):
        return (tuple(item.tree for item in shape.items if isinstance(item, Scalar)),)
    lines = [item for item in shape.items if isinstance(item, Row)]
    if len(lines) != len(shape.items) or not all(isinstance(cell, Scalar) for line in lines for cell in line.items):
        return None
    return tuple(tuple(cell.tree for cell in line.items if isinstance(cell, Scalar)) for line in lines)


def _regions(one: Shape, other: Shape) -> bool:
    pair = reading.as_region(one), reading.as_region(other)
    if pair[0] is None or pair[1] is None:
        return False
    names = {region.name for region in pair if region and region.name}
    if len(names) > 1:
        return False
    try:
        first, second = regions.normal(pair[0].pieces), regions.normal(pair[1].pieces)
    except Unsure:
        return _piecewise(pair[0].pieces, pair[1].pieces)
    return len(first) == len(second) and all(
        a[0].value == b[0].value and a[1].value == b[1].value and a[2] == b[2]
        for a, b in zip(first, second, strict=True)
    )


def _piecewise(one: Sequence[Piece], other: Sequence[Piece]) -> bool:
    """Intervals with symbols in their ends, piece by piece."""
    return len(one) == len(other) and all(
        a.closed == b.closed and trees(a.low, b.low) and trees(a.high, b.high) for a, b in zip(one, other, strict=True)
    )


def _relations(one: Relation, other: Relation) -> bool:
    if one.operator != other.operator:
        return False
    if equality.symbols(one.difference) != equality.symbols(other.difference):
        return False
    if equality.proportional(one.difference, other.difference, positive=one.operator in ("<", "<=")):
        return True
    return one.operator == "=" and (_substituted(one, other) or _substituted(other, one))


def _substituted(one: Relation, other: Relation) -> bool:
    """`y = g(x)` put into the other equation, which must be of first degree in y, makes it vanish everywhere."""
    if one.left[0] != "sym" or one.left[1] in equality.symbols(one.right):
        return False
    name = one.left[1]
    try:
        vanishes = equality.same(equality.substituted(other.difference, name, one.right), number(0))
        steps = [equality.substituted(other.difference, name, number(value)) for value in (0, 1, 2)]
        bend: Tree = ("sub", ("add", steps[0], steps[2]), ("mul", number(2), steps[1]))
        return vanishes and equality.same(bend, number(0))
    except (Unsure, Unreadable):
        return False

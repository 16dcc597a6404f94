"""The verdict on one pair of answers, mathematics' way. Runs in a checker process; everything here is bounded."""

from typing import Literal, NamedTuple

from coevolve.verifiers.exact import equality, notation, reading, sameness, units, wording
from coevolve.verifiers.exact.equality import Unsure
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.relations import assignments
from coevolve.verifiers.exact.shapes import Many, Named, Row, Scalar, Shape, Words, tree
from coevolve.verifiers.exact.tokens import Tree, Unreadable, number

Sameness = Literal["equal", "different", "unknown"]


class Verdict(NamedTuple):
    """What was found. `firm` = beyond a second opinion (both sides read, decided exactly)."""

    verdict: Sameness
    reason: str
    firm: bool


def shape_of(text: str, kind: str) -> Shape:
    """The reading of an answer of the type `kind`. Raises Refused, Unreadable or Unsure."""
    cleaned = notation.clean(text)
    shape = reading.read(cleaned)
    if kind == "tuple" and isinstance(shape, Many) and not shape.braced:
        shape = Row(shape.items, "()")
    if kind in ("expression", "symbolic", "equation"):
        shape = _letters(shape)
    if kind == "symbolic":
        shape = _aliased(shape)
    if kind == "set" and isinstance(shape, Many) and assignments(shape) is None:
        shape = shape._replace(braced=True)
    return shape


ALIASES: dict[str, Tree] = {
    "hbar": ("div", ("sym", "h"), ("mul", number(2), ("const", "pi"))),
    "k_B": ("sym", "k"),
}
"""Symbols of physics with two names."""


def _letters(shape: Shape) -> Shape:
    """Letters in a row are a product of symbols, not a word."""
    if isinstance(shape, Named):
        return shape._replace(value=_letters(shape.value))
    if isinstance(shape, Words) and shape.written.isalpha():
        return Scalar(tree(shape.written))
    return shape


def _aliased(shape: Shape) -> Shape:
    if isinstance(shape, Named):
        return shape._replace(value=_aliased(shape.value))
    if isinstance(shape, Scalar):
        tree = shape.tree
        for name, value in ALIASES.items():
            tree = equality.substituted(tree, name, value)
        return shape._replace(tree=tree)
    return shape


def _positive(shape: Shape) -> Shape:
    """Every symbol marked as a positive quantity."""
    if isinstance(shape, Named):
        return shape._replace(value=_positive(shape.value))
    if not isinstance(shape, Scalar):
        return shape
    tree = shape.tree
    for name in equality.symbols(tree):
        tree = equality.substituted(tree, name, ("sym", equality.POSITIVE + name))
    return shape._replace(tree=tree)


def compare(gold: str, answer: str, kind: str, sizes: sameness.Sizes) -> Verdict:
    """Compare two answers of one type: a `tasks.AnswerType`, `symbolic` for formulas of physics, `` when not known."""
    if not gold.strip() or not answer.strip():
        return Verdict("different", "an empty answer", True)
    try:
        cleaned = notation.clean(gold), notation.clean(answer)
    except Refused as error:
        return Verdict("unknown", f"not read: {error}", True)
    try:
        theirs, ours = shape_of(gold, kind), shape_of(answer, kind)
        if kind == "percent" and isinstance(ours, Scalar) and "%" in answer and "%" not in gold:
            ours = Scalar(("mul", ours.tree, number(100)), ours.unit)
        theirs, ours = _beside(theirs, ours), _beside(ours, theirs)
        if kind == "symbolic" and len({shape.name for shape in (theirs, ours) if isinstance(shape, Named)}) < 2:
            theirs, ours = _positive(theirs), _positive(ours)
    except RecursionError:
        return Verdict("unknown", "nested too deeply", True)
    except (Unreadable, Unsure) as error:
        if cleaned[0].replace(" ", "") == cleaned[1].replace(" ", "") and cleaned[0]:
            return Verdict("equal", "the same text", True)
        return Verdict("unknown", f"not read: {error}", False)
    return _decide(theirs, ours, sizes)


def _decide(theirs: Shape, ours: Shape, sizes: sameness.Sizes) -> Verdict:
    try:
        if sameness.same(theirs, ours, sizes):
            return Verdict("equal", "", True)
    except RecursionError:
        return Verdict("unknown", "not decided: nested too deeply", True)
    except Unsure as error:
        return Verdict("unknown", f"not decided: {error}", "TooLarge" in str(error))
    return Verdict("different", "another value", _firm(theirs, ours))


def _beside(first: Shape, other: Shape) -> Shape:
    """Letters beside an expression are a product; a time of day beside a ratio is one."""
    if not isinstance(first, Words) or isinstance(other, Words):
        return first
    try:
        if ":" in first.written:
            return wording.ratio(first.written)
        return Scalar(tree(first.written)) if first.written.isalpha() else first
    except Unreadable:
        return first


def _firm(one: Shape, other: Shape) -> bool:
    """Both sides are written numbers: no second opinion can change an exact comparison."""
    return all(isinstance(item, Scalar) and equality.literal(item.tree) is not None for item in (one, other))


class Sizes:
    """Unit sizes by text, remembered; pint is loaded with the first unit."""

    def __init__(self) -> None:
        self._registry: units.Registry | None = None
        self._known: dict[str, units.Size | None] = {}

    def __call__(self, text: str) -> units.Size | None:
        """Size of a unit text, None for one that is not known."""
        if text not in self._known:
            if len(self._known) > 5000:
                self._known.clear()
            self._known[text] = self._look_up(text)
        return self._known[text]

    def _look_up(self, text: str) -> units.Size | None:
        try:
            unit = units.read(text)
            if unit.powers and self._registry is None:
                self._registry = units.Registry()
            if self._registry is None:
                return units.Size(unit.factor, ())
            return self._registry.size(unit)
        except units.UnknownUnit:
            return None

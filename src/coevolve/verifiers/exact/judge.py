"""The verdict on one pair of answers, mathematics' way. Runs in a checker process; everything here is bounded."""

from typing import Literal, NamedTuple

from coevolve.verifiers.exact import equality, notation, reading, sameness, units
from coevolve.verifiers.exact.equality import Unsure
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.shapes import Many, Row, Scalar, Shape
from coevolve.verifiers.exact.tokens import Unreadable, number

Sameness = Literal["equal", "different", "unknown"]


class Verdict(NamedTuple):
    """What was found. `firm` = beyond a second opinion (both sides read, decided exactly)."""

    verdict: Sameness
    reason: str
    firm: bool


def shapes(text: str, kind: str) -> list[Shape]:
    """The readings of an answer, likeliest first. Raises Refused or Unreadable."""
    cleaned = notation.clean(text)
    shape = reading.read(cleaned)
    if kind == "tuple" and isinstance(shape, Many) and not shape.braced:
        shape = Row(shape.items, "()")
    if kind == "set" and isinstance(shape, Many):
        shape = shape._replace(braced=True)
    if kind == "percent" and isinstance(shape, Scalar) and "%" not in text and "percent" not in text:
        return [shape, Scalar(("div", shape.tree, number(100)))]
    return [shape]


def compare(gold: str, answer: str, kind: str, sizes: sameness.Sizes) -> Verdict:
    """Compare two answers of the type `kind` (a `tasks.AnswerType`, or `` when it is not known)."""
    if not gold.strip() or not answer.strip():
        return Verdict("different", "an empty answer", True)
    try:
        cleaned = notation.clean(gold), notation.clean(answer)
    except Refused as error:
        return Verdict("unknown", f"not read: {error}", True)
    try:
        theirs, ours = shapes(gold, kind), shapes(answer, kind)
    except RecursionError:
        return Verdict("unknown", "nested too deeply", True)
    except (Unreadable, Unsure) as error:
        if cleaned[0].replace(" ", "") == cleaned[1].replace(" ", "") and cleaned[0]:
            return Verdict("equal", "the same text", True)
        return Verdict("unknown", f"not read: {error}", False)
    reason = ""
    for one in theirs[:1] if kind == "percent" and "%" in answer and len(ours) == 1 and len(theirs) == 1 else theirs:
        for other in ours:
            try:
                if sameness.same(one, other, sizes):
                    return Verdict("equal", "", True)
            except (Unsure, RecursionError) as error:
                reason = f"not decided: {error}"
    if reason:
        return Verdict("unknown", reason, False)
    return Verdict("different", "another value", _firm(theirs[0], ours[0]))


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

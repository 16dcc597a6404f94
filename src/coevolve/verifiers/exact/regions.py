"""Regions of the real line brought to one form: sorted, merged, without empty pieces."""

from collections.abc import Sequence
from fractions import Fraction

from coevolve.verifiers.exact import equality
from coevolve.verifiers.exact.equality import Unsure
from coevolve.verifiers.exact.shapes import INFINITE, Piece
from coevolve.verifiers.exact.tokens import Tree


class End:
    """An end of an interval that can be ordered."""

    def __init__(self, tree: Tree) -> None:
        if tree in (INFINITE, ("neg", INFINITE)):
            self.value: object = tree
            self.order = float("inf") if tree == INFINITE else float("-inf")
            return
        exact = equality.constant(tree)
        if isinstance(exact, Fraction):
            self.value, self.order = exact, float(exact)
        else:
            self.order = float(exact)
            self.value = equality.rounded(exact)


def normal(pieces: Sequence[Piece]) -> list[tuple[End, End, tuple[bool, bool]]]:
    """Sorted, merged, without empty pieces. Raises Unsure for ends without a value."""
    try:
        ends = [(End(piece.low), End(piece.high), piece.closed) for piece in pieces]
    except (TypeError, ValueError, OverflowError) as error:
        raise Unsure("an end that is no real number") from error
    kept = [e for e in ends if e[0].order < e[1].order or (e[0].value == e[1].value and all(e[2]))]
    kept.sort(key=lambda e: (e[0].order, not e[2][0]))
    merged: list[tuple[End, End, tuple[bool, bool]]] = []
    for low, high, closed in kept:
        if merged and (
            low.order < merged[-1][1].order or (low.value == merged[-1][1].value and (closed[0] or merged[-1][2][1]))
        ):
            before = merged.pop()
            later, shut = (high, closed[1]) if high.order >= before[1].order else (before[1], before[2][1])
            if high.value == before[1].value:
                shut = closed[1] or before[2][1]
            merged.append((before[0], later, (before[2][0], shut)))
        else:
            merged.append((low, high, closed))
    return merged

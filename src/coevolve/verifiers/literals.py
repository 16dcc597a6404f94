"""Python literals compared by value and type, read within bounds."""

import ast
import math
import re
from typing import Any, NamedTuple

CHARS = 10_000
NESTING = 60
SIGNS = re.compile(r"[-+~]{8,}")
NOT_A_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


class Literal(NamedTuple):
    """A value read from text; `read` False when the text is no Python literal."""

    read: bool
    value: Any


def parse(text: str) -> Literal:
    """Read one literal; code fences, backticks and one trailing full stop are stripped."""
    text = text.strip()
    fence = re.fullmatch(r"```\w*\s*(.*?)\s*```", text, re.DOTALL)
    text = fence.group(1) if fence else text
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text.strip("`").strip()
    for attempt in (text, text.removesuffix(".").rstrip()):
        if not attempt or len(attempt) > CHARS or SIGNS.search(attempt) or _depth(attempt) > NESTING:
            continue
        try:
            return Literal(True, ast.literal_eval(attempt))
        except NOT_A_LITERAL:
            continue
    return Literal(False, None)


def _depth(text: str) -> int:
    deepest = depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    return deepest


def same(one: Any, other: Any) -> bool:
    """Equal value and equal type, all the way down: True is not 1, 1 is not 1.0, a list is no tuple."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return len(one) == len(other) and _same_items(one, other)
    if isinstance(one, set | frozenset):
        return bool(one == other) and sorted(map(_typed, one)) == sorted(map(_typed, other))
    return bool(one == other)


def _same_items(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    keys = {_typed(key): value for key, value in other.items()}
    return all(_typed(key) in keys and same(value, keys[_typed(key)]) for key, value in one.items())


def _typed(value: Any) -> str:
    return f"{type(value).__name__}:{value!r}"

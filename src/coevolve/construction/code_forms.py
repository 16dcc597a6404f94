"""Python expressions as text: brackets where they are needed, literals that can be read back."""

import ast
from typing import Any

from coevolve.construction.base import Inapplicable

ATOMS = (ast.Call, ast.Subscript, ast.Attribute, ast.Name, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.Constant)
TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv)
LONGEST_INT = 10**15


def literal(text: str) -> Any:
    """The value a Python literal writes. Raises Inapplicable."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise Inapplicable(f"{text[:40]!r} is no Python literal") from error


def written(value: Any) -> str:
    """The literal of a value; refuses what does not read back as itself, or grew out of hand."""
    if type(value) is int and abs(value) > LONGEST_INT:
        raise Inapplicable("the number grew too large")
    text = repr(value)
    if value == set() and type(value) is set:
        raise Inapplicable("an empty set has no literal")
    if type(value) is float and not abs(value) < LONGEST_INT:
        raise Inapplicable("the float grew too large")
    if literal(text) != value:
        raise Inapplicable("the value does not read back")
    return text


def expression(text: str) -> ast.expr:
    """The expression a text writes. Raises Inapplicable."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Inapplicable(f"{text[:40]!r} is no Python expression") from error


def atom(text: str) -> str:
    """`text`, in brackets unless operators may stand beside it as it is."""
    node = expression(text)
    plain = isinstance(node, ATOMS)
    return text if plain or _bracketed(text) else f"({text})"


def _bracketed(text: str) -> bool:
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    node = expression(text)
    if isinstance(node, ast.Tuple):
        return node.col_offset == 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return place == len(text) - 1
    return False


def term(text: str) -> str:
    """`text`, in brackets unless `+` and `-` may follow it as it is."""
    node = expression(text)
    return text if isinstance(node, ast.BinOp) and isinstance(node.op, TERMS) else atom(text)


def inner(text: str) -> str:
    """`text` as it may stand inside the brackets of a call."""
    return f"({text})" if isinstance(expression(text), ast.GeneratorExp | ast.Starred) else text


def filled(template: str, text: str, operands: tuple[str, ...]) -> str:
    """An operation's expression applied to the expression `text`."""
    if template.startswith(("{r} + ", "{r} - ")):
        return template.format(*operands, r=term(text))
    bare = template.startswith(("len(", "sum(ord", "sum({r})", "sorted(", "''.join(", "'-'.join(", "sum(i * x"))
    return template.format(*operands, r=inner(text) if bare else atom(text))

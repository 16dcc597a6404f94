"""Wrong versions of a reference program, which good tests must refuse."""

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from coevolve.sandbox.inside.wire import Opaque
from coevolve.verifiers import sources

CONSTANTS = 2
EDITS = 6


class Mutant(NamedTuple):
    """A wrong program; `sure` when its results cannot all be right, so that tests which accept it are too weak."""

    name: str
    source: str
    sure: bool


EMPTIED = """

def _emptied(value):
    return type(value)() if isinstance(value, (int, float, str, list, tuple, dict, set)) and value else [value]
"""

WRAPPER = """

def _spoil(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + "#"
    if isinstance(value, list):
        return value + [None]
    if isinstance(value, tuple):
        return value + (None,)
    if isinstance(value, dict):
        return {**value, "#": None}
    if isinstance(value, (set, frozenset)):
        return set(value) | {"#"}
    return "#" if value is None else None
"""


def of_function(source: str, name: str, method: bool, returned: Sequence[Any]) -> Iterator[Mutant]:
    """Wrong versions of the function `name` (or of `Solution.name`): stub, constants, spoiled results, edits."""
    where = "Solution." if method else ""
    yield Mutant("stub", source + _replaced(name, method, "return None"), not _all_same(returned, None))
    for value in _distinct(returned)[:CONSTANTS]:
        yield Mutant("constant", source + _replaced(name, method, f"return {value!r}"), not _all_same(returned, value))
    spoil = f"\n_right = {where}{name}\n"
    spoil += _replaced(name, method, "return _spoil(_right(*args, **named))")
    yield Mutant("spoiled result", source + WRAPPER + spoil, True)
    emptied = f"\n_right = {where}{name}\n" + _replaced(name, method, "return _emptied(_right(*args, **named))")
    yield Mutant("emptied result", source + EMPTIED + emptied, True)
    yield Mutant("first argument", source + _replaced(name, method, "return args[-1]"), False)
    yield from _edits(source, name)


def of_program(source: str, outputs: Sequence[str]) -> Iterator[Mutant]:
    """Wrong versions of a whole program: silent, a constant output, one line too many, edits."""
    yield Mutant("silent", "pass\n", any(output.strip() for output in outputs))
    for value in list(dict.fromkeys(outputs))[:CONSTANTS]:
        sure = len({output.strip() for output in outputs}) > 1
        yield Mutant("constant", f"import sys\nsys.stdout.write({value!r})\n", sure)
    yield Mutant("one line more", source + "\nprint('#')\n", True)
    yield from _edits(source, None)


def _replaced(name: str, method: bool, body: str) -> str:
    if method:
        return f"\n\ndef _wrong(*args, **named):\n    {body}\n\n\nSolution.{name} = _wrong\n"
    return f"\n\ndef {name}(*args, **named):\n    {body}\n"


def _distinct(values: Sequence[Any]) -> list[Any]:
    kept: list[Any] = []
    for value in values:
        if not _holds_opaque(value) and not any(value == other for other in kept):
            kept.append(value)
    return kept


def _holds_opaque(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_opaque(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return any(_holds_opaque(item) for item in value)
    return isinstance(value, Opaque) or (isinstance(value, float) and value - value != 0)


def _all_same(values: Sequence[Any], value: Any) -> bool:
    return bool(values) and all(bool(item == value) for item in values)


def _edits(source: str, name: str | None) -> Iterator[Mutant]:
    """One small change each: a comparison, an operator, a number or a boolean turned."""
    tree = sources.tree(source)
    if tree is None:
        return
    scope = _scope(tree, name)
    places = [place for place, node in enumerate(ast.walk(scope)) if _turned(copy.deepcopy(node))]
    step = max(1, len(places) // EDITS)
    for place in places[::step][:EDITS]:
        changed = copy.deepcopy(tree)
        node = list(ast.walk(_scope(changed, name)))[place]
        _turned(node)
        yield Mutant(f"{type(node).__name__} changed", ast.unparse(ast.fix_missing_locations(changed)), False)


def _scope(tree: ast.Module, name: str | None) -> ast.AST:
    """The last definition of the function, else the whole program."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1] if found else tree


OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}


def _turned(node: ast.AST) -> bool:
    """Change `node` in place; False when it is not of a kind that is changed."""
    match node:
        case ast.Compare(ops=[first, *rest]) if type(first) in OPPOSITE:
            node.ops = [OPPOSITE[type(first)](), *rest]
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OTHER:
            node.op = OTHER[type(operator)]()
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = value + 1
        case ast.BoolOp(op=ast.And()):
            node.op = ast.Or()
        case ast.BoolOp(op=ast.Or()):
            node.op = ast.And()
        case _:
            return False
    return True

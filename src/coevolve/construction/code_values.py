"""Pure operations on Python literals, each as an expression, as words, and as what it does to a value.

Nothing foreign is executed: values come from `ast.literal_eval`, operations are the ones below. Equal values have equal
images (so 1, 1.0 and True, or dicts of another order, cannot tell a right program from a wrong one).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coevolve.construction.operands import addend, factor

Operands = tuple[str, ...]
Draw = Callable[[int, Any, random.Random], Operands | None]


@dataclass(frozen=True)
class Operation:
    """`{r}` in `expression` is the value so far, `{0}` and `{1}` are operands written as literals."""

    name: str
    types: tuple[type, ...]
    size: int
    """The smallest size at which it is drawn."""
    expression: str
    words: str
    draw: Draw
    compute: Callable[[Any, tuple[Any, ...]], Any]


def _none(_size: int, _value: Any, _rng: random.Random) -> Operands | None:
    return ()


def _filled(_size: int, value: Any, _rng: random.Random) -> Operands | None:
    return () if len(value) > 1 else None


def _number(size: int, _value: Any, rng: random.Random) -> Operands | None:
    return (str(addend(size, rng)),)


def _factor(size: int, value: Any, rng: random.Random) -> Operands | None:
    return (str(factor(size, rng)),) if value else None


def _modulus(size: int, value: Any, rng: random.Random) -> Operands | None:
    top = addend(size, rng) + 1
    return (str(top),) if value > top else None


def _index(size: int, value: Any, rng: random.Random) -> Operands | None:
    top = min(len(value), 2 * size + 1) - 1
    return (str(rng.randint(0, top)),) if top >= 1 else None


def _cut(size: int, value: Any, rng: random.Random) -> Operands | None:
    top = min(len(value) - 1, 2 * size)
    return (str(rng.randint(1, top)),) if top >= 1 else None


def _text(size: int, _value: Any, rng: random.Random) -> Operands | None:
    return (repr("".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(size + 1))),)


def _letter_pair(_size: int, value: Any, rng: random.Random) -> Operands | None:
    letters = sorted({c for c in value if c.isascii() and c.isalpha()})
    return (repr(rng.choice(letters)), repr(rng.choice("xyzqw"))) if letters else None


def _letter(_size: int, value: Any, rng: random.Random) -> Operands | None:
    letters = sorted({c for c in value if c.isascii() and c.isalnum()})
    return (repr(rng.choice(letters)),) if letters else None


def _times(size: int, value: Any, rng: random.Random) -> Operands | None:
    return (str(rng.randint(2, 2 + size)),) if 0 < len(value) <= 12 else None


def _ints(value: Any) -> bool:
    return len(value) > 0 and all(type(item) is int and abs(item) < 10**9 for item in value)


def _int_items(_size: int, value: Any, _rng: random.Random) -> Operands | None:
    return () if len(value) > 1 and _ints(value) else None


def _int_items_number(size: int, value: Any, rng: random.Random) -> Operands | None:
    return _number(size, value, rng) if _ints(value) else None


def _int_items_factor(size: int, value: Any, rng: random.Random) -> Operands | None:
    return (str(factor(size, rng)),) if _ints(value) else None


def _sortable(_size: int, value: Any, _rng: random.Random) -> Operands | None:
    alike = len({type(item) for item in value}) == 1 and all(type(item) in (int, str) for item in value)
    return () if len(value) > 1 and alike else None


def _strings(_size: int, value: Any, _rng: random.Random) -> Operands | None:
    return () if len(value) > 1 and all(type(item) is str for item in value) else None


def _loop(size: int, _value: Any, rng: random.Random) -> Operands | None:
    return (str(rng.randint(2, 3 + size)),)


INT, TEXT, LIST, TUPLE, DICT, SET, BOOL, FLOAT = (int,), (str,), (list,), (tuple,), (dict,), (set,), (bool,), (float,)

OPERATIONS: tuple[Operation, ...] = (
    Operation("add", INT, 1, "{r} + {0}", "add {0} to it", _number, lambda r, k: r + k[0]),
    Operation("sub", INT, 1, "{r} - {0}", "subtract {0} from it", _number, lambda r, k: r - k[0]),
    Operation("mul", INT, 1, "{r} * {0}", "multiply it by {0}", _factor, lambda r, k: r * k[0]),
    Operation("mod", INT, 2, "{r} % {0}", "take its remainder modulo {0}", _modulus, lambda r, k: r % k[0]),
    Operation("floordiv", INT, 2, "{r} // {0}", "floor-divide it by {0}", _modulus, lambda r, k: r // k[0]),
    Operation(
        "absolute", INT, 2, "abs({r} - {0})", "take its absolute distance from {0}", _number, lambda r, k: abs(r - k[0])
    ),
    Operation(
        "loop",
        INT,
        3,
        "sum({r} + i for i in range({0}))",
        "add up (it + i) for every i in range({0})",
        _loop,
        lambda r, k: sum(r + i for i in range(k[0])),
    ),
    Operation(
        "squares",
        INT,
        4,
        "sum({r} * i * i for i in range({0}))",
        "add up (it * i * i) for every i in range({0})",
        _loop,
        lambda r, k: sum(r * i * i for i in range(k[0])),
    ),
    Operation("concat", TEXT, 1, "{r} + {0}", "append {0} to it", _text, lambda r, k: r + k[0]),
    Operation("upper", TEXT, 1, "{r}.upper()", "put it in upper case", _filled, lambda r, _k: r.upper()),
    Operation("lower", TEXT, 1, "{r}.lower()", "put it in lower case", _filled, lambda r, _k: r.lower()),
    Operation("cut", TEXT, 2, "{r}[{0}:]", "keep it from index {0} on", _cut, lambda r, k: r[k[0] :]),
    Operation("prefix", TEXT, 2, "{0} + {r}", "put {0} in front of it", _text, lambda r, k: k[0] + r),
    Operation("reverse", TEXT, 3, "{r}[::-1]", "reverse it", _filled, lambda r, _k: r[::-1]),
    Operation(
        "replace",
        TEXT,
        2,
        "{r}.replace({0}, {1})",
        "replace every {0} in it by {1}",
        _letter_pair,
        lambda r, k: r.replace(*k),
    ),
    Operation("repeat", TEXT, 2, "{r} * {0}", "repeat it {0} times", _times, lambda r, k: r * k[0]),
    Operation("length", TEXT, 2, "len({r})", "take its length", _filled, lambda r, _k: len(r)),
    Operation("swap", TEXT, 3, "{r}.swapcase()", "swap the case of its letters", _filled, lambda r, _k: r.swapcase()),
    Operation("every", TEXT, 3, "{r}[::2]", "keep its characters at even indices", _filled, lambda r, _k: r[::2]),
    Operation("count", TEXT, 3, "{r}.count({0})", "count how often {0} is in it", _letter, lambda r, k: r.count(k[0])),
    Operation(
        "sorted",
        TEXT,
        3,
        "''.join(sorted({r}))",
        "sort its characters and join them",
        _filled,
        lambda r, _k: "".join(sorted(r)),
    ),
    Operation(
        "codes",
        TEXT,
        4,
        "sum(ord(c) for c in {r})",
        "add up the code points of its characters",
        _filled,
        lambda r, _k: sum(map(ord, r)),
    ),
    Operation("append", LIST, 1, "{r} + [{0}]", "append {0} to it", _number, lambda r, k: [*r, k[0]]),
    Operation("cut", LIST, 2, "{r}[{0}:]", "keep it from index {0} on", _cut, lambda r, k: r[k[0] :]),
    Operation("length", (list, tuple, dict, set), 1, "len({r})", "take its length", _none, lambda r, _k: len(r)),
    Operation("item", (list, tuple), 2, "{r}[{0}]", "take its item at index {0}", _index, lambda r, k: r[k[0]]),
    Operation("reverse", LIST, 2, "{r}[::-1]", "reverse it", _filled, lambda r, _k: r[::-1]),
    Operation("double", LIST, 2, "{r} * {0}", "repeat it {0} times", _times, lambda r, k: r * k[0]),
    Operation("sum", (list, tuple, set), 2, "sum({r})", "add up its items", _int_items, lambda r, _k: sum(r)),
    Operation(
        "sorted", (list, tuple, set, dict), 2, "sorted({r})", "sort it into a list", _sortable, lambda r, _k: sorted(r)
    ),
    Operation(
        "shift",
        LIST,
        3,
        "[x + {0} for x in {r}]",
        "add {0} to each of its items",
        _int_items_number,
        lambda r, k: [x + k[0] for x in r],
    ),
    Operation(
        "scale",
        LIST,
        3,
        "[x * {0} for x in {r}]",
        "multiply each of its items by {0}",
        _int_items_factor,
        lambda r, k: [x * k[0] for x in r],
    ),
    Operation(
        "join", (list, tuple), 2, "'-'.join({r})", "join its items with '-'", _strings, lambda r, _k: "-".join(r)
    ),
    Operation(
        "weighted",
        LIST,
        4,
        "sum(i * x for i, x in enumerate({r}))",
        "add up each item times its index",
        _int_items,
        lambda r, _k: sum(i * x for i, x in enumerate(r)),
    ),
    Operation("tuple_cut", TUPLE, 2, "{r}[{0}:]", "keep it from index {0} on", _cut, lambda r, k: r[k[0] :]),
    Operation("tuple_extend", TUPLE, 1, "{r} + ({0},)", "add {0} at its end", _number, lambda r, k: (*r, k[0])),
    Operation(
        "get",
        DICT,
        1,
        "{r}.get({0}, 0)",
        "look up {0} in it, or take 0 where it is missing",
        lambda _s, r, rng: (repr(rng.choice(sorted(r))),) if r and all(type(x) is str for x in r) else None,
        lambda r, k: r.get(k[0], 0),
    ),
    Operation(
        "entry",
        DICT,
        1,
        "{{**{r}, 'extra': {0}}}",
        "set its key 'extra' to {0}",
        _number,
        lambda r, k: {**r, "extra": k[0]},
    ),
    Operation("member", SET, 1, "{r} | {{{0}}}", "add the member {0} to it", _number, lambda r, k: r | {k[0]}),
    Operation(
        "choose",
        BOOL,
        1,
        "({0} if {r} else {1})",
        "take {0} if it is true and {1} if not",
        lambda size, _v, rng: (str(addend(size, rng)), str(-addend(size, rng))),
        lambda r, k: k[0] if r else k[1],
    ),
    Operation(
        "fadd",
        FLOAT,
        1,
        "round({r} + {0}, 2)",
        "add {0} to it and round to 2 places",
        _number,
        lambda r, k: round(r + k[0], 2),
    ),
    Operation(
        "fmul",
        FLOAT,
        1,
        "round({r} * {0}, 2)",
        "multiply it by {0} and round to 2 places",
        _factor,
        lambda r, k: round(r * k[0], 2),
    ),
    Operation(
        "missing",
        (type(None),),
        1,
        "({r} is None) + {0}",
        "take 1 plus {0} if it is None and just {0} if not",
        _number,
        lambda r, k: (r is None) + k[0],
    ),
)
NAMES = tuple(dict.fromkeys(operation.name for operation in OPERATIONS))

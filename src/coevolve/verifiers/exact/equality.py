"""When two expressions mean the same: exactly where possible, else to many digits at several points."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from mpmath import mp  # type: ignore[import-untyped]

from coevolve.verifiers.exact import numbers
from coevolve.verifiers.exact.arithmetic import NeedsDigits, TooLarge, Undefined, Value, to_mp
from coevolve.verifiers.exact.evaluate import Evaluator
from coevolve.verifiers.exact.tokens import Tree

DIGITS = (100, 300)
MORE_DIGITS = (1000, 3000)
INTEGRAL_DIGITS = (50,)
AGREE = 0.6
POSITIVE = "+"
"""First letter of the name of a symbol that stands for a positive quantity."""
POINTS = 4
WANTED_POINTS = 3


class Unsure(Exception):
    """Neither equal nor different could be established."""


def symbols(tree: Tree) -> frozenset[str]:
    """Names of the free symbols of a tree."""
    if tree[0] == "sym":
        return frozenset((tree[1],))
    if tree[0] in ("num", "const"):
        return frozenset()
    inner = frozenset().union(
        *(symbols(item) for item in tree[1:] if isinstance(item, tuple) and item and isinstance(item[0], str))
    )
    return inner - {tree[2]} if tree[0] == "range" else inner


def heads(tree: Tree) -> Iterator[str]:
    """Every function, constant and range name in a tree."""
    if tree[0] in ("fun", "const"):
        yield tree[1]
    if tree[0] == "range":
        yield tree[1]
    for item in tree[1:]:
        if isinstance(item, tuple) and item and isinstance(item[0], str):
            yield from heads(item)


def literal(tree: Tree) -> numbers.Number | None:
    """The written number that a tree is, signs and plain fractions included; None for anything computed."""
    if tree[0] == "num":
        return tree[1]  # type: ignore[no-any-return]
    if tree[0] == "neg":
        inner = literal(tree[1])
        return inner._replace(value=-inner.value) if inner else None
    if tree[0] == "mul" and tree[2][0] == "pow" and tree[2][1][0] == "num" and tree[2][1][1].value == 10:
        mantissa, power = literal(tree[1]), literal(tree[2][2])
        if mantissa and power and power.form == "integer" and abs(power.value) <= numbers.EXPONENT:
            scale = Fraction(10) ** int(power.value)
            return (
                numbers.Number(mantissa.value * scale, "decimal", mantissa.digits, mantissa.unit * scale)
                if mantissa.form == "decimal"
                else None
            )
    return None


def substituted(tree: Tree, name: str, value: Tree) -> Tree:
    """The tree with `value` for every `name`."""
    if tree == ("sym", name):
        return value
    return tuple(
        substituted(item, name, value) if isinstance(item, tuple) and item and isinstance(item[0], str) else item
        for item in tree
    )


def same(one: Tree, other: Tree) -> bool:
    """Whether two expressions are equal. Raises Unsure."""
    if one == other and not _undefined(one):
        return True
    written = literal(one), literal(other)
    if written[0] and written[1]:
        return numbers.same(written[0], written[1])
    for here, there, tree in ((written[0], written[1], other), (written[1], written[0], one)):
        if here is not None and there is None and here.form == "decimal" and not symbols(tree):
            return _decimal(here, tree)
    names = symbols(one) | symbols(other)
    if not _has_log(one) and not _has_log(other):
        return _same_everywhere(one, other, names, False)
    verdicts = [_same_everywhere(one, other, names, common) for common in (False, True)]
    if verdicts[0] != verdicts[1]:
        natural = any("ln" in heads(tree) for tree in (one, other))
        if verdicts[1] and not natural and (_rational(one) or _rational(other)):
            return True
        raise Unsure("the base of log is not given")
    return verdicts[0]


def _has_log(tree: Tree) -> bool:
    return "log" in heads(tree)


def _rational(tree: Tree) -> bool:
    return not symbols(tree) and not any(True for _ in heads(tree))


def _undefined(tree: Tree) -> bool:
    try:
        with mp.workdps(DIGITS[0]):
            return not symbols(tree) and Evaluator({}).value(tree) is None
    except Undefined:
        return tree not in (("const", "inf"), ("neg", ("const", "inf")))
    except (TooLarge, NeedsDigits):
        return False


def _decimal(decimal: numbers.Number, tree: Tree) -> bool:
    """A written decimal against a computed value: equal to it, or its rounding to six digits or more."""
    value = constant(tree)
    if isinstance(value, Fraction):
        return decimal.value == value or numbers.rounds(decimal, value)
    if decimal.digits < numbers.ROUNDED_DIGITS or not isinstance(value, mp.mpf):
        return False
    with mp.workdps(2 * numbers.DIGITS if decimal.digits > 200 else 400):
        close = Fraction(int(mp.nint(mp.ldexp(value, 1200))), 2**1200)
    return numbers.rounds(decimal, close)


def constant(tree: Tree, common_log: bool = False) -> Value:
    """The value of an expression without symbols. Raises Unsure."""
    for digits in (*DIGITS[1:], *MORE_DIGITS):
        try:
            with mp.workdps(digits):
                return Evaluator({}, common_log).value(tree)
        except NeedsDigits:
            continue
        except (Undefined, TooLarge, KeyError) as error:
            raise Unsure(type(error).__name__) from error
    raise Unsure("too many digits needed")


def rounded(value: Any) -> str:
    """An inexact real as text of 60 digits, so that equal values give equal texts."""
    if isinstance(value, mp.mpc):
        raise Unsure("no real number")
    return str(mp.nstr(value, 60))


def _same_everywhere(one: Tree, other: Tree, names: frozenset[str], common_log: bool) -> bool:
    for digits in INTEGRAL_DIGITS if "int" in (*heads(one), *heads(other)) else DIGITS:
        seen = 0
        for point in points(sorted(names), POINTS if names else 1):
            pair = _pair(one, other, point, digits, common_log)
            if pair is None:
                continue
            seen += 1
            if not close(*pair):
                return False
            if seen == WANTED_POINTS:
                break
        if seen < min(WANTED_POINTS, POINTS if names else 1) - bool(names):
            raise Unsure("undefined at most points")
        if not names and pair is not None and all(isinstance(value, Fraction) for value in pair[:2]):
            return True
    return True


def _pair(
    one: Tree, other: Tree, point: Mapping[str, Fraction], digits: int, common_log: bool
) -> tuple[Value, Value, int] | None:
    """Both values at a point with their digits, None where one is undefined; Unsure where they cannot be had."""
    for precision in (digits, *MORE_DIGITS):
        try:
            with mp.workdps(precision):
                evaluator = Evaluator(point, common_log)
                return evaluator.value(one), evaluator.value(other), precision
        except NeedsDigits:
            continue
        except Undefined:
            return None
        except (TooLarge, KeyError, ValueError, OverflowError, ZeroDivisionError) as error:
            raise Unsure(type(error).__name__) from error
    raise Unsure("too many digits needed")


def close(one: Value, other: Value, digits: int) -> bool:
    """Equal exactly, or to 0.6 of the digits relative to the larger."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    with mp.workdps(digits):
        a, b = to_mp(one), to_mp(other)
        return bool(abs(a - b) <= mp.mpf(10) ** (-int(AGREE * digits)) * max(abs(a), abs(b)))


def points(names: Sequence[str], count: int) -> Iterator[dict[str, Fraction]]:
    """Fixed odd-looking places to compare at: all positive, then one with negatives, then mixed."""
    for turn in range(count):
        place = {}
        for name in names:
            digest = hashlib.sha256(f"{turn}/{name}".encode()).digest()
            value = Fraction(1 + int.from_bytes(digest[:2], "big"), 20011) + Fraction(digest[2] % 5, 3)
            negative = (turn == 1 or (turn == 3 and digest[3] % 2)) and not name.startswith(POSITIVE)
            place[name] = -value if negative else value
        yield place


def proportional(one: Tree, other: Tree, positive: bool = False) -> bool:
    """Whether `one` is a constant non-zero multiple of `other` (a positive one, if asked). Raises Unsure."""
    names = symbols(one) | symbols(other)
    if not names:
        raise Unsure("nothing varies")
    ratio: Any = None
    seen = 0
    for point in points(sorted(names), POINTS + 2):
        pair = _pair(one, other, point, DIGITS[0], False)
        if pair is None:
            continue
        if pair[0] == 0 or pair[1] == 0:
            if pair[0] == pair[1]:
                continue
            return False
        with mp.workdps(DIGITS[0]):
            here = (
                pair[0] / pair[1] if all(isinstance(v, Fraction) for v in pair[:2]) else to_mp(pair[0]) / to_mp(pair[1])
            )
            if positive and not (not isinstance(here, mp.mpc) and here > 0):
                return False
            if ratio is not None and not close(ratio, here, DIGITS[0]):
                return False
        ratio = here
        seen += 1
    if seen < WANTED_POINTS:
        raise Unsure("undefined at most points")
    return True

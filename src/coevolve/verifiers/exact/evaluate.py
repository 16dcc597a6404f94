"""Values of expression trees: exact fractions wherever possible, else numbers of many digits. Always bounded."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
from mpmath import mp

from coevolve.verifiers.exact.tokens import Tree

Value = Any
"""A Fraction (exact) or an mpmath number."""

BITS = 60_000
FACTORIAL = 6_000
TERMS = 2_000
SPREAD = 30
ARGUMENT_BITS = 120
STEPS = 100_000


class Undefined(Exception):
    """The expression has no value here (division by zero, a pole)."""


class TooLarge(Exception):
    """Evaluating would pass a bound."""


class NeedsDigits(Exception):
    """More digits are needed to add these numbers honestly."""


FUNCTION: dict[str, Callable[[Any], Any]] = {
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "cot": mp.cot,
    "sec": mp.sec,
    "csc": mp.csc,
    "arcsin": mp.asin,
    "asin": mp.asin,
    "arccos": mp.acos,
    "acos": mp.acos,
    "arctan": mp.atan,
    "atan": mp.atan,
    "arccot": mp.acot,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "coth": mp.coth,
    "arcsinh": mp.asinh,
    "asinh": mp.asinh,
    "arccosh": mp.acosh,
    "acosh": mp.acosh,
    "arctanh": mp.atanh,
    "atanh": mp.atanh,
}


class Evaluator:
    """Evaluates trees at one assignment of symbols; `common_log` reads a bare `log` in base ten."""

    def __init__(self, symbols: Mapping[str, Fraction], common_log: bool = False) -> None:
        self.symbols = dict(symbols)
        self.common_log = common_log
        self.steps = 0

    def value(self, tree: Tree) -> Value:
        """The value. Raises Undefined, TooLarge or NeedsDigits."""
        self.steps += 1
        if self.steps > STEPS:
            raise TooLarge
        kind = tree[0]
        if kind == "num":
            return tree[1].value
        if kind == "sym":
            return self.symbols[tree[1]]
        if kind == "const":
            return self._constant(tree[1])
        if kind == "range":
            return self._range(*tree[1:])
        if kind == "log":
            return self._log(self.value(tree[2]), self.value(tree[1]))
        if kind == "fun":
            return self._function(tree[1], [self.value(item) for item in tree[2:]])
        values = [self.value(item) for item in tree[1:]]
        return {
            "neg": lambda a: -a,
            "add": _add,
            "sub": lambda a, b: _add(a, -b),
            "mul": _multiply,
            "div": _divide,
            "pow": _power,
            "root": _root,
        }[kind](*values)

    def _constant(self, name: str) -> Value:
        if name == "inf":
            raise Undefined
        return {"pi": mp.pi, "e": mp.e, "i": mp.mpc(0, 1)}[name] * 1

    def _function(self, name: str, args: list[Value]) -> Value:
        if name in ("ln", "log", "lg"):
            base = Fraction(10) if name == "lg" or (name == "log" and self.common_log) else None
            return self._log(args[0], base)
        if name in FUNCTION:
            return _finite(FUNCTION[name](_moderate(args[0])))
        if name == "exp":
            return _power(mp.e * 1, args[0])
        return _plain_function(name, args)

    def _log(self, value: Value, base: Value | None) -> Value:
        top = _logarithm(value)
        return top if base is None else _divide(top, _logarithm(base))

    def _range(self, kind: str, variable: str, low: Tree, high: Tree, body: Tree) -> Value:
        first, last = self.value(low), self.value(high)
        if kind == "int":
            return self._integral(variable, first, last, body)
        if not (_whole(first) and _whole(last)) or last - first > TERMS:
            raise TooLarge
        total: Value = Fraction(0 if kind == "sum" else 1)
        outer = self.symbols.get(variable)
        for index in range(int(first), int(last) + 1):
            self.symbols[variable] = Fraction(index)
            total = (_add if kind == "sum" else _multiply)(total, self.value(body))
        self._restore(variable, outer)
        return total

    def _integral(self, variable: str, low: Value, high: Value, body: Tree) -> Value:
        outer = self.symbols.get(variable)

        def at(point: Any) -> Any:
            self.symbols[variable] = point
            return to_mp(self.value(body))

        result, error = mp.quad(at, [to_mp(low), to_mp(high)], error=True, maxdegree=7)
        self._restore(variable, outer)
        if error > mp.mpf(10) ** (-mp.dps // 2):
            raise TooLarge
        return _finite(result)

    def _restore(self, variable: str, outer: Fraction | None) -> None:
        if outer is None:
            self.symbols.pop(variable, None)
        else:
            self.symbols[variable] = outer


def to_mp(value: Value) -> Any:
    """An mpmath number at the working precision."""
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value


def _whole(value: Value) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1


def _finite(value: Value) -> Value:
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > BITS:
            raise TooLarge
        return value
    if not mpmath.isfinite(value):
        raise Undefined
    if isinstance(value, mpmath.mpc) and value.imag == 0:
        return value.real
    return value


def _magnitude(value: Value) -> float:
    """log2 of the absolute value; minus infinity for zero."""
    if isinstance(value, Fraction):
        return value.numerator.bit_length() - value.denominator.bit_length() if value else -math.inf
    return float(mp.mag(value)) if value else -math.inf


def _add(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return _finite(one + other)
    sizes = _magnitude(one), _magnitude(other)
    if min(sizes) > -math.inf and abs(sizes[0] - sizes[1]) > mp.prec - 3.33 * SPREAD:
        raise NeedsDigits
    total = to_mp(one) + to_mp(other)
    if _magnitude(total) < max(sizes) - mp.prec + 3.33 * SPREAD:
        return Fraction(0)
    return _snapped(total, max(sizes))


def _snapped(value: Value, scale: float) -> Value:
    """A complex sum without the part that is only rounding."""
    if isinstance(value, mpmath.mpc):
        floor = scale - mp.prec + 3.33 * SPREAD
        real = mp.mpf(0) if _magnitude(value.real) < floor else value.real
        imag = mp.mpf(0) if _magnitude(value.imag) < floor else value.imag
        return _finite(mp.mpc(real, imag))
    return value


def _multiply(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return _finite(one * other)
    product = to_mp(one) * to_mp(other)
    return _snapped(product, _magnitude(product)) if product else Fraction(0)


def _divide(one: Value, other: Value) -> Value:
    if other == 0:
        raise Undefined
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return _finite(one / other)
    return _multiply(one, 1 / to_mp(other))


def _power(base: Value, power: Value) -> Value:
    if base == 0:
        if isinstance(power, Fraction) and power > 0:
            return Fraction(0)
        raise Undefined
    if isinstance(base, Fraction) and _whole(power):
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in (0, 1, -1) and abs(power) * size > BITS:
            raise TooLarge
        return base ** int(power % 2 if base in (1, -1) else power)
    if isinstance(base, Fraction) and isinstance(power, Fraction):
        exact = _exact_root(base, power.denominator)
        if exact is not None:
            return _power(exact, Fraction(power.numerator))
    exponent = to_mp(power) * mp.log(to_mp(base))
    if _magnitude(exponent) > 22:
        raise TooLarge
    result = mp.exp(exponent)
    return _snapped(_finite(result), _magnitude(result))


def _exact_root(value: Fraction, degree: int) -> Fraction | None:
    """The exact root of a non-negative fraction, when there is one."""
    if value < 0 or degree > 64:
        return None
    parts = []
    for part in (value.numerator, value.denominator):
        if part.bit_length() > 4000:
            return None
        root = int(mpmath.nint(mp.root(part, degree))) if degree > 2 else math.isqrt(part)
        if root**degree != part:
            return None
        parts.append(root)
    return Fraction(*parts)


def _root(index: Value, value: Value) -> Value:
    if not _whole(index) or index == 0:
        return _power(value, _divide(Fraction(1), index))
    odd_real = int(index) % 2 == 1 and not isinstance(value, mpmath.mpc) and value < 0
    if odd_real:
        return -_root(index, -value)
    return _power(value, Fraction(1, int(index))) if value != 0 else Fraction(0)


def _logarithm(value: Value) -> Value:
    if value == 0:
        raise Undefined
    return Fraction(0) if value == 1 else mp.log(to_mp(value))


def _moderate(value: Value) -> Any:
    if _magnitude(value) > ARGUMENT_BITS:
        raise TooLarge
    return to_mp(value)


def _plain_function(name: str, args: list[Value]) -> Value:
    first = args[0]
    if name == "abs":
        return abs(first)
    if name == "conj":
        return first.conjugate() if isinstance(first, mpmath.mpc) else first
    if name in ("Re", "Im"):
        number = mp.mpc(to_mp(first))
        return number.real if name == "Re" else number.imag
    if name in ("floor", "ceil"):
        return _rounded(name, first)
    if name == "sgn" and not isinstance(first, mpmath.mpc):
        return Fraction((first > 0) - (first < 0))
    if name in ("max", "min") and not any(isinstance(item, mpmath.mpc) for item in args):
        return (max if name == "max" else min)(args, key=to_mp)
    if all(_whole(item) and abs(item) <= 10**9 for item in args):
        return _whole_function(name, [int(item) for item in args])
    raise TooLarge


def _rounded(name: str, value: Value) -> Value:
    if isinstance(value, Fraction):
        return Fraction(math.floor(value) if name == "floor" else math.ceil(value))
    if isinstance(value, mpmath.mpc) or _magnitude(value) > ARGUMENT_BITS:
        raise TooLarge
    nearest = mp.nint(value)
    if abs(value - nearest) < mp.mpf(10) ** (-mp.dps // 2):
        return Fraction(int(nearest))
    return Fraction(int(mp.floor(value) if name == "floor" else mp.ceil(value)))


def _whole_function(name: str, args: list[int]) -> Fraction:
    if name == "gcd":
        return Fraction(math.gcd(*args))
    if name == "lcm":
        return Fraction(math.lcm(*args))
    if min(args) < 0 or max(args) > FACTORIAL:
        raise TooLarge
    if name == "factorial":
        return Fraction(math.factorial(args[0]))
    if name == "double_factorial":
        return Fraction(math.prod(range(args[0], 0, -2)))
    if name == "binom":
        return Fraction(math.comb(*args))
    raise TooLarge

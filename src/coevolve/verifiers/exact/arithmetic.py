"""Arithmetic on exact fractions and numbers of many digits, always bounded."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
from mpmath import mp

Value = Any
"""A Fraction (exact) or an mpmath number."""

BITS = 60_000
FACTORIAL = 6_000
SPREAD = 30
ARGUMENT_BITS = 120
EXPONENT_BITS = 22


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


def to_mp(value: Value) -> Any:
    """An mpmath number at the working precision."""
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value


def whole(value: Value) -> bool:
    """Whether a value is an exact whole number."""
    return isinstance(value, Fraction) and value.denominator == 1


def finite(value: Value) -> Value:
    """The value itself. Raises TooLarge or Undefined."""
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


def add(one: Value, other: Value) -> Value:
    """Sum; a total that is only rounding is zero. Raises NeedsDigits for terms too far apart."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return finite(one + other)
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
        return finite(mp.mpc(real, imag))
    return value


def multiply(one: Value, other: Value) -> Value:
    """Product."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return finite(one * other)
    product = to_mp(one) * to_mp(other)
    return _snapped(product, _magnitude(product)) if product else Fraction(0)


def divide(one: Value, other: Value) -> Value:
    """Quotient. Raises Undefined by zero."""
    if other == 0:
        raise Undefined
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return finite(one / other)
    return multiply(one, 1 / to_mp(other))


def power(base: Value, exponent: Value) -> Value:
    """Power, exact where it can be: real for odd roots of negative fractions, else on the principal branch."""
    if base == 0:
        if isinstance(exponent, Fraction) and exponent > 0:
            return Fraction(0)
        raise Undefined
    if isinstance(base, Fraction) and whole(exponent):
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in (0, 1, -1) and abs(exponent) * size > BITS:
            raise TooLarge
        return base ** int(exponent % 2 if base in (1, -1) else exponent)
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if base < 0 and exponent.denominator % 2:
            size = power(-base, exponent)
            return -size if exponent.numerator % 2 else size
        exact = _exact_root(base, exponent.denominator)
        if exact is not None:
            return power(exact, Fraction(exponent.numerator))
    logged = to_mp(exponent) * mp.log(to_mp(base))
    if _magnitude(logged) > EXPONENT_BITS:
        raise TooLarge
    result = mp.exp(logged)
    return _snapped(finite(result), _magnitude(result))


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


def root(index: Value, value: Value) -> Value:
    """Root; an odd root of a negative number is real."""
    if not whole(index) or index == 0:
        return power(value, divide(Fraction(1), index))
    odd_real = int(index) % 2 == 1 and not isinstance(value, mpmath.mpc) and value < 0
    if odd_real:
        return -root(index, -value)
    return power(value, Fraction(1, int(index))) if value != 0 else Fraction(0)


def logarithm(value: Value) -> Value:
    """Natural logarithm. Raises Undefined at zero."""
    if value == 0:
        raise Undefined
    return Fraction(0) if value == 1 else mp.log(to_mp(value))


def moderate(value: Value) -> Any:
    """A value small enough for a periodic function."""
    if _magnitude(value) > ARGUMENT_BITS:
        raise TooLarge
    return to_mp(value)


def plain_function(name: str, args: list[Value]) -> Value:
    """Absolute value, rounding, whole-number functions."""
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
    if all(whole(item) and abs(item) <= 10**9 for item in args):
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

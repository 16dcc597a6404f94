"""Graded operands: each size is one digit, one carry or one harder factor more than the size below it."""

import random
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from coevolve.construction.grammar import Operands

EASY_PERCENTS: tuple[tuple[int, ...], ...] = ((50, 10), (25, 20, 75), (5, 15, 30, 40, 60), (12, 35, 45, 65, 85))
CAP = 10**12


def addend(size: int, rng: random.Random) -> int:
    """A number of `size` digits that does not end in 0; 2 to 9 at size 1."""
    if size == 1:
        return rng.randint(2, 9)
    return rng.randrange(10 ** (size - 1), 10**size - 9, 10) + rng.randint(1, 9)


def factor(size: int, rng: random.Random) -> int:
    """2-3, 4-9, 11-19, 21-99, then one digit more a size."""
    more = 10 ** max(size - 3, 0)
    low, high = {1: (2, 3), 2: (4, 9), 3: (11, 19), 4: (21, 99)}.get(size, (more + 1, 10 * more - 1))
    return rng.randint(low, high)


def divisors(size: int) -> Sequence[int]:
    """The divisors of a size: 2-5, 6-12, 13-30, then up to ten times more."""
    return {1: range(2, 6), 2: range(6, 13), 3: range(13, 31)}.get(size, range(31, 31 * 10 ** min(max(size - 3, 0), 2)))


def draw_addend(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """One addend, unless the value is at its cap."""
    return (str(addend(size, rng)),) if abs(value) < CAP else None


def draw_subtrahend(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """What to take away; at size 1 never more than there is."""
    if size == 1 and value >= 0:
        top = min(9, floor(value) - 1)
        return (str(rng.randint(2, top)),) if top >= 2 else None
    return draw_addend(size, value, rng)


def draw_factor(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """What to multiply by; the value must not be 0 and must stay below the cap."""
    chosen = factor(size, rng)
    return (str(chosen),) if value and abs(value) * chosen < CAP else None


def draw_divisor(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """What divides an integer without remainder, or a decimal without leaving the decimals."""
    if value.denominator == 1:
        fitting = [d for d in divisors(size) if value.numerator % d == 0] if value else []
    else:
        fitting = [d for d in divisors(size) if d in (2, 4, 5, 8, 10, 16, 20, 25, 40, 50)]
    return (str(rng.choice(fitting)),) if fitting else None


def draw_any_divisor(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A divisor that keeps a quantity a terminating decimal: an exact one, else powers of 2 and 5."""
    exact = draw_divisor(size, value, rng) if value.denominator == 1 else None
    if exact or not value:
        return exact
    fitting = [d for d in divisors(size) if d in (2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 80, 100)]
    return (str(rng.choice(fitting)),) if fitting else None


def draw_percent(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A percentage that leaves an integer an integer."""
    choices = EASY_PERCENTS[min(size, len(EASY_PERCENTS)) - 1]
    fitting = [p for p in choices if value and (value.denominator > 1 or value.numerator * p % 100 == 0)]
    return (str(rng.choice(fitting)),) if fitting else None


def _digits_below(size: int) -> tuple[int, int]:
    shortest = 10 ** max(size - 2, 0)
    return shortest + 1, 10 * shortest - 1


def draw_modulus(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A modulus smaller than the value: 3-9, 11-29, then one digit more a size."""
    low, high = {1: (3, 9), 2: (11, 29)}.get(size, _digits_below(size))
    return (str(rng.randint(low, min(high, floor(value) - 1))),) if value > low + 1 else None


def draw_multiple(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A number whose multiples are looked for near the value."""
    low, high = {1: (3, 9), 2: (11, 19), 3: (21, 99)}.get(size, _digits_below(size))
    return (str(rng.randint(low, high)),) if value > low else None


def draw_remainder(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A modulus and a remainder below it."""
    modulus = draw_multiple(size, value, rng)
    return (modulus[0], str(rng.randint(1, int(modulus[0]) - 1))) if modulus else None


def draw_affine(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A factor and an addend."""
    times = draw_factor(size, value, rng)
    return (*times, str(addend(size, rng))) if times else None


def draw_two_addends(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """Two addends."""
    return (str(addend(size, rng)), str(addend(size, rng))) if abs(value) < CAP else None


def draw_difference(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A difference of two positive whole numbers whose sum is the value."""
    difference = addend(size, rng)
    difference -= (difference - value.numerator) % 2
    return (str(difference),) if 0 < difference < value else None


def draw_total(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A total that lies an addend of that size above an integer value."""
    return (str(value.numerator + addend(size, rng)),) if abs(value) < CAP else None


def draw_times_total(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A factor and the total of that many unknowns and the value."""
    times, unknown = factor(size, rng), addend(size, rng)
    return (str(times), str(times * unknown + value.numerator)) if abs(value) < CAP else None


def draw_threshold(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A threshold beside the value, and what to take away above it or to add below it."""
    near = value.numerator + rng.choice((-1, 1)) * addend(size, rng)
    down = draw_subtrahend(size, value, rng)
    return (str(near), down[0], str(addend(size, rng))) if near > 0 and down else None


def draw_nothing(_size: int, value: Fraction, _rng: random.Random) -> Operands | None:
    """No operand: the step has one form for all sizes."""
    return () if value and abs(value) < CAP else None


def draw_digits(_size: int, value: Fraction, _rng: random.Random) -> Operands | None:
    """No operand; the value must have digits to work on."""
    return () if value >= 10 else None

"""Graded operands: nine sizes from one digit on, each a little larger than the one below it.

The grades are fine on purpose: a small solver loses little from one to the next, so that difficulty can grow over many
rounds (docs/LOG.md has what grades of one digit each did).
"""

import random
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from coevolve.construction.grammar import Operands

EASY_PERCENTS: tuple[tuple[int, ...], ...] = ((50, 10), (25, 20, 75), (5, 15, 30, 40, 60), (12, 35, 45, 65, 85))
CAP = 10**12

Grades = tuple[tuple[int, int], ...]
"""(least, greatest) of each size, the first at size 1."""
LARGE: Grades = ((101, 299), (301, 999), (1001, 9999), (10001, 99999), (100001, 999999))
ADDENDS: Grades = ((2, 9), (11, 19), (21, 49), (51, 99), *LARGE)
FACTORS: Grades = ((2, 3), (4, 5), (6, 9), (11, 12), (13, 19), (21, 49), (51, 99), (101, 999), (1001, 9999))
DIVISORS: Grades = ((2, 5), (6, 9), (10, 12), (13, 19), (20, 30), (31, 49), (51, 99), (101, 999), (1001, 3099))
MODULI: Grades = ((3, 9), (11, 19), (21, 49), (51, 99), *LARGE)


def addend(size: int, rng: random.Random) -> int:
    """A number of that size that does not end in 0."""
    drawn = rng.randint(*ADDENDS[size - 1])
    return drawn + 1 if drawn % 10 == 0 else drawn


def factor(size: int, rng: random.Random) -> int:
    """A multiplier of that size."""
    return rng.randint(*FACTORS[size - 1])


def divisors(size: int) -> Sequence[int]:
    """The divisors of a size."""
    low, high = DIVISORS[size - 1]
    return range(low, high + 1)


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


def draw_modulus(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A modulus smaller than the value."""
    low, high = MODULI[size - 1]
    return (str(rng.randint(low, min(high, floor(value) - 1))),) if value > low + 1 else None


def draw_multiple(size: int, value: Fraction, rng: random.Random) -> Operands | None:
    """A number whose multiples are looked for near the value."""
    low, high = MODULI[size - 1]
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

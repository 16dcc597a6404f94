"""The arithmetic steps: follow-on operations, second unknowns, constraints, inversions, case splits, digits."""

from fractions import Fraction

from coevolve.construction import operands as draws
from coevolve.construction.grammar import StepKind

FOLLOW_ON: tuple[StepKind, ...] = (
    StepKind(
        "add",
        "Then add {0}. What is the result?",
        "Then add {0}.",
        draws.draw_addend,
        lambda x, k: x + k[0],
        "x + {0}",
        "shift",
        lambda x, k: x - k[0],
    ),
    StepKind(
        "sub",
        "Then subtract {0}. What is the result?",
        "Then subtract {0}.",
        draws.draw_subtrahend,
        lambda x, k: x - k[0],
        "x - {0}",
        "shift",
        lambda x, k: x + k[0],
    ),
    StepKind(
        "mul",
        "Then multiply by {0}. What is the result?",
        "Then multiply by {0}.",
        draws.draw_factor,
        lambda x, k: x * k[0],
        "x * {0}",
        "scale",
        lambda x, k: x / k[0],
    ),
    StepKind(
        "div",
        "Then divide by {0}. What is the result?",
        "Then divide by {0}.",
        draws.draw_divisor,
        lambda x, k: x / k[0],
        "x / {0}",
        "scale",
        lambda x, k: x * k[0],
    ),
    StepKind(
        "percent",
        "Now work out {0} percent of the result found so far.",
        "Then take {0}%.",
        draws.draw_percent,
        lambda x, k: x * k[0] / 100,
        "x * {0} / 100",
        "scale",
        lambda x, k: x * 100 / k[0],
    ),
    StepKind(
        "mod",
        "Now find the remainder when the result found so far is divided by {0}.",
        "Then take the remainder mod {0}.",
        draws.draw_modulus,
        lambda x, k: Fraction(x.numerator % k[0].numerator),
        "x % {0}",
        "discrete",
        integer=True,
    ),
    StepKind(
        "affine",
        "Now multiply the result found so far by {0} and add {1} to the product.",
        "Then multiply by {0} and add {1}.",
        draws.draw_affine,
        lambda x, k: x * k[0] + k[1],
        "x * {0} + {1}",
        "shift",
        lambda x, k: (x - k[1]) / k[0],
    ),
    StepKind(
        "addtwo",
        "Now add both {0} and {1} to the result found so far.",
        "Then add {0} and {1}.",
        draws.draw_two_addends,
        lambda x, k: x + k[0] + k[1],
        "x + {0} + {1}",
        "shift",
        lambda x, k: x - k[0] - k[1],
    ),
)

SECOND_UNKNOWN: tuple[StepKind, ...] = (
    StepKind(
        "times",
        "A second number is {0} times the result found so far. What is the sum of the two numbers?",
        "Another number is {0} times that. What is their sum?",
        draws.draw_factor,
        lambda x, k: x + x * k[0],
        "x + x * {0}",
        "scale",
        lambda x, k: x / (k[0] + 1),
    ),
    StepKind(
        "more",
        "A second number is {0} more than the result found so far. What is the sum of the two numbers?",
        "Another number is {0} more than that. What is their sum?",
        draws.draw_addend,
        lambda x, k: 2 * x + k[0],
        "x + (x + {0})",
        "shift",
        lambda x, k: (x - k[0]) / 2,
    ),
    StepKind(
        "less",
        "A second number is {0} less than the result found so far. What is the sum of the two numbers?",
        "Another number is {0} less than that. What is their sum?",
        draws.draw_subtrahend,
        lambda x, k: 2 * x - k[0],
        "x + (x - {0})",
        "shift",
        lambda x, k: (x + k[0]) / 2,
    ),
    StepKind(
        "larger",
        "Two whole numbers have the result found so far as their sum and differ by {0}. What is the larger one?",
        "Two numbers differ by {0} and have that as their sum. What is the larger?",
        draws.draw_difference,
        lambda x, k: (x + k[0]) / 2,
        "(x + {0}) / 2",
        "discrete",
        integer=True,
    ),
)

CONSTRAINT: tuple[StepKind, ...] = (
    StepKind(
        "above",
        "What is the smallest multiple of {0} that is greater than the result found so far?",
        "What is the next multiple of {0} above that?",
        draws.draw_multiple,
        lambda x, k: k[0] * (x // k[0] + 1),
        "x - x % {0} + {0}",
        "discrete",
        integer=True,
    ),
    StepKind(
        "below",
        "What is the largest multiple of {0} that is not greater than the result found so far?",
        "What is the largest multiple of {0} up to that?",
        draws.draw_multiple,
        lambda x, k: k[0] * (x // k[0]),
        "x - x % {0}",
        "discrete",
        integer=True,
    ),
    StepKind(
        "remainder",
        "What is the smallest number greater than the result found so far that leaves, divided by {0}, "
        "the remainder {1}?",
        "What is the next number above that with remainder mod {0} equal to {1}?",
        draws.draw_remainder,
        lambda x, k: x + 1 + (k[1] - x - 1) % k[0],
        "next(n for n in range(int(x) + 1, int(x) + {0} + 1) if n % {0} == {1})",
        "discrete",
        integer=True,
    ),
)

INVERSION: tuple[StepKind, ...] = (
    StepKind(
        "addend",
        "Which number must be added to the result found so far so that the sum is {0}?",
        "What must be added to that to give {0}?",
        draws.draw_total,
        lambda x, k: k[0] - x,
        "{0} - x",
        "discrete",
        integer=True,
    ),
    StepKind(
        "coefficient",
        "When {0} times an unknown number is added to the result found so far, the sum is {1}. "
        "What is the unknown number?",
        "Adding {0} times a number n to that gives {1}. What is n?",
        draws.draw_times_total,
        lambda x, k: (k[1] - x) / k[0],
        "({1} - x) / {0}",
        "discrete",
        integer=True,
    ),
)

CASE_SPLIT: tuple[StepKind, ...] = (
    StepKind(
        "parity",
        "If the result found so far is even, divide it by 2; if it is odd, multiply it by {0} and add {1}.",
        "If that is even, halve it; else multiply by {0} and add {1}.",
        draws.draw_affine,
        lambda x, k: x / 2 if x.numerator % 2 == 0 else x * k[0] + k[1],
        "(x * {0} + {1}) if x % 2 else x / 2",
        "discrete",
        integer=True,
    ),
    StepKind(
        "threshold",
        "If the result found so far is greater than {0}, subtract {1} from it; otherwise add {2} to it.",
        "If that is over {0}, subtract {1}; else add {2}.",
        draws.draw_threshold,
        lambda x, k: x - k[1] if x > k[0] else x + k[2],
        "x + {2} if x <= {0} else x - {1}",
        "discrete",
        integer=True,
    ),
)

DIGITS: tuple[StepKind, ...] = (
    StepKind(
        "sum",
        "What is the sum of the digits of the result found so far?",
        "What is its digit sum?",
        draws.draw_digits,
        lambda x, _k: Fraction(_digit_sum(x.numerator)),
        "sum(int(d) for d in str(x))",
        "discrete",
        integer=True,
    ),
    StepKind(
        "reverse",
        "What number do you get when the digits of the result found so far are written in reverse order?",
        "Then reverse its digits.",
        draws.draw_digits,
        lambda x, _k: Fraction(str(x.numerator)[::-1]),
        "int(''.join(reversed(str(x))))",
        "discrete",
        integer=True,
    ),
)

PERCENTAGE: tuple[StepKind, ...] = (
    StepKind(
        "of",
        "What number do you get when you take that percentage of {0}?",
        "What is that percentage of {0}?",
        lambda size, _value, rng: (str(100 * draws.addend(size, rng)),),
        lambda x, k: x * k[0] / 100,
        "x * {0} / 100",
        "scale",
        lambda x, k: x * 100 / k[0],
    ),
)


def _digit_sum(value: int) -> int:
    total = 0
    while value:
        value, digit = divmod(value, 10)
        total += digit
    return total

"""Wrong answers close to a right one, which a verifier must refuse."""

from fractions import Fraction

from coevolve.tasks import Answer
from coevolve.verifiers import literals, plain

FACTORS = (Fraction(-1), Fraction(10), Fraction(3, 2))


def answers(answer: Answer) -> tuple[str, ...]:
    """Three or more wrong answers of the answer's own kind."""
    if answer.type == "choice":
        keys = sorted(answer.choices or {"A": "", "B": "", "C": "", "D": ""})
        right = plain.choice(answer.value, answer.choices)
        return tuple(key for key in keys if plain.fold(key) != right)[:4]
    if answer.type == "text":
        return (answer.value + "x", "not " + answer.value, answer.value[1:] + "qz", "unknown to nobody")
    if answer.type == "code_output":
        return _literals(answer.value)
    number = plain.written(answer.value)
    unit = f" {answer.unit}" if answer.unit else ""
    if number is not None:
        value = number.value
        wrong = [value * factor for factor in FACTORS if value] + [value + max(Fraction(1), abs(value))]
        if answer.tolerance and answer.tolerance.abs:
            wrong = [item for item in wrong if abs(item - value) > 2 * Fraction(answer.tolerance.abs)]
            wrong.append(value + 4 * Fraction(answer.tolerance.abs) + abs(value))
        return tuple(f"{_written(item)}{'%' if '%' in answer.value else ''}{unit}" for item in wrong if item != value)
    inner = answer.value
    if answer.type in ("expression", "quantity"):
        return (f"2({inner})+1{unit}", f"-({inner})-3{unit}", f"({inner})^2+7{unit}")
    return ("1729", f"{inner}, 1729", "no", "x=1729")


def _written(value: Fraction) -> str:
    """A fraction as a decimal where that is exact, else as a quotient."""
    for places in range(40):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            sign = "-" if value < 0 else ""
            return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
    return f"{value.numerator}/{value.denominator}"


def _literals(gold: str) -> tuple[str, ...]:
    read = literals.parse(gold)
    value = read.value
    wrong = [repr([value]), repr(str(value) + "x")]
    if isinstance(value, bool):
        wrong += [repr(not value), repr(int(value))]
    elif isinstance(value, int | float):
        wrong += [repr(value + 1), repr(str(value))]
    elif isinstance(value, list):
        wrong += [repr([*value, 0]), repr(tuple(value))]
    return tuple(wrong)

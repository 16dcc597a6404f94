"""Steps that change units: conversions (with or without a stated unit) and formulas that link quantities."""

from fractions import Fraction

from coevolve.construction import operands as draws
from coevolve.construction.grammar import StepKind

SPELLINGS: dict[str, str] = {
    "joules": "J",
    "joule": "J",
    "watts": "W",
    "watt": "W",
    "newtons": "N",
    "newton": "N",
    "volts": "V",
    "volt": "V",
    "amperes": "A",
    "amps": "A",
    "ohms": "ohm",
    "Ω": "ohm",
    "meters": "m",
    "metres": "m",
    "meter": "m",
    "seconds": "s",
    "sec": "s",
    "minutes": "min",
    "hours": "h",
    "hertz": "Hz",
    "pascals": "Pa",
    "kilograms": "kg",
    "grams": "g",
    "N m": "J",
    "m s^-1": "m/s",
    "m s^-2": "m/s^2",
    "m/s²": "m/s^2",
    "g/cm³": "g/cm^3",
    "kg*m/s": "kg m/s",
    "N s": "kg m/s",
    "degrees Celsius": "°C",
    "kelvin": "K",
}


def plain_unit(unit: str | None) -> str | None:
    """The unit in the spelling that the steps below use."""
    if unit is None:
        return None
    bare = unit.strip().strip("$").replace("\\mathrm", "").replace("{", "").replace("}", "").replace("~", " ").strip()
    return SPELLINGS.get(bare, bare) or None


def _read_as(name: str, small: str, large: str, times: int) -> StepKind:
    return StepKind(
        name,
        f"Take the result found so far as a number of {large}. How many {small} is that?",
        f"If those are {large}, how many {small}?",
        draws.draw_nothing,
        lambda x, _k: x * times,
        f"x * {times}",
        "scale",
    )


READ_AS: tuple[tuple[int, StepKind], ...] = (
    (1, _read_as("yards", "feet", "yards", 3)),
    (1, _read_as("pairs", "single items", "pairs", 2)),
    (1, _read_as("centimetres", "millimetres", "centimetres", 10)),
    (2, _read_as("weeks", "days", "weeks", 7)),
    (2, _read_as("pints", "fluid ounces (US)", "US pints", 16)),
    (3, _read_as("dozens", "single items", "dozens", 12)),
    (3, _read_as("minutes", "seconds", "minutes", 60)),
    (4, _read_as("days", "hours", "days", 24)),
    (4, _read_as("fortnights", "days", "fortnights", 14)),
    (5, _read_as("hours", "seconds", "hours", 3600)),
    (6, _read_as("day-minutes", "minutes", "days", 1440)),
)
"""Conversions of a bare number, by size."""


def _convert(size: int, unit_in: str, unit_out: str, ratio: Fraction) -> tuple[int, StepKind]:
    code = f"x * {ratio.numerator}" if ratio.denominator == 1 else f"x * {ratio.numerator} / {ratio.denominator}"
    kind = StepKind(
        f"{unit_in}-{unit_out}",
        f"Now convert the result found so far from {unit_in} to {unit_out}.",
        f"Give it in {unit_out}.",
        draws.draw_nothing,
        lambda x, _k: x * ratio,
        code,
        "scale",
        unit_in=unit_in,
        unit_out=unit_out,
    )
    return size, kind


CONVERSIONS: tuple[tuple[int, StepKind], ...] = (
    _convert(1, "m", "cm", Fraction(100)),
    _convert(1, "kg", "g", Fraction(1000)),
    _convert(1, "g", "mg", Fraction(1000)),
    _convert(1, "J", "kJ", Fraction(1, 1000)),
    _convert(1, "N", "kN", Fraction(1, 1000)),
    _convert(1, "V", "mV", Fraction(1000)),
    _convert(1, "A", "mA", Fraction(1000)),
    _convert(1, "W", "kW", Fraction(1, 1000)),
    _convert(1, "Pa", "kPa", Fraction(1, 1000)),
    _convert(1, "s", "ms", Fraction(1000)),
    _convert(1, "ohm", "kilohm", Fraction(1, 1000)),
    _convert(2, "cm", "m", Fraction(1, 100)),
    _convert(2, "g", "kg", Fraction(1, 1000)),
    _convert(2, "kJ", "J", Fraction(1000)),
    _convert(2, "kN", "N", Fraction(1000)),
    _convert(2, "kW", "W", Fraction(1000)),
    _convert(2, "mV", "V", Fraction(1, 1000)),
    _convert(2, "mA", "A", Fraction(1, 1000)),
    _convert(2, "kPa", "Pa", Fraction(1000)),
    _convert(2, "mg", "g", Fraction(1, 1000)),
    _convert(2, "ms", "s", Fraction(1, 1000)),
    _convert(2, "kilohm", "ohm", Fraction(1000)),
    _convert(2, "min", "s", Fraction(60)),
    _convert(2, "h", "min", Fraction(60)),
    _convert(3, "m/s", "km/h", Fraction(18, 5)),
    _convert(3, "g/cm^3", "kg/m^3", Fraction(1000)),
    _convert(3, "km", "m", Fraction(1000)),
    _convert(3, "h", "s", Fraction(3600)),
    _convert(3, "atm", "kPa", Fraction(101325, 1000)),
    _convert(4, "m/s^2", "km/h^2", Fraction(12960)),
)
"""Conversions of a stated unit, by size."""

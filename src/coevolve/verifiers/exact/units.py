"""Units of measure: an allow-list of names, read by us; their sizes and dimensions come from pint, name by name."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

CHARS = 80


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


PREFIXES = _table("""
    Y=yotta Z=zetta E=exa P=peta T=tera G=giga M=mega k=kilo h=hecto da=deca d=deci c=centi m=milli u=micro n=nano
    p=pico f=femto a=atto z=zepto
""")
PREFIXED = _table("""
    m=meter s=second g=gram N=newton J=joule W=watt Pa=pascal V=volt A=ampere F=farad H=henry T=tesla Wb=weber
    Hz=hertz K=kelvin mol=mole C=coulomb eV=electron_volt cal=calorie L=liter l=liter ohm=ohm Ohm=ohm Omega=ohm
    bar=bar S=siemens lm=lumen lx=lux cd=candela Bq=becquerel Ci=curie Gy=gray Sv=sievert rad=radian M=molar
    Da=dalton pc=parsec yr=year B=byte b=barn
""")
ALONE = _table("""
    min=minute h=hour hr=hour hrs=hour sec=second secs=second mins=minute d=day yr=year yrs=year wk=week atm=atm
    torr=torr Torr=torr mmHg=mmHg psi=psi Ang=angstrom Å=angstrom AA=angstrom in=inch ft=foot feet=foot yd=yard
    mi=mile lb=pound lbs=pound oz=ounce gal=gallon mph=mile_per_hour knot=knot ly=light_year AU=astronomical_unit
    au=astronomical_unit amu=amu u=amu deg=degree sr=steradian rev=revolution rpm=revolutions_per_minute D=debye
    cc=cubic_centimeter degC=degC degF=degF delta_degC=delta_degC kph=kph kmh=kph Btu=Btu BTU=Btu hp=horsepower
    dyn=dyne erg=erg P=poise lbf=force_pound inches=inch ppm=ppm hectare=hectare ha=hectare acre=acre ton=ton
    tonne=metric_ton t=metric_ton Rydberg=rydberg mu_B=bohr_magneton
""")
LONG = frozenset(PREFIXED.values()) | frozenset(
    """
    meter metre second gram newton joule watt pascal volt ampere farad henry tesla weber hertz kelvin mole coulomb
    calorie liter litre ohm bar siemens lumen lux candela becquerel curie gray sievert radian byte barn dalton
    parsec
    """.split()
)
LONG_ALONE = frozenset(
    """
    minute hour day week month year angstrom inch foot yard mile pound ounce gallon knot light_year degree
    steradian revolution debye hectare acre ton tonne atmosphere electron_volt electronvolt turn fortnight
    decade century quart pint cup
    """.split()
)
PLURALS = _table("""
    henries=henry hertz=hertz lux=lux siemens=siemens inches=inch feet=foot centuries=century
    celsius=degC fahrenheit=degF amp=ampere amps=ampere
""")
MONEY = {"dollar": 100, "dollars": 100, "usd": 100, "cent": 1, "cents": 1}
OWN_MONEY = {"euro": "euro", "euros": "euro", "eur": "euro"}
PLAIN_UNITS = frozenset("unit units square cubic sq".split())
NOUNS = frozenset(
    """
    photon photons electron electrons proton protons neutron neutrons atom atoms molecule molecules ion ions
    particle particles nucleus nuclei person people times time count counts item items event events cell cells
    """.split()
)
ANGLES = frozenset(("degree", "revolution", "turn", "revolutions_per_minute"))
LOGARITHMIC = frozenset(("dB", "pH", "decibel", "decibels"))
TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-zÅ]+(?:_[A-Za-z]+)?)|(?P<number>\d+(?:\.\d+)?)|(?P<sign>\*|/|\^|\(|\)|\{|\}|-|\+|%|\$))"
)


class Unit(NamedTuple):
    """A unit read from text: names with powers, and a plain factor (`10^4 bar`)."""

    powers: tuple[tuple[str, Fraction], ...]
    factor: Fraction = Fraction(1)


class Size(NamedTuple):
    """A unit's size in base units and its dimension; `offset` for temperatures on their own scale."""

    factor: Fraction
    dimension: tuple[tuple[str, Fraction], ...]
    scale: str = ""


class UnknownUnit(Exception):
    """The text is no unit of the allow-list."""


def name(word: str) -> str | None:
    """The pint name of an allowed unit word; None for any other word."""
    if word in ALONE:
        return ALONE[word]
    if word in PREFIXED:
        return PREFIXED[word]
    for short, long in PREFIXES.items():
        if word.startswith(short) and word[len(short) :] in PREFIXED:
            return long + PREFIXED[word[len(short) :]]
    return _long_name(word.lower())


def _long_name(word: str) -> str | None:
    for form in (PLURALS.get(word, word), word.removesuffix("s"), word.removesuffix("es")):
        if form in ("degC", "degF") or form in LONG_ALONE:
            return form
        for long in ("", *PREFIXES.values(), "deka"):
            if word.startswith(long) and form.removeprefix(long) in LONG:
                return form
    return None


REWRITINGS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\A\s*\$?\s*\\\$\s*\$?\s*\Z", "dollar"),
        (r"(?<!\\)\$([^$]+)(?<!\\)\$", r" \1 "),
        (r"\{\s*\}|~", " "),
        (r"\^\s*\{?\s*\\circ\s*\}?", r"^\\circ "),
        (r"\\(?:text|mathrm|textrm|mbox|rm|operatorname)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r" \1 "),
        (r"\\(?:cdot|times)(?![a-zA-Z])", "*"),
        (r"\\([%$])", r"\1"),
        (r"\^\\circ\s*\{?\s*([CF])(?![a-zA-Z])\s*\}?", r" deg\1 "),
        (r"(?i:\bdegrees?\s+(c)(?:elsius)?\b)", "degC"),
        (r"(?i:\bdegrees?\s+(f)(?:ahrenheit)?\b)", "degF"),
        (r"\^\\circ", " degree "),
        (r"\\mu\s*_\s*\{?\s*\{?\s*B\s*\}?\s*\}?", " mu_B "),
        (r"\\(?:mu|micro)\s*\{?\s*([A-Za-z]+)\s*\}?", r" u\1 "),
        (r"\\(?:mu|micro)\s*\{?\s*\\Omega\s*\}?", " uOmega "),
        (r"\\Omega", "Omega"),
        (r"\\AA", "Ang"),
        (r"\\ell", "L"),
        (r"\bsq(?:uare)?\s+(\w+)", r"\1^2"),
        (r"\bcubic\s+(\w+)", r"\1^3"),
        (r"(\w+)\s+squared\b", r"\1^2"),
        (r"(\w+)\s+cubed\b", r"\1^3"),
        (r"\bper\b", "/"),
        (r"\*\*", "^"),
        (r"ft[-·]lb", "ft*lbf"),
    )
]


@lru_cache(maxsize=4096)
def read(text: str) -> Unit:
    """The unit a text names. Raises UnknownUnit."""
    plain = text.strip()
    for pattern, replacement in REWRITINGS:
        plain = pattern.sub(replacement, plain)
    if len(plain) > CHARS:
        raise UnknownUnit(text[:40])
    reader = _Units(plain)
    powers, factor = reader.product()
    if reader.items:
        raise UnknownUnit(text[:40])
    return Unit(tuple(sorted((key, power) for key, power in powers.items() if power)), factor)


class _Units:
    """Products and quotients of unit words; juxtaposition binds tighter than a slash."""

    def __init__(self, text: str) -> None:
        self.items: list[tuple[str, str]] = []
        position = 0
        text = text.strip()
        while position < len(text):
            found = TOKEN.match(text, position)
            if not found or found.lastgroup is None:
                raise UnknownUnit(text[:40])
            written = found[found.lastgroup]
            if found.lastgroup == "word":
                self.items += [("word", word) for word in _separated(written)]
            else:
                self.items.append((found.lastgroup, written))
            position = found.end()

    def peek(self) -> str:
        return self.items[0][1] if self.items else ""

    def take(self) -> tuple[str, str]:
        if not self.items:
            raise UnknownUnit("incomplete")
        return self.items.pop(0)

    def product(self) -> tuple[dict[str, Fraction], Fraction]:
        powers, factor = self.row()
        while self.peek() in ("*", "/"):
            sign = 1 if self.take()[1] == "*" else -1
            more, scale = self.row()
            for key, power in more.items():
                powers[key] = powers.get(key, Fraction(0)) + sign * power
            factor *= scale**sign
        return powers, factor

    def row(self) -> tuple[dict[str, Fraction], Fraction]:
        powers, factor = self.one()
        while self.items and self.peek() not in ("*", "/", ")", "}"):
            more, scale = self.one()
            for key, power in more.items():
                powers[key] = powers.get(key, Fraction(0)) + power
            factor *= scale
        return powers, factor

    def one(self) -> tuple[dict[str, Fraction], Fraction]:
        kind, text = self.take()
        if text in ("(", "{"):
            powers, factor = self.product()
            self.take()
        elif kind == "number":
            powers, factor = {}, Fraction(text)
        elif text in ("%", "$"):
            powers, factor = ({}, Fraction(1, 100)) if text == "%" else ({"cent": Fraction(1)}, Fraction(100))
        elif kind == "word":
            powers, factor = _word(text)
        else:
            raise UnknownUnit(text)
        follows = self.items[0][0] if self.items else ""
        if self.peek() == "^" or (kind == "word" and (follows == "number" or self.peek() in ("-", "+"))):
            power = self.exponent()
            if abs(power) > 40:
                raise UnknownUnit("a power too large")
            powers, factor = {key: value * power for key, value in powers.items()}, factor**power
        return powers, factor

    def exponent(self) -> int:
        if self.peek() == "^":
            self.take()
        opened = self.peek() in ("{", "(")
        if opened:
            self.take()
        sign = 1
        while self.peek() in ("-", "+"):
            sign = -sign if self.take()[1] == "-" else sign
        kind, text = self.take()
        if kind != "number" or not text.isdigit() or len(text) > 2:
            raise UnknownUnit("a power")
        if opened:
            self.take()
        return sign * int(text)


def _word(word: str) -> tuple[dict[str, Fraction], Fraction]:
    if word.lower() in MONEY:
        return {"cent": Fraction(1)}, Fraction(MONEY[word.lower()])
    if word.lower() in OWN_MONEY:
        return {OWN_MONEY[word.lower()]: Fraction(1)}, Fraction(1)
    if word.lower() in NOUNS | PLAIN_UNITS:
        return {}, Fraction(1)
    known = name(word)
    if known:
        return {known: Fraction(1)}, Fraction(1)
    raise UnknownUnit(word[:40])


def _separated(word: str) -> tuple[str, ...]:
    """`Jmol`, `JK` and `Nm` as two units written without a space; any other word as it is."""
    if word.lower() in MONEY or word.lower() in NOUNS | PLAIN_UNITS or word.lower() in OWN_MONEY or name(word):
        return (word,)
    for cut in range(1, len(word)):
        first, second = name(word[:cut]), name(word[cut:])
        after = word[cut].isupper() or second == "mole" or (word[cut - 1] in "NJWVA" and word[cut:] in ("m", "s", "h"))
        if first and second and after:
            return word[:cut], word[cut:]
    return (word,)


class Registry:
    """Sizes of allowed names, from pint; only names of the allow-list ever reach it."""

    def __init__(self) -> None:
        import pint

        self._pint: Any = pint.UnitRegistry()
        self._undefined: type[Exception] = pint.UndefinedUnitError
        self._sizes: dict[str, Size] = {}

    def size(self, unit: Unit) -> Size:
        """Size and dimension of a unit. Raises UnknownUnit."""
        factor, dimension = unit.factor, dict[str, Fraction]()
        if unit.powers in (((("degC", Fraction(1))),), ((("degF", Fraction(1))),)):
            return Size(factor, (("[temperature]", Fraction(1)),), unit.powers[0][0])
        for key, power in unit.powers:
            one = self._one(key)
            factor *= one.factor ** int(power)
            for what, exponent in one.dimension:
                dimension[what] = dimension.get(what, Fraction(0)) + exponent * power
        return Size(factor, tuple(sorted((what, power) for what, power in dimension.items() if power)))

    def _one(self, key: str) -> Size:
        if key in ("cent", "euro"):
            return Size(Fraction(1), ((f"[{'money' if key == 'cent' else key}]", Fraction(1)),))
        if key not in self._sizes:
            try:
                unit = self._pint.parse_units("delta_" + key if key in ("degC", "degF") else key)
            except self._undefined as error:
                raise UnknownUnit(key) from error
            base, _ = self._pint.get_base_units(unit, check_nonmult=False)
            dimension = {what: Fraction(str(power)) for what, power in unit.dimensionality.items()}
            if key in ANGLES or (key.endswith("radian") and key != "steradian"):
                dimension["[angle]"] = Fraction(1)
            if key == "steradian":
                dimension["[angle]"] = Fraction(2)
            self._sizes[key] = Size(Fraction(str(base)), tuple(sorted(dimension.items())))
        return self._sizes[key]

"""Chemical formulas compared by composition and charge, reactions by their balanced coefficients."""

import re
from collections import Counter
from fractions import Fraction
from math import gcd

from coevolve.verifiers.exact.notation import Refused, clean, words

ELEMENTS = frozenset(
    """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr
    Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir
    Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh
    Fl Mc Lv Ts Og D
    """.split()
)
ARROW = re.compile(r"\\to|\\longrightarrow|\\rightleftharpoons|\\leftrightarrow|<?-+>|=>|⇌|→|(?<![<>=])=(?![<>=])")
STATE = re.compile(r"\(\s*(?:s|l|g|aq)\s*\)")
TOKEN = re.compile(r"([A-Z][a-z]?)|(\d+)|([()\[\]])")
CHARGE = re.compile(r"(?:\^\{?\s*(\d*)\s*([+-])(\d*)\s*\}?|([+-]+))\Z")

Formula = tuple[tuple[tuple[str, int], ...], int]
"""Element counts and charge."""


def plain(text: str) -> str:
    """The text without LaTeX wrappers, subscripts, states and spaces inside formulas."""
    text = re.sub(r"\\(?:ce|mathrm|text|rm)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r" \1 ", text)
    text = re.sub(r"\\(?:rightarrow|longrightarrow)", r"\\to ", text)
    return STATE.sub("", re.sub(r"_\{?\s*(\d+)\s*\}?", r"\1", words(text))).strip()


def formula(text: str) -> Formula | None:
    """Composition and charge of one formula; None when the text is none."""
    text = plain(text).replace(" ", "").strip("$")
    charge = 0
    found = CHARGE.search(text)
    if found and found.start() > 0:
        sign = found[2] or found[4][0]
        size = int(found[1] or found[3] or 1) if found[2] else len(found[4])
        charge = size if sign == "+" else -size
        text = text[: found.start()]
    total: Counter[str] = Counter()
    for part in re.split(r"[·.*]|\\cdot", text):
        lead = re.match(r"\d*", part)
        count = int(lead.group() or 1) if lead and len(lead.group()) < 4 else 0
        inner = _composition(part[lead.end() if lead else 0 :])
        if inner is None or not count:
            return None
        for element, number in inner.items():
            total[element] += count * number
    return (tuple(sorted(total.items())), charge) if total else None


def _composition(text: str) -> Counter[str] | None:
    stack: list[Counter[str]] = [Counter()]
    position, last = 0, Counter[str]()
    while position < len(text):
        found = TOKEN.match(text, position)
        if found is None or len(text) > 120:
            return None
        element, number, bracket = found.groups()
        position = found.end()
        if element:
            if element not in ELEMENTS and element[0] in ELEMENTS and len(element) == 2:
                return None
            last = Counter({element: 1})
            stack[-1][element] += 1
        elif number:
            if not last or len(number) > 4:
                return None
            for key, count in last.items():
                stack[-1][key] += count * (int(number) - 1)
            last = Counter()
        elif bracket in "([":
            stack.append(Counter())
            last = Counter()
        else:
            if len(stack) < 2:
                return None
            last = stack.pop()
            stack[-1].update(last)
    return stack[0] if len(stack) == 1 and stack[0] else None


def reaction(text: str) -> tuple[tuple[tuple[Formula, int], ...], tuple[tuple[Formula, int], ...]] | None:
    """Both sides as substances with coefficients without a common factor; None when it does not read or balance."""
    sides = ARROW.split(plain(text))
    if len(sides) != 2:
        return None
    read = [_side(side) for side in sides]
    if read[0] is None or read[1] is None or _totals(read[0]) != _totals(read[1]):
        return None
    factors = [count for side in read if side for count in side.values()]
    common = factors[0]
    for count in factors:
        common = Fraction(
            gcd(common.numerator * count.denominator, count.numerator * common.denominator),
            common.denominator * count.denominator,
        )
    left, right = (tuple(sorted((what, int(count / common)) for what, count in side.items())) for side in read if side)
    return left, right


def _side(text: str) -> dict[Formula, Fraction] | None:
    found: dict[Formula, Fraction] = {}
    for part in re.split(r"\s\+\s|(?<=[\w)])\+(?=\s*\d*\s*[A-Z(])", f" {text} "):
        match = re.match(r"\s*(\d+(?:/\d+)?)?\s*(\S.*)", part.strip())
        if not match:
            return None
        electron = re.fullmatch(r"e(?:\^\{?-\}?|-)", match[2].strip())
        what: Formula | None = ((("e", 1),), -1) if electron else formula(match[2])
        if what is None:
            return None
        found[what] = found.get(what, Fraction(0)) + Fraction(match[1] or 1)
    return found


def _totals(side: dict[Formula, Fraction]) -> dict[str, Fraction]:
    totals: dict[str, Fraction] = {}
    for (composition, charge), count in side.items():
        for element, number in composition:
            if element != "e":
                totals[element] = totals.get(element, Fraction(0)) + number * count
        totals["charge"] = totals.get("charge", Fraction(0)) + charge * count
    return {key: value for key, value in totals.items() if value or key != "charge"}


def is_chemical(gold: str) -> bool:
    """Whether a reference is a formula of two atoms or more, or a reaction between such formulas."""
    if len(gold) > 400 or "\\frac" in gold:
        return False
    if ARROW.search(plain(gold)):
        sides = ARROW.split(plain(gold))
        return len(sides) == 2 and all(_side(side) is not None for side in sides)
    read = formula(gold)
    text = plain(gold).replace(" ", "")
    return (
        read is not None
        and (len(read[0]) > 1 or bool(re.search(r"\d|[+-]\Z", text)))
        and not re.fullmatch(r"\d.*", text)
    )


def same(gold: str, answer: str) -> bool:
    """Equal composition and charge, or the same balanced reaction up to a common factor."""
    try:
        clean(answer)
    except Refused:
        return False
    answer = re.sub(r"\A\s*(?:\\boxed\s*)?\$?|\$?\s*\.?\s*\Z", "", answer)
    if ARROW.search(plain(gold)):
        wanted = reaction(gold)
        return wanted is not None and reaction(answer) == wanted
    wanted_formula = formula(gold)
    return wanted_formula is not None and formula(answer) == wanted_formula

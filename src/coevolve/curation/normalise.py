"""Text as users give it, made plain: markup, invisible characters, numbers with signs, separators and units."""

import html
import re
import unicodedata
from typing import NamedTuple

from coevolve.curation.records import Notes, Unusable
from coevolve.verifiers.extract import boxed

INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")
ODD_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
ENTITY = re.compile(r"&(?:[a-zA-Z]{2,10}|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
RAISED = re.compile(r"<(su[pb])>([^<>]{1,40})</\1>", re.IGNORECASE)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ATTRIBUTES = r"(?:\s+[a-zA-Z-]+\s*=\s*[^<>]*)?\s*/?>"
BREAKS = re.compile(rf"<(?:br|/p|/div|/li|/tr){ATTRIBUTES}", re.IGNORECASE)
TAG = re.compile(
    rf"</?(?:p|div|span|br|b|i|u|em|strong|ul|ol|li|a|font|table|tr|td|tbody|h\d){ATTRIBUTES}", re.IGNORECASE
)
INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.?!\n]{0,40}\b(?:instructions?|prompts?|rules)\b"
    r"|\b(?:score|grade|mark)s? (?:of|for) this (?:item|task|question|answer|reply)\b"
    r"|\bsystem prompt\b|<\|(?:im_start|system|endoftext)\|?>",
    re.IGNORECASE,
)
SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\uff0d": "-", "\u2010": "-", "\u2011": "-"})
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z")
GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+\Z")
CURRENCY = re.compile(r"(?P<minus>-?)\s*\\?(?P<sign>[$€£¥])\s*(?P<rest>[\d.,]+)\Z")
VALUE_UNIT = re.compile(
    r"(?P<value>[-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-zµμΩ°][A-Za-zµμΩ°0-9/^*· .()-]{0,30})\Z"
)
CHOICE_LINE = re.compile(r"^\s*\(?([A-J])[).:]\s+(.+?)\s*$", re.MULTILINE)
POWER_UNIT = re.compile(r"\s*(?:\\times\s*|\*\s*|x\s*)?10\s*\^\s*\{?\s*(-?\d+)\s*\}?\s*(?P<rest>.*)\Z")


class Number(NamedTuple):
    """A number as plain text, with the unit that stood beside it and the change that was made, if any."""

    value: str
    unit: str | None
    change: tuple[str, str] | None


def clean(text: str, notes: Notes, what: str) -> str:
    """Prose without entities, tags or invisible characters; each kind of change is noted."""
    if ENTITY.search(text):
        text = html.unescape(text)
        notes.repair("html_unescaped", f"{what}: HTML entities were turned into characters")
    if RAISED.search(text) or TAG.search(text):
        text = RAISED.sub(lambda m: ("^" if m[1].lower() == "sup" else "_") + _short(m[2]), text)
        text = TAG.sub("", BREAKS.sub("\n", text))
        notes.repair("html_converted", f"{what}: HTML tags were turned into plain text")
    plain = ODD_SPACES.sub(" ", INVISIBLE.sub("", text))
    if plain != text:
        notes.repair("invisible_characters_removed", f"{what}: invisible characters were removed")
    return plain.strip()


def _short(raised: str) -> str:
    return raised if re.fullmatch(r"-?\w", raised) else "{" + raised + "}"


def narrow(text: str) -> str:
    """Full-width characters and the many minus signs as ASCII."""
    narrowed = "".join(unicodedata.normalize("NFKC", c) if "\uff01" <= c <= "\uff5e" else c for c in text)
    return narrowed.translate(SIGNS)


def number(text: str) -> Number | None:
    """A written number, or None for anything else. Raises Unusable where it is ambiguous or not finite."""
    plain = narrow(text).strip()
    bare = plain.strip("$ ") if plain.startswith("$") and plain.endswith("$") else plain
    changed = ("number_normalized", f"{text!r} is read as a number") if bare != text.strip() else None
    if NUMBER.match(bare):
        return Number(_finite(bare.lstrip("+")), None, changed)
    if GROUPED.match(bare):
        return Number(bare.replace(",", "").lstrip("+"), None, ("number_normalized", f"{text!r}: separators removed"))
    if DECIMAL_COMMA.match(bare):
        message = f"{text!r} may have a decimal comma or a separator; write it with a decimal point"
        raise Unusable("ambiguous_number", message, "flag")
    money = CURRENCY.match(bare)
    if money:
        inner = number(money["rest"])
        if inner is not None:
            value = money["minus"] + _trimmed(inner.value)
            return Number(value, money["sign"], ("number_normalized", f"{text!r} is read as {value} {money['sign']}"))
    if bare.endswith("%"):
        inner = number(bare.removesuffix("%").removesuffix("\\").strip())
        if inner is not None and inner.unit is None:
            return Number(inner.value, "%", ("number_normalized", f"{text!r} is read as {inner.value} percent"))
    return None


def value_and_unit(text: str) -> Number | None:
    """`19.6 m/s` as value and unit, or None."""
    found = VALUE_UNIT.match(narrow(text).strip())
    inner = number(found["value"]) if found else None
    if found is None or inner is None or re.fullmatch(r"[eE]\d*", found["unit"]):
        return None
    unit = found["unit"].strip()
    return Number(inner.value, unit, ("unit_split_from_answer", f"{text!r} is read as {inner.value} in {unit}"))


def _finite(text: str) -> str:
    if ("e" in text or "E" in text) and float(text) in (float("inf"), float("-inf")):
        raise Unusable("non_finite_answer", f"the answer {text} is too large to be a number; write it as a formula")
    return text


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def final_answer(text: str) -> str | None:
    """What the last box of a worked answer holds, where there is more than the box."""
    return boxed(text) if "\\boxed" in text or "\\fbox" in text else None


def plain_unit(unit: str) -> str:
    r"""A unit without LaTeX: `$\mathrm{~m} \mathrm{s}^{-1}$` is `m s^-1`."""
    text = unit.replace("$", "").replace("~", " ").replace("\\cdot", " ").replace("\\,", " ").replace("\\ ", " ")
    for _ in range(3):
        text = re.sub(r"\\(?:mathrm|text|textrm|operatorname|rm)\s*\{([^{}]*)\}", r"\1 ", text)
    text = text.replace("\\Omega", "ohm").replace("\\mu", "µ").replace("\\%", "%").replace("\\circ", "°")
    text = re.sub(r"\s*\^\s*\{\s*(-?\d+)\s*\}", r"^\1", re.sub(r"\s+\^", "^", text))
    return re.sub(r"\s+", " ", re.sub(r"\s*/\s*", "/", text)).strip()


def choices_in(question: str) -> dict[str, str]:
    """Lettered choices that a question lists, from A on without a gap; empty where there are fewer than two."""
    found: dict[str, str] = dict(CHOICE_LINE.findall(question))
    letters = "".join(sorted(found))
    return found if len(found) > 1 and "ABCDEFGHIJ".startswith(letters) else {}


def unbalanced(text: str) -> bool:
    """Whether braces or left/right pairs of LaTeX do not close."""
    bare = text.replace("\\{", "").replace("\\}", "")
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return True
    sides = [len(re.findall(rf"\\{side}(?![a-zA-Z])", text)) for side in ("left", "right")]
    return depth != 0 or sides[0] != sides[1]


def odd_dollars(text: str) -> bool:
    """Whether a mathematical `$` has no partner; amounts of money are no mathematics."""
    bare = re.sub(r"\\\$|\$\$", "", text)
    signs = bare.count("$")
    return signs % 2 == 1 and len(re.findall(r"\$\s?\d", bare)) != signs


def same_words(text: str) -> str:
    """A question up to spacing: what decides between a duplicate and a conflict."""
    return re.sub(r"\s+(?=[?!.,;:])", "", re.sub(r"\s+", " ", text)).strip()

"""A skill's tool_hint as text: `construction: follow_on size=2 op=mul style=terse`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from coevolve.construction.base import ANY, SIZES, STYLES, Construction, Inapplicable, Style

FORM = re.compile(r"\s*construction:\s*(?P<name>[a-z_]+)(?P<options>(?:\s+[a-z]+=\w+)*)\s*\Z")


@dataclass(frozen=True, slots=True)
class Hint:
    """Which construction, at what size, in which variant and wording; style None = as the role's prompt says."""

    name: str
    size: int = 1
    op: str = ANY
    style: Style | None = None

    def __str__(self) -> str:
        op = f" op={self.op}" if self.op != ANY else ""
        style = f" style={self.style}" if self.style else ""
        return f"construction: {self.name} size={self.size}{op}{style}"


def parse_hint(text: str, known: Mapping[str, Construction]) -> Hint:
    """The hint that `text` writes. Raises Inapplicable where it is malformed or names nothing known."""
    found = FORM.match(text)
    if found is None or found["name"] not in known:
        raise Inapplicable(f"{text[:60]!r} names no known construction")
    options = dict(option.split("=") for option in found["options"].split())
    if set(options) - {"size", "op", "style"} or len(options) < len(found["options"].split()):
        raise Inapplicable(f"{text[:60]!r} holds unknown or repeated options")
    size, op, style = options.get("size", "1"), options.get("op", ANY), options.get("style")
    if size not in map(str, SIZES):
        raise Inapplicable(f"size {size} is none of {SIZES[0]} to {SIZES[-1]}")
    if op != ANY and op not in known[found["name"]].ops:
        raise Inapplicable(f"{found['name']} has no variant {op!r}")
    if style is not None and style not in STYLES:
        raise Inapplicable(f"{style!r} is no wording style")
    return Hint(
        found["name"], int(size), op, next((known_style for known_style in STYLES if known_style == style), None)
    )


def construction_for(hint: Hint, known: Mapping[str, Construction], default: Style) -> Construction:
    """The construction a hint names, with its variant and wording; `default` where it leaves the wording open."""
    return known[hint.name].configured(hint.op, hint.style or default)

"""From a model's text to one JSON object: tolerant of wrapping, strict about content."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from coevolve.errors import UnparsableReply

MOST_CHARS = 200_000
MOST_DEPTH = 24
FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
STARTS_A_LINE = re.compile(r"^[ \t]*\{", re.MULTILINE)
STRING_OR_LOOSE_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
UNESCAPED_LATEX = re.compile(
    r"(?<!\\)(?:\\\\)*\\(?:frac|forall|bar|beta|begin|binom|boxed|tan|tau|text|theta|times|rho|right)(?![a-z])"
)
"""Commands that JSON reads as an escape and a word: \\times becomes a tab and "imes"."""


def extract_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`: bare, fenced, or amid prose. Raises UnparsableReply.

    Duplicate keys, NaN, deep nesting and LaTeX whose backslashes JSON would swallow are refused; a comma too many and
    a line break inside a string are not.
    """
    if len(text) > MOST_CHARS:
        raise UnparsableReply(f"{len(text)} characters, more than {MOST_CHARS}")
    fault = "no JSON object"
    for candidate in _candidates(text):
        try:
            return _loads(candidate)
        except ValueError as error:
            fault = str(error)
    raise UnparsableReply(fault)


def _candidates(text: str) -> Iterator[str]:
    """Where the object may be, likeliest first; never an inner part of a broken object."""
    whole = text.strip()
    if whole.startswith("{"):
        yield whole
    yield from (block.strip() for block in reversed(FENCED.findall(text)) if block.lstrip().startswith("{"))
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]
        last = [match.end() - 1 for match in STARTS_A_LINE.finditer(text)][-1:]
        yield from (text[at : end + 1] for at in last if at != start and "}" in text[start:at])


def _loads(text: str) -> dict[str, Any]:
    if UNESCAPED_LATEX.search(text):
        raise ValueError("a backslash inside a string must be doubled")
    try:
        value = _decode(text)
    except json.JSONDecodeError:
        loose = STRING_OR_LOOSE_COMMA.sub(lambda found: found[1] or "", text)
        if loose == text:
            raise
        value = _decode(loose)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _decode(text: str) -> Any:
    try:
        value = json.loads(text, strict=False, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(f"nested deeper than {MOST_DEPTH}") from None
    if text.count("{") + text.count("[") > MOST_DEPTH and _depth(value) > MOST_DEPTH:
        raise ValueError(f"nested deeper than {MOST_DEPTH}")
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += 1
    return depth - 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

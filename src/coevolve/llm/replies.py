"""From a model's text to one JSON object: tolerant of wrapping, strict about content."""

import json
import re
from typing import Any, NoReturn

from coevolve.errors import UnparsableReply

MOST_CHARS = 200_000
MOST_DEPTH = 24
FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def extract_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`: bare, fenced, or after leading prose. Raises UnparsableReply.

    Duplicate keys, NaN and deep nesting are refused: `json` would take them silently or run out of stack.
    """
    if len(text) > MOST_CHARS:
        raise UnparsableReply(f"{len(text)} characters, more than {MOST_CHARS}")
    candidates = [text.strip(), *(match.strip() for match in FENCED.findall(text))]
    if (start := text.find("{")) >= 0:
        candidates.append(text[start : text.rfind("}") + 1])
    fault = "no JSON object"
    for candidate in candidates:
        if not candidate.startswith("{"):
            continue
        for attempt in (candidate, TRAILING_COMMA.sub(r"\1", candidate)):
            try:
                return _loads(attempt)
            except ValueError as error:
                fault = str(error)
    raise UnparsableReply(fault)


def _loads(text: str) -> dict[str, Any]:
    if _depth(text) > MOST_DEPTH:
        raise ValueError(f"nested deeper than {MOST_DEPTH}")
    value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

"""Extend and Revise: the chosen skills' constructions, applied in turn."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from coevolve.construction.base import Inapplicable, Limits, Style
from coevolve.construction.hint import construction_for
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.procedural.payload import Asking, Tool, draft_of, limits_of, reply_of, tools_of
from coevolve.tasks import Draft


def extend(asking: Asking) -> dict[str, Any]:
    """A harder draft by the chosen skills; those that do not apply are left out, and none at all is no change."""
    source, limits = draft_of(asking.payload["source"]), limits_of(asking.payload["limits"])
    draft, used = _applied(asking, source, tools_of(asking.payload["skills"]), limits, asking.style)
    return reply_of(draft, used)


def revise(asking: Asking) -> dict[str, Any]:
    """The draft mended: redone from its source in smaller or fewer steps; one without problems is worded tersely."""
    payload = asking.payload
    source, draft, limits = draft_of(payload["source"]), draft_of(payload["draft"]), limits_of(payload["limits"])
    tools = tools_of(payload["skills"])
    if not payload.get("problems"):
        return _polished(asking, draft, limits)
    too_long = any("characters" in str(problem) or "long" in str(problem) for problem in payload["problems"])
    style: Style = "terse" if too_long else asking.style
    smaller = [Tool(tool.name, replace(tool.hint, size=max(1, tool.hint.size - 1))) for tool in tools]
    terse = [Tool(tool.name, replace(tool.hint, style="terse")) for tool in smaller]
    for attempt in (terse if too_long else smaller, smaller[:1], terse[:1], *([tool] for tool in terse[1:])):
        mended, used = _applied(asking, source, attempt, limits, style)
        if used and mended.question != draft.question:
            return reply_of(mended, used)
    return reply_of(source, [])


def _applied(
    asking: Asking, draft: Draft, tools: Sequence[Tool], limits: Limits, style: Style
) -> tuple[Draft, list[str]]:
    used: list[str] = []
    domain = asking.payload["domain"]
    for tool in tools:
        construction = construction_for(tool.hint, CONSTRUCTIONS, style)
        try:
            draft = construction.apply(draft, domain, tool.hint.size, asking.rng, limits)
        except Inapplicable:
            continue
        used.append(tool.name)
    return draft, used


def _polished(asking: Asking, draft: Draft, limits: Limits) -> dict[str, Any]:
    with suppress(Inapplicable):
        draft = CONSTRUCTIONS["tighten"].apply(draft, asking.payload["domain"], 1, asking.rng, limits)
    return reply_of(draft, draft.skills_used)

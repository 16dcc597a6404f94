"""Director: follows the workflow's order and placements, and picks skills that suit the task."""

from collections.abc import Mapping, Sequence
from typing import Any

from coevolve.construction.base import Asked
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.procedural.payload import Asking, Tool, tools_of

PATIENCE = 2
"""Extend steps without a change after which a round is given up."""


def direct(asking: Asking) -> dict[str, Any]:
    """The next action."""
    payload = asking.payload
    action, reason = _action(payload)
    if action != "extend":
        return {"action": action, "skills": [], "reason": reason}
    chosen = _choose(asking)
    if chosen:
        return {"action": "extend", "skills": chosen, "reason": reason}
    if payload["draft"] is not None and not payload["draft_state"]["verified"]:
        return {"action": "verify", "skills": [], "reason": "no further skill shown suits this draft"}
    return {"action": "finish", "skills": [], "reason": "no skill shown suits this task"}


def _action(payload: Mapping[str, Any]) -> tuple[str, str]:
    state, left, placements = payload["draft_state"], payload["limits"], payload["placements"]
    may_extend = left["extends_left"] > 0 and left["steps_left"] > 1 and not _stuck(payload["history"])
    may_revise = left["revises_left"] > 0 and placements["revise"] != "never"
    if payload["draft"] is None:
        return ("extend", "nothing is drafted yet") if may_extend else ("finish", "no progress is possible")
    if state["verified"]:
        return _after_verify(payload, may_extend, may_revise)
    planned = _planned(payload["workflow"]["order"], payload["history"])
    if may_extend and (planned == "extend" or placements["verify"] == "before_finish"):
        return "extend", "the workflow places verification later"
    extended_last = bool(payload["history"]) and payload["history"][-1]["action"] == "extend"
    early = placements["revise"] == "before_verify" or planned == "revise"
    if may_revise and early and extended_last and left["steps_left"] > 1:
        return "revise", "the workflow revises before it verifies"
    if left["verifies_left"] > 0:
        return "verify", "the draft is unverified"
    return "finish", "no verification is left"


def _after_verify(payload: Mapping[str, Any], may_extend: bool, may_revise: bool) -> tuple[str, str]:
    state, left = payload["draft_state"], payload["limits"]
    checkable = left["verifies_left"] > 0
    if state["valid"]:
        if may_extend and checkable:
            return "extend", "the own attempt failed" if state["missed"] else "the own attempt solved it"
        return "finish", "the draft is valid"
    if may_revise and checkable and left["steps_left"] > 1 and payload["placements"]["revise"] == "after_failed_verify":
        return "revise", "verification found problems"
    if may_extend and checkable:
        return "extend", "the draft failed; another one is tried"
    return "finish", "the draft cannot be mended"


def _planned(order: Sequence[str], history: Sequence[Mapping[str, Any]]) -> str:
    """The next operator of the cycle `order` after what was done."""
    at = 0
    for entry in history:
        if entry["action"] == order[at]:
            at = (at + 1) % len(order)
    return order[at]


def _stuck(history: Sequence[Mapping[str, Any]]) -> bool:
    recent = [entry["outcome"] for entry in history if entry["action"] == "extend"][-PATIENCE:]
    return len(recent) == PATIENCE and all(str(outcome).startswith(("no ", "refused")) for outcome in recent)


def _choose(asking: Asking) -> list[str]:
    """Up to `skills_per_extend` suitable skills, different constructions first; after a miss, with the newest one."""
    payload = asking.payload
    current = payload["draft"] or payload["task"]
    asked = Asked(current["question"], current["answer_type"], current.get("unit"), payload["domain"])
    groups: dict[str, list[Tool]] = {}
    for tool in tools_of(payload["skills"]):
        construction = CONSTRUCTIONS[tool.hint.name].configured(tool.hint.op, "terse")
        if payload["domain"] in construction.domains and construction.suits(asked):
            groups.setdefault(tool.hint.name, []).append(tool)
    names = sorted(groups)
    asking.rng.shuffle(names)
    if payload["draft_state"]["missed"]:
        newest = next((t for t in reversed(tools_of(payload["skills"])) if t in groups.get(t.hint.name, [])), None)
        if newest:
            names.sort(key=lambda name: name != newest.hint.name)
            groups[newest.hint.name] = [newest]
    count = int(payload["workflow"]["skills_per_extend"])
    first = [asking.rng.choice(groups[name]) for name in names]
    others = [tool for name in names for tool in groups[name] if tool not in first]
    return [tool.name for tool in (*first, *others)[:count]]

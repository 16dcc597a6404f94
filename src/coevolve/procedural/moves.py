"""Moves of MetaHarness: small groups of typed edits, each with what speaks for it, what it costs and what it risks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from coevolve.construction.base import SIZES
from coevolve.construction.hint import Hint
from coevolve.procedural.describe import content, slug
from coevolve.procedural.ladder import ladder, unused
from coevolve.procedural.payload import Tool, tools_of

TERSE_SENTENCE = "Word every added step tersely."


@dataclass(frozen=True, slots=True)
class Move:
    """`force`, `cost` and `doubt` say how much harder, dearer and less valid tasks should get (0 = not at all)."""

    name: str
    edits: tuple[Mapping[str, Any], ...]
    evidence: str
    risk: str
    force: int = 0
    cost: int = 0
    doubt: int = 0


@dataclass(frozen=True)
class View:
    """What the payload says, read once."""

    payload: Mapping[str, Any]
    use: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @cached_property
    def workflow(self) -> Mapping[str, Any]:
        return dict(self.payload["harness"]["workflow"])

    @cached_property
    def ceilings(self) -> Mapping[str, Any]:
        return dict(self.payload["constraints"])

    @cached_property
    def tools(self) -> list[Tool]:
        return tools_of(self.payload["harness"]["skills"])

    @cached_property
    def names(self) -> set[str]:
        return {str(skill["name"]) for skill in self.payload["harness"]["skills"]}

    @cached_property
    def hints(self) -> set[str]:
        return {str(tool.hint) for tool in self.tools}

    def share(self, name: str, what: str) -> float:
        """How often a skill's chains were `missed` or `failed`; 0 for a skill that was not used."""
        use = self.use.get(name, {})
        return use.get(what, 0) / use["used"] if use.get("used") else 0.0

    def used(self, name: str) -> int:
        """How many chains used a skill."""
        return int(self.use.get(name, {}).get("used", 0))


def _revised(tool: Tool, hint: Hint) -> Mapping[str, Any]:
    return {"kind": "skill", "name": tool.name, "op": "revise", "content": content(hint)}


def _added(view: View, hint: Hint) -> Mapping[str, Any]:
    return {"kind": "skill", "name": slug(hint, view.names), "op": "add", "content": content(hint)}


def _set(field_name: str, value: Any) -> Mapping[str, Any]:
    return {"kind": "workflow", "name": field_name, "op": "revise", "content": value}


def strengthen(view: View) -> list[Move]:
    """A skill that no longer troubles the solver gets the next grade."""
    moves = []
    for tool in view.tools:
        higher = replace(tool.hint, size=tool.hint.size + 1)
        if tool.hint.size >= SIZES[-1] or tool.hint.name == "tighten" or str(higher) in view.hints:
            continue
        solved = 1 - view.share(tool.name, "missed")
        evidence = f"{solved:.0%} of the chains that used {tool.name} were solved by the own attempt"
        force = 2 if view.used(tool.name) and solved > 0.5 else 1
        moves.append(Move("strengthen", (_revised(tool, higher),), evidence, "operands may fit fewer tasks", force))
    return moves


def follow(view: View) -> list[Move]:
    """What troubled the solver leads to a further transformation."""
    if len(view.names) >= int(view.ceilings["skills"]):
        return []
    troubling = sorted(view.tools, key=lambda tool: -view.share(tool.name, "missed"))[:3]
    return [
        Move(
            "follow",
            (_added(view, hint),),
            f"{tool.name} was missed in {view.share(tool.name, 'missed'):.0%} of its uses",
            "one more skill in every prompt",
            force=2,
            cost=1,
        )
        for tool in troubling
        for hint in unused(ladder(tool.hint), view.hints)[:1]
    ]


def in_place(view: View) -> list[Move]:
    """Operands that grow where they stand, and terser wording: harder at the same length."""
    present = {tool.hint.name for tool in view.tools}
    size = max((tool.hint.size for tool in view.tools), default=1) + 1
    hints = [Hint("sharpen", min(size, SIZES[-1])), Hint("tighten")]
    length = float(view.payload.get("metrics", {}).get("question_chars", 0)) / float(view.ceilings["question_chars"])
    evidence = f"questions fill {length:.0%} of their ceiling"
    return [
        Move("in_place", (_added(view, hint),), evidence, "it applies only to tasks that end in a known step", 1 + full)
        for hint, full in ((hints[0], length > 0.5), (hints[1], length > 0.7))
        if hint.name not in present and len(view.names) < int(view.ceilings["skills"])
    ]


def terser(view: View) -> list[Move]:
    """Terse wording for all added steps, by the Extend prompt or a skill's own hint."""
    text = str(view.payload["harness"]["prompts"]["extend"])
    moves = []
    if TERSE_SENTENCE not in text and len(text) + len(TERSE_SENTENCE) + 1 <= int(view.ceilings["prompt_chars"]):
        edit = {"kind": "prompt", "name": "extend", "op": "revise", "content": f"{text.rstrip()}\n{TERSE_SENTENCE}\n"}
        moves.append(Move("terser", (edit,), "added steps are longer than they need be", "less guidance", cost=-1))
    return moves


def more_skills(view: View) -> list[Move]:
    """Several transformations in one Extend call."""
    count = int(view.workflow["skills_per_extend"])
    if count >= int(view.ceilings["skills_per_extend"]):
        return []
    evidence = f"one Extend call applies {count} skill(s), and costs the same with one more"
    return [
        Move("more_skills", (_set("skills_per_extend", count + 1),), evidence, "longer questions", force=2, doubt=1)
    ]


def more_extends(view: View) -> list[Move]:
    """A further Extend step a round, with the steps it needs; verified step by step, or once at the end."""
    extends = int(view.workflow["extends"]) + 1
    late = view.payload["harness"]["placements"]["verify"] == "before_finish"
    evidence = f"a round has {extends - 1} Extend step(s)"
    moves = []
    edits = _room(view, extends, extends + 2, 1) if late else _room(view, extends, 2 * extends + 1, extends)
    if edits is not None:
        moves.append(Move("more_extends", edits, evidence, "dearer rounds", 2, 1 if late else 2, 1))
    if not late and (edits := _room(view, extends, extends + 2, 1)) is not None:
        move_verify = {"kind": "placement", "name": "verify", "op": "move", "content": "before_finish"}
        moves.append(Move("more_extends", (*edits, move_verify), evidence, "one fault costs the round", 2, 1, 1))
    return moves


def _room(view: View, extends: int, steps: int, verifies: int) -> tuple[Mapping[str, Any], ...] | None:
    """The edits that make room for so many steps, or None where a ceiling forbids them."""
    wanted = {"extends": extends, "steps": steps, "verifies": verifies}
    if any(value > int(view.ceilings[name]) for name, value in wanted.items()):
        return None
    return tuple(_set(name, value) for name, value in wanted.items() if view.workflow[name] < value)


def placements(view: View) -> list[Move]:
    """Verify once at the end where several extends would each be verified, and the way back when that failed."""
    placed, extends = view.payload["harness"]["placements"], int(view.workflow["extends"])
    failing = float(view.payload.get("metrics", {}).get("fallback_rate", 0)) > 0.1
    moves = []
    if placed["verify"] == "after_each_extend" and extends > 1:
        edit = {"kind": "placement", "name": "verify", "op": "move", "content": "before_finish"}
        moves.append(
            Move("verify_late", (edit,), f"{extends} extends are verified one by one", "one fault costs all", 0, -2, 1)
        )
    if placed["verify"] == "before_finish" and failing:
        edit = {"kind": "placement", "name": "verify", "op": "move", "content": "after_each_extend"}
        moves.append(Move("verify_early", (edit,), "drafts fail at the end of a round", "dearer rounds", 0, 2, -2))
    if placed["revise"] == "never" and failing:
        edit = {"kind": "placement", "name": "revise", "op": "move", "content": "after_failed_verify"}
        moves.append(Move("revise_failed", (edit,), "failed drafts are not mended", "dearer rounds", 0, 1, -1))
    return moves


def prune(view: View) -> list[Move]:
    """Skills that fail, or that never trouble the solver, go."""
    moves = []
    if len(view.tools) < 3:
        return []
    for tool in view.tools:
        edit = {"kind": "skill", "name": tool.name, "op": "remove", "content": None}
        failed, missed, used = view.share(tool.name, "failed"), view.share(tool.name, "missed"), view.used(tool.name)
        if used >= 2 and failed > 0.5:
            moves.append(
                Move("prune", (edit,), f"{tool.name} failed in {failed:.0%} of its uses", "less variety", 0, -1, -2)
            )
        elif used >= 3 and missed == 0 and len(_peers(view, tool)) > 1:
            evidence = f"{tool.name} was used {used} times and never missed"
            moves.append(Move("prune", (edit,), evidence, "less variety", force=1, cost=-1))
    return moves


def _peers(view: View, tool: Tool) -> list[Tool]:
    """Skills of the same construction."""
    return [other for other in view.tools if other.hint.name == tool.hint.name]


def selection(view: View) -> list[Move]:
    """Which skills are shown, and how many."""
    workflow, moves = view.workflow, []
    count, shown = len(view.names), int(workflow["skills_shown"])
    if count > shown:
        other = {"newest": "rotate", "rotate": "newest", "oldest": "newest"}[str(workflow["skill_selection"])]
        evidence = f"{shown} of {count} skills are shown"
        starved = "no new draft" in view.payload.get("logs", {}).get("problems", [])
        edit, useful = _set("skill_selection", other), int(other == "rotate")
        force, doubt = useful + starved, -2 * starved
        moves.append(Move("selection", (edit,), evidence, "other skills are unseen", force, 0, doubt))
        if shown < int(view.ceilings["skills_shown"]):
            moves.append(Move("more_shown", (_set("skills_shown", shown + 1),), evidence, "longer prompts", 1, 1))
    if shown > 4 and count > 4:
        edit = _set("skills_shown", min(shown, count) - 1)
        moves.append(
            Move("selection", (edit,), "each shown skill costs tokens in every Director call", "fewer options", 0, -1)
        )
    return moves


MOVES: tuple[Callable[[View], list[Move]], ...] = (
    strengthen,
    follow,
    in_place,
    terser,
    more_skills,
    more_extends,
    placements,
    prune,
    selection,
)

"""Director: chooses the next operator and the skills it uses (Section 3.2)."""

from collections.abc import Mapping
from typing import Any

from coevolve.agents.base import Desk, render
from coevolve.agents.replies import DirectorReply
from coevolve.harness import Harness
from coevolve.ledger import CallKey
from coevolve.skills import SkillProposal


def skill_fields(skill: SkillProposal) -> dict[str, str]:
    """The fields of a skill that roles see."""
    return {
        "name": skill.name,
        "intent": skill.intent,
        "method": skill.method,
        "difficulty_effect": skill.difficulty_effect,
        "tool_hint": skill.tool_hint,
    }


async def direct(
    desk: Desk, key: CallKey, harness: Harness, domain: str, state: Mapping[str, Any], seen: int
) -> DirectorReply:
    """One Director step on `state` (task, draft, draft_state, history, limits); `seen` = admissions it has seen."""
    payload = {
        "domain": domain,
        **state,
        "skills": [skill_fields(skill) for skill in harness.shown_skills(key.chain, key.step)],
        "workflow": harness.workflow.model_dump(mode="json"),
        "placements": harness.placements.model_dump(mode="json"),
    }
    system = render(harness.prompts["director"], desk.variables("director", domain))
    return await desk.ask(key, system, payload, DirectorReply, seen)

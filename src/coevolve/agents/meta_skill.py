"""MetaSkill: turns an attributed weakness into a reusable transformation, not an answer (Eq. 3)."""

from collections.abc import Sequence

from coevolve.agents.base import Desk, package_prompt, render
from coevolve.agents.director import skill_fields
from coevolve.agents.replies import MetaSkillReply
from coevolve.events import SolverMiss
from coevolve.harness import Harness
from coevolve.ledger import CallKey


async def meta_skill(
    desk: Desk, key: CallKey, harness: Harness, misses: Sequence[SolverMiss], seen: int = 0
) -> MetaSkillReply:
    """Proposals from `misses`; `harness` is the library they must add to."""
    payload = {
        "misses": [
            {
                "domain": miss.task.domain,
                "question": miss.draft.question,
                "reference": miss.draft.answer.value,
                "attempt": miss.attempt,
                "skills_used": [
                    skill_fields(skill) for name in miss.draft.skills_used if (skill := harness.skill(name)) is not None
                ],
            }
            for miss in misses
        ],
        "library": [
            {"name": skill.name, "tool_hint": skill.tool_hint, "method": skill.method} for skill in harness.skills
        ],
        "limits": {"skills": desk.constraints.skills, "skill_chars": desk.constraints.skill_chars},
    }
    system = render(package_prompt("improver", "meta_skill"), desk.variables("meta_skill", ""))
    return await desk.ask(key, system, payload, MetaSkillReply, seen)

"""Extend and Revise: write a harder QA, or mend one (Section 3.2)."""

from collections.abc import Sequence
from typing import Any

from coevolve.agents.base import Desk, render
from coevolve.agents.director import skill_fields
from coevolve.agents.replies import DraftReply
from coevolve.harness import Harness
from coevolve.ledger import CallKey
from coevolve.skills import Skill
from coevolve.tasks import Draft


async def extend(
    desk: Desk, key: CallKey, harness: Harness, domain: str, source: Draft, skills: Sequence[Skill]
) -> Draft:
    """A new draft from `source` by way of `skills`."""
    system = render(harness.prompts["extend"], desk.variables("extend", domain))
    reply = await desk.ask(key, system, _payload(desk, domain, source, skills), DraftReply)
    return reply.draft()


async def revise(
    desk: Desk,
    key: CallKey,
    harness: Harness,
    domain: str,
    source: Draft,
    draft: Draft,
    problems: Sequence[str],
) -> Draft:
    """`draft`, made from `source`, without `problems`."""
    system = render(harness.prompts["revise"], desk.variables("revise", domain))
    skills = [skill for name in draft.skills_used if (skill := harness.skill(name)) is not None]
    payload = _payload(desk, domain, source, skills) | {"draft": qa(draft), "problems": list(problems)}
    reply = await desk.ask(key, system, payload, DraftReply)
    return reply.draft()


def qa(draft: Draft) -> dict[str, Any]:
    """A draft as payloads show it."""
    return draft.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {"question": draft.question}


def _payload(desk: Desk, domain: str, source: Draft, skills: Sequence[Skill]) -> dict[str, Any]:
    limits = {"question_chars": desk.constraints.question_chars, "answer_chars": desk.constraints.answer_chars}
    return {
        "domain": domain,
        "source": qa(source),
        "skills": [skill_fields(skill) for skill in skills],
        "limits": limits,
    }

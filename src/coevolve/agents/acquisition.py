"""Acquisition: reusable transformations out of screened sources, before anything evolves (Section 3.1, Stage 1)."""

from collections.abc import Mapping, Sequence

from coevolve.agents.base import Desk, package_prompt, render
from coevolve.agents.replies import AcquisitionReply
from coevolve.ledger import CallKey
from coevolve.skills import Skill


async def acquire(
    desk: Desk, key: CallKey, library: Sequence[Skill], sources: Sequence[Mapping[str, str]]
) -> AcquisitionReply:
    """Skills from `sources` (id, kind, and question with reference, or text) that add to `library`."""
    payload = {
        "sources": list(sources),
        "library": [{"name": skill.name, "tool_hint": skill.tool_hint, "method": skill.method} for skill in library],
        "limits": {"skills": desk.constraints.skills, "skill_chars": desk.constraints.skill_chars},
    }
    system = render(package_prompt("improver", "acquisition"), desk.variables("acquisition", ""))
    return await desk.ask(key, system, payload, AcquisitionReply)

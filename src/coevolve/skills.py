"""Skills: reusable question-construction transformations, and their admission to a library."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import Field, field_validator

from coevolve.config import ConstraintsConfig
from coevolve.tasks import Frozen

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")


class SkillProposal(Frozen):
    """The four fields a meta-agent writes (Section 3.1, Appendix B), under a name."""

    name: str
    intent: str = Field(min_length=1)
    """The reasoning capability to probe."""
    method: str = Field(min_length=1)
    """The transformation."""
    difficulty_effect: str = Field(min_length=1)
    tool_hint: str = ""
    """Supporting tool or procedure, e.g. `construction: follow_on size=2`."""

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not NAME.match(name):
            raise ValueError(f"{name!r} is no skill name: lower-case letters, digits and inner hyphens, at most 64")
        return name


class Skill(SkillProposal):
    """A skill in a library, with the traces it came from (I5)."""

    provenance: tuple[str, ...] = ()
    status: Literal["initial", "online", "post_task", "harness"] = "initial"
    """initial: H_0; online: admitted during a batch; post_task: from an in-loop test; harness: by a harness edit."""


class Admission(NamedTuple):
    """What Admit did: the library after, the names let in, and a reason for each name refused."""

    skills: tuple[Skill, ...]
    admitted: tuple[str, ...]
    refused: dict[str, str]


def refusal(library: Sequence[Skill], proposal: SkillProposal, constraints: ConstraintsConfig) -> str | None:
    """Why Gamma_s keeps `proposal` out of `library`, or None: its size, a full library, or nothing new."""
    size = sum(map(len, (proposal.intent, proposal.method, proposal.difficulty_effect, proposal.tool_hint)))
    if size > constraints.skill_chars:
        return f"{size} characters, more than {constraints.skill_chars}"
    if len(library) >= constraints.skills:
        return f"the library is full ({constraints.skills} skills)"
    for skill in library:
        if skill.name == proposal.name:
            return "the name is taken"
        if (skill.method, skill.tool_hint) == (proposal.method, proposal.tool_hint):
            return f"the same transformation as {skill.name}"
    return None


def admit(
    library: tuple[Skill, ...],
    proposals: Sequence[SkillProposal],
    traces: Sequence[str],
    status: Literal["online", "post_task"],
    constraints: ConstraintsConfig,
) -> Admission:
    """Admit(L, Meta_s(..); Gamma_s) of Eq. 3: pure, so no update is lost between a read and a write.

    A trace becomes a skill at most once (I5): refused are proposals whose traces all stand in the library already, and
    more proposals than there are traces.
    """
    spent = {trace for skill in library for trace in skill.provenance}
    admitted: list[str] = []
    refused: dict[str, str] = {}
    for proposal in proposals:
        reason = "its traces already became a skill" if traces and set(traces) <= spent else None
        if traces and len(admitted) >= len(traces):
            reason = "each trace may become one skill"
        reason = reason or refusal(library, proposal, constraints)
        if reason:
            refused[proposal.name] = reason
            continue
        library += (Skill(**proposal.model_dump(), provenance=tuple(traces), status=status),)
        admitted.append(proposal.name)
    return Admission(library, tuple(admitted), refused)

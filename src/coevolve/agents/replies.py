"""What each role replies, and the short form of it that prompts show."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from coevolve.harness import Proposal
from coevolve.skills import SkillProposal
from coevolve.tasks import Answer, Draft, Tests


class Reply(BaseModel):
    """Base of replies; unknown extra fields are dropped, since models like to add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DirectorReply(Reply):
    """The next operator for one chain, and the skills it is to use."""

    action: Literal["extend", "revise", "verify", "finish"]
    skills: tuple[str, ...] = ()
    reason: str = ""


class DraftReply(Reply):
    """Extend's and Revise's QA."""

    question: str
    answer: Answer
    solution: str = ""
    program: str | None = None
    tests: Tests | None = None
    skills_used: tuple[str, ...] = ()

    def draft(self) -> Draft:
        """The same as a draft."""
        return Draft.model_validate(self.model_dump())


class VerifyReply(Reply):
    """One blind verification: an own answer ("" = abstains) and whether the problem is well posed."""

    well_posed: bool
    answer: str = ""
    reasoning: str = ""
    problems: tuple[str, ...] = ()


class MetaSkillReply(Reply):
    """New skills from misses, or why none."""

    skills: tuple[SkillProposal, ...] = ()
    refused: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("neither skills nor refused")
        return self


class AcquiredSkill(Reply):
    """A transformation read out of sources, with the ids of those sources."""

    name: str
    intent: str
    method: str
    difficulty_effect: str
    tool_hint: str = ""
    sources: tuple[str, ...] = ()

    def proposal(self) -> SkillProposal:
        """The same as a proposal. Raises ValidationError for a bad name or an empty field."""
        return SkillProposal.model_validate(self.model_dump(exclude={"sources"}))


class AcquisitionReply(Reply):
    """Skills distilled from sources, or why none."""

    skills: tuple[AcquiredSkill, ...] = ()
    refused: str | None = None


MetaHarnessReply = Proposal

FORMS: Mapping[str, str] = {
    "director": '{"action": "extend" | "revise" | "verify" | "finish", "skills": ["name"], "reason": "one sentence"}',
    "extend": (
        '{"question": "...", "answer": {"type": "integer" | "rational" | "decimal" | "expression" | "text" | "choice" '
        '| "quantity" | "code_output" | "code_tests", "value": "...", "unit": "...", "tolerance": {"rel": 0.01}}, '
        '"solution": "worked steps", "program": "Python that prints the answer, or null", '
        '"tests": {"kind": "asserts", "entry_point": "f", "cases": ["assert f(1) == 2"]} or null, '
        '"skills_used": ["name"]}'
    ),
    "verify": '{"well_posed": true | false, "answer": "...", "reasoning": "...", "problems": ["..."]}',
    "meta_skill": (
        '{"skills": [{"name": "lower-case-name", "intent": "...", "method": "...", "difficulty_effect": "...", '
        '"tool_hint": "..."}], "refused": null | "why no skill follows"}'
    ),
    "acquisition": (
        '{"skills": [{"name": "lower-case-name", "intent": "...", "method": "...", "difficulty_effect": "...", '
        '"tool_hint": "...", "sources": ["id"]}], "refused": null | "why no skill follows"}'
    ),
    "meta_harness": (
        '{"evidence": "...", "expected": "...", "risks": "...", "edits": [{"kind": "skill" | "prompt" | "workflow" | '
        '"placement", "name": "...", "op": "add" | "revise" | "remove" | "move", "content": ...}]}'
    ),
}

"""The harness H = (skills, role prompts, workflow, verify/revise placements) of Eq. 1, and typed edits of it.

A harness is frozen: copy and snapshot are assignment, and a rejected edit leaves nothing behind. On disk it is a
folder a person can read and diff (`harness_folder`). What an edit may touch is decided here, by component kind.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, ValidationError

from coevolve.config import ConstraintsConfig
from coevolve.errors import ConstraintViolation
from coevolve.skills import Skill, SkillProposal
from coevolve.tasks import Frozen, content_hash

EditableRole = Literal["director", "extend", "revise"]
EDITABLE_ROLES: tuple[EditableRole, ...] = ("director", "extend", "revise")
"""P: the prompts a harness holds. Verify, solver and meta prompts are outside it (I1)."""
PROMPT_VARIABLES = frozenset({"domain", "schema", "question_chars"})
PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
OTHER_TEMPLATE_SYNTAX = re.compile(r"\{%|\{#|\{\{(?!\s*\w+\s*\}\})")


class Placements(Frozen):
    """rho_V and rho_R: when the Director is to call Verify and Revise."""

    verify: Literal["after_each_extend", "before_finish"]
    revise: Literal["after_failed_verify", "before_verify", "never"]


class Workflow(Frozen):
    """W: how the Director is to use the operators; every count lies below Gamma's ceiling."""

    order: tuple[Literal["extend", "revise", "verify"], ...] = Field(min_length=1, max_length=8)
    extends: int = Field(ge=1)
    """Extend steps one chain may take in one round."""
    revises: int = Field(ge=0)
    verifies: int = Field(ge=1)
    steps: int = Field(ge=2)
    skills_per_extend: int = Field(ge=1)
    skills_shown: int = Field(ge=1)
    """Skills shown to the Director before a step."""
    skill_selection: Literal["newest", "oldest", "rotate"]
    """Which skills those are: the last admitted, the first, or a window that moves with chain and step."""


class Harness(Frozen):
    """H: everything that turns a task into a harder one, and nothing that judges it."""

    skills: tuple[Skill, ...]
    prompts: Mapping[EditableRole, str]
    workflow: Workflow
    placements: Placements

    @cached_property
    def id(self) -> str:
        """Content hash: equal harnesses have equal ids."""
        return content_hash(self)

    def replaced(self, **components: Any) -> "Harness":
        """A copy with other components. (`model_copy` would take the cached id along.)"""
        kept = {name: getattr(self, name) for name in Harness.model_fields}
        return Harness.model_construct(**(kept | components))

    def with_skills(self, skills: tuple[Skill, ...]) -> "Harness":
        """A copy with another library."""
        return self.replaced(skills=skills)

    def skill(self, name: str) -> Skill | None:
        """The skill of that name, if the library has it."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def shown_skills(self, chain: str, step: int) -> tuple[Skill, ...]:
        """The skills a Director step sees; `rotate` gives every chain and step a window of its own."""
        count, library = self.workflow.skills_shown, self.skills
        if len(library) <= count or self.workflow.skill_selection == "oldest":
            return library[:count]
        if self.workflow.skill_selection == "newest":
            return library[-count:]
        start = (zlib.crc32(chain.encode()) + step * count) % len(library)
        return (library + library)[start : start + count]


class HarnessEdit(Frozen):
    """One typed edit, addressed by (kind, name); the reply form of the meta_harness role."""

    kind: Literal["skill", "prompt", "workflow", "placement"]
    name: str
    op: Literal["add", "revise", "remove", "move"]
    content: Any = None
    """skill: the four fields; prompt: the new text; workflow: the new value of the field `name`; placement: when."""


class Proposal(Frozen):
    """Delta-H of Eq. 4: edits with the evidence for them, what they are expected to do, and the risks."""

    evidence: str
    expected: str
    risks: str
    edits: tuple[HarnessEdit, ...]


OPERATIONS: Mapping[str, frozenset[str]] = {
    "skill": frozenset({"add", "revise", "remove"}),
    "prompt": frozenset({"revise"}),
    "workflow": frozenset({"revise"}),
    "placement": frozenset({"move"}),
}


def check_prompt(role: str, text: str, constraints: ConstraintsConfig) -> None:
    """Refuse a prompt that is too long or holds anything but plain `{{ name }}` of a known name."""
    if len(text) > constraints.prompt_chars:
        raise ConstraintViolation(f"prompt {role!r} has {len(text)} characters, more than {constraints.prompt_chars}")
    if OTHER_TEMPLATE_SYNTAX.search(text):
        raise ConstraintViolation(f"prompt {role!r} may hold only plain {{{{ name }}}} placeholders")
    unknown = set(PLACEHOLDER.findall(text)) - PROMPT_VARIABLES
    if unknown:
        raise ConstraintViolation(f"prompt {role!r} names unknown variables {sorted(unknown)}")
    if "schema" not in PLACEHOLDER.findall(text):
        raise ConstraintViolation(f"prompt {role!r} must keep {{{{ schema }}}}: replies could not be parsed without it")


def check_constraints(harness: Harness, constraints: ConstraintsConfig) -> None:
    """Raise ConstraintViolation unless H lies in H_Gamma (Eq. 5): sizes and counts below their ceilings."""
    if len(harness.skills) > constraints.skills:
        raise ConstraintViolation(f"{len(harness.skills)} skills, more than {constraints.skills}")
    if len({skill.name for skill in harness.skills}) < len(harness.skills):
        raise ConstraintViolation("two skills of one name")
    for skill in harness.skills:
        size = sum(map(len, (skill.intent, skill.method, skill.difficulty_effect, skill.tool_hint)))
        if size > constraints.skill_chars:
            raise ConstraintViolation(
                f"skill {skill.name!r} has {size} characters, more than {constraints.skill_chars}"
            )
    if set(harness.prompts) != set(EDITABLE_ROLES):
        raise ConstraintViolation(f"prompts must be exactly those of {', '.join(EDITABLE_ROLES)}")
    for role, text in harness.prompts.items():
        check_prompt(role, text, constraints)
    for count in ("extends", "revises", "verifies", "steps", "skills_per_extend", "skills_shown"):
        value, ceiling = getattr(harness.workflow, count), getattr(constraints, count)
        if value > ceiling:
            raise ConstraintViolation(f"workflow.{count}={value} is above its ceiling {ceiling}")


def apply(harness: Harness, edits: Sequence[HarnessEdit], constraints: ConstraintsConfig) -> Harness:
    """Apply(H, Delta-H) of Eq. 4, checked against Gamma. Raises ConstraintViolation; `harness` is untouched."""
    if not edits:
        raise ConstraintViolation("the proposal holds no edit")
    if len(edits) > constraints.edits_per_candidate:
        raise ConstraintViolation(f"{len(edits)} edits, more than {constraints.edits_per_candidate}")
    changed = harness
    for edit in edits:
        if edit.kind not in constraints.edits:
            raise ConstraintViolation(f"edits of kind {edit.kind!r} are not allowed here")
        if edit.op not in OPERATIONS[edit.kind]:
            raise ConstraintViolation(f"a {edit.kind} cannot be changed by {edit.op!r}")
        try:
            changed = _APPLY[edit.kind](changed, edit)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ConstraintViolation(f"{edit.kind} {edit.name!r}: {where}: {first['msg']}") from error
    if changed == harness:
        raise ConstraintViolation("the edits change nothing")
    check_constraints(changed, constraints)
    return changed


def _apply_skill(harness: Harness, edit: HarnessEdit) -> Harness:
    known = harness.skill(edit.name)
    if edit.op == "add":
        if known:
            raise ConstraintViolation(f"skill {edit.name!r} exists already")
        return harness.with_skills((*harness.skills, _skill(edit, (), "harness")))
    if known is None:
        raise ConstraintViolation(f"there is no skill {edit.name!r}")
    if edit.op == "remove":
        return harness.with_skills(tuple(skill for skill in harness.skills if skill is not known))
    revised = _skill(edit, known.provenance, known.status)
    return harness.with_skills(tuple(revised if skill is known else skill for skill in harness.skills))


def _skill(edit: HarnessEdit, provenance: tuple[str, ...], status: str) -> Skill:
    if not isinstance(edit.content, Mapping):
        raise ConstraintViolation(f"skill {edit.name!r}: its content must hold the four fields")
    proposal = SkillProposal.model_validate({**edit.content, "name": edit.name})
    return Skill.model_validate({**proposal.model_dump(), "provenance": provenance, "status": status})


def _apply_prompt(harness: Harness, edit: HarnessEdit) -> Harness:
    if edit.name not in EDITABLE_ROLES:
        raise ConstraintViolation(f"prompt {edit.name!r} is not part of the harness (only {', '.join(EDITABLE_ROLES)})")
    if not isinstance(edit.content, str) or not edit.content.strip():
        raise ConstraintViolation(f"prompt {edit.name!r}: its content must be the new text")
    return harness.replaced(prompts={**harness.prompts, edit.name: edit.content})


def _apply_workflow(harness: Harness, edit: HarnessEdit) -> Harness:
    if edit.name not in Workflow.model_fields:
        raise ConstraintViolation(f"the workflow has no field {edit.name!r}")
    workflow = Workflow.model_validate({**harness.workflow.model_dump(), edit.name: edit.content})
    return harness.replaced(workflow=workflow)


def _apply_placement(harness: Harness, edit: HarnessEdit) -> Harness:
    if edit.name not in Placements.model_fields:
        raise ConstraintViolation(f"only verify and revise have a placement, not {edit.name!r}")
    placements = Placements.model_validate({**harness.placements.model_dump(), edit.name: edit.content})
    return harness.replaced(placements=placements)


_APPLY = {
    "skill": _apply_skill,
    "prompt": _apply_prompt,
    "workflow": _apply_workflow,
    "placement": _apply_placement,
}

"""Prompt edits that cannot change what the procedural model does: of a prompt it reads only the wording asked for."""

from collections.abc import Collection, Mapping

from coevolve.harness import EditableRole
from coevolve.procedural.payload import style_of

STYLED = frozenset({"extend", "revise"})
"""Roles whose replies follow the wording that their prompt asks for."""


def inert_prompts(
    before: Mapping[EditableRole, str], after: Mapping[EditableRole, str], played: Collection[str]
) -> list[str]:
    """Roles of `played` (by the procedural model) whose prompt differs in nothing that it reads."""
    return [
        role
        for role, text in after.items()
        if role in played and text != before[role] and (role not in STYLED or style_of(text) == style_of(before[role]))
    ]

"""MetaSkill: an attributed miss becomes a transformation that the library lacks, not an answer (Eq. 3)."""

from collections.abc import Mapping
from typing import Any

from coevolve.construction.hint import Hint
from coevolve.procedural.describe import skill
from coevolve.procedural.ladder import inferred, ladder, unused
from coevolve.procedural.payload import Asking, tools_of

MOST = 3
"""Skills of one reply at most."""
CLOSEST = 3
"""The transformation is drawn among so many of the closest unused ones."""
SUCCESSORS = 2
"""Where so many of the closest transformations are in the library already, another one is not justified."""


def meta_skill(asking: Asking) -> dict[str, Any]:
    """New skills from the misses, or why none follows."""
    payload = asking.payload
    library, limits = payload["library"], payload["limits"]
    hints = {str(tool.hint) for tool in tools_of(library)}
    names = {str(entry["name"]) for entry in library}
    room = min(MOST, int(limits["skills"]) - len(library))
    if room <= 0:
        return {"skills": [], "refused": "the library is full"}
    proposals: list[dict[str, Any]] = []
    for hint in dict.fromkeys(_hint_of(miss) for miss in payload["misses"]):
        steps = ladder(hint)
        choices = unused(steps, hints)[:CLOSEST]
        known = sum(str(step) in hints for step in steps[:CLOSEST])
        if not choices or known >= SUCCESSORS or len(proposals) == room:
            continue
        chosen = asking.rng.choice(choices)
        proposal = skill(chosen, names)
        if sum(len(text) for name, text in proposal.items() if name != "name") > int(limits["skill_chars"]):
            continue
        hints.add(str(chosen))
        names.add(proposal["name"])
        proposals.append(proposal)
    refused = None if proposals else "transformations that follow from these misses are in the library already"
    return {"skills": proposals, "refused": refused}


def _hint_of(miss: Mapping[str, Any]) -> Hint:
    tools = tools_of(miss.get("skills_used") or [])
    if tools:
        return tools[-1].hint
    return inferred(str(miss["domain"]), str(miss["question"]), str(miss["reference"]))

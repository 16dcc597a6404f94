"""Acquisition: the transformation that a source shows, told from what it says, as a skill that the library lacks."""

import re
from collections.abc import Mapping
from typing import Any

from coevolve.construction.hint import Hint
from coevolve.procedural.describe import skill
from coevolve.procedural.ladder import inferred
from coevolve.procedural.payload import Asking, tools_of

MOST = 3
"""Skills of one reply at most."""
LARGEST = 3
"""The grade of a skill follows the digits of its source's numbers, so far."""
NUMBER = re.compile(r"\d+")
CLUES: Mapping[str, str] = {
    "percentage": r"\bper ?cent|\d\\?%",
    "digits": r"\bdigits?\b",
    "constraint": r"\bdivisible|\bmultiples? of\b|\bremainders?\b|\bdivisors?\b|\bmodul(?:o|us|ar)\b",
    "case_split": r"\botherwise\b|\beven or odd\b|\bodd or even\b|\bparity\b|\bpiecewise\b|\bcase distinction\b",
    "inversion": r"\bbackwards?\b|\bundo(?:es|ne)?\b|\binverses?\b|\bat first\b|\boriginally\b",
    "second_unknown": r"\btwice as\b|\btimes as (?:many|much|old)\b|\btwo unknowns\b|\bsimultaneous equations\b",
    "formula_chain": r"\bkinetic\b|\bvoltage\b|\bdensity\b|\bformula (?:gives|links|relates)\b",
    "unit_change": r"\bconver(?:t|sion)\b|\bper (?:hour|second|minute)\b|\bkilomet(?:re|er)s?\b",
    "compose_function": r"\bcompos(?:e|ition) (?:of )?functions?\b|\bpipeline\b",
    "code_step": r"\btrace\b.{0,40}\b(?:code|program|loop)\b|\bintermediate values?\b",
    "letters": r"\bletters?\b|\bvowels?\b",
    "distractor": r"\birrelevant\b|\bdistract\w*\b|\bsuperfluous\b",
    "follow_on": r"\bafter that\b|\bfurther (?:step|operation)\b|\bmulti-?step\b",
}
"""Construction -> what a source says that shows it; the first found of a source counts most."""


def acquire(asking: Asking) -> dict[str, Any]:
    """New skills from the sources, or why none follows."""
    library, limits = asking.payload["library"], asking.payload["limits"]
    hints = {str(tool.hint) for tool in tools_of(library)}
    names = {str(entry["name"]) for entry in library}
    room = min(MOST, int(limits["skills"]) - len(library))
    shown: dict[Hint, list[str]] = {}
    for source in asking.payload["sources"]:
        found = [hint for hint in _hints(source) if str(hint) not in hints]
        for hint in found[: 1 if source.get("kind") == "seed" else MOST]:
            shown.setdefault(hint, []).append(str(source["id"]))
    proposals: list[dict[str, Any]] = []
    for hint, sources in shown.items():
        proposal = skill(hint, names)
        size = sum(len(text) for name, text in proposal.items() if name != "name")
        if len(proposals) < room and size <= int(limits["skill_chars"]):
            names.add(proposal["name"])
            proposals.append({**proposal, "sources": sources})
    refused = None if proposals else "the sources show no transformation that the library lacks"
    return {"skills": proposals, "refused": refused}


def _hints(source: Mapping[str, Any]) -> list[Hint]:
    """The transformations a source shows, the clearest first."""
    text = " ".join(str(source.get(field) or "") for field in ("question", "solution", "text"))
    longest = max((len(number) for number in NUMBER.findall(text)), default=1)
    size = min(LARGEST, longest)
    named = [Hint(name, size) for name, clue in CLUES.items() if re.search(clue, text, re.IGNORECASE)]
    if source.get("kind") != "seed":
        return named
    likely = inferred(str(source["domain"]), str(source["question"]), str(source["reference"]))
    return [*named, Hint(likely.name, size)]

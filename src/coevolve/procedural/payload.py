"""What a role may know: the rendered prompt, the JSON payload and the sampling seed, nothing else (I17)."""

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from coevolve.construction.base import Inapplicable, Limits, Style
from coevolve.construction.hint import Hint, parse_hint
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.errors import CallFailed
from coevolve.llm.base import ChatRequest
from coevolve.tasks import Answer, Draft, Tests

TERSELY = re.compile(r"\btersely\b", re.IGNORECASE)


def style_of(prompt: str) -> Style:
    """The wording that a prompt asks for."""
    return "terse" if TERSELY.search(prompt) else "verbose"


@dataclass(frozen=True, slots=True)
class Asking:
    """One request, read."""

    prompt: str
    payload: Mapping[str, Any]
    rng: random.Random

    @property
    def style(self) -> Style:
        """The wording the role's prompt asks for, where a skill's hint leaves it open."""
        return style_of(self.prompt)


@dataclass(frozen=True, slots=True)
class Tool:
    """A shown skill whose hint names a construction."""

    name: str
    hint: Hint


def read(request: ChatRequest) -> Asking:
    """The prompt and the payload of the last user message that holds one. Raises CallFailed where none does."""
    prompt = "\n".join(message.content for message in request.messages if message.role == "system")
    for message in reversed(request.messages):
        if message.role != "user":
            continue
        try:
            payload = json.loads(message.content)
        except json.JSONDecodeError:
            continue
        if isinstance(payload, dict):
            digest = hashlib.sha256(message.content.encode()).hexdigest()
            return Asking(prompt, payload, random.Random(f"{request.sampling.seed}/{digest}"))
    raise CallFailed("the procedural model needs a JSON object in a user message")


def draft_of(fields: Mapping[str, Any]) -> Draft:
    """The draft that a payload's `source` or `draft` describes."""
    answer = {name: value for name, value in fields["answer"].items() if name in Answer.model_fields}
    tests = fields.get("tests")
    return Draft(
        question=fields["question"],
        answer=Answer.model_validate(answer),
        solution=fields.get("solution") or "",
        program=fields.get("program"),
        tests=Tests.model_validate(tests) if tests else None,
        skills_used=tuple(fields.get("skills_used") or ()),
    )


def reply_of(draft: Draft, used: Sequence[str]) -> dict[str, Any]:
    """Extend's and Revise's reply form."""
    fields = draft.model_dump(mode="json", exclude_none=True, exclude={"skills_used"})
    fields["answer"] = draft.answer.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return {**fields, "skills_used": list(used)}


def limits_of(fields: Mapping[str, Any]) -> Limits:
    """Gamma's ceilings as the payload states them."""
    return Limits(int(fields["question_chars"]), int(fields["answer_chars"]))


def tools_of(skills: Sequence[Mapping[str, Any]]) -> list[Tool]:
    """The skills whose hints name a construction; others are beyond this model."""
    hints = ((str(skill["name"]), _hint(str(skill.get("tool_hint") or ""))) for skill in skills)
    return [Tool(name, hint) for name, hint in hints if hint is not None]


@lru_cache(maxsize=4096)
def _hint(text: str) -> Hint | None:
    try:
        return parse_hint(text, CONSTRUCTIONS)
    except Inapplicable:
        return None

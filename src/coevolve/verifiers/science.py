"""Scientific answers: numbers with units under Rule S, formulas by composition, the rest as mathematics."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from coevolve.tasks import Draft
from coevolve.verifiers import extract
from coevolve.verifiers.exact import chemistry, notation, science, units
from coevolve.verifiers.exact.notation import Refused
from coevolve.verifiers.exact.tokens import Unreadable
from coevolve.verifiers.grades import Grade
from coevolve.verifiers.tools import Tools
from coevolve.verifiers.typed import TypedVerifier

MEASURED = frozenset(("quantity", "decimal", "rational", "integer", "percent"))
ASKED_IN = re.compile(
    r"\b(?:in|as|unit|units|units of|expressed in|how (?:many|much))\s*:?\s+|[(\[]\s*(?:in\s+)?", re.IGNORECASE
)
AHEAD = 60


class ScienceVerifier(TypedVerifier):
    """Verifier of the domain `science`."""

    def __init__(self, tools: Tools) -> None:
        super().__init__("science", tools)

    async def compare(self, draft: Draft, value: str) -> Grade:
        """Judge a bare value; numbers always under Rule S."""
        answer = draft.answer
        if answer.type not in MEASURED and not (answer.type == "expression" and chemistry.is_chemical(answer.value)):
            return await super().compare(draft, value)
        if extract.BOX.search(value):
            value = extract.boxed(value[-extract.REPLY_CHARS :]) or ""
        if not value.strip():
            return Grade("different", value, "an empty answer")
        return await self.ask(draft, value, self.rule(draft))

    def kind(self, draft: Draft) -> str:
        """Formulas know the symbols of physics that have two names."""
        return "symbolic" if draft.answer.type in ("expression", "equation") else draft.answer.type

    def rule(self, draft: Draft) -> Mapping[str, Any] | None:
        """Rule S with the task's own tolerance; whole numbers without a unit are exact."""
        answer = draft.answer
        base = super().rule(draft)
        if base is None and answer.type not in MEASURED and not chemistry.is_chemical(answer.value):
            return None
        exact = answer.type == "integer" and answer.tolerance is None and not answer.unit
        stated = {"rel": None, "abs": None} if base is None else {"rel": base["rel"], "abs": base["abs"]}
        return {**stated, "exact": exact, "unit_in_prompt": asks_for_unit(draft)}


def asks_for_unit(draft: Draft) -> bool:
    """Whether the question itself fixes the unit (`in m/s`, `(J)`, `how many litres`): then a bare number may stand."""
    return _asks_for(draft.question, draft.answer.unit or _own_unit(draft.answer.value))


@lru_cache(maxsize=4096)
def _asks_for(question: str, unit: str) -> bool:
    wanted = _read(unit)
    if not unit or wanted is None:
        return bool(unit) and unit in question
    for found in ASKED_IN.finditer(question):
        ahead = re.split(r"[?!;]|\.\s|\.\Z", question[found.end() : found.end() + AHEAD])[0]
        tokens = ahead.split(" ")
        for count in range(1, min(7, len(tokens)) + 1):
            if _read(" ".join(tokens[:count]).strip(" ,.)]:")) == wanted:
                return True
    return False


def _own_unit(value: str) -> str:
    try:
        return science.quantity(value).unit
    except (Unreadable, Refused):
        return ""


@lru_cache(maxsize=4096)
def _read(text: str) -> units.Unit | None:
    try:
        return units.read(notation.clean(text))
    except (units.UnknownUnit, Refused, Unreadable):
        return None

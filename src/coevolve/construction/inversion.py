"""Inversion: the result is given and what led to it is asked for, where that is exact and unique."""

import random
from dataclasses import dataclass
from typing import ClassVar

from coevolve.construction.arithmetic import arithmetic_in, masks
from coevolve.construction.base import ANY, Inapplicable, Limits, within
from coevolve.construction.grammar import StepKind
from coevolve.construction.kinds import INVERSION
from coevolve.construction.numbers import operand_text
from coevolve.construction.numeric import StepConstruction, value_of
from coevolve.construction.working import ANSWER
from coevolve.tasks import Answer, Domain, Draft

SOURCE = "source"


@dataclass(frozen=True)
class Inversion(StepConstruction):
    """Asks for a number that leads from the result to a total, or (op=source) for a masked number of a plain sum."""

    name: ClassVar[str] = "inversion"
    kinds: ClassVar[tuple[StepKind, ...]] = INVERSION
    ops: ClassVar[tuple[str, ...]] = (*(kind.name for kind in INVERSION), SOURCE)

    def candidates(self, unit: str | None, size: int) -> list[StepKind]:
        """The kinds chosen; op=source works without any."""
        return super().candidates(unit, size) or (list(self.kinds) if self.op == SOURCE else [])

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The inverted draft."""
        source = arithmetic_in(draft.question)
        if self.op == SOURCE or (self.op == ANY and source and rng.random() < 0.5):
            return self._masked(draft, source, rng, limits)
        return super().apply(draft, domain, size, rng, limits)

    @staticmethod
    def _masked(draft: Draft, source: str | None, rng: random.Random, limits: Limits) -> Draft:
        value = value_of(draft.answer)
        choices = list(masks(source, value)) if source else []
        if not choices:
            raise Inapplicable("the question is no sum with a number that its result determines")
        masked, number = rng.choice(choices)
        result = operand_text(value)
        inverted = Draft(
            question=f"For which number n is {masked} = {result}?",
            answer=Answer(type="integer", value=str(int(number))),
            solution=f"{source} = {result}, and no other number in that place gives {result}.\n{ANSWER}{number}",
            program=f"print({int(number)})\n",
            skills_used=draft.skills_used,
        )
        return within(inverted, limits)

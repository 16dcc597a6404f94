"""Follow-on operations on answers that are closed expressions: the operation is written, not evaluated."""

import random
import re
from dataclasses import dataclass
from typing import ClassVar

from coevolve.construction.base import ANY, Inapplicable, Limits, within
from coevolve.construction.grammar import Operands, StepKind, joined
from coevolve.construction.numbers import number_of
from coevolve.construction.numeric import FollowOn
from coevolve.construction.operands import addend, factor
from coevolve.construction.working import worked
from coevolve.tasks import Answer, Domain, Draft

COMMANDS = re.compile(r"\\(?:d?frac|tfrac|sqrt|pi|cdot|left|right|theta|alpha)(?![A-Za-z])")
PLAIN = re.compile(r"[0-9A-Za-z{}^+\-*/(). ]+\Z")
WORDS = re.compile(r"[A-Za-z]{2,}")
SUM = re.compile(r"(?<=[^\s({^])\s*[+\-]")
WRITTEN = ("add", "mul")


def single_value(text: str) -> bool:
    """Whether an expression is one formula of one value: no list, interval, equation, unit or word."""
    bare = COMMANDS.sub(" ", text)
    return bool(PLAIN.match(bare)) and WORDS.search(bare) is None and bare.count("(") == bare.count(")")


def written(kind: StepKind, operands: Operands, text: str) -> str:
    """The expression after an addition or a multiplication."""
    if kind.name == "add":
        return f"{text} + {operands[0]}"
    return (
        f"{operands[0]} \\cdot ({text})" if SUM.search(text) or text.startswith("-") else f"{operands[0]} \\cdot {text}"
    )


@dataclass(frozen=True)
class FollowAny(FollowOn):
    """One arithmetic operation more, on numbers exactly, on other closed expressions as written."""

    name: ClassVar[str] = FollowOn.name

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Numbers, and expressions of one value."""
        return super().applies(draft, domain) or self._symbolic(draft)

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with one step more."""
        if not self._symbolic(draft):
            return super().apply(draft, domain, size, rng, limits)
        choices = [kind for kind in self.kinds if kind.name in WRITTEN and self.op in (ANY, kind.name)]
        if not choices:
            raise Inapplicable(f"{self.op} is not written on expressions")
        kind = rng.choice(choices)
        operands = (str(addend(size, rng) if kind.name == "add" else factor(size, rng)),)
        answer = Answer(type="expression", value=written(kind, operands, draft.answer.value))
        further = Draft(
            question=joined(draft.question, kind.text(operands, self.style)),
            answer=answer,
            solution=worked(draft, kind.text(operands, "terse"), answer),
            skills_used=draft.skills_used,
        )
        return within(further, limits)

    @staticmethod
    def _symbolic(draft: Draft) -> bool:
        value = draft.answer.value
        return draft.answer.type == "expression" and number_of(value) is None and single_value(value)

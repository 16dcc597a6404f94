"""What every construction is: an exact transformation of a draft, its options, and why it may not apply."""

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, Self

from coevolve.errors import ToolError
from coevolve.tasks import AnswerType, Domain, Draft

Style = Literal["verbose", "terse"]
STYLES: tuple[Style, ...] = ("verbose", "terse")
SIZES = range(1, 10)
ANY = "any"


class Inapplicable(ToolError):
    """A construction cannot be applied to this draft; the message says why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Gamma's ceilings on what a construction may write, in characters."""

    question_chars: int
    answer_chars: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a task can be judged without knowing its answer's value."""

    question: str
    answer_type: AnswerType
    unit: str | None
    domain: Domain


class Construction(Protocol):
    """An exact transformation that a skill's tool_hint names."""

    @property
    def name(self) -> str:
        """The name a hint uses."""
        ...

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Domains whose tasks it can transform."""
        ...

    @property
    def ops(self) -> tuple[str, ...]:
        """Variants that a hint may choose with `op=`; empty = there is only one."""
        ...

    def configured(self, op: str, style: Style) -> Self:
        """The same construction with a variant (`any` = each may be drawn) and a wording style."""
        ...

    def suits(self, asked: Asked) -> bool:
        """Whether it may apply, judged without the answer's value."""
        ...

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Whether it may apply to this draft; `apply` can still find that no operand fits."""
        ...

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The transformed draft, its answer exact and its texts within `limits`. Raises Inapplicable."""
        ...


@dataclass(frozen=True)
class Base(ABC):
    """The options every construction has."""

    op: str = ANY
    style: Style = "verbose"

    name: ClassVar[str]
    domains: ClassVar[tuple[Domain, ...]]
    ops: ClassVar[tuple[str, ...]] = ()

    def configured(self, op: str, style: Style) -> Self:
        """The same construction with another variant and wording style."""
        return type(self)(op=op, style=style)

    @abstractmethod
    def suits(self, asked: Asked) -> bool:
        """Whether it may apply, judged without the answer's value."""

    @abstractmethod
    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The transformed draft. Raises Inapplicable."""

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Whether it may apply to this draft."""
        return self.suits(Asked(draft.question, draft.answer.type, draft.answer.unit, domain))


def within(draft: Draft, limits: Limits) -> Draft:
    """`draft` itself, if question and answer keep their ceilings. Raises Inapplicable."""
    if len(draft.question) > limits.question_chars:
        raise Inapplicable(f"the question would have {len(draft.question)} characters, over {limits.question_chars}")
    if draft.answer.type != "code_tests" and len(draft.answer.value) > limits.answer_chars:
        raise Inapplicable(f"the answer would have {len(draft.answer.value)} characters, over {limits.answer_chars}")
    return draft

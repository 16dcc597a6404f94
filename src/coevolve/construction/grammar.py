"""Steps written at a question's end: one sentence each, in two wordings, readable back from the text alone."""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from coevolve.construction.base import Style

Operands = tuple[str, ...]
Draw = Callable[[int, Fraction, random.Random], Operands | None]
"""(size, value, generator) -> operands of that size, or None where none fits."""
Compute = Callable[[Fraction, Sequence[Fraction]], Fraction]

Effect = Literal["scale", "shift", "discrete"]
"""How a step treats an inexact value: multiplies it; adds a constant; or needs it exactly."""


@dataclass(frozen=True)
class StepKind:
    """One form of step: its two wordings, how operands are drawn, and the value after it.

    `code` is the same value as a Python expression of `x` (a Fraction), written independently of `compute`.
    """

    name: str
    verbose: str
    terse: str
    draw: Draw
    compute: Compute
    code: str
    effect: Effect
    inverse: Compute | None = None
    integer: bool = False
    """Whether the value before the step must be an integer."""
    unit_in: str | None = None
    unit_out: str | None = None
    """Units before and after, for steps that change them; None = any, unchanged."""

    def text(self, operands: Operands, style: Style) -> str:
        """The step's sentence."""
        template = self.verbose if style == "verbose" else self.terse
        return template.format(*operands)

    def after(self, value: Fraction, operands: Operands) -> Fraction:
        """The value after the step."""
        return self.compute(value, numbers(operands))


@dataclass(frozen=True)
class Step:
    """A step read from a question, with the wording it stands in."""

    kind: StepKind
    operands: Operands
    style: Style


def numbers(operands: Operands) -> list[Fraction]:
    """Operands as exact numbers."""
    return [Fraction(operand) for operand in operands]


OPTION = re.compile(r"\s*\(?[A-Z][).] ")
"""A line that is the last of listed choices: a sentence after it needs a line of its own."""


@cache
def longest_words(template: str) -> str:
    """The longest stretch of `template` without operands: a text that lacks it does not end with the step."""
    return max(re.split(r"\{\d\}", template), key=len)


@cache
def pattern(template: str) -> re.Pattern[str]:
    """What finds `template`, with numbers for its operands, at a text's end."""
    pieces = [re.escape(piece) for piece in re.split(r"\{\d\}", template)]
    return re.compile(r"(?:^|\s)" + r"(-?\d+(?:\.\d+)?)".join(pieces) + r"\Z")


def last_step(question: str, kinds: Iterable[StepKind]) -> tuple[str, Step] | None:
    """The question without its last step, and that step; None where its end is no step of `kinds`."""
    for kind in kinds:
        styled: tuple[tuple[Style, str], ...] = (("terse", kind.terse), ("verbose", kind.verbose))
        for style, template in styled:
            if longest_words(template) not in question:
                continue
            if found := pattern(template).search(question):
                return question[: found.start()], Step(kind, found.groups(), style)
    return None


def split_steps(question: str, kinds: Sequence[StepKind]) -> tuple[str, tuple[Step, ...]]:
    """The question before all steps at its end, and those steps in order."""
    steps: list[Step] = []
    while found := last_step(question, kinds):
        question, step = found
        steps.insert(0, step)
    return question, tuple(steps)


def joined(question: str, sentence: str) -> str:
    """`sentence` after `question`, which gets a full stop if nothing ends it."""
    head = question.rstrip().removesuffix("=").rstrip()
    if OPTION.match(head.rpartition("\n")[2]):
        return f"{head}\n{sentence}"
    return f"{head} {sentence}" if head.endswith((".", "?", "!", ":", "`")) else f"{head}. {sentence}"

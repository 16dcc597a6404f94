"""Distractors: true sentences with numbers that have nothing to do with the question."""

import random
from dataclasses import dataclass
from typing import ClassVar

from coevolve.construction.base import Asked, Base, Inapplicable, Limits, within
from coevolve.construction.working import unchanged
from coevolve.tasks import Domain, Draft

FACTS: tuple[tuple[str, str], ...] = (
    ("A week always has exactly 7 days in it.", "A week has 7 days."),
    ("An ordinary chessboard has 64 squares on it.", "A chessboard has 64 squares."),
    ("A regular hexagon has 6 sides of equal length.", "A hexagon has 6 sides."),
    ("An ordinary spider walks about on 8 legs.", "A spider has 8 legs."),
    ("The English alphabet is made up of 26 letters.", "The alphabet has 26 letters."),
    ("A full turn of a circle measures 360 degrees.", "A full turn has 360 degrees."),
    ("An ordinary guitar is strung with 6 strings.", "A guitar has 6 strings."),
    ("A standard violin is strung with 4 strings.", "A violin has 4 strings."),
    ("A football team sends 11 players onto the pitch.", "A football team has 11 players."),
    ("Each ordinary year is divided into 12 months.", "A year has 12 months."),
    ("A standard piano keyboard has 88 keys on it.", "A piano has 88 keys."),
    ("An ordinary ant walks about on 6 thin legs.", "An ant has 6 legs."),
    ("A leap year is made up of 366 whole days.", "A leap year has 366 days."),
    ("An octopus usually has 8 arms and 3 hearts.", "An octopus has 8 arms and 3 hearts."),
)


@dataclass(frozen=True)
class Distractor(Base):
    """Puts as many irrelevant facts before the question as its size says; the answer stays what it is."""

    name: ClassVar[str] = "distractor"
    domains: ClassVar[tuple[Domain, ...]] = ("math", "science")

    def suits(self, asked: Asked) -> bool:
        """Everything outside coding."""
        return asked.domain in self.domains and asked.answer_type not in ("code_output", "code_tests", "checker")

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with further facts."""
        free = [pair for pair in FACTS if not any(form in draft.question for form in pair)]
        if not self.applies(draft, domain) or len(free) < size:
            raise Inapplicable(f"{len(free)} unused facts, fewer than {size}")
        facts = [long if self.style == "verbose" else short for long, short in rng.sample(free, size)]
        question = " ".join([*facts, draft.question])
        solution = unchanged(draft, "What stands before the question changes nothing.")
        return within(draft.model_copy(update={"question": question, "solution": solution}), limits)

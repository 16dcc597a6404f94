"""Constructions over short text and choice answers: their letters, counted, picked or shifted."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from coevolve.construction.base import ANY, Asked, Base, Inapplicable, Limits, within
from coevolve.construction.grammar import joined
from coevolve.construction.operands import addend, factor
from coevolve.construction.working import worked
from coevolve.tasks import DOMAINS, Answer, AnswerType, Domain, Draft

LONGEST = 200
ANSWER_REQUEST = re.compile(r"\s*Answer (?:with )?(?:yes, no or maybe|True or False|yes or no)\.\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Measure:
    """A function of a text's letters (lower case, letters only), with its two wordings."""

    name: str
    size: int
    verbose: str
    terse: str
    compute: Callable[[str, int, int], int | str]
    shift: bool = False
    """Whether it starts from one letter rather than from a word."""


def place(letter: str) -> int:
    """A letter's place in the alphabet, A = 1."""
    return ord(letter) - ord("a") + 1


MEASURES: tuple[Measure, ...] = (
    Measure(
        "length",
        1,
        "How many letters does that answer have? Give this number.",
        "How many letters has the answer?",
        lambda word, _a, _b: len(word),
    ),
    Measure(
        "initial",
        1,
        "What is the place in the alphabet (A = 1, B = 2, ...) of the first letter of that answer?",
        "Which place in the alphabet (A = 1) has the answer's first letter?",
        lambda word, _a, _b: place(word[0]),
    ),
    Measure(
        "vowels",
        2,
        "How many of the letters of that answer are vowels (a, e, i, o, u)? Give this number.",
        "How many vowels (a, e, i, o, u) has the answer?",
        lambda word, _a, _b: sum(letter in "aeiou" for letter in word),
    ),
    Measure(
        "reverse",
        3,
        "Write the letters of that answer in reverse order, in lower case and without spaces.",
        "Write the answer's letters backwards, in lower case.",
        lambda word, _a, _b: word[::-1],
    ),
    Measure(
        "total",
        4,
        "Add up the places in the alphabet (A = 1, B = 2, ...) of all letters of that answer. What is the sum?",
        "What is the sum of the places in the alphabet (A = 1) of the answer's letters?",
        lambda word, _a, _b: sum(map(place, word)),
    ),
    Measure(
        "index",
        1,
        "Take the place in the alphabet (A = 1, B = 2, ...) of the right letter and add {0} to it. What do you get?",
        "Which number is the place of that letter (A = 1) plus {0}?",
        lambda letter, a, _b: place(letter) + a,
        shift=True,
    ),
    Measure(
        "scaled",
        2,
        "Take the place in the alphabet (A = 1, B = 2, ...) of the right letter and multiply it by {1}. "
        "What do you get?",
        "Which number is the place of that letter (A = 1) times {1}?",
        lambda letter, _a, b: place(letter) * b,
        shift=True,
    ),
    Measure(
        "affine",
        3,
        "Take the place in the alphabet (A = 1, B = 2, ...) of the right letter, multiply it by {1} and add {0}. "
        "What do you get?",
        "Which number is the place of that letter (A = 1) times {1}, plus {0}?",
        lambda letter, a, b: place(letter) * b + a,
        shift=True,
    ),
    Measure(
        "later",
        3,
        "Which letter stands {0} places after the right letter in the alphabet, where A comes again after Z?",
        "Which letter is {0} places after that one (A follows Z)?",
        lambda letter, a, _b: chr(ord("a") + (place(letter) - 1 + a) % 26).upper(),
        shift=True,
    ),
)
TYPES: frozenset[AnswerType] = frozenset({"text", "choice"})


def letters_of(text: str) -> str | None:
    """The letters of a short plain text in lower case, or None."""
    plain = all(character.isascii() and (character.isalpha() or character in " -'.,") for character in text)
    kept = "".join(character for character in text.lower() if character.isalpha())
    return kept if plain and kept and len(text) <= LONGEST else None


@dataclass(frozen=True)
class Letters(Base):
    """Turns a text or choice answer into a number or another text through its letters."""

    name: ClassVar[str] = "letters"
    domains: ClassVar[tuple[Domain, ...]] = DOMAINS
    ops: ClassVar[tuple[str, ...]] = tuple(measure.name for measure in MEASURES)

    def suits(self, asked: Asked) -> bool:
        """Text and choice answers."""
        return asked.answer_type in TYPES

    def applies(self, draft: Draft, domain: Domain) -> bool:
        """Suits, and every accepted spelling is short and plain."""
        return super().applies(draft, domain) and letters_of(draft.answer.value) is not None

    def apply(self, draft: Draft, domain: Domain, size: int, rng: random.Random, limits: Limits) -> Draft:
        """The draft with a question about the answer's letters."""
        word = letters_of(draft.answer.value) if self.applies(draft, domain) else None
        if word is None:
            raise Inapplicable("the answer is no short plain text")
        one_letter = draft.answer.type == "choice" and len(word) == 1
        fitting = [m for m in MEASURES if self.op in (ANY, m.name) and m.shift == one_letter and m.size <= size]
        fitting = [m for m in fitting if len(word) > 1 or m.shift or m.name == "initial"]
        if not fitting:
            raise Inapplicable(f"no question of size {size} about the letters of this answer")
        measure = rng.choice([m for m in fitting if m.size == max(m.size for m in fitting)])
        a, b = addend(size, rng), factor(size, rng)
        after = measure.compute(word, a, b)
        spellings = [letters_of(alias) for alias in draft.answer.aliases]
        if any(other is None or measure.compute(other, a, b) != after for other in spellings):
            raise Inapplicable("the accepted spellings have different letters")
        if after == word:
            raise Inapplicable("the answer reads the same backwards")
        sentence = (measure.verbose if self.style == "verbose" else measure.terse).format(a, b)
        answer = Answer(type="integer" if isinstance(after, int) else "text", value=str(after))
        further = Draft(
            question=joined(ANSWER_REQUEST.sub("", draft.question), sentence),
            answer=answer,
            solution=worked(draft, sentence, answer),
            skills_used=draft.skills_used,
        )
        return within(further, limits)

"""What is checked and what is found; a finding names benchmark items by id and never carries their text."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["keep", "drop", "review"]
"""review: held back until a person decides."""

Rule = Literal["none", "exact", "template", "order", "ngram", "wording", "semantic"]
"""exact: equal but for case, spacing and punctuation; template: equal once names and numbers are masked; order: the
template's sentences or words in another order; ngram: long runs of words in common; wording: nearly all the words in
common; semantic: near in meaning, and confirmed by answer and numbers."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Text to check. `answer` is its verified reference, where it has one: it confirms or refutes a near match."""

    id: str
    text: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one candidate, and the benchmark item nearest to it by the rule that gave it.

    `score` lies between 0 and 1. `matched_set` and `matched_id` are empty when nothing came near.
    """

    id: str
    verdict: Verdict
    rule: Rule
    score: float
    matched_set: str = ""
    matched_id: str = ""

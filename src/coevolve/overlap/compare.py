"""Whether two near texts are one problem: what a pair has in common, and the verdict on it."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from coevolve.overlap import answers
from coevolve.overlap.records import Rule, Verdict
from coevolve.overlap.text import NAME, NUMBER, Form

Weight = Callable[[str], float]
"""How much a word says; rare words say more."""

SHORT_GRAM = 8
LONG_GRAM = 13


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair with its canonical answer."""

    form: Form
    answer: str | None
    program: Form | None = None
    """The answer, where it is a program or as long as one."""


class Decision(NamedTuple):
    """The verdict on one pair."""

    verdict: Verdict
    rule: Rule
    score: float


KEEP = Decision("keep", "none", 0.0)


class Shared(NamedTuple):
    """What two texts have in common; every figure lies between 0 and 1."""

    grams: float
    """Template 8-grams, as a share of the shorter text's."""
    long_run: bool
    """Whether 13 tokens in a row are the same."""
    bag: float
    """All words, masks and signs, as a share of both texts' together."""
    words: float
    """Weighted content words, as a share of both texts' together."""
    inside: float
    """Weighted content words, and words, masks and signs, each as a share of the second text's: the smaller."""
    numbers: float
    """Numbers, as a share of both texts' together; 1 where neither has any."""
    said: int
    """Different content words in common."""


def shared(first: Form, second: Form, weight: Weight) -> Shared:
    """Compare two texts."""
    ours, theirs = first.grams(SHORT_GRAM, masked=True), second.grams(SHORT_GRAM, masked=True)
    both = first.content & second.content
    common = _total(both, weight)
    inside = _total(second.content, weight)
    covered = (first.bag & second.bag).total() / max(1, second.bag.total())
    either = _total(first.content | second.content, weight)
    numbers = (first.numbers | second.numbers).total()
    long_run = min(len(first.raw), len(second.raw)) >= LONG_GRAM and bool(
        first.grams(LONG_GRAM, masked=False) & second.grams(LONG_GRAM, masked=False)
    )
    return Shared(
        grams=len(ours & theirs) / min(len(ours), len(theirs)),
        long_run=long_run,
        bag=first.alike(second),
        words=common / either if either else 0.0,
        inside=min(common / inside if inside else 1.0, covered),
        numbers=(first.numbers & second.numbers).total() / numbers if numbers else 1.0,
        said=len(both),
    )


def _total(words: Counter[str], weight: Weight) -> float:
    return sum(weight(word) * count for word, count in words.items())


def by_wording(candidate: Side, item: Side, weight: Weight) -> Decision:
    """The verdict of the rules that look at words alone, answers only to refute."""
    if candidate.form.exact == item.form.exact:
        return Decision("drop", "exact", 1.0)
    common = shared(candidate.form, item.form, weight)
    apart = answers.apart(candidate.answer, item.answer)
    decision = _template(candidate.form, item.form, common)
    if decision:
        return _refuted(decision, candidate.form, item.form) if apart else decision
    decision = _wording(common)
    if decision.verdict == "drop" and apart:
        return decision._replace(verdict="review")
    return decision


def _refuted(decision: Decision, first: Form, second: Form) -> Decision:
    """What another answer leaves of a verdict by template.

    Other numbers explain it, but not when words changed places within a sentence: that may be the inverse problem. From
    the same numbers it means that the names are what is asked about, or that one of the answers is wrong.
    """
    if first.numbers.keys() != second.numbers.keys():
        whole = decision.rule == "template" or first.sentences_hash == second.sentences_hash
        return decision if whole else decision._replace(verdict="review")
    return KEEP if not first.numbers and first.raw != second.raw else decision._replace(verdict="review")


ENOUGH_WORDS = 3
ENOUGH_SIGNS = 15
MOSTLY_MASKED = 0.6
SAME_RUNS = 0.5
SAME_WORDS = 0.9
SAME_BAG = 0.85
NEAR_WORDS = 0.7
NEAR_BAG = 0.6
SOME_WORDS = 0.3
SOME_RUNS = 0.2
WHOLE = 0.97


def _template(first: Form, second: Form, common: Shared) -> Decision | None:
    """Equal once masked, as they stand or in another order; where the masks are nearly all of it, that says nothing."""
    masked = second.bag[NAME] + second.bag[NUMBER]
    plain = second.bag.total() - masked
    if (common.said < ENOUGH_WORDS and plain < ENOUGH_SIGNS) or masked > MOSTLY_MASKED * second.bag.total():
        return None
    if first.template_hash == second.template_hash:
        return Decision("drop", "template", 1.0)
    if first.order_hash == second.order_hash:
        return Decision("drop", "order", 1.0)
    return None


def _wording(common: Shared) -> Decision:
    """Runs of words or nearly all words in common, without being equal."""
    near = common.words >= NEAR_WORDS and common.bag >= NEAR_BAG and common.said > ENOUGH_WORDS
    runs = common.grams >= SAME_RUNS and common.said > ENOUGH_WORDS
    near = near and common.grams >= SOME_RUNS
    rule: Rule = "ngram" if common.grams >= SAME_RUNS or common.long_run else "wording"
    same = common.words >= SAME_WORDS and common.bag >= SAME_BAG
    if (near or runs) and same:
        return Decision("drop", rule, common.words)
    if common.long_run and common.inside >= WHOLE:
        return Decision("drop", rule, common.inside)
    if near or runs or (common.long_run and common.words >= SOME_WORDS):
        return Decision("review", rule, max(common.grams, common.words))
    return KEEP


FAR_MEANING = 0.3
NEAR_MEANING = 0.45
UNCONFIRMED_MEANING = 0.55
SAME_NUMBERS = 0.75
MANY_NUMBERS = 3
TELLING_DIGITS = 3
SURE_DIGITS = 6
"""Digits beyond the first of each number: two small problems often share small numbers and a small answer."""
ALIKE_PROGRAMS = 0.4


def by_meaning(candidate: Side, item: Side, cosine: float) -> Decision:
    """The verdict on a pair whose sentence vectors are near (`cosine`), confirmed by answer and numbers.

    Another verified answer is another problem. The same answer from the same numbers is taken for the same problem once
    the digits that agree are too many for chance; everything between is for a person. Of programs there are many right
    ones: equal ones count as the same answer, and unlike ones speak against the same task.
    """
    if cosine < FAR_MEANING or answers.apart(candidate.answer, item.answer):
        return KEEP
    review = Decision("review", "semantic", cosine)
    ours, theirs = candidate.form.numbers, item.form.numbers
    both = ours & theirs
    numbers = both.total() / (ours | theirs).total() if ours or theirs else 1.0
    telling = sum(len(number) - 1 for number in both.elements())
    if candidate.answer is None or item.answer is None:
        alike = numbers >= SAME_NUMBERS and (both.total() >= MANY_NUMBERS or telling >= TELLING_DIGITS)
        return review if cosine >= UNCONFIRMED_MEANING or (cosine >= NEAR_MEANING and alike) else KEEP
    if candidate.answer != item.answer:
        alike = candidate.program.alike(item.program) >= ALIKE_PROGRAMS if candidate.program and item.program else False
        return review if cosine >= NEAR_MEANING and alike else KEEP
    telling += sum(len(number) - 1 for number in re.findall(r"\d+", candidate.answer))
    if cosine >= NEAR_MEANING and numbers >= SAME_NUMBERS and telling >= SURE_DIGITS:
        return review._replace(verdict="drop")
    return review

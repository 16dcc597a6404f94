"""Checks candidates against the benchmark registry, one after another, in memory that depends on the registry alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rensa import RMinHashLSH

from coevolve.overlap import answers
from coevolve.overlap.compare import KEEP, LONG_GRAM, SHORT_GRAM, Decision, Side, by_meaning, by_wording
from coevolve.overlap.embedding import Embedder
from coevolve.overlap.meanings import Meanings
from coevolve.overlap.records import Candidate, Finding, Verdict
from coevolve.overlap.registry import Registry
from coevolve.overlap.signature import BANDS, SIGNATURE, signature
from coevolve.overlap.text import Form

COMMON = 12
"""A run of words in more benchmark items than this is boilerplate and brings nothing together."""
NEAREST = 20
"""So many items, by runs in common, are compared with a candidate."""
SEVERITY: dict[Verdict, int] = {"keep": 0, "review": 1, "drop": 2}


class OverlapChecker:
    """Gives each candidate the verdict `keep`, `drop` or `review`, whatever comes before or after it."""

    def __init__(self, registry: Registry, embedder: Embedder | None = None) -> None:
        """With an `embedder`, candidates are compared by meaning too; its vectors of the registry are kept on disk."""
        self._items = registry.held()
        self._sides = [side(item.text, item.answer) for item in self._items]
        self._weights, self._rare = _weights(self._sides), math.log(1 + len(self._sides))
        self._runs = _Runs(self._sides)
        self._near = RMinHashLSH(threshold=0.5, num_perm=SIGNATURE, num_bands=BANDS)
        for place, known in enumerate(self._sides):
            self._near.insert(place, signature(known.form))
        self._meanings = Meanings(registry, embedder) if embedder else None

    def check(self, items: Iterable[Candidate]) -> Iterator[Finding]:
        """One finding a candidate, in the order of the candidates."""
        for candidate in items:
            yield self._finding(candidate)

    def _finding(self, candidate: Candidate) -> Finding:
        asked = side(candidate.text, candidate.answer)
        best, at = self._worst(
            (place, by_wording(asked, self._sides[place], self._weight)) for place in self._meeting(asked.form)
        )
        if self._meanings and best.verdict != "drop":
            near = self._meanings.nearest(candidate.text)
            meant = self._worst((place, by_meaning(asked, self._sides[place], cosine)) for place, cosine in near)
            best, at = max((best, at), meant, key=lambda found: _rank(found[0]))
        if at < 0:
            return Finding(candidate.id, "keep", "none", 0.0)
        item = self._items[at]
        return Finding(candidate.id, best.verdict, best.rule, round(best.score, 4), item.benchmark, item.id)

    def _worst(self, decisions: Iterable[tuple[int, Decision]]) -> tuple[Decision, int]:
        """The gravest decision with the place of its item, the first of equals; -1 where all is well."""
        best, at = KEEP, -1
        for place, decision in decisions:
            if _rank(decision) > _rank(best):
                best, at = decision, place
        return best, at

    def _meeting(self, form: Form) -> list[int]:
        """Places of the items worth comparing, in registry order."""
        return sorted({*self._runs.meeting(form), *self._near.query(signature(form))})

    def _weight(self, word: str) -> float:
        return self._weights.get(word, self._rare)


class _Runs:
    """Which items a run of words, a template or a whole text occurs in."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._short = defaultdict[int, list[int]](list)
        self._long = defaultdict[int, list[int]](list)
        self._whole = defaultdict[bytes, list[int]](list)
        for place, known in enumerate(sides):
            for gram in known.form.grams(SHORT_GRAM, masked=True):
                self._short[gram].append(place)
            for gram in known.form.grams(LONG_GRAM, masked=False):
                self._long[gram].append(place)
            for whole in _wholes(known.form):
                self._whole[whole].append(place)

    def meeting(self, form: Form) -> list[int]:
        """The items with a whole in common, and those with the most runs in common."""
        counts = Counter[int]()
        for index, grams in (
            (self._short, form.grams(SHORT_GRAM, masked=True)),
            (self._long, form.grams(LONG_GRAM, masked=False)),
        ):
            for gram in grams:
                places = index.get(gram, ())
                if len(places) <= COMMON:
                    counts.update(places)
        nearest = sorted(counts, key=lambda place: (-counts[place], place))[:NEAREST]
        return nearest + [place for whole in _wholes(form) for place in self._whole.get(whole, ())]


def side(text: str, answer: str | None) -> Side:
    """A text and its answer, prepared for comparison."""
    form = Form(text)
    key = answers.key(answer, form)
    return Side(form, key, Form(answer) if answer and key and key.startswith(answers.LONG) else None)


def _wholes(form: Form) -> set[bytes]:
    return {form.exact, form.template_hash, form.order_hash}


def _rank(decision: Decision) -> tuple[int, float, bool]:
    """Graver first; of equals the exact copy, so that a finding names the item it is a copy of."""
    return SEVERITY[decision.verdict], decision.score, decision.rule == "exact"


def _weights(sides: Sequence[Side]) -> dict[str, float]:
    """Inverse document frequency of the registry's content words."""
    counts = Counter(word for known in sides for word in known.form.content)
    return {word: math.log(1 + len(sides) / count) for word, count in counts.items()}

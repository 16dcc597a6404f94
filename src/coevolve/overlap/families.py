"""Families: connected components of near-duplicates in one's own pool, where a whole text repeats another's wording."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby

from rensa import RMinHash, RMinHashLSH

from coevolve.overlap.compare import shared
from coevolve.overlap.records import Candidate
from coevolve.overlap.signature import BANDS, SIGNATURE, signature
from coevolve.overlap.text import Form

ALIKE_WORDS = 0.8
ALIKE_BAG = 0.75
ALIKE_RUNS = 0.25
ALIKE_PAIRS = 0.35
"""Softer than towards a benchmark: members are not dropped, they only stay together."""
FORMS = 20_000
"""Texts whose prepared form is kept in memory."""


class Families:
    """Takes a pool one text at a time; the families do not depend on the order.

    Texts with the same template are one family, whatever their names and numbers; so are templates with the same words
    in another order, and those with nearly the same words, where a word weighs less the more templates hold it. What is
    kept of a template is its text and its signature.
    """

    def __init__(self) -> None:
        self._ids = dict[str, int]()
        self._node_of = dict[bytes, int]()
        self._parents, self._texts, self._signatures = list[int](), list[str](), list[RMinHash]()
        self._counts = Counter[str]()
        self._form = lru_cache(maxsize=FORMS)(Form)

    def add(self, item: Candidate) -> None:
        """Take one text in."""
        form = Form(item.text)
        node = self._node_of.setdefault(form.template_hash, len(self._parents))
        self._ids[item.id] = node
        if node == len(self._parents):
            self._parents.append(node)
            self._texts.append(item.text)
            self._signatures.append(signature(form))
            self._counts.update(form.content.keys())
            self._join(node, self._node_of.setdefault(b"order" + form.order_hash, node))

    def families(self) -> dict[str, str]:
        """The family of each id; a family bears its smallest id."""
        near = RMinHashLSH(threshold=0.5, num_perm=SIGNATURE, num_bands=BANDS)
        for node, made in enumerate(self._signatures):
            for other in near.query(made):
                joined = self._root(other) == self._root(node)
                if not joined and made.jaccard(self._signatures[other]) >= ALIKE_PAIRS and self._alike(node, other):
                    self._join(node, other)
            near.insert(node, made)
        members = sorted((self._root(node), name) for name, node in self._ids.items())
        named = {root: next(group)[1] for root, group in groupby(members, key=lambda member: member[0])}
        return {name: named[root] for root, name in members}

    def _alike(self, first: int, second: int) -> bool:
        common = shared(self._form(self._texts[first]), self._form(self._texts[second]), self._weight)
        return common.words >= ALIKE_WORDS and common.bag >= ALIKE_BAG and common.grams >= ALIKE_RUNS

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._parents) / self._counts[word])

    def _join(self, first: int, second: int) -> None:
        low, high = sorted((self._root(first), self._root(second)))
        self._parents[high] = low

    def _root(self, node: int) -> int:
        while self._parents[node] != node:
            self._parents[node] = self._parents[self._parents[node]]
            node = self._parents[node]
        return node


def families(items: Iterable[Candidate]) -> dict[str, str]:
    """Each id's family in a pool; a family bears its smallest id, and most families have one member."""
    pool = Families()
    for item in items:
        pool.add(item)
    return pool.families()


def within_cap(family_of: Mapping[str, str], cap: int) -> Iterator[str]:
    """The ids that stay when at most `cap` of a family do: the smallest ids of each, in order."""
    counts = dict[str, int]()
    for name in sorted(family_of):
        counts[family_of[name]] = counts.get(family_of[name], 0) + 1
        if counts[family_of[name]] <= cap:
            yield name

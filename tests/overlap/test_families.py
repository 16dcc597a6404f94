"""Families hold what repeats itself, whatever the order."""

import random

from coevolve.curation.bundled import bundled_rows
from coevolve.overlap.families import families, within_cap
from coevolve.overlap.records import Candidate
from coevolve.tasks import DOMAINS

POOL = {
    "a": "Mia has 4 apples and buys 5 more. How many apples does she have now?",
    "b": "Ben has 12 apples and buys 3 more. How many apples does he have now?",
    "c": "Leo buys 7 more. Leo has 9 apples. How many apples does Leo have now?",
    "d": "How many apples does she have now? Mia has 4 apples and buys 5 more.",
    "e": "A car travels 12 m in 4 s. What is its average speed in m/s?",
}


def test_renamed_renumbered_and_reordered_texts_are_one_family() -> None:
    pool = {**POOL, "b": POOL["b"].replace(" he ", " she ")}
    found = families(Candidate(name, text) for name, text in pool.items())
    assert found["a"] == found["b"] == found["d"] == "a"
    assert found["e"] == "e"


def test_the_order_of_the_pool_changes_nothing() -> None:
    pool = [Candidate(str(row.data["id"]), str(row.data["question"])) for row in bundled_rows(DOMAINS)]
    found = families(pool)
    random.Random(5).shuffle(pool)
    assert families(pool) == found
    assert 20 < len(set(found.values())) < len(pool) / 2


def test_a_cap_keeps_the_first_ids_of_each_family() -> None:
    family_of = {"a": "a", "b": "a", "c": "c", "d": "a"}
    assert list(within_cap(family_of, 2)) == ["a", "b", "c"]

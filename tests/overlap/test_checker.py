"""What the checker takes for an overlap, whatever the order, and that findings never carry benchmark text."""

import json
import random
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from coevolve.bench.curation import planted_registry
from coevolve.bench.planted_set import LEXICAL, Planted, own_planted, read_planted
from coevolve.errors import DataError
from coevolve.overlap.audit import audit
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.records import Candidate
from coevolve.overlap.registry import BenchmarkItem, BenchmarkVersion, Registry, load_registry

ITEM = (
    "Nora picks 14 baskets of cherries in the morning and twice as many in the afternoon. "
    "Each basket is sold at the Halden market for 2 euros. How many euros does Nora earn that day?"
)


def registry(*texts: str, answer: str | None = "84") -> Registry:
    items = [BenchmarkItem("own", str(place), text, answer) for place, text in enumerate(texts)]
    return Registry("1", [BenchmarkVersion("own", len(items), "")], items)


def verdict(known: str, text: str, answer: str | None = "84", known_answer: str | None = "84") -> str:
    (finding,) = OverlapChecker(registry(known, answer=known_answer)).check([Candidate("c", text, answer)])
    return f"{finding.verdict} {finding.rule}"


def test_an_equal_text_is_dropped_whatever_its_case_spacing_and_punctuation() -> None:
    assert verdict(ITEM, ITEM) == "drop exact"
    assert verdict(ITEM, "  " + ITEM.upper().replace(" ", "  \n").replace(".", " .")) == "drop exact"


def test_names_and_numbers_are_masked() -> None:
    renamed = ITEM.replace("Nora", "小明").replace("Halden", "São Paulo")
    assert verdict(ITEM, renamed) == "drop template"
    assert verdict(ITEM, ITEM.replace("14", "230").replace("2 euros", "seven euros"), "3220") == "drop template"


def test_sentences_in_another_order_are_found() -> None:
    first, second, question = ITEM.replace("? ", "?").split(". ")
    assert verdict(ITEM, f"{question} {second}. {first}.") == "drop order"


def test_an_item_inside_a_longer_text_is_dropped() -> None:
    around = "A story for the third form follows, and its pictures were drawn by a friend of the school."
    assert verdict(ITEM, f"{around} {ITEM} {around[::-1]}") == "drop ngram"


def test_the_same_story_with_another_question_is_for_a_person() -> None:
    other = ITEM.partition("How many")[0] + "How many more baskets does she pick in the afternoon than in the morning?"
    assert verdict(ITEM, other, "14").startswith("review")


def test_a_shared_topic_is_no_overlap() -> None:
    assert (
        verdict(ITEM, "Nora sells cherries at the market. She has 14 baskets and sells 5. How many are left?")
        == "keep none"
    )
    assert verdict("What is the capital of Peru?", "What is the capital of Norway?", "Oslo", "Lima") == "keep none"
    assert verdict(
        "What is the molar mass of NaCl in g/mol?", "What is the molar mass of CaCl2 in g/mol?", "111", "58.4"
    ) == ("keep none")


def test_programs_are_compared_without_their_names() -> None:
    body = "    total = 1\n    for item in items:\n        total *= item\n    return total"
    known = f"What does this call return?\n\ndef f(items):\n{body}\n\nf([2, 3])"
    other = known.replace("total", "x_1").replace("items", "values").replace("item", "v").replace("f(", "prod(")
    assert verdict(known, other, "6", "6") == "drop template"


def test_a_program_with_another_operator_is_not_dropped() -> None:
    known = "What does this call return?\n\ndef f(a, b):\n    return a + b\n\nf(2, 3)"
    assert not verdict(known, known.replace("a + b", "a - b"), "-1", "5").startswith("drop")


def test_an_empty_text_is_kept() -> None:
    assert verdict(ITEM, "") == "keep none"
    assert verdict(ITEM, "???") == "keep none"


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    return own_planted()


@pytest.fixture(scope="module")
def checker(planted: list[Planted]) -> OverlapChecker:
    return OverlapChecker(planted_registry(planted))


def test_the_order_of_the_candidates_changes_no_finding(planted: list[Planted], checker: OverlapChecker) -> None:
    asked = [Candidate(row.id, row.question, row.answer) for row in planted if row.kind != "benchmark"][::3]
    found = {finding.id: finding for finding in checker.check(asked)}
    random.Random(3).shuffle(asked)
    assert {finding.id: finding for finding in OverlapChecker(planted_registry(planted)).check(asked)} == found


def test_canaries_in_benchmark_items_reach_no_finding(tmp_path: Path) -> None:
    canaries = [f"zqx{place}canary" for place in range(30)]
    rows = [{"id": f"b{k}", "question": f"{ITEM} Mind the {word}.", "answer": word} for k, word in enumerate(canaries)]
    (tmp_path / "bench.jsonl").write_text("\n".join(map(json.dumps, rows)))
    known = load_registry([tmp_path], "1")
    asked = [Candidate(f"c{k}", row["question"]) for k, row in enumerate(rows)] + [Candidate("other", ITEM)]
    found = audit(asked, known)
    written = f"{found}{known!r}{known.held()!r}{json.dumps(known.manifest())}{[astuple(f) for f in found.findings]}"
    assert found.counts["drop"] >= len(canaries)
    assert not any(word in written for word in canaries)


def test_an_audit_counts_every_verdict() -> None:
    found = audit([Candidate("same", ITEM, "84"), Candidate("new", "What is 3 times 4?", "12")], registry(ITEM))
    assert (found.checked, found.counts, found.clean) == (2, {"drop": 1, "keep": 1}, False)
    assert [(f.id, f.matched_set, f.matched_id) for f in found.findings] == [("same", "own", "0")]


class WordVectors:
    """An embedder of the suite's own: counts of a few words, so that nearness is plain to see."""

    identity = "words"

    def embed(self, texts):
        words = "buns sacks rolls bags big small day hundred picks nora".split()
        vectors = np.array([[text.lower().count(word) + 0.01 for word in words] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_meaning(text: str, answer: str | None, known_answer: str | None, tmp_path: Path, monkeypatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text_of_the_item = "Into bags go 132 rolls, and 24 sacks of buns stay."
    if known_answer == "1560":
        text_of_the_item = text_of_the_item.replace("132", "1320").replace("24", "240")
    known = registry(text_of_the_item, answer=known_answer)
    (finding,) = OverlapChecker(known, WordVectors()).check([Candidate("c", text, answer)])
    return f"{finding.verdict} {finding.rule}"


@pytest.mark.parametrize(
    ("text", "answer", "known", "expected"),
    [
        ("Rolls, buns: 1320 in bags, 240 in sacks?", "1560", "1560", "drop semantic"),
        ("Rolls, buns: 132 in bags, 24 in sacks?", "156", "156", "review semantic"),
        ("Rolls, buns: 9 in bags, 7 in sacks?", "156", "156", "review semantic"),
        ("Rolls, buns: 132 in bags, 24 in sacks?", "108", "156", "keep none"),
        ("Rolls, buns: 132 in bags, 24 in sacks?", None, "156", "review semantic"),
        ("Rolls, buns: 2 in bags, 4 in sacks?", "6", "6", "review semantic"),
    ],
)
def test_what_is_near_in_meaning_needs_the_answer_to_be_dropped(
    text, answer, known, expected, tmp_path, monkeypatch
) -> None:
    assert by_meaning(text, answer, known, tmp_path, monkeypatch) == expected


def test_the_planted_set_is_caught_by_words_and_no_other_problem_is_dropped(
    planted: list[Planted], checker: OverlapChecker
) -> None:
    asked = [row for row in planted if row.kind != "benchmark"]
    found = checker.check(Candidate(row.id, row.question, row.answer) for row in asked)
    verdicts = [(row.kind, finding.verdict) for row, finding in zip(asked, found, strict=True)]
    lexical = [verdict for kind, verdict in verdicts if kind in LEXICAL]
    different = [verdict for kind, verdict in verdicts if kind == "different"]
    assert len(lexical) >= 200
    assert len(different) >= 200
    assert lexical.count("keep") <= 0.02 * len(lexical)
    assert different.count("drop") <= 0.01 * len(different)
    assert sum(kind == "paraphrase" for kind, _ in verdicts) >= 40


def test_a_planted_file_of_the_same_form_is_read_and_a_wrong_one_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "planted.jsonl"
    rows = [
        {"id": "b", "kind": "benchmark", "question": ITEM, "answer": 84},
        {"id": "c", "kind": "case", "question": "x"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [(row.id, row.answer, row.part) for row in read_planted(path)] == [
        ("b", "84", "report"),
        ("c", None, "report"),
    ]
    for broken, said in (
        ('{"id": "b", "kind": "benchmark"}', ":1: a row needs id, kind and question"),
        ('{"id": "b", "kind": "twin", "question": "x"}', ":1: kind twin is none of"),
        (json.dumps(rows[0]), "needs rows of kind benchmark and rows of other kinds"),
    ):
        path.write_text(broken)
        with pytest.raises(DataError, match=said):
            read_planted(path)

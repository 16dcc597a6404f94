"""What the paper publishes, checked against itself."""

import pytest

from coevolve.report.grid import PAPER_LABELS
from coevolve.report.paper import paper_tables
from coevolve.tasks import DOMAINS

PAPER = paper_tables()


def test_every_row_has_a_value_for_every_round_and_a_name() -> None:
    for table in PAPER.values():
        assert all(len(values) == len(table.rounds) for values in table.rows.values())
        assert set(table.rows) == set(table.chains)
        assert set(table.rows) <= set(PAPER_LABELS)


def test_the_rounds_are_those_the_paper_prints() -> None:
    assert PAPER["table5"].rounds == (*range(11), 14)
    assert PAPER["table6"].rounds == tuple(range(0, 15, 2))
    assert PAPER["table7"].rounds == tuple(range(0, 11, 2))
    assert PAPER["table8"].rounds == tuple(range(2, 15, 2))


def test_its_overall_row_is_the_mean_of_its_domains() -> None:
    table = PAPER["table5"]
    for place, value in enumerate(table.rows["all"]):
        assert sum(table.rows[domain][place] for domain in DOMAINS) / 3 == pytest.approx(value, abs=0.05)


def test_the_coincidences_that_the_notes_name_hold() -> None:
    full, initial = PAPER["table6"], PAPER["table7"]
    shared = set(full.rounds) & set(PAPER["table5"].rounds)
    assert all(full.value("full", r) == PAPER["table5"].value("math", r) for r in shared)
    for arm in ("task_only", "full"):
        assert all(PAPER["table8"].value(arm, r) == full.value(arm, r) for r in PAPER["table8"].rounds)
    same = [r for r in initial.rounds if initial.value("initial", r) == full.value("task_only", r)]
    assert same == [0, 2, 4, 6, 8]
    assert (initial.value("initial", 10), full.value("task_only", 10)) == (70.0, 72.5)


def test_the_sentences_of_the_text_follow_from_the_tables() -> None:
    last, costs = PAPER["table6"], PAPER["table8"]
    assert last.value("task_only", 14) - last.value("full", 14) == 23.5  # type: ignore[operator]
    fees = costs.value("task_only_cost", 14), costs.value("full_cost", 14)
    assert fees[0] - fees[1] == pytest.approx(0.267)  # type: ignore[operator]
    assert (fees[0] - fees[1]) / fees[0] == pytest.approx(0.2, abs=0.0005)  # type: ignore[operator]

"""The journal: what was paid for survives, a cut last line does not hurt, a broken one is named."""

from pathlib import Path

import pytest

from coevolve.errors import DataError
from coevolve.journal import Journal


def reopened(folder: Path, number: int = 1) -> Journal:
    journal = Journal(folder)
    journal.open_round(number)
    return journal


def test_a_finished_call_is_found_by_the_next_process(tmp_path: Path) -> None:
    first = reopened(tmp_path)
    first.append_call("a", {"seen": 0})
    first.append_admission("generation/", "r1/x/2")
    second = reopened(tmp_path)
    assert second.find("a") == {"call": "a", "seen": 0}
    assert second.find("b") is None
    assert second.admissions == {"generation/": ["r1/x/2"]}
    first.close()
    second.close()


def test_a_cut_last_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    first = reopened(tmp_path)
    first.append_call("a", {})
    first.close()
    path = tmp_path / "r001.jsonl"
    path.write_bytes(path.read_bytes() + b'{"call": "b", "re')
    second = reopened(tmp_path)
    assert second.find("b") is None
    second.append_call("c", {})
    second.close()
    third = reopened(tmp_path)
    assert third.find("a") and third.find("c")
    third.close()


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    (tmp_path / "r001.jsonl").write_text('{"call": "a"}\nnonsense\n{"call": "b"}\n')
    journal = Journal(tmp_path)
    with pytest.raises(DataError, match="line 2"):
        journal.open_round(1)
    journal.close()


def test_rounds_are_kept_apart(tmp_path: Path) -> None:
    journal = reopened(tmp_path)
    journal.append_call("a", {})
    journal.open_round(2)
    assert journal.find("a") is None
    journal.open_round(1)
    assert journal.find("a")
    journal.close()

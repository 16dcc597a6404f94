"""Benchmarks are named, hashed and frozen; wrong files are one line."""

import json
from pathlib import Path

import pytest

from coevolve.errors import DataError
from coevolve.overlap.registry import load_registry


def write(folder: Path, name: str, *rows: dict) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_the_hash_depends_on_the_bytes_and_not_on_the_order_of_the_files(tmp_path: Path) -> None:
    first = write(tmp_path, "a", {"id": 1, "question": "What is 2 + 2?", "answer": 4})
    second = write(tmp_path, "b", {"task_id": "t", "prompt": "Add.", "solution": "x"})
    known = load_registry([first, second], "v1")
    assert known.hash == load_registry([second, first], "v2").hash == load_registry([tmp_path], "v1").hash
    assert [(item.benchmark, item.id, item.answer) for item in known.held()] == [("a", "1", "4"), ("b", "t", "x")]
    write(tmp_path, "b", {"task_id": "t", "prompt": "Add!", "solution": "x"})
    changed = load_registry([tmp_path], "v1")
    with pytest.raises(DataError, match=r"changed: b\b"):
        changed.require(known.manifest())
    known.require(known.manifest())


def test_choices_belong_to_the_text(tmp_path: Path) -> None:
    path = write(tmp_path, "c", {"question": "Which?", "choices": ["tin", "iron"], "answer": "B"})
    (item,) = load_registry([path], "1").held()
    assert item.text == "Which?\nA) tin\nB) iron"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"question": "a"}\n{"question": ""}', r"x.jsonl:2: no question"),
        (b'{"question": "a"\n', r"x.jsonl:1: no JSON object"),
        (b'{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}', r"x.jsonl:2: the id 1 stands there twice"),
        (b"\xff\xfe", r"x.jsonl: not UTF-8"),
        (b"[1]", r"x.jsonl:1: no question"),
        (b"\n\n", r"x.jsonl: the file holds no item"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as raised:
        load_registry([path], "1")
    assert "\n" not in str(raised.value)


def test_missing_files_and_empty_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read"):
        load_registry([tmp_path / "none.jsonl"], "1")
    with pytest.raises(DataError, match=r"holds no \.jsonl"):
        load_registry([tmp_path], "1")

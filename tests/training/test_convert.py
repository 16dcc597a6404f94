"""What is refused before any weight is read; the conversion itself is tested with the trainers (make test-train)."""

from pathlib import Path

import pytest

from coevolve.build import compose, load
from coevolve.errors import ConfigError, MissingExtra
from coevolve.training import convert as converting
from coevolve.training.config import ConvertConfig
from coevolve.training.convert import convert


def converted(**words: object) -> None:
    given = [f"{key}={value}" for key, value in words.items()]
    convert(load(compose(*given, config_name="convert"), ConvertConfig), print)


def test_without_the_libraries_it_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"gguf, torch, transformers: pip install 'coevolve\[train\]'"):
        converted(model="smollm2-135m-instruct", out=tmp_path / "folder")


def test_what_is_there_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "find_spec", lambda name: object())
    (tmp_path / "x.gguf").write_text("mine")
    with pytest.raises(ConfigError, match="it is there already"):
        converted(model=tmp_path, out=tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_text() == "mine"


def test_weights_nobody_knows_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "find_spec", lambda name: object())
    with pytest.raises(ConfigError, match=r"model=nothing: no GGUF file and no pinned weights; known: qwen"):
        converted(model="nothing", out=tmp_path / "folder")
    with pytest.raises(ConfigError, match="no such file"):
        converted(model=tmp_path, out=tmp_path / "x.gguf", like="absent.gguf")

"""The semantic extra: absent, unreachable and present."""

from pathlib import Path

import numpy as np
import pytest

from coevolve.errors import EndpointError, MissingExtra
from coevolve.overlap import embedding
from coevolve.overlap.embedding import MODEL, TOKENIZER, MiniLM, cache_folder, extra_present


def test_an_absent_extra_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'coevolve\[semantic\]'"):
        MiniLM(1)


def test_a_file_with_other_bytes_is_never_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not extra_present():
        pytest.skip("the extra `semantic` is not installed")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / MODEL.name).write_bytes(b"not the model")
    with pytest.raises(EndpointError, match=f"{MODEL.name} cannot be had"):
        MiniLM(1, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / MODEL.name]


@pytest.mark.slow
def test_a_vector_depends_on_its_text_alone() -> None:
    if not extra_present() or not all((cache_folder() / file.name).is_file() for file in (MODEL, TOKENIZER)):
        pytest.skip("the embedding model is not on this machine (scripts/bench.py section=curation fetches it)")
    model = MiniLM(1)
    texts = ["How far does a car go in 3 s at 5 m/s?", "Which way?", "A car at 5 m/s: how far in three seconds?"]
    together = model.embed(texts)
    assert together.shape == (3, embedding.WIDTH)
    assert np.array_equal(model.embed(texts[1:2])[0], together[1])
    assert together[0] @ together[2] > 0.7 > together[0] @ together[1]

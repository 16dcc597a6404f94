"""Benchmark items by meaning: the nearest few to a text, by cosine of sentence vectors."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coevolve.overlap.embedding import Embedder, Vectors, cache_folder
from coevolve.overlap.registry import Registry

NEAREST = 5
"""A paraphrase's original was always among so many (docs/decisions/0021)."""


class Meanings:
    """The registry's vectors, computed once and kept in the user's cache under the registry's hash."""

    def __init__(self, registry: Registry, embedder: Embedder) -> None:
        self._embedder = embedder
        path = cache_folder() / f"registry-{registry.hash[:24]}-{embedder.identity}.npy"
        found = _stored(path, len(registry))
        self._vectors = embedder.embed([item.text for item in registry.held()]) if found is None else found
        if found is None:
            _store(path, self._vectors)

    def nearest(self, text: str) -> Sequence[tuple[int, float]]:
        """(place in the registry, cosine) of the nearest items, nearest first."""
        if not len(self._vectors):
            return []
        cosines = self._vectors @ self._embedder.embed([text])[0]
        order = np.lexsort((np.arange(len(cosines)), -cosines))[:NEAREST]
        return [(int(place), float(cosines[place])) for place in order]


def _stored(path: Path, rows: int) -> Vectors | None:
    try:
        found: Vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.ndim == 2 and len(found) == rows else None


def _store(path: Path, vectors: Vectors) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with part.open("wb") as file:
        np.save(file, vectors)
    part.replace(path)

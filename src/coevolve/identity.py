"""What makes two starts the same run: its configuration, and everything that no edit may touch."""

import fcntl
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from coevolve.config import RunConfig
from coevolve.errors import ConfigError, DataError, boundary
from coevolve.journal import decided
from coevolve.tasks import content_hash

ENDS_BYTES = 1 << 20
FREE_KEYS = (
    "experiment",
    "fresh",
    "live",
    "outputs",
    "name",
    "tracking.",
    "budget.total.",
    "replay.",
    "frozen.path",
    "solver.threads",
    "solver.slots",
)
"""Keys that may differ between two starts of one run: they change nothing it measures."""


def fixed_hash(config: RunConfig, verifier_code: str) -> str:
    """Hash of all that no edit may touch: verifier code, fixed prompts, models, quorum, sampling (I1)."""
    solver = config.solver.model_dump(mode="json", exclude={"slots", "threads", "flow", "path"})
    verify = [member.model_dump(mode="json", exclude={"flow"}) for member in config.models.verify]
    folder = resources.files("coevolve").joinpath("fixed")
    prompts = {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.is_file()}
    checks = config.verification.model_dump(mode="json", include={"quorum", "certificates", "allow_unsafe"})
    return content_hash([verifier_code, solver, _file_mark(config.solver.path), verify, prompts, checks])


def _file_mark(path: str | None) -> str:
    """Tells one weights file from another by its size and both ends: a gigabyte is not read at every start."""
    if path is None or not Path(path).is_file():
        return ""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        head = file.read(ENDS_BYTES)
        file.seek(max(0, size - ENDS_BYTES))
        return hashlib.sha256(f"{size}/".encode() + head + file.read(ENDS_BYTES)).hexdigest()


def config_hash(config: RunConfig) -> str:
    """Hash of the keys that decide what a run measures."""
    return content_hash(_compared(config))


def _compared(config: RunConfig) -> dict[str, Any]:
    flat = _flat(config.model_dump(mode="json"))
    return {name: value for name, value in flat.items() if not name.startswith(FREE_KEYS) and name != "rounds"}


def same_configuration(config: RunConfig, path: Path) -> None:
    """Write config.yaml, or refuse to go on under another configuration, naming the keys that differ.

    A folder that nothing has come of yet, as when the seeds could not be read, takes the corrected configuration.
    """
    if path.exists():
        with boundary(DataError, f"{path} is no readable configuration (restore it, or fresh=true)"):
            old = type(config).model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        mine, theirs = _compared(config), _compared(old)
        differing = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
        if config.rounds < old.rounds:
            differing.append("rounds")
            mine["rounds"], theirs["rounds"] = config.rounds, old.rounds
        if config.replay != old.replay:
            differing.append("replay.path")
            mine["replay.path"], theirs["replay.path"] = config.replay.path, old.replay.path
        if differing and _begun(path.parent):
            shown = ", ".join(f"{name} (was {theirs.get(name)!r}, now {mine.get(name)!r})" for name in differing[:4])
            raise ConfigError(
                f"{path.parent} was started with another configuration: {shown}; give the old values, another name=…, "
                "or fresh=true to start anew and keep the old folder"
            )
        if differing:
            (path.parent / "tracking.json").unlink(missing_ok=True)  # its MLflow run shows the old configuration
    content = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    writing = path.with_name(".config.yaml.writing")
    writing.write_text(content, encoding="utf-8")
    writing.replace(path)


def _begun(folder: Path) -> bool:
    return any((folder / "archive").glob("v*")) or decided(folder / "journal")


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the run folder for this process. Raises ConfigError when another one works on it."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(f"{folder}: another process works on this run; wait for it or give name=…") from error
        yield

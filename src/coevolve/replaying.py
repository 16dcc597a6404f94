"""The configuration of a replay: the recorded run's, with what this command says beside it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from coevolve.errors import ConfigError, DataError

FREE = ("outputs", "name", "fresh", "live", "replay")
"""Taken from this command: they change nothing that a run measures."""
RECORDED = ("models", "solver")
"""Taken from the recording whatever this command says: no model is asked."""


def asks_replay(plain: Mapping[str, Any]) -> bool:
    """Whether a command's configuration asks for a replay; other commands have no such keys."""
    return "replay" in plain and (plain["replay"]["path"] is not None or plain["models"]["name"] == "replay")


def as_recorded(typed: Mapping[str, Any], default: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """The recorded run's configuration, changed by what was typed.

    `typed` is what the command composes to, `default` what no words at all compose to, `words` the words as typed.
    Raises ConfigError without both models=replay and replay.path, DataError where there is no recording.
    """
    path = typed["replay"]["path"]
    if path is None:
        raise ConfigError("models=replay needs replay.path=<folder of a recorded run>")
    if typed["models"]["name"] != "replay":
        raise ConfigError(f"replay.path={path} needs models=replay: a replay asks no model")
    folder = Path(path).absolute()
    try:
        recorded = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise _none_there(path) from error
    if not isinstance(recorded, dict) or "solver" not in recorded or not any((folder / "journal").glob("r*.jsonl")):
        raise _none_there(path)
    named = {word.lstrip("+~").partition("=")[0] for word in words}
    known = {key: value for key, value in recorded.items() if key in typed}
    found: dict[str, Any] = _over(known, typed, default, named, "")
    found |= {key: recorded[key] for key in RECORDED}
    found["replay"] = {"path": str(folder)}
    if found["name"] is None:
        found["name"] = f"replay-of-{folder.name}"
    return found


def replay_note(path: str, commit: str) -> str:
    """What a replay of the run at `path` by the code of `commit` says of itself."""
    try:
        recorded = str(json.loads((Path(path) / "summary.json").read_text(encoding="utf-8"))["commit"])
    except (OSError, ValueError, LookupError, TypeError):
        recorded = ""
    other = recorded and commit and recorded != commit
    may = f"; recorded by the code of {recorded}, this is {commit}: versions may differ" if other else ""
    return f"replaying {path}: no model is called{may}"


def _none_there(path: str) -> DataError:
    return DataError(f"replay.path={path}: no recording there; give a run's folder, with its config.yaml and journal/")


def _over(recorded: Any, typed: Any, default: Any, named: set[str], key: str) -> Any:
    """`recorded` where nothing was typed, else `typed`: a key named, in a group named, or not as by default."""
    if key in named or key in FREE:
        return typed
    if isinstance(typed, Mapping) and isinstance(recorded, Mapping):
        inner = default if isinstance(default, Mapping) else {}
        names = dict.fromkeys((*recorded, *typed))
        return {
            name: _over(recorded[name], typed[name], inner.get(name), named, f"{key}.{name}" if key else name)
            if name in recorded and name in typed
            else {**recorded, **typed}[name]
            for name in names
        }
    return recorded if typed == default else typed

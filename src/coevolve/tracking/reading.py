"""What a run folder says, in MLflow's terms: parameters, tags, step metrics and diffs. Pure reading, no MLflow."""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

import yaml

from coevolve.errors import DataError

METRICS: Mapping[str, str] = {
    "validity": "quality/validity",
    "fallback_rate": "quality/fallback_rate",
    "skills": "harness/skills",
    "c_gen_usd": "cost/c_gen_usd",
    "c_erv_usd": "cost/c_erv_usd",
    "total_usd": "cost/total_usd",
    "calls": "calls/all",
    "n_tasks": "calls/tasks",
    "n_attempts": "calls/reporting_attempts",
}
"""A summary row's own keys -> metric keys; other numbers of a row go below quality/."""
UNFIT = re.compile(r"[^\w\-.:/ ]")


def read_summary(folder: Path) -> dict[str, Any]:
    """summary.json of a run folder, or an empty one with `complete` false. Raises DataError when it is broken."""
    path = folder / "summary.json"
    if not path.exists():
        return {"complete": False, "rounds": []}
    try:
        summary: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); scripts/doctor.py run={folder} tells what is left") from error
    return summary


def read_config(folder: Path) -> dict[str, Any]:
    """config.yaml of a run folder. Raises DataError when there is none, or none that can be read."""
    path = folder / "config.yaml"
    if not path.exists():
        raise DataError(f"{folder}: no run folder (it has no config.yaml)")
    try:
        config: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"{path}: cannot be read ({error}); restore the file") from error
    if not isinstance(config, dict):
        raise DataError(f"{path}: no configuration of a run; restore the file")
    return config


def flatten(tree: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted key, text) for every leaf of a nested configuration; lists by index."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from flatten(value, f"{prefix}{key}.")
    elif isinstance(tree, list) and any(isinstance(item, Mapping | list) for item in tree):
        for index, value in enumerate(tree):
            yield from flatten(value, f"{prefix}{index}.")
    else:
        yield prefix.removesuffix("."), "null" if tree is None else str(tree)


def round_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """One summary row as metrics of the step `row["round"]`; what is null or no number is left out."""
    values: dict[str, Any] = {f"accuracy/{name}": value for name, value in (row.get("accuracy") or {}).items()}
    low, high = row.get("interval") or (None, None)
    values |= {"accuracy/low": low, "accuracy/high": high}
    values["harness/accepted"] = float(row.get("status") == "accepted")
    for key, value in row.items():
        if key not in ("round", "accuracy", "interval", "status", "harness_id"):
            values[METRICS.get(key, f"quality/{key}")] = value
    return {
        UNFIT.sub("_", key): float(value)
        for key, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def run_tags(folder: Path, config: Mapping[str, Any], sweep: str) -> dict[str, str]:
    """What runs are found and grouped by."""

    def name(group: str) -> str:
        return str((config.get(group) or {}).get("name", ""))

    tags = {group: name(group) for group in ("ablation", "domain", "solver", "models", "gate")}
    tags |= {key: str(config.get(key, "")) for key in ("experiment", "seed", "optimizer")}
    return {**tags, "sweep": sweep, "folder": str(folder)}


def registered_name(experiment: str, folder: Path) -> str:
    """The name that all harness versions of a run folder share; parallel runs thus never meet at an alias."""
    return f"{experiment}.{folder.name}".replace("/", ".").replace(":", ".")


def versions(folder: Path) -> list[Path]:
    """Folders of the archived versions, oldest first."""
    return sorted(path.parent for path in folder.glob("archive/v*/version.json"))


def harness_diff(old: Path | None, new: Path) -> str:
    """A unified diff of two harness folders; the whole of `new` when there is no `old`."""
    before, after = _texts(old) if old else {}, _texts(new)
    lines: list[str] = []
    for name in sorted(before | after):
        one, other = before.get(name, "").splitlines(), after.get(name, "").splitlines()
        lines += unified_diff(one, other, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(lines) + "\n" if lines else "no change\n"


def parent_of(version: Path) -> Path | None:
    """The harness folder of an archived version's first parent: the newest earlier version that holds that harness."""
    wanted = (read_record(version).get("parents") or [None])[0]
    earlier = [path for path in sorted(version.parent.glob("v*"), reverse=True) if path.name < version.name]
    return next((path / "harness" for path in earlier if read_record(path).get("harness_id") == wanted), None)


def read_record(version: Path) -> dict[str, Any]:
    """version.json of an archived version."""
    record: dict[str, Any] = json.loads((version / "version.json").read_text())
    return record


def _texts(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in files}

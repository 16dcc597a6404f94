"""Checks of this machine, and of one run folder: hashes, parents, ledger sums, one task a chain."""

import asyncio
import json
import os
import shutil
import socket
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from coevolve.archive import Version, load_record, load_version
from coevolve.config import TrackingConfig, VerificationConfig
from coevolve.config_models import Config
from coevolve.errors import DataError, ToolError, UserError, boundary
from coevolve.harness_folder import load_harness
from coevolve.ledger import Row, Totals
from coevolve.sandbox.attacks import run_attacks
from coevolve.sandbox.sandbox import Sandbox
from coevolve.tracking import Store

EXTRAS: Mapping[str, str] = {
    "embedded": "xllamacpp",
    "vllm": "vllm",
    "train": "trl",
    "ray": "ray",
    "joblib": "hydra_plugins.hydra_joblib_launcher",
    "datasets": "datasets",
    "reasoning_gym": "reasoning_gym",
}
"""Extra -> the module that tells whether it is installed."""
SUMS = ("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "microusd")
LEAST_FREE_GB = 2.0
Check = tuple[str, Callable[[], str]]
"""What is checked, and a function that returns a remark or raises UserError or ToolError."""


class DoctorConfig(Config):
    """What scripts/doctor.py takes."""

    run: str | None
    """A run folder; null = check this machine."""
    experiment: str
    outputs: str
    verification: VerificationConfig
    tracking: TrackingConfig


def main(config: DoctorConfig) -> int:
    """Run the checks, one line each; 1 when one fails."""
    checks = machine_checks(config) if config.run is None else run_checks(Path(config.run))
    held = [report(name, check) for name, check in checks]
    return 0 if all(held) else 1


def report(name: str, check: Callable[[], str]) -> bool:
    """Make one check and print `ok`, or what is broken."""
    try:
        with boundary(ToolError, name):
            remark = check()
    except (UserError, ToolError) as error:
        print(f"BROKEN {name}: {' '.join(str(error).split())}")
        return False
    print(f"ok     {name}{f': {remark}' if remark else ''}")
    return True


def machine_checks(config: DoctorConfig) -> list[Check]:
    """Python, extras, sandbox, tracking store, disk."""
    return [
        ("python", _python),
        ("extras", _extras),
        ("sandbox", lambda: asyncio.run(_sandbox(config.verification))),
        ("tracking store", lambda: _store(Store.of(config.tracking.uri))),
        ("disk", lambda: _disk(Path(config.outputs))),
    ]


def _python() -> str:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise ToolError(f"Python {sys.version.split()[0]}: 3.11 to 3.13 are supported")
    return sys.version.split()[0]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _extras() -> str:
    have = [extra for extra, module in EXTRAS.items() if _installed(module)]
    lack = [extra for extra in EXTRAS if extra not in have]
    return f"{', '.join(have) or 'none'} installed; pip install 'coevolve[…]' adds {', '.join(lack) or 'nothing more'}"


async def _sandbox(config: VerificationConfig) -> str:
    sandbox = Sandbox(config)
    try:
        kind, attacks = await sandbox.kind(), await run_attacks(sandbox)
    finally:
        await sandbox.close()
    through = [f"{attack.name} ({attack.detail})" for attack in attacks if not attack.contained]
    if through:
        raise ToolError(f"{kind}: {len(through)} of {len(attacks)} attacks got through: {'; '.join(through)}")
    return f"{kind} held against {len(attacks)} attacks"


def _store(store: Store) -> str:
    if store.root is None:
        address = urlsplit(store.uri)
        if address.scheme.startswith("http"):
            socket.create_connection((address.hostname or "", address.port or 80), timeout=5).close()
        return store.uri
    database = store.root / "mlflow.db"
    if not database.exists():
        if not os.access(_nearest_folder(store.root), os.W_OK):
            raise ToolError(f"{store.root} cannot be written; set tracking.uri=<folder or address>")
        return f"{store.root} (made at the first run)"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
        (state,) = connection.execute("pragma quick_check(1)").fetchone()
    if state != "ok":
        raise ToolError(f"{database}: {state}; move it away, then re-log with scripts/track.py run=…")
    return str(database)


def _disk(outputs: Path) -> str:
    place = _nearest_folder(outputs)
    free = shutil.disk_usage(place).free / 1e9
    if free < LEAST_FREE_GB:
        raise ToolError(f"{free:.1f} GB free at {place}: at least {LEAST_FREE_GB:g} GB are needed")
    return f"{free:.0f} GB free"


def _nearest_folder(path: Path) -> Path:
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


def run_checks(run: Path) -> list[Check]:
    """What must hold in a run folder; versions are read once each check, so memory stays small."""
    if not (run / "config.yaml").exists():
        raise DataError(f"{run}: no run folder (it has no config.yaml)")
    folders = sorted(path for path in run.glob("archive/v*") if path.is_dir())
    return [
        ("versions", lambda: _versions(folders)),
        ("hashes", lambda: _hashes(folders)),
        ("parents", lambda: _parents(folders)),
        ("one task a chain", lambda: _chains(folders)),
        ("events", lambda: _events(run, folders)),
        ("ledger", lambda: _ledger(run, folders)),
        ("summary", lambda: _summary(run, folders)),
    ]


def _loaded(folders: list[Path]) -> Iterator[tuple[Path, Version]]:
    for folder in folders:
        yield folder, load_version(folder)


def _versions(folders: list[Path]) -> str:
    for number, folder in enumerate(folders):
        if folder.name != f"v{number:03d}" or load_record(folder)["version"] != number:
            raise DataError(f"{folder}: version {number} should stand here")
    if not folders:
        raise DataError("the archive is empty: the run has not finished its start")
    return f"{len(folders)}, none missing"


def _hashes(folders: list[Path]) -> str:
    fixed: set[tuple[str, str]] = set()
    candidates = 0
    for folder, version in _loaded(folders):
        fixed.add((version.fixed_hash, version.config_hash))
        if len(fixed) > 1:
            raise DataError(f"{folder}/version.json: fixed_hash or config_hash differ from the version before")
        for number, probe in enumerate(version.evaluations.get("candidates") or (), 1):
            candidate = folder / "candidates" / str(number) / "harness"
            if candidate.is_dir():
                candidates += 1
                if load_harness(candidate).id != probe["harness_id"]:
                    raise DataError(f"{candidate}: its content is not the harness {probe['harness_id']}")
    return f"every harness is what its version says, {candidates} candidates too"


def _parents(folders: list[Path]) -> str:
    before: Version | None = None
    for folder, version in _loaded(folders):
        if before is not None and version.parents[:1] != (before.harness.id,):
            raise DataError(f"{folder}/version.json: parents {version.parents} are not ({before.harness.id!r},)")
        if before is not None and version.round != before.round + 1:
            raise DataError(f"{folder}/version.json: round {version.round} follows round {before.round}")
        before = version
    return ""


def _chains(folders: list[Path]) -> str:
    first: set[str] | None = None
    for folder, version in _loaded(folders):
        counts = Counter(task.chain for task in version.tasks)
        twice = [chain for chain, count in counts.items() if count > 1]
        if twice:
            raise DataError(f"{folder}/tasks.jsonl: chain {twice[0]} has {counts[twice[0]]} tasks")
        first = first or set(counts)
        if set(counts) != first:
            raise DataError(f"{folder}/tasks.jsonl: other chains than in v000: {sorted(set(counts) ^ first)[:3]}")
    return f"{len(first or ())} chains"


def _lines(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(line number, end in bytes, record) of a JSON-lines file; a cut last line is no record."""
    end = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            end += len(line)
            if not line.endswith(b"\n"):
                return
            try:
                yield number, end, json.loads(line)
            except ValueError as error:
                raise DataError(f"{path} line {number}: not JSON ({error})") from error


def _events(run: Path, folders: list[Path]) -> str:
    path = run / "events.jsonl"
    count = sum(1 for _ in _lines(path))
    kept = load_record(folders[-1])["files"]["events"] if folders else 0
    if path.stat().st_size < kept:
        raise DataError(f"{path}: {path.stat().st_size} bytes, {folders[-1].name} was archived at {kept}")
    return f"{count} events"


def _ledger(run: Path, folders: list[Path]) -> str:
    """Every archived round's sums are those of its rows, and no finished call stands twice."""
    path = run / "ledger.jsonl"
    records = [load_record(folder) for folder in folders]
    ends = [record["files"]["ledger"] for record in records]
    sums: list[dict[tuple[str, str, str], Totals]] = [{} for _ in records]
    finished: set[str] = set()
    rows = current = 0
    for number, end, fields in _lines(path):
        row = Row(**fields)
        if row.outcome != "failed" and row.call in finished:
            raise DataError(f"{path} line {number}: the call {row.call} was paid for twice")
        finished.add(row.call)
        rows += 1
        while current < len(ends) and end > ends[current]:
            current += 1
        if current < len(ends):
            sums[current].setdefault((row.phase, row.probe, row.role), Totals()).add(row)
    for folder, record, found in zip(folders, records, sums, strict=True):
        _same_sums(f"{folder}/version.json", record["costs"]["cells"], found)
    return f"{rows} calls, sums agree"


def _same_sums(where: str, cells: list[dict[str, Any]], found: Mapping[tuple[str, str, str], Totals]) -> None:
    kept = {(cell["phase"], cell["probe"], cell["role"]): cell for cell in cells}
    for key in sorted(set(kept) | set(found)):
        cell, totals = kept.get(key), found.get(key)
        if cell is None or totals is None:
            raise DataError(f"{where}: calls of {'/'.join(key)} stand only in {'the ledger' if totals else 'version'}")
        differing = [name for name in SUMS if cell[name] != getattr(totals, name)]
        if differing or not isclose(cell["seconds"], totals.seconds, rel_tol=1e-6, abs_tol=1e-3):
            name = differing[0] if differing else "seconds"
            raise DataError(
                f"{where}: {name} of {'/'.join(key)} is {cell[name]}, the ledger says {getattr(totals, name)}"
            )


def _summary(run: Path, folders: list[Path]) -> str:
    path = run / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8"))
    rows = summary["rounds"]
    if len(rows) != len(folders):
        raise DataError(f"{path}: {len(rows)} rounds, the archive has {len(folders)} versions; start the run again")
    for row, folder in zip(rows, folders, strict=True):
        record = load_record(folder)
        for key in ("round", "status", "harness_id"):
            if row[key] != record[key]:
                raise DataError(f"{path}: {key} of round {row['round']} is {row[key]!r}, {folder} has {record[key]!r}")
    return "complete" if summary["complete"] else "not complete: the same command goes on"

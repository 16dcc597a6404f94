"""One run folder: versions, hashes, parents, one task a chain, logs, money, summary."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from coevolve.archive import Version, load_record, load_version
from coevolve.doctor.checks import Check, Unfinished
from coevolve.doctor.records import check_journal, check_ledger, lines
from coevolve.errors import DataError
from coevolve.harness_folder import load_harness
from coevolve.tracking.reading import read_config

GO_ON = "the same command goes on"


def run_checks(run: Path) -> list[Check]:
    """What must hold in a run folder; versions are read once each check, so memory stays small."""
    if not (run / "config.yaml").exists():
        raise DataError(f"{run}: no run folder (it has no config.yaml)")
    folders = sorted(path for path in run.glob("archive/v*") if path.is_dir())
    return [
        ("configuration", lambda: f"{len(read_config(run))} sections"),
        ("versions", lambda: _versions(folders)),
        ("hashes", lambda: _hashes(folders)),
        ("parents", lambda: _parents(folders)),
        ("one task a chain", lambda: _chains(folders)),
        ("events", lambda: _events(run, folders)),
        ("ledger", lambda: check_ledger(run, folders)),
        ("journal", lambda: check_journal(run, folders)),
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
        raise Unfinished(f"no round is archived yet, the run has not finished its start; {GO_ON}")
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


def _events(run: Path, folders: list[Path]) -> str:
    path = run / "events.jsonl"
    count = sum(1 for _ in lines(path))
    kept = load_record(folders[-1])["files"]["events"] if folders else 0
    size = path.stat().st_size if path.exists() else 0
    if size < kept:
        raise DataError(f"{path}: {size} bytes, {folders[-1].name} was archived at {kept}")
    return f"{count} events"


def _summary(run: Path, folders: list[Path]) -> str:
    path = run / "summary.json"
    if not path.exists():
        raise Unfinished(f"not written yet; {GO_ON}")
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        rows, complete = summary["rounds"], bool(summary["complete"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: no summary ({type(error).__name__}: {error}); remove it and {GO_ON}") from error
    for row, folder in zip(rows, folders, strict=False):
        record = load_record(folder)
        for key in ("round", "status", "harness_id"):
            if row[key] != record[key]:
                raise DataError(f"{path}: {key} of round {row['round']} is {row[key]!r}, {folder} has {record[key]!r}")
    if len(rows) > len(folders) or (complete and len(rows) < len(folders)):
        raise DataError(f"{path}: {len(rows)} rounds, the archive has {len(folders)} versions; start the run again")
    if not complete:
        raise Unfinished(f"{len(rows)} of {len(folders)} archived versions are in it; {GO_ON}")
    return f"complete, {len(rows)} rounds"

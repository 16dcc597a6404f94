"""A curated folder, read: its manifest, its evolution seeds, its H_0 and what it cost to make.

manifest.json    format, hashes of every file and of the benchmarks, shares dropped at each step, counts
evolution.jsonl  seeds to evolve, as tasks of round 0
held_out.sealed  seeds for transfer and reporting alone (`held_out.open_sealed`); reads.jsonl counts the readings
families.jsonl   near-duplicate families and the side they are on
audit.jsonl      one line on everything that was changed, set aside or left out, with the evidence
review.jsonl     what a person is to decide; fed back with review=<file>
h0/              the first harness as a folder, with provenance.json
ledger.jsonl     one row a call of the acquisition model; cost.json sums them
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from coevolve.config import SeedsConfig
from coevolve.errors import DataError
from coevolve.harness import Harness
from coevolve.harness_folder import load_harness
from coevolve.ledger import Row
from coevolve.tasks import Task

FORMAT = 1
MANIFEST, EVOLUTION, HELD_OUT, READS = "manifest.json", "evolution.jsonl", "held_out.sealed", "reads.jsonl"
FAMILIES, AUDIT, REVIEW, COST, LEDGER = "families.jsonl", "audit.jsonl", "review.jsonl", "cost.json", "ledger.jsonl"
H_0, PROVENANCE = "h0", "provenance.json"


def curated_folder(config: SeedsConfig) -> Path:
    """The folder that `seeds=curated` names. Raises DataError."""
    if config.source != "curated":
        raise DataError(f"seeds.harness=curated needs seeds=curated, not {config.source}; or take shipped")
    if config.path is None:
        raise DataError("seeds=curated needs seeds.path=<a folder that scripts/curate.py made>")
    return Path(config.path)


def load_manifest(folder: Path) -> dict[str, Any]:
    """manifest.json of a finished curation. Raises DataError."""
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(f"{folder}: no curated folder ({MANIFEST} is missing); make one with scripts/curate.py out=…")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: no readable manifest ({error}); run scripts/curate.py again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{path}: not a manifest of format {FORMAT}; curate again with this version")
    return manifest


def check_file(folder: Path, name: str) -> Path:
    """The path of a curated file whose hash is the manifest's. Raises DataError where it was changed."""
    path, wanted = folder / name, load_manifest(folder)["files"].get(name)
    if not path.is_file() or file_hash(path) != wanted:
        raise DataError(
            f"{path}: missing, or changed since it was curated; curate again (decisions go into review=<file>)"
        )
    return path


def evolution_seeds(folder: Path) -> Iterator[Task]:
    """The seeds to evolve, one at a time; the held-out file is not opened. Raises DataError."""
    path = check_file(folder, EVOLUTION)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield Task.model_validate_json(line)
            except ValidationError as error:
                raise DataError(f"{path} line {number}: {error.errors()[0]['msg']}; curate again") from error


def curated_harness(folder: Path) -> Harness:
    """H_0 as it was curated. Raises DataError where it was changed."""
    expected = load_manifest(folder)["harness_id"]
    harness = load_harness(folder / H_0)
    if harness.id != expected:
        raise DataError(
            f"{folder / H_0}: its content is {harness.id}, {MANIFEST} says {expected}; restore it, or start a run with "
            "from_version=<an edited copy of a version>"
        )
    return harness


def paid_rows(folder: Path) -> Iterator[Row]:
    """What curation paid for, call by call, to be carried into a run's total (I10). Raises DataError."""
    with check_file(folder, LEDGER).open(encoding="utf-8") as file:
        for line in file:
            yield Row.read(json.loads(line))


def origin_marks(folder: Path) -> Mapping[str, str]:
    """What a run keeps of where its seeds came from: hashes, and the share that each step of curation took out."""
    manifest = load_manifest(folder)
    out = ", ".join(f"{step} {found['share']:.2%}" for step, found in manifest["shares"]["seed"].items())
    return {"curated": manifest["folder_hash"], "benchmarks": manifest["registry"]["hash"], "dropped": out}


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

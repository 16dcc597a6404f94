"""What a curation leaves behind; the same input gives the same bytes, whatever interrupted it."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from coevolve.archive import write_json
from coevolve.curation.curated import (
    AUDIT,
    COST,
    EVOLUTION,
    FAMILIES,
    FORMAT,
    H_0,
    HELD_OUT,
    LEDGER,
    MANIFEST,
    PROVENANCE,
    REVIEW,
    file_hash,
)
from coevolve.curation.review import ReviewRow
from coevolve.curation.shares import counts, shares
from coevolve.curation.workspace import Remark, Workspace
from coevolve.harness import Harness
from coevolve.harness_folder import fsync_folder, save_harness
from coevolve.ledger import Row, Totals
from coevolve.tasks import content_hash

HASHED = (EVOLUTION, HELD_OUT, FAMILIES, AUDIT, f"{H_0}/{PROVENANCE}")
"""What the folder's hash covers, besides the harness itself; costs hold seconds, which no two runs share."""


def write_splits(workspace: Workspace, folder: Path) -> None:
    """Both sides of the split, and the families."""
    for name, side in ((EVOLUTION, False), (HELD_OUT, True)):
        write_lines(folder / name, (json.loads(entry.body) for entry in workspace.standing("seed", held_out=side)))
    rows = workspace.query(
        "select family, held_out, id, left_at from entries where kind = 'seed' and family in "
        "(select family from entries where kind = 'seed' group by family having count(*) > 1) order by family, id"
    )
    families: dict[str, dict[str, Any]] = {}
    for family, held_out, name, left_at in rows:
        found = families.setdefault(family, {"family": family, "side": "held_out" if held_out else "evolution"})
        found.setdefault("members", []).append(name)
        if left_at is None:
            found.setdefault("kept", []).append(name)
    write_lines(folder / FAMILIES, families.values())


def write_audit(workspace: Workspace, folder: Path) -> None:
    """audit.jsonl: every remark. It names benchmark items by id and holds no text of what overlaps one."""
    write_lines(folder / AUDIT, (remark._asdict() for remark in workspace.remarks()))


def write_review(
    workspace: Workspace, skills: Sequence[tuple[Remark, str]], decided: Sequence[ReviewRow], folder: Path
) -> None:
    """review.jsonl: what waits for a person, the candidate's own text included, then what was decided before."""
    sql = (
        "select r.kind, r.key, r.id, r.rule, r.evidence, e.body from remarks r join entries e on e.key = r.key "
        "where e.left_at in ('overlap', 'duplicate') and r.outcome in ('review', 'quarantine') order by r.kind, r.key"
    )
    rows = []
    for kind, key, name, rule, evidence, body in workspace.query(sql):
        text = json.loads(body)["question"] if kind == "seed" else body
        rows.append(_open(kind, key, name, rule, json.loads(evidence), text))
    rows += [_open("skill", found.key, found.id, found.rule, found.evidence, text) for found, text in skills]
    write_lines(folder / REVIEW, (row.model_dump(mode="json") for row in (*rows, *decided)))


def _open(kind: Any, key: str, name: str, rule: str, evidence: Mapping[str, Any], text: str) -> ReviewRow:
    score, matched = evidence.get("score"), evidence.get("matched", "")
    return ReviewRow(id=name, kind=kind, key=key, rule=rule, score=score, matched=matched, text=text)


def write_h0(harness: Harness, provenance: Mapping[str, Any], folder: Path) -> None:
    """H_0 as a folder, with where its skills came from."""
    writing = folder / f".{H_0}.writing"
    shutil.rmtree(writing, ignore_errors=True)
    save_harness(harness, writing)
    write_json(writing / PROVENANCE, provenance)
    fsync_folder(writing)
    shutil.rmtree(folder / H_0, ignore_errors=True)
    writing.rename(folder / H_0)


def write_cost(ledger: Path, seconds: float, folder: Path) -> dict[str, Any]:
    """cost.json: sums over the ledger of what curation paid for; `wall_seconds` is this process's own time."""
    total, by_model = Totals(), Counter[str]()
    with ledger.open(encoding="utf-8") as file:
        for line in file:
            row = Row.read(json.loads(line))
            total.add(row)
            by_model[row.model] += 1
    cost = {
        "calls": total.calls,
        "tokens_in": total.tokens_in,
        "tokens_out": total.tokens_out,
        "microusd": total.microusd,
        "model_seconds": round(total.seconds, 3),
        "wall_seconds": round(seconds, 1),
        "calls_by_model": dict(sorted(by_model.items())),
    }
    write_json(folder / COST, cost)
    return cost


def write_manifest(
    workspace: Workspace, folder: Path, harness: Harness, identity: Mapping[str, Any], registry: Mapping[str, Any]
) -> dict[str, Any]:
    """manifest.json, last: with it the folder is complete."""
    files = {name: file_hash(folder / name) for name in (*HASHED, LEDGER)}
    covered = {name: files[name] for name in HASHED}
    manifest = {
        "format": FORMAT,
        "folder_hash": content_hash([covered, harness.id, registry["hash"]]),
        "harness_id": harness.id,
        "skills": len(harness.skills),
        "counts": counts(workspace),
        "shares": shares(workspace),
        "registry": registry,
        "files": files,
        **identity,
    }
    write_json(folder / MANIFEST, manifest)
    return manifest


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines, whole or not at all."""
    writing = path.with_name(f".{path.name}.writing")
    with writing.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    writing.replace(path)

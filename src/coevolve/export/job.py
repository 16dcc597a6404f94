"""One export from start to finish: rows, targets, audit, choice, files; the folder appears whole or not at all."""

import asyncio
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from coevolve.archive import write_json
from coevolve.errors import ConfigError, DataError
from coevolve.export.audit import Audit, Drop, duplicates, leaks, libraries, too_long, wrong_gold
from coevolve.export.card import card
from coevolve.export.comparison import comparison_rows
from coevolve.export.config import ExportConfig
from coevolve.export.overlap import Overlap
from coevolve.export.rows import Row, rows_of, run_folders
from coevolve.export.selection import choose, is_validation, shuffled
from coevolve.export.targets import target
from coevolve.export.tokens import TokenCounter
from coevolve.export.writers import write_all
from coevolve.verifiers.base import Verifiers

SAY_SECONDS = 5.0


def export(config: ExportConfig, say: Callable[[str], None]) -> list[str]:
    """Write `config.out`; what is in it, as lines. `say` hears of progress. Raises UserError, ToolError."""
    out = Path(config.out)
    if out.exists() and not config.fresh:
        raise ConfigError(f"out={out} is there already; give another, or fresh=true (the old one is kept beside)")
    overlap = Overlap(config.benchmarks)
    rows, audit = asyncio.run(_audited(config, overlap, Progress(say)))
    chosen = choose(rows, config.mix.weights, config.size, config.tokens)
    apart = {row.family for row in chosen if is_validation(row, config.validation, config.seed)}
    parts: dict[str, Sequence[Row]] = {
        "train": [row for row in chosen if row.family not in apart],
        "validation": [row for row in chosen if row.family in apart],
    }
    splits = {name: part for name, part in parts.items() if part}
    if "train" not in splits:
        raise DataError(f"validation={config.validation}: no family is left for training; give a smaller share")
    writing = out.with_name(f".{out.name}.writing")
    shutil.rmtree(writing, ignore_errors=True)
    writing.mkdir(parents=True)
    write_all(config, splits, writing)
    write_json(writing / "audit.json", audit.record())
    audit.write_drops(writing / "dropped.jsonl")
    (writing / "README.md").write_text(card(config, splits, audit), encoding="utf-8")
    if out.exists():
        out.rename(out.with_name(f"{out.name}.before-{time.strftime('%Y%m%d-%H%M%S')}"))
    writing.rename(out)
    return _told(out, splits, audit)


async def _audited(config: ExportConfig, overlap: Overlap, progress: "Progress") -> tuple[list[Row], Audit]:
    """All candidate rows through the audit; the survivors in the order the seed decides."""
    verifiers = Verifiers(config.verification)
    try:
        rows, drops = await _collected(config, verifiers, progress)
        looked_at = len(rows) + len(drops)
        if looked_at == 0:
            raise DataError("there is no row: no new task in the chosen rounds passes format.pass_rate_*")
        if config.student.tokenizer is not None:
            counter = TokenCounter(config.student.tokenizer)
            rows = [counter.counted(row) for row in rows]
        rows = shuffled(rows, config.seed)
        skills = libraries(run_folders(config.runs)) if config.runs is not None else []
        tainted = overlap.skills(skills)
        checks: Mapping[str, Callable[[], list[Drop]]] = {
            "length": lambda: too_long(rows, config.student),
            "duplicates": lambda: duplicates(rows),
            "benchmark overlap": lambda: overlap.rows(rows, tainted),
            "skill leaks": lambda: leaks(rows, skills),
        }
        for name, check in checks.items():
            progress.say(f"{name}: {len(rows)} rows")
            rows = _without(rows, check(), drops)
        judged = await wrong_gold(rows, verifiers, lambda done: progress.tick(f"gold again: {done}/{len(rows)} rows"))
        rows = _without(rows, judged, drops)
    finally:
        await verifiers.close()
    found = {"looked_at": len(skills), "overlapping": len(tainted)}
    return rows, Audit(looked_at, tuple(drops), found, overlap.named, verifiers.code_hash)


async def _collected(config: ExportConfig, verifiers: Verifiers, progress: "Progress") -> tuple[list[Row], list[Drop]]:
    rows: list[Row] = []
    drops: list[Drop] = []
    if config.runs is None:
        rows = [
            row if config.format.name == "sft" else row._replace(target="")
            for row in comparison_rows(config.comparison)
        ]
        return rows, drops
    kind = config.format.target
    for run in run_folders(config.runs):
        for row, attempts in rows_of(run, config.rounds, kind == "attempt"):
            if not _in_band(row, config):
                continue
            progress.tick(f"reading: {len(rows)} rows")
            if kind == "none":
                rows.append(row)
                continue
            text = await target(kind, row.task, attempts, verifiers)
            if text is None:
                drops.append(Drop(row.key, "no_target", f"no {kind} that is judged right"))
            else:
                rows.append(row._replace(target=text))
    return rows, drops


def _in_band(row: Row, config: ExportConfig) -> bool:
    rate = row.pass_rate
    low, high = config.format.pass_rate_above, config.format.pass_rate_below
    if rate is None:
        return low < 0 and high > 1
    return low < rate < high


def _without(rows: list[Row], found: Sequence[Drop], drops: list[Drop]) -> list[Row]:
    drops.extend(found)
    out = {drop.key for drop in found}
    return [row for row in rows if row.key not in out]


class Progress:
    """At most one line every few seconds."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._last = time.monotonic()

    def tick(self, text: str) -> None:
        """Say `text` if nothing was said for a while."""
        if time.monotonic() - self._last > SAY_SECONDS:
            self.say(text)

    def say(self, text: str) -> None:
        """Say `text` now."""
        self._last = time.monotonic()
        self._say(text)


def _told(out: Path, splits: Mapping[str, Sequence[Row]], audit: Audit) -> list[str]:
    record = audit.record()
    dropped = ", ".join(f"{rule} {count}" for rule, count in record["dropped"].items()) or "nothing"
    return [
        f"written: {out}: " + ", ".join(f"{len(part)} {name} rows" for name, part in splits.items()),
        f"audit: {record['looked_at']} rows looked at, {record['kept']} passed; left out: {dropped}",
        f"open next: {out / 'README.md'} (card), {out / 'audit.json'}, {out / 'dropped.jsonl'}",
    ]

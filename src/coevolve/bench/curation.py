"""How much of a planted overlap is found, and how many other problems are lost, beside two plain n-gram rules."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from coevolve.bench.planted_set import KINDS, LEXICAL, Planted, own_planted, read_planted
from coevolve.errors import EndpointError, MissingExtra
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.embedding import MiniLM
from coevolve.overlap.records import Candidate, Finding, Verdict
from coevolve.overlap.registry import BenchmarkItem, BenchmarkVersion, Registry

Z95 = 1.959964
WIDTH = 118
SHOWN = 12
THREADS = 2


class Share(NamedTuple):
    """`hits` of `n`, with Wilson's 95 % interval."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return round(self.hits / self.n, 4) if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's score interval at 95 %."""
        if not self.n:
            return None
        share, spread = self.hits / self.n, Z95**2 / self.n
        middle = (share + spread / 2) / (1 + spread)
        half = Z95 * ((share * (1 - share) + spread / 4) / self.n) ** 0.5 / (1 + spread)
        return round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)

    def __str__(self) -> str:
        if not self.interval:
            return "-"
        low, high = self.interval
        return f"{100 * self.hits / self.n:.1f} ({100 * low:.1f}-{100 * high:.1f}), n {self.n}"


Judged = Sequence[tuple[Planted, Verdict]]


def bench_curation(planted: Path | None = None) -> dict[str, Any]:
    """Check a planted set, the project's own unless a file is given; print a table and return the figures.

    The half of the own set by which the rules were tuned is left out of the figures. Raises DataError.
    """
    rows = read_planted(planted) if planted else own_planted()
    registry = planted_registry(rows)
    asked = [row for row in rows if row.kind != "benchmark" and row.part == "report"]
    console = Console(width=WIDTH)
    began, cpu = time.perf_counter(), time.process_time()
    embedder = _embedder(console)
    checker = OverlapChecker(registry, embedder)
    findings = list(checker.check(Candidate(row.id, row.question, row.answer) for row in asked))
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    judged = [(row, finding.verdict) for row, finding in zip(asked, findings, strict=True)]
    peers = {f"{n}-gram": _peer(rows, asked, n) for n in (13, 8)}
    _print(console, {"coevolve": judged, **peers}, registry)
    _print_misses(console, asked, findings)
    figures = _figures(judged)
    figures["peers"] = {name: _figures(verdicts) for name, verdicts in peers.items()}
    return {
        **figures,
        "semantic": embedder is not None,
        "planted_sha256": _digest(rows),
        "benchmark_items": len(registry),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
    }


def _embedder(console: Console) -> MiniLM | None:
    """The model of the extra `semantic`, where it can be had; else one line says why not."""
    try:
        return MiniLM(THREADS)
    except (MissingExtra, EndpointError) as error:
        console.print(f"by words alone, so paraphrases are missed: {error}", highlight=False)
        return None


def planted_registry(rows: Sequence[Planted]) -> Registry:
    """The rows of kind `benchmark` as a registry of one benchmark."""
    items = [BenchmarkItem("planted", row.id, row.question, row.answer) for row in rows if row.kind == "benchmark"]
    return Registry("planted", [BenchmarkVersion("planted", len(items), _digest(rows))], items)


def _digest(rows: Sequence[Planted]) -> str:
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()


def _peer(rows: Sequence[Planted], asked: Sequence[Planted], n: int) -> list[tuple[Planted, Verdict]]:
    """Any n-gram of lower-case words in common is an overlap: the rule of many decontamination scripts."""
    known = {gram for row in rows if row.kind == "benchmark" for gram in _grams(row.question, n)}
    return [(row, "keep" if known.isdisjoint(_grams(row.question, n)) else "drop") for row in asked]


def _grams(text: str, n: int) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return (tuple(words[place : place + n]) for place in range(len(words) - n + 1))


def _share(judged: Judged, kinds: Sequence[str], test: Callable[[Verdict], bool]) -> Share:
    verdicts = [verdict for row, verdict in judged if row.kind in kinds]
    return Share(sum(map(test, verdicts)), len(verdicts))


def _figures(judged: Judged) -> dict[str, Any]:
    """Recall counts what is not kept; `dropped` is the part of it that needs no person."""
    shares = {
        "lexical_recall": _share(judged, LEXICAL, _caught),
        "lexical_dropped": _share(judged, LEXICAL, _dropped),
        "paraphrase_recall": _share(judged, ["paraphrase"], _caught),
        "paraphrase_dropped": _share(judged, ["paraphrase"], _dropped),
        "false_drops": _share(judged, ["different"], _dropped),
        "false_reviews": _share(judged, ["different"], lambda verdict: verdict == "review"),
    }
    figures: dict[str, Any] = {name: share.value for name, share in shares.items()}
    figures["intervals"] = {name: share.interval for name, share in shares.items()}
    figures["n"] = {name: shares[f"{name}_recall"].n for name in ("lexical", "paraphrase")}
    figures["n"]["different"] = shares["false_drops"].n
    return figures


def _caught(verdict: Verdict) -> bool:
    return verdict != "keep"


def _dropped(verdict: Verdict) -> bool:
    return verdict == "drop"


def _print(console: Console, systems: dict[str, Judged], registry: Registry) -> None:
    table = Table(title=f"not kept, in % (95 % interval); {len(registry)} benchmark items", title_justify="left")
    table.add_column("kind")
    for name in systems:
        table.add_column(name, no_wrap=True)
    table.add_column("of it dropped", no_wrap=True)
    own = systems["coevolve"]
    for kind in KINDS[1:]:
        shares = [str(_share(judged, [kind], _caught)) for judged in systems.values()]
        table.add_row(kind, *shares, str(_share(own, [kind], _dropped)).split(",")[0])
    console.print(table)


def _print_misses(console: Console, asked: Sequence[Planted], findings: Sequence[Finding]) -> None:
    """What went wrong, by id and rule."""
    pairs = list(zip(asked, findings, strict=True))
    missed = [row.id for row, finding in pairs if row.kind != "different" and finding.verdict == "keep"]
    lost = [
        f"{row.id} ({f.rule}, {f.matched_id})" for row, f in pairs if row.kind == "different" and f.verdict == "drop"
    ]
    for title, names in (("missed", missed), ("dropped though different", lost)):
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        console.print(f"{title}: {', '.join(names[:SHOWN]) or 'none'}{more}", highlight=False)

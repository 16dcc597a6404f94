"""The one question that curation and export ask: which of these texts overlap the benchmarks?"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.embedding import Embedder
from coevolve.overlap.records import Candidate, Finding, Verdict
from coevolve.overlap.registry import Registry


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found; it holds ids and scores, never a benchmark's text, and may be written anywhere."""

    registry_hash: str
    checked: int
    counts: dict[Verdict, int]
    findings: tuple[Finding, ...]
    """Those that are not `keep`, in the order of the items."""

    @property
    def clean(self) -> bool:
        """Whether nothing was dropped and nothing waits for a person."""
        return not self.findings


def audit(items: Iterable[Candidate], registry: Registry, embedder: Embedder | None = None) -> Audit:
    """Check every item against the registry, by meaning too where an embedder is given."""
    checker = OverlapChecker(registry, embedder)
    counts, found = Counter[Verdict](), list[Finding]()
    for finding in checker.check(items):
        counts[finding.verdict] += 1
        if finding.verdict != "keep":
            found.append(finding)
    return Audit(registry.hash, counts.total(), dict(counts), tuple(found))

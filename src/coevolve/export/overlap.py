"""Benchmark overlap of rows and skills, judged by the checker that curation uses; no row held back passes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coevolve.errors import ConfigError
from coevolve.export.audit import Drop
from coevolve.export.rows import Row
from coevolve.export.targets import answer_text
from coevolve.overlap.audit import audit
from coevolve.overlap.records import Candidate
from coevolve.overlap.registry import load_registry
from coevolve.skills import Skill


class Overlap:
    """The frozen benchmarks of one export. Raises ConfigError without any, DataError for a broken file."""

    def __init__(self, benchmarks: str | Sequence[str] | None) -> None:
        if not benchmarks:
            raise ConfigError(
                "benchmarks: give the benchmark files that no row may overlap (JSON lines with a question column); an "
                "export without a passed audit is refused"
            )
        paths = [Path(path) for path in ([benchmarks] if isinstance(benchmarks, str) else benchmarks)]
        self._registry = load_registry(paths, "export")
        names = [entry.name for entry in self._registry.benchmarks]
        self.named: dict[str, Any] = {"names": names, "items": len(self._registry), "hash": self._registry.hash}
        """What may be written: names, a count and a hash."""

    def skills(self, library: Sequence[Skill]) -> set[str]:
        """Names of skills whose text overlaps a benchmark item."""
        texts = [Candidate(skill.name, f"{skill.intent}\n{skill.method}\n{skill.tool_hint}") for skill in library]
        return {finding.id for finding in audit(texts, self._registry).findings}

    def rows(self, rows: Sequence[Row], tainted: set[str]) -> list[Drop]:
        """Rows that overlap a benchmark item, or that were made with a skill that does."""
        texts = [Candidate(row.key, row.task.question, answer_text(row.task.answer)) for row in rows]
        found = [
            Drop(
                item.id, "benchmark_overlap", f"{item.rule} {item.score:.2f} with {item.matched_set}/{item.matched_id}"
            )
            for item in audit(texts, self._registry).findings
        ]
        made_with = ((row.key, sorted(tainted.intersection(row.task.skills))) for row in rows)
        return found + [Drop(key, "tainted_skill", f"made with {', '.join(used)}") for key, used in made_with if used]

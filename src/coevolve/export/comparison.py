"""Released data sets in the same form, for comparisons at equal counts or equal tokens (Section 4.5)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coevolve.errors import DataError, MissingExtra, boundary
from coevolve.export.config import ComparisonConfig
from coevolve.export.rows import Row
from coevolve.tasks import Answer, Certificate, Domain, Task, content_hash
from coevolve.verifiers import extract, kinds

UNVERIFIED = "unverified"
"""Certificate detail of a row whose data set states no answer that a verifier could judge."""


def comparison_rows(config: ComparisonConfig) -> Iterator[Row]:
    """Rows of a released data set, its solution as the target. Raises MissingExtra, DataError."""
    if config.path is None or config.question is None or config.solution is None or config.domain is None:
        raise DataError(f"comparison={config.name}: needs comparison.path, .question, .solution and .domain")
    for number, record in enumerate(_records(config)):
        question, solution = (str(record.get(name) or "").strip() for name in (config.question, config.solution))
        if question and solution:
            task = _task(config, config.domain, number, question, solution, record)
            yield Row(task, config.name, "", task.chain, solution)


def _task(
    config: ComparisonConfig, domain: Domain, number: int, question: str, solution: str, record: Mapping[str, Any]
) -> Task:
    stated = record.get(config.answer) if config.answer else extract.answer(solution)
    value = "" if stated is None else str(stated).strip()
    kind = kinds.infer(value) if value and domain != "coding" else None
    answer = Answer(type="text", value=value or UNVERIFIED) if kind is None else Answer(type=kind, value=value)
    name = f"{config.name}-{number}-{content_hash(question)[:8]}"
    return Task(
        id=name,
        chain=content_hash(question),
        domain=domain,
        round=0,
        question=question,
        answer=answer,
        solution=solution,
        certificate=Certificate(kind="source", detail=UNVERIFIED if kind is None else config.name),
        source=config.path or config.name,
        license=config.license or "unknown",
    )


def _records(config: ComparisonConfig) -> Iterator[Mapping[str, Any]]:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra("comparison= needs the datasets library: pip install 'coevolve[datasets]'") from error
    place, split = str(config.path), config.split or "train"
    with boundary(DataError, f"comparison.path={place} (split {split}) cannot be read"):
        if Path(place).is_file():
            kind = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}[Path(place).suffix]
            data = datasets.load_dataset(kind, data_files=place, split="train", streaming=True)
        else:
            data = datasets.load_dataset(place, name=config.config_name, split=split, streaming=True)
        first = next(iter(data), None)
    missing = {config.question, config.solution, config.answer} - {None, *(first or {})}
    if missing:
        have = ", ".join(first or {})
        raise DataError(f"comparison.path={place}: no column {', '.join(sorted(map(str, missing)))}; it has: {have}")
    with boundary(DataError, f"comparison.path={place}"):
        yield from data

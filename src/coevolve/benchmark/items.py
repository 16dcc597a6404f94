"""Benchmark items as tasks to attempt, from any of the layouts that benchmarks are published in."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from coevolve.benchmark.config import BenchmarkConfig
from coevolve.benchmark.layouts import relaid
from coevolve.config import ScreenConfig, SeedsConfig
from coevolve.curation.forms import Form
from coevolve.curation.readers import file_rows, huggingface_rows
from coevolve.curation.records import Notes, Row, Unusable
from coevolve.errors import ConfigError, DataError
from coevolve.tasks import Task, content_hash

LONGEST_QUESTION = 200_000
JUDGED = {"id", "domain", "question", "answer", "tests"}
"""What makes an item the same, wherever its file lies."""
NO_REFERENCE = "# the benchmark states no reference program"


class Items(NamedTuple):
    """The items of one benchmark, in its order; `hash` covers questions, answers and tests."""

    tasks: tuple[Task, ...]
    unusable: tuple[str, ...]
    """One line on each record that cannot be scored."""
    hash: str


def read_items(config: BenchmarkConfig) -> Items:
    """Every item. Raises ConfigError, DataError, MissingExtra."""
    if config.path is None:
        raise ConfigError(f"benchmark={config.title}: give benchmark.path=<file>")
    form = Form(config.path, config.columns, _defaults(config), LONGEST_QUESTION)
    tasks: list[Task] = []
    unusable: list[str] = []
    for row in _rows(config):
        try:
            if row.fault:
                raise Unusable(*row.fault)
            tasks.append(form.task(_with_answer(row), Notes()))
        except Unusable as error:
            unusable.append(f"{config.path}, line {row.line}: {error.message}")
    if not tasks:
        first = f", the first: {unusable[0]}" if unusable else ""
        raise DataError(f"benchmark.path={config.path}: no item can be scored ({len(unusable)} records{first})")
    if len({task.id for task in tasks}) < len(tasks):
        raise DataError(f"benchmark.path={config.path}: two items have one id; give each its own")
    judged = [task.model_dump(mode="json", include=JUDGED) for task in tasks]
    return Items(tuple(tasks), tuple(unusable), content_hash(judged))


def drawn(tasks: tuple[Task, ...], wanted: int | None, seed: int) -> tuple[Task, ...]:
    """`wanted` of the items, drawn by the seed, in their order; all of them for None."""
    if wanted is None or wanted >= len(tasks):
        return tasks
    places = sorted(random.Random(f"items/{seed}").sample(range(len(tasks)), wanted))
    return tuple(tasks[place] for place in places)


def _defaults(config: BenchmarkConfig) -> dict[str, object]:
    return {**({"domain": config.domain} if config.domain else {}), **config.defaults}


def _rows(config: BenchmarkConfig) -> Iterator[Row]:
    found = _source(config)
    return found if config.form == "plain" else (relaid(config.form, row) for row in found)


def _source(config: BenchmarkConfig) -> Iterator[Row]:
    place = str(config.path)
    if config.source == "file" or Path(place).is_file():
        if not Path(place).is_file():
            raise ConfigError(f"benchmark.path={place}: no such file; give a .jsonl, .csv or .parquet file")
        return file_rows(Path(place), config.columns)
    seeds = SeedsConfig(
        source="huggingface",
        path=place,
        split=config.split,
        config_name=config.config_name,
        columns=config.columns,
        defaults={},
        harness="shipped",
        per_domain=1,
        question_chars=LONGEST_QUESTION,
        screen=ScreenConfig(enabled=False, attempts=1),
    )
    return huggingface_rows(seeds)


def _with_answer(row: Row) -> Row:
    """Programs are judged by tests alone, so an item without a reference program can be scored."""
    if row.data.get("tests") and not str(row.data.get("answer") or "").strip():
        return row._replace(data={**row.data, "answer": NO_REFERENCE, "answer_type": "code_tests"})
    return row

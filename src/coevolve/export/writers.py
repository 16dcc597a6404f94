"""The forms that trainers load, written into one folder."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from coevolve.export.config import ExportConfig
from coevolve.export.reward import reward_file
from coevolve.export.rows import Row
from coevolve.export.schema import arrow_schema, full, ground_truth, messages_schema, verl_rl, verl_rl_schema
from coevolve.export.targets import answer_text, prompt

ROWS_A_GROUP = 10_000
"""Rows held as Arrow memory at once."""

Splits = Mapping[str, Sequence[Row]]
"""`train` and, unless it is empty, `validation`."""


def write_all(config: ExportConfig, splits: Splits, folder: Path) -> list[Path]:
    """Write every form that `config.files` names into `folder`; the files, sorted."""
    for split, rows in splits.items():
        if "hf" in config.files:
            _parquet(folder / "data" / f"{split}.parquet", arrow_schema(), map(full, rows))
        if "jsonl" in config.files:
            _jsonl(folder / "jsonl" / f"{split}.jsonl", map(full, rows))
        if "verl" in config.files:
            _verl(config, split, rows, folder / "verl")
        if "trl" in config.files:
            _trl(config, split, rows, folder / "trl")
    (folder / "reward.py").write_text(reward_file(config.verification), encoding="utf-8")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _verl(config: ExportConfig, split: str, rows: Sequence[Row], folder: Path) -> None:
    if config.format.name == "grpo":
        made = (verl_rl(row, split, index) for index, row in enumerate(rows))
        _parquet(folder / f"rl_{split}.parquet", verl_rl_schema(), made)
    else:
        _parquet(folder / f"sft_{split}.parquet", messages_schema("messages"), map(_messages, rows))


def _trl(config: ExportConfig, split: str, rows: Sequence[Row], folder: Path) -> None:
    if config.format.name == "grpo":
        _jsonl(folder / "grpo" / f"{split}.jsonl", map(_trl_grpo, rows))
    else:
        _jsonl(folder / "messages" / f"{split}.jsonl", map(_messages, rows))
        _jsonl(folder / "prompt_completion" / f"{split}.jsonl", map(_prompt_completion, rows))


def _named(row: Row) -> dict[str, Any]:
    return {"id": row.task.id, "domain": row.task.domain, "run": row.run}


def _messages(row: Row) -> dict[str, Any]:
    return {"messages": [*prompt(row.task), {"role": "assistant", "content": row.target}], **_named(row)}


def _prompt_completion(row: Row) -> dict[str, Any]:
    completion = [{"role": "assistant", "content": row.target}]
    return {"prompt": prompt(row.task), "completion": completion, **_named(row)}


def _trl_grpo(row: Row) -> dict[str, Any]:
    """TRL's own accuracy reward reads `solution`, ours `ground_truth`."""
    solution = f"${answer_text(row.task.answer)}$"
    return {"prompt": prompt(row.task), "solution": solution, "ground_truth": ground_truth(row), **_named(row)}


def _parquet(path: Path, schema: Any, rows: Iterable[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, schema) as writer:
        for group in _groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    source = iter(rows)
    while group := list(islice(source, ROWS_A_GROUP)):
        yield group


def _jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

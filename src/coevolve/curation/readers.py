"""Records of the files and libraries that seeds come from, one at a time."""

import codecs
import csv
import importlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coevolve.config import SeedsConfig
from coevolve.curation.records import Row, Unusable, parse_line
from coevolve.errors import DataError, MissingExtra, boundary

LINES, TABLES, COLUMNS = (".jsonl", ".ndjson"), (".csv", ".tsv"), (".parquet", ".pq")
NESTED = ("tests", "meta", "choices")
BATCH = 1000
UTF16 = ("wrong_encoding_utf16", "the file was read as UTF-16 by its byte order mark; save it as UTF-8")


def file_rows(path: Path, columns: Mapping[str, str]) -> Iterator[Row]:
    """Rows of a JSONL, CSV or Parquet file. Raises DataError for a file that cannot be read at all."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"seeds.path={path} {what}; give a .jsonl, .csv or .parquet file")
    kind = path.suffix.lower()
    if kind in LINES:
        return jsonl_rows(path)
    if kind in TABLES:
        return csv_rows(path, columns, "\t" if kind == ".tsv" else ",")
    if kind in COLUMNS:
        return parquet_rows(path, columns)
    known = ", ".join(LINES + TABLES + COLUMNS)
    raise DataError(f"seeds.path={path}: files named {kind or 'without an ending'} are not read; give one of {known}")


def jsonl_rows(path: Path) -> Iterator[Row]:
    """One JSON object a line; blank lines are skipped, a broken line spoils no other."""
    with path.open("rb") as file:
        wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    for line, text, fault in _wide_lines(path) if wide else _lines(path):
        if fault is not None:
            yield Row(line, {}, fault)
        elif text.strip():
            try:
                yield Row(line, parse_line(text), note=UTF16 if wide and line == 1 else None)
            except Unusable as error:
                yield Row(line, {}, (error.reason, error.message))


def _lines(path: Path) -> Iterator[tuple[int, str, tuple[str, str] | None]]:
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            try:
                yield line, raw.removeprefix(codecs.BOM_UTF8 if line == 1 else b"").decode(), None
            except UnicodeDecodeError as error:
                where = f"byte {raw[error.start]:#04x} at column {error.start + 1}"
                yield line, "", ("not_utf8", f"{where} is not UTF-8; save the file as UTF-8")


def _wide_lines(path: Path) -> Iterator[tuple[int, str, tuple[str, str] | None]]:
    with path.open(encoding="utf-16") as file:
        try:
            for line, text in enumerate(file, 1):
                yield line, text, None
        except UnicodeError as error:
            raise DataError(f"{path}: broken UTF-16 ({error}); save the file as UTF-8") from error


def csv_rows(path: Path, columns: Mapping[str, str], separator: str) -> Iterator[Row]:
    """Rows of a table with a heading; `tests`, `meta` and `choices` may hold JSON."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter=separator, strict=True)
        try:
            require_columns(str(path), reader.fieldnames or (), columns)
            for record in reader:
                line = reader.line_num
                if None in record or None in record.values():
                    message = "it has more or fewer cells than the heading; quote cells with commas"
                    yield Row(line, {}, ("wrong_cell_count", message))
                    continue
                yield _nested(line, {name: text for name, text in record.items() if text.strip() or name == "answer"})
        except (UnicodeDecodeError, csv.Error) as error:
            cure = "save it as UTF-8 with quoted cells"
            raise DataError(f"{path}, near line {reader.line_num + 1}: {error}; {cure}") from error


def _nested(line: int, record: dict[str, Any]) -> Row:
    for name in NESTED:
        if isinstance(record.get(name), str):
            try:
                record[name] = json.loads(record[name])
            except json.JSONDecodeError:
                message = f"its {name} is not JSON; write JSON there or leave it empty"
                return Row(line, {}, ("invalid_json_cell", message))
    return Row(line, record)


def parquet_rows(path: Path, columns: Mapping[str, str]) -> Iterator[Row]:
    """Rows of a Parquet file, a batch at a time; `line` counts rows from 1."""
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            require_columns(str(path), file.schema_arrow.names, columns)
            line = 0
            for batch in file.iter_batches(batch_size=BATCH):
                for record in batch.to_pylist():
                    line += 1
                    yield _nested(line, record)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path} is no Parquet file that can be read ({str(error).splitlines()[0]})") from error


def require_columns(where: str, present: Any, columns: Mapping[str, str]) -> None:
    """Raise DataError unless every mapped column and a question and an answer are there."""
    names = list(present)
    for field in dict.fromkeys(("question", "answer", *columns)):
        column = columns.get(field, field)
        if column not in names:
            cure = f"seeds.columns.{field}=<column>" if field == column else f"correct seeds.columns.{field}"
            raise DataError(f"{where} has no column {column!r} (it has: {', '.join(map(str, names))}); {cure}")


def huggingface_rows(config: SeedsConfig) -> Iterator[Row]:
    """Rows of a dataset, by its local folder or its name. Raises MissingExtra, DataError."""
    if config.path is None:
        raise DataError("seeds.source=huggingface needs seeds.path=<dataset folder or name>")
    datasets = _extra("datasets", "datasets")
    folder, split = Path(config.path), config.split or "train"
    saved = (folder / "dataset_dict.json").exists() or (folder / "state.json").exists()
    with boundary(DataError, f"the dataset {config.path} (split {split}) cannot be read"):
        if saved:
            data = datasets.load_from_disk(config.path)
            data = data[split] if isinstance(data, dict) else data
        else:
            data = datasets.load_dataset(config.path, name=config.config_name, split=split, streaming=True)
        if data.column_names is not None:
            require_columns(f"the dataset {config.path}", data.column_names, config.columns)
    records = iter(data)
    line = 0
    while True:
        with boundary(DataError, f"the dataset {config.path}, row {line + 1}"):
            record = next(records, None)
        if record is None:
            return
        line += 1
        yield _nested(line, dict(record))


def reasoning_gym_rows(config: SeedsConfig, seed: int, size: int) -> Iterator[Row]:
    """Generated questions of the datasets named in seeds.path, by comma. Raises MissingExtra, DataError."""
    gym = _extra("reasoning_gym", "reasoning_gym")
    names = [name.strip() for name in (config.path or "").split(",") if name.strip()]
    if not names:
        raise DataError("seeds.source=reasoning_gym needs seeds.path=<dataset names, e.g. chain_sum,products>")
    line = 0
    for name in names:
        with boundary(DataError, f"reasoning_gym has no usable dataset {name!r}"):
            data = gym.create_dataset(name, seed=seed % 2**31, size=-(-size // len(names)))
        for place, entry in enumerate(data):
            line += 1
            yield Row(
                line,
                {
                    "id": f"{name}-{seed}-{place}",
                    "domain": config.defaults.get("domain", "math"),
                    "question": entry["question"],
                    "answer": entry["answer"],
                    "source": f"reasoning_gym/{name}",
                    "license": "Apache-2.0",
                },
            )


def _extra(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingExtra(f"seeds need the package {module}: pip install 'coevolve[{extra}]'") from error


def text_rows(text: str) -> Iterator[Row]:
    """Rows of JSONL text that ships with the package."""
    for line, content in enumerate(io.StringIO(text), 1):
        if content.strip():
            yield Row(line, parse_line(content))

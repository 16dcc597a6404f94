"""The first step: every input read record by record into the workspace, whatever its kind."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from coevolve.config import ScreenConfig, SeedsConfig
from coevolve.curation import normalise
from coevolve.curation.documents import PDF, PROSE, Passage, document_passages, text_passages
from coevolve.curation.forms import Form
from coevolve.curation.readers import COLUMNS, LINES, TABLES, file_rows, huggingface_rows
from coevolve.curation.records import Notes, Row, Unusable
from coevolve.curation.settings import Paths, SourcesConfig
from coevolve.curation.twins import asked
from coevolve.curation.workspace import Entry, Kind, Remark, Workspace
from coevolve.errors import DataError
from coevolve.tasks import Task, content_hash

HUB = "hf:"
SAVED = ("state.json", "dataset_dict.json")
"""What marks a folder that the datasets library saved."""
EVERY = 1000
"""Records between two commits."""
Advance = Callable[[int], None]


class Source(NamedTuple):
    """One input: a file, or a data set."""

    origin: str
    path: Path | None
    """None for a data set."""


def sources(paths: Paths) -> list[Source]:
    """The inputs that `seeds=` names, folders opened, in the order of their names. Raises DataError."""
    found: dict[str, Source] = {}
    for name in [paths] if isinstance(paths, str) else paths:
        for source in _opened(name):
            found.setdefault(source.origin, source)
    return [found[origin] for origin in sorted(found)]


def _opened(name: str) -> list[Source]:
    path = Path(name)
    if name.startswith(HUB) or any((path / mark).is_file() for mark in SAVED):
        return [Source(name, None)]
    if not path.exists():
        raise DataError(f"seeds={name} does not exist; give a file, a folder, or {HUB}<dataset folder or name>")
    known = LINES + TABLES + COLUMNS + PROSE + PDF
    if path.is_file():
        if path.suffix.lower() not in known:
            ending = path.suffix or "without an ending"
            raise DataError(f"seeds={name}: files named {ending} are not read; give one of {', '.join(known)}")
        return [Source(name, path)]
    inside = [item for item in sorted(path.rglob("*")) if item.is_file() and item.suffix.lower() in known]
    if not inside:
        raise DataError(f"seeds={name}: the folder holds no file named {', '.join(known)}")
    return [Source(str(item), item) for item in inside]


def intake(workspace: Workspace, config: SourcesConfig, inputs: list[Source], advance: Advance) -> None:
    """Read what is not read yet; `advance` hears of each record. Raises DataError, MissingExtra."""
    for source in inputs:
        Intake(workspace, config, source, advance).read()


class Intake:
    """One input on its way into the workspace."""

    def __init__(self, workspace: Workspace, config: SourcesConfig, source: Source, advance: Advance) -> None:
        self._workspace, self._config, self._source, self._advance = workspace, config, source, advance
        self._form = Form(source.origin, config.columns, config.defaults, config.question_chars)

    def read(self) -> None:
        """Take up the input where the last commit left it."""
        mark = f"read {self._source.origin}"
        before = self._workspace.mark(mark) or "0"
        if before == "all":
            return
        count = 0
        try:
            for count, item in enumerate(self._items(), 1):
                self._advance(1)
                if count > int(before):
                    self._take(item)
                    if count % EVERY == 0:
                        self._workspace.set_mark(mark, str(count))
                        self._workspace.commit()
        except Unusable as error:
            self._remark(0, "", "", error.outcome, error.reason, error.message)
        self._workspace.set_mark(mark, "all")
        self._workspace.set_mark(f"count {self._source.origin}", str(count))
        self._workspace.commit()

    def _items(self) -> Iterator[Row | Passage]:
        path = self._source.path
        if path is None:
            return huggingface_rows(self._dataset())
        if path.suffix.lower() in PROSE + PDF:
            return document_passages(path, self._config.passage_chars)
        return file_rows(path, self._config.columns)

    def _dataset(self) -> SeedsConfig:
        return SeedsConfig(
            source="huggingface",
            path=self._source.origin.removeprefix(HUB),
            harness="shipped",
            split=self._config.split,
            config_name=self._config.config_name,
            columns=self._config.columns,
            defaults=self._config.defaults,
            per_domain=1,
            question_chars=self._config.question_chars,
            screen=ScreenConfig(enabled=False, attempts=1),
        )

    def _take(self, item: Row | Passage) -> None:
        if isinstance(item, Passage):
            self._passage(item)
            return
        text = item.data.get("text")
        column = self._config.columns.get("question", "question")
        if isinstance(text, str) and text.strip() and item.data.get(column) is None:
            for passage in text_passages(item.line, text, self._config.passage_chars):
                self._passage(passage)
        else:
            self._seed(item)

    def _passage(self, passage: Passage) -> None:
        key = content_hash(["passage", passage.text])
        name = f"{Path(self._source.origin).name}#{key[:8]}"
        entry = Entry(key, "passage", name, self._source.origin, passage.line, passage.text)
        if normalise.INSTRUCTION.search(passage.text):
            message = "it holds instructions to a model; reword it to use it"
            self._remark(passage.line, "", name, "flag", "instruction_like_text", message, "passage")
        elif not self._workspace.add(entry):
            self._remark(passage.line, "", name, "drop_duplicate", "duplicate_passage", "the same text", "passage")

    def _seed(self, row: Row) -> None:
        notes, name = Notes(), str(row.data.get("id") or "")
        try:
            if row.fault:
                raise Unusable(*row.fault)
            if row.note:
                notes.repair(*row.note)
            task = self._form.task(row, notes)
        except Unusable as error:
            self._remark(row.line, "", name, error.outcome, error.reason, error.message)
            return
        key = seed_key(task)
        entry = Entry(key, "seed", task.id, self._source.origin, row.line, _body(task))
        if not self._workspace.add(entry, task.domain, asked(task)):
            message = "the same record stands elsewhere, too"
            self._remark(row.line, "", task.id, "drop_duplicate", "duplicate_record", message)
        for outcome, reason, message in notes.found:
            self._remark(row.line, key, task.id, outcome, reason, message)

    def _remark(
        self, line: int, key: str, name: str, outcome: str, rule: str, message: str, kind: Kind = "seed"
    ) -> None:
        found = Remark("read", kind, key, name, self._source.origin, line, outcome, rule, message)
        self._workspace.remark(found, leaves=False)


def seed_key(task: Task) -> str:
    """Hash of what makes a seed what it is: its name, question, answer, tests and solution, not where it stood."""
    tests = task.tests.model_dump(mode="json") if task.tests else None
    answer = task.answer.model_dump(mode="json")
    return content_hash([task.id, task.domain, task.question, answer, tests, task.solution])


def _body(task: Task) -> str:
    return json.dumps(task.model_dump(mode="json", exclude_none=True), ensure_ascii=False, sort_keys=True)

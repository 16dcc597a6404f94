"""The work at hand, in one SQLite file: what was read, what was remarked, and how far each step is.

Every commit leaves a state from which the same command goes on, so that kill -9 costs at most one batch.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from coevolve.curation.twins import Asked
from coevolve.tasks import Task

Kind = Literal["seed", "passage", "skill"]
Step = Literal["read", "duplicate", "person", "family", "overlap", "verify", "acquire"]
STEPS: tuple[Step, ...] = get_args(Step)
"""In the order in which a seed passes them."""
SCHEMA = """
create table if not exists marks (name text primary key, value text);
create table if not exists entries (
    key text primary key, kind text, id text, origin text, line integer, domain text,
    folded blob, exact blob, answer text, body text, left_at text, family text, held_out integer default 0
) without rowid;
create index if not exists by_question on entries (folded);
create index if not exists by_id on entries (id);
create table if not exists remarks (
    step integer, kind text, key text, id text, origin text, line integer, outcome text, rule text, message text,
    evidence text, primary key (step, kind, key, origin, line, rule, outcome)
) without rowid;
"""


class Entry(NamedTuple):
    """One distinct seed or passage."""

    key: str
    kind: Kind
    id: str
    origin: str
    line: int
    body: str
    """A seed's task as JSON, or a passage's text."""

    def task(self) -> Task:
        """A seed as a task."""
        return Task.model_validate_json(self.body)


class Remark(NamedTuple):
    """One line of audit.jsonl: what happened to an entry at a step, and the evidence."""

    step: Step
    kind: Kind
    key: str
    """Hash of the content; "" for a record that could not be read."""
    id: str
    origin: str
    line: int
    outcome: str
    rule: str
    message: str
    evidence: Mapping[str, Any] = {}


class Workspace:
    """Reads and writes the work file; `commit` after each batch."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def commit(self) -> None:
        """Make everything since the last commit last."""
        self._db.commit()

    def mark(self, name: str) -> str | None:
        """What was noted under `name`."""
        found = self._db.execute("select value from marks where name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def set_mark(self, name: str, value: str) -> None:
        """Note how far a step is."""
        self._db.execute("insert or replace into marks values (?, ?)", (name, value))

    def add(self, entry: Entry, domain: str = "", asked: Asked | None = None) -> bool:
        """Take an entry in; of records with one key, the one of the least text stays. False where the key was known."""
        known = self._db.execute("select body from entries where key = ?", (entry.key,)).fetchone()
        if known is not None and known[0] <= entry.body:
            return False
        now = asked or Asked(b"", b"", "")
        self._db.execute(
            "insert or replace into entries (key, kind, id, origin, line, domain, folded, exact, answer, body) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*entry[:5], domain, *now, entry.body),
        )
        return known is None

    def remark(self, remark: Remark, leaves: bool) -> None:
        """Record a remark; `leaves` takes the entry out from here on."""
        values = (STEPS.index(remark.step), *remark[1:9], json.dumps(remark.evidence, ensure_ascii=False))
        self._db.execute(f"insert or replace into remarks values ({', '.join('?' * 10)})", values)
        if leaves and remark.key:
            change = "update entries set left_at = ? where key = ? and left_at is null"
            self._db.execute(change, (remark.step, remark.key))

    def forget(self, step: Step) -> None:
        """Drop the remarks of a step that is done anew."""
        self._db.execute("delete from remarks where step = ?", (STEPS.index(step),))

    def standing(self, kind: Kind, after: str = "", held_out: bool | None = None) -> Iterator[Entry]:
        """Entries still in, in the order of their keys, from the one after the key `after`."""
        query = "select key, kind, id, origin, line, body from entries where left_at is null and kind = ? and key > ?"
        values: list[Any] = [kind, after]
        if held_out is not None:
            query, values = f"{query} and held_out = ?", [*values, int(held_out)]
        return self._pages(query, values)

    def read(self, kind: Kind) -> Iterator[Entry]:
        """All entries of a kind that could be read, duplicates included."""
        query = "select key, kind, id, origin, line, body from entries where kind = ? and key > ?"
        return self._pages(query, [kind, ""])

    def _pages(self, query: str, values: list[Any], size: int = 500) -> Iterator[Entry]:
        """Rows by the key, a page at a time: the caller may write between them."""
        while True:
            page = self._db.execute(f"{query} order by key limit {size}", values).fetchall()
            yield from (Entry(*row) for row in page)
            if len(page) < size:
                return
            values = [values[0], page[-1][0], *values[2:]]

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._db.execute(sql, values).fetchall()

    def update(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one change over many rows."""
        self._db.executemany(sql, rows)

    def remarks(self) -> Iterator[Remark]:
        """Everything remarked, by step, place and key."""
        found = self._db.execute("select * from remarks order by step, kind, origin, line, key, rule, outcome")
        for step, *rest, evidence in found:
            yield Remark._make((STEPS[step], *rest, json.loads(evidence)))

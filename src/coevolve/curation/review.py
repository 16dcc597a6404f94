"""What a person decides: review.jsonl goes out with open questions and comes back with `keep` or `drop`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from coevolve.curation.workspace import Entry, Kind, Remark, Step, Workspace
from coevolve.errors import DataError
from coevolve.tasks import Frozen, content_hash

Decision = Literal["keep", "drop"]


class ReviewRow(Frozen):
    """One line of review.jsonl; a person fills in `decision` and may add lines for any other id."""

    id: str
    kind: Kind = "seed"
    key: str = ""
    """Hash of the content; "" = whatever content has this id."""
    decision: Decision | None = None
    rule: str = ""
    score: float | None = None
    matched: str = ""
    """The benchmark item that came near, as `<benchmark>/<id>`; its text stays in the benchmark's own file."""
    text: str = ""
    """What is in question: the candidate's own text."""
    note: str = ""
    """The person's reason; it goes into the audit."""


class Decisions(NamedTuple):
    """The decisions of one review file, by what they are about."""

    by_key: Mapping[tuple[Kind, str], ReviewRow]
    by_id: Mapping[tuple[Kind, str], ReviewRow]

    @property
    def rows(self) -> list[ReviewRow]:
        """All decisions, in an order of their own."""
        found = [*self.by_key.values(), *self.by_id.values()]
        return sorted(found, key=lambda row: (row.kind, row.key, row.id))

    @property
    def identity(self) -> str | None:
        """Hash of what was decided, however the file says it; None where nothing was."""
        return content_hash([[row.kind, row.key, row.id, row.decision] for row in self.rows]) if self.rows else None

    def of(self, kind: Kind, key: str, name: str) -> ReviewRow | None:
        """The decision on an entry: one that names its content goes before one that names its id."""
        return self.by_key.get((kind, key)) or self.by_id.get((kind, name))

    def kept(self, workspace: Workspace, step: Step, entry: Entry) -> bool:
        """Whether a person keeps an entry that `step` would take out; it is remarked."""
        row = self.of(entry.kind, entry.key, entry.id)
        if row is None or row.decision != "keep":
            return False
        place = (entry.kind, entry.key, entry.id, entry.origin, entry.line)
        workspace.remark(Remark(step, *place, "keep", "person", row.note or "kept by a person"), leaves=False)
        return True


NO_DECISIONS = Decisions({}, {})


def read_decisions(path: Path | None) -> Decisions:
    """The decisions of a review file; lines without one are open. Raises DataError naming file and line."""
    if path is None:
        return NO_DECISIONS
    by_key: dict[tuple[Kind, str], ReviewRow] = {}
    by_id: dict[tuple[Kind, str], ReviewRow] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = ReviewRow.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(f"{path}:{number}: no JSON object ({error.msg}); keep one object a line") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "line"
            raise DataError(f'{path}:{number}: {where}: {first["msg"]}; decision is "keep", "drop" or null') from error
        if row.decision is None:
            continue
        place: dict[tuple[Kind, str], ReviewRow] = by_key if row.key else by_id
        name = (row.kind, row.key or row.id)
        if name in place and place[name].decision != row.decision:
            raise DataError(f"{path}:{number}: {row.id} is decided twice, and differently; leave one line")
        place[name] = row
    return Decisions(by_key, by_id)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"review={path}: cannot be read ({error}); give a review.jsonl that was edited") from error


def drop_by_person(workspace: Workspace, decisions: Decisions) -> None:
    """Take out what a person wants out."""
    for kind in ("seed", "passage"):
        for entry in workspace.standing(kind):
            row = decisions.of(entry.kind, entry.key, entry.id)
            if row is not None and row.decision == "drop":
                place = (entry.kind, entry.key, entry.id, entry.origin, entry.line)
                workspace.remark(Remark("person", *place, "drop", "person", row.note or "dropped by a person"), True)
    workspace.commit()

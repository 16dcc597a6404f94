"""Equal ids, equal questions, questions with two answers: decided by content, so that no order of input matters."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from coevolve.curation.review import Decisions
from coevolve.curation.workspace import Entry, Remark, Workspace

COLUMNS = "key, kind, id, origin, line, body"
MARK = "duplicates"


class _Asker(NamedTuple):
    """A seed among those that ask the same question."""

    entry: Entry
    exact: bytes
    answer: str


def drop_duplicates(workspace: Workspace, decisions: Decisions) -> None:
    """Of equal seeds the one with the least key stays; a person's `keep` lets another one stay, too."""
    if workspace.mark(MARK):
        return
    _ids(workspace)
    groups = "select folded from entries where kind = 'seed' and left_at is null group by folded having count(*) > 1"
    for (folded,) in workspace.query(groups):
        rows = workspace.query(
            f"select {COLUMNS}, exact, answer from entries where folded = ? and kind = 'seed' and left_at is null "
            "order by key",
            (folded,),
        )
        _questions(workspace, decisions, [_Asker(Entry(*row[:6]), row[6], row[7]) for row in rows])
    workspace.set_mark(MARK, "done")
    workspace.commit()


def _ids(workspace: Workspace) -> None:
    """An id stands once: a second one in the same input is refused, in another input it is extended."""
    twice = "select id from entries where kind = 'seed' group by id having count(*) > 1"
    for (name,) in workspace.query(twice):
        rows = workspace.query(f"select {COLUMNS} from entries where id = ? and kind = 'seed' order by key", (name,))
        places = set[str]()
        for first, entry in zip([True, *[False] * len(rows)], map(Entry._make, rows), strict=False):
            if entry.origin in places:
                message = "another record of this input has this id; give each its own"
                _leave(workspace, entry, "reject", "duplicate_id", message, {})
            elif not first:
                _rename(workspace, entry)
            places.add(entry.origin)


def _rename(workspace: Workspace, entry: Entry) -> None:
    name = f"{entry.id}~{entry.key[:6]}"
    body = json.dumps({**json.loads(entry.body), "id": name, "chain": name}, ensure_ascii=False, sort_keys=True)
    workspace.update("update entries set id = ?, body = ? where key = ?", [(name, body, entry.key)])
    message = f"another input has the id {entry.id}; here it is {name}"
    remark = Remark("duplicate", "seed", entry.key, name, entry.origin, entry.line, "repair", "id_extended", message)
    workspace.remark(remark, leaves=False)


def _questions(workspace: Workspace, decisions: Decisions, askers: Iterable[_Asker]) -> None:
    answers = defaultdict[str, list[_Asker]](list)
    for asker in askers:
        answers[asker.answer].append(asker)
    for same in answers.values():
        for asker in same[1:]:
            first, evidence = same[0].entry, {"pair": same[0].entry.id}
            message = f"the same question as {first.id}"
            if not decisions.kept(workspace, "duplicate", asker.entry):
                _leave(workspace, asker.entry, "drop_duplicate", "duplicate_question", message, evidence)
    exact = defaultdict[bytes, list[_Asker]](list)
    for same in answers.values():
        exact[same[0].exact].append(same[0])
    for rivals in exact.values():
        names = [asker.entry.id for asker in rivals]
        for asker in rivals if len(rivals) > 1 else []:
            others = [name for name in names if name != asker.entry.id]
            message = f"the same question as {', '.join(others)}, another answer; none is used until one is corrected"
            if not decisions.kept(workspace, "duplicate", asker.entry):
                _leave(workspace, asker.entry, "quarantine", "conflicting_answers", message, {"pair": others[0]})


def _leave(workspace: Workspace, entry: Entry, outcome: str, rule: str, message: str, evidence: dict[str, str]) -> None:
    place = (entry.key, entry.id, entry.origin, entry.line)
    workspace.remark(Remark("duplicate", "seed", *place, outcome, rule, message, evidence), leaves=True)

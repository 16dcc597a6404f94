"""What stands between a record and a seed: benchmark overlap, families and splits, and its own verifier."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import tee

from coevolve.curation.review import Decisions
from coevolve.curation.sources import verified_seeds
from coevolve.curation.workspace import Entry, Kind, Remark, Workspace
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.families import within_cap
from coevolve.overlap.records import Candidate, Finding
from coevolve.tasks import Task
from coevolve.verifiers.base import Verifiers

EVERY = 500
"""Entries between two commits of the overlap step."""
TOGETHER = 128
"""Seeds between two commits of the verification step."""
Advance = Callable[[int], None]


def candidate(entry: Entry) -> Candidate:
    """An entry as the overlap checker takes it: a question with its choices and its reference, or a passage."""
    if entry.kind != "seed":
        return Candidate(entry.key, entry.body)
    task = entry.task()
    return Candidate(entry.key, whole_question(task), None if task.answer.type == "code_tests" else task.answer.value)


def whole_question(task: Task) -> str:
    """The question, with its choices where they stand apart from it."""
    apart = {name: text for name, text in (task.answer.choices or {}).items() if text not in task.question}
    return "\n".join([task.question, *(f"{name}) {text}" for name, text in apart.items())])


def screen_overlap(workspace: Workspace, decisions: Decisions, checker: OverlapChecker, advance: Advance) -> None:
    """Take out what overlaps a benchmark, and set aside what a person is to decide."""
    for kind in ("seed", "passage"):
        mark = f"overlap {kind}"
        after = workspace.mark(mark) or ""
        entries, asked = tee(workspace.standing(kind, after))
        found = checker.check(candidate(entry) for entry in asked)
        for count, (entry, finding) in enumerate(zip(entries, found, strict=True), 1):
            _judge(workspace, decisions, entry, finding)
            after = entry.key
            advance(1)
            if count % EVERY == 0:
                workspace.set_mark(mark, after)
                workspace.commit()
        workspace.set_mark(mark, after)
        workspace.commit()


def _judge(workspace: Workspace, decisions: Decisions, entry: Entry, finding: Finding) -> None:
    if finding.verdict == "keep":
        return
    overlaps = Remark(
        "overlap",
        *(entry.kind, entry.key, entry.id, entry.origin, entry.line),
        outcome=finding.verdict,
        rule=finding.rule,
        message=f"{'overlaps' if finding.verdict == 'drop' else 'comes near'} {matched(finding)}",
        evidence={"matched": matched(finding), "score": finding.score},
    )
    kept = decisions.kept(workspace, "overlap", entry)
    workspace.remark(overlaps, leaves=not kept)


def matched(finding: Finding) -> str:
    """The benchmark item that came near, by name alone."""
    return f"{finding.matched_set}/{finding.matched_id}"


async def screen_references(workspace: Workspace, verifiers: Verifiers, advance: Advance) -> None:
    """Take out seeds whose reference does not pass their own verifier; the others get their certificate."""
    mark = "verify seed"
    for batch in _batches(workspace.standing("seed", workspace.mark(mark) or ""), TOGETHER):
        entries = {entry.id: entry for entry in batch}
        kept, issues = await verified_seeds([entry.task() for entry in batch], verifiers)
        certificates = [(task.model_dump_json(exclude_none=True), entries[task.id].key) for task in kept]
        workspace.update("update entries set body = ? where key = ?", certificates)
        for issue in issues:
            entry = entries[issue.id]
            place = (entry.key, entry.id, entry.origin, entry.line)
            workspace.remark(Remark("verify", "seed", *place, issue.outcome, issue.reason, issue.message), leaves=True)
        workspace.set_mark(mark, batch[-1].key)
        workspace.commit()
        advance(len(batch))


def _batches(entries: Iterable[Entry], size: int) -> Iterator[list[Entry]]:
    batch = list[Entry]()
    for entry in entries:
        batch.append(entry)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def split(workspace: Workspace, families: dict[str, str], share: float, seed: int) -> None:
    """Put whole families on the held-out side until `share` of the seeds read in each domain is there.

    The draw is over all distinct seeds that could be read, whatever becomes of them later: a review that lets one more
    seed in moves no other seed to another side.
    """
    domains = dict(workspace.query("select key, domain from entries where kind = 'seed'"))
    members = defaultdict[str, list[str]](list)
    for key in sorted(domains):
        members[families.get(key, key)].append(key)
    room = Counter({name: round(count * share) for name, count in Counter(domains.values()).items()})
    order = sorted(members)
    random.Random(f"split/{seed}").shuffle(order)
    rows = []
    for family in order:
        wanted = Counter(domains[key] for key in members[family])
        held = all(room[name] >= count for name, count in wanted.items())
        room -= wanted if held else Counter()
        rows += [(family, int(held), key) for key in members[family]]
    workspace.update("update entries set family = ?, held_out = ? where key = ?", rows)
    workspace.set_mark("split", "done")
    workspace.commit()


def drop_surplus(workspace: Workspace, decisions: Decisions, cap: int | None) -> None:
    """Take out all but `cap` seeds of a family, those of the least keys staying; None lets every one stay."""
    if cap is None or workspace.mark("surplus"):
        return
    family_of = dict(workspace.query("select key, family from entries where kind = 'seed' and left_at is null"))
    stay = set(within_cap(family_of, cap))
    for entry in workspace.standing("seed"):
        if entry.key not in stay and not decisions.kept(workspace, "family", entry):
            place = (entry.key, entry.id, entry.origin, entry.line)
            message = f"more than {cap} of its family are there"
            remark = Remark("family", "seed", *place, "drop", "family_cap", message, {"family": family_of[entry.key]})
            workspace.remark(remark, leaves=True)
    workspace.set_mark("surplus", "done")
    workspace.commit()


def entries(workspace: Workspace, kind: Kind) -> int:
    """How many distinct entries of a kind were read."""
    return int(workspace.query("select count(*) from entries where kind = ?", (kind,))[0][0])


def counted(workspace: Workspace, kind: Kind) -> int:
    """How many entries of a kind still stand."""
    return int(workspace.query("select count(*) from entries where kind = ? and left_at is null", (kind,))[0][0])

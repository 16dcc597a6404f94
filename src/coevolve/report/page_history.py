"""The history of a harness: what each version changed, which candidates were tried, and what the gate said of them."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from coevolve.errors import DataError, boundary
from coevolve.report.runs import TrackedRound, TrackedRun

FIELDS = ("intent", "method", "difficulty_effect", "tool_hint")
ORIGINS: Mapping[str, str] = {
    "initial": "part of H0",
    "online": "learnt while a batch ran",
    "post_task": "learnt from the in-loop test",
    "harness": "added by a harness edit",
}
SHOWN_TRACES = 4


class Line(NamedTuple):
    """One line of a diff: `mark` is + (new), - (gone), @ (a place) or a blank (unchanged)."""

    mark: str
    text: str


class Change(NamedTuple):
    """One component that was added, removed or revised."""

    kind: str
    op: str
    name: str
    note: str
    lines: tuple[Line, ...]


class Tried(NamedTuple):
    """One probe at the gate: the baseline, a candidate, or the baseline again."""

    name: str
    figures: Mapping[str, Any]
    """The probe's record: validity, valid, cohort, c_gen_usd, tokens, scores, violation."""
    accepted: bool | None
    """None for what was not judged."""
    reasons: tuple[str, ...]
    paired: Mapping[str, Any] | None
    """n_chains, gain, se, z of the gain in difficulty over the baseline."""
    proposal: Mapping[str, Any]
    """evidence, expected, risks."""
    changes: tuple[Change, ...]


class Chapter(NamedTuple):
    """One version of the harness."""

    round: int
    status: str
    harness_id: str
    n_skills: int
    changes: tuple[Change, ...]
    tried: tuple[Tried, ...]

    def counts(self) -> str:
        """`4 skills added, 1 prompt revised` in words; `no change` without any."""
        seen: dict[tuple[str, str], int] = {}
        for change in self.changes:
            seen[change.kind, change.op] = seen.get((change.kind, change.op), 0) + 1
        parts = [f"{n} {kind}{'s' if n > 1 else ''} {op}" for (kind, op), n in seen.items()]
        return ", ".join(parts) or "no change"


class Snapshot(NamedTuple):
    """An archived harness as its folder holds it; skills stay text until somebody asks what is in one."""

    skills: Mapping[str, str]
    prompts: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]]
    """Of `workflow` and `placement`."""


NOTHING = Snapshot({}, {}, {"workflow": {}, "placement": {}})


def history(run: TrackedRun) -> list[Chapter]:
    """One chapter a version, oldest first. Raises DataError naming a broken file."""
    chapters = []
    before: Snapshot | None = None
    for found in run.rounds:
        with boundary(DataError, f"{found.folder}: what it holds of the harness"):
            after = snapshot(found.folder / "harness")
            chapter = Chapter(
                round=found.round,
                status=str(found.record["status"]),
                harness_id=str(found.record["harness_id"]),
                n_skills=len(after.skills),
                changes=changes(before or NOTHING, after),
                tried=tuple(_tried(found, before or after, after)),
            )
        chapters.append(chapter)
        before = after
    return chapters


def snapshot(folder: Path) -> Snapshot:
    """Read a harness folder."""
    skills = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("skills/*.md"))}
    prompts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("prompts/*.md"))}
    workflow = yaml.safe_load((folder / "workflow.yaml").read_text(encoding="utf-8"))
    placements = workflow.pop("placements", {})
    return Snapshot(skills, prompts, {"workflow": workflow, "placement": placements})


def changes(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """What `after` changed, component by component."""
    return (
        *_skills(before.skills, after.skills),
        *_prompts(before.prompts, after.prompts),
        *(change for kind in after.settings for change in _settings(kind, before.settings[kind], after.settings[kind])),
    )


def _skills(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    added = [(name, skill_fields(text)) for name, text in after.items() if name not in before]
    for name, fields in sorted(added, key=lambda skill: skill[1].get("order", 0)):
        yield Change("skill", "added", name, _origin(fields), field_lines({}, fields))
    for name, text in after.items():
        if name in before and before[name] != text:
            lines = field_lines(skill_fields(before[name]), skill_fields(text))
            if any(line.mark != " " for line in lines):
                yield Change("skill", "revised", name, _origin(skill_fields(text)), lines)
    for name, text in before.items():
        if name not in after:
            yield Change("skill", "removed", name, _origin(skill_fields(text)), field_lines(skill_fields(text), {}))


@lru_cache(maxsize=1024)
def skill_fields(text: str) -> Mapping[str, Any]:
    """The front matter of a skill file."""
    return dict(yaml.safe_load(text.removeprefix("---\n").partition("\n---\n")[0]))


def _origin(fields: Mapping[str, Any]) -> str:
    traces = list(fields.get("provenance") or ())
    shown, more = ", ".join(map(str, traces[:SHOWN_TRACES])), len(traces) - SHOWN_TRACES
    where = ORIGINS.get(str(fields.get("status")), "")
    return where + (f", from {shown}" if shown else "") + (f" and {more} more" if more > 0 else "")


def _prompts(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for role in after:
        if before.get(role) != after[role]:
            op = "revised" if role in before else "added"
            yield Change("prompt", op, role, "", text_lines(before.get(role, ""), after[role]))


def _settings(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name, value in after.items():
        if name not in before:
            yield Change(kind, "set", name, "", (Line("+", plain(value)),))
        elif before[name] != value:
            lines = (Line("-", plain(before[name])), Line("+", plain(value)))
            yield Change(kind, "moved" if kind == "placement" else "revised", name, "", lines)


def field_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Line, ...]:
    """A skill's four fields as a diff; equal fields are left as context."""
    lines: list[Line] = []
    for name in FIELDS:
        old, new = before.get(name), after.get(name)
        if old == new:
            lines += [Line(" ", f"{name}: {old}")] if old else []
            continue
        lines += [Line("-", f"{name}: {old}")] if old else []
        lines += [Line("+", f"{name}: {new}")] if new else []
    return tuple(lines)


def text_lines(before: str, after: str) -> tuple[Line, ...]:
    """A unified diff of two texts, without its file names."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    found = list(unified_diff(old, new, lineterm="", n=2))[2:]
    return tuple(Line("@", line) if line.startswith("@@") else Line(line[0], line[1:]) for line in found)


def plain(value: Any) -> str:
    """A setting's value as a person writes it."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _tried(found: TrackedRound, before: Snapshot, after: Snapshot) -> Iterator[Tried]:
    """Baseline, candidates and repeated baseline of one round, in the order they were probed."""
    evaluations = found.record["evaluations"]
    if baseline := evaluations.get("baseline"):
        yield Tried("baseline", baseline, None, (), None, {}, ())
    rejections: Iterator[Mapping[str, Any]] = iter(found.record["rejections"])
    candidates = evaluations.get("candidates", [])
    for number, candidate in enumerate(candidates, 1):
        accepted = found.record["status"] == "accepted" and number == len(candidates)
        report: Mapping[str, Any] = {} if accepted else next(rejections, {})
        verdict = candidate.get("verdict") or report
        proposal = candidate.get("proposal") or {}
        edits = tuple(_edit(edit, before, after) for edit in proposal.get("edits", ()))
        reasons = tuple(verdict.get("reasons", ()))
        yield Tried(candidate["probe"], candidate, accepted, reasons, verdict.get("paired"), proposal, edits)
    if repeat := evaluations.get("baseline_repeat"):
        yield Tried("baseline again (A/A)", repeat, None, (), (repeat.get("verdict") or {}).get("paired"), {}, ())


def _edit(edit: Mapping[str, Any], before: Snapshot, after: Snapshot) -> Change:
    """A proposed edit as a diff against the version before it (or, for what was learnt since, the one after)."""
    kind, name, content = edit["kind"], edit["name"], edit.get("content")
    op = {"add": "added", "revise": "revised", "remove": "removed", "move": "moved"}[edit["op"]]
    if kind == "skill":
        known = before.skills.get(name) or after.skills.get(name)
        old = skill_fields(known) if known and op != "added" else {}
        return Change(kind, op, name, "", field_lines(old, content if isinstance(content, Mapping) else {}))
    if kind == "prompt":
        return Change(kind, op, name, "", text_lines(before.prompts.get(name, ""), str(content)))
    settings = before.settings.get(kind, {})
    lines = (Line("-", plain(settings[name])),) if name in settings else ()
    return Change(kind, op, name, "", (*lines, Line("+", plain(content))))

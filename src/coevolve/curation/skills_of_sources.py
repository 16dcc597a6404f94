"""Skill acquisition: screened sources become skills of H_0, each checked again before it is let in (Section 3.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from coevolve.agents.acquisition import acquire
from coevolve.agents.base import Desk
from coevolve.agents.replies import AcquiredSkill, AcquisitionReply
from coevolve.concurrency import finish_all
from coevolve.curation.review import Decisions
from coevolve.curation.screening import matched, whole_question
from coevolve.curation.settings import AcquisitionConfig
from coevolve.curation.twins import digest
from coevolve.curation.workspace import Entry, Remark, Workspace
from coevolve.errors import ModelError
from coevolve.events import Scope
from coevolve.ledger import CallKey
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.records import Candidate
from coevolve.skills import Skill, SkillProposal, refusal
from coevolve.tasks import content_hash

AT_ONCE = 8
"""Calls made side by side; the calls after them see what these let in."""
SCOPE = Scope(round=0, phase="initialisation")


@dataclass(slots=True)
class Acquisition:
    """The library as it grows, and where each of its skills came from."""

    desk: Desk
    checker: OverlapChecker
    workspace: Workspace
    decisions: Decisions
    skills: tuple[Skill, ...] = ()
    provenance: list[dict[str, Any]] = field(default_factory=list)
    review: list[tuple[Remark, str]] = field(default_factory=list)
    """Skills that a person is to decide on, with their text."""

    def start(self, shipped: Sequence[Skill]) -> None:
        """Take in the skills H_0 starts with, screened like every other one."""
        for skill in shipped:
            self._offer(skill, (), {"origin": "shipped"})

    async def read(self, config: AcquisitionConfig, seed: int, advance: Callable[[int], None]) -> None:
        """Ask the acquisition model about the screened sources, a few at a time."""
        sources = chosen(self.workspace, config.sources, seed)
        groups = [sources[place : place + config.together] for place in range(0, len(sources), config.together)]
        for place in range(0, len(groups), AT_ONCE):
            wave = groups[place : place + AT_ONCE]
            for group, reply in zip(wave, await finish_all(self._ask(group) for group in wave), strict=True):
                for found in reply.skills if reply else ():
                    self._read(group, found)
                advance(len(group))

    async def _ask(self, group: Sequence[Entry]) -> AcquisitionReply | None:
        key = CallKey(SCOPE, content_hash([entry.key for entry in group]), 0, "acquisition", 0)
        try:
            return await acquire(self.desk, key, self.skills, [described(entry) for entry in group])
        except ModelError as error:
            for entry in group:
                place = (entry.kind, entry.key, entry.id, entry.origin, entry.line)
                message = f"nothing was learnt from it: {error}"
                self.workspace.remark(Remark("acquire", *place, "unread", "no_usable_reply", message), leaves=False)
            return None

    def _read(self, group: Sequence[Entry], found: AcquiredSkill) -> None:
        known = {entry.id: entry for entry in group}
        named = [known[name] for name in found.sources if name in known] or list(group)
        try:
            proposal = found.proposal()
        except ValidationError as error:
            self._refuse(found.name, "", "bad_fields", str(error.errors()[0]["msg"]))
            return
        sources = [{"id": entry.id, "kind": entry.kind, "key": entry.key, "origin": entry.origin} for entry in named]
        about = {"origin": "acquired", "model": self.desk.seats["acquisition"][0].model.name, "sources": sources}
        self._offer(proposal, tuple(f"source:{entry.id}" for entry in named), about)

    def _offer(self, proposal: SkillProposal, traces: tuple[str, ...], about: dict[str, Any]) -> None:
        """Let a skill in unless Gamma_s or the overlap checker refuses it."""
        text = "\n".join((proposal.intent, proposal.method, proposal.difficulty_effect, proposal.tool_hint))
        key = content_hash([proposal.name, text])
        decided = self.decisions.of("skill", key, proposal.name)
        if reason := refusal(self.skills, proposal, self.desk.constraints):
            self._refuse(proposal.name, key, "not_admitted", reason)
            return
        if decided is not None and decided.decision == "drop":
            self._refuse(proposal.name, key, "person", decided.note or "dropped by a person")
            return
        (finding,) = self.checker.check([Candidate(key, text)])
        if finding.verdict != "keep" and (decided is None or decided.decision != "keep"):
            message = f"{'overlaps' if finding.verdict == 'drop' else 'comes near'} {matched(finding)}"
            evidence = {"matched": matched(finding), "score": finding.score}
            remark = Remark(
                "acquire", "skill", key, proposal.name, "", 0, finding.verdict, finding.rule, message, evidence
            )
            self.workspace.remark(remark, leaves=False)
            if finding.verdict == "review":
                self.review.append((remark, text))
            return
        fields = proposal.model_dump(include=set(SkillProposal.model_fields))
        self.skills += (Skill(**fields, provenance=traces, status="initial"),)
        self.provenance.append({"name": proposal.name, "key": key, **about})

    def _refuse(self, name: str, key: str, rule: str, reason: str) -> None:
        refused = Remark("acquire", "skill", key, name[:100], "", 0, "reject", rule, reason)
        self.workspace.remark(refused, leaves=False)


def chosen(workspace: Workspace, most: int, seed: int) -> list[Entry]:
    """The sources to read: passages first, then evolution seeds, each kind in an order drawn by `seed`."""
    passages = list(workspace.standing("passage"))
    seeds = list(workspace.standing("seed", held_out=False)) if len(passages) < most else []
    drawn = [
        sorted(entries, key=lambda entry: digest(f"{seed}/{entry.key}")) for entries in (passages, seeds)
    ]  # fmt: skip
    return [entry for entries in drawn for entry in entries][:most]


def described(entry: Entry) -> dict[str, str]:
    """A source as the acquisition model sees it."""
    if entry.kind == "passage":
        return {"id": entry.id, "kind": "passage", "text": entry.body}
    task = entry.task()
    return {
        "id": entry.id,
        "kind": "seed",
        "domain": task.domain,
        "question": whole_question(task),
        "reference": task.answer.value,
        "solution": task.solution,
    }

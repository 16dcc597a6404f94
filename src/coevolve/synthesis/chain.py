"""One chain in one round: the Director leads its task through Extend, Revise and Verify to a harder verified one."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from coevolve.agents.base import Desk
from coevolve.agents.director import direct
from coevolve.agents.extend import extend, revise
from coevolve.agents.replies import DirectorReply
from coevolve.errors import CallFailed, CeilingReached, ModelError, ToolError
from coevolve.events import Event, Scope, SolverMiss
from coevolve.harness import Harness
from coevolve.ledger import CallKey
from coevolve.skills import Skill
from coevolve.synthesis.verification import FixedVerifier, Verification
from coevolve.tasks import Certificate, Draft, Task

View = Callable[[CallKey], Awaitable[tuple[Harness, int]]]
"""The working harness as the call of that key sees it, and how many admissions that is."""


COUNTS = {"extend": "extends", "revise": "revises", "verify": "verifies"}


def trace_of(scope: Scope, chain: str, step: int | str) -> str:
    """The identifier of what a chain met at a step: `r3/chain/2`, or in a probe `r3/candidate-1/chain/2`."""
    where = f"r{scope.round}/{scope.probe}" if scope.probe else f"r{scope.round}"
    return f"{where}/{chain}/{step}"


class Found(NamedTuple):
    """A draft that passed verification."""

    draft: Draft
    certificate: Certificate
    missed: bool
    """Whether the generating model's own attempt missed it."""


@dataclass(slots=True)
class Chain:
    """The state of one chain in one round."""

    task: Task
    scope: Scope
    draft: Draft | None = None
    verification: Verification | None = None
    best: Found | None = None
    """The latest valid draft; what the chain advances to."""
    harness_id: str = ""
    """Of the harness that the newest Director call saw."""
    used: Counter[str] = field(default_factory=Counter)
    history: list[dict[str, str]] = field(default_factory=list)

    def source(self) -> Draft:
        """What Extend starts from: the unverified draft, else the latest valid one, else the task."""
        if self.draft is not None and self.verification is None:
            return self.draft
        return self.best.draft if self.best else self.task.draft()

    def director_view(self, harness: Harness, step: int) -> dict[str, Any]:
        """What the Director is told: the task, the draft and what became of it, and what is left."""
        verification, workflow = self.verification, harness.workflow
        return {
            "task": _summary(self.task.draft()),
            "draft": _summary(self.draft) if self.draft else None,
            "draft_state": {
                "verified": verification is not None,
                "valid": verification.verdict.valid if verification else None,
                "problems": list(verification.verdict.problems) if verification else [],
                "missed": verification.missed if verification else False,
            },
            "history": self.history,
            "limits": {
                "steps_left": workflow.steps - step + 1,
                "extends_left": workflow.extends - self.used["extend"],
                "revises_left": workflow.revises - self.used["revise"],
                "verifies_left": workflow.verifies - self.used["verify"],
            },
        }

    def outcome(self) -> dict[str, Any]:
        """How the round ended for this chain: the valid draft's figures, else the last draft's."""
        verdict = self.verification.verdict if self.verification else None
        last = self.best.draft if self.best else self.draft
        return {
            "valid": self.best is not None,
            "skills": list(last.skills_used) if last else [],
            "missed": self.best.missed if self.best else False,
            "problems": [] if self.best else list(verdict.problems) if verdict else ["no new draft"],
            "cause": None if self.best or verdict is None else verdict.cause,
        }

    def produced(self) -> Task | None:
        """The chain's new task, if a draft of this round is valid."""
        if self.best is None:
            return None
        draft, task, number = self.best.draft, self.task, self.scope.round
        return Task(
            id=f"{task.chain}@{number}",
            chain=task.chain,
            domain=task.domain,
            round=number,
            question=draft.question,
            answer=draft.answer,
            solution=draft.solution,
            program=draft.program,
            tests=draft.tests,
            certificate=self.best.certificate,
            parent=task.id,
            skills=(*task.skills, *draft.skills_used),
            harness_id=self.harness_id,
            source=task.source,
            license=task.license,
            meta=task.meta,
        )


def _summary(draft: Draft) -> dict[str, Any]:
    return {"question": draft.question, "answer_type": draft.answer.type, "unit": draft.answer.unit}


@dataclass(frozen=True, slots=True)
class ChainRunner:
    """Leads chains; `emit` logs an event, `report_miss` hands a miss over and returns when it is settled."""

    desk: Desk
    verify: FixedVerifier
    view: View
    emit: Callable[[Event], None]
    report_miss: Callable[[SolverMiss], Awaitable[None]]

    async def run(self, task: Task, scope: Scope) -> Task | None:
        """One round of `task`'s chain; a bad reply costs a step.

        Raises CeilingReached, Stopped, CallFailed, ToolError. In production a draft that was valid before the
        generation ceiling or a failed call cut the chain is kept (line 13); in a probe the chain is then missing.
        """
        chain = Chain(task, scope)
        try:
            await self._steps(chain)
        except (CeilingReached, CallFailed, ToolError) as error:
            cut = isinstance(error, CeilingReached) and error.scope != "generation"
            if chain.best is None or scope.probe or cut:
                raise
        self.emit(Event(kind="chain", scope=scope, chain=task.chain, data=chain.outcome()))
        return chain.produced()

    async def _steps(self, chain: Chain) -> None:
        task, scope = chain.task, chain.scope
        for step in range(1, self.desk.constraints.steps + 1):
            key = CallKey(scope, task.chain, step, "director", 0)
            harness, seen = await self.view(key)
            if step > harness.workflow.steps:
                break
            try:
                decision = await direct(self.desk, key, harness, task.domain, chain.director_view(harness, step), seen)
                chain.harness_id = harness.id
                if decision.action == "finish":
                    break
                outcome = await self._act(chain, harness, decision, step)
            except CallFailed:
                raise
            except (ModelError, ToolError) as error:
                decision, outcome = None, f"no usable reply: {type(error).__name__}"
            self._note(chain, step, decision, outcome)
        if chain.draft is not None and chain.verification is None:
            await self._verify(chain, self.desk.constraints.steps + 1)

    async def _act(self, chain: Chain, harness: Harness, decision: DirectorReply, step: int) -> str:
        action = decision.action
        if chain.used[action] >= getattr(harness.workflow, COUNTS[action]):
            return f"refused: no {action} left"
        if action != "extend" and chain.draft is None:
            return f"refused: there is no draft to {action}"
        if action == "verify" and chain.verification is not None:
            return "refused: the draft is verified"
        chain.used[action] += 1
        if action == "verify":
            return await self._verify(chain, step)
        return await self._write(chain, harness, decision, step)

    async def _write(self, chain: Chain, harness: Harness, decision: DirectorReply, step: int) -> str:
        key = CallKey(chain.scope, chain.task.chain, step, decision.action, 0)
        source = chain.source() if decision.action == "extend" else chain.task.draft()
        if decision.action == "extend":
            draft = await extend(self.desk, key, harness, chain.task.domain, source, _chosen(harness, decision))
        else:
            assert chain.draft is not None
            problems = chain.verification.verdict.problems if chain.verification else ()
            draft = await revise(self.desk, key, harness, chain.task.domain, source, chain.draft, problems)
        if draft.question.strip() == source.question.strip():
            chain.used[decision.action] -= 1
            return "no change"
        known = tuple(name for name in draft.skills_used if harness.skill(name))
        earlier = source.skills_used
        if decision.action == "revise" and chain.draft is not None:
            earlier = tuple(name for name in chain.draft.skills_used if name not in known)
        chain.draft = draft.model_copy(update={"skills_used": (*earlier, *known)})
        chain.verification = None
        return "drafted with " + (", ".join(known) or "no skill")

    async def _verify(self, chain: Chain, step: int) -> str:
        assert chain.draft is not None
        key = CallKey(chain.scope, chain.task.chain, step, "verify", 0)
        verification = chain.verification = await self.verify(key, chain.task, chain.draft)
        if not verification.verdict.valid or verification.certificate is None:
            return f"invalid ({verification.verdict.cause}): {'; '.join(verification.verdict.problems)}"
        chain.best = Found(chain.draft, verification.certificate, verification.missed)
        if not verification.missed or verification.attempt is None:
            return "valid"
        await self.report_miss(
            SolverMiss(
                trace=trace_of(chain.scope, chain.task.chain, step),
                scope=chain.scope,
                chain=chain.task.chain,
                step=step,
                task=chain.task,
                draft=chain.draft,
                attempt=verification.attempt.text,
                extracted=verification.attempt.extracted,
            )
        )
        return "valid; the own attempt missed it"

    def _note(self, chain: Chain, step: int, decision: DirectorReply | None, outcome: str) -> None:
        action = decision.action if decision else "none"
        chain.history.append({"action": action, "outcome": outcome})
        data = {"action": action, "outcome": outcome, "skills": list(decision.skills) if decision else []}
        self.emit(Event(kind="step", scope=chain.scope, chain=chain.task.chain, step=step, data=data))


def _chosen(harness: Harness, decision: DirectorReply) -> tuple[Skill, ...]:
    found = [skill for name in decision.skills if (skill := harness.skill(name)) is not None]
    return tuple(found[: harness.workflow.skills_per_extend])

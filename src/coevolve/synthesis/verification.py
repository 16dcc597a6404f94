"""Verify one draft by the fixed criteria, and attribute what went wrong (Section 3.2, Appendix B).

Validity is decided before any attempt is scored: self-check of the reference, well-posedness, and a certificate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coevolve.agents.base import Desk
from coevolve.agents.replies import VerifyReply
from coevolve.agents.solver import Attempt, Solver
from coevolve.agents.verify import verify
from coevolve.config import VerificationConfig
from coevolve.events import Cause, Verdict
from coevolve.ledger import CallKey
from coevolve.tasks import Certificate, Draft, Task, content_hash
from coevolve.verifiers.base import SelfCheck, Verifiers

OWN_ATTEMPT = 100
"""Attempt number of the generating model's own attempt, apart from the ensemble's."""


class Verification(NamedTuple):
    """A verdict, the certificate of a valid draft, and the generating model's own attempt at it."""

    verdict: Verdict
    certificate: Certificate | None
    attempt: Attempt | None

    @property
    def missed(self) -> bool:
        """Whether the attempt is a miss: wrong, parsed, untruncated, on a valid QA with a right reference (I4)."""
        return self.verdict.valid and self.attempt is not None and self.attempt.outcome == "wrong"


@dataclass(frozen=True, slots=True)
class FixedVerifier:
    """V of Algorithm 1: verifiers, Verify's ensemble and criteria, which no edit can reach (I1)."""

    desk: Desk
    verifiers: Verifiers
    own: Solver
    """The generating model at its own attempt; charged to Verify in every arm (I4)."""
    config: VerificationConfig

    async def __call__(self, key: CallKey, task: Task, draft: Draft) -> Verification:
        """Verify `draft`, made from `task`. Raises CeilingReached, CallFailed (of the own attempt)."""
        problems = self._limits(task, draft)
        if problems:
            return _refused("invalid_problem", problems)
        check = await self._check(key, task.domain, draft)
        if not check.ok:
            return _refused(check.cause or "wrong_reference", check.problems)
        replies = await verify(self.desk, key, task.domain, draft)
        votes = [reply for reply in replies if reply is not None]
        agreed, record = await self._votes(task.domain, draft, votes)
        if 2 * sum(reply.well_posed for reply in votes) <= len(replies):
            found = tuple(dict.fromkeys(problem for reply in votes for problem in reply.problems))
            return _refused(
                "invalid_problem" if votes else "tool_failure", found or ("no usable verification",), record
            )
        certificate = check.certificate or await self._certificate(task.domain, draft, agreed)
        if certificate is None or certificate.kind not in self.config.certificates:
            answered = sum(bool(reply.answer) for reply in votes)
            cause: Cause = "wrong_reference" if answered and not agreed else "ambiguous"
            return _refused(cause, (f"no certificate: {agreed} of {answered} independent answers agree",), record)
        attempt = await self.own.attempt(key._replace(attempt=OWN_ATTEMPT), task.domain, draft)
        verdict = Verdict(
            valid=True,
            cause=_cause(attempt),
            certificate_kind=certificate.kind,
            certificate_detail=certificate.detail,
            votes=record,
        )
        return Verification(verdict, certificate, attempt)

    async def _check(self, key: CallKey, domain: str, draft: Draft) -> SelfCheck:
        """The self-check, made once: a resumed run takes the recorded one."""
        journal, place, shown = self.desk.calls.journal, str(key), content_hash(draft)
        known = journal.find_check(place)
        if known is not None and known["draft"] == shown:
            certificate = known["certificate"]
            return SelfCheck(
                known["ok"],
                tuple(known["problems"]),
                Certificate.model_validate(certificate) if certificate else None,
                known["cause"],
            )
        found = await self.verifiers.check(domain, draft)
        record = {
            "draft": shown,
            "ok": found.ok,
            "problems": list(found.problems),
            "certificate": found.certificate.model_dump(mode="json") if found.certificate else None,
            "cause": found.cause,
        }
        journal.append_check(place, record)
        return found

    def _limits(self, task: Task, draft: Draft) -> tuple[str, ...]:
        limits = self.desk.constraints
        problems = []
        if draft.question.strip() == task.question.strip():
            problems.append("the question is the one it started from")
        if len(draft.question) > limits.question_chars:
            problems.append(f"the question has {len(draft.question)} characters, more than {limits.question_chars}")
        if draft.answer.type != "code_tests" and len(draft.answer.value) > limits.answer_chars:
            problems.append(f"the answer has {len(draft.answer.value)} characters, more than {limits.answer_chars}")
        return tuple(problems)

    async def _votes(
        self, domain: str, draft: Draft, votes: Sequence[VerifyReply]
    ) -> tuple[int, tuple[dict[str, object], ...]]:
        agreed, record = 0, []
        for vote in votes:
            verdict = ""
            if vote.answer:
                verdict = (await self.verifiers.compare(domain, draft, vote.answer)).verdict
                agreed += verdict == "equal"
            record.append(
                {"well_posed": vote.well_posed, "answer": vote.answer, "verdict": verdict, "problems": vote.problems}
            )
        return agreed, tuple(record)

    async def _certificate(self, domain: str, draft: Draft, agreed: int) -> Certificate | None:
        if self.config.quorum and agreed >= self.config.quorum:
            return Certificate(kind="quorum", detail=f"{agreed} independent answers agree with the reference")
        if draft.solution and "derivation" in self.config.certificates:
            grade = await self.verifiers.grade(domain, draft, draft.solution)
            if grade.verdict == "equal":
                return Certificate(kind="derivation", detail="the worked solution ends in the reference")
        return None


def _refused(cause: Cause, problems: Sequence[str], votes: tuple[dict[str, object], ...] = ()) -> Verification:
    return Verification(Verdict(valid=False, cause=cause, problems=tuple(problems), votes=votes), None, None)


def _cause(attempt: Attempt) -> Cause | None:
    """Attribution of an attempt at a valid QA: only a parsed, untruncated, definite miss is a reasoning weakness."""
    causes: dict[str, Cause] = {
        "wrong": "reasoning_weakness",
        "truncated": "truncated",
        "unparsed": "unparsed",
        "unknown": "ambiguous",
    }
    return causes.get(attempt.outcome)

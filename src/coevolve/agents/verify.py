"""Verify: blind, independent solutions by the ensemble, and well-posedness (Appendix F.1). Its prompt is fixed (I1)."""

from coevolve.agents.base import Desk, package_prompt, render
from coevolve.agents.replies import VerifyReply
from coevolve.concurrency import finish_all
from coevolve.errors import ModelError
from coevolve.ledger import CallKey
from coevolve.tasks import Draft


async def verify(desk: Desk, key: CallKey, domain: str, draft: Draft) -> list[VerifyReply | None]:
    """One reply a member of the ensemble; None where a member gave nothing usable (never a pass)."""
    system = render(package_prompt("fixed", "verify"), desk.variables("verify", domain))
    payload = {"domain": domain, "question": draft.question, "answer_type": draft.answer.type}
    for name in ("unit", "choices"):
        if getattr(draft.answer, name) is not None:
            payload[name] = getattr(draft.answer, name)

    async def one(member: int) -> VerifyReply | None:
        try:
            return await desk.ask(key._replace(attempt=2 * member), system, payload, VerifyReply, member=member)
        except ModelError:
            return None

    return await finish_all(one(member) for member in range(len(desk.seats["verify"])))

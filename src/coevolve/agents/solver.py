"""One attempt of a solving model at a task, graded by the fixed verifier."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from coevolve.agents.base import draw_seed
from coevolve.agents.solver_prompts import solver_messages, solver_stop
from coevolve.errors import CallFailed, ToolError
from coevolve.ledger import CallKey
from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.calls import Calls, Seat
from coevolve.tasks import Draft
from coevolve.verifiers.base import Grade, Verifiers


class Attempt(NamedTuple):
    """One attempt: how it ended and its text."""

    outcome: Literal["correct", "wrong", "truncated", "unparsed", "unknown"]
    text: str
    extracted: str


@dataclass(frozen=True, slots=True)
class Solver:
    """A solving model at its seat; its prompts, sampling and model are outside every edit (I1)."""

    calls: Calls
    seat: Seat
    style: Literal["few_shot", "plain"]
    verifiers: Verifiers
    seed: int

    async def attempt(self, key: CallKey, domain: str, draft: Draft) -> Attempt:
        """One attempt at `draft`, asked in the fixed prompts. Raises as `answer`."""
        messages, stop = solver_messages(domain, draft, self.style), solver_stop(draft, self.style)
        return await self.answer(key, domain, draft, messages, stop)

    async def answer(
        self, key: CallKey, domain: str, draft: Draft, messages: tuple[Message, ...], stop: tuple[str, ...]
    ) -> Attempt:
        """One attempt asked in `messages`. A failed call is no outcome: made again once, then CallFailed (I8)."""
        sampling = Sampling(self.seat.temperature, self.seat.max_tokens, draw_seed(self.seed, key), stop)
        request = ChatRequest(messages=messages, sampling=sampling, schema_name="solver")
        try:
            reply = await self.calls.call(key, self.seat, request, fits=_says_something)
        except CallFailed:
            reply = await self.calls.call(key, self.seat, request, fits=_says_something)
        grade = await self._graded(domain, draft, reply.text)
        extracted = grade.extracted or ""
        if reply.finish == "length":
            return Attempt("truncated", reply.text, extracted)
        if grade.verdict == "equal":
            return Attempt("correct", reply.text, extracted)
        if grade.extracted is None:
            return Attempt("unparsed", reply.text, extracted)
        return Attempt("wrong" if grade.verdict == "different" else "unknown", reply.text, extracted)

    async def _graded(self, domain: str, draft: Draft, text: str) -> Grade:
        """A verdict on the answer, never on our own tools: those get a second try, then ToolError."""
        for _ in range(2):
            grade = await self.verifiers.grade(domain, draft, text)
            if not grade.reason.startswith("infra"):
                return grade
        raise ToolError(f"an answer could not be judged: {grade.reason}")


def _says_something(text: str) -> bool:
    return bool(text.strip())

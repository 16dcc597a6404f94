"""What every call to a model goes through: the journal first, then the ceilings, the model, the ledger, the journal."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from coevolve.config_models import PriceConfig
from coevolve.errors import CallFailed, CeilingReached, Interrupted
from coevolve.events import Scope
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger, Row
from coevolve.llm.base import ChatModel, ChatReply, ChatRequest, Usage
from coevolve.llm.budgets import CLOSING, Budgets, Estimate
from coevolve.llm.pricing import microusd, most
from coevolve.llm.recorded import NotRecorded, not_recorded

TOKENS_A_MESSAGE = 16
"""More than any chat template adds around one message."""
MADE_AGAIN = frozenset({"initialisation", "reporting"})
"""Phases that a failed call ends the run in; elsewhere the run goes on without it, and a resumed run does the same."""


@dataclass(slots=True)
class Pace:
    """Wall time during which at least one solver call was under way, and how many there were."""

    calls: int = 0
    seconds: float = 0.0
    _busy: int = 0
    _since: float = 0.0

    def __enter__(self) -> None:
        if self._busy == 0:
            self._since = time.monotonic()
        self._busy += 1

    def __exit__(self, *_: object) -> None:
        self._busy -= 1
        self.calls += 1
        if self._busy == 0:
            self.seconds += time.monotonic() - self._since

    @property
    def seconds_a_call(self) -> float | None:
        """Wall seconds a call, or None before the first."""
        return self.seconds / self.calls if self.calls else None


@dataclass(frozen=True, slots=True)
class Seat:
    """A model with how one role uses it."""

    model: ChatModel
    price: PriceConfig
    temperature: float
    max_tokens: int
    schema: bool = True
    """Send the reply's JSON schema with the request."""


class Calls:
    """The only way to a model. `on_call` hears of each call's row (progress, counts), replayed ones included."""

    def __init__(self, journal: Journal, ledger: Ledger, budgets: Budgets, on_call: Callable[[Row], None]) -> None:
        self.journal = journal
        self.ledger = ledger
        self.budgets = budgets
        self._on_call = on_call
        self._stopping = False
        self._checked: tuple[tuple[str, Seat, ChatReply], ...] = ()
        self.pace = Pace()
        """Of the solver's calls that this process made."""

    def stop(self) -> None:
        """Start no further call: those in flight end and are recorded, the next one raises Interrupted."""
        self._stopping = True

    def charge(self, checked: Iterable[tuple[str, Seat, ChatReply]]) -> None:
        """Charge the short calls of a start, one (role, seat, reply) a model, to the round that it takes up."""
        self._checked = tuple(checked)

    def start_round(self, number: int) -> None:
        """Open the journal of round `number`; sums of the round before are archived by now."""
        self.journal.open_round(number)
        self.ledger.start_round()
        self.budgets.start_round(self.journal.closed)
        for record in self.journal.calls():
            row = Row.read(record["row"])
            if "failed" in record and row.phase in MADE_AGAIN:
                self.journal.drop(record)
                self._count(row)
            else:
                self.ledger.expect(row)
        for paid in self.journal.paid:
            self.ledger.append(Row.read(paid))
        for attempt, (role, seat, reply) in enumerate(self._checked, len(self.journal.paid)):
            scope = Scope(round=number, phase="initialisation")
            row = _row(CallKey(scope, "preflight", 0, role, attempt), seat, reply, "ok")
            self.journal.append_paid(row.record())
            self.ledger.append(row)
        self._checked = ()

    def end_round(self) -> None:
        """Charge what an earlier process paid for and this one had no use for: it took another course."""
        for record in self.journal.calls():
            self.journal.drop(record)
            self._count(replace(Row.read(record["row"]), outcome="unused"), expected=True)

    def recorded_seen(self, key: CallKey) -> int | None:
        """How many admissions the recorded call `key` had seen; None when it was never finished (I16)."""
        record = self.journal.find(str(key))
        return None if record is None else int(record["seen"])

    async def call(
        self,
        key: CallKey,
        seat: Seat,
        request: ChatRequest,
        seen: int = 0,
        fits: Callable[[str], bool] | None = None,
    ) -> ChatReply:
        """One model call. Raises CeilingReached or RunCeilingReached before it, CallFailed after its retries.

        `seen` is how many admissions its prompt knew; `fits` says whether a reply's text can be used, for the ledger.
        """
        asked = request.record()
        fingerprint = _fingerprint(seat.model.name, asked)
        record = self.journal.take(str(key), fingerprint)
        if record is not None:
            self._count(Row.read(record["row"]), expected=True)
            if "failed" in record:
                raise CallFailed(record["failed"], tuple(record["row"]["retries"]))
            return ChatReply.read(record["reply"])
        if self._stopping:
            raise Interrupted("stopped as asked, everything is saved; run the same command to go on")
        asked["schema"] = None  # its name tells which it is
        head = {"hash": fingerprint, "seen": seen, "request": asked}
        try:
            reservation = await self.budgets.reserve(key, _estimate(seat, request))
        except CeilingReached as error:
            if error.scope in CLOSING:
                self.journal.append_closed(error.scope, error.what)
            raise
        try:
            return await self._make(key, seat, request, head, fits)
        finally:
            await self.budgets.release(reservation)

    async def _make(
        self,
        key: CallKey,
        seat: Seat,
        request: ChatRequest,
        head: dict[str, Any],
        fits: Callable[[str], bool] | None,
    ) -> ChatReply:
        try:
            with self.pace if key.role == "solver" else nullcontext():
                reply = await seat.model.chat(request)
        except NotRecorded as error:
            raise not_recorded(self.journal.path, key, request) from error
        except CallFailed as error:
            empty = ChatReply("", "stop", Usage(0, 0), seat.model.name, 0.0, retries=error.retries)
            said = _encodable(f"{key}: {error}")
            row = _row(key, seat, empty, "failed")
            self.journal.append_call(str(key), {**head, "failed": said, "row": row.record()})
            self._count(row)
            raise CallFailed(said, error.retries) from error
        reply = replace(reply, text=_encodable(reply.text), reasoning=_encodable(reply.reasoning))
        cut = reply.finish == "length"
        row = _row(key, seat, reply, "truncated" if cut else "ok" if fits is None or fits(reply.text) else "unparsed")
        self.journal.append_call(str(key), {**head, "reply": reply.record(), "row": row.record()})
        self._count(row)
        return reply

    def _count(self, row: Row, expected: bool = False) -> None:
        self.ledger.append(row, expected)
        self._on_call(row)


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which no file could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fingerprint(model: str, asked: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([model, asked], sort_keys=True).encode()).hexdigest()[:20]


def _estimate(seat: Seat, request: ChatRequest) -> Estimate:
    tokens_in = sum(len(message.content.encode()) + TOKENS_A_MESSAGE for message in request.messages)
    tokens_in += len(json.dumps(request.schema)) if request.schema else 0
    return Estimate(
        tokens=tokens_in + request.sampling.max_tokens,
        microusd=most(seat.price, tokens_in, request.sampling.max_tokens) or 0,
    )


def _row(key: CallKey, seat: Seat, reply: ChatReply, outcome: str) -> Row:
    usage = reply.usage
    return Row(
        call=str(key),
        round=key.scope.round,
        phase=key.scope.phase,
        probe=key.scope.probe,
        chain=key.chain,
        step=key.step,
        role=key.role,
        attempt=key.attempt,
        model=reply.model,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        tokens_reasoning=usage.tokens_reasoning,
        microusd=microusd(seat.price, usage),
        seconds=round(reply.seconds, 4),
        outcome=outcome,
        retries=reply.retries,
    )

"""What every call to a model goes through: the journal first, then the ceilings, the model, the ledger, the journal."""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace

from coevolve.config_models import PriceConfig
from coevolve.errors import CallFailed, Interrupted
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger, Row
from coevolve.llm.base import ChatModel, ChatReply, ChatRequest, Usage
from coevolve.llm.budgets import Budgets, Estimate
from coevolve.llm.pricing import microusd, most

TOKENS_A_MESSAGE = 16
"""More than any chat template adds around one message."""


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
        self.pace = Pace()
        """Of the solver's calls that this process made."""

    def stop(self) -> None:
        """Start no further call: those in flight end and are recorded, the next one raises Interrupted."""
        self._stopping = True

    def start_round(self, number: int) -> None:
        """Open the journal of round `number`; sums of the round before are archived by now."""
        self.journal.open_round(number)
        self.ledger.start_round()
        self.budgets.start_round()

    def recorded_seen(self, key: CallKey) -> int | None:
        """How many admissions the recorded call `key` had seen; None when it was never finished (I16)."""
        record = self.journal.find(str(key))
        return None if record is None else int(record["seen"])

    async def call(self, key: CallKey, seat: Seat, request: ChatRequest, seen: int = 0) -> ChatReply:
        """One model call. Raises CeilingReached or RunCeilingReached before it, CallFailed after its retries."""
        fingerprint = _fingerprint(seat.model.name, request)
        record = self.journal.find(str(key))
        if record is not None and record["hash"] == fingerprint:
            row = Row(**{**record["row"], "retries": tuple(record["row"]["retries"])})
            self.ledger.append(row)
            self._on_call(row)
            stored = record["reply"]
            return ChatReply(
                **{**stored, "usage": Usage(**stored["usage"]), "retries": tuple(stored["retries"])},
            )
        if self._stopping:
            raise Interrupted("stopped as asked, everything is saved; run the same command to go on")
        reservation = await self.budgets.reserve(key, _estimate(seat, request))
        try:
            reply = await self._make(key, seat, request)
            row = _row(key, seat, reply)
            self.ledger.append(row)
            self.journal.append_call(
                str(key), {"hash": fingerprint, "seen": seen, "reply": asdict(reply), "row": asdict(row)}
            )
        finally:
            await self.budgets.release(reservation)
        self._on_call(row)
        return reply

    async def _make(self, key: CallKey, seat: Seat, request: ChatRequest) -> ChatReply:
        try:
            with self.pace if key.role == "solver" else nullcontext():
                reply = await seat.model.chat(request)
                return replace(reply, text=_encodable(reply.text), reasoning=_encodable(reply.reasoning))
        except CallFailed as error:
            empty = ChatReply("", "stop", Usage(0, 0), seat.model.name, 0.0, retries=error.retries)
            row = _row(key, seat, empty, outcome="failed")
            self.ledger.append(row)
            self._on_call(row)
            raise CallFailed(f"{key}: {error}", error.retries) from error


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which no file could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fingerprint(model: str, request: ChatRequest) -> str:
    return hashlib.sha256(json.dumps([model, asdict(request)], sort_keys=True).encode()).hexdigest()[:20]


def _estimate(seat: Seat, request: ChatRequest) -> Estimate:
    tokens_in = sum(len(message.content.encode()) + TOKENS_A_MESSAGE for message in request.messages)
    tokens_in += len(json.dumps(request.schema)) if request.schema else 0
    return Estimate(
        tokens=tokens_in + request.sampling.max_tokens,
        microusd=most(seat.price, tokens_in, request.sampling.max_tokens) or 0,
    )


def _row(key: CallKey, seat: Seat, reply: ChatReply, outcome: str | None = None) -> Row:
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
        outcome=outcome or ("truncated" if reply.finish == "length" else "ok"),
        retries=reply.retries,
    )

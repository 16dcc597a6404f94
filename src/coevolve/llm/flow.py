"""How fast a server is asked and what happens when it fails: concurrency, rates, retries, circuit breaker."""

import asyncio
import logging
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from coevolve.config_models import FlowConfig
from coevolve.errors import CallFailed, EndpointError

T = TypeVar("T")
LOG = logging.getLogger(__name__)
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long failures are borne, in seconds."""

    backoff: float = 0.5
    backoff_most: float = 30.0
    retry_after_most: float = 120.0
    """A server that asks for a longer wait ends the run: no silent hours."""
    open_after: int = 8
    """Ill tries in a row that open the breaker."""
    cool: float = 2.0
    """From an open breaker to the call that tries for all, doubled each time it fails."""
    cool_most: float = 30.0
    dead: float = 300.0
    """An open breaker for so long ends the run."""


PATIENCE = Patience()


class TryFailed(Exception):
    """One try of a call failed. `word` names it in the ledger; `again` says whether another try may help."""

    def __init__(self, word: str, detail: str, *, again: bool, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.word = word
        self.again = again
        self.retry_after = retry_after

    @property
    def too_fast(self) -> bool:
        """Whether the server asks for fewer requests."""
        return self.word in {"429", "503", "529"} or self.retry_after is not None

    @property
    def ill(self) -> bool:
        """Whether it speaks against the server's health."""
        return self.again and self.word != "429" and self.retry_after is None


@dataclass(frozen=True, slots=True)
class FlowState:
    """What a flow does now; `failures` counts failed tries by word since the start."""

    limit: int
    in_flight: int
    waiting: int
    breaker: Literal["closed", "open", "probing"]
    paused_seconds: float
    failures: dict[str, int]


class Bucket:
    """A rate a minute that no window of 60 s exceeds: a tenth at once, the rest evenly."""

    def __init__(self, per_minute: int) -> None:
        self._burst = max(1.0, per_minute / 10)
        self._rate = (per_minute - self._burst + 1) / MINUTE
        self._level = self._burst
        self._at = time.monotonic()

    def take(self, amount: float) -> float:
        """Take `amount`; the seconds to wait before using it."""
        now = time.monotonic()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used."""
        self._level = min(self._burst, self._level + amount)


class Flow:
    """Flow control of one endpoint. Slots are granted first come, first served."""

    def __init__(self, config: FlowConfig, where: str, patience: Patience = PATIENCE) -> None:
        self._config = config
        self._where = where
        self._limit = float(config.concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._slowed_at = self._resume_at = 0.0
        self._requests = Bucket(config.requests_per_minute) if config.requests_per_minute else None
        self._tokens = Bucket(config.tokens_per_minute) if config.tokens_per_minute else None
        self._failures: Counter[str] = Counter()
        self._patience = patience
        self._breaker = Breaker(where, patience)
        self._random = random.Random()  # spreads retries; no result depends on it

    @property
    def state(self) -> FlowState:
        """What this flow does now."""
        paused = max(0.0, self._resume_at - time.monotonic())
        waiting = sum(not future.done() for future in self._waiting)
        return FlowState(int(self._limit), self._in_flight, waiting, self._breaker.state, paused, dict(self._failures))

    async def call(
        self, send: Callable[[], Awaitable[T]], tokens: int, used: Callable[[T], int]
    ) -> tuple[T, tuple[str, ...]]:
        """Make `send` succeed; its result and one word a failed try. `tokens` is the most it may use.

        Raises CallFailed when the tries are used up or no other can help, EndpointError when the server stays away.
        """
        failed: list[str] = []
        while True:
            await self._slot()
            probing = False
            started = time.monotonic()
            try:
                probing = await self._breaker.passed()
                await self._pace(tokens)
                started = time.monotonic()
                result = await send()
            except TryFailed as fault:
                failed.append(fault.word)
                self._slow_down(fault, started)
                self._breaker.failed(ill=fault.ill)
                if not fault.again or len(failed) > self._config.retries:
                    tries = f"{len(failed)} tries: {', '.join(failed)}" if len(failed) > 1 else fault.word
                    raise CallFailed(f"{self._where}: {fault} ({tries})", tuple(failed)) from fault
            except BaseException:
                if probing:
                    self._breaker.withdrawn()
                raise
            else:
                self._limit = min(float(self._config.concurrency), self._limit + 1 / self._limit)
                self._breaker.succeeded()
                if self._tokens:
                    self._tokens.give_back(tokens - used(result))
                return result, tuple(failed)
            finally:
                self._leave()
            await asyncio.sleep(self._backoff(len(failed)))

    async def _slot(self) -> None:
        if self._in_flight < int(self._limit) and not self._waiting:
            self._in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        while self._waiting and self._in_flight < int(self._limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    async def _pace(self, tokens: int) -> None:
        delay = self._requests.take(1) if self._requests else 0.0
        if self._tokens:
            delay = max(delay, self._tokens.take(tokens))
        if delay > 0:
            await asyncio.sleep(delay)
        pause = self._resume_at - time.monotonic()
        if pause > 0:
            await asyncio.sleep(pause)

    def _slow_down(self, fault: TryFailed, started: float) -> None:
        """Halve the limit, once for all calls that were in flight together, and pause as long as the server asks."""
        self._failures[fault.word] += 1
        if not fault.too_fast:
            return
        now = time.monotonic()
        if started >= self._slowed_at:
            self._limit = max(1.0, self._limit / 2)
            self._slowed_at = now
        if fault.retry_after is not None:
            if fault.retry_after > self._patience.retry_after_most:
                raise EndpointError(f"{self._where}: asks to wait {fault.retry_after:.0f} s; start again after that")
            self._resume_at = max(self._resume_at, now + fault.retry_after)

    def _backoff(self, tries: int) -> float:
        most: float = min(self._patience.backoff_most, self._patience.backoff * 2.0**tries)
        return most * (0.5 + self._random.random() / 2)


class Breaker:
    """Stops asking a server that fails every time, tries it with one call now and then, gives up in the end."""

    def __init__(self, where: str, patience: Patience) -> None:
        self._where = where
        self._patience = patience
        self._streak = 0
        self._opened_at: float | None = None
        self._probe_at = 0.0
        self._cool = self._patience.cool
        self._probing = False
        self._changed = asyncio.Event()

    @property
    def state(self) -> Literal["closed", "open", "probing"]:
        """Closed = calls go through; open = they wait; probing = one call tries."""
        return "closed" if self._opened_at is None else "probing" if self._probing else "open"

    async def passed(self) -> bool:
        """Wait until a call may be tried; whether it is the one that tries for all.

        Raises EndpointError once the server has been away too long.
        """
        while self._opened_at is not None:
            now = time.monotonic()
            if now - self._opened_at > self._patience.dead:
                raise EndpointError(
                    f"{self._where}: no good answer for {self._patience.dead:.0f} s; see whether it runs"
                )
            if not self._probing and now >= self._probe_at:
                self._probing = True
                return True
            self._changed.clear()
            try:
                async with asyncio.timeout(
                    max(0.01, self._probe_at - now) if not self._probing else self._patience.dead
                ):
                    await self._changed.wait()
            except TimeoutError:
                continue
        return False

    def succeeded(self) -> None:
        """A call came back."""
        self._streak = 0
        if self._opened_at is not None:
            LOG.warning("%s answers again", self._where)
            self._opened_at, self._probing, self._cool = None, False, self._patience.cool
            self._changed.set()

    def failed(self, *, ill: bool) -> None:
        """A try failed; `ill` where that speaks against the server's health."""
        now = time.monotonic()
        self._streak += ill
        if self._probing:
            self._cool = min(self._patience.cool_most, 2 * self._cool)
        elif self._opened_at is not None or self._streak < self._patience.open_after:
            return
        else:
            LOG.warning("%s fails every time; waiting for it up to %.0f s", self._where, self._patience.dead)
            self._opened_at = now
        self._probing, self._probe_at = False, now + self._cool
        self._changed.set()

    def withdrawn(self) -> None:
        """The call that tried for all ended without an outcome (cancelled)."""
        self._probing = False
        self._changed.set()

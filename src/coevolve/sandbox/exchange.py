"""Calls and checkers: the parent's half of a conversation with one job or two.

Whatever a job sends is data of unknown honesty; nothing here trusts it beyond its length and its JSON form.
"""

import contextlib
import json
import select
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

from coevolve.sandbox.box import Box, Ended, Outcome
from coevolve.sandbox.inside.wire import decode, encode, pack
from coevolve.sandbox.programs import Limits, outcome_of

KEPT_VALUES = 20
FORGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, StopIteration)


class Call(NamedTuple):
    """One call of a program's function, of its class `Solution`'s method, or an expression over its names."""

    op: Literal["call", "method", "eval"]
    name: str = ""
    args: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def frame(self) -> dict[str, Any]:
        """The request as it crosses the wire."""
        if self.op == "eval":
            return {"op": "eval", "source": self.name}
        named = {key: encode(value) for key, value in self.named}
        return {"op": self.op, "name": self.name, "args": [encode(value) for value in self.args], "named": named}


class Returned(NamedTuple):
    """What one call gave: plain data when `outcome` is ok, else the error's text."""

    outcome: Outcome
    value: Any
    error: str


class Checker(NamedTuple):
    """Test code of a task, run apart from the candidate: helpers, then parts in order, then `check(stand_in)`."""

    name: str
    """The function under test; inside, this name answers by asking the candidate's box."""
    helpers: str
    parts: tuple[str, ...]
    check: str = ""


class Examined(NamedTuple):
    """What a checker said. `passed` needs at least one call that reached the candidate."""

    outcome: Outcome
    passed: bool
    calls: int
    detail: str
    returned: tuple[Any, ...] = ()
    """The first values the candidate gave."""


class Conversation:
    """Frames to and from one job, each within a deadline and a size cap."""

    def __init__(self, box: Box, job: dict[str, Any], limits: Limits) -> None:
        self.box, self.limits = box, limits
        self.suite_ends = time.monotonic() + limits.suite_seconds
        self.channel = box.begin(job)
        self._got = bytearray()
        self._ended: Ended | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.channel.close()
        if self._ended is None and not self.box.dead:
            self._ended = self.box.reap()

    def ask(self, message: Any) -> tuple[Outcome, Any]:
        """Send one frame and wait for the answer."""
        with contextlib.suppress(OSError):
            self.channel.sendall(pack(message))
        return self.hear()

    def say(self, message: Any) -> None:
        """Send one frame."""
        with contextlib.suppress(OSError):
            self.channel.sendall(pack(message))

    def hear(self, seconds: float | None = None) -> tuple[Outcome, Any]:
        """The next frame as plain JSON; any outcome but `ok` means that the job is over."""
        now = time.monotonic()
        deadline = min(self.suite_ends, now + (self.limits.case_seconds if seconds is None else seconds))
        while True:
            whole = 4 + int.from_bytes(self._got[:4], "big") if len(self._got) >= 4 else 0
            if whole > self.limits.output_bytes:
                return self._over("output"), None
            if whole and len(self._got) >= whole:
                body = bytes(self._got[4:whole])
                del self._got[:whole]
                try:
                    return "ok", json.loads(body)
                except (ValueError, RecursionError):
                    return self._over("crash"), None
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.channel], [], [], left)[0]:
                return self._over("timeout"), None
            try:
                part = self.channel.recv(1 << 16)
            except ConnectionResetError:
                part = b""
            if not part:
                self._ended = self.box.ended(time.monotonic() + 1) or self.box.reap()
                return ("crash" if outcome_of(self._ended) == "ok" else outcome_of(self._ended)), None
            self._got += part

    def _over(self, outcome: Outcome) -> Outcome:
        self._ended = self.box.reap()
        return outcome


def calls(box: Box, source: str, wanted: Sequence[Call], limits: Limits) -> list[Returned]:
    """Define `source` once, then make the calls in order; stops after the first call that ends the process."""
    given: list[Returned] = []
    with Conversation(box, {"mode": "calls", "source": source}, limits) as talk:
        started = _returned(*talk.hear())
        if started.outcome != "ok":
            return [started]
        for call in wanted:
            given.append(_returned(*talk.ask(call.frame())))
            if given[-1].outcome not in ("ok", "error"):
                break
    return given


def _returned(outcome: Outcome, frame: Any) -> Returned:
    if outcome != "ok":
        return Returned(outcome, None, outcome)
    try:
        if "raise" in frame:
            text = str(frame["text"])
            return Returned("memory" if frame["raise"] == "MemoryError" else "error", None, text[:500])
        return Returned("ok", decode(frame["value"]) if "value" in frame else None, "")
    except FORGED as error:
        return Returned("crash", None, f"not a value: {type(error).__name__}")


def examine(candidate: Box, judge: Box, source: str, checker: Checker, limits: Limits) -> Examined:
    """Run a checker in one box against a candidate in another; only plain data passes between them."""
    job = {"mode": "checker", **checker._asdict()}
    with (
        Conversation(candidate, {"mode": "calls", "source": source}, limits) as theirs,
        Conversation(judge, job, limits) as ours,
    ):
        started = _returned(*theirs.hear())
        if started.outcome != "ok":
            return Examined(started.outcome, False, 0, started.error)
        reached = 0
        values: list[Any] = []
        while True:
            outcome, frame = ours.hear()
            if outcome == "ok" and not isinstance(frame, dict):
                outcome = "crash"
            if outcome != "ok":
                return Examined("infra" if outcome == "infra" else "error", False, reached, f"checker: {outcome}")
            if "passed" in frame:
                passed = frame["passed"] is True and reached > 0
                detail = str(frame.get("part", "" if passed else "no call was made"))
                return Examined("ok", passed, reached, detail, tuple(values))
            asked = frame.get("call") or {}
            call = {"op": "call", "name": checker.name, "args": asked.get("args", []), "named": asked.get("named", {})}
            outcome, answer = theirs.ask(call)
            if outcome != "ok":
                return Examined(outcome, False, reached, f"candidate: {outcome}", tuple(values))
            reached += 1
            returned = _returned("ok", answer)
            if returned.outcome == "ok" and len(values) < KEPT_VALUES:
                values.append(returned.value)
            ours.say(_plain(returned, answer))


def _plain(returned: Returned, frame: Any) -> dict[str, Any]:
    """A candidate's answer rebuilt from decoded data, so that nothing forged passes on."""
    if returned.outcome == "ok":
        return {"value": encode(returned.value)}
    name = frame.get("raise") if isinstance(frame, dict) else None
    return {"raise": name if isinstance(name, str) else "RuntimeError", "text": returned.error}

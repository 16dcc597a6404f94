"""The parent's half of each kind of job: feed it, read it within limits, decide how it ended.

Whatever a job sends is data of unknown honesty; nothing here trusts it beyond its length and its JSON form.
"""

import contextlib
import json
import os
import select
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from coevolve.sandbox.box import MEMORY_CODE, Box, Ended, Outcome
from coevolve.sandbox.inside.wire import decode, encode, pack

STDERR_BYTES = 4000
KEPT_VALUES = 20
XCPU = 24
FORGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, StopIteration)


class Limits(NamedTuple):
    """Seconds of one case and of a whole suite, and bytes of output a case may give."""

    case_seconds: float
    suite_seconds: float
    output_bytes: int


class Run(NamedTuple):
    """How one run of a whole program went."""

    outcome: Outcome
    stdout: str
    stderr: str
    seconds: float


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


def program(box: Box, source: str, stdin: str, limits: Limits) -> Run:
    """Run a whole program on `stdin` in a fresh process of the box."""
    start = time.monotonic()
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe(), os.pipe()
    try:
        channel = box.begin({"mode": "program", "source": source}, (in_read, out_write, err_write))
        channel.close()
    finally:
        for descriptor in (in_read, out_write, err_write):
            os.close(descriptor)
    pumped = _Pump(in_write, out_read, err_read, stdin.encode("utf-8", "surrogateescape"), limits.output_bytes)
    try:
        ended, cut = pumped.until_ended(box, start + limits.case_seconds)
    finally:
        pumped.close()
    outcome: Outcome = cut or _outcome(ended)
    out, err = (bytes(part).decode("utf-8", "replace") for part in (pumped.out, pumped.err))
    return Run(outcome, out, err[-STDERR_BYTES:], time.monotonic() - start)


def programs(box: Box, source: str, inputs: Sequence[str], limits: Limits) -> list[Run]:
    """Run a program once an input, each time in a fresh process; stops at the first failure or at the suite's limit."""
    ends = time.monotonic() + limits.suite_seconds
    runs: list[Run] = []
    for stdin in inputs:
        left = min(limits.case_seconds, ends - time.monotonic())
        if left <= 0:
            break
        runs.append(program(box, source, stdin, limits._replace(case_seconds=left)))
        if runs[-1].outcome != "ok":
            break
    return runs


class _Pump:
    """Feeds stdin and collects stdout and stderr, both capped, until the job ends."""

    def __init__(self, into: int, out: int, err: int, stdin: bytes, cap: int) -> None:
        self.into, self.fds = into, {out: bytearray(), err: bytearray()}
        self.out, self.err = self.fds[out], self.fds[err]
        self.pending, self.cap = memoryview(stdin), cap
        for descriptor in (into, out, err):
            os.set_blocking(descriptor, False)

    def until_ended(self, box: Box, deadline: float) -> tuple[Ended, Outcome | None]:
        poll = select.poll()
        for descriptor in (*self.fds, box.control):
            poll.register(descriptor, select.POLLIN)
        if self.pending:
            poll.register(self.into, select.POLLOUT)
        else:
            self._stop_feeding(None)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return box.reap(), "timeout"
            for descriptor, event in poll.poll(left * 1000 + 1):
                if descriptor == box.control:
                    ended = box.ended(time.monotonic() + 1)
                    full = not all([self._drain(item) for item in self.fds])
                    if ended is not None:
                        return ended, "output" if full else None
                elif descriptor == self.into:
                    self._feed(poll, event)
                elif event & select.POLLIN:
                    if not self._drain(descriptor):
                        return box.reap(), "output"
                else:
                    poll.unregister(descriptor)

    def _feed(self, poll: "select.poll", event: int) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            if event & select.POLLOUT:
                self.pending = self.pending[os.write(self.into, self.pending[: 1 << 16]) :]
        if not self.pending or event & (select.POLLERR | select.POLLHUP):
            self._stop_feeding(poll)

    def _stop_feeding(self, poll: "select.poll | None") -> None:
        if self.into >= 0:
            if poll is not None:
                poll.unregister(self.into)
            os.close(self.into)
            self.into = -1

    def _drain(self, descriptor: int) -> bool:
        """Read what is there; False when the cap is passed."""
        kept = self.fds[descriptor]
        with contextlib.suppress(BlockingIOError):
            while len(kept) <= self.cap:
                part = os.read(descriptor, 1 << 16)
                if not part:
                    return True
                kept += part
        return len(kept) <= self.cap

    def close(self) -> None:
        self._stop_feeding(None)
        for descriptor in self.fds:
            os.close(descriptor)


class Conversation:
    """Frames to and from one job, each within a deadline and a size cap."""

    def __init__(self, box: Box, job: dict[str, Any], limits: Limits) -> None:
        self.box, self.limits = box, limits
        self.suite_ends = time.monotonic() + limits.suite_seconds
        self.channel = box.begin(job)
        self._got = bytearray()
        self._ended: Ended | None = None

    def __enter__(self) -> "Conversation":
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
                return ("crash" if _outcome(self._ended) == "ok" else _outcome(self._ended)), None
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


def _outcome(ended: Ended) -> Outcome:
    code = ended.code
    if code == 0:
        return "ok"
    if code == MEMORY_CODE:
        return "memory"
    if code == -XCPU:
        return "timeout"
    return "error" if code > 0 else "crash"



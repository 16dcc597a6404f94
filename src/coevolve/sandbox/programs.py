"""Whole programs in a box: stdin fed, stdout and stderr collected within limits."""

import contextlib
import os
import select
import time
from collections.abc import Sequence
from typing import NamedTuple

from coevolve.sandbox.box import MEMORY_CODE, Box, Ended, Outcome

STDERR_BYTES = 4000
XCPU = 24


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


def outcome_of(ended: Ended) -> Outcome:
    """What the end of a process means."""
    code = ended.code
    if code == 0:
        return "ok"
    if code == MEMORY_CODE:
        return "memory"
    if code == -XCPU:
        return "timeout"
    return "error" if code > 0 else "crash"


def one(box: Box, source: str, stdin: str, limits: Limits) -> Run:
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
    outcome: Outcome = cut or outcome_of(ended)
    out, err = (bytes(part).decode("utf-8", "replace") for part in (pumped.out, pumped.err))
    return Run(outcome, out, err[-STDERR_BYTES:], time.monotonic() - start)


def many(box: Box, source: str, inputs: Sequence[str], limits: Limits) -> list[Run]:
    """Run a program once an input, each time in a fresh process; stops at the first failure or at the suite's limit."""
    ends = time.monotonic() + limits.suite_seconds
    runs: list[Run] = []
    for stdin in inputs:
        left = min(limits.case_seconds, ends - time.monotonic())
        if left <= 0:
            break
        runs.append(one(box, source, stdin, limits._replace(case_seconds=left)))
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
        """Serve the pipes until the job ends or passes a limit; its end, and which limit."""
        poll = select.poll()
        for descriptor in (*self.fds, box.control):
            poll.register(descriptor, select.POLLIN)
        if self.pending:
            poll.register(self.into, select.POLLOUT)
        else:
            self._stop_feeding(None)
        while (left := deadline - time.monotonic()) > 0:
            for descriptor, event in poll.poll(left * 1000 + 1):
                if descriptor == box.control:
                    ended = box.ended(time.monotonic() + 1)
                    full = [descriptor for descriptor in self.fds if not self._drain(descriptor)]
                    if ended is not None:
                        return ended, "output" if full else None
                elif not self._serve(poll, descriptor, event):
                    return box.reap(), "output"
        return box.reap(), "timeout"

    def _serve(self, poll: "select.poll", descriptor: int, event: int) -> bool:
        """Handle one pipe; False when the output cap is passed."""
        if descriptor == self.into:
            self._feed(poll, event)
        elif event & select.POLLIN:
            return self._drain(descriptor)
        else:
            poll.unregister(descriptor)
        return True

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

"""One box seen from the parent: start it, give it one job at a time, hear how the job ended.

Blocking and bounded: every wait has a deadline, every read a cap. Meant for threads of the sandbox's own pool.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from coevolve.errors import ToolError
from coevolve.sandbox.inside.wire import pack
from coevolve.sandbox.inside.zygote import COMMAND, ENDED

Outcome = Literal["ok", "error", "timeout", "memory", "output", "crash", "infra"]
"""How a job ended; `infra` is the sandbox's own failure and never counts against an answer."""

START_SECONDS = 20.0
MEMORY_CODE = 3


class Plan(NamedTuple):
    """How a box of one kind is started."""

    kind: Literal["bubblewrap", "landlock", "unsafe"]
    argv: tuple[str, ...]
    """Command line; `{control}` and `{filter}` stand for descriptor numbers."""
    setup: dict[str, Any]
    """First message to the launcher inside."""
    filter: bytes
    """Seccomp program handed over by descriptor; empty = none."""


class Ended(NamedTuple):
    """How the operating system saw a job end."""

    status: int
    peak_kb: int

    @property
    def code(self) -> int:
        """Exit code, or minus the signal."""
        return os.waitstatus_to_exitcode(self.status)


class Box:
    """A running box. Not safe for two threads at once; `destroy` may come from any thread."""

    def __init__(self, plan: Plan, second: bool = False) -> None:
        """`second`: kept for second looks at programs that ran in another box."""
        self.plan = plan
        self.second = second
        self.jobs = 0
        self.dead = False
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
        self._control, theirs = socket.socketpair(socket.AF_UNIX, kind)
        pipes = [theirs.fileno()]
        argv = list(plan.argv)
        filter_in = _readable(plan.filter) if plan.filter else None
        if filter_in is not None:
            pipes.append(filter_in)
        argv = [part.replace("{control}", str(pipes[0])).replace("{filter}", str(pipes[-1])) for part in argv]
        try:
            self._process = subprocess.Popen(
                argv,
                env={},
                pass_fds=pipes,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                cwd="/",
            )
        finally:
            theirs.close()
            if filter_in is not None:
                os.close(filter_in)
        self._serial = 0
        try:
            self._control.send(json.dumps(plan.setup).encode())
            ready = self._hear(time.monotonic() + START_SECONDS)
        except OSError:
            ready = None
        if ready != b"R":
            self.destroy()
            raise ToolError(f"{plan.kind} box did not start: {self._complaint()}")

    def _hear(self, deadline: float) -> bytes | None:
        """The next message of the launcher, or None at the deadline; ToolError when the box is gone."""
        left = max(0.0, deadline - time.monotonic())
        if not select.select([self._control], [], [], left)[0]:
            return None
        message = self._control.recv(4096)
        if not message:
            raise ConnectionError("box is gone")
        return message

    def _complaint(self) -> str:
        errors = self._process.stderr
        if errors is None or errors.closed:
            return "no reason given"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        text = b""
        if select.select([errors], [], [], 0)[0]:
            text = os.read(errors.fileno(), 2000)
        return text.decode("utf-8", "replace").strip().replace("\n", "; ")[-300:] or "no reason given"

    def begin(self, job: dict[str, Any], pipes: Sequence[int] = ()) -> socket.socket:
        """Fork a job that inherits `pipes` as 0, 1, 2; the channel to it. The caller closes the channel."""
        ours, theirs = socket.socketpair()
        try:
            self._serial += 1
            self.jobs += 1
            socket.send_fds(self._control, [COMMAND.pack(b"J", self._serial)], [theirs.fileno(), *pipes])
        except OSError as error:
            ours.close()
            raise ToolError(f"box is gone: {error}") from error
        finally:
            theirs.close()
        ours.settimeout(START_SECONDS)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            ours.sendall(pack(job))
        return ours

    @property
    def control(self) -> int:
        """Descriptor that becomes readable when the job has ended or the box is gone."""
        return self._control.fileno()

    def kill_job(self) -> None:
        """Kill the job that runs now."""
        with contextlib.suppress(OSError):
            self._control.send(COMMAND.pack(b"K", self._serial))

    def ended(self, deadline: float) -> Ended | None:
        """How the running job ended, or None when it still runs at the deadline. Raises ToolError for a lost box."""
        try:
            message = self._hear(deadline)
        except (OSError, ValueError) as error:
            self.destroy()
            raise ToolError("the box went away during a job") from error
        if message is None:
            return None
        _, _, status, peak = ENDED.unpack(message)
        return Ended(status, peak)

    def reap(self, seconds: float = 5.0) -> Ended:
        """Kill the job and wait for its end; a box that cannot is destroyed (ToolError)."""
        self.kill_job()
        ended = self.ended(time.monotonic() + seconds)
        if ended is None:
            self.destroy()
            raise ToolError("a job could not be killed; its box was destroyed")
        return ended

    def destroy(self) -> None:
        """End the box and everything in it at once."""
        if self.dead:
            return
        self.dead = True
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Destroy the box and release its descriptors; only by the thread that owns it."""
        self.destroy()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._control.close()


def _readable(body: bytes) -> int:
    """A descriptor from which exactly `body` can be read (it fits a pipe)."""
    reader, writer = os.pipe()
    os.write(writer, body)
    os.close(writer)
    return reader

"""Checker processes: kept warm, one request at a time each, killed when a limit passes, replaced at once."""

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from coevolve.config import VerificationConfig
from coevolve.errors import ToolError
from coevolve.sandbox import seccomp
from coevolve.sandbox.inside.wire import pack
from coevolve.verifiers import exact

Role = Literal["compare", "opinion"]

START_SECONDS = 60.0
SPARES: dict[Role, int] = {"compare": 0, "opinion": 1}
"""Processes kept warm beside the working ones: an opinion is killed often and takes seconds to start."""
ANSWER_BYTES = 1 << 20
ROOT = str(Path(exact.__file__).parents[3])
START = "import sys; sys.path.insert(0, {root!r}); from coevolve.verifiers.exact.serve import main; main()"


class TimedOut(Exception):
    """A request passed its limit; the process was killed."""


class Worker:
    """One checker process and its pipes. Used by one thread at a time."""

    def __init__(self, role: Role, memory_mb: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", START.format(root=ROOT)],
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        filtered = sys.platform == "linux" and seccomp.supported()
        setup = {"role": role, "memory_mb": memory_mb, "filter": seccomp.job_filter().hex() if filtered else ""}
        self.ready = False
        self._send(setup)

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """Answer of the process. Raises TimedOut (the process is gone then) or ToolError."""
        if not self.ready:
            self._receive(START_SECONDS)
            self.ready = True
        self._send(request)
        return self._receive(seconds)

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            os.write(self._stream(self._process.stdin), pack(message))
        except OSError as error:
            self.close()
            raise ToolError(f"a checker process is gone: {error}") from error

    def _receive(self, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        out = self._stream(self._process.stdout)
        got = bytearray()
        while len(got) < 4 or len(got) < 4 + int.from_bytes(got[:4], "big"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                self.close()
                raise TimedOut
            part = os.read(out, 1 << 16)
            if not part or len(got) > ANSWER_BYTES:
                self.close()
                raise ToolError("a checker process ended without an answer")
            got += part
        return json.loads(got[4:])

    @staticmethod
    def _stream(stream: Any) -> int:
        return int(stream.fileno())

    def close(self) -> None:
        """Kill the process and release its pipes; calling it twice is harmless."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                with suppress(OSError):
                    stream.close()


class Checkers:
    """Pools of checker processes by role, started with the first request. Usable from any loop and thread."""

    def __init__(self, config: VerificationConfig) -> None:
        self.config = config
        self.timeouts = 0
        self._pools = {
            "compare": ThreadPoolExecutor(config.workers, "checker"),
            "opinion": ThreadPoolExecutor(1, "opinion"),
        }
        self._idle: dict[Role, list[Worker]] = {"compare": [], "opinion": []}
        self._lock = threading.Lock()
        self._closed = False

    async def ask(self, role: Role, request: Mapping[str, Any], seconds: float | None = None) -> Any:
        """The process's answer, or None past the limit (`checker_seconds` unless given). Raises ToolError."""
        limit = self.config.checker_seconds if seconds is None else seconds
        return await asyncio.get_running_loop().run_in_executor(self._pools[role], self._ask, role, request, limit)

    async def warm(self) -> None:
        """Start the processes of both roles and wait until they answer."""
        compare = {"gold": "x", "unit": "", "answer": "x", "kind": "", "rule": None}
        async with asyncio.TaskGroup() as group:
            for _ in range(self.config.workers):
                group.create_task(self.ask("compare", compare))
            group.create_task(self.ask("opinion", {"gold": "1", "answer": "1", "seconds": 5}, START_SECONDS))

    def _ask(self, role: Role, request: Mapping[str, Any], seconds: float) -> Any:
        worker = self._take(role)
        try:
            answer = worker.ask(request, seconds)
        except TimedOut:
            with self._lock:
                self.timeouts += 1
            self._give_back(role, Worker(role, self.config.checker_memory_mb))
            return None
        self._give_back(role, worker)
        return answer

    def _take(self, role: Role) -> Worker:
        """A warm process; where a spare is kept and none waits, another is started beside it."""
        with self._lock:
            idle = self._idle[role]
            worker = idle.pop(0) if idle else None
            short = not idle and SPARES[role] > 0
        if short:
            self._give_back(role, Worker(role, self.config.checker_memory_mb))
        return worker or Worker(role, self.config.checker_memory_mb)

    def _give_back(self, role: Role, worker: Worker) -> None:
        """Ready processes wait in front, starting ones behind them."""
        with self._lock:
            if not self._closed:
                self._idle[role].insert(0 if worker.ready else len(self._idle[role]), worker)
                return
        worker.close()

    async def close(self) -> None:
        """End every process; calling it twice is harmless."""
        with self._lock:
            self._closed = True
            workers = [worker for idle in self._idle.values() for worker in idle]
            self._idle = {"compare": [], "opinion": []}
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()

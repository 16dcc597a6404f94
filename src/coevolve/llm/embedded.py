"""The embedded model: a GGUF file answered inside this process, several replies at once.

Each reply at once has a server of its own with one thread. Threads of one server meet at spinning barriers and lose a
factor of 10 to 40 as soon as other work wants a core; single threads share a core like any program (docs/models.md).
"""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event

from coevolve.llm.base import ChatReply, ChatRequest, Message
from coevolve.llm.llama import LlamaServer

CONTEXT_TOKENS = 4096
CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(slots=True, eq=False)
class _Seat:
    """One server and the prompt it has evaluated last."""

    server: LlamaServer
    prompt: tuple[Message, ...] = ()
    busy: bool = False


@dataclass(slots=True, eq=False)
class _Waiting:
    prompt: tuple[Message, ...]
    seat: asyncio.Future[_Seat]


class EmbeddedModel:
    """A ChatModel over a GGUF file. Requests of one prompt go to one server in a row, so that it is read once."""

    def __init__(
        self,
        path: Path,
        name: str,
        slots: int,
        threads: int = 0,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        thinking: bool | None = None,
    ) -> None:
        """Load `path`, ready for up to `slots` replies at once on `threads` cores (0 = as many as this process has).

        Raises MissingExtra without xllamacpp, ConfigError for a file that is no model.
        """
        servers, each = plan(slots, threads, usable_cores())
        self._name = name
        self._thinking = thinking
        self._pool = ThreadPoolExecutor(servers, thread_name_prefix="embedded")
        loaded = self._pool.map(lambda _: LlamaServer(path, each, context_tokens), range(servers))
        self._seats = [_Seat(server) for server in loaded]
        self._waiting: list[_Waiting] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def replies_at_once(self) -> int:
        """How many requests are answered at the same time."""
        return len(self._seats)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; cancelling it ends the work on it. Raises CallFailed."""
        seat = await self._seat(request.messages)
        started = time.perf_counter()
        stop = Event()
        work = asyncio.get_running_loop().run_in_executor(self._pool, seat.server.answer, request, self._thinking, stop)
        work.add_done_callback(partial(self._leave, seat))
        try:
            reply = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            raise
        return replace(reply, model=self._name, seconds=time.perf_counter() - started)

    async def close(self) -> None:
        for waiting in self._waiting:
            waiting.seat.cancel()
        self._waiting.clear()
        await asyncio.to_thread(self._pool.shutdown)
        self._seats.clear()

    async def _seat(self, prompt: tuple[Message, ...]) -> _Seat:
        waiting = _Waiting(prompt, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._dispatch()
        try:
            return await waiting.seat
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif not waiting.seat.cancelled():
                self._free(waiting.seat.result())
            raise

    def _dispatch(self) -> None:
        for seat in self._seats:
            if not seat.busy and self._waiting:
                waiting = self._choose(seat)
                self._waiting.remove(waiting)
                seat.busy, seat.prompt = True, waiting.prompt
                waiting.seat.set_result(seat)

    def _leave(self, seat: _Seat, work: asyncio.Future[ChatReply]) -> None:
        if not work.cancelled():
            work.exception()  # seen, also where the caller has gone
        self._free(seat)

    def _free(self, seat: _Seat) -> None:
        seat.busy = False
        self._dispatch()

    def _choose(self, seat: _Seat) -> _Waiting:
        """The oldest request with this server's prompt; else with a prompt that no other server holds; else any."""
        held = {other.prompt for other in self._seats if other is not seat}
        same = (waiting for waiting in self._waiting if waiting.prompt == seat.prompt)
        free = (waiting for waiting in self._waiting if waiting.prompt not in held)
        return next(same, None) or next(free, None) or self._waiting[0]


def plan(slots: int, threads: int, cores: int) -> tuple[int, int]:
    """(servers, threads of each): one thread a server, as many servers as cores, unless more threads are asked for."""
    servers = min(slots, threads or cores)
    return servers, max(1, threads // servers)


def usable_cores() -> int:
    """Cores this process may use (CPU affinity and the container's quota), at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if CGROUP_QUOTA.is_file():
        quota, period = CGROUP_QUOTA.read_text().split()
        if quota != "max":
            cores = min(cores, round(int(quota) / int(period)))
    return max(1, cores)

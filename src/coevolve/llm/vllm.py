"""A vLLM server that a run starts, waits for, shares among its roles and ends, whatever happens to the run."""

import asyncio
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.request
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path

from coevolve.config_models import FlowConfig, VllmConfig
from coevolve.errors import EndpointError
from coevolve.llm import keeper
from coevolve.llm.base import ChatReply, ChatRequest, Usage
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.vllm_plan import Plan, assign_gpus, check_installed, diagnose, find_gpus, server_plan
from coevolve.llm.wire import SchemaMode

POLL_SECONDS = 0.5
END_SECONDS = 2 * keeper.GRACE_SECONDS
LOG_TAIL_BYTES = 20_000
LOG_HEAD = re.compile(r"^\([^)]*\)\s*")
"""Which of the server's processes speaks."""
SHOWN = 120
"""Characters of a log line that are shown as progress."""


@dataclass(slots=True)
class _Server:
    process: Process
    plan: Plan
    log: Path


@dataclass(slots=True)
class _Served:
    """The servers of one model and how many clients use them."""

    servers: list[_Server] = field(default_factory=list)
    users: int = 0
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    died: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """What became of the first server that ended by itself."""
    watchers: list[asyncio.Task[None]] = field(default_factory=list)


class VllmServers:
    """Starts each model once; `say` gets a line of progress now and then. Logs go to `logs`."""

    def __init__(self, config: VllmConfig, logs: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self._config = config
        self._logs = logs
        self._say = say
        self._models: dict[str, _Served] = {}

    async def acquire(self, model: str) -> list[str]:
        """Addresses of the servers of `model`, started if need be. Raises EndpointError, MissingExtra."""
        served = self._models.setdefault(model, _Served())
        async with served.starting:
            if not served.servers:
                try:
                    await self._start(model, served)
                except BaseException:
                    await self._end(served)
                    raise
            served.users += 1
        return [f"http://127.0.0.1:{server.plan.port}/v1" for server in served.servers]

    def died(self, model: str) -> asyncio.Future[str]:
        """Done once a server of `model` has ended by itself; its result says why."""
        return self._models[model].died

    async def release(self, model: str) -> None:
        """One user fewer; the last one ends the servers."""
        served = self._models[model]
        served.users -= 1
        if served.users == 0:
            await self._end(served)

    async def _start(self, model: str, served: _Served) -> None:
        python = await asyncio.to_thread(check_installed, self._config)
        gpus = await asyncio.to_thread(find_gpus)
        groups = assign_gpus(model, gpus, self._config)
        self._logs.mkdir(parents=True, exist_ok=True)
        for number, group in enumerate(groups):
            plan = server_plan(python, model, group, self._config, free_port())
            log = self._logs / f"vllm-{Path(model).name}-{number}.log"
            on = ", ".join(f"GPU {gpu.number} ({gpu.name})" for gpu in group) or "the CPU"
            self._say(f"starting vllm for {model} on {on}; its log is {log}")
            served.servers.append(_Server(await _spawn(plan, log), plan, log))
        for server in served.servers:
            await self._ready(model, server)
        served.watchers = [asyncio.create_task(self._watch(model, served, server)) for server in served.servers]

    async def _watch(self, model: str, served: _Served, server: _Server) -> None:
        await server.process.wait()
        if not served.died.done():
            served.died.set_result(f"vllm for {model} ended: {diagnose(_tail(server.log))} (log: {server.log})")

    async def _ready(self, model: str, server: _Server) -> None:
        """Wait for a server's health, with the log's last line as progress. Raises EndpointError when it is dead."""
        started, shown = time.monotonic(), ""
        while not await asyncio.to_thread(_healthy, server.plan.port):
            log = _tail(server.log)
            if server.process.returncode is not None:
                raise EndpointError(f"vllm for {model} ended at start: {diagnose(log)} (log: {server.log})")
            if time.monotonic() - started > self._config.startup_seconds:
                raise EndpointError(
                    f"vllm for {model} is not ready after {self._config.startup_seconds:.0f} s; raise "
                    f"vllm.startup_seconds or see {server.log}"
                )
            last = LOG_HEAD.sub("", log.strip().rpartition("\n")[2])[:SHOWN]
            if last != shown:
                self._say(f"vllm {model}: {last}")
                shown = last
            await asyncio.sleep(POLL_SECONDS)
        self._say(f"vllm for {model} is ready after {time.monotonic() - started:.0f} s")

    async def _end(self, served: _Served) -> None:
        servers, served.servers = served.servers, []
        for watcher in served.watchers:
            watcher.cancel()
        for server in servers:
            assert server.process.stdin is not None
            server.process.stdin.close()
        for server in servers:
            try:
                async with asyncio.timeout(END_SECONDS):
                    await server.process.wait()
            except TimeoutError:
                server.process.kill()


class VllmModel:
    """A ChatModel over the servers of one model; each call goes to the server with the fewest in flight."""

    def __init__(
        self,
        name: str,
        servers: VllmServers,
        flow: FlowConfig,
        thinking: bool | None = None,
        schema_mode: SchemaMode = "json_schema",
    ) -> None:
        self._name = name
        self._servers = servers
        self._flow = flow
        self._thinking = thinking
        self._schema_mode = schema_mode
        self._clients: list[OpenAIModel] = []
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request, starting the servers at the first. Raises CallFailed, MissingExtra, EndpointError.

        The last of them as soon as a server has ended: no call waits for one that cannot come back.
        """
        clients = self._clients or await self._open()
        least = min(clients, key=lambda client: client.state.in_flight)
        died, caller = self._servers.died(self._name), asyncio.current_task()
        assert caller is not None

        def end(_: asyncio.Future[str]) -> None:
            caller.cancel()

        died.add_done_callback(end)
        try:
            return await least.chat(request)
        except asyncio.CancelledError:
            if not died.done():
                raise
            caller.uncancel()
            raise EndpointError(died.result()) from None
        finally:
            died.remove_done_callback(end)

    async def preflight(self) -> ChatReply:
        """Start the servers and make one short call to each. Raises EndpointError, MissingExtra."""
        replies = [await client.preflight() for client in await self._open()]
        used = Usage(sum(reply.usage.tokens_in for reply in replies), sum(reply.usage.tokens_out for reply in replies))
        return replace(replies[-1], usage=used)

    async def close(self) -> None:
        clients, self._clients = self._clients, []
        for client in clients:
            await client.close()
        if clients:
            await self._servers.release(self._name)

    async def _open(self) -> list[OpenAIModel]:
        async with self._opening:
            if not self._clients:
                urls = await self._servers.acquire(self._name)
                self._clients = [
                    OpenAIModel.at(self._name, url, None, self._flow, self._thinking, self._schema_mode) for url in urls
                ]
        return self._clients


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _spawn(plan: Plan, log: Path) -> Process:
    """The keeper with the server below it; the keeper's input closes when this process ends, however it ends."""
    with log.open("wb") as file:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            keeper.__file__,
            *plan.command,
            stdin=PIPE,
            stdout=file,
            stderr=file,
            env={**os.environ, **plan.environment},
            start_new_session=True,
        )


def _healthy(port: int) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://127.0.0.1:{port}/health", timeout=2) as reply:
            return bool(reply.status == HTTPStatus.OK)
    except (urllib.error.URLError, OSError):
        return False


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        return file.read().decode(errors="replace")

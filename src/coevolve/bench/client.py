"""What a call costs beside a bare aiohttp loop, on a server with known latencies."""

import asyncio
import json
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from coevolve.bench.mock_endpoint import Profile, first_come_bound, latencies
from coevolve.errors import ToolError

REQUESTS = 2000
TAIL_REQUESTS = 640
AT_ONCE = 64


def bench_client() -> dict[str, Any]:
    """Figures of the client under 64 calls at once; prints them for people."""
    return asyncio.run(_bench())


async def _bench() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        bare, _ = await _load("constant", REQUESTS, "bare", folder)
        ours, _ = await _load("constant", REQUESTS, "calls", folder)
        again, _ = await _load("constant", REQUESTS, "calls", folder)
        _, window = await _load("lognormal", TAIL_REQUESTS, "calls", folder / "tail")
    bound = first_come_bound(latencies("lognormal", TAIL_REQUESTS), AT_ONCE)
    figures = {
        "cpu_ms": round(1000 * ours["cpu"] / REQUESTS, 3),
        "rps": round(REQUESTS / ours["seconds"], 1),
        "cpu_ratio": round(ours["cpu"] / bare["cpu"], 3),
        "rps_ratio": round(bare["seconds"] / ours["seconds"], 3),
        "tail_ratio": round(window / bound, 3),
        "peak_mb": round(ours["peak_mb"], 1),
        "rerun_s": round(again["seconds"], 3),
        "rerun_ms_a_call": round(1000 * again["loop_cpu"] / REQUESTS, 3),
        "loop_cpu_ms": round(1000 * ours["loop_cpu"] / REQUESTS, 3),
        "loop_cpu_ratio": round(ours["loop_cpu"] / bare["loop_cpu"], 3),
        "bare_cpu_ms": round(1000 * bare["cpu"] / REQUESTS, 3),
        "bare_rps": round(REQUESTS / bare["seconds"], 1),
        "requests": REQUESTS,
    }
    print(
        f"{REQUESTS} calls, {AT_ONCE} at once, 50 ms each: {figures['rps']} a second (bare loop {figures['bare_rps']})"
    )
    print(f"CPU a call with imports: {figures['cpu_ms']} ms, {figures['cpu_ratio']} times the bare loop")
    print(f"CPU a call in the loop: {figures['loop_cpu_ms']} ms, {figures['loop_cpu_ratio']} times the bare loop")
    print(f"heavy-tailed latencies: {figures['tail_ratio']} times the first-come bound of {bound:.1f} s")
    print(f"peak memory {figures['peak_mb']} MB; the same calls again from the journal in {figures['rerun_s']} s")
    return figures


async def _load(profile: Profile, count: int, kind: str, folder: Path) -> tuple[dict[str, float], float]:
    """One client process against one server process: the client's figures and the server's window in seconds."""
    async with _server(profile, count) as (server, port):
        arguments = (kind, f"http://127.0.0.1:{port}/v1", str(count), str(AT_ONCE), str(folder))
        client = await _start("client_load", *arguments)
        said, _ = await client.communicate()
        if client.returncode:
            raise ToolError(f"the load {kind!r} ended with {client.returncode}")
        assert server.stdin is not None
        server.stdin.close()
        window, _ = await server.communicate()
    return json.loads(said), float(window)


@asynccontextmanager
async def _server(profile: Profile, count: int) -> AsyncIterator[tuple[Process, int]]:
    server = await _start("mock_endpoint", profile, str(AT_ONCE), str(count))
    try:
        assert server.stdout is not None
        yield server, int(await server.stdout.readline())
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()


async def _start(module: str, *arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"coevolve.bench.{module}", *arguments, stdin=PIPE, stdout=PIPE
    )

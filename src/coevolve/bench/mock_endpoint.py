"""A chat endpoint with known latencies: at most `slots` requests in service, the rest wait first come, first served.

Run as a program it prints its port and serves until its standard input ends.
"""

import argparse
import asyncio
import heapq
import json
import math
import random
import sys
import time
from collections.abc import Sequence
from typing import Literal

Profile = Literal["constant", "lognormal"]
LATENCY_SECONDS = 0.05
MEDIAN_SECONDS, P99_SECONDS = 0.2, 3.0
P99_DEVIATIONS = 2.3263478740408408
TEXT = json.dumps({"answer": "42", "reasoning": "The quick brown fox jumps over the lazy dog. " * 6})
BODY = json.dumps(
    {
        "object": "chat.completion",
        "model": "mock",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 75, "total_tokens": 175},
    }
).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


def latencies(profile: Profile, count: int) -> list[float]:
    """Seconds of each request in order of arrival, the same at every start."""
    if profile == "constant":
        return [LATENCY_SECONDS] * count
    draw = random.Random(20240601)
    sigma = math.log(P99_SECONDS / MEDIAN_SECONDS) / P99_DEVIATIONS
    return [MEDIAN_SECONDS * math.exp(sigma * draw.gauss(0, 1)) for _ in range(count)]


def first_come_bound(seconds: Sequence[float], slots: int) -> float:
    """The shortest time in which all can be served in their order by `slots` servers."""
    free = [0.0] * slots
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


class Endpoint(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    service: "Service"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        if not end:
            return
        lower = head.lower()
        at = lower.find(b"content-length:")
        length = int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) >= length:
            self._data = body[length:]
            self.service.arrived(self)

    def answer(self) -> None:
        """Send the reply, if the client is still there."""
        if not self._transport.is_closing():
            self._transport.write(REPLY)


class Service:
    """The slots, the queue and the times of first arrival and last reply."""

    def __init__(self, seconds: Sequence[float], slots: int) -> None:
        self._seconds = iter(seconds)
        self._free = slots
        self._queue: list[Endpoint] = []
        self._next = 0
        self.first = self.last = 0.0

    def arrived(self, endpoint: Endpoint) -> None:
        """A whole request is there."""
        self.first = self.first or time.perf_counter()
        self._queue.append(endpoint)
        self._start()

    def _start(self) -> None:
        while self._free and self._next < len(self._queue):
            endpoint = self._queue[self._next]
            self._next += 1
            self._free -= 1
            asyncio.get_running_loop().call_later(next(self._seconds), self._done, endpoint)

    def _done(self, endpoint: Endpoint) -> None:
        endpoint.answer()
        self.last = time.perf_counter()
        self._free += 1
        self._start()


async def serve(profile: Profile, slots: int, count: int) -> None:
    """Serve until standard input ends; then print the window from first arrival to last reply in seconds."""
    service = Service(latencies(profile, count), slots)

    def connected() -> Endpoint:
        endpoint = Endpoint()
        endpoint.service = service
        return endpoint

    loop = asyncio.get_running_loop()
    server = await loop.create_server(connected, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()
    print(service.last - service.first, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("profile", choices=("constant", "lognormal"))
    parser.add_argument("slots", type=int)
    parser.add_argument("count", type=int)
    given = parser.parse_args()
    asyncio.run(serve(given.profile, given.slots, given.count))

"""An endpoint that answers as the procedural model and the scripted solver, after a latency that the seed decides.

Run as a program it prints its port, serves until its standard input ends, then prints when it served which seed.
"""

import asyncio
import json
import math
import random
import sys
import time
from typing import Any

from aiohttp import web

from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling
from coevolve.llm.scripted import scripted_solver
from coevolve.procedural.model import ProceduralModel

MEDIAN_SECONDS, SIGMA = 0.1, 0.8
"""Of the lognormal latencies; their 99th percentile is 0.64 s."""


def latency(seed: int) -> float:
    """Seconds that the call of `seed` takes in service, the same at every start."""
    return MEDIAN_SECONDS * math.exp(SIGMA * random.Random(seed).gauss(0, 1))


class Endpoint:
    """Serves `slots` calls at a time, the others wait first come, first served."""

    def __init__(self, slots: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._roles, self._solver = ProceduralModel(), scripted_solver()
        self.served: list[tuple[int, float, float]] = []
        """Seed, arrival and end (Unix seconds) of each call."""

    async def chat(self, request: web.Request) -> web.Response:
        """Answer one chat completion."""
        body, arrived = await request.json(), time.time()
        seed = int(body.get("seed", 0))
        async with self._slots:
            begun = time.monotonic()
            reply = await self._reply(body, seed)
            await asyncio.sleep(max(0.0, latency(seed) - (time.monotonic() - begun)))
        self.served.append((seed, arrived, time.time()))
        return web.json_response(_completion(body["model"], reply))

    async def _reply(self, body: dict[str, Any], seed: int) -> ChatReply:
        role = body.get("response_format", {}).get("json_schema", {}).get("name", "solver")
        messages = tuple(Message(message["role"], message["content"]) for message in body["messages"])
        asked = ChatRequest(messages, Sampling(body["temperature"], body.get("max_tokens", 4096), seed), None, role)
        return await (self._solver if role == "solver" else self._roles).chat(asked)


def _completion(model: str, reply: ChatReply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": reply.text}, "finish_reason": reply.finish}
        ],
        "usage": {
            "prompt_tokens": usage.tokens_in,
            "completion_tokens": usage.tokens_out,
            "total_tokens": usage.tokens_in + usage.tokens_out,
        },
    }


async def serve(slots: int) -> None:
    """Serve until standard input ends."""
    endpoint = Endpoint(slots)
    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/chat/completions", endpoint.chat)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()
    print(json.dumps(endpoint.served), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))

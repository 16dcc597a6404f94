"""An OpenAI-compatible server that answers with any ChatModel and injects faults by seed. For tests and trials."""

import asyncio
import json
import random
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from coevolve.llm.base import ChatModel, ChatReply, ChatRequest, Message, Sampling, Usage

FAULTS = (
    "malformed",
    "wrong_schema",
    "empty",
    "truncation",
    "429",
    "429_wait",
    "500",
    "hang",
    "dropped",
    "slow",
    "wrong_model",
)
"""Broken HTTP body; a JSON object of another form; no text; half a text that met its limit; 429 without and with
Retry-After; 500; no answer at all; a connection closed half-way; an answer byte by byte; another model's name."""


CHARS_A_TOKEN = 4
DECK = 200
BODIES = 100


@dataclass(frozen=True, slots=True)
class Served:
    """What the server has done: requests by outcome (`ok` or the fault), and tokens of answers it counted."""

    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    @property
    def requests(self) -> int:
        """All requests that reached the server."""
        return self.outcomes.total()


class FaultyServer:
    """`async with FaultyServer(model, faults, seed) as server:` serves at `server.base_url` on loopback.

    `faults` maps a fault of FAULTS to the share of requests that meet it; it may be changed while serving.
    `hang_seconds` bounds a hang and `slow_seconds` spreads a slow answer. With `key`, requests must carry it; with
    `names`, only those models exist.
    """

    def __init__(
        self,
        model: ChatModel,
        faults: Mapping[str, float],
        seed: int,
        *,
        hang_seconds: float = 60.0,
        slow_seconds: float = 0.5,
        key: str | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        unknown = set(faults) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults {sorted(unknown)}; known: {', '.join(FAULTS)}")
        self.served = Served()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=BODIES)
        """The last requests that reached a model, newest last."""
        self._model = model
        self.faults = dict(faults)
        self.spared = 0
        """So many first requests meet no fault."""
        self._random = random.Random(seed)
        self._deck: list[str] = []
        self._deck_of: dict[str, float] = {}
        self._hang_seconds, self._slow_seconds = hang_seconds, slow_seconds
        self._key, self._names = key, names
        self.refuses: tuple[str, ...] = ()
        """Parameters that are unknown here."""
        self.context_tokens: int | None = None
        """Most tokens of prompt and reply together."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        self.base_url = ""

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if self._key is not None and request.headers.get("Authorization") != f"Bearer {self._key}":
            return self._error(401, "the key is wrong")
        if self._names and body["model"] not in self._names:
            return self._error(404, f"the model {body['model']} does not exist")
        self.bodies.append(body)
        for parameter in self.refuses:
            if parameter in body:
                return self._error(400, f"Unknown parameter: '{parameter}'.")
        asked = read_request(body)
        words = sum(len(message.content) for message in asked.messages) // CHARS_A_TOKEN
        if self.context_tokens is not None and words + asked.sampling.max_tokens > self.context_tokens:
            return self._error(400, f"This model's maximum context length is {self.context_tokens} tokens.")
        fault = self._draw()
        if fault == "wrong_schema" and asked.schema is None:
            fault = "ok"
        if fault in ("429", "429_wait"):
            return self._error(429, "too fast", fault, {"Retry-After": "0.2"} if fault == "429_wait" else None)
        if fault == "500":
            return self._error(500, "broken", fault)
        if fault == "hang":
            self.served.outcomes["hang"] += 1
            await asyncio.sleep(self._hang_seconds)
            return web.Response(status=500)
        reply = await self._model.chat(asked)
        return await self._send(request, body["model"], reply, fault)

    def _draw(self) -> str:
        """One draw a request, by order of arrival, from a shuffled deck that holds each fault by its share."""
        if self.served.requests < self.spared:
            return "ok"
        if not self._deck or self._deck_of != self.faults:
            self._deck_of = dict(self.faults)
            self._deck = [fault for fault, share in self.faults.items() for _ in range(round(share * DECK))]
            self._deck += ["ok"] * (DECK - len(self._deck))
            self._random.shuffle(self._deck)
        return self._deck.pop()

    async def _send(self, request: web.Request, name: str, reply: ChatReply, fault: str) -> web.StreamResponse:
        self.served.outcomes[fault] += 1
        text, finish = reply.text, str(reply.finish)
        if fault == "wrong_schema":
            text = json.dumps({"unasked": text[:40]})
        elif fault == "empty":
            text = ""
        elif fault == "truncation":
            text, finish = text[: len(text) // 2], "length"
        named = f"{name}-other" if fault == "wrong_model" else name
        payload = json.dumps(completion(named, text, finish, reply.usage, reply.reasoning))
        if fault == "malformed":
            return web.Response(text=payload[: len(payload) // 2], content_type="application/json")
        if fault in ("dropped", "slow"):
            return await self._in_pieces(request, payload.encode(), fault, reply.usage)
        if fault != "wrong_model":
            self._count(reply.usage)
        return web.Response(text=payload, content_type="application/json")

    async def _in_pieces(self, request: web.Request, data: bytes, fault: str, usage: Usage) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = len(data)
        await response.prepare(request)
        if fault == "dropped":
            await response.write(data[: len(data) // 2])
            if request.transport is not None:
                request.transport.abort()
            return response
        pieces = 10
        step = len(data) // pieces + 1
        for start in range(0, len(data), step):
            await response.write(data[start : start + step])
            await asyncio.sleep(self._slow_seconds / pieces)
        await response.write_eof()
        self._count(usage)
        return response

    def _count(self, usage: Usage) -> None:
        self.served.tokens["in"] += usage.tokens_in
        self.served.tokens["out"] += usage.tokens_out
        self.served.tokens["cached"] += usage.tokens_cached
        self.served.tokens["reasoning"] += usage.tokens_reasoning

    def _error(
        self, status: int, message: str, outcome: str | None = None, headers: dict[str, str] | None = None
    ) -> web.Response:
        self.served.outcomes[outcome or str(status)] += 1
        return web.json_response({"error": {"message": message}}, status=status, headers=headers)


def read_request(body: Mapping[str, Any]) -> ChatRequest:
    """The ChatRequest that a chat completion's JSON body stands for."""
    wanted = body.get("response_format", {}).get("json_schema", {})
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1024
    return ChatRequest(
        messages=tuple(Message(turn["role"], turn["content"]) for turn in body["messages"]),
        sampling=Sampling(body["temperature"], limit, body.get("seed", 0), tuple(body.get("stop", ()))),
        schema=wanted.get("schema"),
        schema_name=wanted.get("name", "reply"),
    )


def completion(name: str, text: str, finish: str, usage: Usage, reasoning: str = "") -> dict[str, Any]:
    """A chat completion's JSON."""
    message = {"role": "assistant", "content": text}
    if reasoning:
        message["reasoning_content"] = reasoning
    return {
        "object": "chat.completion",
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": usage.tokens_in,
            "completion_tokens": usage.tokens_out,
            "prompt_tokens_details": {"cached_tokens": usage.tokens_cached},
            "completion_tokens_details": {"reasoning_tokens": usage.tokens_reasoning},
        },
    }

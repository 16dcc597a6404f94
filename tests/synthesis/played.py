"""Models with a will of their own: one that says one thing, one that takes its time."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from coevolve.llm.base import ChatReply, ChatRequest, Usage
from coevolve.procedural.model import ProceduralModel


@dataclass
class Says:
    """A solver that gives one reply to everything, after a seeded moment."""

    reply: str
    finish: Any = "stop"
    name: str = "says"
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    slowest: float = 0.0
    calls: int = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        await asyncio.sleep(self.rng.random() * self.slowest)
        return ChatReply(self.reply, self.finish, Usage(5, 5), self.name, 0.01)

    async def close(self) -> None:
        return None


@dataclass
class Slow(ProceduralModel):
    """The procedural model with seeded delays, so that the order of events varies."""

    rng: random.Random = field(default_factory=lambda: random.Random(0))
    seconds: float = 0.0
    calls: list[tuple[str, str]] = field(default_factory=list)

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.calls.append((request.schema_name, request.messages[-1].content))
        await asyncio.sleep(self.rng.random() * self.seconds)
        return await super().chat(request)

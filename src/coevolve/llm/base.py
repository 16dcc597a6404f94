"""The one shape of a model: a chat request in, a chat reply out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn; `seed` makes one draw repeatable where the server honours it."""

    temperature: float
    max_tokens: int
    seed: int
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is sent to a model. `schema` is the JSON schema of the wanted reply, or None for free text."""

    messages: tuple[Message, ...]
    sampling: Sampling
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"

    def record(self) -> dict[str, Any]:
        """The request as JSON holds it."""
        sampling = self.sampling
        return {
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "sampling": {
                "temperature": sampling.temperature,
                "max_tokens": sampling.max_tokens,
                "seed": sampling.seed,
                "stop": sampling.stop,
            },
            "schema": self.schema,
            "schema_name": self.schema_name,
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `tokens_cached` is part of `tokens_in`, `tokens_reasoning` part of `tokens_out`."""

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    tokens_reasoning: int = 0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. `finish` is `length` when the reply met its token limit."""

    text: str
    finish: Literal["stop", "length"]
    usage: Usage
    model: str
    seconds: float
    reasoning: str = ""
    retries: tuple[str, ...] = field(default=())
    """What went wrong on the way to this reply, one word a failed try (`429`, `500`, `timeout`, `dropped`)."""

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """A reply from its record in a journal."""
        return cls(**{**record, "usage": Usage(**record["usage"]), "retries": tuple(record["retries"])})

    def record(self) -> dict[str, Any]:
        """The reply as JSON holds it."""
        usage = self.usage
        return {
            "text": self.text,
            "finish": self.finish,
            "usage": {
                "tokens_in": usage.tokens_in,
                "tokens_out": usage.tokens_out,
                "tokens_cached": usage.tokens_cached,
                "tokens_reasoning": usage.tokens_reasoning,
            },
            "model": self.model,
            "seconds": self.seconds,
            "reasoning": self.reasoning,
            "retries": self.retries,
        }


class ChatModel(Protocol):
    """A language model, or anything that answers like one."""

    @property
    def name(self) -> str:
        """The name that ledgers, versions and tables carry."""
        ...

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request. Raises CallFailed after its own retries, EndpointError when no call can succeed."""
        ...

    async def close(self) -> None:
        """Release connections, threads and processes; calling it twice is harmless."""
        ...

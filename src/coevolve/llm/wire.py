"""The wire form of a chat completion: requests out, replies in, and what a refusal means."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import SplitResult

from coevolve.llm.base import ChatRequest, Usage

SchemaMode = Literal["json_schema", "json_object", "none"]
BYTES_A_TOKEN = 3
"""Fewer than tokenisers need on average: where a server counts nothing, we count rather too much."""
TOO_LONG = re.compile(
    r"context[ _](length|size|window)|maximum model length|max_model_len|(prompt|input|request) (is )?too (long|large)",
    re.IGNORECASE,
)
CONTEXT_TOKENS = re.compile(r"context length (?:is|of) (\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Dialect:
    """What this endpoint understands; learnt from its refusals where they name the parameter."""

    model: str
    host: str
    thinking: bool | None
    schema_mode: SchemaMode
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeds: bool = True
    thinking_form: int = 0
    """Which of the forms of `thinking_forms` is sent."""
    served: str = ""
    """The name under which the endpoint answered first."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The JSON body of `request`."""
        sampling = request.sampling
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": sampling.temperature,
            self.limit_key: sampling.max_tokens,
        }
        if self.seeds:
            body["seed"] = sampling.seed
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if request.schema is not None and self.schema_mode == "json_schema":
            schema = {"name": request.schema_name, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.schema_mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        if self.thinking is not None:
            body.update(thinking_forms(self.host, self.thinking)[self.thinking_form])
        return body

    def learn(self, refusal: str) -> bool:
        """Change what is sent after a 400 that names it; whether the next try differs. Never changes a sampling."""
        said = refusal.lower()
        if self.thinking_named(said) and self.thinking_form + 1 < len(thinking_forms(self.host, bool(self.thinking))):
            self.thinking_form += 1
        elif "max_completion_tokens" in said and self.limit_key == "max_tokens":
            self.limit_key = "max_completion_tokens"
        elif "seed" in said and self.seeds:
            self.seeds = False
        elif any(word in said for word in ("response_format", "json_schema", "json_object", "guided", "grammar")):
            if self.schema_mode == "none":
                return False
            self.schema_mode = "json_object" if self.schema_mode == "json_schema" else "none"
        else:
            return False
        return True

    def thinking_named(self, refusal: str) -> bool:
        """Whether a refusal names the way in which thinking is switched."""
        if self.thinking is None:
            return False
        sent = thinking_forms(self.host, self.thinking)[self.thinking_form]
        return any(key in refusal.lower() for key in (*sent, "enable_thinking"))

    def expects(self, name: object) -> bool:
        """Whether an answer under `name` is this model's: the name asked for, or the one it first answered under."""
        if not isinstance(name, str) or not name:
            return True
        self.served = self.served or name
        return name in (self.model, self.served)


def thinking_forms(host: str, thinking: bool) -> tuple[dict[str, Any], ...]:
    """How thinking is switched where: the form to send first, and what to send where that one is refused.

    Open servers (vLLM, SGLang, llama.cpp) take template variables, whose name hangs on the model, and pass over others.
    """
    if host.endswith("deepseek.com"):
        return ({"thinking": {"type": "enabled" if thinking else "disabled"}},)
    if host.endswith("openrouter.ai"):
        return ({"reasoning": {"enabled": thinking}},)
    levels = ("medium",) if thinking else ("none", "minimal")
    efforts = tuple({"reasoning_effort": level} for level in levels)
    if host.endswith("openai.com"):
        return efforts
    return ({"chat_template_kwargs": {"enable_thinking": thinking, "thinking": thinking}}, *efforts)


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as it came off the wire."""

    text: str
    reasoning: str
    finish: Literal["stop", "length"]
    usage: Usage
    model: object


def parse_answer(payload: Any, request: ChatRequest) -> Answer:
    """The answer in a completion's JSON. Raises ValueError where there is none."""
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        given = message.get("reasoning_content") or message.get("reasoning") or ""
        finish: Literal["stop", "length"] = "length" if choice.get("finish_reason") == "length" else "stop"
        text, thought = split_thinking(content) if not given else (content, given)
        usage = parse_usage(payload.get("usage"), request, text, thought)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no completion in it ({type(error).__name__}: {error})") from error
    return Answer(text, thought, finish, usage, payload.get("model"))


def split_thinking(content: str) -> tuple[str, str]:
    """(text, thinking) of content that may hold its thinking in tags; templates often write the opening tag."""
    head, closing, tail = content.partition("</think>")
    if closing:
        return tail.lstrip(), head.replace("<think>", "", 1).strip()
    if content.lstrip().startswith("<think>"):
        return "", content.replace("<think>", "", 1).strip()
    return content, ""


def parse_usage(usage: Any, request: ChatRequest, text: str, thought: str) -> Usage:
    """Token counts as the server states them; where it states none, an estimate that is rather too high.

    Where only the reasoning tokens are not stated, thinking has its share of the characters.
    """
    chars = len(text) + len(thought)
    if not usage or not isinstance(usage.get("prompt_tokens"), int):
        completion = len((text + thought).encode()) // BYTES_A_TOKEN + 1
        return Usage(estimated_tokens(request), completion, 0, completion * len(thought) // max(1, chars))
    prompt, completion = int(usage["prompt_tokens"]), int(usage.get("completion_tokens") or 0)
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    if reasoning is None:
        reasoning = completion * len(thought) // max(1, chars)
    return Usage(prompt, completion, min(int(cached), prompt), min(int(reasoning), completion))


def estimated_tokens(request: ChatRequest) -> int:
    """An upper guess at the prompt's tokens."""
    return sum(len(message.content) for message in request.messages) // BYTES_A_TOKEN + 8 * len(request.messages)


def too_long(refusal: str) -> bool:
    """Whether a server refuses a request because prompt and reply do not fit its context."""
    return TOO_LONG.search(refusal) is not None


def context_tokens(refusal: str) -> int | None:
    """The size of the context, where a refusal for length names it."""
    found = CONTEXT_TOKENS.search(refusal)
    return int(found[1]) if found else None


def refusal_text(raw: bytes) -> str:
    """What an error reply says, on one line, cut to a readable length."""
    try:
        payload: Any = json.loads(raw)
    except ValueError:
        return " ".join(raw[:300].decode(errors="replace").split())
    fault = payload.get("error", payload) if isinstance(payload, Mapping) else payload
    if isinstance(fault, Mapping):
        parts = [fault.get("message") or fault.get("detail") or fault, fault.get("code"), fault.get("param")]
        fault = " ".join(str(part) for part in parts if part and not isinstance(part, int))
    return " ".join(str(fault).split())[:300]


def shown(parts: SplitResult) -> str:
    """An address without what may be secret in it (user, password, query)."""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

"""One llama.cpp server inside this process: one slot, one reply at a time, blocking.

The text of a reply depends on the request alone, never on what was answered before. Rows of a matrix product differ in
their last bits between a batch of one token and a larger one, so each prompt is always evaluated in the same three
pieces: the messages before the last one (cold, or cut back to from the cache), the last message, its final token.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from coevolve.errors import CallFailed, ConfigError, MissingExtra, boundary
from coevolve.llm.base import ChatReply, ChatRequest, Message, Usage
from coevolve.llm.wire import too_long

PROMPT_CACHE_MIB = 256
SEED_MASK = 0x7FFFFFFF
"""The server's own default seed, which means a random one, lies outside it."""


class LlamaServer:
    """A loaded model. `threads` above 1 spin at barriers and collapse where other work wants a core."""

    def __init__(self, path: Path, threads: int, context_tokens: int) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingExtra("the embedded model needs its extra: pip install 'coevolve[embedded]'") from error
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = 1
        params.n_ctx = context_tokens
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.fit_params = params.warmup = params.ui = params.endpoint_slots = params.prefill_assistant = False
        params.cache_ram_mib = PROMPT_CACHE_MIB
        params.verbosity = -1
        params.api_keys = [secrets.token_urlsafe()]  # its loopback port answers nobody
        with boundary(ConfigError, f"the model file {path} cannot be loaded"):
            self._server = xllamacpp.Server(params)
        self._prompt: tuple[Message, ...] = ()
        self._why = ""
        """Why the last prompt could not be evaluated."""
        self._splits: dict[tuple[Message, ...], int] = {}
        """How many tokens a prompt shares with the messages before its last one, evaluated alone."""

    def answer(self, request: ChatRequest, thinking: bool | None, stop: Event) -> ChatReply:
        """One reply, without its `seconds` and `model`; ends early once `stop` is set. Raises CallFailed.

        A prompt longer than the context is cut before its first token.
        """
        try:
            return self._answer(request, thinking, stop)
        except CallFailed as error:
            if too_long(str(error)):
                return ChatReply("", "length", Usage(0, 0), "", 0.0)
            raise

    def _answer(self, request: ChatRequest, thinking: bool | None, stop: Event) -> ChatReply:
        body = _body(request, thinking)
        cached = self._prepare(request.messages, body) if request.messages != self._prompt else None
        parts: list[str] = []
        thoughts: list[str] = []
        last: dict[str, Any] = {}

        def take(chunk: dict[str, Any]) -> bool:
            for choice in chunk.get("choices", ()):
                parts.append(choice["delta"].get("content") or "")
                thoughts.append(choice["delta"].get("reasoning_content") or "")
                last["finish"] = choice["finish_reason"]
            last.update({key: chunk[key] for key in ("error", "usage") if key in chunk})
            return stop.is_set()

        stream = {"stream": True, "stream_options": {"include_usage": True}}
        with boundary(CallFailed, "the embedded model"):
            self._server.handle_chat_completions({**body, **stream}, take)
        if "usage" not in last:
            raise CallFailed(f"the embedded model: {_fault(last)}")
        return ChatReply(
            text="".join(parts),
            finish="length" if last["finish"] == "length" else "stop",
            usage=_usage(last["usage"], cached),
            model="",
            seconds=0.0,
            reasoning="".join(thoughts),
        )

    def _prepare(self, messages: tuple[Message, ...], body: Mapping[str, Any]) -> int:
        """Evaluate a new prompt in its fixed pieces; how many of its tokens were there already."""
        self._prompt = ()
        prefix = messages[:-1]
        split = self._splits.get(prefix)
        kept = self._evaluate(prefix, body, cached=split is not None) if prefix else None
        if kept is not None and split is not None and kept < split:
            kept = self._evaluate(prefix, body, cached=False)
        whole = self._evaluate(messages, body, cached=kept is not None)
        if whole is None:
            raise CallFailed(f"the embedded model: the prompt cannot be evaluated: {self._why}")
        if kept is not None:
            self._splits.setdefault(prefix, whole)
        self._prompt = messages
        return whole

    def _evaluate(self, messages: tuple[Message, ...], body: Mapping[str, Any], cached: bool) -> int | None:
        """Tokens found in the cache; None where the template or the context does not take these messages."""
        fresh = {"messages": _turns(messages), "max_tokens": 1, "temperature": 0.0, "cache_prompt": cached}
        try:
            with boundary(CallFailed, "the embedded model"):
                found = self._server.handle_chat_completions({**body, **fresh})
        except CallFailed as error:
            self._why = str(error)
            return None
        if not found.get("usage"):
            self._why = _fault(found)
            return None
        return _usage(found["usage"], None).tokens_cached


def _body(request: ChatRequest, thinking: bool | None) -> dict[str, Any]:
    sampling = request.sampling
    body: dict[str, Any] = {
        "messages": _turns(request.messages),
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed & SEED_MASK,
        "stop": list(sampling.stop),
        "cache_prompt": True,
    }
    if thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": thinking}
    if request.schema is not None:
        schema = {"name": request.schema_name, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _turns(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _usage(usage: Mapping[str, Any], cached: int | None) -> Usage:
    found = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0) if cached is None else cached
    return Usage(tokens_in=usage["prompt_tokens"], tokens_out=usage["completion_tokens"], tokens_cached=found)


def _fault(last: Mapping[str, Any]) -> str:
    return str(last["error"].get("message", last["error"])) if "error" in last else "stopped before its end"

"""Any OpenAI-compatible endpoint, directly on aiohttp (a client library costs three to five times the CPU a call)."""

import asyncio
import email.utils
import json
import os
import time
from http import HTTPStatus
from typing import Any, NoReturn, Self
from urllib.parse import SplitResult, urlsplit

import aiohttp
from yarl import URL

from coevolve.config_models import FlowConfig, ModelConfig, SolverConfig
from coevolve.errors import EndpointError
from coevolve.llm.base import ChatReply, ChatRequest, Message, Sampling, Usage
from coevolve.llm.flow import PATIENCE, Flow, FlowState, Patience, TryFailed
from coevolve.llm.wire import (
    Answer,
    Dialect,
    SchemaMode,
    context_tokens,
    estimated_tokens,
    parse_answer,
    refusal_text,
    shown,
    too_long,
)

CONNECT_SECONDS = 10.0
PREFLIGHT_SECONDS = 10.0
PREFLIGHT = ChatRequest((Message("user", "Say yes."),), Sampling(temperature=1.0, max_tokens=1, seed=0))
UNREADABLE = (400, 422)
"""The request is not understood."""
UNFIT = (*UNREADABLE, 413, 500)
"""Statuses under which servers say that a prompt is too long."""
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
REDIRECTS = range(300, 400)
SPENT = ("insufficient_quota", "insufficient balance", "exceeded your current quota")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class OpenAIModel:
    """A ChatModel at an endpoint. The key is read from its environment variable and shown nowhere."""

    def __init__(self, config: ModelConfig) -> None:
        """Set up for one role's `config`; nothing is sent. Raises EndpointError for a missing address or key."""
        self._setup(config.name, config.base_url, config.key_env, config.flow, config.thinking, config.schema_mode)

    @classmethod
    def of_solver(cls, config: SolverConfig) -> Self:
        """The model of the solver's configuration."""
        return cls.at(config.model, config.base_url, config.key_env, config.flow, config.thinking, "json_schema")

    @classmethod
    def at(
        cls,
        name: str,
        base_url: str | None,
        key_env: str | None,
        flow: FlowConfig,
        thinking: bool | None = None,
        schema_mode: SchemaMode = "json_schema",
        patience: Patience = PATIENCE,
    ) -> Self:
        """The model `name` at `base_url`."""
        model = cls.__new__(cls)
        model._setup(name, base_url, key_env, flow, thinking, schema_mode, patience)
        return model

    def _setup(
        self,
        name: str,
        base_url: str | None,
        key_env: str | None,
        flow: FlowConfig,
        thinking: bool | None,
        schema_mode: SchemaMode,
        patience: Patience = PATIENCE,
    ) -> None:
        parts = _address(name, base_url)
        self._name = name
        self.where = shown(parts)
        self._url = URL(parts._replace(path=parts.path.rstrip("/") + "/chat/completions").geturl())
        self._local = parts.hostname in LOOPBACK
        self._key_env = key_env
        self._key = _key(key_env, self.where, required=not self._local)
        self._timeout = aiohttp.ClientTimeout(total=flow.timeout_seconds, sock_connect=CONNECT_SECONDS)
        self._flow = Flow(flow, self.where, patience)
        self._dialect = Dialect(name, parts.hostname or "", thinking, schema_mode)
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r} at {self.where})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def state(self) -> FlowState:
        """Concurrency, breaker and failed tries of this endpoint now."""
        return self._flow.state

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request. Raises CallFailed after the retries, EndpointError when no call can succeed."""
        started = time.perf_counter()
        answer, retries = await self._flow.call(
            lambda: self._try(request), estimated_tokens(request) + request.sampling.max_tokens, _used
        )
        return self._reply(answer, started, retries)

    async def preflight(self) -> ChatReply:
        """One short call that tells within 10 s whether calls can succeed at all. Raises EndpointError."""
        started = time.perf_counter()
        fault: TryFailed | None = None
        words: list[str] = []
        try:
            async with asyncio.timeout(PREFLIGHT_SECONDS):
                while fault is None or (fault.again and fault.word != "refused"):
                    if fault is not None:
                        await asyncio.sleep(min(1.0, fault.retry_after or 1.0))
                    try:
                        return self._reply(await self._try(PREFLIGHT), started, tuple(words))
                    except TryFailed as failed:
                        fault = failed
                        words.append(fault.word)
        except TimeoutError:
            seconds = f"{PREFLIGHT_SECONDS:.0f} s"
            why = f"no good answer within {seconds}" + (f" (last: {fault})" if fault else "")
            raise EndpointError(f"{self.where}: {why}; see that the server runs and base_url is right") from fault
        raise EndpointError(f"{self.where}: {fault}; see that the server runs and base_url is right") from fault

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def _reply(self, answer: Answer, started: float, retries: tuple[str, ...]) -> ChatReply:
        return ChatReply(
            text=answer.text,
            finish=answer.finish,
            usage=answer.usage,
            model=self._name,
            seconds=time.perf_counter() - started,
            reasoning=answer.reasoning,
            retries=retries,
        )

    async def _try(self, request: ChatRequest) -> Answer:
        """One try: what the endpoint does not understand is left out at once, everything else ends it."""
        while True:
            data = json.dumps(self._dialect.body(request)).encode()
            status, retry_after, raw = await self._send(data)
            if status == HTTPStatus.OK:
                return self._read(raw, request)
            said = self._scrubbed(raw)
            if status in UNFIT and too_long(said):
                return self._cut(said, request)
            if status in UNREADABLE:
                learnt_meanwhile = json.dumps(self._dialect.body(request)).encode() != data
                if learnt_meanwhile or self._dialect.learn(said):
                    continue
            self._refused(status, retry_after, said, request)

    async def _send(self, data: bytes) -> tuple[int, str | None, bytes]:
        session = self._session or self._open()
        try:
            async with session.post(self._url, data=data, allow_redirects=False) as response:
                return response.status, response.headers.get("Retry-After"), await response.read()
        except TimeoutError as error:
            raise TryFailed("timeout", "no reply in time", again=True) from error
        except aiohttp.ClientConnectorError as error:
            raise TryFailed("refused", f"cannot connect ({error.os_error.strerror or error})", again=True) from error
        except (aiohttp.ClientError, OSError) as error:
            raise TryFailed("dropped", f"connection lost ({type(error).__name__})", again=True) from error

    def _read(self, raw: bytes, request: ChatRequest) -> Answer:
        try:
            payload: Any = json.loads(raw)
            if isinstance(payload, dict) and payload.get("error"):
                said = self._scrubbed(raw)
                if too_long(said):
                    return self._cut(said, request)
                self._refused(_code(payload["error"]), None, said, request)
            answer = parse_answer(payload, request)
        except (ValueError, RecursionError) as error:
            raise TryFailed("malformed", f"not a completion: {error}", again=True) from error
        if not self._dialect.expects(answer.model):
            raise TryFailed("model", f"answered as {str(answer.model)[:80]!r}, not {self._name!r}", again=True)
        return answer

    def _cut(self, said: str, request: ChatRequest) -> Answer:
        """The reply to a prompt longer than the context: cut before its first token, and nothing billed."""
        size = context_tokens(said)
        if size is not None and request.sampling.max_tokens >= size:
            raise EndpointError(
                f"{self.where}: max_tokens={request.sampling.max_tokens} leaves no room in the context of "
                f"{size} tokens; set it lower"
            )
        return Answer("", "", "length", Usage(0, 0), self._name)

    def _refused(self, status: int, retry_after: str | None, said: str, request: ChatRequest) -> NoReturn:
        """Say what a status means: wrong for good, wrong for this request, or worth another try."""
        if status in (401, 403):
            name = f"the key in {self._key_env}" if self._key else "a request without a key (set key_env)"
            raise EndpointError(f"{self.where}: refuses {name} ({status})")
        if status == HTTPStatus.PAYMENT_REQUIRED or any(word in said.lower() for word in SPENT):
            raise EndpointError(f"{self.where}: the account is spent ({status}): {said}")
        if status in (404, 405):
            hint = "" if "/v" in self._url.path else "; does base_url lack /v1?"
            raise EndpointError(f"{self.where}: no model {self._name!r} there ({status}): {said}{hint}")
        if status in REDIRECTS:
            raise EndpointError(f"{self.where}: answers {status}, a redirect; give the final address as base_url")
        if status in UNREADABLE and "temperature" in said.lower():
            raise EndpointError(f"{self.where}: refuses temperature={request.sampling.temperature:g}: {said}")
        if status in UNREADABLE and self._dialect.thinking_named(said):
            raise EndpointError(f"{self.where}: refuses thinking={self._dialect.thinking}: {said}; set thinking=null")
        again = status in AGAIN
        wait = _wait(retry_after) if again else None
        raise TryFailed(str(status), f"{status} {said}".strip(), again=again, retry_after=wait)

    def _scrubbed(self, raw: bytes) -> str:
        said = refusal_text(raw)
        return said.replace(self._key, "…") if self._key else said

    def _open(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            headers=headers,
            trust_env=not self._local and any(os.environ.get(name) for name in PROXIES),
        )
        return self._session


def _address(name: str, base_url: str | None) -> SplitResult:
    try:
        parts = urlsplit(base_url or "")
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise EndpointError(f"model {name}: base_url={base_url} is no address; give http(s)://host[:port]/v1")
    return parts


def _key(key_env: str | None, where: str, *, required: bool) -> str | None:
    if key_env is None:
        return None
    key = os.environ.get(key_env, "").strip()
    if not key and required:
        raise EndpointError(f"{where}: the environment variable {key_env} is not set; export its key there")
    return key or None


def _used(answer: Answer) -> int:
    return answer.usage.tokens_in + answer.usage.tokens_out


def _code(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and code >= 400 else 500


def _wait(retry_after: str | None) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None

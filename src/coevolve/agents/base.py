"""How every role is asked: rendered prompt, JSON payload, typed reply, one repair turn."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Generic, TypeVar

from jinja2 import StrictUndefined, Template
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ValidationError

from coevolve.agents.replies import FORMS
from coevolve.config import ConstraintsConfig
from coevolve.errors import ConfigError, TruncatedReply, UnparsableReply
from coevolve.events import REPEAT
from coevolve.ledger import CallKey
from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.calls import Calls, Seat
from coevolve.llm.replies import extract_object

ReplyType = TypeVar("ReplyType", bound=BaseModel)
REPAIR = "That reply does not fit: {fault}. Answer again with the one JSON object only."


@cache
def package_prompt(folder: str, name: str) -> str:
    """The text of a prompt shipped with the package (`fixed`, `improver`)."""
    return resources.files("coevolve").joinpath(folder, f"{name}.md").read_text(encoding="utf-8")


def render(prompt: str, variables: Mapping[str, object]) -> str:
    """Fill a prompt's placeholders; an undefined one is an error. Raises ConfigError."""
    try:
        return _template(prompt).render(variables)
    except TemplateError as error:
        raise ConfigError(f"a prompt cannot be rendered: {error}") from error


@cache
def _schema(reply: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema of a reply form, made once: pydantic takes milliseconds for it."""
    return reply.model_json_schema()


@lru_cache(maxsize=256)
def _template(prompt: str) -> Template:
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(prompt)


def draw_seed(run_seed: int, key: CallKey) -> int:
    """The sampling seed of one call, from the run's seed and the call's place.

    Baseline and candidates of one round share their draws (common random numbers): an unchanged harness then scores
    exactly as the baseline did, and a comparison is paired. The repeated baseline alone draws anew, so that what
    differs between it and the baseline is noise.
    """
    scope = key.scope
    phase = "repeat" if scope.probe == REPEAT else "probe" if scope.probe else scope.phase
    place = f"{run_seed}/{scope.round}/{phase}/{key.chain}/{key.step}/{key.role}/{key.attempt}"
    return int.from_bytes(hashlib.sha256(place.encode()).digest()[:4], "big") >> 1


class _Reading(Generic[ReplyType]):
    """Reads replies of one form; the last one read, or why it cannot be used."""

    def __init__(self, form: type[ReplyType]) -> None:
        self._form = form
        self._text: str | None = None
        self.found: ReplyType | None = None
        self.fault = ""

    def fits(self, text: str) -> bool:
        """Read `text` (once) and say whether it has the form."""
        if text != self._text:
            self._text, self.found = text, None
            try:
                self.found = self._form.model_validate(extract_object(text))
            except ValidationError as error:
                first = error.errors()[0]
                self.fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            except UnparsableReply as error:
                self.fault = str(error)
        return self.found is not None


@dataclass(frozen=True, slots=True)
class Desk:
    """What agents work with: the way to models, who sits where, the run's seed and Gamma."""

    calls: Calls
    seats: Mapping[str, tuple[Seat, ...]]
    """Role -> its models; only Verify has more than one."""
    seed: int
    constraints: ConstraintsConfig

    async def ask(
        self,
        key: CallKey,
        system: str,
        payload: Mapping[str, Any],
        reply: type[ReplyType],
        seen: int = 0,
        member: int = 0,
    ) -> ReplyType:
        """Ask the model of `key.role` (the ensemble's `member`). Raises UnparsableReply, TruncatedReply, CallFailed."""
        seat = self.seats[key.role][member]
        messages = [Message("system", system), Message("user", json.dumps(payload, ensure_ascii=False))]
        reading = _Reading(reply)
        for turn in range(2):
            call = key._replace(attempt=key.attempt + turn)
            sampling = Sampling(seat.temperature, seat.max_tokens, draw_seed(self.seed, call))
            schema = _schema(reply) if seat.schema else None
            request = ChatRequest(tuple(messages), sampling, schema, key.role)
            answer = await self.calls.call(call, seat, request, seen, reading.fits)
            if answer.finish == "length":
                raise TruncatedReply(f"{call}: the reply met its limit of {seat.max_tokens} tokens")
            if reading.fits(answer.text) and reading.found is not None:
                return reading.found
            messages += [Message("assistant", answer.text), Message("user", REPAIR.format(fault=reading.fault))]
        raise UnparsableReply(f"{key}: {reading.fault}")

    def variables(self, role: str, domain: str) -> dict[str, object]:
        """What a role prompt may name."""
        form = FORMS["extend" if role == "revise" else role]
        return {"domain": domain, "schema": form, "question_chars": self.constraints.question_chars}

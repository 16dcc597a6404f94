"""The models of a configuration: reachable, what a one-token call says, whether JSON schemas are kept."""

import asyncio
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel

from coevolve.config import RunConfig
from coevolve.config_models import ModelConfig, SolverConfig, SolverSeat, VllmConfig
from coevolve.doctor.checks import Check, Unfinished
from coevolve.errors import MissingExtra, ModelError, UnparsableReply
from coevolve.llm.base import ChatModel, ChatRequest, Message, Sampling
from coevolve.llm.calls import Seat
from coevolve.llm.openai import PREFLIGHT, OpenAIModel
from coevolve.llm.preflight import Remote
from coevolve.llm.replies import extract_object
from coevolve.llm.vllm import free_port
from coevolve.llm.vllm_plan import assign_gpus, check_installed, find_gpus, server_plan, version, weights_gib
from coevolve.llm.weights import fetched
from coevolve.seats import AGENT_ROLES, open_seat, open_solver, solver_name

SCHEMA_SECONDS = 120.0
SCHEMA_TOKENS = 2048
"""Most tokens of the reply that shows whether a schema is kept; thinking models need some."""
SHOWN = 60


class Colour(BaseModel):
    """A reply that nobody gives by chance to a greeting."""

    colour: Literal["blue", "green"]


class Place(NamedTuple):
    """A model and the roles that sit on it."""

    roles: tuple[str, ...]
    config: ModelConfig | SolverConfig

    @property
    def model(self) -> str:
        """What it is asked for."""
        if isinstance(self.config, ModelConfig):
            return self.config.name
        managed = self.config.kind == "vllm" and self.config.base_url is None
        return (self.config.path or self.config.model) if managed else solver_name(self.config)


def model_checks(config: RunConfig, *, start: bool) -> list[Check]:
    """One check a model; `start` starts managed servers too."""
    return [(f"{', '.join(place.roles)}", partial(_check, place, config.vllm, start)) for place in places(config)]


def places(config: RunConfig) -> list[Place]:
    """Every model of a run once, with its roles; the solver first."""
    models = config.models
    seats = [(role, getattr(models, role)) for role in AGENT_ROLES[:3]]
    seats += [(f"verify {number}", member) for number, member in enumerate(models.verify, 1)]
    if not isinstance(models.attempt, SolverSeat):
        seats.append(("attempt", models.attempt))
    seats += [(role, getattr(models, role)) for role in AGENT_ROLES[3:]]
    known: dict[tuple[object, ...], Place] = {}
    for role, model in seats:
        place = (model.kind, model.name, model.base_url, model.key_env, model.thinking, model.schema_mode)
        before = known.get(place, Place((), model))
        known[place] = before._replace(roles=(*before.roles, role))
    own = ("solver", "attempt") if isinstance(models.attempt, SolverSeat) else ("solver",)
    return [Place(own, config.solver), *known.values()]


def _check(place: Place, vllm: VllmConfig, start: bool) -> str:
    kind = place.config.kind
    if kind in ("procedural", "scripted"):
        return f"{kind}, in this process"
    if kind == "vllm" and place.config.base_url is None and not start:
        return f"{place.model}: {managed(place.model, vllm)}; not started (start=true starts and calls it)"
    given = place.config.path if isinstance(place.config, SolverConfig) else None
    if kind == "embedded" and given is None and not fetched(place.model):
        raise Unfinished(f"{place.model}: its weights are not on this machine; the first run fetches them")
    return asyncio.run(asked(place, vllm))


def managed(model: str, config: VllmConfig) -> str:
    """How a server of `model` is started here. Raises EndpointError for GPUs or memory, MissingExtra without vllm."""
    group = assign_gpus(model, find_gpus(), config)[0]
    plan = server_plan(config.python or sys.executable, model, group, config, free_port())
    size = weights_gib(model)
    weights = "weights of unknown size" if size is None else f"weights of about {size:.1f} GiB"
    where = ", ".join(f"GPU {gpu.number} ({gpu.free_gib:.0f} GiB free)" for gpu in group) or "the CPU"
    environment = " ".join(f"{name}={shlex.quote(value)}" for name, value in plan.environment.items())
    command = f"{weights}, on {where}: {environment} {shlex.join(plan.command)}"
    try:
        python = check_installed(config)
    except MissingExtra as error:
        raise MissingExtra(f"{error}. It would be started so: {command}") from error
    return f"{version(python)}, {command}"


async def asked(place: Place, vllm: VllmConfig) -> str:
    """What a call of one token and one with a schema say. Raises EndpointError, MissingExtra, CallFailed."""
    say: Callable[[str], None] = partial(print, flush=True)
    with tempfile.TemporaryDirectory(prefix="coevolve-doctor-") as logs:
        if isinstance(place.config, SolverConfig):
            seat = open_solver(place.config, vllm, Path(logs), say)
        else:
            seat = open_seat(place.config, vllm, Path(logs), say)
        try:
            said = f"{place.model}{_where(seat.model)} answers in {await _first(seat.model):.2f} s"
            return said + (f", {await _schema(seat)}" if seat.schema and _wants(place.config) else "")
        finally:
            await seat.model.close()


def _where(model: ChatModel) -> str:
    return f" at {model.where}" if isinstance(model, OpenAIModel) else ""


def _wants(config: ModelConfig | SolverConfig) -> bool:
    return isinstance(config, ModelConfig) and config.schema_mode != "none"


async def _first(model: ChatModel) -> float:
    """Seconds of a call of one token. Raises EndpointError, CallFailed."""
    if isinstance(model, Remote):
        return (await model.preflight()).seconds
    started = time.perf_counter()
    await model.chat(PREFLIGHT)
    return time.perf_counter() - started


async def _schema(seat: Seat) -> str:
    """Whether a reply keeps a schema that the prompt says nothing of."""
    sampling = Sampling(seat.temperature, min(seat.max_tokens, SCHEMA_TOKENS), seed=0)
    request = ChatRequest((Message("user", "Say hello."),), sampling, Colour.model_json_schema(), "colour")
    try:
        async with asyncio.timeout(SCHEMA_SECONDS):
            reply = await seat.model.chat(request)
    except TimeoutError:
        return f"no reply to a JSON schema within {SCHEMA_SECONDS:.0f} s"
    except ModelError as error:
        return f"no reply to a JSON schema ({error})"
    if reply.finish == "length":
        return f"its reply to a JSON schema was cut at {sampling.max_tokens} tokens: cannot tell whether it keeps them"
    try:
        Colour.model_validate(extract_object(reply.text))
    except (UnparsableReply, ValueError):
        return (
            f"ignores JSON schemas (it said {' '.join(reply.text.split())[:SHOWN]!r}): replies are read tolerantly, "
            "with one repair turn"
        )
    return "keeps JSON schemas"

"""Which model sits where: from configuration to seats, one client an endpoint."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from coevolve.config import RunConfig
from coevolve.config_models import ModelConfig, SolverConfig
from coevolve.llm.base import ChatModel
from coevolve.llm.calls import Seat
from coevolve.llm.embedded import EmbeddedModel
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.scripted import scripted_solver
from coevolve.llm.vllm import VllmModel, VllmServers
from coevolve.llm.weights import locate
from coevolve.procedural.model import ProceduralModel

AGENT_ROLES = ("director", "extend", "revise", "meta_skill", "meta_harness")


@dataclass(slots=True)
class Seats:
    """All seats of a run, and the models to close at its end."""

    roles: dict[str, tuple[Seat, ...]]
    solver: Seat
    attempt: Seat
    """The generating model at its own attempt inside Verify."""
    models: list[ChatModel] = field(default_factory=list)

    async def close(self) -> None:
        """Close every model."""
        for model in self.models:
            await model.close()


def build_seats(config: RunConfig, logs: Path, say: Callable[[str], None]) -> Seats:
    """Open the models of a run; servers it starts log to `logs` and tell `say` how far they are.

    Raises EndpointError, MissingExtra or DataError before any call is made.
    """
    servers = VllmServers(config.vllm, logs, say)
    fixed = config.solver
    solver = Seat(_solver(fixed, servers), fixed.price, fixed.temperature, fixed.max_tokens, False)
    known: dict[tuple[str, ...], ChatModel] = {}

    def seat(role: ModelConfig) -> Seat:
        if role.kind == "solver":
            return solver
        place = (role.kind, role.name, role.base_url or "", role.key_env or "", str(role.thinking), role.schema_mode)
        model = known.get(place) or known.setdefault(place, _agent_model(role, fixed, servers))
        return Seat(model, role.price, role.temperature, role.max_tokens)

    models = config.models
    roles: dict[str, tuple[Seat, ...]] = {role: (seat(getattr(models, role)),) for role in AGENT_ROLES}
    roles["verify"] = tuple(seat(member) for member in models.verify)
    attempt = seat(models.attempt)
    return Seats(roles, solver, attempt, [solver.model, *known.values()])


def _solver(config: SolverConfig, servers: VllmServers) -> ChatModel:
    if config.kind == "embedded":
        path = locate(config.model, config.path)
        return EmbeddedModel(path, solver_name(config), config.slots, config.threads, thinking=config.thinking)
    if config.kind == "scripted":
        return scripted_solver()
    if config.kind == "vllm" and config.base_url is None:
        return VllmModel(config.path or config.model, servers, config.flow, config.thinking)
    return OpenAIModel.of_solver(config)


def _agent_model(role: ModelConfig, solver: SolverConfig, servers: VllmServers) -> ChatModel:
    if role.kind == "procedural":
        return ProceduralModel()
    if role.kind == "scripted":
        return scripted_solver()
    if role.kind == "embedded":
        return EmbeddedModel(locate(role.name, None), role.name, solver.slots, solver.threads, thinking=role.thinking)
    if role.kind == "vllm" and role.base_url is None:
        return VllmModel(role.name, servers, role.flow, role.thinking, role.schema_mode)
    return OpenAIModel(role)


def solver_name(config: SolverConfig) -> str:
    """What the solver is called: its model, or the file it was given."""
    return Path(config.path).stem if config.kind == "embedded" and config.path else config.model


def model_names(config: RunConfig) -> dict[str, str]:
    """Role -> model name, for summaries."""
    models = config.models
    names = {role: getattr(models, role).name for role in (*AGENT_ROLES, "attempt")}
    names["verify"] = ", ".join(member.name for member in models.verify)
    return {
        role: solver_name(config.solver) if name == "solver" else Path(name).name
        for role, name in sorted(names.items())
    }

"""Which model sits where: from configuration to seats, one client an endpoint."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coevolve.config import RunConfig
from coevolve.config_models import ModelConfig, SolverConfig, SolverSeat, VllmConfig
from coevolve.llm.base import ChatModel, ChatReply
from coevolve.llm.calls import Seat
from coevolve.llm.embedded import EmbeddedModel
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.recorded import RecordedModel
from coevolve.llm.scripted import SCRIPTED_SOLVER, scripted_solver
from coevolve.llm.vllm import VllmModel, VllmServers
from coevolve.llm.weights import locate
from coevolve.procedural.model import PROCEDURAL, ProceduralModel

AGENT_ROLES = ("director", "extend", "revise", "meta_skill", "meta_harness")


@dataclass(slots=True)
class Seats:
    """All seats of a run, and the models to close at its end."""

    roles: dict[str, tuple[Seat, ...]]
    solver: Seat
    attempt: Seat
    """The generating model at its own attempt inside Verify."""
    models: list[ChatModel] = field(default_factory=list)

    def charged(self, checked: Iterable[tuple[ChatModel, ChatReply]]) -> list[tuple[str, Seat, ChatReply]]:
        """Who pays for the short call to each model: the first role that sits on it."""
        uses = [("solver", self.solver), *((role, seat) for role, seats in self.roles.items() for seat in seats)]
        uses.append(("verify", self.attempt))
        return [next((role, seat, reply) for role, seat in uses if seat.model is model) for model, reply in checked]

    async def close(self) -> None:
        """Close every model."""
        for model in self.models:
            await model.close()


def build_seats(config: RunConfig, logs: Path, say: Callable[[str], None]) -> Seats:
    """Open the models of a run; servers it starts log to `logs` and tell `say` how far they are.

    A replay opens none. Raises EndpointError, MissingExtra or DataError before any call is made.
    """
    servers = VllmServers(config.vllm, logs, say)
    fixed, replay = config.solver, config.replay.path is not None
    solving: ChatModel = RecordedModel(_solver_model(fixed)) if replay else _solver(fixed, servers)
    solver = Seat(solving, fixed.price, fixed.temperature, fixed.max_tokens, False)
    known: dict[tuple[str, ...], ChatModel] = {}

    def seat(role: ModelConfig | SolverSeat) -> Seat:
        if isinstance(role, SolverSeat):
            return solver
        place = (role.kind, role.name, role.base_url or "", role.key_env or "", str(role.thinking), role.schema_mode)
        model = known.get(place)
        if model is None:
            model = RecordedModel(_model(role)) if replay else _agent_model(role, fixed.slots, fixed.threads, servers)
            known[place] = model
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


def open_seat(role: ModelConfig, vllm: VllmConfig, logs: Path, say: Callable[[str], None]) -> Seat:
    """One role's seat outside a run; its model is the caller's to close. Raises as `build_seats`."""
    model = _agent_model(role, 1, 0, VllmServers(vllm, logs, say))
    return Seat(model, role.price, role.temperature, role.max_tokens)


def open_solver(config: SolverConfig, vllm: VllmConfig, logs: Path, say: Callable[[str], None]) -> Seat:
    """The solver's seat outside a run; its model is the caller's to close. Raises as `build_seats`."""
    model = _solver(config, VllmServers(vllm, logs, say))
    return Seat(model, config.price, config.temperature, config.max_tokens, False)


def _agent_model(role: ModelConfig, slots: int, threads: int, servers: VllmServers) -> ChatModel:
    if role.kind == "procedural":
        return ProceduralModel()
    if role.kind == "scripted":
        return scripted_solver()
    if role.kind == "embedded":
        return EmbeddedModel(locate(role.name, None), role.name, slots, threads, thinking=role.thinking)
    if role.kind == "vllm" and role.base_url is None:
        return VllmModel(role.name, servers, role.flow, role.thinking, role.schema_mode)
    return OpenAIModel(role)


def _solver_model(config: SolverConfig) -> str:
    """The name under which the solver's model answers."""
    if config.kind == "scripted":
        return SCRIPTED_SOLVER
    if config.kind == "vllm" and config.base_url is None:
        return config.path or config.model
    return solver_name(config)


def _model(role: ModelConfig) -> str:
    """The name under which a role's model answers."""
    return {"procedural": PROCEDURAL, "scripted": SCRIPTED_SOLVER}.get(role.kind, role.name)


def solver_name(config: SolverConfig) -> str:
    """What the solver is called: its model, or the file it was given."""
    return Path(config.path).stem if config.kind == "embedded" and config.path else config.model


def model_names(config: RunConfig) -> dict[str, str]:
    """Role -> model name, for summaries."""
    models = config.models
    names = {role: Path(getattr(models, role).name).name for role in AGENT_ROLES}
    names["verify"] = ", ".join(Path(member.name).name for member in models.verify)
    own = models.attempt
    names["attempt"] = solver_name(config.solver) if isinstance(own, SolverSeat) else Path(own.name).name
    return dict(sorted(names.items()))

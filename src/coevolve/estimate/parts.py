"""What a forecast counts, and who plays which part in a configuration: a model and a price each."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevolve.config import RunConfig
from coevolve.config_models import ModelConfig, PriceConfig, SolverSeat
from coevolve.synthesis.verification import OWN_ATTEMPT

Numbers = NDArray[np.float64]
COLUMNS = ("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "seconds")
"""The last axis of every array of sums; seconds are model time, summed over calls."""
CALLS, TOKENS_IN, TOKENS_OUT, CACHED, REASONING, SECONDS = range(len(COLUMNS))
CHAIN_ROLES = ("director", "extend", "revise")


class Player(NamedTuple):
    """A model at one part, and what its tokens cost."""

    model: str
    price: PriceConfig


def players(config: RunConfig) -> dict[str, Player]:
    """Part -> who plays it: the roles, each member of the Verify ensemble, the own attempt, the solver."""
    models, solver = config.models, Player(config.solver.model, config.solver.price)
    found = {role: _player(getattr(models, role)) for role in CHAIN_ROLES}
    found |= {verify_part(member): _player(model) for member, model in enumerate(models.verify)}
    found["attempt"] = solver if isinstance(models.attempt, SolverSeat) else _player(models.attempt)
    found |= {role: _player(getattr(models, role)) for role in ("meta_skill", "meta_harness")}
    return {**found, "solver": solver}


def _player(model: ModelConfig) -> Player:
    return Player(model.name, model.price)


def verify_part(member: int) -> str:
    """The name of one member of the Verify ensemble; the first is 1."""
    return f"verify {member + 1}"


def part_of(row: Mapping[str, object]) -> str:
    """Which part made a ledger row's call; Verify's rows hold its members and the own attempt."""
    role, attempt = str(row["role"]), int(str(row["attempt"]))
    if role != "verify":
        return role
    return "attempt" if attempt >= OWN_ATTEMPT else verify_part(attempt // 2)


def dollars(sums: Numbers, price: PriceConfig) -> Numbers | None:
    """US dollars of sums whose last axis is COLUMNS; None where the price is unknown."""
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    micro: Numbers = (
        (sums[..., TOKENS_IN] - sums[..., CACHED]) * price.input
        + sums[..., CACHED] * cached
        + (sums[..., TOKENS_OUT] - sums[..., REASONING]) * price.output
        + sums[..., REASONING] * reasoning
    )
    return micro / 1_000_000

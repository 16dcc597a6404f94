"""How much work a configuration asks for, and what it then costs: sums over simulated runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from coevolve.config import RunConfig
from coevolve.config_models import Config
from coevolve.estimate.parts import CALLS, CHAIN_ROLES, COLUMNS, SECONDS, Numbers, dollars, players, verify_part
from coevolve.estimate.pilot import Pilot
from coevolve.estimate.rates import Amounts, PartsConfig, Rates, Shares, Span
from coevolve.llm.budgets import EVALUATION_PHASES

DRAWS = 1001
"""Simulated runs; the first is the expected one."""
BOUNDS = (2.5, 97.5)
PRIOR = 0.5
"""Jeffreys: what a share was before anything was counted."""


class DeclaredConfig(Config):
    """What is assumed where no pilot has measured: [low, likely, high]."""

    acceptance: Shares
    """Share of candidates that the gate accepts; an accepted one ends the round's search."""
    tried_a_kept_seed: Amounts
    """Seeds that the screen tries for each it keeps."""
    busy: Shares
    """Share of the calls at once (budget.chain_concurrency, solver.flow.concurrency) that are really under way."""
    drift: Span
    """Further growth of a unit's costs, of their last measured level, in each round beyond the pilot, damped."""
    parts: PartsConfig


class Cell(NamedTuple):
    """One part in one phase of one round."""

    round: int
    phase: str
    part: str
    sums: Numbers
    """(draws, COLUMNS)."""


@dataclass(slots=True)
class Forecast:
    """The cells of every simulated run; draw 0 is the expected one."""

    config: RunConfig
    pilot: Pilot | None
    cells: list[Cell] = field(default_factory=list)
    used: dict[str, set[str]] = field(default_factory=dict)
    wall_seconds: Numbers = field(default_factory=lambda: np.zeros(DRAWS))

    def sums(self, *, phases: Sequence[str] = (), parts: Sequence[str] = (), round: int | None = None) -> Numbers:
        """(draws, COLUMNS) over the cells of these phases and parts; none given = all."""
        kept = [cell.sums for cell in self._kept(phases, parts, round)]
        return np.sum(kept, axis=0) if kept else np.zeros((DRAWS, len(COLUMNS)))

    def usd(self, *, phases: Sequence[str] = (), parts: Sequence[str] = (), round: int | None = None) -> Numbers | None:
        """Dollars of every draw; None as soon as one price is unknown."""
        total, who = np.zeros(DRAWS), players(self.config)
        for cell in self._kept(phases, parts, round):
            cost = dollars(cell.sums, who[cell.part].price)
            if cost is None:
                return None
            total = total + cost
        return total

    def _kept(self, phases: Sequence[str], parts: Sequence[str], number: int | None) -> Iterator[Cell]:
        for cell in self.cells:
            wanted = (not phases or cell.phase in phases) and (not parts or cell.part in parts)
            if wanted and number in (None, cell.round):
                yield cell


def forecast(config: RunConfig, declared: DeclaredConfig, pilot: Pilot | None) -> Forecast:
    """Simulate the runs of `config`."""
    random = np.random.default_rng(0)
    rates = Rates(DRAWS, random, pilot, declared.parts, declared.drift, tuple(config.domain.include))
    made = Forecast(config, pilot, used=rates.used)
    made.cells += _seeds(config, declared, rates)
    for number in range(1, config.rounds + 1):
        made.cells += _round(config, declared, rates, number)
    chains, attempts = _chains(config), _attempts(config, pilot)
    for number in range(config.rounds + 1):
        made.cells.append(_cell(rates, "reporting", "solver", number, chains * attempts))
    control = _cell(rates, "reporting", "solver", 0, chains * attempts)
    made.cells.append(control._replace(round=config.rounds + 1))
    made.wall_seconds = _wall(made, declared, rates)
    return made


def _chains(config: RunConfig) -> int:
    return config.seeds.per_domain * len(config.domain.include)


def _cohort(config: RunConfig) -> int:
    return min(config.budget.gate_per_domain, config.seeds.per_domain) * len(config.domain.include)


def _attempts(config: RunConfig, pilot: Pilot | None) -> float:
    """Attempts a task; a pilot's unit is a whole task, with its own number of them."""
    return config.budget.attempts / (pilot.number("budget.attempts") if pilot else 1)


def _cell(rates: Rates, phase: str, part: str, number: int, units: float | Numbers) -> Cell:
    each = rates.unit(phase, part, number)
    return Cell(number, phase, part, each * (units[:, None] if isinstance(units, np.ndarray) else units))


def _seeds(config: RunConfig, declared: DeclaredConfig, rates: Rates) -> Iterator[Cell]:
    """The solver screen."""
    if not config.seeds.screen.enabled:
        return
    pilot, chains = rates.pilot, _chains(config)
    if pilot is not None and "initialisation" in pilot.units:
        attempts = config.seeds.screen.attempts / pilot.number("seeds.screen.attempts")
        yield _cell(rates, "initialisation", "solver", 0, chains / len(pilot.domains) * attempts)
        return
    rates.used["declared"].add("tried_a_kept_seed")
    tried = rates.triangle(declared.tried_a_kept_seed) * chains * config.seeds.screen.attempts
    phase = "reporting" if pilot else "initialisation"
    cell = _cell(rates, phase, "solver", 0, tried / (pilot.number("budget.attempts") if pilot else 1))
    yield cell._replace(phase="initialisation")


def _round(config: RunConfig, declared: DeclaredConfig, rates: Rates, number: int) -> Iterator[Cell]:
    """Lines 6-31 of one round, accuracy apart."""
    chains, attempts = _chains(config), _attempts(config, rates.pilot)
    yield from _batch(config, rates, "generation", number, chains)
    if not config.ablation.post_task:
        return
    cohort = _cohort(config)
    proposed, probed = _search(config, declared, rates)
    yield _cell(rates, "in_loop", "solver", number, chains * attempts)
    yield _cell(rates, "post_task", "meta_skill", number, 1)
    yield _cell(rates, "post_task", "meta_harness", number, proposed)
    for phase, probes in (("baseline", np.full(DRAWS, 1.0 + config.gate.noise_floor)), ("candidate", probed)):
        yield from _batch(config, rates, phase, number, cohort * probes)
        yield _cell(rates, phase, "solver", number, cohort * probes * attempts)


def _batch(config: RunConfig, rates: Rates, phase: str, number: int, units: float | Numbers) -> Iterator[Cell]:
    """Lines 6-13 over `units` chains."""
    parts = [*CHAIN_ROLES, *map(verify_part, range(len(config.models.verify))), "attempt"]
    for part in [*parts, "meta_skill"] if config.ablation.online else parts:
        yield _cell(rates, phase, part, number, units)


def _search(config: RunConfig, declared: DeclaredConfig, rates: Rates) -> tuple[Numbers, Numbers]:
    """Draws of candidates proposed and probed in one round: an accepted one ends the search.

    A gate over another number of tasks accepts another share, so a pilot's counts only for its own cohort size.
    """
    random, most, pilot = rates.random, config.budget.candidates, rates.pilot
    rounds, proposed = (sum(map(bool, pilot.proposals)), sum(pilot.proposals)) if pilot else (0, 0)
    if pilot is None or not proposed or pilot.cohort != _cohort(config):
        accepted = rates.triangle(declared.acceptance)
        rates.used["declared"].add("acceptance")
    else:
        accepted = _share(random, pilot.accepted, proposed)
    kept = pilot.probed / proposed if pilot is not None and proposed else 1.0
    share = _share(random, rounds, pilot.rounds) if pilot is not None and pilot.post_task else np.ones(DRAWS)
    turns = np.minimum(random.geometric(np.clip(accepted, 1e-9, 1), DRAWS), most)
    made: Numbers = np.where(random.random(DRAWS) < share, turns, 0).astype(np.float64)
    made[0] = share[0] * sum((1 - accepted[0]) ** turn for turn in range(most))
    return made, made * kept


def _share(random: np.random.Generator, counted: int, of: int) -> Numbers:
    """Draws of a share of which `counted` out of `of` were seen; the first is its mean."""
    drawn = random.beta(counted + PRIOR, of - counted + PRIOR, DRAWS)
    drawn[0] = (counted + PRIOR) / (of + 2 * PRIOR)
    return drawn


def _wall(made: Forecast, declared: DeclaredConfig, rates: Rates) -> Numbers:
    """Wall seconds: at the pilot's pace, else from declared seconds a call and calls at once."""
    pilot, config = made.pilot, made.config
    if pilot is not None and pilot.wall_seconds > 0:
        column = SECONDS if bound_by_models(pilot) else CALLS
        return np.asarray(made.sums()[:, column] * (pilot.wall_seconds / max(float(pilot.work[column]), 1e-9)))
    busy, solver = rates.triangle(declared.busy), made.sums(parts=("solver",))[:, SECONDS]
    roles = made.sums()[:, SECONDS] - solver
    return np.asarray(
        (roles / config.budget.chain_concurrency + solver / config.solver.flow.concurrency) / np.maximum(busy, 0.01)
    )


def bound_by_models(pilot: Pilot) -> bool:
    """Whether waiting for models took the pilot's time; else tools did, and its time goes with its calls."""
    return bool(pilot.work[SECONDS] > pilot.wall_seconds)


def spread(draws: Numbers) -> tuple[float, float, float]:
    """(low, expected, high): a 95 % range over the simulated runs, and the expected one."""
    low, high = np.percentile(draws[1:], BOUNDS)
    expected = float(draws[0])
    return min(float(low), expected), expected, max(float(high), expected)


def generation_and_evaluation(made: Forecast, number: int) -> dict[str, tuple[Numbers, Numbers | None]]:
    """Sums and dollars of one round under the ceilings of `generation` and `evaluation`."""
    groups = {"generation": ("generation",), "evaluation": tuple(sorted(EVALUATION_PHASES))}
    return {
        name: (made.sums(phases=phases, round=number), made.usd(phases=phases, round=number))
        for name, phases in groups.items()
    }

"""What one unit of work costs in a round: measured by a pilot and carried on beyond it, else declared."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from coevolve.config_models import Config
from coevolve.estimate.parts import CALLS, COLUMNS, SECONDS, TOKENS_IN, TOKENS_OUT, Numbers
from coevolve.estimate.pilot import WHOLE, Pilot

DAMPING = 0.5
"""Of the expected forecast: each further round grows by half of what the one before it grew by."""
MOST_DAMPING = 0.9
SOURCES = {
    "candidate": ("candidate", "baseline", "generation"),
    "baseline": ("baseline", "generation"),
    "in_loop": ("in_loop", "reporting"),
}
"""Phases whose rates stand in for one another, best first."""
SOLVER_SOURCES = {"candidate": ("candidate", "baseline", "reporting"), "baseline": ("baseline", "reporting")}


def _rising(value: list[float]) -> list[float]:
    if len(value) != 3 or value != sorted(value):
        raise ValueError("give [low, likely, high], none below the one before")
    return value


Span = Annotated[list[float], AfterValidator(_rising)]
"""[low, likely, high]."""
Amounts = Annotated[list[Annotated[float, Field(ge=0)]], AfterValidator(_rising)]
Shares = Annotated[list[Annotated[float, Field(ge=0, le=1)]], AfterValidator(_rising)]


class RateConfig(Config):
    """A declared rate of one part: [low, likely, high] of each; tokens and seconds are those of one call."""

    calls: Amounts
    """A chain and round; of meta_harness a proposal, of the solver an attempt."""
    tokens_in: Amounts
    tokens_out: Amounts
    seconds: Amounts


class PartsConfig(Config):
    """A rate each; every member of Verify has the one of `verify`."""

    director: RateConfig
    extend: RateConfig
    revise: RateConfig
    verify: RateConfig
    attempt: RateConfig
    meta_skill: RateConfig
    meta_harness: RateConfig
    solver: RateConfig


@dataclass(slots=True)
class Rates:
    """Draws of what a unit costs. Draw 0 is the expected one: nothing resampled, means of whatever is drawn."""

    draws: int
    random: np.random.Generator
    pilot: Pilot | None
    declared: PartsConfig
    drift: list[float]
    domains: tuple[str, ...]
    """Domains of the run that is forecast."""
    used: dict[str, set[str]] = field(default_factory=lambda: {"measured": set(), "declared": set()})
    """Which parts were forecast from what."""
    _weights: Numbers = field(init=False)
    _damping: Numbers = field(init=False)
    _drift: dict[str, Numbers] = field(default_factory=dict)
    _made: dict[str, Numbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Resample the pilot's chains, each domain by itself."""
        damping = self.random.uniform(0, MOST_DAMPING, self.draws)
        damping[0] = DAMPING
        self._damping = damping
        names = np.array(self.pilot.domains if self.pilot else ())
        self._weights = np.zeros((self.draws, len(names)))
        for domain in self.domains if self.pilot else ():
            places = np.flatnonzero(names == domain)
            counts = self.random.multinomial(len(places), np.full(len(places), 1 / len(places)), self.draws)
            self._weights[:, places] = counts
            self._weights[0, places] = 1

    def triangle(self, values: list[float]) -> Numbers:
        """Draws of a declared [low, likely, high]; the first is their mean, which sums keep."""
        low, likely, high = values
        drawn = self.random.triangular(low, likely, high, self.draws) if high > low else np.full(self.draws, low)
        drawn[0] = (low + likely + high) / 3
        return drawn

    def unit(self, phase: str, part: str, number: int) -> Numbers:
        """(draws, COLUMNS) of one unit of `part` in `phase` of round `number`."""
        pilot = self.pilot
        if pilot is None or not _measured(pilot, phase, part):
            self.used["declared"].add(part)
            return self._declared(part)
        self.used["measured"].add(part)
        choices = SOLVER_SOURCES if part == "solver" else SOURCES
        whole = phase == "post_task" and part in WHOLE
        have = [name for name in choices.get(phase, (phase,)) if whole or name in pilot.units]
        rounds, rates = self._whole(pilot, part) if whole else self._chains(pilot, have[0], part)
        if part not in self._drift:
            self._drift[part] = self.triangle(self.drift)
        return self._at(rounds, rates, number, self._drift[part])

    def _declared(self, part: str) -> Numbers:
        if part not in self._made:
            rate: RateConfig = getattr(self.declared, part.partition(" ")[0])
            figures = np.zeros((self.draws, len(COLUMNS)))
            calls = figures[:, CALLS] = self.triangle(rate.calls)
            figures[:, TOKENS_IN] = calls * self.triangle(rate.tokens_in)
            figures[:, TOKENS_OUT] = calls * self.triangle(rate.tokens_out)
            figures[:, SECONDS] = calls * self.triangle(rate.seconds)
            self._made[part] = figures
        return self._made[part]

    def _chains(self, pilot: Pilot, phase: str, part: str) -> tuple[list[int], Numbers]:
        """The rounds that had `phase`, and (rounds, draws, COLUMNS) of a unit of its `part` in each."""
        units, sums = pilot.units[phase], pilot.sums.get((phase, self._like(pilot, phase, part)))
        rounds = [number for number in range(pilot.rounds + 1) if units[number].any()]
        weights = self._weights if phase != "initialisation" else np.ones((self.draws, 1))
        made = np.zeros((len(rounds), self.draws, len(COLUMNS)))
        for place, number in enumerate(rounds):
            worked = weights @ units[number]
            if sums is not None and worked[0] > 0:
                made[place] = weights @ sums[number] / np.where(worked > 0, worked, 1)[:, None]
                made[place][worked == 0] = made[place][0]
        return rounds, made

    def _like(self, pilot: Pilot, phase: str, part: str) -> str:
        """A member of Verify that the pilot did not have is taken to be like its last one."""
        members = sorted(name for where, name in pilot.sums if where == phase and name.startswith("verify"))
        return members[-1] if part.startswith("verify") and members and part not in members else part

    def _whole(self, pilot: Pilot, part: str) -> tuple[list[int], Numbers]:
        sums = pilot.sums.get(("post_task", part))
        if sums is None:
            return [1], np.zeros((1, self.draws, len(COLUMNS)))
        made = np.array(pilot.proposals) if part == "meta_harness" else np.ones(pilot.rounds + 1)
        rounds = [number for number in range(1, pilot.rounds + 1) if made[number]]
        each = sums[rounds, 0] / made[rounds, None]
        return rounds, np.repeat(each[:, None, :], self.draws, axis=1)

    def _at(self, rounds: list[int], rates: Numbers, number: int, drift: Numbers) -> Numbers:
        """The rate of a round: as measured, else on the damped line through the measured ones."""
        if number in rounds:
            return np.asarray(rates[rounds.index(number)])
        later = [place for place, known in enumerate(rounds) if known > 0] or [0]
        known = np.array([rounds[place] for place in later], dtype=np.float64)
        chosen, middle = rates[later], known.mean()
        if number < known[-1]:
            return np.asarray(chosen.mean(axis=0))
        around = float(((known - middle) ** 2).sum()) or 1.0  # one round shows no growth
        slope = np.tensordot(known - middle, chosen, axes=1) / around
        level = chosen.mean(axis=0) + slope * (known[-1] - middle)
        steps = np.arange(1, number - int(known[-1]) + 1)
        reach = (self._damping[:, None] ** steps).sum(axis=1)
        grown = np.asarray(np.maximum(level + slope * reach[:, None], 0.0))
        grown[:, CALLS + 1 :] *= np.maximum(1 + drift * reach, 0.0)[:, None]
        return grown


def _measured(pilot: Pilot, phase: str, part: str) -> bool:
    """Whether the pilot did what is asked about."""
    if phase == "initialisation":
        return phase in pilot.units
    if part == "meta_harness":
        return any(pilot.proposals)
    return part != "meta_skill" or (pilot.post_task if phase == "post_task" else pilot.online)

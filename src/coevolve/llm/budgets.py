"""Ceilings, checked before each call and held under concurrency by reservations (I11)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from coevolve.config import BudgetConfig, CeilingConfig
from coevolve.errors import CeilingReached, RunCeilingReached
from coevolve.ledger import CallKey, Ledger, Sums, Totals

EVALUATION_PHASES = frozenset({"in_loop", "post_task", "baseline", "candidate"})
CLOSING = frozenset({"generation", "evaluation"})
"""Ceilings whose first refusal holds for the rest of the round: where it ends does not hang on who asks next."""


class Estimate(NamedTuple):
    """The most one call can cost."""

    tokens: int
    microusd: int


@dataclass(slots=True)
class _Held:
    """What calls in flight may still cost, per ceiling."""

    calls: int = 0
    tokens: int = 0
    microusd: int = 0

    def add(self, estimate: Estimate, sign: int) -> None:
        self.calls += sign
        self.tokens += sign * estimate.tokens
        self.microusd += sign * estimate.microusd


@dataclass(slots=True)
class Reservation:
    """Room held for one call under every ceiling it falls under."""

    estimate: Estimate
    held: list[_Held] = field(default_factory=list)


class Budgets:
    """The run's ceilings over one ledger."""

    def __init__(self, config: BudgetConfig, ledger: Ledger) -> None:
        self._config = config
        self._ledger = ledger
        self._held: dict[tuple[str, ...], _Held] = {}
        self._changed = asyncio.Condition()
        self._closed: dict[str, str] = {}
        self._to_close: Mapping[str, str] = {}

    def start_round(self, closed: Mapping[str, str]) -> None:
        """Forget the round before; `closed` are ceilings that refused a call of this one to an earlier process."""
        self._held = {name: held for name, held in self._held.items() if len(name) == 1}
        self._closed, self._to_close = {}, dict(closed)

    def left(self, scope: str) -> bool:
        """Whether the ceiling of `generation` or `evaluation` has room after the calls this process came to."""
        ceiling: CeilingConfig = getattr(self._config, scope)
        if scope in self._closed:
            return False
        return _refusal(ceiling, _of(self._ledger.made, scope), _Held(), Estimate(0, 0)) is None

    async def reserve(self, key: CallKey, estimate: Estimate) -> Reservation:
        """Hold room for a call; waits for calls in flight where only their reservations stand in the way.

        Raises CeilingReached (generation, evaluation, chain) or RunCeilingReached (total).
        """
        async with self._changed:
            while True:
                waits = False
                ceilings = self._ceilings(key)
                for scope, ceiling, spent, held in ceilings:
                    self._refuse_if_closed(scope)
                    why = _refusal(ceiling, spent, held, estimate)
                    if why is None:
                        continue
                    if held.calls and _refusal(ceiling, spent, _Held(), estimate) is None:
                        waits = True
                        continue
                    if scope == "total":
                        raise RunCeilingReached(f"budget.total.{why}; raise it and run the same command to go on")
                    if scope in CLOSING:
                        self._closed[scope] = why
                    raise CeilingReached(scope, why)
                if not waits:
                    break
                await self._changed.wait()
            reservation = Reservation(estimate, [held for _, _, _, held in ceilings])
            for held in reservation.held:
                held.add(estimate, 1)
            return reservation

    async def release(self, reservation: Reservation) -> None:
        """Give the room back; what the call really cost stands in the ledger by now."""
        for held in reservation.held:
            held.add(reservation.estimate, -1)
        async with self._changed:
            self._changed.notify_all()

    def _ceilings(self, key: CallKey) -> list[tuple[str, CeilingConfig, Totals, _Held]]:
        scopes: list[tuple[str, ...]] = [("total",)]
        if key.scope.phase == "generation":
            scopes.append(("generation",))
        elif key.scope.phase in EVALUATION_PHASES:
            scopes.append(("evaluation",))
        if key.role != "solver" and key.scope.phase in ("generation", "baseline", "candidate"):
            scopes.append(("chain", key.scope.phase, key.scope.probe, key.chain))
        return [
            (scope[0], getattr(self._config, scope[0]), self._spent(*scope), self._held.setdefault(scope, _Held()))
            for scope in scopes
        ]

    def _refuse_if_closed(self, scope: str) -> None:
        why = self._closed.get(scope) or self._to_close.get(scope)
        if why is not None:
            self._closed[scope] = why
            raise CeilingReached(scope, why)

    def _spent(self, scope: str, *rest: str) -> Totals:
        """What was paid under a ceiling, by this process or an earlier one."""
        made = _of(self._ledger.made, scope, *rest)
        if self._ledger.expected.run.calls == 0:
            return made
        both = Totals()
        both.add(made)
        both.add(_of(self._ledger.expected, scope, *rest))
        return both


def _of(sums: Sums, scope: str, *rest: str) -> Totals:
    if scope == "total":
        return sums.run
    if scope == "chain":
        phase, probe, chain = rest
        return sums.chains.get((phase, probe, chain)) or Totals()
    if scope == "generation":
        return sums.sum(lambda phase, _probe, _role: phase == "generation")
    return sums.sum(lambda phase, _probe, _role: phase in EVALUATION_PHASES)


def _refusal(ceiling: CeilingConfig, spent: Totals, held: _Held, estimate: Estimate) -> str | None:
    if ceiling.calls is not None and spent.calls + held.calls + 1 > ceiling.calls:
        return f"calls={ceiling.calls}"
    if ceiling.tokens is not None and spent.tokens + held.tokens + estimate.tokens > ceiling.tokens:
        return f"tokens={ceiling.tokens}"
    money = (spent.microusd or 0) + held.microusd + estimate.microusd
    if ceiling.usd is not None and money > round(ceiling.usd * 1_000_000):
        return f"usd={ceiling.usd:g}"
    if ceiling.seconds is not None and spent.seconds >= ceiling.seconds:
        return f"seconds={ceiling.seconds:g}"
    return None

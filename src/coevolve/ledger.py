"""What every call cost: one row a call in ledger.jsonl, and sums by scope held in memory.

Money is integer micro-dollars, null where a price is unknown. Sums of finished rounds live in the archive; the ledger
itself holds only those of the run as a whole and of the round at work, so memory stays flat over rounds.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from coevolve.events import Scope


class CallKey(NamedTuple):
    """Which call of a run this is (I16); its text form is the `call` of a ledger row."""

    scope: Scope
    chain: str
    step: int
    role: str
    attempt: int

    def __str__(self) -> str:
        scope = self.scope
        return f"r{scope.round}/{scope.phase}/{scope.probe}/{self.chain}/{self.step}/{self.role}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class Row:
    """One call as ledger.jsonl holds it.

    `outcome` is ok, truncated, unparsed, failed, or unused: paid for before a resumed run took another course.
    """

    call: str
    round: int
    phase: str
    probe: str
    chain: str
    step: int
    role: str
    attempt: int
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    microusd: int | None
    seconds: float
    outcome: str
    retries: tuple[str, ...] = ()

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """A row from its record in a ledger or journal."""
        return cls(**{**record, "retries": tuple(record["retries"])})

    def record(self) -> dict[str, Any]:
        """The row as JSON holds it."""
        return {
            "call": self.call,
            "round": self.round,
            "phase": self.phase,
            "probe": self.probe,
            "chain": self.chain,
            "step": self.step,
            "role": self.role,
            "attempt": self.attempt,
            "model": self.model,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_cached": self.tokens_cached,
            "tokens_reasoning": self.tokens_reasoning,
            "microusd": self.microusd,
            "seconds": self.seconds,
            "outcome": self.outcome,
            "retries": self.retries,
        }


@dataclass(slots=True)
class Totals:
    """Sums over calls; `microusd` is None as soon as one price was unknown.

    `seconds` are kept to 0.1 ms, as rows hold them, so that a sum is the same in whatever order calls ended.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    microusd: int | None = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.tokens_in + self.tokens_out

    def add(self, other: "Row | Totals", sign: int = 1) -> None:
        """Add a row, or other sums; `sign` -1 takes them away again."""
        self.calls += sign * (other.calls if isinstance(other, Totals) else 1)
        self.tokens_in += sign * other.tokens_in
        self.tokens_out += sign * other.tokens_out
        self.tokens_cached += sign * other.tokens_cached
        self.tokens_reasoning += sign * other.tokens_reasoning
        both = self.microusd is not None and other.microusd is not None
        self.microusd = (self.microusd or 0) + sign * (other.microusd or 0) if both else None
        self.seconds = round(self.seconds + sign * other.seconds, 4)

    def record(self) -> dict[str, Any]:
        """The sums as JSON holds them."""
        return {
            "calls": self.calls,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_cached": self.tokens_cached,
            "tokens_reasoning": self.tokens_reasoning,
            "microusd": self.microusd,
            "seconds": self.seconds,
        }


Cell = tuple[str, str, str]
"""(phase, probe, role)."""


class Sums:
    """Totals of the run, of each cell of the round at work, and of each chain's construction in it."""

    def __init__(self) -> None:
        self.run = Totals()
        self.cells: dict[Cell, Totals] = {}
        self.chains: dict[tuple[str, str, str], Totals] = {}

    def add(self, row: Row, sign: int = 1) -> None:
        """Add a row, or take it away again; scoring attempts are no construction."""
        self.run.add(row, sign)
        self.cells.setdefault((row.phase, row.probe, row.role), Totals()).add(row, sign)
        if row.role != "solver":
            self.chains.setdefault((row.phase, row.probe, row.chain), Totals()).add(row, sign)

    def sum(self, keep: Callable[[str, str, str], bool]) -> Totals:
        """Over the cells (phase, probe, role) that `keep` accepts."""
        total = Totals()
        for cell, totals in self.cells.items():
            if keep(*cell):
                total.add(totals)
        return total


TOTALS = tuple(Totals().record())


class Ledger:
    """Rows on disk, sums in memory."""

    def __init__(self, path: Path, kept_bytes: int | None = None) -> None:
        """Open `path`; rows past `kept_bytes` belong to a round that will be replayed and are cut off."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if kept_bytes is not None and self._file.tell() > kept_bytes:
            self._file.truncate(kept_bytes)
            self._file.seek(kept_bytes)
        self.made = Sums()
        """Of the calls that stand in the ledger."""
        self.expected = Sums()
        """Of the round's calls that an earlier process paid for and this one has not come to yet."""

    @property
    def run(self) -> Totals:
        """Sums of the run as a whole."""
        return self.made.run

    def restore(self, costs: Iterable[dict[str, Any]]) -> None:
        """Take the sums of an archived round (the form of `cells`) into the run's totals."""
        for cell in costs:
            self.run.add(Totals(**{name: cell[name] for name in TOTALS}))

    def start_round(self) -> None:
        """Forget the sums of the round before: they are archived."""
        self.made.cells.clear()
        self.made.chains.clear()
        self.expected = Sums()

    def expect(self, row: Row) -> None:
        """Count a call that an earlier process paid for, until `append` says that this one came to it."""
        self.expected.add(row)

    def append(self, row: Row, expected: bool = False) -> None:
        """Write one row (no fsync: the journal holds it too) and add it to the sums."""
        self._file.write(json.dumps(row.record(), ensure_ascii=False).encode() + b"\n")
        self.made.add(row)
        if expected:
            self.expected.add(row, -1)

    def sum(self, keep: Callable[[str, str, str], bool]) -> Totals:
        """Sums of this round over the cells (phase, probe, role) that `keep` accepts."""
        return self.made.sum(keep)

    def cells(self) -> list[dict[str, Any]]:
        """This round's sums, one record a (phase, probe, role), for the archive."""
        return [
            {"phase": phase, "probe": probe, "role": role, **totals.record()}
            for (phase, probe, role), totals in sorted(self.made.cells.items())
        ]

    def flush(self) -> int:
        """Hand all rows to the operating system and return the file's size in bytes."""
        self._file.flush()
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def generation(phase: str, _probe: str, _role: str) -> bool:
    """C_gen: Director, extend, revise, verify and online-update calls of production, failures included (I10)."""
    return phase == "generation"


def operators(phase: str, _probe: str, role: str) -> bool:
    """C_ERV: production extend, revise and verify of one round (Appendix E)."""
    return phase == "generation" and role in ("extend", "revise", "verify")


def evolution(phase: str, _probe: str, _role: str) -> bool:
    """Total evolution cost: everything but reporting (Appendix B)."""
    return phase != "reporting"

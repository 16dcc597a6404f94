"""What every call cost: one row a call in ledger.jsonl, and sums by scope held in memory.

Money is integer micro-dollars, null where a price is unknown. Sums of finished rounds live in the archive; the ledger
itself holds only those of the run as a whole and of the round at work, so memory stays flat over rounds.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
    """One call as ledger.jsonl holds it; `outcome` is ok, truncated, unparsed, failed or an HTTP word."""

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


@dataclass(slots=True)
class Totals:
    """Sums over calls; `microusd` is None as soon as one price was unknown."""

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

    def add(self, other: "Row | Totals") -> None:
        """Add a row, or other sums."""
        self.calls += other.calls if isinstance(other, Totals) else 1
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        self.tokens_cached += other.tokens_cached
        self.tokens_reasoning += other.tokens_reasoning
        both = self.microusd is not None and other.microusd is not None
        self.microusd = (self.microusd or 0) + (other.microusd or 0) if both else None
        self.seconds += other.seconds


Cell = tuple[str, str, str]
"""(phase, probe, role)."""


class Ledger:
    """Rows on disk, sums in memory."""

    def __init__(self, path: Path, kept_bytes: int | None = None) -> None:
        """Open `path`; rows past `kept_bytes` belong to a round that will be replayed and are cut off."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if kept_bytes is not None and self._file.tell() > kept_bytes:
            self._file.truncate(kept_bytes)
            self._file.seek(kept_bytes)
        self.run = Totals()
        self._cells: dict[Cell, Totals] = {}
        self._chains: dict[tuple[str, str, str], Totals] = {}

    def restore(self, costs: Iterable[dict[str, Any]]) -> None:
        """Take the sums of an archived round (the form of `cells`) into the run's totals."""
        for cell in costs:
            self.run.add(Totals(**{name: cell[name] for name in asdict(Totals())}))

    def start_round(self) -> None:
        """Forget the sums of the round before: they are archived."""
        self._cells.clear()
        self._chains.clear()

    def append(self, row: Row) -> None:
        """Write one row (no fsync: the journal holds it too) and add it to the sums."""
        self._file.write(json.dumps(asdict(row), ensure_ascii=False).encode() + b"\n")
        self.run.add(row)
        self._cells.setdefault((row.phase, row.probe, row.role), Totals()).add(row)
        if row.role != "solver":
            self._chains.setdefault((row.phase, row.probe, row.chain), Totals()).add(row)

    def sum(self, keep: Callable[[str, str, str], bool]) -> Totals:
        """Sums of this round over the cells (phase, probe, role) that `keep` accepts."""
        total = Totals()
        for cell, totals in self._cells.items():
            if keep(*cell):
                total.add(totals)
        return total

    def chain(self, phase: str, probe: str, chain: str) -> Totals:
        """What one chain's construction cost in this round or probe (scoring attempts apart)."""
        return self._chains.get((phase, probe, chain)) or Totals()

    def cells(self) -> list[dict[str, Any]]:
        """This round's sums, one record a (phase, probe, role), for the archive."""
        return [
            {"phase": phase, "probe": probe, "role": role, **asdict(totals)}
            for (phase, probe, role), totals in sorted(self._cells.items())
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

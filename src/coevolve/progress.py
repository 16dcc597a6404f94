"""What a person sees: a live view on a terminal, plain lines elsewhere, and the closing table from summary.json."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

PLAIN_LINE_SECONDS = 10.0
"""Fewest seconds between two plain lines of one stage."""
PLAIN_WIDTH = 140
FIGURES: Mapping[str, str] = {
    "accuracy": "accuracy {:.1%}",
    "misses": "{} misses",
    "skills": "{} skills admitted",
    "cost_usd": "${:.4f}",
    "verdict": "{}",
    "seconds_an_attempt": "{:.2f} s an attempt",
}
"""Figures with a form of their own; others are shown as `name value`."""


def clock(seconds: float) -> str:
    """`seconds` as a person says it: 45 s, 12 min, 3 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Where a run stands. Live only where the error stream is a terminal."""

    def __init__(self, live: bool, rounds: int, chains: int, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._rounds = rounds
        self._chains = chains
        self._round, self._phase, self._done, self._total = 0, "starting", 0, 0
        self._figures: dict[str, Any] = {}
        self._begun = time.monotonic()
        self._round_begun: float | None = None
        self._round_seconds: list[float] = []
        self._last_line = 0.0
        on_terminal = live and self._console.is_terminal
        self._live = Live(self, console=self._console, refresh_per_second=2, transient=True) if on_terminal else None

    def __enter__(self) -> Self:
        """Show the view."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the view away."""
        if self._live:
            self._live.stop()

    def phase(self, round: int, phase: str, total: int) -> None:
        """A stage begins: `total` units of work in `phase` of `round`."""
        if round != self._round:
            now = time.monotonic()
            if self._round_begun is not None:
                self._round_seconds.append(now - self._round_begun)
            self._round_begun = now
        self._round, self._phase, self._done, self._total = round, phase, 0, total
        self._line()

    def advance(self, n: int = 1) -> None:
        """`n` more units of this stage are done."""
        self._done += n
        if time.monotonic() - self._last_line >= PLAIN_LINE_SECONDS:
            self._line()

    def show(self, **figures: Any) -> None:
        """Set figures (accuracy, misses, skills, cost_usd, verdict …); None takes one away."""
        self._figures.update(figures)

    def say(self, line: str) -> None:
        """One line that stays."""
        self._console.print(Text(line), soft_wrap=True)

    def seconds_left(self) -> float | None:
        """Time left by the mean of the rounds finished since the start; None before the first."""
        if not self._round_seconds or self._round_begun is None or self._round > self._rounds:
            return None
        mean = sum(self._round_seconds) / len(self._round_seconds)
        in_this_round = time.monotonic() - self._round_begun
        return mean * (self._rounds - self._round) + max(0.0, mean - in_this_round)

    def status(self) -> str:
        """Everything on one line."""
        left = self.seconds_left()
        parts = [
            self._where(),
            f"{self._phase} {self._done}/{self._total}" if self._total else self._phase,
            *self._shown(),
            f"{clock(time.monotonic() - self._begun)} gone" + (f", about {clock(left)} left" if left else ""),
        ]
        return " | ".join(parts)

    def __rich__(self) -> Group:
        """The live view."""
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(self._total, 1), completed=self._done, width=40)
        grid.add_row(Text(self._where(), style="bold"), Text(f"{self._chains} chains"), "")
        grid.add_row(Text(self._phase), bar, Text(f"{self._done}/{self._total}"))
        left = self.seconds_left()
        times = f"{clock(time.monotonic() - self._begun)} gone" + (f", about {clock(left)} left" if left else "")
        return Group(grid, Text(" | ".join([*self._shown(), times])))

    def _where(self) -> str:
        return f"round {self._round} of {self._rounds}" if self._round <= self._rounds else "after the last round"

    def _shown(self) -> list[str]:
        known = [(name, value) for name, value in self._figures.items() if value is not None]
        return [FIGURES[name].format(value) if name in FIGURES else f"{name} {value}" for name, value in known]

    def _line(self) -> None:
        self._last_line = time.monotonic()
        if not self._live:
            self.say(self.status())


def closing_table(summary: Mapping[str, Any]) -> Table:
    """Round by round, from summary.json alone. Costs are US dollars per original seed; the total is cumulative."""
    rows: Sequence[Mapping[str, Any]] = summary["rounds"]
    domains = [name for name in ("math", "coding", "science") if any(name in row["accuracy"] for row in rows)]
    solver = (summary.get("solver") or {}).get("model", "?")
    title = f"{summary.get('experiment')} · {summary.get('ablation')} · solver {solver} · seed {summary.get('seed')}"
    table = Table(title=title if summary.get("complete") else f"{title} · not complete", title_justify="left")
    for name in (
        "round",
        "accuracy",
        "95 % interval",
        *domains,
        "validity",
        "fallback",
        "skills",
        "C_gen $",
        "total $",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("harness", no_wrap=True)
    for row in rows:
        low, high = row.get("interval") or (None, None)
        table.add_row(
            str(row["round"]),
            _percent(row["accuracy"].get("all")),
            "" if low is None else f"{_percent(low)} - {_percent(high)}",
            *(_percent(row["accuracy"].get(domain)) for domain in domains),
            _percent(row.get("validity")),
            _percent(row.get("fallback_rate")),
            str(row.get("skills", "")),
            _usd(row.get("c_gen_usd")),
            _usd(row.get("total_usd")),
            str(row.get("status", "")),
            str(row.get("harness_id", ""))[:8],
        )
    return table


def what_next(folder: Path, tracking: Sequence[str]) -> list[str]:
    """Paths and commands to open next; `tracking` holds the tracker's links (command, then page)."""
    lines = [
        f"summary    {folder / 'summary.json'}",
        f"archive    {folder / 'archive'}",
        f"check      python scripts/doctor.py run={folder}",
    ]
    return lines + [f"{'charts' if '#/' in link else 'MLflow':<10} {link}" for link in tracking]


def print_closing(summary: Mapping[str, Any], lines: Sequence[str], console: Console | None = None) -> None:
    """The closing table and the lines below it, on the output stream; wide enough when that is no terminal."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        console = Console(file=console.file, width=PLAIN_WIDTH, highlight=False)
    console.print(closing_table(summary))
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _usd(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"

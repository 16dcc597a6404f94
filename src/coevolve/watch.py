"""What a person sees of a run: events and calls, turned into progress."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from coevolve.config import RunConfig
from coevolve.events import Event
from coevolve.ledger import Row
from coevolve.progress import Progress

STAGES = {
    "initialisation": "screening seeds",
    "generation": "building tasks",
    "in_loop": "in-loop test",
    "post_task": "updating the harness",
    "baseline": "probing the baseline",
    "candidate": "probing a candidate",
    "reporting": "measuring accuracy",
}


class Watch:
    """Keeps the progress view true while a run goes on."""

    def __init__(self, config: RunConfig) -> None:
        self._attempts = config.budget.attempts
        self._chains = config.seeds.per_domain * len(config.domain.include)
        self._cohort = min(config.budget.gate_per_domain, config.seeds.per_domain) * len(config.domain.include)
        self._progress = Progress(config.live, config.rounds, self._chains)
        self._stage: tuple[int, str, str] | None = None
        self._spent = 0
        self._misses = 0
        self._admitted = 0

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)

    def call(self, row: Row) -> None:
        """One call ended: money, and the attempts of a measuring stage."""
        self._spent += row.microusd or 0
        if row.role == "solver":
            scoring = row.phase in ("baseline", "candidate")
            chains = self._cohort if scoring else self._chains
            name = "scoring a probe" if scoring else STAGES[row.phase]
            self._enter(row.round, row.phase, f"{row.probe} attempts", name, chains * self._attempts)
            self._progress.advance()
        self._progress.show(cost_usd=self._spent / 1_000_000)

    def event(self, event: Event) -> None:
        """Something happened in a batch or at a stage."""
        scope, data = event.scope, event.data
        if event.kind == "batch":
            self._enter(scope.round, scope.phase, scope.probe, STAGES[scope.phase], data["chains"])
        elif event.kind == "chain":
            self._progress.advance()
        elif event.kind == "miss" and not scope.probe:
            self._misses += 1
            self._progress.show(misses=self._misses)
        elif event.kind == "admission" and not scope.probe:
            self._admitted += len(data["admitted"])
            self._progress.show(skills=self._admitted)
        elif event.kind == "accuracy":
            self._progress.show(accuracy=data["accuracy"]["all"])
        elif event.kind == "proposal":
            inert = set(data["inert"])
            edits = ", ".join(
                f"{edit['op']} {edit['kind']} {edit['name']}"
                + (" (inert)" if edit["kind"] == "prompt" and edit["name"] in inert else "")
                for edit in data["edits"]
            )
            self.say(f"round {scope.round} {scope.probe}: {edits or 'no edit'}")
        elif event.kind == "verdict" and (paired := data["paired"]) is not None:
            error = "unknown" if paired["se"] is None else f"{100 * paired['se']:.1f}"
            self.say(f"round {scope.round} {scope.probe}: {100 * paired['gain']:+.1f} points harder, paired SE {error}")
        elif event.kind == "warning":
            self.say(f"round {scope.round}: {data['message']}")

    def archived(self, record: Mapping[str, Any]) -> None:
        """A version was archived: what the gate decided, and why not."""
        reasons = ["; ".join(report["reasons"]) for report in record["rejections"]]
        if record["round"]:
            self.say(f"round {record['round']}: {record['status']}" + (f" ({' | '.join(reasons)})" if reasons else ""))

    def say(self, line: str) -> None:
        """One line that stays on the screen."""
        self._progress.say(line)

    def _enter(self, number: int, phase: str, part: str, name: str, total: int) -> None:
        if self._stage != (number, phase, part):
            self._stage = (number, phase, part)
            self._progress.phase(number, name, total)

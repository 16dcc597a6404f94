"""The stage graph of a round, and the time it takes when the machinery around the calls costs nothing."""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple, Union

from coevolve.ledger import Row
from coevolve.synthesis.verification import OWN_ATTEMPT

RANKS = {"director": 0, "extend": 1, "revise": 1, "verify": 2, "meta_skill": 4}
OWN_RANK = 3


class Line(NamedTuple):
    """Parts one after the other."""

    parts: tuple["Stage", ...]


class Side(NamedTuple):
    """Parts side by side, at most `at_once` of them at a time (None = all)."""

    parts: tuple["Stage", ...]
    at_once: int | None = None


Stage = Union[float, Line, Side]  # noqa: UP007  (a recursive alias)
"""A call in seconds, or parts."""


def makespan(stage: Stage, slots: int) -> float:
    """Seconds until `stage` is done when an endpoint serves `slots` calls at a time, first come, first served."""
    clock = _Clock(slots)
    clock.start(stage, lambda: None)
    while clock.due:
        clock.step()
    return clock.now


class _Clock:
    def __init__(self, slots: int) -> None:
        self.now = 0.0
        self.due: list[tuple[float, int, Callable[[], None]]] = []
        self._free = slots
        self._queue: deque[tuple[float, Callable[[], None]]] = deque()
        self._order = count()

    def start(self, stage: Stage, done: Callable[[], None]) -> None:
        if isinstance(stage, Line):
            self._follow(iter(stage.parts), done)
        elif isinstance(stage, Side):
            self._spread(stage, done)
        else:
            self._queue.append((stage, done))
            self._serve()

    def step(self) -> None:
        """Let time pass to the end of the next call."""
        self.now, _, done = heapq.heappop(self.due)
        self._free += 1
        done()
        self._serve()

    def _serve(self) -> None:
        while self._free and self._queue:
            seconds, done = self._queue.popleft()
            self._free -= 1
            heapq.heappush(self.due, (self.now + seconds, next(self._order), done))

    def _follow(self, parts: Iterator[Stage], done: Callable[[], None]) -> None:
        part = next(parts, None)
        if part is None:
            done()
        else:
            self.start(part, lambda: self._follow(parts, done))

    def _spread(self, side: Side, done: Callable[[], None]) -> None:
        waiting, running = deque(side.parts), 0

        def ended() -> None:
            nonlocal running
            running -= 1
            more()

        def more() -> None:
            nonlocal running
            while waiting and (side.at_once is None or running < side.at_once):
                running += 1
                self.start(waiting.popleft(), ended)
            if not waiting and not running:
                done()

        more()


def batch(rows: Iterable[Row], seconds: Callable[[Row], float], chains: Sequence[str], at_once: int) -> Side:
    """A batch's chains, each a line of its calls; Verify's ensemble answers side by side."""
    calls: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        calls[row.chain].append(row)
    return Side(tuple(_chain(calls[name], seconds) for name in chains if name in calls), at_once)


def _chain(rows: Sequence[Row], seconds: Callable[[Row], float]) -> Line:
    groups: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in rows:
        own = row.attempt >= OWN_ATTEMPT
        groups[row.step, OWN_RANK if own else RANKS[row.role]].append(row)
    return Line(tuple(_group(groups[place], seconds, place[1]) for place in sorted(groups)))


def _group(rows: Sequence[Row], seconds: Callable[[Row], float], rank: int) -> Stage:
    turns = sorted(rows, key=lambda row: row.attempt)
    if rank != RANKS["verify"]:
        return Line(tuple(seconds(row) for row in turns))
    members: dict[int, list[float]] = defaultdict(list)
    for row in turns:
        members[row.attempt // 2].append(seconds(row))
    return Side(tuple(Line(tuple(member)) for member in members.values()))


class Round(NamedTuple):
    """A round's stages; `whole` lets overlap what may, `in_line` is the order of Algorithm 1."""

    generation: Side
    whole: Stage
    in_line: Stage


def round_stages(rows: Sequence[Row], seconds: Callable[[Row], float], chains: Sequence[str], at_once: int) -> Round:
    """The stage graph of one round from its ledger rows.

    Allowed overlaps: reporting reads the batch's tasks alone and feeds nothing back, so it may run beside the whole of
    Stage 3; the baseline reads the online harness and the cohort alone, so it may run beside in-loop test and update.
    """
    by_place: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        probe = row.chain if row.role == "meta_harness" else row.probe
        by_place["meta_harness" if row.role == "meta_harness" else row.phase, probe].append(row)

    def attempts(phase: str, probe: str = "") -> Side:
        return Side(tuple(seconds(row) for row in by_place[phase, probe] if row.role == "solver"))

    def probed(phase: str, probe: str) -> tuple[Stage, ...]:
        calls = [row for row in by_place[phase, probe] if row.role != "solver"]
        return batch(calls, seconds, chains, at_once), attempts(phase, probe)

    made = batch(by_place["generation", ""], seconds, chains, at_once)
    update = Side(tuple(seconds(row) for row in by_place["post_task", ""]))
    test = Line((attempts("in_loop"), update))
    baseline = Line(probed("baseline", "baseline"))
    tries = tuple(
        part
        for _, probe in sorted(place for place in by_place if place[0] == "meta_harness")
        for part in (_asked(by_place, probe, seconds), *probed("candidate", probe))
    )
    reporting = attempts("reporting")
    improving = Line((Side((test, baseline)), *tries))
    return Round(made, Line((made, Side((improving, reporting)))), Line((made, test, baseline, *tries, reporting)))


def _asked(by_place: Mapping[tuple[str, str], Sequence[Row]], probe: str, seconds: Callable[[Row], float]) -> Line:
    return Line(tuple(seconds(row) for row in by_place["meta_harness", probe]))

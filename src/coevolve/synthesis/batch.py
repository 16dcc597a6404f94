"""One batch: chains work at once on one working harness, and their events come out of an async iterator.

The order of admissions and what each Director step had seen of them are journaled, so that a resumed batch takes the
same course (I16).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from coevolve.agents.base import Desk
from coevolve.errors import CallFailed, CeilingReached, CoevolveError, Stopped, ToolError, UserError
from coevolve.events import Event, Scope, SolverMiss
from coevolve.harness import Harness
from coevolve.ledger import CallKey
from coevolve.skills import SkillProposal, admit
from coevolve.synthesis.chain import ChainRunner, trace_of
from coevolve.synthesis.verification import FixedVerifier
from coevolve.tasks import Task

VALIDITY = "validity"
"""The bound that ends a candidate's probe early."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every batch of a run works with, the same in all arms (I15)."""

    desk: Desk
    verify: FixedVerifier
    concurrency: int
    """Chains worked on at once."""
    log: Callable[[Event], None]


class Batch:
    """H^w at work: `harness` is the working copy, `produced` the new valid task of each chain that made one."""

    def __init__(
        self,
        harness: Harness,
        tasks: Sequence[Task],
        scope: Scope,
        workshop: Workshop,
        may_miss: int | None = None,
    ) -> None:
        """`may_miss`: end early once more chains than that have no valid candidate (a probe that cannot pass)."""
        self.scope = scope
        self.tasks = tuple(tasks)
        self.produced: dict[str, Task] = {}
        self.events: list[Event] = []
        """Z: everything logged, in order."""
        self.failed = 0
        """Chains that ended without a valid candidate."""
        self.complete = True
        """False when the evaluation budget, a dead endpoint or an early end cut the batch (I8)."""
        self._stop: CoevolveError | None = None
        self._active, self._pending, self._concurrency = 0, len(self.tasks), workshop.concurrency
        self._waiting: list[Callable[[], bool]] = []
        self._histories = [harness]
        self._desk = workshop.desk
        self._log = workshop.log
        self._may_miss = may_miss
        self._slots = asyncio.Semaphore(workshop.concurrency)
        self._queue: asyncio.Queue[SolverMiss | Event | None] = asyncio.Queue()
        self._changed = asyncio.Condition()
        probe = f"{scope.phase}/{scope.probe}"
        self._probe = probe
        self._expected = deque(workshop.desk.calls.journal.admissions.get(probe, []))
        self._runner = ChainRunner(workshop.desk, workshop.verify, self.view, self.emit, self._report_miss)

    @property
    def snapshot(self) -> Harness:
        """The harness the batch started from."""
        return self._histories[0]

    @property
    def ended_early(self) -> bool:
        """Whether more chains were missing than a candidate may miss (`may_miss`)."""
        return isinstance(self._stop, CeilingReached) and self._stop.scope == VALIDITY

    @property
    def harness(self) -> Harness:
        """The working harness as it stands now."""
        return self._histories[-1]

    async def steps(self) -> AsyncIterator[SolverMiss | Event]:
        """Run all chains; yield what happens until the last has ended.

        Raises Stopped, or a UserError such as a dead endpoint, after calls in flight ended.
        """
        work = asyncio.create_task(self._work())
        try:
            while (event := await self._queue.get()) is not None:
                yield event
        finally:
            await work
        if isinstance(self._stop, Stopped | UserError):
            raise self._stop

    async def view(self, key: CallKey) -> tuple[Harness, int]:
        """The harness the call `key` sees: the newest, or what its recorded twin had seen."""
        recorded = self._desk.calls.recorded_seen(key)
        if recorded is None:
            return self.harness, len(self._histories) - 1
        await self._turn(lambda: len(self._histories) > recorded)
        seen = min(recorded, len(self._histories) - 1)
        return self._histories[seen], seen

    async def admit(self, miss: SolverMiss, proposals: Sequence[SkillProposal]) -> None:
        """Algorithm 1, line 10: admit what a miss taught; reading and writing the library is one step."""
        await self._turn(lambda: self._expected[0] == miss.trace)
        if miss.trace in self._expected:
            self._expected.remove(miss.trace)
        else:
            self._desk.calls.journal.append_admission(self._probe, miss.trace)
        result = admit(self.harness.skills, proposals, (miss.trace,), "online", self._desk.constraints)
        if result.admitted:
            self._histories.append(self.harness.with_skills(result.skills))
        async with self._changed:
            self._changed.notify_all()
        self.emit(
            Event(
                kind="admission",
                scope=self.scope,
                chain=miss.chain,
                step=miss.step,
                data={"trace": miss.trace, "admitted": list(result.admitted), "refused": result.refused},
            )
        )
        miss.settled.set()

    def stop(self, error: Stopped | UserError) -> None:
        """End the batch: calls in flight finish, nothing new starts, and `steps` raises `error` at its end."""
        if not isinstance(self._stop, Stopped | UserError):
            self._stop, self.complete = error, False

    async def _turn(self, ready: Callable[[], bool]) -> None:
        """Wait for the recorded order (I16); given up when nothing that is at work could still bring it about."""

        def free() -> bool:
            return not self._expected or isinstance(self._stop, Stopped | UserError) or ready()

        async with self._changed:
            self._waiting.append(free)
            try:
                self._give_up_if_stuck()
                await self._changed.wait_for(free)
            finally:
                self._waiting.remove(free)

    def _give_up_if_stuck(self) -> None:
        """Every chain at work waits, none of them can go on, and no further one can start."""
        full = self._pending == 0 or self._active >= self._concurrency
        if full and len(self._waiting) >= self._active and not any(free() for free in self._waiting):
            self._expected.clear()
            self._changed.notify_all()

    def emit(self, event: Event) -> None:
        """Log an event and hand it to whoever iterates."""
        self.events.append(event)
        self._log(event)
        self._queue.put_nowait(event)

    async def _report_miss(self, miss: SolverMiss) -> None:
        self.emit(
            Event(
                kind="miss",
                scope=self.scope,
                chain=miss.chain,
                step=miss.step,
                data={
                    "trace": miss.trace,
                    "question": miss.draft.question,
                    "reference": miss.draft.answer.value,
                    "attempt": miss.attempt,
                    "skills": list(miss.draft.skills_used),
                },
            )
        )
        self._queue.put_nowait(miss)
        await miss.settled.wait()

    async def _work(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for task in self.tasks:
                    group.create_task(self._chain(task))
        finally:
            self._queue.put_nowait(None)

    async def _chain(self, task: Task) -> None:
        async with self._slots:
            self._pending -= 1
            self._active += 1
            try:
                await self._lead(task)
            finally:
                self._active -= 1
        await self._left(task)

    async def _lead(self, task: Task) -> None:
        if self._stop is not None and not self._begun(task):
            self._missing(task, str(self._stop))
            return
        try:
            produced = await self._runner.run(task, self.scope)
        except CeilingReached as error:
            if error.scope != "chain" and self._stop is None:
                self._stop = error
                self.complete = self.complete and error.scope == "generation"
            self._missing(task, str(error))
        except (Stopped, UserError) as error:
            self.stop(error)
            self._missing(task, str(error))
        except CallFailed as error:
            self.complete = self.complete and not self.scope.probe
            self._missing(task, str(error))
        except ToolError as error:
            self._missing(task, str(error))
        else:
            if produced is None:
                self.failed += 1
            else:
                self.produced[task.chain] = produced

    def _begun(self, task: Task) -> bool:
        """Whether an earlier process had begun the chain: then its calls are found, and it ends where it ended."""
        first = CallKey(self.scope, task.chain, 1, "director", 0)
        return self._desk.calls.recorded_seen(first) is not None

    def _missing(self, task: Task, why: str) -> None:
        self.failed += 1
        data = {"valid": False, "skills": [], "missed": False, "problems": [why], "cause": "tool_failure"}
        self.emit(Event(kind="chain", scope=self.scope, chain=task.chain, data=data))

    async def _left(self, task: Task) -> None:
        """A chain that ended can admit nothing more; recorded admissions of it are no longer waited for."""
        if self._may_miss is not None and self.failed > self._may_miss and self._stop is None:
            self._stop = CeilingReached(VALIDITY, f"more than {self._may_miss} candidates are missing")
            self.complete = False
        prefix = trace_of(self.scope, task.chain, "")
        async with self._changed:
            self._expected = deque(trace for trace in self._expected if not trace.removeprefix(prefix).isdigit())
            self._give_up_if_stuck()
            self._changed.notify_all()

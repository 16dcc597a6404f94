"""The sandbox every other part uses: asynchronous, pooled, and refusing where nothing holds."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from coevolve.config import VerificationConfig
from coevolve.errors import ToolError, UserError
from coevolve.sandbox import exchange, plans, programs
from coevolve.sandbox.box import Box, Plan
from coevolve.sandbox.exchange import Call, Checker, Examined, Returned
from coevolve.sandbox.probe import holds
from coevolve.sandbox.programs import Limits, Run

T = TypeVar("T")

JOBS_A_BOX = 1000
"""A pooled box is replaced after so many jobs."""
SECOND_JOBS = 50
"""The same for boxes of second looks, so that the hash seed of those goes on changing."""


class SandboxRefused(UserError):
    """No kind of box works on this machine; the message names the reasons and the cures."""


class Sandbox:
    """Boxes of the strongest kind this machine holds, at most `config.sandbox_processes` suites at once.

    Every method may be awaited from any event loop and thread. The first use starts the first box.
    """

    def __init__(self, config: VerificationConfig) -> None:
        self.config = config
        self.limits = Limits(config.case_seconds, config.suite_seconds, config.output_bytes)
        self.candidates: Iterable[Plan] = plans.plans(config)
        """Kinds of box to try, strongest first."""
        self._threads = ThreadPoolExecutor(config.sandbox_processes, "sandbox")
        self._lock = threading.Lock()
        self._choosing = threading.Lock()
        self._idle: dict[bool, list[Box]] = {False: [], True: []}
        self._plan: Plan | None = None
        self._closed = False

    def plan(self) -> Plan:
        """The kind of box in use, chosen by trying. Blocking. Raises SandboxRefused."""
        with self._choosing:
            if self._plan is None:
                self._plan = self._choose()
            return self._plan

    def _choose(self) -> Plan:
        reasons = []
        for plan in self.candidates:
            try:
                box = Box(plan)
            except (ToolError, OSError) as error:
                reasons.append(f"{plan.kind}: {error}")
                continue
            leaks = [] if plan.kind == "unsafe" else holds(box, self.limits)
            if not leaks:
                self._give_back(box)
                return plan
            box.close()
            reasons.append(f"{plan.kind}: does not hold ({', '.join(leaks)})")
        cures = "; or ".join(plans.CURES.values())
        told = "; ".join(reasons) or "no kind of box exists for this system"
        raise SandboxRefused(
            f"untrusted programs cannot run here: {told}. Cure: {cures}; "
            "or accept the risk with verification.allow_unsafe=true"
        )

    async def kind(self) -> str:
        """`bubblewrap`, `landlock` or `unsafe`. Raises SandboxRefused."""
        return (await self._threaded(lambda held: self.plan())).kind

    async def run(self, source: str, stdin: str = "", *, seconds: float | None = None, second: bool = False) -> Run:
        """Run a program in a fresh process; `second`: in another box than a first look, so under another hash seed."""
        limits = self.limits if seconds is None else self.limits._replace(case_seconds=seconds)
        return await self._threaded(lambda held: programs.one(self._take(held, second), source, stdin, limits))

    async def runs(self, source: str, inputs: Sequence[str], *, seconds: float | None = None) -> list[Run]:
        """Run a program once an input; the first run that is not `ok`, or the suite's limit, ends the row."""
        limits = self.limits if seconds is None else self.limits._replace(case_seconds=seconds)
        return await self._threaded(lambda held: programs.many(self._take(held), source, inputs, limits))

    async def calls(
        self, source: str, wanted: Sequence[Call], *, seconds: float | None = None, second: bool = False
    ) -> list[Returned]:
        """Define a program once and make calls on it; the answers end with the first that ends the process."""
        limits = self.limits if seconds is None else self.limits._replace(case_seconds=seconds)
        return await self._threaded(lambda held: exchange.calls(self._take(held, second), source, wanted, limits))

    async def examine(self, source: str, checker: Checker, *, seconds: float | None = None) -> Examined:
        """Judge a program by a task's own test code, the two in different boxes."""
        limits = self.limits if seconds is None else self.limits._replace(case_seconds=seconds)
        return await self._threaded(
            lambda held: exchange.examine(self._take(held), self._take(held), source, checker, limits)
        )

    async def close(self) -> None:
        """End every box; calling it twice is harmless."""
        self._closed = True
        with self._lock:
            boxes, self._idle = [*self._idle[False], *self._idle[True]], {False: [], True: []}
        for box in boxes:
            box.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _threaded(self, work: Callable[[list[Box]], T]) -> T:
        """Do `work` on a pool thread; a cancelled wait ends the boxes it holds at once."""
        held: list[Box] = []
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._guarded, work, held)
        try:
            return await future
        except asyncio.CancelledError:
            for box in held:
                box.destroy()
            raise

    def _guarded(self, work: Callable[[list[Box]], T], held: list[Box]) -> T:
        try:
            return work(held)
        except OSError as error:
            for box in held:
                box.destroy()
            raise ToolError(f"sandbox: {error}") from error
        finally:
            for box in held:
                self._give_back(box)

    def _take(self, held: list[Box], second: bool = False) -> Box:
        plan = self.plan()
        with self._lock:
            box = self._idle[second].pop() if self._idle[second] else None
        box = box or Box(plan, second)
        held.append(box)
        return box

    def _give_back(self, box: Box) -> None:
        if not box.dead and box.jobs < (SECOND_JOBS if box.second else JOBS_A_BOX) and not self._closed:
            with self._lock:
                if len(self._idle[box.second]) < 2 * self.config.sandbox_processes:
                    self._idle[box.second].append(box)
                    return
        box.close()


def each_kind(config: VerificationConfig) -> Iterator[tuple[str, Any]]:
    """Every kind of box with what keeps it from working here (None = it works); for reports on this machine."""
    for plan in plans.plans(config):
        try:
            box = Box(plan)
        except (ToolError, OSError) as error:
            yield plan.kind, str(error)
            continue
        with contextlib.closing(box):
            yield plan.kind, ", ".join(holds(box, Limits(5, 10, 1 << 20))) or None

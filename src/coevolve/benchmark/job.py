"""Mean-k accuracy of one model on one benchmark: k attempts an item, resumable, judged by the fixed verifiers."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

from coevolve.agents.solver import Attempt, Solver
from coevolve.archive import write_json
from coevolve.benchmark.config import EvaluateConfig
from coevolve.benchmark.items import Items, drawn, read_items
from coevolve.concurrency import finish_all
from coevolve.config import BudgetConfig, CeilingConfig
from coevolve.errors import ConfigError, RunCeilingReached
from coevolve.evaluation.outcomes import Scores, clustered_interval
from coevolve.evaluation.solver import task_score
from coevolve.events import Scope
from coevolve.identity import only_one
from coevolve.interrupts import STOPPED
from coevolve.journal import Journal
from coevolve.ledger import CallKey, Ledger
from coevolve.llm.base import Message
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls
from coevolve.llm.preflight import preflight
from coevolve.seats import open_solver, solver_name
from coevolve.tasks import Task, content_hash
from coevolve.verifiers.base import Verifiers

FORMAT = 1
SAY_SECONDS = 5.0
SCOPE = Scope(round=0, phase="reporting")
ASKED: Mapping[str, Any] = {
    "attempts": True,
    "items": True,
    "seed": True,
    "benchmark": {"closing", "program_closing"},
    "solver": {"kind", "model", "path", "temperature", "max_tokens", "style", "thinking"},
}
"""What answers depend on, beside the items; where a server stands and how fast it is asked may change."""
Say = Callable[[str], None]


def evaluate(config: EvaluateConfig, say: Say) -> list[str]:
    """Score the model, or go on where an earlier call stopped; what came out. Raises UserError, Stopped."""
    items = read_items(config.benchmark)
    folder = _folder(config)
    if config.fresh and folder.exists():
        folder.rename(folder.with_name(f"{folder.name}.before-{time.strftime('%Y%m%d-%H%M%S')}"))
    folder.mkdir(parents=True, exist_ok=True)
    with only_one(folder):
        _same(config, items, folder)
        for line in items.unusable:
            say(f"left out: {line}")
        if (wanted := config.benchmark.items) is not None and len(items.tasks) != wanted:
            say(f"{config.benchmark.title}: {len(items.tasks)} items, the published score is over {wanted}")
        try:
            result = asyncio.run(_run(config, items, folder, say))
        except RunCeilingReached as error:  # the key is ours, not the run's
            raise RunCeilingReached(f"ceiling.{str(error).removeprefix('budget.total.')}") from error
    write_json(folder / "evaluation.json", result)
    return _told(result, folder)


async def _run(config: EvaluateConfig, items: Items, folder: Path, say: Say) -> dict[str, Any]:
    tasks = drawn(items.tasks, config.items, config.seed)
    progress = _Progress(len(tasks) * config.attempts, say)
    async with AsyncExitStack() as opened:
        seat = open_solver(config.solver, config.vllm, folder / "servers", say)
        opened.push_async_callback(seat.model.close)
        verifiers = Verifiers(config.verification)
        opened.push_async_callback(verifiers.close)
        await preflight([seat.model])
        ledger = opened.enter_context(closing(Ledger(folder / "ledger.jsonl", 0)))
        journal = opened.enter_context(closing(Journal(folder / "journal")))
        calls = Calls(journal, ledger, Budgets(_budget(config.ceiling), ledger), lambda _: None)
        calls.start_round(0)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _stopper(calls, say))
            opened.callback(loop.remove_signal_handler, number)
        solver = Solver(calls, seat, "plain", verifiers, config.seed)
        made = await _all(config, solver, tasks, progress)
        scores = Scores(tasks=tuple(task_score(task, found) for task, found in zip(tasks, made, strict=True)))
        ledger.flush()
        cost = ledger.sum(lambda *_: True)
    return {
        "format": FORMAT,
        "benchmark": {"name": config.benchmark.title, "items": len(items.tasks), "hash": items.hash},
        "model": solver_name(config.solver),
        "student": _student(config),
        "label": config.label,
        "training_seed": config.training_seed,
        "attempts": config.attempts,
        "temperature": config.solver.temperature,
        "max_tokens": config.solver.max_tokens,
        **scores.record(),
        "mean": float(scores.seed_mean),
        "interval": list(clustered_interval([[(score.correct, score.attempts) for score in scores.tasks]])),
        "usd": None if cost.microusd is None else cost.microusd / 1_000_000,
        "nominal": config.solver.price.nominal,
        "tokens": cost.tokens,
    }


def _stopper(calls: Calls, say: Say) -> Callable[[], None]:
    """Ends after the calls in flight; asked a second time, at once."""
    asked = iter([True])

    def stop() -> None:
        if not next(asked, False):
            os._exit(STOPPED)
        calls.stop()
        say("stopping: calls in flight end and are saved; press Ctrl-C again to stop at once")

    return stop


async def _all(
    config: EvaluateConfig, solver: Solver, tasks: Sequence[Task], progress: "_Progress"
) -> list[list[Attempt]]:
    """Every item's attempts, in item order; as many items at once as configured.

    No attempt waits for its turn inside the client, so that a stop is a stop of all that are not in flight.
    """
    room, turn = asyncio.Semaphore(config.at_once), asyncio.Semaphore(config.solver.flow.concurrency)

    async def one(task: Task) -> list[Attempt]:
        async with room:
            return await finish_all(attempt(task, number) for number in range(config.attempts))

    async def attempt(task: Task, number: int) -> Attempt:
        key = CallKey(SCOPE, task.chain, 0, "solver", number)
        async with turn:
            made = await solver.answer(key, task.domain, task.draft(), asked(config, task), ())
        progress.advance(made.outcome == "correct")
        return made

    return await finish_all(one(task) for task in tasks)


def asked(config: EvaluateConfig, task: Task) -> tuple[Message, ...]:
    """The question as the benchmark asks it: one message, closed by its instruction."""
    program = task.answer.type == "code_tests"
    closing_line = config.benchmark.program_closing if program else config.benchmark.closing
    return (Message("user", f"{task.question}\n\n{closing_line}"),)


def _folder(config: EvaluateConfig) -> Path:
    if config.out is not None:
        return Path(config.out)
    seed = "" if config.training_seed is None else f"-seed{config.training_seed}"
    name = f"{_student(config)}-{config.label}{seed}"
    return Path(config.outputs, "evaluations", config.benchmark.title, name)


def _student(config: EvaluateConfig) -> str:
    """The student's name in the tables; an untrained model goes by its own."""
    return config.student or Path(solver_name(config.solver)).name


def _same(config: EvaluateConfig, items: Items, folder: Path) -> None:
    """Keep what was asked beside the answers, and refuse to mix two evaluations in one folder."""
    asked_for = {**config.model_dump(mode="json", include=ASKED), "benchmark.path": items.hash}
    path, now = folder / "asked.json", {key: content_hash(value) for key, value in asked_for.items()}
    if not path.exists():
        write_json(path, now)
        return
    before = _read(path)
    if changed := sorted(key for key in now if before.get(key) != now[key]):
        raise ConfigError(
            f"{folder}: evaluated before with another {', '.join(changed)}; give another label= or out=, or fresh=true"
        )


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _budget(ceiling: CeilingConfig) -> BudgetConfig:
    """Only the total ceiling counts here."""
    none = CeilingConfig(calls=None, tokens=None, usd=None, seconds=None)
    return BudgetConfig(
        generation=none,
        evaluation=none,
        chain=none,
        total=ceiling,
        gate_per_domain=1,
        candidates=1,
        attempts=1,
        chain_concurrency=1,
    )


def _told(result: dict[str, Any], folder: Path) -> list[str]:
    low, high = result["interval"]
    cost = "no price" if result["usd"] is None else f"${result['usd']:.4f}" + (" nominal" if result["nominal"] else "")
    sizes = f"{result['n_tasks']} items, {result['n_attempts']} attempts"
    score = f"{result['mean']:.1%} ({low:.1%} - {high:.1%} clustered by item; {sizes})"
    return [
        f"{result['benchmark']['name']}: {result['student']} ({result['label']}): mean-{result['attempts']} {score}",
        f"truncated {result['truncated']:.1%}, without an answer {result['unparsed']:.1%}; {cost}",
        f"open next: {folder / 'evaluation.json'}",
    ]


class _Progress:
    """Attempts done, accuracy so far and time left, at most one line every few seconds."""

    def __init__(self, total: int, say: Say) -> None:
        self._total, self._say = total, say
        self._done = self._right = 0
        self._started = self._last = time.monotonic()

    def advance(self, right: bool) -> None:
        self._done += 1
        self._right += right
        now = time.monotonic()
        if now - self._last > SAY_SECONDS:
            self._last = now
            left = (now - self._started) / self._done * (self._total - self._done)
            share = self._right / self._done
            time_left = f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"
            self._say(f"{self._done}/{self._total} attempts | accuracy {share:.1%} | about {time_left} left")

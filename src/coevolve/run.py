"""One run: from a checked configuration to a finished (or saved) run folder."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from coevolve.agents.base import Desk
from coevolve.agents.solver import Solver
from coevolve.algorithm import evolve
from coevolve.archive import Archive, Version, load_record, load_tasks
from coevolve.build import run_folder
from coevolve.commit import code_commit
from coevolve.config import RunConfig
from coevolve.errors import ConfigError, DataError, boundary
from coevolve.evaluation.solver import score
from coevolve.event_log import EventLog
from coevolve.events import Scope
from coevolve.identity import config_hash, fixed_hash, only_one, same_configuration
from coevolve.journal import Journal
from coevolve.lab import ModelLab, brief
from coevolve.ledger import Ledger
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls
from coevolve.llm.preflight import preflight
from coevolve.progress import print_closing, what_next
from coevolve.replaying import replay_note
from coevolve.seats import build_seats, model_names, solver_name
from coevolve.start import Start
from coevolve.summary import Summary, check_whole, lengths_and_losses
from coevolve.synthesis.verification import FixedVerifier
from coevolve.tracking import Tracker
from coevolve.verifiers.base import Verifiers
from coevolve.watch import Watch


def main(config: RunConfig, start: type[Start] = Start, **head: Any) -> int:
    """Run, or continue, or report a finished run. Raises UserError and Stopped; returns 0 when complete.

    `start` makes the first version; `head` are further entries of summary.json.
    """
    folder = run_folder(config)
    if config.fresh and folder.exists():
        with only_one(folder):
            folder.rename(folder.with_name(f"{folder.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    around = next((parent for parent in folder.parents if (parent / "archive").is_dir()), None)
    if around is not None and (around / "config.yaml").is_file():
        raise ConfigError(f"{folder} lies inside the run {around}; give another name= or outputs=")
    with boundary(ConfigError, f"outputs={config.outputs!r}, name={config.name!r}: the run folder cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    with only_one(folder):
        same_configuration(config, folder / "config.yaml")
        return asyncio.run(_run(config, folder, start(config), head))


async def _run(config: RunConfig, folder: Path, start: Start, head: Mapping[str, Any]) -> int:
    started = time.monotonic()
    tracker = Tracker(config.tracking, folder)
    archive = Archive(folder / "archive", None)
    summary = Summary(folder / "summary.json", {**_head(config), **head}, archive)
    before = summary.wall_seconds

    def wall() -> float:
        return before + time.monotonic() - started

    with Watch(config) as watch:
        if summary.complete and summary.rows and summary.rows[-1]["round"] >= config.rounds:
            check_whole(folder, archive)
            watch.say("this run is complete; fresh=true starts it anew and keeps this folder")
        else:
            tracker.start()
            ended: Literal["FINISHED", "KILLED"] = "KILLED"

            def archived(version: Version) -> None:
                record = version.record()
                summary.add(record, wall())
                watch.archived(record)
                tracker.notify()

            archive.on_add = archived
            try:
                async with _open_lab(config, folder, archive, watch, start) as lab:
                    await evolve(lab, archive, config)
                    summary.note(**await _closing_figures(lab, archive))
                    summary.write(complete=True, wall_seconds=wall())
                ended = "FINISHED"
            finally:
                if left := tracker.finish(ended):
                    watch.say(left)
    print_closing(summary.content(), closing_lines(summary.content(), folder, tracker.links()))
    return 0


def closing_lines(content: dict[str, Any], folder: Path, links: tuple[str, ...]) -> list[str]:
    """What is said below the closing table."""
    lines = [lengths_and_losses(content["rounds"])] if content["rounds"] else []
    if control := content.get("control"):
        low, high = control["interval"]
        lines.append(
            f"control: the unchanged seeds, measured again at the end: {control['accuracy']['all']:.1%} "
            f"({low:.1%} - {high:.1%}, {control['n_tasks']} tasks, {control['n_attempts']} attempts)"
        )
    if seeds := content.get("seeds"):
        parts = [
            f"{domain}: {share['kept']} kept of {share['tried'] or share['candidates']}"
            + (f" tried, {share['screened_out']:.0%} screened out" if share["tried"] else " (screening off)")
            for domain, share in seeds.items()
            if isinstance(share, dict)
        ]
        lines.append(f"seeds: {seeds['read']} read, {seeds['issues']} remarks; " + "; ".join(parts))
    if (seconds := content.get("seconds_an_attempt")) is not None:
        lines.append(
            f"solver: {content['solver']['model']}, {seconds:.2f} s an attempt (wall time of measuring stages)"
        )
    if weak := [row for row in content["rounds"] if row["weak_zeros"]]:
        worst = max(weak, key=lambda row: row["weak_zeros"])
        lines.append(
            f"look at: {worst['weak_zeros']} tasks of round {worst['round']} that nobody solved have only the weakest "
            "kind of certificate"
        )
    if content["unsafe_execution"]:
        lines.append("UNSAFE: programs ran without a sandbox (verification.allow_unsafe=true)")
    lines.append("costs are US dollars per original seed; nominal prices for local and procedural models")
    return lines + what_next(folder, links)


@asynccontextmanager
async def _open_lab(
    config: RunConfig, folder: Path, archive: Archive, watch: Watch, start: Start
) -> AsyncIterator[ModelLab]:
    """Everything a run works with, opened and closed in order; Ctrl-C once lets calls in flight end."""
    newest = archive.latest()
    files = newest.files if newest else {"ledger": 0, "events": 0}
    async with AsyncExitStack() as opened:
        seats = build_seats(config, folder / "servers", watch.say)
        opened.push_async_callback(seats.close)
        verifiers = Verifiers(config.verification)
        opened.push_async_callback(verifiers.close)
        fixed = fixed_hash(config, verifiers.code_hash)
        if newest is not None and newest.fixed_hash != fixed:
            raise DataError(
                f"{folder}: made under another verifier, solver or fixed prompt ({newest.fixed_hash}, now {fixed}); "
                "its rounds cannot be compared with new ones: fresh=true starts anew and keeps the old folder"
            )
        checked = await preflight(seats.models)
        ledger = opened.enter_context(closing(Ledger(folder / "ledger.jsonl", files["ledger"])))
        log = opened.enter_context(closing(EventLog(folder / "events.jsonl", files["events"])))
        recording = None
        if config.replay.path is not None:
            watch.say(replay_note(config.replay.path, code_commit()))
            recording = Path(config.replay.path) / "journal"
        journal = opened.enter_context(closing(Journal(folder / "journal", recording)))
        for path in archive.paths():
            ledger.restore(load_record(path)["costs"]["cells"])
        calls = Calls(journal, ledger, Budgets(config.budget, ledger), watch.call)
        calls.charge(seats.charged(checked))
        desk = Desk(calls, seats.roles, config.seed, config.constraints)
        solver = Solver(calls, seats.solver, config.solver.style, verifiers, config.seed)
        own = Solver(calls, seats.attempt, config.solver.style, verifiers, config.seed)
        verify = FixedVerifier(desk, verifiers, own, config.verification)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _stopper(calls, watch))
            opened.callback(loop.remove_signal_handler, number)
        yield ModelLab(config, desk, solver, verify, log, fixed, config_hash(config), start, watch.event)


def _stopper(calls: Calls, watch: Watch) -> Callable[[], None]:
    asked = iter([True])

    def stop() -> None:
        if next(asked, False):
            calls.stop()
            watch.say("stopping: calls in flight end and are saved; press Ctrl-C again to stop at once")
        else:
            os._exit(3)

    return stop


async def _closing_figures(lab: ModelLab, archive: Archive) -> dict[str, Any]:
    """The control: the unchanged seeds measured again, which shows what is regression to the mean."""
    paths = archive.paths()
    lab.desk.calls.start_round(lab.config.rounds + 1)
    scope = Scope(round=lab.config.rounds + 1, phase="reporting", probe="control")
    seeds = load_tasks(paths[0] / "tasks.jsonl")
    scores, _ = await score(lab.solver, scope, seeds, lab.config.budget.attempts)
    lab.log.flush()
    lab.desk.calls.ledger.flush()
    figures: dict[str, Any] = {"control": brief(scores)}
    if (pace := lab.desk.calls.pace.seconds_a_call) is not None:
        figures["seconds_an_attempt"] = round(pace, 3)
    return figures


def _head(config: RunConfig) -> dict[str, Any]:
    return {
        "experiment": config.experiment,
        "ablation": config.ablation.name,
        "domain": config.domain.name,
        "gate": config.gate.name,
        "seed": config.seed,
        "solver": {"name": config.solver.name, "model": solver_name(config.solver)},
        "models": model_names(config),
        "unsafe_execution": config.verification.allow_unsafe,
        "commit": code_commit(),
    }

"""What a round takes beside its calls: a whole run against an endpoint with known latencies, tracking off and on."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from coevolve.agents.base import draw_seed
from coevolve.archive import load_tasks
from coevolve.bench.roles_endpoint import latency
from coevolve.bench.stages import Round, makespan, round_stages
from coevolve.build import compose, load, run_folder
from coevolve.config import RunConfig
from coevolve.errors import ToolError
from coevolve.events import Scope
from coevolve.ledger import CallKey, Row
from coevolve.report.statistics import student
from coevolve.run import main

SLOTS = 64
REPEATS = 6
"""Runs with tracking off, each beside one with tracking on, in turn before and after it."""
CHAINS_A_DOMAIN = 8


class Timed(NamedTuple):
    """One run: wall seconds of its round and of the round's batch, and the round's stages."""

    round_seconds: float
    batch_seconds: float
    stages: Round
    calls: int


def bench_round() -> dict[str, Any]:
    """Figures of one round of every operator; prints them for people."""
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[Timed]] = {"off": [], "local": []}
        for repeat in range(REPEATS):
            for state in sorted(runs, reverse=repeat % 2 == 0):
                runs[state].append(_run(Path(folder), f"{state}-{repeat}", state))
    off = min(runs["off"], key=lambda timed: timed.round_seconds)
    pairs = zip(runs["off"], runs["local"], strict=True)
    shares = [tracked.round_seconds / untracked.round_seconds - 1 for untracked, tracked in pairs]
    share, (low, high) = fmean(shares), student([shares])
    whole = makespan(off.stages.whole, SLOTS)
    in_line = makespan(off.stages.in_line, SLOTS)
    generation = makespan(off.stages.generation, SLOTS)
    figures = {
        "round_ratio": round(off.round_seconds / whole, 3),
        "batch_ratio": round(off.batch_seconds / generation, 3),
        "in_line_ratio": round(off.round_seconds / in_line, 3),
        "tracking_share": round(share, 4),
        "tracking_share_interval": [round(low, 4), round(high, 4)],
        "round_seconds": [round(timed.round_seconds, 2) for timed in (*runs["off"], *runs["local"])],
        "bound_seconds": round(whole, 2),
        "in_line_seconds": round(in_line, 2),
        "batch_seconds": round(off.batch_seconds, 2),
        "batch_bound_seconds": round(generation, 2),
        "calls": off.calls,
        "runs": 2 * REPEATS,
    }
    print(f"one round, {3 * CHAINS_A_DOMAIN} chains, {off.calls} calls, {SLOTS} at a time: {off.round_seconds:.2f} s")
    print(f"its critical path with every allowed overlap: {whole:.2f} s, in the order of Algorithm 1: {in_line:.2f} s")
    print(f"the batch alone: {off.batch_seconds:.2f} s, its bound {generation:.2f} s")
    print(f"with tracking a round takes {share:+.1%} (95 % {low:+.1%} to {high:+.1%}), over {REPEATS} pairs of runs")
    return figures


def _run(folder: Path, name: str, tracking: str) -> Timed:
    with _endpoint() as (address, served):
        config = load(compose(*_words(folder, name, tracking, address)), RunConfig)
        main(config)
        done = {seed: (arrived, ended) for seed, arrived, ended in served()}
    run = run_folder(config)
    rows = [row for row in _rows(run) if row.round == 1 and row.probe != "control"]
    seeds = {row.call: _seed(config.seed, row) for row in rows}
    generation = [done[seeds[row.call]] for row in rows if row.phase == "generation"]
    begun = min(arrived for arrived, _ in generation)
    ended = (run / "archive" / "v001" / "version.json").stat().st_mtime
    chains = [task.chain for task in load_tasks(run / "archive" / "v000" / "tasks.jsonl")]
    stages = round_stages(rows, lambda row: latency(seeds[row.call]), chains, config.budget.chain_concurrency)
    return Timed(ended - begun, max(end for _, end in generation) - begun, stages, len(rows))


def _words(folder: Path, name: str, tracking: str, address: str) -> list[str]:
    return [
        "experiment=machinery",
        "rounds=1",
        f"seeds.per_domain={CHAINS_A_DOMAIN}",
        "models=openai_compatible",
        f"models.base_url={address}",
        "models.key_env=null",
        f"models.director.flow.concurrency={SLOTS}",
        "solver=openai",
        f"solver.base_url={address}",
        "solver.key_env=null",
        f"solver.flow.concurrency={SLOTS}",
        "gate.cost_unit=tokens",
        "live=false",
        f"outputs={folder}",
        f"name={name}",
        f"tracking={tracking}",
    ]


@contextmanager
def _endpoint() -> Iterator[tuple[str, Callable[[], list[tuple[int, float, float]]]]]:
    """The address of a fresh endpoint, and what ends it and tells when it served which seed."""
    command = [sys.executable, "-m", "coevolve.bench.roles_endpoint", str(SLOTS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None

    def served() -> list[tuple[int, float, float]]:
        said, _ = process.communicate()
        if process.returncode:
            raise ToolError(f"the endpoint of the bench ended with {process.returncode}")
        return [tuple(item) for item in json.loads(said)]

    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1", served
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _rows(run: Path) -> list[Row]:
    return [Row.read(json.loads(line)) for line in (run / "ledger.jsonl").read_text().splitlines()]


def _seed(run_seed: int, row: Row) -> int:
    scope = Scope.model_validate({"round": row.round, "phase": row.phase, "probe": row.probe})
    return draw_seed(run_seed, CallKey(scope, row.chain, row.step, row.role, row.attempt))

"""How long the export and its audit take, on a run folder of any size that is made here from our own seeds."""

import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coevolve.archive import write_json, write_tasks
from coevolve.build import compose, load
from coevolve.construction.base import Inapplicable, Limits
from coevolve.construction.registry import CONSTRUCTIONS
from coevolve.curation.bundled import bundled_rows
from coevolve.curation.forms import Form
from coevolve.curation.records import Notes
from coevolve.export.config import ExportConfig
from coevolve.export.job import export
from coevolve.harness_folder import initial_harness, save_harness
from coevolve.tasks import DOMAINS, Certificate, Draft, Task

ROUNDS = 12
ROWS = 10_000
BENCHMARK_ITEMS = 2_000
LIMITS = Limits(question_chars=600, answer_chars=200)


def bench_export(rows: int = ROWS) -> dict[str, Any]:
    """Export `rows` candidate rows as GRPO data and as SFT data; seconds, rows a second and peak memory (MiB)."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = _write_run(folder / "runs" / "bench", rows)
        benchmark = folder / "benchmark.jsonl"
        benchmark.write_text("".join(json.dumps(item) + "\n" for item in _benchmark()))
        figures: dict[str, Any] = {"rows": made}
        for form in ("grpo", "sft"):
            words = [f"format={form}", f"runs={folder / 'runs'}", f"out={folder / form}", f"benchmarks={benchmark}"]
            words += ["mix=all", "format.pass_rate_above=-1", "format.pass_rate_below=2"]
            config = load(compose(*words, config_name="export"), ExportConfig)
            started = time.perf_counter()
            lines = export(config, lambda _: None)
            seconds = time.perf_counter() - started
            audit = json.loads((folder / form / "audit.json").read_text())
            print(f"{form}: {seconds:.1f} s; {lines[1]}")
            figures[f"{form}_s"], figures[f"{form}_kept"] = round(seconds, 1), audit["kept"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{made} candidate rows, peak {peak} MiB")
    return {**figures, "peak_mb": peak}


def _write_run(run: Path, wanted: int) -> int:
    """A finished run of ROUNDS rounds with about `wanted` new tasks in all; how many there are."""
    harness = initial_harness()
    seeds = sorted(_seeds(), key=lambda seed: random.Random(seed.id).random())
    chains = [(number, seeds[number % len(seeds)]) for number in range(max(1, wanted // ROUNDS))]
    tasks = [seed.model_copy(update={"chain": f"{seed.id}-{number}"}) for number, seed in chains]
    made = 0
    for round_number in range(ROUNDS + 1):
        folder = run / "archive" / f"v{round_number:03d}"
        save_harness(harness, folder / "harness")
        if round_number:
            tasks = [_next(task, round_number, number) for number, task in enumerate(tasks)]
            made += sum(task.round == round_number for task in tasks)
        write_tasks(folder / "tasks.jsonl", tuple(tasks))
        write_json(folder / "version.json", {"round": round_number, "harness_id": harness.id})
    write_json(run / "summary.json", {"ablation": "full", "complete": True})
    return made


def _seeds() -> Iterator[Task]:
    form = Form("bundled seeds", {}, {}, LIMITS.question_chars)
    for row in bundled_rows(DOMAINS):
        yield form.task(row, Notes())


def _next(task: Task, round_number: int, number: int) -> Task:
    """The task with one construction more; as it was, where none fits."""
    rng = random.Random(f"{number}/{round_number}")
    for construction in rng.sample(sorted(CONSTRUCTIONS), len(CONSTRUCTIONS)):
        tool = CONSTRUCTIONS[construction]
        try:
            if tool.applies(task.draft(), task.domain):
                return _task(task, tool.apply(task.draft(), task.domain, rng.randint(1, 6), rng, LIMITS), round_number)
        except Inapplicable:
            continue
    return task


def _task(task: Task, draft: Draft, round_number: int) -> Task:
    return task.model_copy(
        update={
            **{name: getattr(draft, name) for name in ("question", "answer", "solution", "program", "tests")},
            "id": f"{task.chain}@{round_number}",
            "round": round_number,
            "parent": task.id,
            "p_hat": "2/4",
            "n_attempts": 4,
            "certificate": Certificate(kind="derivation"),
        }
    )


def _benchmark() -> Iterator[dict[str, str]]:
    """Problems of another kind, so that the checker has something to look through."""
    things = "kettle lantern anchor violin saddle ribbon barrel candle mirror basket".split()
    for number in range(BENCHMARK_ITEMS):
        rng = random.Random(number)
        first, second = rng.sample(things, 2)
        a, b, c = (rng.randint(11, 999) for _ in range(3))
        text = (
            f"Workshop {number} ships {a} {first}s on even days and {b} {second}s on odd days. After {c} days, "
            f"starting on day 1, by how many does one kind of article outnumber the other?"
        )
        yield {"id": f"item-{number}", "question": text, "answer": str(abs(a * (c // 2) - b * (c - c // 2)))}

"""Run folders with known truth: a few counts in, everything that tables read out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml

from coevolve.evaluation.outcomes import Scores, TaskScore
from coevolve.harness_folder import initial_harness, save_harness
from coevolve.summary import summary_row

Counts = Mapping[str, tuple[int, ...]]
"""Domain -> right attempts of each chain, of four."""


class WriteRun(Protocol):
    """Writes a run folder."""

    def __call__(self, folder: Path, rounds: Mapping[int, Counts], **words: Any) -> Path: ...


def scores_of(counts: Counts, attempts: int, seed: int) -> Scores:
    """Chains are named by domain, seed and place, so that arms of one seed share them."""
    return Scores(
        tasks=tuple(
            TaskScore(chain=f"{domain}-{seed}-{place}", domain=domain, correct=correct, attempts=attempts)
            for domain, members in counts.items()
            for place, correct in enumerate(members)
        )
    )


def write(
    folder: Path,
    rounds: Mapping[int, Counts],
    ablation: str = "full",
    seed: int = 0,
    microusd: Mapping[int, int | None] | None = None,
    solver: str = "embedded",
    **words: Any,
) -> Path:
    """A run of these counts; `microusd` is what a chain's extend, revise and verify calls cost together in a round.

    `harness=True` puts H_0 into every version; other words are for the head of summary.json.
    """
    with_harness = words.pop("harness", False)
    summary = {**_head(folder, ablation, seed, solver), **words}
    ledger = []
    for number, (round, counts) in enumerate(rounds.items()):
        version = folder / "archive" / f"v{number:03d}"
        version.mkdir(parents=True)
        record = _record(number, round, scores_of(counts, 4, seed))
        (version / "version.json").write_text(json.dumps(record))
        if with_harness:
            save_harness(initial_harness(), version / "harness")
        row = summary_row(record, 0)
        row.pop("_spent")
        summary["rounds"].append(row)
        for task in record["evaluations"]["reporting"]["tasks"] if microusd and round in microusd else ():
            ledger += [_call(round, task["chain"], role, microusd[round]) for role in ("extend", "verify")]
            ledger += [_call(round, task["chain"], role, 10**6) for role in ("director", "meta_skill")]
    (folder / "archive").mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(_config(folder, ablation, seed, solver)))
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "ledger.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ledger))
    return folder


def _config(folder: Path, ablation: str, seed: int, solver: str) -> dict[str, Any]:
    price = {"input": 0.1, "output": 0.4, "nominal": solver != "openai"}
    return {
        "experiment": folder.parent.name,
        "ablation": {"name": ablation},
        "seed": seed,
        "solver": {"name": solver, "threads": seed},
        "models": {"extend": {"price": price}, "revise": {"price": price}},
        "gate": {"name": "paper"},
    }


def _head(folder: Path, ablation: str, seed: int, solver: str) -> dict[str, Any]:
    return {
        "format": 1,
        "experiment": folder.parent.name,
        "ablation": ablation,
        "domain": "all",
        "gate": "paper",
        "seed": seed,
        "solver": {"name": solver, "model": f"{solver}-model"},
        "commit": "0123456789ab",
        "complete": True,
        "rounds": [],
    }


def _record(number: int, round: int, scores: Scores) -> dict[str, Any]:
    batch = {"valid": len(scores.tasks), "n_tasks": len(scores.tasks), "misses": 0}
    return {
        "version": number,
        "round": round,
        "parents": [],
        "status": "online-only",
        "harness_id": f"h{number}",
        "fixed_hash": "fixed",
        "rejections": [],
        "costs": {"c_gen_microusd": 0, "c_erv_microusd": 0, "evolution_microusd": 0, "calls": 0, "cells": []},
        "n_skills": 6,
        "evaluations": {"reporting": scores.record(), **({"batch": batch} if round else {})},
    }


def _call(round: int, chain: str, role: str, microusd: int | None) -> dict[str, Any]:
    """Half of the cost for each of the two operator calls; chains differ by one micro-dollar either way."""
    shift = 1 if int(chain.rpartition("-")[2]) % 2 else -1
    paid = None if microusd is None else microusd // 2 + shift
    return {
        "round": round,
        "phase": "generation",
        "probe": "",
        "chain": chain,
        "role": role,
        "microusd": paid,
        "tokens_in": 100,
        "tokens_out": 50,
    }


@pytest.fixture
def write_run() -> WriteRun:
    """The builder."""
    return write

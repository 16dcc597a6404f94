"""Tracked runs made up in memory from counts, for tests whose truth is known by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coevolve.evaluation.outcomes import Scores, TaskScore
from coevolve.report.runs import FrozenHarness, TrackedRound, TrackedRun

GATE = {"name": "paper", "z": None, "cost_slope": "1.5", "cost_cap": "1.5", "cost_unit": "usd", "early_reject": False}


def scores(counts: Sequence[int], attempts: int = 4, domains: Sequence[str] = ("math",)) -> Scores:
    """One task a count, of chains c0, c1 …, domains in turn."""
    return Scores(
        tasks=tuple(
            TaskScore(chain=f"c{number}", domain=domains[number % len(domains)], correct=right, attempts=attempts)
            for number, right in enumerate(counts)
        )
    )


def probe(name: str, counts: Sequence[int], usd: float = 1.0, valid: int | None = None) -> dict[str, Any]:
    """A probe as version.json holds it."""
    return {
        "probe": name,
        "harness_id": "h",
        "complete": True,
        "violation": None,
        "cohort": len(counts),
        "valid": len(counts) if valid is None else valid,
        "c_gen_usd": usd,
        "tokens": 1000,
        "scores": scores(counts).record(),
    }


def cost(phase: str, microusd: int | None, tokens: int = 10) -> dict[str, Any]:
    """A cell of a round's costs."""
    return {"phase": phase, "probe": "", "role": "extend", "microusd": microusd, "tokens_in": tokens, "tokens_out": 0}


def round_(
    number: int,
    counts: Sequence[int],
    cells: Sequence[Mapping[str, Any]] = (),
    status: str = "online-only",
    fixed: str = "f",
    **evaluations: Any,
) -> TrackedRound:
    """An archived round."""
    record = {"status": status, "evaluations": evaluations, "costs": {"cells": list(cells)}, "fixed_hash": fixed}
    return TrackedRound(number, {}, record, scores(counts), Path(f"/runs/made/up/archive/v{number:03d}"))


def run(name: str, rounds: Sequence[TrackedRound], ablation: str = "full", **changes: Any) -> TrackedRun:
    """A finished run; `changes` are seed, solver, frozen, config."""
    solver = changes.get("solver", "small")
    summary = {
        "experiment": "made",
        "ablation": ablation,
        "seed": changes.get("seed", 0),
        "solver": {"name": solver, "model": solver},
        "complete": True,
    }
    config = {"gate": GATE | {"noise_floor": False}, "solver": {"name": solver}, **changes.get("config", {})}
    frozen: FrozenHarness | None = changes.get("frozen")
    return TrackedRun(Path(f"/runs/{name}"), name, summary, config, tuple(rounds), frozen, None)

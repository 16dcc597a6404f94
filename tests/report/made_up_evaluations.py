"""Evaluation folders with known truth."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_evaluation(
    outputs: Path,
    benchmark: str,
    student: str,
    label: str,
    counts: Sequence[int],
    attempts: int = 16,
    training_seed: int | None = None,
    **words: Any,
) -> Path:
    """`counts` are right attempts of each item, as scripts/evaluate.py would leave them; `words` replace keys."""
    name = f"{student}-{label}" + ("" if training_seed is None else f"-seed{training_seed}")
    folder = outputs / "evaluations" / benchmark / name
    folder.mkdir(parents=True)
    tasks = [
        {"chain": f"{benchmark}-{place}", "domain": "math", "correct": right, "attempts": attempts}
        for place, right in enumerate(counts)
    ]
    record = {
        "format": 1,
        "benchmark": {"name": benchmark, "items": len(counts), "hash": f"hash-of-{benchmark}"},
        "model": f"{student}-weights",
        "student": student,
        "label": label,
        "training_seed": training_seed,
        "attempts": attempts,
        "temperature": 0.7,
        "max_tokens": 4096,
        "tasks": tasks,
        **words,
    }
    (folder / "evaluation.json").write_text(json.dumps(record))
    return folder

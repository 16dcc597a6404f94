"""Evaluation folders with known truth."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_evaluation(
    outputs: Path,
    name: str,
    student: str,
    label: str,
    counts: Sequence[int],
    attempts: int = 16,
    training_seed: int | None = None,
    **words: Any,
) -> Path:
    """What scripts/evaluate.py leaves for the benchmark `name`.

    `counts` are right attempts of each item; `words` replace keys.
    """
    seed = "" if training_seed is None else f"-seed{training_seed}"
    folder = outputs / "evaluations" / name / f"{student}-{label}{seed}"
    folder.mkdir(parents=True)
    tasks = [
        {"chain": f"{name}-{place}", "domain": "math", "correct": right, "attempts": attempts}
        for place, right in enumerate(counts)
    ]
    record = {
        "format": 1,
        "benchmark": {"name": name, "items": len(counts), "hash": f"hash-of-{name}"},
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

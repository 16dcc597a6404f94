"""Seeds of every kind for the constructions, and an independent way to recompute their answers."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coevolve.tasks import Answer, Domain, Draft, Tests, Tolerance

Seed = tuple[Domain, Draft]


def seed_of(row: dict) -> Seed:
    """One line of the seeds form as a draft: `number` becomes integer, decimal or quantity."""
    meta, kind = row["meta"], row["answer_type"]
    tolerance = None
    if "tolerance_rel" in meta or "tolerance_abs" in meta:
        tolerance = Tolerance(rel=meta.get("tolerance_rel"), abs=meta.get("tolerance_abs"))
    if kind == "number":
        whole = row["answer"].lstrip("-").isdigit()
        kind = "quantity" if row["domain"] == "science" or tolerance else "integer" if whole else "decimal"
    tests = row.get("tests")
    answer = Answer(
        type=kind,
        value=row["answer"],
        unit=row.get("unit"),
        tolerance=tolerance if kind == "quantity" else None,
        choices=meta.get("choices"),
    )
    known = {name: value for name, value in (tests or {}).items() if name in Tests.model_fields}
    return row["domain"], Draft(question=row["question"], answer=answer, tests=Tests(**known) if tests else None)


@pytest.fixture
def seeds(shared_data: Path) -> Callable[[str], list[Seed]]:
    """Reads one file of the public seeds."""

    def read(name: str) -> list[Seed]:
        path = shared_data / "seeds" / f"{name}.jsonl"
        return [seed_of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]

    return read


RUNNER = """
import contextlib, io, json, sys
results = []
for source in json.load(sys.stdin):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(source, {"__name__": "__main__"})
        results.append(printed.getvalue().strip())
    except BaseException as error:
        results.append(f"{type(error).__name__}: {error}")
json.dump(results, sys.stdout)
"""


@pytest.fixture
def printed() -> Callable[[list[str]], list[str]]:
    """Runs programs in one child process and returns what each printed, or its error."""

    def run(programs: list[str]) -> list[str]:
        child = subprocess.run(
            [sys.executable, "-I", "-c", RUNNER],
            input=json.dumps(programs),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return json.loads(child.stdout)

    return run

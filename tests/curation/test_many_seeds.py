"""Ten thousand seeds: read in seconds, in memory that does not grow with the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROBE = """
import json, resource, sys, time
from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.curation.sources import read_seeds

config = load(compose("experiment=machinery", "seeds=file", f"seeds.path={sys.argv[1]}"), RunConfig)
before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
report = read_seeds(config.seeds, config.domain.include, 0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
spent = time.process_time() - begun
print(json.dumps({"read": report.read, "kept": len(report.tasks), "cpu": spent, "grown_mb": (after - before) / 1024}))
"""


def write_seeds(path: Path, count: int) -> None:
    with path.open("w") as file:
        for number in range(count):
            text = f"A shop has {number} pens and buys {number % 97 + 3} more. How many pens does it have? "
            row = {
                "id": f"pens-{number}",
                "domain": ("math", "coding", "science")[number % 3],
                "question": text + "It is a quiet day. " * 8,
                "answer": str(number + number % 97 + 3),
                "source": "test",
                "license": "CC0-1.0",
            }
            file.write(json.dumps(row) + "\n")


def measured(path: Path) -> dict[str, float]:
    command = [sys.executable, "-c", PROBE, str(path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def test_ten_thousand_seeds_are_read_in_seconds(tmp_path: Path) -> None:
    write_seeds(tmp_path / "many.jsonl", 10_000)
    figures = measured(tmp_path / "many.jsonl")
    assert figures["read"] == 10_000
    assert figures["cpu"] < 15, "CPU seconds, with room for a busy machine"
    assert figures["grown_mb"] < 80


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    for count in (10_000, 60_000):
        write_seeds(tmp_path / f"{count}.jsonl", count)
    few, many = (measured(tmp_path / f"{count}.jsonl") for count in (10_000, 60_000))
    assert many["kept"] == few["kept"] == 3 * 2500
    assert many["grown_mb"] < few["grown_mb"] + 40, "a few bytes a record are remembered, not the records"

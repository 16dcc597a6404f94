"""One small finished run without weights, and a benchmark file; made once for the folder."""

import json
from pathlib import Path

import pytest

from coevolve.build import compose, load
from coevolve.config import RunConfig
from coevolve.export.config import ExportConfig
from coevolve.run import main

BENCHMARK = {"id": "b1", "question": "A farmer has 17 sheep and all but 9 run away. How many are left?", "answer": "9"}


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds one run of two rounds, two chains a domain."""
    outputs = tmp_path_factory.mktemp("outputs")
    words = ["models=procedural", "solver=scripted", "budget=demo", "seeds.screen.enabled=false", "tracking=off"]
    words += ["rounds=2", "seeds.per_domain=2", "live=false", f"outputs={outputs}", "name=small/full"]
    assert main(load(compose(*words), RunConfig)) == 0
    return outputs


@pytest.fixture(scope="session")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmarks") / "puzzles.jsonl"
    path.write_text(json.dumps(BENCHMARK) + "\n")
    return path


def configured(runs: Path, benchmarks: Path, out: Path, *words: str) -> ExportConfig:
    """The export's configuration as its command line gives it."""
    given = [f"runs={runs}", f"benchmarks={benchmarks}", f"out={out}", "mix=math", *words]
    return load(compose(*given, config_name="export"), ExportConfig)

"""The import contracts hold, and each of them fails when it is broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
BREACHES = [
    ("tasks.py", "import coevolve.lab", "imports point down"),
    ("journal.py", "import coevolve.ledger", "imports point down"),
    ("agents/extend.py", "import coevolve.overlap.items", "benchmark items reach no generating part"),
    ("synthesis/batch.py", "import coevolve.overlap.items", "benchmark items reach no generating part"),
    ("start.py", "import coevolve.curation.held_out", "held-out seeds are opened by transfer and reporting alone"),
    ("lab.py", "import omegaconf", "Hydra is imported by build alone"),
    ("run.py", "import mlflow", "MLflow is imported by tracking"),
    ("agents/base.py", "import aiohttp", "aiohttp is imported by llm.openai, its test server and bench alone"),
    ("summary.py", "import pandas", "figures and frames belong to report"),
    ("evaluation/outcomes.py", "import datasets", "datasets is imported by curation"),
    ("llm/base.py", "import openai", "no engine or client library"),
    ("stray.py", "", "imports point down"),
]


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    path = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run(command, cwd=root, env=path, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    shutil.copytree(REPOSITORY / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return tmp_path


def test_the_package_keeps_its_contracts() -> None:
    done = lint(REPOSITORY)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("file", "line", "contract"), BREACHES, ids=[f"{file} {line}" for file, line, _ in BREACHES])
def test_a_planted_breach_is_found(tree: Path, file: str, line: str, contract: str) -> None:
    package = tree / "src" / "coevolve"
    if "overlap" in line:
        (package / "overlap").mkdir(exist_ok=True)
        (package / "overlap" / "__init__.py").touch()
        (package / "overlap" / "items.py").touch()
    with (package / file).open("a") as module:
        module.write(f"\n{line}\n")
    done = lint(tree)
    assert done.returncode != 0
    broken = [text for text in done.stdout.splitlines() if "BROKEN" in text]
    assert any(contract in text for text in broken), done.stdout

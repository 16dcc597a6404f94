"""A small real model in the form that vLLM serves, and runs whose processes can all be found."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from coevolve.llm.vllm_plan import find_gpus
from coevolve.llm.weights import cache_folder

REPOSITORY = Path(__file__).resolve().parents[2]
PLAN = REPOSITORY / "tests" / "vllm" / "run.txt"
MARK = "COEVOLVE_TEST_MARK"
SEEDS = PLAN.with_name("seeds.jsonl")
"""What even a model of 135 million parameters answers now and then, so that there is something to make harder."""


@pytest.fixture(scope="session")
def model() -> Path:
    """SmolLM2-135M-Instruct, or the pinned weights that COEVOLVE_VLLM_WEIGHTS names, as a folder for vLLM."""
    if find_spec("vllm") is None or find_spec("gguf") is None:
        pytest.skip("no vllm and gguf in this environment (make test-vllm)")
    name = os.environ.get("COEVOLVE_VLLM_WEIGHTS", "smollm2-135m-instruct")
    folder = cache_folder() / f"{name}-hf"
    if not folder.is_dir():
        script = REPOSITORY / "scripts" / "convert.py"
        subprocess.run([sys.executable, str(script), f"model={name}", f"out={folder}"], check=True)
    return folder


@dataclass(slots=True)
class Started:
    """A run in a process of its own, and everything it starts: all carry a mark in their environment."""

    folder: Path
    process: subprocess.Popen[str]
    mark: str

    def said(self) -> str:
        """What it has written so far."""
        return (self.folder.parent / f"{self.folder.name}.out").read_text()

    def wait_for(self, text: str, seconds: float) -> None:
        """Until it has written `text`."""
        deadline = time.monotonic() + seconds
        while text not in self.said():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.2)

    def left(self, seconds: float = 30.0) -> list[str]:
        """Names of marked processes that are still there after `seconds` at most."""
        deadline = time.monotonic() + seconds
        while (found := marked(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.2)
        return found


def marked(mark: str) -> list[str]:
    """Command lines of the processes whose environment holds `mark`."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
    return found


@pytest.fixture
def start(model: Path, tmp_path: Path) -> Iterator:
    """Starts a run on `model` with further words; whatever is left at the end is killed."""
    device = "gpu" if find_gpus() else "cpu"
    base = [word.format(model=model, device=device, seeds=SEEDS, outputs=tmp_path) for word in PLAN.read_text().split()]
    started: list[Started] = []

    def begin(*words: str, name: str = "run") -> Started:
        mark = uuid.uuid4().hex
        out = (tmp_path / f"{name}.out").open("a")
        command = [sys.executable, str(REPOSITORY / "scripts" / "evolve.py"), *base, f"name={name}", *words]
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            text=True,
            start_new_session=True,
            env={**os.environ, MARK: mark},
        )
        out.close()
        started.append(Started(tmp_path / name, process, mark))
        return started[-1]

    yield begin
    for run in started:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()
        assert run.left() == []

"""Sweeps by every launcher: a failing job leaves the others alone and makes the sweep's exit non-zero."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coevolve.build import compose
from coevolve.explain import explain_hydra

REPOSITORY = Path(__file__).resolve().parents[1]
TINY = (
    "models=procedural",
    "solver=scripted",
    "domain=math",
    "rounds=1",
    "ablation=task_only",
    "seeds.per_domain=1",
    "seeds.screen.enabled=false",
    "live=false",
    "tracking=off",
)
LAUNCHERS = {"joblib": "hydra_plugins.hydra_joblib_launcher", "ray": "hydra_plugins.hydra_ray_launcher"}


def sweep(execution: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/evolve.py", "-m", f"execution={execution}", *TINY, f"outputs={folder}", *words]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src"), "HOME": str(folder)}  # Ray leaves a token there
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=540
    )


def check_that_the_others_ended(execution: str, folder: Path) -> None:
    """Of four jobs the two with seeds=file lack the file."""
    done = sweep(execution, folder, "seeds=file,bundled", "seed=1,2", "name=${seeds.source}-${seed}")
    assert done.returncode == 2, done.stderr
    for seed in (1, 2):
        assert json.loads((folder / f"bundled-{seed}" / "summary.json").read_text())["complete"]
    assert "seeds.path" in done.stderr + done.stdout


def test_a_failing_job_leaves_the_others_alone_and_the_sweep_says_so(tmp_path: Path) -> None:
    check_that_the_others_ended("local", tmp_path)


@pytest.mark.launchers
@pytest.mark.parametrize("execution", sorted(LAUNCHERS))
def test_the_same_holds_side_by_side(execution: str, tmp_path: Path) -> None:
    pytest.importorskip(LAUNCHERS[execution])
    check_that_the_others_ended(execution, tmp_path)


@pytest.mark.launchers
def test_a_slurm_job_is_what_the_options_say() -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    words = ("execution=slurm", "hydra.launcher.partition=gpu", "--cfg", "hydra")
    command = [sys.executable, "scripts/evolve.py", *words]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert "partition: gpu" in done.stdout
    assert "cpus_per_task: 2" in done.stdout


def test_a_launcher_that_is_not_installed_names_its_extra() -> None:
    message = "In 'config': Could not find 'hydra/launcher/ray'\n\nAvailable options in 'hydra/launcher':\n\tbasic"
    assert explain_hydra(message, ()).endswith("pip install 'coevolve[ray]'")


def test_a_sweep_is_local_unless_told_otherwise() -> None:
    assert "execution" not in compose()


def test_slurm_without_slurm_is_one_line(tmp_path: Path) -> None:
    if shutil.which("srun"):
        pytest.skip("Slurm is here")
    done = sweep("slurm", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "no srun here" in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_a_sweep_has_no_one_configuration_to_show(tmp_path: Path) -> None:
    done = sweep("local", tmp_path, "--cfg", "job")
    assert done.returncode == 2
    assert done.stderr == "coevolve: --cfg shows one run's configuration: leave -m out\n"

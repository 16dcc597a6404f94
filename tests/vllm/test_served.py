"""Real vLLM: a whole run with every agent role on a real model, and nothing left behind however a run ends."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from coevolve.config_models import VllmConfig
from coevolve.doctor import report, run_checks
from coevolve.errors import EndpointError
from coevolve.llm.vllm_plan import assign_gpus, find_gpus, server_plan

pytestmark = pytest.mark.vllm
START_SECONDS = 1800.0
AGENTS = ("director", "extend", "revise", "verify", "meta_skill", "meta_harness")


def rows(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]


def tell(run: Path) -> str:
    """Parse rate, validity and accuracy of a finished run."""
    outcomes = {role: Counter(row["outcome"] for row in rows(run) if row["role"] == role) for role in AGENTS}
    asked, usable = sum(map(Counter.total, outcomes.values())), sum(found["ok"] for found in outcomes.values())
    summary = json.loads((run / "summary.json").read_text())
    lines = [f"{role}: {dict(found)}" for role, found in outcomes.items() if found]
    lines.append(f"usable replies of agent roles: {usable} of {asked} ({usable / asked:.1%})")
    for row in summary["rounds"]:
        low, high = row["interval"]
        validity = "" if row["validity"] is None else f", validity {row['validity']:.1%}"
        lines.append(
            f"round {row['round']}: accuracy {row['accuracy']['all']:.1%} ({low:.1%} - {high:.1%}, "
            f"{row['n_tasks']} tasks, {row['n_attempts']} attempts, unparsed {row['unparsed']:.1%}){validity}, "
            f"{row['status']}, {row['candidates']} candidates"
        )
    return "\n".join([*lines, f"{summary['wall_seconds']:.0f} s in all"])


def test_a_full_run_on_real_vllm_ends_whole_and_leaves_no_process(start, model, capsys):
    run = start("ablation=full")
    assert run.process.wait() == 0, run.said()
    assert run.left() == []
    with capsys.disabled():
        print(f"\n{tell(run.folder)}")
    summary = json.loads((run.folder / "summary.json").read_text())
    assert summary["complete"] and [row["round"] for row in summary["rounds"]] == [0, 1, 2]
    assert all(report(name, check) for name, check in run_checks(run.folder))
    made = rows(run.folder)
    assert {"director", "solver"} <= {row["role"] for row in made}
    assert all(row["tokens_in"] > 0 for row in made if row["outcome"] in ("ok", "unparsed"))
    assert {row["model"] for row in made} == {str(model)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process(start, number):
    run = start("ablation=task_only", "rounds=1")
    run.wait_for("is ready after", START_SECONDS)
    run.wait_for("building tasks", START_SECONDS)
    assert len(run.left(seconds=0)) >= 3  # the run, the keeper, the server and its engine
    run.process.send_signal(number)
    assert run.process.wait() == (3 if number == signal.SIGINT else -signal.SIGKILL)
    assert run.left() == []


def test_a_run_that_is_stopped_while_its_server_warms_up_leaves_no_process(start):
    run = start("ablation=task_only", "rounds=1")
    run.wait_for("starting vllm", 120)
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait() == 3
    assert run.left() == []


def test_weights_that_are_no_model_are_one_line_and_leave_no_process(start, tmp_path):
    (tmp_path / "empty").mkdir()
    run = start(f"models.model={tmp_path}/empty", f"solver.model={tmp_path}/empty", name="broken")
    assert run.process.wait() == 2, run.said()
    last = run.said().strip().splitlines()[-1]
    assert last.startswith("coevolve: vllm for ") and "ended at start" in last
    assert "Traceback" not in run.said()
    assert run.left() == []


def test_the_doctor_starts_a_server_and_asks_it(model):
    words = [f"models.model={model}", f"solver.model={model}", "vllm.max_model_len=4096", "start=true"]
    words += ["vllm.startup_seconds=1800", f"vllm.device={'gpu' if find_gpus() else 'cpu'}"]
    command = [sys.executable, "scripts/doctor.py", "models=vllm", "solver=vllm", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "keeps JSON schemas" in done.stdout


def test_the_gpus_of_this_machine_are_found_and_the_command_fits_them(capsys):
    gpus = find_gpus()
    if not gpus:
        pytest.skip("no GPU here (nvidia-smi lists none)")
    config = VllmConfig(
        python=None,
        device="gpu",
        tensor_parallel=1,
        data_parallel=len(gpus),
        gpu_memory=0.9,
        max_model_len=None,
        startup_seconds=900.0,
        arguments=[],
    )
    assert all(0 < gpu.free_gib <= gpu.total_gib for gpu in gpus)
    groups = assign_gpus("org/small-0.5B", gpus, config)
    plans = [server_plan(sys.executable, "org/small-0.5B", group, config, 8000) for group in groups]
    assert [plan.environment["CUDA_VISIBLE_DEVICES"] for plan in plans] == [str(gpu.number) for gpu in gpus]
    with pytest.raises(EndpointError, match="GiB on each"):
        assign_gpus("org/huge-4000B", gpus, config)
    with capsys.disabled():
        print("\n" + "\n".join(f"{gpu}: {' '.join(plan.command)}" for gpu, plan in zip(gpus, plans, strict=True)))

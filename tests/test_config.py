"""Every option of every group composes and validates; every mistake is one line with its cure and exit code 2."""

import subprocess
import sys
from pathlib import Path

import pytest
from hydra.errors import HydraException

from coevolve.bench import BenchConfig
from coevolve.benchmark.config import EvaluateConfig
from coevolve.build import compose, conf_dir, load, run_folder, sweep_name
from coevolve.config import RunConfig
from coevolve.config_models import Config
from coevolve.doctor import DoctorConfig
from coevolve.errors import ConfigError
from coevolve.explain import explain_hydra, nearest
from coevolve.export.config import ExportConfig
from coevolve.tracking.later import TrackConfig

REPOSITORY = Path(__file__).resolve().parents[1]
EXPORT_GROUPS = ("format", "mix", "comparison")
ALL_OPTIONS = sorted(f"{path.parent.name}={path.stem}" for path in conf_dir().glob("*/*.yaml"))
EXPORT_OPTIONS = [option for option in ALL_OPTIONS if option.startswith(EXPORT_GROUPS)]
BENCHMARKS = [option for option in ALL_OPTIONS if option.startswith("benchmark=")]
OPTIONS = [option for option in ALL_OPTIONS if not option.startswith((*EXPORT_GROUPS, "benchmark=", "training="))]
PRICE_UNKNOWN = {"models=openai_compatible", "models=paper", "solver=openai"}


LAUNCHERS = {
    "execution=joblib": "hydra_plugins.hydra_joblib_launcher",
    "execution=ray": "hydra_plugins.hydra_ray_launcher",
    "execution=slurm": "hydra_plugins.hydra_submitit_launcher",
}


def configured(*overrides: str) -> RunConfig:
    return load(compose(*overrides), RunConfig)


def run_script(name: str, *arguments: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "scripts" / name), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_composes_and_validates(option: str) -> None:
    if option in LAUNCHERS:
        pytest.importorskip(LAUNCHERS[option])
    tokens = ["gate.cost_unit=tokens"] if option in PRICE_UNKNOWN else []
    config = configured(option, *tokens)
    group, _, name = option.partition("=")
    if group in ("domain", "models", "solver", "ablation", "gate"):
        assert getattr(config, group).name == name
    if group == "experiment":
        assert config.experiment == name


@pytest.mark.parametrize("option", EXPORT_OPTIONS)
def test_every_option_of_an_export_composes_and_validates(option: str) -> None:
    group, _, name = option.partition("=")
    source = [] if group == "comparison" and name != "none" else ["runs=x"]
    config = load(compose(option, "out=y", *source, config_name="export"), ExportConfig)
    assert getattr(config, group).name == name


@pytest.mark.parametrize("option", BENCHMARKS)
def test_every_benchmark_composes_and_validates(option: str) -> None:
    config = load(compose(option, "label=x", "student=y", config_name="evaluate"), EvaluateConfig)
    named = "benchmark=file" if config.benchmark.name is None else f"benchmark={config.benchmark.name}"
    assert named == option


@pytest.mark.parametrize("option", sorted(PRICE_UNKNOWN))
def test_an_unknown_price_refuses_a_gate_in_dollars(option: str) -> None:
    with pytest.raises(ConfigError, match="price"):
        configured(option)


@pytest.mark.parametrize(("name", "kind"), [("doctor", DoctorConfig), ("track", TrackConfig), ("bench", BenchConfig)])
def test_the_other_commands_validate_too(name: str, kind: type[Config]) -> None:
    needed = ["run=x"] if name == "track" else []
    load(compose(*needed, config_name=name), kind)  # type: ignore[arg-type]


def test_arms_are_two_switches() -> None:
    arms = {name: configured(f"ablation={name}").ablation for name in ("task_only", "online", "post_task", "full")}
    assert {name: (arm.online, arm.post_task) for name, arm in arms.items()} == {
        "task_only": (False, False),
        "online": (True, False),
        "post_task": (False, True),
        "full": (True, True),
    }


def test_one_address_sets_every_role_and_a_role_may_differ() -> None:
    words = ("models=openai_compatible", "gate.cost_unit=tokens", "models.base_url=http://a", "models.model=m")
    models = configured(*words, "models.verify.0.base_url=http://b").models
    assert {models.director.base_url, models.attempt.base_url, models.meta_harness.base_url} == {"http://a"}
    assert models.verify[0].base_url == "http://b"
    assert models.extend.name == "m"


def test_the_paper_uses_the_roles_of_its_appendix() -> None:
    models = configured("models=paper", "gate.cost_unit=tokens").models
    assert [model.name for model in models.verify] == ["qwen3.8-max", "deepseek-v4-pro", "gpt-5.6"]
    assert all(model.thinking for model in (models.director, models.extend, models.revise, *models.verify))


def test_an_arm_on_the_command_line_wins_over_the_experiment() -> None:
    assert configured("experiment=demo", "ablation=task_only").ablation.name == "task_only"


def test_the_demo_and_the_machinery_have_the_sizes_they_promise() -> None:
    demo, machinery = configured("experiment=demo"), configured("experiment=machinery")
    assert (demo.rounds, demo.seeds.per_domain, len(demo.domain.include)) == (4, 2, 3)
    assert (machinery.rounds, machinery.seeds.per_domain, machinery.budget.candidates) == (14, 50, 1)
    assert machinery.solver.kind == "scripted"


def test_gate_coefficients_are_exact_as_typed() -> None:
    gate = configured("gate.cost_cap=1.2", "gate.cost_slope=2").gate
    assert (gate.cost_cap, gate.cost_slope) == ("1.2", "2")


def test_columns_and_defaults_take_keys_of_the_users_own() -> None:
    words = ("seeds=file", "seeds.columns.question=prompt", "seeds.defaults.domain=math", "seeds.defaults.license=MIT")
    seeds = configured(*words).seeds
    assert seeds.columns == {"question": "prompt"}
    assert seeds.defaults == {"domain": "math", "license": "MIT"}
    assert configured("seeds.columns={question: q, answer: a}").seeds.columns == {"question": "q", "answer": "a"}


def test_the_run_folder_names_what_makes_runs_differ() -> None:
    config = configured("experiment=ablations", "ablation=online", "domain=math", "seed=7", "outputs=/o")
    assert run_folder(config) == Path("/o/ablations/online-math-embedded-paper-seed7")
    assert run_folder(configured("name=mine", "outputs=/o")) == Path("/o/mine")


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../b"])
def test_a_run_name_stays_below_outputs(name: str) -> None:
    with pytest.raises(ConfigError, match="folder name"):
        run_folder(configured(f"name={name}"))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("+budget.foo=1", "budget.foo: unknown key"),
        ("rounds=many", "rounds='many': Input should be a valid integer"),
        ("rounds=-1", "greater than or equal to 0"),
        ("gate.cost_cap=-1", "gate.cost_cap"),
        ("gate.cost_cap=null", "gate.cost_cap"),
        ("ablation.name=most", "Input should be 'task_only'"),
        ("budget.candidates=4", "less than or equal to 3"),
        ("+models.attempt.temperature=0.2", "models.attempt.temperature: unknown key"),
    ],
)
def test_a_wrong_value_is_refused_by_name(override: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(override)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "suggested"),
    [("budget.rouns", "rounds"), ("budgte", "budget"), ("solver.temprature", "solver.temperature"), ("xyzzy", "")],
)
def test_the_nearest_key_is_suggested(wrong: str, suggested: str) -> None:
    known = ["budget", "budget.candidates", "rounds", "solver.temperature", "models.director.temperature"]
    assert nearest(wrong, known) == (f"; did you mean {suggested}?" if suggested else "")


def test_every_hydra_message_we_know_becomes_one_line() -> None:
    for words in (("budget.rouns=1",), ("domain=maths",), ("budgte=small",), ("+rounds=1",), ("rounds",), ("a=[1",)):
        with pytest.raises(HydraException) as caught:
            compose(*words)
        assert "\n" not in explain_hydra(str(caught.value), ["rounds"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["budget.rouns=1"], "did you mean rounds?"),
        (["domain=maths"], "did you mean math? (domain has: all, coding, math, science)"),
        (["a=[1"], "cannot read 'a=[1'"),
        (["domain=math,coding"], "needs -m"),
        (["--foo"], "unrecognized arguments: --foo"),
        (["--config-dir=/nowhere"], "'/nowhere' not found"),
        (["rounds=-1"], "greater than or equal to 0"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run_script("evolve.py", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_help_names_the_groups_and_a_composed_configuration_can_be_seen(tmp_path: Path) -> None:
    told = run_script("evolve.py", "--help", cwd=tmp_path)
    assert told.returncode == 0
    for group in ("ablation:", "budget:", "experiment:", "solver:"):
        assert group in told.stdout
    shown = run_script("evolve.py", "--cfg", "job", "experiment=demo", cwd=tmp_path)
    assert shown.returncode == 0
    assert "per_domain: 2" in shown.stdout
    assert not list(tmp_path.iterdir())


def run_main(folder: Path, body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of its own, whose main(config) is `body`."""
    script = folder / "show.py"
    script.write_text(
        "from coevolve.build import entry\nfrom coevolve.config import RunConfig\n"
        f"def main(config):\n    {body}\n    return 0\n"
        "entry(main, RunConfig)\n"
    )
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_in_a_sweep_a_failing_job_leaves_the_others_alone(tmp_path: Path) -> None:
    done = run_main(tmp_path, "print('rounds', config.rounds)", "-m", "rounds=1,-2,3")
    assert done.returncode == 2
    assert done.stdout.split() == ["rounds", "1", "rounds", "3"]
    said = [line for line in done.stderr.splitlines() if not line.startswith("job ")]
    assert said == ["coevolve: rounds=-2: Input should be greater than or equal to 0"]
    assert not list(tmp_path.rglob(".hydra"))


def test_ctrl_c_in_one_job_ends_the_whole_sweep(tmp_path: Path) -> None:
    body = "from coevolve.errors import Interrupted; raise ExceptionGroup('', [Interrupted('stopped as asked')])"
    done = run_main(tmp_path, body, "-m", "rounds=1,2")
    assert (done.returncode, done.stderr) == (3, "job 0: rounds=1\ncoevolve: stopped as asked\n")


def test_a_spent_ceiling_of_one_job_leaves_the_others_alone(tmp_path: Path) -> None:
    body = "from coevolve.errors import RunCeilingReached; raise RunCeilingReached(f'at {config.rounds}')"
    done = run_main(tmp_path, body, "-m", "rounds=1,2")
    assert done.returncode == 3
    assert done.stderr == "job 0: rounds=1\ncoevolve: at 1\njob 1: rounds=2\ncoevolve: at 2\n"


def test_a_file_that_may_not_be_read_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = run_main(tmp_path, "raise PermissionError(13, 'Permission denied', '/x/seeds.csv')")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("coevolve: /x/seeds.csv: Permission denied; ")


@pytest.mark.parametrize("name", ["José é 日本.csv", "seeds (copy).csv", "O'Brien.csv", "a b;#!&.csv", "a=b.csv"])
def test_a_path_is_taken_as_it_is_typed(name: str) -> None:
    assert configured("seeds=file", f"seeds.path=/my data/{name}").seeds.path == f"/my data/{name}"


def test_a_sweep_over_such_names_stays_one(tmp_path: Path) -> None:
    done = run_main(tmp_path, "print(ascii(config.name))", "-m", "name=é,b")
    assert done.stdout.split() == [ascii("é"), "'b'"], done.stderr


def test_the_same_sweep_has_the_same_name_whatever_the_order_of_its_words() -> None:
    one = sweep_name(["-m", "experiment=ablations", "seed=0,1"])
    assert one == sweep_name(["seed=0,1", "-m", "experiment=ablations"])
    assert one.startswith("ablations-")
    assert one != sweep_name(["-m", "experiment=ablations", "seed=0,2"])

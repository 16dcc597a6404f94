"""The command of a training run, as one would type it."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coevolve.errors import ConfigError
from coevolve.training.config import Backend, TrainConfig

MODULES: Mapping[Backend, str] = {
    "verl_sft": "verl.trainer.sft_trainer",
    "verl_grpo": "verl.trainer.main_ppo",
    "trl_sft": "trl.scripts.sft",
    "trl_grpo": "trl.scripts.grpo",
}
VERL_SFT_ON_RAY = "verl.trainer.sft_trainer_ray"


class Command(NamedTuple):
    """What is run, with what added to the environment, and in which folder."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path


def command(config: TrainConfig) -> Command:
    """The trainer's command. Raises ConfigError for nodes without a cluster."""
    if config.nodes > 1 and config.ray_address is None:
        raise ConfigError(f"nodes={config.nodes}: give ray_address=<host:port> of a Ray cluster (`ray start --head`)")
    data = Path(config.data).absolute()
    environment = {"RAY_ADDRESS": config.ray_address} if config.ray_address else {}
    if config.training.backend.startswith("verl"):
        words = (*_verl_start(config), *_verl(config, data))
    else:
        words = (config.python or sys.executable, "-m", MODULES[config.training.backend], *_trl(config, data))
        environment["PYTHONPATH"] = str(data)  # where the export's reward.py lies
    return Command(words, environment, data)


def _verl_start(config: TrainConfig) -> tuple[str, ...]:
    python, backend = config.python or sys.executable, config.training.backend
    if backend == "verl_grpo":
        return (python, "-m", MODULES[backend])
    if config.nodes > 1:
        return (python, "-m", VERL_SFT_ON_RAY)
    workers = max(1, config.gpus_per_node)
    return (
        python,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={workers}",
        "-m",
        MODULES[backend],
    )


def _verl(config: TrainConfig, data: Path) -> list[str]:
    kind = "rl" if config.training.backend == "verl_grpo" else "sft"
    model = "actor_rollout_ref.model.path" if kind == "rl" else "model.path"
    given: dict[str, Any] = {
        "data.train_files": str(data / "verl" / f"{kind}_train.parquet"),
        "data.val_files": _validation(data, kind),
        model: config.model,
        "trainer.nnodes": config.nodes,
        "trainer.n_gpus_per_node": max(1, config.gpus_per_node),
        "trainer.default_local_dir": str(Path(config.out).absolute()),
        "trainer.project_name": "coevolve",
        "trainer.experiment_name": config.training.name,
    }
    if kind == "rl":
        given["reward.custom_reward_function.path"] = str(data / "reward.py")
        given["reward.custom_reward_function.name"] = "compute_score"
    return [f"{key}={_hydra(value)}" for key, value in {**given, **config.training.flat}.items()]


def _validation(data: Path, kind: str) -> str | None:
    """The validation file; the RL trainer insists on one, so it gets the training file where there is none."""
    path = data / "verl" / f"{kind}_validation.parquet"
    if path.exists():
        return str(path)
    return str(data / "verl" / f"{kind}_train.parquet") if kind == "rl" else None


def _trl(config: TrainConfig, data: Path) -> list[str]:
    grpo = config.training.backend == "trl_grpo"
    words = ["--dataset_name", str(data / "trl" / ("grpo" if grpo else "prompt_completion"))]
    words += ["--model_name_or_path", config.model, "--output_dir", str(Path(config.out).absolute())]
    if grpo:
        words += ["--reward_funcs", "reward.accuracy"]
    for key, value in config.training.flat.items():
        words += [f"--{key}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return words


def _hydra(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, str) else value

"""A training command holds Table 9's values under the trainer's own keys, and nothing starts on data or machines that
cannot carry it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from coevolve.build import compose, conf_dir, load
from coevolve.errors import ConfigError, DataError, MissingExtra, ToolError
from coevolve.training.checks import data_checks, memory_checks, version_checks
from coevolve.training.command import command
from coevolve.training.config import TrainConfig
from coevolve.training.launch import train, written

TABLE_9_SFT: dict[str, Any] = {
    "trainer.total_epochs": 2,
    "optim.lr": 1e-5,
    "data.train_batch_size": 16,
    "data.max_length": 65536,
    "engine.strategy": "fsdp2",
    "data.use_dynamic_bsz": True,
    "model.enable_gradient_checkpointing": True,
    "data.truncation": "error",
    "optim.lr_warmup_steps_ratio": 0.05,
    "optim.lr_scheduler_type": "cosine",
    "optim.min_lr_ratio": 0.1,
    "optim.weight_decay": 0.1,
    "optim.betas": [0.9, 0.95],
    "optim.clip_grad": 1.0,
    "engine.model_dtype": "bf16",
    "data.micro_batch_size_per_gpu": 1,
    "data.max_token_len_per_gpu": 65536,
    "engine.ulysses_sequence_parallel_size": 1,
    "model.use_remove_padding": True,
    "model.enable_activation_offload": True,
    "engine.reshard_after_forward": True,
    "engine.use_torch_compile": False,
}
ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"
TABLE_9_GRPO: dict[str, Any] = {
    "trainer.total_epochs": 1,
    f"{ACTOR}.optim.lr": 1e-6,
    "data.train_batch_size": 32,
    "data.max_prompt_length": 3072,
    "data.max_response_length": 65536,
    f"{ACTOR}.strategy": "fsdp",
    f"{ACTOR}.use_dynamic_bsz": True,
    "actor_rollout_ref.model.enable_gradient_checkpointing": True,
    "data.truncation": "error",
    f"{ROLLOUT}.n": 8,
    f"{ACTOR}.ppo_mini_batch_size": 32,
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.temperature": 1.0,
    f"{ROLLOUT}.tensor_model_parallel_size": 1,
    f"{ROLLOUT}.gpu_memory_utilization": 0.45,
    "algorithm.use_kl_in_reward": False,
    f"{ACTOR}.kl_loss_coef": 0.001,
    f"{ACTOR}.kl_loss_type": "low_var_kl",
    f"{ACTOR}.entropy_coeff": 0,
    f"{ACTOR}.fsdp_config.param_offload": False,
    f"{ACTOR}.fsdp_config.optimizer_offload": False,
    "actor_rollout_ref.ref.fsdp_config.param_offload": True,
}
RECIPES = sorted(path.stem for path in (conf_dir() / "training").glob("*.yaml"))


def configured(*words: str) -> TrainConfig:
    return load(compose(*words, config_name="train"), TrainConfig)


def written_export(folder: Path, lengths: list[int | None], passed: bool = True) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "data").mkdir(parents=True)
    (folder / "audit.json").write_text(json.dumps({"passed": passed}))
    table = pa.table({"total_tokens": pa.array(lengths, pa.int64()), "prompt_tokens": pa.array(lengths, pa.int64())})
    pq.write_table(table, folder / "data" / "train.parquet")
    (folder / "verl").mkdir()
    (folder / "verl" / "sft_train.parquet").touch()
    return folder


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_composes_and_makes_a_command(recipe: str, tmp_path: Path) -> None:
    config = configured(f"training={recipe}", f"data={tmp_path}", "out=o")
    assert config.training.name == recipe
    line = written(command(config))
    for key, value in config.training.flat.items():
        assert key in line
        assert str(value).lower().split(", ")[0].strip("[]'") in line.lower()


@pytest.mark.parametrize("recipe", ["sft_35b", "sft_27b"])
def test_sft_holds_every_value_of_table_9(recipe: str) -> None:
    arguments = configured(f"training={recipe}", "data=x", "out=o").training.flat
    assert {key: arguments[key] for key in TABLE_9_SFT} == TABLE_9_SFT


def test_grpo_holds_every_value_of_table_9() -> None:
    arguments = configured("training=grpo_4b", "data=x", "out=o").training.flat
    assert {key: arguments[key] for key in TABLE_9_GRPO} == TABLE_9_GRPO
    assert arguments["data.train_batch_size"] * arguments[f"{ROLLOUT}.n"] == 256, "rollouts per full batch"


def test_the_reward_of_the_export_is_what_grpo_trains_on(tmp_path: Path) -> None:
    verl = written(command(configured("training=grpo_4b", f"data={tmp_path}", "out=o")))
    assert f"reward.custom_reward_function.path={tmp_path}/reward.py" in verl
    trl = command(configured("training=grpo_tiny", f"data={tmp_path}", "out=o"))
    assert trl.environment["PYTHONPATH"] == str(tmp_path)
    assert "--reward_funcs reward.accuracy" in " ".join(trl.words)


def test_more_nodes_need_a_cluster_and_run_on_it() -> None:
    with pytest.raises(ConfigError, match="ray_address"):
        command(configured("training=sft_35b", "data=x", "out=o", "nodes=2", "gpus_per_node=8"))
    words = ("training=sft_35b", "data=x", "out=o", "nodes=2", "gpus_per_node=8", "ray_address=head:6379")
    made = command(configured(*words))
    assert made.environment["RAY_ADDRESS"] == "head:6379"
    assert "verl.trainer.sft_trainer_ray" in made.words
    assert "trainer.nnodes=2" in made.words


def test_data_that_fails_its_audit_or_is_no_export_stops_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no export"):
        data_checks(configured("training=sft_35b", f"data={tmp_path / 'none'}", "out=o"))
    bad = written_export(tmp_path / "bad", [10] * 20, passed=False)
    with pytest.raises(DataError, match="audit"):
        data_checks(configured("training=sft_35b", f"data={bad}", "out=o"))


def test_data_of_the_other_format_is_refused(tmp_path: Path) -> None:
    folder = written_export(tmp_path / "export", [10] * 40)
    for recipe, needed in (("grpo_4b", "verl/rl_train.parquet"), ("grpo_tiny", "trl/grpo/train.jsonl")):
        with pytest.raises(DataError, match=f"{needed}; export it with format=grpo"):
            data_checks(configured(f"training={recipe}", f"data={folder}", "out=o"))


def stand_in(folder: Path, script: str) -> Path:
    """An interpreter that has every version asked for and runs `script` instead of a trainer."""
    path = folder / "python"
    versions = json.dumps({"trl": "1.16.0", "torch": "2.6.0"})
    path.write_text(f"#!/bin/sh\nif [ \"$1\" = -c ]; then echo '{versions}'; exit 0; fi\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_trainers_end_is_the_commands_end_and_its_folder_is_its_own(tmp_path: Path) -> None:
    folder = written_export(tmp_path / "export", [10] * 40)
    (folder / "trl" / "prompt_completion").mkdir(parents=True)
    (folder / "trl" / "prompt_completion" / "train.jsonl").touch()
    words = ("training=sft_tiny", f"data={folder}", f"out={tmp_path / 'out'}")
    good, bad = f"python={stand_in(tmp_path, 'exit 0')}", "training.arguments.learning_rate=1"
    said: list[str] = []
    train(configured(*words, good), said.append)
    assert said[-1] == f"trained: {tmp_path / 'out'}"
    assert json.loads((tmp_path / "out" / "training.json").read_text())["command"][1:3] == ["-m", "trl.scripts.sft"]
    with pytest.raises(ConfigError, match="trained before with another command"):
        train(configured(*words, good, bad), said.append)
    stand_in(tmp_path, "exit 7")
    with pytest.raises(ToolError, match="ended with 7"):
        train(configured(*words, good), said.append)


def test_too_few_or_too_long_rows_are_problems(tmp_path: Path) -> None:
    def problems(*lengths: int | None) -> list[str]:
        folder = written_export(tmp_path / str(len(list(tmp_path.iterdir()))), list(lengths))
        found = data_checks(configured("training=sft_35b", f"data={folder}", "out=o"))
        return [check.what for check in found if check.problem]

    assert problems(*[10] * 16) == []
    assert problems(*[10] * 15) == ["rows"]
    assert problems(*[10] * 16, 70_000) == ["tokens"]
    assert problems(*[None] * 16) == []


def test_a_missing_trainer_is_one_line_with_its_cure(tmp_path: Path) -> None:
    config = configured("training=grpo_4b", f"data={tmp_path}", "out=o")
    with pytest.raises(MissingExtra, match="pip install"):
        version_checks(config)
    with pytest.raises(ConfigError, match="cannot be run"):
        version_checks(configured("training=sft_tiny", "data=x", "out=o", "python=/nowhere/python"))


def test_memory_is_weighed_against_the_gpus_asked_for() -> None:
    config = configured("training=sft_35b", "data=x", "out=o", "gpus_per_node=8")
    assert not any(check.problem for check in memory_checks(config, [("H200", 143_000)] * 8))
    assert any("GiB" in check.problem for check in memory_checks(config, [("A10", 23_000)] * 8))
    assert any("nvidia-smi" in check.problem for check in memory_checks(config, []))


def test_a_dry_run_prints_the_command_and_starts_nothing(tmp_path: Path) -> None:
    folder = written_export(tmp_path / "export", [10] * 20)
    lines: list[str] = []
    config = configured("training=sft_35b", f"data={folder}", f"out={tmp_path / 'o'}", "dry_run=true")
    train(config, lines.append)
    assert any(line.startswith(sys.executable) and "optim.lr=1e-05" in line for line in lines)
    assert not (tmp_path / "o").exists()

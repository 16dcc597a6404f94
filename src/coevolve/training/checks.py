"""What is looked at before hours of GPUs are spent: the data, the versions, the memory."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coevolve.errors import ConfigError, DataError, MissingExtra
from coevolve.training.config import Backend, TrainConfig

NEEDED: Mapping[Backend, Mapping[str, tuple[int, ...]]] = {
    "verl_sft": {"verl": (0, 9, 1), "torch": (2, 6), "transformers": (5, 5, 3)},
    "verl_grpo": {"verl": (0, 9, 1), "torch": (2, 6), "transformers": (5, 5, 3), "ray": (2, 41), "vllm": (0, 11)},
    "trl_sft": {"trl": (1, 16), "torch": (2, 6)},
    "trl_grpo": {"trl": (1, 16), "torch": (2, 6)},
}
"""Package -> oldest version."""
FILES: Mapping[Backend, str] = {
    "verl_sft": "verl/sft_train.parquet",
    "verl_grpo": "verl/rl_train.parquet",
    "trl_sft": "trl/prompt_completion/train.jsonl",
    "trl_grpo": "trl/grpo/train.jsonl",
}
"""Backend -> the file below an export that it reads."""
BYTES_A_PARAMETER = 16
"""Weights and gradients in bf16, a master copy and Adam's two moments in fp32; activations come on top."""
ASK_VERSIONS = """
import importlib.metadata as m, json, sys
found = {}
for name in sys.argv[1:]:
    try: found[name] = m.version(name)
    except m.PackageNotFoundError: found[name] = None
print(json.dumps(found))
"""


class Check(NamedTuple):
    """One finding; a problem stops the launch."""

    what: str
    found: str
    problem: str = ""


def checks(config: TrainConfig) -> list[Check]:
    """Everything that is known before the start. Raises DataError for a folder that is no export."""
    return [*data_checks(config), *version_checks(config), *memory_checks(config, gpus())]


def data_checks(config: TrainConfig) -> list[Check]:
    """The export passed its audit, holds enough rows, and no row is longer than the recipe takes."""
    folder = Path(config.data)
    audit = _json(folder / "audit.json")
    if not audit.get("passed"):
        raise DataError(f"data={folder}: its audit did not pass; export it again")
    path = folder / "data" / "train.parquet"
    for needed in (path, trained_on(config)):
        if not needed.exists():
            form = "grpo" if config.training.backend.endswith("grpo") else "sft"
            lacking = needed.relative_to(folder)
            raise DataError(f"data={folder}: it has no {lacking}; export it with format={form} files=[hf,verl,trl]")
    lengths, prompts = _columns(path)
    batch = int(_batch(config.training.flat))
    few = f"fewer than one batch of {batch}" if len(lengths) < batch else ""
    found = [Check("rows", f"{len(lengths)} for training, batch {batch}", few)]
    limits = _limits(config.training.flat)
    for name, limit, counts in (("prompt tokens", limits[0], prompts), ("tokens", limits[1], lengths)):
        counted = [count for count in counts if count is not None]
        if limit is None:
            continue
        if not counted:
            found.append(Check(name, f"limit {limit}, not counted in the export (student.tokenizer=…)"))
        else:
            over = f"{sum(count > limit for count in counted)} rows are longer" if max(counted) > limit else ""
            found.append(Check(name, f"longest {max(counted)}, limit {limit}", over))
    return found


def trained_on(config: TrainConfig) -> Path:
    """The file of the export that the trainer reads."""
    return Path(config.data) / FILES[config.training.backend]


def version_checks(config: TrainConfig) -> list[Check]:
    """The trainer's packages in the interpreter that will run it. Raises MissingExtra when the trainer is absent."""
    needed = NEEDED[config.training.backend]
    python = config.python or sys.executable
    try:
        asked = subprocess.run(
            [python, "-c", ASK_VERSIONS, *needed], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(
            f"python={python}: it cannot be run ({error}); give the interpreter of the trainer"
        ) from error
    have: dict[str, str | None] = json.loads(asked.stdout)
    absent = [name for name, version in have.items() if version is None]
    if absent and not config.dry_run:
        extra = "pip install 'coevolve[train]' vllm" if "vllm" in absent else "pip install 'coevolve[train]'"
        raise MissingExtra(f"training={config.training.name} needs {', '.join(absent)} in {python}: {extra}")
    found = []
    for name, oldest in needed.items():
        version = have[name]
        wanted = ".".join(map(str, oldest))
        if version is None:
            found.append(Check(name, "absent", f"{wanted} or newer is needed"))
        else:
            old = f"older than {wanted}" if _numbers(version) < oldest else ""
            found.append(Check(name, version, old))
    return found


def gpus() -> list[tuple[str, int]]:
    """Name and memory (MiB) of each GPU of this machine; empty without a driver."""
    ask = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(ask, capture_output=True, text=True, check=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.rsplit(",", 1) for line in told.strip().splitlines()]
    return [(name.strip(), int(memory)) for name, memory in rows]


def memory_checks(config: TrainConfig, here: Sequence[tuple[str, int]]) -> list[Check]:
    """Whether weights, gradients and optimizer fit into the GPUs asked for; other nodes are taken to be like this."""
    recipe = config.training
    if recipe.gpus == 0:
        return [Check("GPUs", "none needed")]
    asked = config.nodes * config.gpus_per_node
    need = recipe.billions * 1e9 * BYTES_A_PARAMETER / 2**30
    count = Check("GPUs", f"{asked} asked for, {recipe.gpus} in the paper")
    if not here:
        problem = "" if config.nodes > 1 else "no GPU is found here (nvidia-smi)"
        return [count, Check("memory", f"{need:.0f} GiB for weights, gradients and optimizer", problem)]
    have = asked * here[0][1] / 1024
    short = f"{asked} x {here[0][0]} have {have:.0f} GiB" if need > have else ""
    return [count, Check("memory", f"{need:.0f} GiB of {have:.0f} GiB for weights, gradients and optimizer", short)]


def _batch(arguments: Mapping[str, Any]) -> Any:
    return arguments.get("data.train_batch_size", arguments.get("per_device_train_batch_size", 1))


def _limits(arguments: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """(longest prompt, longest row) the recipe takes."""
    return arguments.get("data.max_prompt_length"), arguments.get("data.max_length", arguments.get("max_length"))


def _columns(path: Path) -> tuple[list[int | None], list[int | None]]:
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["total_tokens", "prompt_tokens"])
    return table["total_tokens"].to_pylist(), table["prompt_tokens"].to_pylist()


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"data={path.parent}: no export with an audit ({error}); make one with scripts/export.py"
        ) from error
    return content


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split("+", maxsplit=1)[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())

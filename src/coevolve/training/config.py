"""What scripts/train.py and scripts/convert.py take. No defaults: every value lives in conf/."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from coevolve.config_models import Config, Count, Positive

Backend = Literal["verl_sft", "verl_grpo", "trl_sft", "trl_grpo"]


class TrainingConfig(Config):
    """One training recipe, in the trainer's own keys, so that nothing is hidden."""

    name: str
    backend: Backend
    model: str
    billions: float = Field(gt=0)
    """Parameters, for the memory check."""
    gpus: Count
    """GPUs of the published run; 0 = none needed."""
    arguments: dict[str, Any]
    """Nested as the trainer nests them."""

    @property
    def flat(self) -> dict[str, Any]:
        """The same by dotted key."""
        return dict(_flat(self.arguments, ""))


def _flat(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


class TrainConfig(Config):
    """One training run."""

    training: TrainingConfig
    data: str
    """A folder that scripts/export.py wrote."""
    model: str
    """Weights to start from: a folder or hub name."""
    out: str
    nodes: Positive
    gpus_per_node: Count
    ray_address: str | None
    """Address of a running Ray cluster; needed for more than one node."""
    python: str | None
    """The interpreter that has the trainer; null = this one."""
    dry_run: bool
    """Print the command and the checks, start nothing."""


class ConvertConfig(Config):
    """Weights from one form into the other."""

    model: str
    """A GGUF file or the name of pinned weights; or a model folder, where `out` is a GGUF file."""
    out: str
    like: str
    """The GGUF file (or pinned name) whose tokenizer, chat template and sizes a converted folder keeps."""
    type: Literal["q8_0", "f16"]
    """How matrices are stored in a GGUF file."""

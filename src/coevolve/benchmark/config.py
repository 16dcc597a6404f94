"""What scripts/evaluate.py takes. No defaults: every value lives in conf/evaluate.yaml and its groups."""

from typing import Any, Literal

from coevolve.config import CeilingConfig, Domain, VerificationConfig
from coevolve.config_models import Config, Positive, SolverConfig, VllmConfig


class BenchmarkConfig(Config):
    """One benchmark: where its items are, what its columns are called, how it asks."""

    name: str
    path: str | None
    """A JSONL, CSV or Parquet file, or a dataset's folder or hub name."""
    source: Literal["file", "huggingface"]
    split: str | None
    config_name: str | None
    form: Literal["plain", "livecodebench", "scibench"]
    """plain: columns are read as those of seeds are; the others have layouts of their own."""
    columns: dict[str, str]
    """Our field -> their column."""
    defaults: dict[str, Any]
    """Values for fields its records lack."""
    domain: Domain | None
    """Of every item; null = each record says."""
    closing: str
    """What follows each question."""
    program_closing: str
    """What follows a question that wants a program."""
    items: Positive | None
    """How many items the published score is over; another count is said."""


class EvaluateConfig(Config):
    """One model on one benchmark."""

    benchmark: BenchmarkConfig
    solver: SolverConfig
    vllm: VllmConfig
    verification: VerificationConfig
    label: str
    """Whose score this is in the tables, such as the data a student was trained on."""
    student: str
    """The model that was trained, as the tables name it."""
    attempts: Positive
    """k of mean-k: attempts an item (paper: 16)."""
    items: Positive | None
    """Only so many items, drawn by the seed; null = all."""
    ceiling: CeilingConfig
    at_once: Positive
    """Items worked on at the same time."""
    out: str | None
    """Folder of the result; null = `<outputs>/evaluations/<benchmark>/<label>`."""
    outputs: str
    seed: int
    fresh: bool

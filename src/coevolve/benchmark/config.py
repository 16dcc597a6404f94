"""What scripts/evaluate.py takes. No defaults: every value lives in conf/evaluate.yaml and its groups."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from coevolve.benchmark.layouts import Layout
from coevolve.config import CeilingConfig, Domain, VerificationConfig
from coevolve.config_models import Config, Positive, SolverConfig, VllmConfig
from coevolve.report.evaluations import UNTRAINED

FolderName = Annotated[str, Field(pattern=r"^[^/]+$")]
"""Becomes part of a folder's name: no slash."""


class BenchmarkConfig(Config):
    """One benchmark: where its items are, what its columns are called, how it asks."""

    name: str | None
    """null = the file's name without its ending."""
    path: str | None
    """A JSONL, CSV or Parquet file, or a dataset's folder or hub name."""
    source: Literal["file", "huggingface"]
    split: str | None
    config_name: str | None
    form: Literal["plain", Layout]
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

    @property
    def title(self) -> str:
        """What results and tables call it."""
        return self.name or Path(self.path or "file").stem


class EvaluateConfig(Config):
    """One model on one benchmark."""

    benchmark: BenchmarkConfig
    solver: SolverConfig
    vllm: VllmConfig
    verification: VerificationConfig
    label: FolderName
    """The data that the student was trained on, such as full, task_only or openmathinstruct2; a row of the tables."""
    student: FolderName | None
    """The model that was trained, alike in all its evaluations; null = the solver's name (untrained only)."""
    training_seed: int | None
    """Which of several trainings on the same data; null = there is one."""
    attempts: Positive
    """k of mean-k: attempts an item (paper: 16)."""
    items: Positive | None
    """Only so many items, drawn by the seed; null = all."""
    ceiling: CeilingConfig
    at_once: Positive
    """Items worked on at the same time."""
    out: str | None
    """Folder of the result; null = `<outputs>/evaluations/<benchmark>/<student>-<label>[-seed<k>]`."""
    outputs: str
    seed: int
    fresh: bool

    @model_validator(mode="after")
    def _trained_from_something(self) -> "EvaluateConfig":
        if self.label != UNTRAINED and self.student is None:
            raise ValueError(
                f"student: name the model that was trained on label={self.label}, as its untrained row does"
            )
        return self

"""What scripts/curate.py takes; every value lives in conf/curate.yaml."""

from typing import Annotated, Any, Literal

from pydantic import Field

from coevolve.config import BudgetConfig, ConstraintsConfig, VerificationConfig
from coevolve.config_models import Config, ModelConfig, ModelsConfig, Positive, VllmConfig

Paths = str | list[str]


class SourcesConfig(Config):
    """Candidate seeds and source passages."""

    paths: Paths | None
    """Files, folders, or `hf:<dataset folder or name>`; `seeds=` on the command line."""
    split: str | None
    """hf: which split."""
    config_name: str | None
    columns: dict[str, str]
    """Our field -> their column."""
    defaults: dict[str, Any]
    """Values for fields that records lack (domain, source, license)."""
    question_chars: Positive
    passage_chars: Annotated[int, Field(ge=200)]
    """Longest stretch of a document that is screened and read as one."""


class AcquisitionConfig(Config):
    """Skill acquisition from screened sources (Section 3.1)."""

    enabled: bool
    sources: Positive
    """Most seeds and passages read; passages first."""
    together: Positive
    """Sources of one call."""
    model: ModelConfig


class CurateConfig(Config):
    """Stage 1, whole."""

    seeds: SourcesConfig
    benchmarks: Paths | None
    """The registry K: files or folders of benchmark items; [] = none, and the manifest says so."""
    benchmarks_version: str
    """A name for the registry's version; its hash is kept besides."""
    out: str | None
    review: str | None
    """A review.jsonl with a person's decisions."""
    seed: int
    fresh: bool
    semantic: bool
    """Also compare meanings, with the embedding model of the extra."""
    held_out: float = Field(ge=0, le=0.9)
    """Share of seeds that is sealed for transfer."""
    family_cap: Positive | None
    """Most seeds kept of one near-duplicate family; null = all, they only stay on one side."""
    base_skills: Literal["shipped", "none"]
    """Skills H_0 starts with, before the acquired ones."""
    acquisition: AcquisitionConfig
    models: ModelsConfig
    vllm: VllmConfig
    budget: BudgetConfig
    constraints: ConstraintsConfig
    verification: VerificationConfig

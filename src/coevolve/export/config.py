"""What scripts/export.py takes. No defaults: every value lives in conf/export.yaml and its groups."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from coevolve.config import VerificationConfig
from coevolve.config_models import Config, Count, Positive
from coevolve.tasks import DOMAINS, Domain

Share = Annotated[float, Field(ge=0, lt=1)]
Files = Literal["verl", "trl", "jsonl", "hf"]


class FormatConfig(Config):
    """SFT or GRPO, and what each row must satisfy."""

    name: Literal["sft", "grpo"]
    target: Literal["derivation", "attempt", "none"]
    """What a model learns to write (sft): the task's own derivation, or a solver attempt that was judged right."""
    pass_rate_above: float = Field(ge=-1, le=1)
    """Least pass rate, exclusive; -1 = any."""
    pass_rate_below: float = Field(ge=0, le=2)
    """Greatest pass rate, exclusive; 2 = any."""

    @model_validator(mode="after")
    def _needs_a_target(self) -> "FormatConfig":
        if (self.name == "sft") == (self.target == "none"):
            raise ValueError("format.target: sft needs derivation or attempt, grpo needs none")
        return self


class MixConfig(Config):
    """Shares of the domains, as weights; 0 = none of it, null in all three = the shares of the rows that passed."""

    name: str
    math: Count | None
    coding: Count | None
    science: Count | None

    @property
    def weights(self) -> dict[Domain, int] | None:
        """Domain -> weight, those above 0; None = the shares of the rows that passed."""
        weights = {domain: weight for domain, weight in self._given().items() if weight}
        return weights or None

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Those that rows may come from."""
        return tuple(self.weights or DOMAINS)

    def _given(self) -> dict[Domain, int | None]:
        return {"math": self.math, "coding": self.coding, "science": self.science}

    @model_validator(mode="after")
    def _needs_a_weight(self) -> "MixConfig":
        given = list(self._given().values())
        if any(weight is None for weight in given) and any(weight is not None for weight in given):
            raise ValueError("mix: give every domain a weight, or null to all three")
        if self.weights is None and None not in given:
            raise ValueError("mix: give at least one domain a weight above 0")
        return self


class RoundsConfig(Config):
    """Which rounds' new tasks are taken; round 0 is the seeds themselves."""

    first: Count
    last: Count | None


class StudentConfig(Config):
    """The model that will learn from the data: its tokenizer counts."""

    tokenizer: str | None
    """A folder or hub name (needs the extra `train`); null = tokens are not counted."""
    prompt_tokens: Positive | None
    """Longest prompt; needs a tokenizer."""
    total_tokens: Positive | None
    """Longest prompt and target together; needs a tokenizer."""
    overlength: Literal["error", "drop"]
    """Table 9: error."""

    @model_validator(mode="after")
    def _limits_need_a_tokenizer(self) -> "StudentConfig":
        if self.tokenizer is None and (self.prompt_tokens or self.total_tokens):
            raise ValueError("student: token limits need student.tokenizer=<folder or name>")
        return self


class ComparisonConfig(Config):
    """A released data set to export in the same form (`none` = our own runs)."""

    name: str
    path: str | None
    """A folder, file or hub name that the `datasets` library loads."""
    split: str | None
    config_name: str | None
    domain: Domain | None
    question: str | None
    """Column names of the data set."""
    solution: str | None
    answer: str | None
    license: str | None


class ExportConfig(Config):
    """One export."""

    format: FormatConfig
    mix: MixConfig
    comparison: ComparisonConfig
    verification: VerificationConfig
    student: StudentConfig
    rounds: RoundsConfig
    runs: str | list[str] | None
    """Run folders, or folders that hold run folders."""
    out: str
    size: Positive | None
    """Rows wanted; null = as many as the mix allows."""
    tokens: Positive | None
    """Instead of `size`: as many rows as hold this many tokens in all; needs a tokenizer."""
    validation: Share
    """Share of the families that is set apart for validation."""
    benchmarks: str | list[str] | None
    """Benchmark files that no row may overlap."""
    files: list[Files] = Field(min_length=1)
    seed: int
    fresh: bool
    """Replace an export that is already there (it is kept beside, renamed)."""

    @model_validator(mode="after")
    def _one_source_one_size(self) -> "ExportConfig":
        if (self.runs is None) == (self.comparison.name == "none"):
            raise ValueError("runs: give run folders, or comparison=<data set>, and not both")
        if self.size is not None and self.tokens is not None:
            raise ValueError("tokens: give size or tokens, not both")
        if self.tokens is not None and self.student.tokenizer is None:
            raise ValueError("tokens: needs student.tokenizer=<folder or name>")
        return self

"""What may be configured: types, ranges, units and meaning. No defaults: every value lives in conf/.

Strict and frozen: an unknown key, a wrong type or a value out of range is an error that names the key.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from coevolve.config_models import Config, Count, ModelConfig, ModelsConfig, Positive, SolverConfig, VllmConfig

Domain = Literal["math", "coding", "science"]
DecimalText = Annotated[str, BeforeValidator(lambda value: f"{value}"), Field(pattern=r"^\d+(\.\d+)?$")]
"""An exact decimal; a number from YAML or the command line is taken as it was written."""


class AblationConfig(Config):
    """The four arms are two switches (Section 4.3)."""

    name: Literal["task_only", "online", "post_task", "full"]
    online: bool
    post_task: bool


class CeilingConfig(Config):
    """Absolute ceilings; null = none. Checked before each call; a relative allowance never raises them (I11)."""

    calls: Positive | None
    tokens: Positive | None
    """Input and output together."""
    usd: float | None = Field(ge=0)
    seconds: float | None = Field(ge=0)
    """Seconds of model time, summed over calls."""


class BudgetConfig(Config):
    """Ceilings and cohort sizes (Appendix B)."""

    generation: CeilingConfig
    """Of one round's batch; reaching it ends the batch and Stage 3 begins."""
    evaluation: CeilingConfig
    """Of one round's in-loop test, updates, baseline and candidates; reaching it keeps the online snapshot."""
    chain: CeilingConfig
    """Of one chain in one round or probe; reaching it is a missing candidate."""
    total: CeilingConfig
    """Of the run; reaching it stops the run, saved (exit 3)."""
    gate_per_domain: Positive
    """Size of the gate cohort, per domain (paper: 50)."""
    candidates: Annotated[int, Field(ge=1, le=3)]
    """Candidate evaluations a round at most (paper: 3)."""
    attempts: Positive
    """Solver attempts a task (paper: 4)."""
    chain_concurrency: Positive
    """Chains worked on at once, the same in all arms (I15)."""


class GateConfig(Config):
    """Eq. 5's coefficients, fixed before search."""

    name: Literal["paper", "paired"]
    z: DecimalText | None
    """gate=paired: how many paired standard errors the gain in difficulty must exceed; null otherwise."""
    cost_slope: DecimalText
    """Cost-growth coefficient (paper: 1.5)."""
    cost_cap: DecimalText
    """Relative cap (paper: 1.5)."""
    cost_unit: Literal["usd", "tokens"]
    early_reject: bool
    """End a probe as soon as its validity can no longer reach the baseline's."""
    noise_floor: bool
    """Probe the baseline a second time after the search (A/A), with draws of its own; it decides nothing."""


class ConstraintsConfig(Config):
    """Gamma: what an edit may touch and the sizes it must stay under; never part of the harness."""

    edits: list[Literal["skill", "prompt", "workflow", "placement"]]
    edits_per_candidate: Positive
    skills: Positive
    """Most skills in a library."""
    skill_chars: Positive
    prompt_chars: Positive
    question_chars: Positive
    """Longest question a task may have."""
    answer_chars: Positive
    steps: Positive
    """Director steps of one chain in one round."""
    extends: Positive
    revises: Count
    verifies: Positive
    skills_per_extend: Positive
    skills_shown: Positive
    """Skills whose full text a Director or Extend prompt may hold."""


class ScreenConfig(Config):
    """The solver screen of candidate seeds: keep those answered right in every attempt."""

    enabled: bool
    attempts: Positive
    """Paper-like start near 100 %: 4 of 4."""


class SeedsConfig(Config):
    """Where the original seeds come from."""

    source: Literal["bundled", "file", "huggingface", "reasoning_gym", "curated"]
    path: str | None
    """file: JSONL, CSV or Parquet; huggingface: dataset folder or name; curated: folder of scripts/curate.py."""
    harness: Literal["shipped", "curated"]
    """H_0: the one that comes with the package, or the curated folder's."""
    split: str | None
    config_name: str | None
    columns: dict[str, str]
    """huggingface, CSV, Parquet: our field -> their column."""
    defaults: dict[str, Any]
    """Values for fields the file lacks (domain, source, license)."""
    per_domain: Positive
    """Chains in each domain."""
    question_chars: Positive
    """Longest question accepted from a source."""
    screen: ScreenConfig


class VerificationConfig(Config):
    """How answers are checked and programs run; outside every edit (I1)."""

    allow_unsafe: bool
    """Run programs without a working sandbox; every report then says so."""
    quorum: Count
    """Verify answers that must equal the reference when no stronger certificate exists."""
    certificates: list[Literal["program", "tests", "quorum", "derivation"]]
    """Kinds of certificate that make a produced task valid."""
    workers: Positive
    checker_seconds: float = Field(gt=0)
    checker_memory_mb: Positive
    case_seconds: float = Field(gt=0)
    suite_seconds: float = Field(gt=0)
    sandbox_memory_mb: Positive
    output_bytes: Positive
    sandbox_processes: Positive
    """Sandboxes running at once."""


class TrackingConfig(Config):
    """MLflow; off or broken changes nothing in a run."""

    enabled: bool
    uri: str
    """A folder for mlflow.db and artifacts, or an MLflow server's address."""
    experiment: str
    every_seconds: float = Field(gt=0)


class ReplayConfig(Config):
    """Replaying a recorded run (`models=replay`)."""

    path: str | None
    """The recorded run's folder (its config.yaml and journal/); null = models answer."""


class DomainConfig(Config):
    """Domains of the run, equally weighted."""

    name: str
    include: list[Domain] = Field(min_length=1)


class RunConfig(Config):
    """One run, whole."""

    rounds: Count
    seed: int
    name: str | None
    """Run folder name; null = <experiment>/<ablation>-<domain>-<solver>-<gate>-seed<k>."""
    experiment: str
    fresh: bool
    from_version: str | None
    """Path of an archive version to continue from (rollback)."""
    optimizer: Literal["rsi"]
    goal: str
    """g: what the meta-agent is asked for."""
    outputs: str
    live: bool
    domain: DomainConfig
    models: ModelsConfig
    solver: SolverConfig
    ablation: AblationConfig
    budget: BudgetConfig
    gate: GateConfig
    constraints: ConstraintsConfig
    seeds: SeedsConfig
    verification: VerificationConfig
    tracking: TrackingConfig
    vllm: VllmConfig
    replay: ReplayConfig

    @model_validator(mode="after")
    def _z_belongs_to_the_paired_gate(self) -> "RunConfig":
        if (self.gate.name == "paired") != (self.gate.z is not None):
            raise ValueError(
                f"gate.z={self.gate.z} under gate={self.gate.name}: the paired gate needs it, no other has it"
            )
        return self

    @model_validator(mode="after")
    def _usd_needs_prices(self) -> "RunConfig":
        roles = [self.models.director, self.models.extend, self.models.revise, *self.models.verify]
        roles += [self.models.meta_skill, self.models.meta_harness]
        if isinstance(self.models.attempt, ModelConfig):
            roles.append(self.models.attempt)
        priced = all(model.price.known for model in roles) and self.solver.price.known
        budget = self.budget
        caps = [c for c in ("generation", "evaluation", "chain", "total") if getattr(budget, c).usd is not None]
        if not priced and caps:
            raise ValueError(f"budget.{caps[0]}.usd needs every price known: give the missing prices or set it to null")
        if not priced and self.ablation.post_task and self.gate.cost_unit == "usd":
            raise ValueError("gate.cost_unit=usd needs every price known: give the prices or set gate.cost_unit=tokens")
        return self

"""Which models there are and how they are reached: the part of the configuration that endpoints share.

No defaults: every value lives in conf/.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Word = Annotated[str, BeforeValidator(lambda value: f"{value}" if type(value) in (int, float) else value)]
"""A text; a number is taken as it was written."""


class Config(BaseModel):
    """Base: strict, frozen, nothing unknown."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class PriceConfig(Config):
    """US dollars per million tokens; null = unknown, which refuses a USD gate or cap (I10)."""

    input: float | None = Field(ge=0)
    output: float | None = Field(ge=0)
    cached: float | None = Field(ge=0)
    """Cached input tokens; null = as `input`."""
    reasoning: float | None = Field(ge=0)
    """Reasoning tokens; null = as `output`."""
    nominal: bool
    """True where nobody is billed (local and procedural models): the price only weighs tokens."""

    @property
    def known(self) -> bool:
        """Whether a call can be priced."""
        return self.input is not None and self.output is not None


class FlowConfig(Config):
    """How fast a server may be asked."""

    concurrency: Positive
    """Most calls in flight; adaptive below it."""
    requests_per_minute: Positive | None
    tokens_per_minute: Positive | None
    timeout_seconds: float = Field(gt=0)
    """Of one try; it really ends the call."""
    retries: Count
    """Further tries after the first, in all."""


class ModelConfig(Config):
    """One model endpoint as one role uses it."""

    kind: Literal["procedural", "openai", "vllm", "embedded", "scripted"]
    name: str
    """Model name at the endpoint."""
    base_url: str | None
    key_env: str | None
    """Environment variable that holds the key; the key itself is never configured."""
    temperature: float = Field(ge=0, le=2)
    max_tokens: Positive
    thinking: bool | None
    """Ask for thinking on or off; null = leave the server's default."""
    schema_mode: Literal["json_schema", "json_object", "none"]
    """How a reply's schema is asked for."""
    price: PriceConfig
    flow: FlowConfig


class SolverSeat(Config):
    """The solver itself as the generating model's own attempt; model, sampling and price are those of `solver`."""

    kind: Literal["solver"]


class ModelsConfig(Config):
    """Which model plays which role (Appendix F.1); `base_url`, `model`, `key_env` and `price` set every role's own."""

    name: str
    base_url: str | None
    model: str | None
    key_env: str | None
    price: PriceConfig
    director: ModelConfig
    extend: ModelConfig
    revise: ModelConfig
    verify: list[ModelConfig] = Field(min_length=1)
    """The Verify ensemble."""
    attempt: Annotated[ModelConfig | SolverSeat, Field(discriminator="kind")]
    """The generating model's own attempt inside Verify."""
    meta_skill: ModelConfig
    meta_harness: ModelConfig


class SolverConfig(Config):
    """The fixed solver that measures difficulty; outside every edit (I1)."""

    name: str
    kind: Literal["embedded", "openai", "vllm", "scripted"]
    model: str
    path: str | None
    """A GGUF file for the embedded solver; null = the pinned weights of `model`."""
    base_url: str | None
    key_env: str | None
    temperature: float = Field(ge=0, le=2)
    max_tokens: Positive
    style: Literal["few_shot", "plain"]
    """few_shot: worked one-line examples, for small models; plain: one instruction."""
    slots: Positive
    """Replies drawn at once by the embedded solver."""
    threads: Count
    """CPU threads of the embedded solver; 0 = by the measured rule."""
    thinking: bool | None
    price: PriceConfig
    flow: FlowConfig


class VllmConfig(Config):
    """How vLLM servers are started; a role or solver with a base_url uses the server that runs there."""

    python: str | None
    """The interpreter that has vllm; null = this one."""
    device: Literal["gpu", "cpu"]
    tensor_parallel: Positive
    """GPUs of one server."""
    data_parallel: Positive
    """Servers of one model, each on GPUs of its own; calls go to the least busy."""
    gpu_memory: float = Field(gt=0, le=1)
    """Share of a GPU's memory that a server may take."""
    max_model_len: Positive | None
    """Most tokens of prompt and reply together; null = the model's own limit."""
    startup_seconds: float = Field(gt=0)
    arguments: list[Word]
    """Further arguments of the server, as on its command line."""

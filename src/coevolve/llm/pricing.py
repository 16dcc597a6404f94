"""What a call costs, in whole micro-dollars."""

import math
from fractions import Fraction

from coevolve.config import PriceConfig
from coevolve.llm.base import Usage


def microusd(price: PriceConfig, usage: Usage) -> int | None:
    """Micro-dollars of one call, rounded half up; None where the price is unknown.

    Dollars per million tokens are micro-dollars per token, so no scale factor appears.
    """
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    exact = (
        _exact(price.input) * (usage.tokens_in - usage.tokens_cached)
        + _exact(cached) * usage.tokens_cached
        + _exact(price.output) * (usage.tokens_out - usage.tokens_reasoning)
        + _exact(reasoning) * usage.tokens_reasoning
    )
    return math.floor(exact + Fraction(1, 2))


def most(price: PriceConfig, tokens_in: int, max_tokens: int) -> int | None:
    """The most a call of at most these sizes can cost, in micro-dollars; None where the price is unknown."""
    if price.input is None or price.output is None:
        return None
    dearest_in = max(price.input, price.cached or 0.0)
    dearest_out = max(price.output, price.reasoning or 0.0)
    return math.ceil(_exact(dearest_in) * tokens_in + _exact(dearest_out) * max_tokens)


def _exact(dollars: float) -> Fraction:
    return Fraction(str(dollars))

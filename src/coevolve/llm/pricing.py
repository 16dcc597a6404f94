"""What a call costs, in whole micro-dollars."""

from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from coevolve.config_models import PriceConfig
from coevolve.llm.base import Usage


class _Rates(NamedTuple):
    """Micro-dollars a token, as whole numbers over one denominator."""

    input: int
    cached: int
    output: int
    reasoning: int
    denominator: int


def microusd(price: PriceConfig, usage: Usage) -> int | None:
    """Micro-dollars of one call, rounded half up; None where the price is unknown.

    Dollars per million tokens are micro-dollars per token, so no scale factor appears.
    """
    rates = _rates(price)
    if rates is None:
        return None
    exact = (
        rates.input * (usage.tokens_in - usage.tokens_cached)
        + rates.cached * usage.tokens_cached
        + rates.output * (usage.tokens_out - usage.tokens_reasoning)
        + rates.reasoning * usage.tokens_reasoning
    )
    return (2 * exact + rates.denominator) // (2 * rates.denominator)


def most(price: PriceConfig, tokens_in: int, max_tokens: int) -> int | None:
    """The most a call of at most these sizes can cost, in micro-dollars; None where the price is unknown."""
    rates = _rates(price)
    if rates is None:
        return None
    exact = max(rates.input, rates.cached) * tokens_in + max(rates.output, rates.reasoning) * max_tokens
    return -(-exact // rates.denominator)


@lru_cache(maxsize=256)
def _rates(price: PriceConfig) -> _Rates | None:
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached is None else price.cached
    reasoning = price.output if price.reasoning is None else price.reasoning
    exact = [Fraction(str(dollars)) for dollars in (price.input, cached, price.output, reasoning)]
    denominator = lcm(*(rate.denominator for rate in exact))
    whole = [int(rate * denominator) for rate in exact]
    return _Rates(input=whole[0], cached=whole[1], output=whole[2], reasoning=whole[3], denominator=denominator)

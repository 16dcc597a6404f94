"""Money is exact: whole micro-dollars, rounded half up, null where a price is unknown."""

from decimal import ROUND_HALF_UP, Decimal

from hypothesis import given
from hypothesis import strategies as st

from coevolve.config_models import PriceConfig
from coevolve.llm.base import Usage
from coevolve.llm.pricing import microusd, most


def price(**changes) -> PriceConfig:
    plain = {"input": 1.0, "output": 2.0, "cached": None, "reasoning": None, "nominal": False}
    return PriceConfig.model_validate({**plain, **changes})


def test_a_million_tokens_cost_the_price_in_dollars():
    assert microusd(price(input=0.27, output=1.1), Usage(1_000_000, 1_000_000)) == 1_370_000


def test_half_a_micro_dollar_is_rounded_up():
    assert [microusd(price(input=0.1), Usage(n, 0)) for n in (4, 5, 14, 15)] == [0, 1, 1, 2]


def test_cached_and_reasoning_tokens_have_their_own_price_or_that_of_the_others():
    usage = Usage(100, 50, tokens_cached=40, tokens_reasoning=30)
    assert microusd(price(), usage) == 200
    assert microusd(price(cached=0.25, reasoning=4.0), usage) == 60 + 10 + 40 + 120


def test_an_unknown_price_is_null_never_zero():
    assert microusd(price(input=None), Usage(1, 1)) is None
    assert microusd(price(output=None), Usage(0, 0)) is None
    assert most(price(output=None), 1, 1) is None


dollars = st.decimals(0, 200, places=4).map(float)


@given(
    dollars, dollars, st.none() | dollars, st.none() | dollars, st.integers(0, 10**6), st.integers(0, 10**6), st.data()
)
def test_a_cost_is_the_exact_sum_and_never_above_what_was_reserved(low, high, cached, reasoning, t_in, t_out, data):
    usage = Usage(t_in, t_out, data.draw(st.integers(0, t_in)), data.draw(st.integers(0, t_out)))
    priced = price(input=low, output=high, cached=cached, reasoning=reasoning)
    rates = [Decimal(str(rate)) for rate in (low, low if cached is None else cached, high)]
    exact = rates[0] * (t_in - usage.tokens_cached) + rates[1] * usage.tokens_cached
    exact += rates[2] * (t_out - usage.tokens_reasoning)
    exact += (rates[2] if reasoning is None else Decimal(str(reasoning))) * usage.tokens_reasoning
    assert microusd(priced, usage) == int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    assert microusd(priced, usage) <= most(priced, t_in, t_out)

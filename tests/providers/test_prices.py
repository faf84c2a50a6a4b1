"""Prices: the quick sum equals the library, and what is not known is None."""

import socket

import pytest
from genai_prices import Usage as ListUsage
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.providers.names import providers
from evenhand.providers.prices import cost_usd, price_known
from evenhand.terms import Usage

LISTS = sorted({entry.prices for entry in providers().values() if entry.prices})


def test_a_price_worked_by_hand() -> None:
    # gpt-4o-mini: 0.15 $ per million input tokens, 0.075 cached, 0.60 output
    usage = Usage(input_tokens=1000, cached_tokens=600, output_tokens=100, reasoning_tokens=40)
    assert cost_usd("openai", "gpt-4o-mini", usage) == pytest.approx((400 * 0.15 + 600 * 0.075 + 100 * 0.6) / 1e6)


@pytest.mark.parametrize(
    "usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5), Usage(cached_tokens=1, reasoning_tokens=1)]
)
def test_without_the_tokens_there_is_no_price(usage) -> None:
    assert cost_usd("openai", "gpt-4o-mini", usage) is None


@pytest.mark.parametrize(
    ("price_list", "model"), [("openai", "judge-1"), ("nobody", "gpt-4o-mini"), (None, "gpt-4o-mini")]
)
def test_an_unknown_price_is_none_and_never_zero(price_list, model) -> None:
    assert cost_usd(price_list, model, Usage(input_tokens=1, output_tokens=1)) is None
    assert not price_known(price_list, model)


def test_cached_tokens_unknown_cost_as_if_none_were() -> None:
    one = cost_usd("openai", "gpt-4o-mini", Usage(input_tokens=1000, output_tokens=10))
    assert one == cost_usd("openai", "gpt-4o-mini", Usage(input_tokens=1000, cached_tokens=0, output_tokens=10))


def test_more_cached_tokens_than_input_do_not_make_a_price_negative() -> None:
    assert cost_usd("openai", "gpt-4o-mini", Usage(input_tokens=10, cached_tokens=99, output_tokens=0)) > 0


def library(price_list: str, model: str, inputs: int, cached: int, outputs: int, reasoning: int) -> float | None:
    """The price by the library; None for what it does not find under this name, or lists without token prices."""
    usage = ListUsage(
        input_tokens=inputs, cache_read_tokens=cached, output_tokens=outputs, output_reasoning_tokens=reasoning
    )
    try:
        found = calc_price(usage, model, provider_id=price_list)
    except LookupError:
        return None
    listed = found.model_price.input_mtok is not None and found.model_price.output_mtok is not None
    return float(found.total_price) if listed else None


@pytest.mark.parametrize("price_list", LISTS)
@settings(max_examples=3, deadline=None)
@given(st.tuples(*[st.integers(0, 400_000)] * 4))
def test_every_listed_model_costs_what_the_library_says(price_list, numbers) -> None:
    inputs, cached, outputs, reasoning = numbers
    cached, reasoning = min(cached, inputs), min(reasoning, outputs)
    usage = Usage(input_tokens=inputs, cached_tokens=cached, output_tokens=outputs, reasoning_tokens=reasoning)
    listed = next(entry for entry in get_snapshot().providers if entry.id == price_list)
    for model in listed.models[:: max(1, len(listed.models) // 12)]:
        ours = cost_usd(price_list, model.id, usage)
        theirs = library(price_list, model.id, inputs, cached, outputs, reasoning)
        assert (ours is None) == (theirs is None)
        assert ours is None or ours == pytest.approx(theirs, rel=1e-9, abs=1e-15)


def test_tiers_are_left_to_the_library() -> None:
    small, large = Usage(input_tokens=100_000, output_tokens=0), Usage(input_tokens=300_000, output_tokens=0)
    assert cost_usd("google", "gemini-2.5-pro", large) > 3 * cost_usd("google", "gemini-2.5-pro", small)


def test_the_list_is_read_without_the_network(monkeypatch) -> None:
    def refuse(*args, **kwargs):
        raise AssertionError("the price list asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert price_known("anthropic", "claude-sonnet-4-5")

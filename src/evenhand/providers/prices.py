"""What a reply costs, from the price list that ships with genai-prices; nothing is fetched.

A price that is not known is None, never 0. Prices belong to a vendor's own address: a model behind another base URL, on
this machine, or scripted has none, whatever its name.
The library's own calculation takes about 0.3 ms; prices that are a plain sum over tokens, which most are, are probed
once a model and then cost a microsecond. Tiers and hours of the day are left to the library.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from evenhand.terms import Usage

__all__ = ["cost_usd", "price_known"]

_Cost = Callable[[int, int, int, int], float]
_PROBE = 10**6


def cost_usd(price_list: str | None, model: str, usage: Usage) -> float | None:
    """The price of one reply, or of several added up if the model has no tiers, in US dollars.

    Args:
        price_list: the provider's name in the price list, `Target.price_list`; None where no listed price holds.
        model: the model's name without its provider.
        usage: tokens; cached ones are part of the input, reasoning ones part of the output.
    Returns:
        None if the price is not known, or if the endpoint did not say how many tokens there were.
    """
    if price_list is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cost = _cost_of(price_list, model)
    if cost is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    reasoning = min(usage.reasoning_tokens or 0, usage.output_tokens)
    return cost(usage.input_tokens, cached, usage.output_tokens, reasoning)


def price_known(price_list: str | None, model: str) -> bool:
    """Whether replies of a model have a price."""
    return price_list is not None and _cost_of(price_list, model) is not None


@cache
def _cost_of(price_list: str, model: str) -> _Cost | None:
    """The price of (input, cached, output, reasoning) tokens at a model."""
    exact = _library_cost(price_list, model)
    if exact is None:
        return None
    fixed = exact(0, 0, 0, 0)
    per_input = (exact(_PROBE, 0, 0, 0) - fixed) / _PROBE
    per_cached = (exact(_PROBE, _PROBE, 0, 0) - fixed) / _PROBE
    per_output = (exact(0, 0, _PROBE, 0) - fixed) / _PROBE
    per_reasoning = (exact(0, 0, _PROBE, _PROBE) - fixed) / _PROBE
    if not _is_plain(price_list, model):
        return exact

    def plain(inputs: int, cached: int, outputs: int, reasoning: int) -> float:
        return (
            fixed
            + (inputs - cached) * per_input
            + cached * per_cached
            + (outputs - reasoning) * per_output
            + reasoning * per_reasoning
        )

    return plain


def _library_cost(price_list: str, model: str) -> _Cost | None:
    """The library's own calculation, or None where it knows no price for these tokens."""
    from genai_prices import Usage as ListUsage
    from genai_prices import calc_price

    def exact(inputs: int, cached: int, outputs: int, reasoning: int) -> float:
        usage = ListUsage(
            input_tokens=inputs,
            cache_read_tokens=cached,
            output_tokens=outputs,
            output_reasoning_tokens=reasoning,
        )
        return float(calc_price(usage, model, provider_id=price_list).total_price)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exact(0, 0, 0, 0)
            found = _prices(price_list, model)
        except (LookupError, ValueError):
            return None
    # A model listed without token prices (images, audio) has no price for a judgement.
    return exact if all(price.input_mtok is not None and price.output_mtok is not None for price in found) else None


def _prices(price_list: str, model: str) -> list[Any]:
    """All price sets of a model, whatever the date."""
    from genai_prices.data_snapshot import get_snapshot

    _, entry = get_snapshot().find_provider_model(model, None, price_list, None)
    return [part.prices for part in entry.prices] if isinstance(entry.prices, list) else [entry.prices]


def _is_plain(price_list: str, model: str) -> bool:
    """Whether a model has one price set, without tiers: then its price is a sum over tokens."""
    from genai_prices.types import TieredPrices

    found = _prices(price_list, model)
    return len(found) == 1 and not any(isinstance(price, TieredPrices) for price in vars(found[0]).values())

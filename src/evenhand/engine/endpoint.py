"""One endpoint as the engine sees it: who answers, how it is asked, how much at once, and what it costs."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from evenhand.engine.limits import ConcurrencyLimit, RateLimit
from evenhand.engine.request import Requester
from evenhand.errors import ProviderError, UnsupportedParameter
from evenhand.providers.base import Provider
from evenhand.terms import Profile, ReplyMode, Usage

__all__ = ["Endpoint", "narrowed"]

_LADDER: tuple[ReplyMode, ...] = ("schema", "tool", "json", "text")


class Endpoint:
    """A provider with its limits and what was found out about it.

    Args:
        provider: who answers.
        model: `provider/model`.
        price: dollars of a reply's usage, None where the price is unknown.
        max_concurrency: calls in flight at most; a provider with an opinion of its own (slots) may lower it.
        requests_per_minute: None is no limit.
        tokens_per_minute: None is no limit.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        price: Callable[[Usage], float | None],
        max_concurrency: int = 64,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = provider
        self.model = model
        self.identity = provider.identity
        self.price = price
        self.profile: Profile | None = None
        self.settling = asyncio.Lock()
        self.requester = Requester(provider.identity)
        self.limit = ConcurrencyLimit(min(max_concurrency, provider.max_concurrency or max_concurrency), clock)
        self.requests = RateLimit(requests_per_minute, clock)
        self.tokens = RateLimit(tokens_per_minute, clock)


def narrowed(profile: Profile, rejected: UnsupportedParameter) -> Profile:
    """The next way of asking after one was rejected.

    Raises:
        ProviderError: there is no other way: the endpoint rejects what it was not asked for, or what is needed.
    """
    parameter = rejected.parameter
    if parameter == profile.mode and parameter != "text":
        return replace(profile, mode=_LADDER[_LADDER.index(profile.mode) + 1])
    if parameter == "max_tokens" and profile.max_tokens_field == "max_tokens":
        return replace(profile, max_tokens_field="max_completion_tokens")
    if parameter == "logprobs":
        raise ProviderError(
            f"{rejected.provider} does not take logprobs and so returns no log probabilities; use `read: json`, or a "
            f"model that returns them: {rejected}",
            provider=rejected.provider,
            status=rejected.status,
            code="unsupported",
        ) from rejected
    if parameter in ("temperature", "seed") and parameter not in profile.omit:
        return replace(profile, omit=tuple(sorted((*profile.omit, parameter))))
    raise ProviderError(
        f"{rejected.provider} does not take {parameter} and there is no other way to ask: {rejected}",
        provider=rejected.provider,
        status=rejected.status,
        code="bad_request",
    ) from rejected

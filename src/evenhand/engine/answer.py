"""From a call to its reply: from the store, from an equal call in flight, or from the provider within its limits.

A reply is durable before anyone sees it. A network slot is free as soon as its reply has arrived; only the item waits
for the commit.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evenhand.engine.budget import Budget, Reservation
from evenhand.engine.cache import ReplyCache
from evenhand.engine.endpoint import Endpoint, narrowed
from evenhand.engine.retry import RetryPolicy
from evenhand.errors import EvenhandError, ProviderError, UnsupportedParameter
from evenhand.keys import tagged
from evenhand.terms import Call, Profile, Reply, Usage

__all__ = ["Answers", "Stopped", "Tally"]


# For rates, which an answer corrects at once; dense text has about two bytes a token, English four.
_BYTES_A_TOKEN = 2


class Stopped(EvenhandError):
    """The run is stopping: this item is left for the next run."""


@dataclass(slots=True)
class Tally:
    """What a run has done so far, for progress and accounting; never part of a record.

    Args:
        asked: attempts sent to providers.
        stored: calls answered from the store.
        shared: calls answered by an equal call in flight.
        faults: failed attempts by code.
        fresh: keys of this run's own replies, so that `--retry-failed` tells them from those of earlier runs.
    """

    asked: int = 0
    stored: int = 0
    shared: int = 0
    replies: int = 0
    in_flight: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    fresh: set[str] = field(default_factory=set)

    def reply(self, usage: Usage, cost_usd: float | None) -> None:
        """Count a fresh reply."""
        self.replies += 1
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        if cost_usd is None:
            self.unpriced += 1
        else:
            self.cost_usd += cost_usd


class Answers:
    """Answers calls.

    Args:
        endpoints: by `provider/model`.
        cache: what remembers replies.
        policy: how patient to be.
        budget: what may be spent.
        rng: spreads retries.
        keep_fresh: remember which replies this run asked itself; only `--retry-failed` needs it.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        cache: ReplyCache,
        *,
        policy: RetryPolicy | None = None,
        budget: Budget | None = None,
        rng: random.Random | None = None,
        keep_fresh: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoints = endpoints
        self.cache = cache
        self.tally = Tally()
        self.budget = budget or Budget()
        self._policy = policy or RetryPolicy()
        self._rng = rng or random.Random()  # noqa: S311  # spreads retries, guards nothing
        self._keep_fresh = keep_fresh
        self._clock = clock
        self._flying: dict[bytes, asyncio.Future[Reply]] = {}
        self._stopping = asyncio.Event()
        self._asking: set[asyncio.Timeout] = set()

    def stop(self) -> None:
        """Send nothing more; what is in flight arrives and is kept."""
        self._stopping.set()

    def cut_off(self) -> None:
        """Stop, and wait no longer for what is in flight: its items are left for the next run."""
        self.stop()
        now = asyncio.get_running_loop().time()
        while self._asking:
            self._asking.pop().reschedule(now)

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping.is_set()

    def key(self, call: Call) -> bytes | None:
        """The key under which a call would be answered now, or None while nobody knows how its model is asked."""
        endpoint = self.endpoints[call.model]
        profile = endpoint.profile or self.cache.profile(endpoint.identity, endpoint.model)
        return None if profile is None else endpoint.requester.request(call, profile)[1]

    async def answer(self, call: Call) -> Reply:
        """The reply to a call.

        Raises:
            ProviderError: the endpoint could not be brought to answer.
            BudgetSpent: the call's worst case no longer fits.
            StoreError: the reply could not be kept.
            Stopped: the run is stopping and the reply is not in the store.
        """
        endpoint = self.endpoints[call.model]
        if endpoint.profile is None:
            reply = await self._settle(endpoint, call)
            if reply is not None:
                return reply
        while True:
            profile = endpoint.profile
            assert profile is not None
            try:
                return await self._answer(endpoint, call, profile)
            except UnsupportedParameter as rejected:
                if endpoint.profile is profile:
                    endpoint.profile = narrowed(profile, rejected)
                    await self.cache.keep_profile(endpoint.identity, endpoint.model, endpoint.profile)

    async def _settle(self, endpoint: Endpoint, call: Call) -> Reply | None:
        """Find how a model is asked by asking it this call; None where another call found it meanwhile."""
        async with endpoint.settling:
            if endpoint.profile is None:
                endpoint.profile = self.cache.profile(endpoint.identity, endpoint.model)
            if endpoint.profile is not None:
                return None
            profile = Profile()
            while True:
                try:
                    reply = await self._answer(endpoint, call, profile)
                except UnsupportedParameter as rejected:
                    profile = narrowed(profile, rejected)
                    continue
                await self.cache.keep_profile(endpoint.identity, endpoint.model, profile)
                endpoint.profile = profile
                return reply

    async def _answer(self, endpoint: Endpoint, call: Call, profile: Profile) -> Reply:
        """From the store, from an equal call in flight, or from the provider."""
        request, key = endpoint.requester.request(call, profile)
        stored = self.cache.get(key)
        if stored is not None:
            self.tally.stored += 1
            return stored
        flying = self._flying.get(key)
        if flying is not None:
            self.tally.shared += 1
            return await asyncio.shield(flying)
        flying = self._flying[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._fetch(endpoint, call, profile, request, key)
        except BaseException as error:
            if isinstance(error, Exception):
                flying.set_exception(error)
                flying.exception()  # read here, so that nobody is warned where no equal call waits
            else:
                flying.cancel()
            raise
        else:
            flying.set_result(reply)
            return reply
        finally:
            del self._flying[key]

    async def _fetch(self, endpoint: Endpoint, call: Call, profile: Profile, request: bytes, key: bytes) -> Reply:
        """Ask until there is an answer or no patience left, and make the answer durable."""
        spent = _Spent()
        attempts = 0
        while True:
            attempts += 1
            try:
                reply, latency_s = await self._attempt(endpoint, call, profile, request, spent)
                break
            except ProviderError as error:
                error.call_key = tagged(key)
                self.tally.faults[error.code] += 1
                self.cache.fault(
                    key=key, endpoint=endpoint.identity, model=call.model, code=error.code, status=error.status
                )
                if error.code == "rate_limit":
                    endpoint.limit.refused()
                wait = self._policy.wait_s(error, attempts, spent.seconds, self._rng.random())
                if wait is None:
                    raise
            await self._wait(wait)
            spent.seconds += wait
        cost_usd = endpoint.price(reply.usage)
        self.tally.reply(reply.usage, cost_usd)
        if call.logprobs is not None:
            _require_logprobs(reply, endpoint)
        reply = reply.keyed(tagged(key))
        if self._keep_fresh:
            self.tally.fresh.add(reply.key)
        return await self.cache.put(
            key=key,
            endpoint=endpoint.identity,
            model=call.model,
            request=request,
            reply=reply,
            latency_ms=latency_s * 1000.0,
            attempts=attempts,
            cost_usd=cost_usd,
        )

    async def _attempt(
        self, endpoint: Endpoint, call: Call, profile: Profile, request: bytes, spent: "_Spent"
    ) -> tuple[Reply, float]:
        """One attempt, within concurrency, rates and budget; the reply and its latency in seconds."""
        metered = not self.budget.unlimited or endpoint.tokens.per_minute is not None
        worst = _worst(endpoint, call, request) if metered else None
        taken = len(request) // _BYTES_A_TOKEN + call.max_tokens
        if worst is not None:
            await endpoint.tokens.take(taken, self._stopping.is_set)
            await self.budget.reserve(worst)
        usage: Usage | None = None
        free = True
        try:
            await endpoint.requests.take(1, self._stopping.is_set)
            await endpoint.limit.acquire()
            self.tally.in_flight += 1
            sent = self._clock()
            try:
                if self.stopping:
                    raise Stopped("the run is stopping")
                self.tally.asked += 1
                free = False
                left_s = max(self._policy.call_deadline_s - spent.seconds, 0.001)
                timeout_s = min(self._policy.attempt_timeout_s, left_s)
                reply = await self._ask(endpoint, call, profile, timeout_s)
            except ProviderError as error:
                free = error.status is not None  # a refusal costs nothing; silence may have been paid for
                raise
            finally:
                spent.seconds += self._clock() - sent
                self.tally.in_flight -= 1
                endpoint.limit.release()
            endpoint.limit.answered()
            usage = reply.usage
            return reply, self._clock() - sent
        finally:
            if worst is not None:
                await self._account(endpoint, worst, taken, usage, free=free)

    async def _ask(self, endpoint: Endpoint, call: Call, profile: Profile, timeout_s: float) -> Reply:
        """The provider's answer, unless the run is cut off meanwhile."""
        try:
            async with asyncio.timeout(None) as asking:
                self._asking.add(asking)
                try:
                    return await endpoint.provider.ask(call, profile, timeout_s=timeout_s)
                finally:
                    self._asking.discard(asking)
        except TimeoutError:
            if not asking.expired():
                raise
            raise Stopped("the run is stopping") from None

    async def _account(
        self, endpoint: Endpoint, worst: Reservation, taken: int, usage: Usage | None, *, free: bool
    ) -> None:
        """Settle what an attempt reserved, of the budget and of the rate, with what it took."""
        if free:
            endpoint.tokens.correct(-taken)
            await self.budget.free(worst)
            return
        tokens = None
        if usage is not None and usage.input_tokens is not None and usage.output_tokens is not None:
            tokens = usage.input_tokens + usage.output_tokens
            endpoint.tokens.correct(tokens - taken)
        usd = None if usage is None else endpoint.price(usage)
        await self.budget.settle(worst, tokens=tokens, usd=usd)

    async def _wait(self, wait_s: float) -> None:
        """Sleep between attempts; a stop ends it."""
        try:
            async with asyncio.timeout(wait_s):
                await self._stopping.wait()
        except TimeoutError:
            return
        raise Stopped("the run is stopping")


def _require_logprobs(reply: Reply, endpoint: Endpoint) -> None:
    """Refuse an answer without the log probabilities it was asked for; it is not stored, as every other lacks them too.

    An answer without text has no token that could have one.

    Raises:
        ProviderError: with the code `unsupported`, which ends the run.
    """
    if not reply.logprobs and reply.text.strip() and not reply.refusal and reply.finish != "filter":
        raise ProviderError(
            f"{endpoint.model} returns no log probabilities; use `read: json`, or a model that returns them",
            provider=endpoint.provider.name,
            code="unsupported",
        )


@dataclass(slots=True)
class _Spent:
    """Seconds of a call's deadline that its attempts and the waits between them used up.

    Queueing for a slot or a rate is left out: behind a long queue, calls that were never sent would count as too slow.
    """

    seconds: float = 0.0


def _worst(endpoint: Endpoint, call: Call, request: bytes) -> Reservation:
    """The most a call can cost: its limit, and a token for each byte of the request.

    Some tokenizers take that much for digits and rare scripts; what chat templates add is less than the punctuation.
    """
    usage = Usage(input_tokens=len(request), cached_tokens=0, output_tokens=call.max_tokens)
    return Reservation(tokens=len(request) + call.max_tokens, usd=endpoint.price(usage))

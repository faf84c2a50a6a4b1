"""A cache in memory and a provider that answers from a function: the two seams of the engine."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from evenhand.engine.answer import Answers
from evenhand.engine.budget import Budget
from evenhand.engine.endpoint import Endpoint
from evenhand.engine.retry import RetryPolicy
from evenhand.terms import Call, Message, Profile, Reply, Usage

MODEL = "fake/judge"
QUICK = RetryPolicy(first_wait_s=0.001, largest_wait_s=0.002, call_deadline_s=5.0, attempt_timeout_s=2.0)


class MemoryCache:
    """What the engine asks of a store, in dictionaries."""

    def __init__(self) -> None:
        self.replies: dict[bytes, Reply] = {}
        self.puts: list[dict[str, object]] = []
        self.faults: list[str] = []
        self.profiles: dict[tuple[str, str], Profile] = {}
        self.first: dict[bytes, int] = {}
        self.durable = asyncio.Event()
        self.durable.set()

    def get(self, key: bytes) -> Reply | None:
        return self.replies.get(key)

    async def put(self, **row: object) -> Reply:
        await self.durable.wait()
        self.puts.append(row)
        return self.replies.setdefault(row["key"], row["reply"])  # type: ignore[arg-type]

    def fault(self, *, key: bytes, endpoint: str, model: str, code: str, status: int | None) -> None:
        self.faults.append(code)

    def profile(self, endpoint: str, model: str) -> Profile | None:
        return self.profiles.get((endpoint, model))

    async def keep_profile(self, endpoint: str, model: str, profile: Profile) -> None:
        self.profiles[endpoint, model] = profile

    def any_retried(self) -> bool:
        return bool(self.first)

    def first_attempt(self, key: bytes) -> int:
        return self.first.get(key, 0)

    async def retry_from(self, keys: Sequence[bytes], attempt: int) -> None:
        self.first.update(dict.fromkeys(keys, attempt))


class FunctionProvider:
    """Answers with what a function says: a Reply, a text, or an exception to raise."""

    name = "fake"
    identity = "fake:here"
    max_concurrency = None

    def __init__(self, answer: Callable[[Call, Profile], object], latency_s: float = 0.0) -> None:
        self.calls: list[tuple[Call, Profile]] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._answer = answer
        self._latency_s = latency_s

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        self.calls.append((call, profile))
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self._latency_s)
            answer = self._answer(call, profile)
        finally:
            self._in_flight -= 1
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(text=str(answer), usage=Usage(input_tokens=10, cached_tokens=0, output_tokens=5))

    async def close(self) -> None:
        return None


def a_call(text: str = "hello", **changes: object) -> Call:
    fields = {"model": MODEL, "messages": (Message(role="user", text=text),), "schema": {"type": "object"}}
    return Call(**(fields | changes))  # type: ignore[arg-type]


def answers_from(
    provider: FunctionProvider,
    cache: MemoryCache,
    *,
    budget: Budget | None = None,
    price: Callable[[Usage], float | None] = lambda usage: None,
    max_concurrency: int = 64,
    tokens_per_minute: int | None = None,
    keep_fresh: bool = False,
    policy: RetryPolicy = QUICK,
) -> Answers:
    endpoint = Endpoint(
        provider, MODEL, price=price, max_concurrency=max_concurrency, tokens_per_minute=tokens_per_minute
    )
    return Answers({MODEL: endpoint}, cache, policy=policy, budget=budget, keep_fresh=keep_fresh)


@pytest.fixture
def cache() -> MemoryCache:
    return MemoryCache()


@pytest.fixture
def kit() -> "type[Kit]":
    return Kit


class Kit:
    """The pieces above, for tests that cannot import a conftest."""

    Provider = FunctionProvider
    Cache = MemoryCache
    MODEL = MODEL
    QUICK = QUICK
    call = staticmethod(a_call)
    answers = staticmethod(answers_from)

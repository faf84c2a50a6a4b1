import asyncio
import json

import pytest

from evenhand.engine.endpoint import narrowed
from evenhand.engine.limits import ConcurrencyLimit, RateLimit
from evenhand.engine.plan import plan
from evenhand.engine.request import Requester, messages_of
from evenhand.engine.retry import RetryPolicy
from evenhand.engine.run import run_all
from evenhand.errors import InvalidInput, ProviderError, UnsupportedParameter
from evenhand.keys import canonical_json
from evenhand.terms import Item, Message, Profile


def fault(**fields):
    return ProviderError("no", provider="fake", **({"retryable": True} | fields))


def test_the_request_is_what_canonical_json_would_write(kit):
    call = kit.call("ümlaut “quoted”", temperature=0.0, schema={"b": 1, "a": [1.5, {"d": None, "c": True}]})
    request, _ = Requester("http://127.0.0.1/v1").request(call, Profile())
    assert request == canonical_json(json.loads(request))
    assert messages_of(request) == call.messages


def test_a_published_request_keeps_its_key(kit):
    """Raise REQUEST_VERSION if this must change: stored replies would be lost otherwise."""
    _, key = Requester("https://example.org/v1").request(kit.call("hello", temperature=0.7), Profile())
    assert key.hex() == "3c60e7d0dd4642ffbe259d9bfe50a9fb23353818949cb32050e908d27d86b128"


def test_endpoint_and_profile_are_part_of_the_key(kit):
    keys = {
        Requester(endpoint).request(kit.call(), profile)[1]
        for endpoint in ("a", "b")
        for profile in (Profile(), Profile(mode="json"), Profile(omit=("temperature",)))
    }
    assert len(keys) == 6


def test_two_schemas_never_share_a_key_even_when_one_is_freed_before_the_other_is_made(kit):
    requester, keys = Requester("a"), set()
    for n in range(50):
        keys.add(requester.request(kit.call(schema={"n": n}), Profile())[1])
    assert len(keys) == 50


def test_a_lone_surrogate_is_refused(kit):
    with pytest.raises(InvalidInput, match="surrogate"):
        Requester("a").request(kit.call("\ud800"), Profile())


def test_waits_double_up_to_the_largest():
    policy = RetryPolicy(first_wait_s=1.0, largest_wait_s=4.0)
    assert [policy.wait_s(fault(), n, 0.0, 0.5) for n in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 4.0]


def test_retry_after_is_honoured_until_the_deadline():
    policy = RetryPolicy(call_deadline_s=100.0)
    assert policy.wait_s(fault(retry_after_s=50.0), 1, 0.0, 0.0) == 50.0
    assert policy.wait_s(fault(retry_after_s=50.0), 1, 60.0, 0.0) is None


def test_a_fault_that_will_not_pass_is_not_retried():
    assert RetryPolicy().wait_s(fault(retryable=False), 1, 0.0, 0.0) is None


def test_an_endpoint_out_of_reach_is_given_up_sooner():
    policy = RetryPolicy(max_attempts=8, max_connect_attempts=2)
    assert policy.wait_s(fault(code="connect"), 2, 0.0, 0.0) is None
    assert policy.wait_s(fault(code="server"), 2, 0.0, 0.0) is not None


def test_the_ladder_ends_at_plain_text():
    profile, modes = Profile(), []
    while profile.mode != "text":
        profile = narrowed(profile, UnsupportedParameter("no", provider="fake", parameter=profile.mode))
        modes.append(profile.mode)
    assert modes == ["tool", "json", "text"]
    with pytest.raises(ProviderError, match="no other way"):
        narrowed(profile, UnsupportedParameter("no", provider="fake", parameter="schema"))


def test_a_limit_shrinks_once_a_second_and_grows_back():
    now = [0.0]
    limit = ConcurrencyLimit(64, lambda: now[0])
    for _ in range(10):
        limit.refused()
    assert limit.limit == 48.0
    now[0] = 1.5
    limit.refused()
    assert limit.limit == 36.0
    for _ in range(5000):
        limit.answered()
    assert limit.limit == 64.0


def test_a_cancelled_waiter_leaves_no_slot_behind():
    async def run():
        limit = ConcurrencyLimit(1, lambda: 0.0)
        await limit.acquire()
        waiter = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        limit.release()
        await asyncio.wait_for(limit.acquire(), 1.0)
        return limit.active

    assert asyncio.run(run()) == 1


def test_a_slot_granted_in_the_moment_of_cancellation_is_given_back():
    async def run():
        limit = ConcurrencyLimit(1, lambda: 0.0)
        await limit.acquire()
        waiter = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        limit.release()
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        return limit.active

    assert asyncio.run(run()) == 0


def test_a_rate_spends_its_bucket_then_waits():
    now, slept = [0.0], []

    async def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    async def run():
        rate = RateLimit(60, lambda: now[0])
        for _ in range(8):
            await rate.take(1)

    original = asyncio.sleep
    asyncio.sleep = sleep
    try:
        asyncio.run(run())
    finally:
        asyncio.sleep = original
    assert sum(slept) == pytest.approx(2.0)


def test_plan_keeps_the_order_of_items_members_and_reruns():
    items = [Item(id="a", candidate="x"), Item(id="b", candidate="y")]
    tasks = list(plan(items, ["m", "n"], 2))
    assert [(task.item.id, task.member, task.rerun) for task in tasks] == [
        ("a", "m", 0), ("a", "m", 1), ("a", "n", 0), ("a", "n", 1),
        ("b", "m", 0), ("b", "m", 1), ("b", "n", 0), ("b", "n", 1),
    ]  # fmt: skip
    assert [task.index for task in tasks] == list(range(8))


def test_a_run_draws_no_more_than_its_width_and_returns_the_first_error():
    drawn, stopped = [], []

    def tasks():
        for n in range(100):
            drawn.append(n)
            yield n

    async def work(n):
        await asyncio.sleep(0.001)
        if n == 3:
            raise ValueError("three")

    error = asyncio.run(run_all(tasks(), work, width=5, stop=lambda: stopped.append(1), stopping=lambda: bool(stopped)))
    assert isinstance(error, ValueError)
    assert len(drawn) <= 15


def test_messages_of_a_request_are_read_back(kit):
    call = kit.call(messages=(Message(role="system", text="s"), Message(role="user", text="u")))
    assert messages_of(Requester("a").request(call, Profile())[0]) == call.messages

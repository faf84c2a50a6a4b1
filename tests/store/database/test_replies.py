"""Replies by key: what goes in comes out, and whoever was first stays."""

import asyncio
import hashlib
import inspect
import math
import sqlite3
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engine.cache import ReplyCache
from evenhand.errors import StoreError
from evenhand.keys import tagged
from evenhand.store.database.packing import Unpacker, _Stored, compressor, reply_json
from evenhand.store.database.replies import Replies
from evenhand.store.database.sql import Store, open_store
from evenhand.terms import Profile, Reply, TokenChoice, Usage

KEY = hashlib.sha256(b"{}").digest()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "evenhand.db") as opened:
        yield opened


async def keep(store: Store, reply: Reply, *, key: bytes = KEY, request: bytes = b"{}", model: str = "m") -> Reply:
    return await store.replies.put(
        key=key,
        endpoint="http://localhost/v1",
        model=model,
        request=request,
        reply=reply,
        latency_ms=1.5,
        attempts=2,
        cost_usd=0.125,
    )


texts = st.text(st.characters(exclude_categories=["Cs"]))
counts = st.none() | st.integers(-(2**63), 2**63 - 1)
logprobs = st.floats(max_value=0, allow_nan=False)
any_reply = st.builds(
    Reply,
    text=texts,
    finish=st.sampled_from(["stop", "length", "filter", "other"]),
    refusal=st.none() | texts,
    reasoning=st.none() | texts,
    usage=st.builds(Usage, input_tokens=counts, cached_tokens=counts, output_tokens=counts, reasoning_tokens=counts),
    logprobs=st.lists(
        st.builds(
            TokenChoice,
            token=texts,
            logprob=logprobs,
            alternatives=st.lists(st.tuples(texts, logprobs)).map(tuple),
        )
    ).map(tuple),
    model=st.none() | texts,
)


@settings(deadline=None, max_examples=150)
@given(reply=any_reply)
def test_a_reply_comes_back_as_it_went_in(reply: Reply) -> None:
    frame = compressor().compress(reply_json(KEY, reply))
    assert Unpacker("here").reply(KEY, frame, reply.usage) == replace(reply, key=tagged(KEY))


def test_a_reply_comes_back_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    reply = Reply(
        text="“yes” 🙂\0\n",
        finish="length",
        refusal="",
        reasoning="because",
        usage=Usage(input_tokens=7, cached_tokens=0, output_tokens=2**40),
        logprobs=(TokenChoice(token="a", logprob=-0.1, alternatives=(("a", -0.1), ("b", -math.inf))),),
        model="judge-2026",
    )
    with open_store(path) as store:
        assert store.replies.get(KEY) is None
        assert asyncio.run(keep(store, reply)) is reply
        assert store.replies.get(KEY) == replace(reply, key=tagged(KEY))
    with open_store(path, create=False) as store:
        assert store.replies.get(KEY) == replace(reply, key=tagged(KEY))
        stored = store.replies.stored(KEY)
        assert stored is not None
        assert (stored.endpoint, stored.model, stored.request) == ("http://localhost/v1", "m", b"{}")
        assert (stored.latency_ms, stored.attempts, stored.cost_usd, stored.run) == (1.5, 2, 0.125, 1)
        assert stored.reply == replace(reply, key=tagged(KEY))
        assert store.replies.stored(bytes(32)) is None


def test_every_field_of_a_reply_is_kept() -> None:
    assert {field.name for field in fields(Reply)} - {"key", "usage"} == set(_Stored.__struct_fields__)


def test_the_store_has_what_the_engine_asks_for() -> None:
    asked = {name: member for name, member in vars(ReplyCache).items() if inspect.isfunction(member) and name[0] != "_"}
    assert len(asked) >= 7
    for name, member in asked.items():
        offered = getattr(Replies, name)
        assert inspect.signature(offered) == inspect.signature(member), name
        assert inspect.iscoroutinefunction(offered) == inspect.iscoroutinefunction(member), name


def test_what_reads_as_nothing_is_stored_as_nothing() -> None:
    assert reply_json(KEY, Reply(text="yes", usage=Usage(input_tokens=3), key="ignored")) == b'{"text":"yes"}'


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(text="\ud800"), "surrogate"),
        (Reply(text="", usage=Usage(output_tokens=2**63)), "tokens"),
        (Reply(text="", logprobs=(TokenChoice(token="a", logprob=math.nan),)), "log probability nan"),
        (Reply(text="", logprobs=(TokenChoice(token="a", logprob=0, alternatives=(("b", math.inf),)),)), "inf"),
    ],
)
def test_what_could_not_come_back_is_refused_and_harms_no_other(store: Store, reply: Reply, said: str) -> None:
    async def both() -> None:
        results = await asyncio.gather(
            keep(store, Reply(text="good")), keep(store, reply, key=bytes(32)), return_exceptions=True
        )
        assert results[0] == Reply(text="good")
        assert isinstance(results[1], StoreError)
        assert said in str(results[1])
        assert tagged(bytes(32)) in str(results[1])

    asyncio.run(both())
    assert store.replies.get(KEY) is not None
    assert store.replies.get(bytes(32)) is None


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), "a" * 32, None])
def test_what_is_no_key_is_refused_and_harms_no_other(store: Store, key: bytes) -> None:
    with pytest.raises(StoreError, match="32 bytes"):
        asyncio.run(keep(store, Reply(text=""), key=key))
    with pytest.raises(StoreError, match="32 bytes"):
        store.replies.fault(key=key, endpoint="e", model="m", code="server", status=None)
    with pytest.raises(StoreError, match="32 bytes"):
        asyncio.run(store.replies.retry_from([key], 1))
    asyncio.run(keep(store, Reply(text="good")))


def test_the_first_reply_under_a_key_stays_and_the_second_asker_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    first, second = Reply(text="first", usage=Usage(output_tokens=1)), Reply(text="second")
    with open_store(path) as one, open_store(path) as two:
        assert asyncio.run(keep(one, first)) is first
        assert asyncio.run(keep(two, second)) == replace(first, key=tagged(KEY))
        assert asyncio.run(keep(two, first)) is first
        assert one.replies.get(KEY) == two.replies.get(KEY) == replace(first, key=tagged(KEY))


def test_of_equal_keys_in_one_group_the_first_stays(store: Store) -> None:
    async def three() -> list[Reply]:
        return await asyncio.gather(
            keep(store, Reply(text="first")),
            keep(store, Reply(text="other"), key=bytes(32)),
            keep(store, Reply(text="second")),
        )

    assert [reply.text for reply in asyncio.run(three())] == ["first", "other", "first"]


def test_what_another_process_commits_is_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as one, open_store(path) as two:
        assert two.replies.get(KEY) is None
        assert two.replies.any_retried() is False
        asyncio.run(keep(one, Reply(text="yes")))
        found = two.replies.get(KEY)
        assert found is not None
        assert found.text == "yes"


def test_faults_are_counted_and_are_no_replies(store: Store) -> None:
    async def fail_twice() -> None:
        store.replies.fault(key=KEY, endpoint="e", model="m", code="rate_limit", status=429)
        store.replies.fault(key=KEY, endpoint="e", model="m", code="timeout", status=None)
        await store.replies.keep_profile("e", "m", Profile())  # durable after what was queued before it

    asyncio.run(fail_twice())
    assert store.runs()[0].faults == 2
    assert store.replies.get(KEY) is None


def test_faults_need_no_event_loop_and_survive_close(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        for _ in range(700):
            store.replies.fault(key=KEY, endpoint="e", model="m", code="server", status=500)
    with open_store(path) as store:
        assert store.runs()[0].faults == 700


def test_the_last_profile_of_an_endpoint_and_model_stands(store: Store) -> None:
    profile = Profile(mode="tool", omit=("temperature", "seed"), max_tokens_field="max_completion_tokens")

    async def keep_some() -> None:
        await store.replies.keep_profile("e", "m", Profile(mode="json"))
        await store.replies.keep_profile("e", "n", Profile(mode="text"))
        await store.replies.keep_profile("e", "m", profile)

    assert store.replies.profile("e", "m") is None
    asyncio.run(keep_some())
    assert store.replies.profile("e", "m") == profile
    assert store.replies.profile("e", "n") == Profile(mode="text")
    assert store.replies.profile("f", "m") is None
    asyncio.run(keep(store, Reply(text=""), model="o"))  # an endpoint without a profile
    assert store.replies.profile("http://localhost/v1", "o") is None


def test_first_attempts_only_grow(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    other = bytes(32)

    async def give_up(store: Store) -> None:
        await store.replies.retry_from([], 1)
        assert not store.replies.any_retried()
        await store.replies.retry_from([KEY], 2)
        await store.replies.retry_from([KEY, other], 1)

    with open_store(path) as store:
        assert store.replies.first_attempt(KEY) == 0
        assert not store.replies.any_retried()
        asyncio.run(give_up(store))
        assert (store.replies.first_attempt(KEY), store.replies.first_attempt(other)) == (2, 1)
    with open_store(path) as store:
        assert store.replies.any_retried()
        assert (store.replies.first_attempt(KEY), store.replies.first_attempt(other)) == (2, 1)
        assert store.replies.first_attempt(b"n" * 32) == 0


def test_an_endpoints_name_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"

    async def many(store: Store) -> None:
        await asyncio.gather(*(keep(store, Reply(text="yes"), key=n.to_bytes(32, "big")) for n in range(300)))

    with open_store(path) as store:
        asyncio.run(many(store))
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT count(*) FROM endpoints").fetchone() == (1,)
    assert raw.execute("SELECT count(DISTINCT endpoint_id) FROM replies").fetchone() == (1,)
    raw.close()

"""Items and judges by the hash of their canonical JSON."""

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from evenhand.errors import InvalidInput, StoreError
from evenhand.keys import canonical_json, content_key
from evenhand.store.database import texts
from evenhand.store.database.sql import Store, Verified, open_store
from evenhand.terms import Profile

ITEM = {"candidate": "An answer “with” 🙂.", "task": "A question?"}
DOCUMENT, KEY = canonical_json(ITEM), content_key(ITEM)


def never() -> NoReturn:
    raise AssertionError("this text is kept already")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "evenhand.db") as opened:
        yield opened


async def durable(store: Store) -> None:
    """Whatever was queued before this is committed after it."""
    await store.replies.keep_profile("e", "m", Profile())


def test_an_item_comes_back_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        assert store.items.get(KEY) is None
        store.items.keep(KEY, DOCUMENT)
        asyncio.run(durable(store))
        assert store.items.get(KEY) == DOCUMENT
        assert store.items.get(KEY.removeprefix("sha256:")) == DOCUMENT
        assert store.judges.get(KEY) is None
        store.judges.keep(KEY, lambda: DOCUMENT)
    with open_store(path, create=False) as store:
        assert store.items.get(KEY) == store.judges.get(KEY) == DOCUMENT
        assert store.verify() == Verified(replies=0, items=1, judges=1)


def test_a_text_that_a_neighbour_kept_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store, open_store(path) as neighbour:
        other = {"candidate": "Another answer."}
        store.items.keep(content_key(other), canonical_json(other))  # the store was empty, so nothing is looked up
        neighbour.items.keep(KEY, DOCUMENT)
        asyncio.run(durable(neighbour))
        store.items.keep(KEY, DOCUMENT)
        asyncio.run(durable(store))
        assert store.verify() == Verified(replies=0, items=2, judges=0)


def test_a_text_is_neither_made_nor_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        store.items.keep(KEY, DOCUMENT)
        store.items.keep(KEY, never)
    with open_store(path) as store:
        before = threading.active_count()
        store.items.keep(KEY, never)
        assert threading.active_count() == before  # nothing to write, so the writing thread was not started


def test_what_two_processes_keep_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as one, open_store(path) as two:
        one.items.keep(KEY, DOCUMENT)
        two.items.keep(KEY, DOCUMENT)
    with open_store(path) as store:
        assert store.verify().items == 1


def test_more_texts_than_are_remembered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_RECENT", 10)
    documents = [canonical_json({"candidate": f"answer {n}"}) for n in range(700)]
    for _ in range(2):
        for document in documents:
            store.items.keep(hashlib.sha256(document).hexdigest(), document)
    asyncio.run(durable(store))
    assert store.verify().items == 700


def test_a_text_that_its_hash_does_not_name_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="is not the hash of this item"):
        store.items.keep(KEY, b"{}")
    store.items.keep(KEY, DOCUMENT)


@pytest.mark.parametrize("key", ["", "md5:00", "sha256:12"])
def test_what_is_no_content_key_is_refused(store: Store, key: str) -> None:
    with pytest.raises(InvalidInput):
        store.items.keep(key, DOCUMENT)
    with pytest.raises(InvalidInput):
        store.items.get(key)


@pytest.mark.parametrize("frame", [b"", b"no frame", None])
def test_a_damaged_text_is_reported_with_its_key(tmp_path: Path, frame: bytes | None) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        store.items.keep(KEY, DOCUMENT)
        store.items.keep(content_key({}), b"{}")
    raw = sqlite3.connect(path)
    if frame is None:  # a sound frame of another text
        raw.execute("UPDATE items SET document = (SELECT document FROM items ORDER BY length(document) LIMIT 1)")
    else:
        raw.execute("UPDATE items SET document = ? WHERE hash = ?", (frame, bytes.fromhex(KEY[7:])))
    raw.commit()
    raw.close()
    with open_store(path) as store:
        for read in (lambda: store.items.get(KEY), store.verify):
            with pytest.raises(StoreError, match=f"the item {KEY} is damaged"):
                read()


def test_a_large_text_is_kept(store: Store) -> None:
    document = canonical_json({"candidate": "word " * 1_000_000})
    key = f"sha256:{hashlib.sha256(document).hexdigest()}"
    store.items.keep(key, document)
    asyncio.run(durable(store))
    assert store.items.get(key) == document

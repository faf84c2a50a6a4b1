"""What records only name, found: items, judges and raw replies, from the store or from the items file."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.identity import item_content, item_hash
from evenhand.keys import bare
from evenhand.store.database.sql import Store
from evenhand.store.judge_files import judge_from_rubric
from evenhand.terms import Item, JudgeSpec

__all__ = ["Library"]


class Library:
    """Texts by content hash.

    Args:
        store: what the records were judged with; None where there is none.
        items: a file's items, looked at before the store.
    """

    def __init__(self, store: Store | None, items: Iterable[Item] | None = None) -> None:
        self._store = store
        self._items = items
        self._found: dict[str, Mapping[str, Any]] = {}
        self._ids: set[str] = set()
        self._judges: dict[str, JudgeSpec | None] = {}

    def gather(self, hashes: set[str]) -> None:
        """Take from the items file what will be shown; the file is read once."""
        for item in self._items or ():
            self._ids.add(item.id)
            key = item_hash(item)
            if key in hashes:
                self._found[key] = item_content(item)

    def item(self, key: str, name: str) -> tuple[Mapping[str, Any] | None, str]:
        """An item's texts, and where they could not be had, why.

        Args:
            key: the item's hash, as its record has it.
            name: the item's id.
        """
        if key in self._found:
            return self._found[key], ""
        document = self._document("items", key)
        if document is not None:
            return document, ""
        if name in self._ids:
            return None, "the items file has another text under this id than the one that was judged"
        if self._store is None:
            return None, "the text is not available: there is no store; name it with --store, or the items with --items"
        return None, "the text is not available: it is not in this store; name the items file with --items"

    def judge(self, key: str) -> JudgeSpec | None:
        """The judge behind a hash; None where the store does not have it."""
        if key not in self._judges:
            document = self._document("judges", key)
            try:
                self._judges[key] = None if document is None else judge_from_rubric(document)
            except InvalidInput:  # of a version that asked otherwise: the page does without its questions
                self._judges[key] = None
        return self._judges[key]

    def raw(self, key: str) -> str | None:
        """The text of a stored reply."""
        if self._store is None:
            return None
        try:
            stored = self._store.replies.stored(bare(key))
        except InvalidInput:
            return None
        return None if stored is None else stored.reply.text

    def _document(self, kind: str, key: str) -> dict[str, Any] | None:
        if self._store is None:
            return None
        try:
            text = getattr(self._store, kind).get(key)
        except InvalidInput:  # the record names no content key
            return None
        return None if text is None else dict(msgspec.json.decode(text))

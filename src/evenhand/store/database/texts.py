"""Items and judges by the hash of their canonical JSON, so that what a record rests on can be shown later.

Keeping is not awaited: what is kept before a reply is durable before that reply is, since the writer keeps the order.
Whoever reads gets bytes whose SHA-256 was compared with their hash.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal

from sqlalchemy import Table, select

from evenhand.errors import StoreError
from evenhand.keys import bare, tagged
from evenhand.store.database.packing import Unpacker
from evenhand.store.database.reader import Reader
from evenhand.store.database.tables import INSERT_ITEM, INSERT_JUDGE, SELECT_ITEM, SELECT_JUDGE, items, judges
from evenhand.store.database.writer import Apply, Transaction, Writer

__all__ = ["Texts"]

_RECENT = 8192
"""How many hashes are remembered as kept: an item comes back for each member and rerun, soon after the first time."""


class Texts:
    """One kind of text in one opened store; one thread at a time.

    Args:
        reader: the connection that reads.
        writer: the process's one writer.
        what: `item` or `judge`.
    """

    def __init__(self, reader: Reader, writer: Writer, what: Literal["item", "judge"]) -> None:
        self._reader = reader
        self._writer = writer
        self._unpacker = Unpacker(reader.where)
        self.what = what
        self._table, self._select, self._apply = _KINDS[what]
        self._recent: set[bytes] = set()
        self._began_empty: bool | None = None

    def keep(self, key: str, document: bytes | Callable[[], bytes]) -> None:
        """Keep a text unless it is kept; durable with the next group, and before any reply kept after it.

        Args:
            key: content key of the document.
            document: canonical JSON, or what makes it, called only if it is not kept yet.
        Raises:
            InvalidInput: the key is none.
            StoreError: the document is not what the key names, or nothing can be kept any more.
        """
        digest = bare(key)
        if digest in self._recent:
            return
        if self._all_new() or self._reader.look_up(self._select, digest) is None:
            text = document if isinstance(document, bytes) else document()
            if hashlib.sha256(text).digest() != digest:
                raise StoreError(f"keep: {key} is not the hash of this {self.what}; pass the canonical JSON it names")
            self._writer.submit(self._apply, (digest, text))
        if len(self._recent) >= _RECENT:
            self._recent.clear()
        self._recent.add(digest)

    def get(self, key: str) -> bytes | None:
        """The canonical JSON that a content key names, or None.

        Raises:
            InvalidInput: the key is none.
            StoreError: the store cannot be read, or the text is damaged; names the key.
        """
        digest = bare(key)
        row = self._reader.look_up(self._select, digest)
        return None if row is None else self._checked(digest, row[0])

    def verify(self) -> int:
        """Compare every text with its hash.

        Returns:
            How many there are.
        Raises:
            StoreError: at the first damaged one; names its key.
        """
        n_texts = 0
        for row in self._reader.each(select(self._table.c.hash, self._table.c.document)):
            self._checked(row.hash, row.document)
            n_texts += 1
        return n_texts

    def _all_new(self) -> bool:
        """Whether there was nothing to find at the first look: then looking up each costs more than it spares.

        What is kept a second time all the same is left as it is where it is written.
        """
        if self._began_empty is None:
            self._began_empty = not self._reader.rows(select(self._table.c.id).limit(1))
        return self._began_empty

    def _checked(self, digest: bytes, frame: bytes) -> bytes:
        """What a frame holds, if it is what the hash names."""
        text = self._unpacker.text(digest, frame, self.what)
        if hashlib.sha256(text).digest() != digest:
            raise StoreError(f"{self._reader.where}: the {self.what} {tagged(digest)} is damaged (its hash differs)")
        return text


def _write_items(transaction: Transaction, payloads: Sequence[tuple[bytes, bytes]]) -> None:
    """In the writing thread: one row an item that is not there yet."""
    compress = transaction.compress
    transaction.executemany(INSERT_ITEM, [(digest, compress(text)) for digest, text in payloads])


def _write_judges(transaction: Transaction, payloads: Sequence[tuple[bytes, bytes]]) -> None:
    """In the writing thread: one row a judge that is not there yet."""
    compress = transaction.compress
    transaction.executemany(INSERT_JUDGE, [(digest, compress(text)) for digest, text in payloads])


_KINDS: dict[str, tuple[Table, str, Apply]] = {
    "item": (items, SELECT_ITEM, _write_items),
    "judge": (judges, SELECT_JUDGE, _write_judges),
}

"""Replies by the content key of their call: what `engine.cache.ReplyCache` asks for, and what audits read.

A reply is written once and never replaced. Where two processes ask the same call at once, the first to commit wins;
`keep` gives both of them that one, so that the records of both can rest on what the store holds.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import func, select, update
from sqlalchemy.dialects import sqlite

from evenhand.errors import StoreError
from evenhand.keys import tagged
from evenhand.store.database.packing import Unpacker, reply_json
from evenhand.store.database.reader import Reader
from evenhand.store.database.tables import INSERT_FAULT, INSERT_REPLY, SELECT_REPLY, endpoints, replies, retries
from evenhand.store.database.writer import Transaction, Writer
from evenhand.terms import Profile, Reply, Usage

__all__ = ["Replies", "StoredReply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """All that is kept about one answered call.

    Args:
        request: the canonical JSON that the key hashes.
        latency_ms: of the attempt that succeeded.
        attempts: how many it took, that one included.
        cost_usd: None where the price was unknown.
        created_at_ms: when it was committed, in milliseconds since 1970, UTC.
        run: number of the run that paid for it.
    """

    reply: Reply
    endpoint: str
    model: str
    request: bytes
    latency_ms: float
    attempts: int
    cost_usd: float | None
    created_at_ms: int
    run: int


class Replies:
    """The reply cache of one opened store; one thread at a time.

    Args:
        reader: the connection that reads.
        writer: the process's one writer.
    """

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer
        self._unpacker = Unpacker(reader.where)
        self._first_attempts: dict[bytes, int] | None = None

    def get(self, key: bytes) -> Reply | None:
        """The stored reply with its `key` filled in, or None.

        Raises:
            StoreError: the store cannot be read, or what it holds under this key is damaged.
        """
        row = self._reader.look_up(SELECT_REPLY, key)
        return None if row is None else self._reply(key, row)

    async def put(
        self,
        *,
        key: bytes,
        endpoint: str,
        model: str,
        request: bytes,
        reply: Reply,
        latency_ms: float,
        attempts: int,
        cost_usd: float | None,
    ) -> Reply:
        """Keep a reply unless the key has one; arguments as in the contract.

        Returns:
            The reply that stands under the key, once it is durable: another's, where another process was first.
        Raises:
            StoreError: it could not be kept.
        """
        _check(key)
        text = reply_json(key, reply)
        pending = _Pending(key, endpoint, model, request, text, reply.usage, latency_ms, attempts, cost_usd)
        other = await self._writer.write(_write_replies, pending)
        return reply if other is None else self._reply(key, other)

    def fault(self, *, key: bytes, endpoint: str, model: str, code: str, status: int | None) -> None:
        """Note a failed attempt, so that each call is accounted for; durable with the next group.

        Raises:
            StoreError: nothing can be kept any more.
        """
        _check(key)
        self._writer.submit(_write_faults, (key, endpoint, model, code, status))

    def profile(self, endpoint: str, model: str) -> Profile | None:
        """How this model is asked, if that was found before."""
        rows = self._reader.rows(select(endpoints.c.profile).filter_by(endpoint=endpoint, model=model))
        if not rows or rows[0].profile is None:
            return None
        try:
            return msgspec.json.decode(rows[0].profile, type=Profile)
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"{self._reader.where}: the profile of {model} at {endpoint} is damaged ({error})"
            ) from error

    async def keep_profile(self, endpoint: str, model: str, profile: Profile) -> None:
        """Remember how this model is asked; a later one replaces it."""
        await self._writer.write(_write_profiles, (endpoint, model, msgspec.json.encode(profile).decode()))

    def any_retried(self) -> bool:
        """Whether `retry_from` was ever called on this store; False spares a look-up an item."""
        return bool(self._retried())

    def first_attempt(self, key: bytes) -> int:
        """The attempt number to begin with, where `--retry-failed` gave up the earlier ones; 0 otherwise.

        What another process gives up meanwhile takes effect when this store is opened again.
        """
        return self._retried().get(key, 0)

    async def retry_from(self, keys: Sequence[bytes], attempt: int) -> None:
        """Remember that outcomes which began with these keys begin at `attempt` from now on, never again earlier."""
        for key in keys:
            _check(key)
        retried = self._retried()
        await self._writer.write(_write_retries, [(key, attempt) for key in keys])
        retried.update({key: max(attempt, retried.get(key, 0)) for key in keys})

    def stored(self, key: bytes) -> StoredReply | None:
        """All that is kept about one answered call, or None."""
        query = select(replies, endpoints.c.endpoint, endpoints.c.model).join(endpoints).where(replies.c.key == key)
        rows = self._reader.rows(query)
        if not rows:
            return None
        row = rows[0]
        return StoredReply(
            reply=self._reply(
                key, (row.reply, row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens)
            ),
            endpoint=row.endpoint,
            model=row.model,
            request=self._unpacker.text(key, row.request, "request"),
            latency_ms=row.latency_ms,
            attempts=row.attempts,
            cost_usd=row.cost_usd,
            created_at_ms=row.created_at_ms,
            run=row.run_id,
        )

    def verify(self) -> int:
        """Compare every request with its key, and read every reply.

        Returns:
            How many there are.
        Raises:
            StoreError: at the first damaged one; names its key.
        """
        n_replies = 0
        for row in self._reader.each(select(replies.c.key, replies.c.reply, replies.c.request)):
            request = self._unpacker.text(row.key, row.request, "request")
            if hashlib.sha256(request).digest() != row.key:
                raise StoreError(f"{self._reader.where}: the request {tagged(row.key)} is damaged (its hash differs)")
            self._unpacker.reply(row.key, row.reply, Usage())
            n_replies += 1
        return n_replies

    def _retried(self) -> dict[bytes, int]:
        """First attempts by key; read once, since every item asks and hardly any was ever given up."""
        if self._first_attempts is None:
            rows = self._reader.rows(select(retries.c.key, retries.c.first_attempt))
            self._first_attempts = {row.key: row.first_attempt for row in rows}
        return self._first_attempts

    def _reply(self, key: bytes, row: Sequence[Any]) -> Reply:
        """A reply from the columns of `SELECT_REPLY`."""
        frame, input_tokens, cached_tokens, output_tokens, reasoning_tokens = row
        usage = Usage(
            input_tokens=input_tokens,
            cached_tokens=cached_tokens,
            output_tokens=output_tokens,
            reasoning_tokens=reasoning_tokens,
        )
        return self._unpacker.reply(key, frame, usage)


class _Pending(NamedTuple):
    """A reply on its way to the writer."""

    key: bytes
    endpoint: str
    model: str
    request: bytes
    text: bytes
    usage: Usage
    latency_ms: float
    attempts: int
    cost_usd: float | None


def _check(key: bytes) -> None:
    """Refuse what would spoil a whole group."""
    if not isinstance(key, bytes) or len(key) != 32:
        raise StoreError(f"{key!r} is no key; expected 32 bytes")


# --- in the writing thread -------------------------------------------------------------------------------------------


def _write_replies(transaction: Transaction, payloads: Sequence[_Pending]) -> Sequence[Any] | None:
    """One row each; the other's columns where a key had a reply, None where it had none."""
    compress = transaction.compress
    run_id, now_ms = transaction.run_id, transaction.now_ms
    rows = [
        (
            pending.key,
            transaction.endpoint_id(pending.endpoint, pending.model),
            run_id,
            pending.usage.input_tokens,
            pending.usage.cached_tokens,
            pending.usage.output_tokens,
            pending.usage.reasoning_tokens,
            pending.cost_usd,
            pending.latency_ms,
            pending.attempts,
            now_ms,
            compress(pending.text),
            compress(pending.request),
        )
        for pending in payloads
    ]
    if transaction.executemany(INSERT_REPLY, rows).rowcount == len(rows):
        return None
    kept = [transaction.execute(SELECT_REPLY, (row[0],)).fetchone() for row in rows]
    return [None if columns == (row[-2], *row[3:7]) else columns for row, columns in zip(rows, kept, strict=True)]


def _write_faults(transaction: Transaction, payloads: Sequence[tuple[bytes, str, str, str, int | None]]) -> None:
    """One row for each attempt that brought no reply."""
    run_id, now_ms = transaction.run_id, transaction.now_ms
    transaction.executemany(
        INSERT_FAULT,
        [
            (key, transaction.endpoint_id(endpoint, model), run_id, code, status, now_ms)
            for key, endpoint, model, code, status in payloads
        ],
    )


def _write_profiles(transaction: Transaction, payloads: Sequence[tuple[str, str, str]]) -> None:
    """The last profile of an endpoint and model stands."""
    for endpoint, model, profile in payloads:
        row = endpoints.c.id == transaction.endpoint_id(endpoint, model)
        transaction.connection.execute(update(endpoints).where(row).values(profile=profile))


def _write_retries(transaction: Transaction, payloads: Sequence[Sequence[tuple[bytes, int]]]) -> None:
    """First attempts only grow."""
    upsert = sqlite.insert(retries)
    upsert = upsert.on_conflict_do_update(
        index_elements=[retries.c.key],
        set_={"first_attempt": func.max(retries.c.first_attempt, upsert.excluded.first_attempt)},
    )
    rows = [{"key": key, "first_attempt": attempt} for payload in payloads for key, attempt in payload]
    if rows:
        transaction.connection.execute(upsert, rows)

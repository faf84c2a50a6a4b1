"""One opened store: a SQLite file in WAL mode, read by one connection and written by one thread.

    with open_store(Path(".evenhand/evenhand.db")) as store:
        store.replies     the engine's reply cache
        store.items       items by content hash
        store.judges      judges by content hash
        store.regimes     what probes found of models
        store.runs()      what each run sent, got and paid
        store.verify()    every text compared with its hash

Several processes may have one store open at once. What is committed survives a kill and, since each commit waits for
the disk (`synchronous = FULL`), a loss of power. No credential ever gets here: requests are the bytes a key hashes.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from evenhand.errors import StoreError
from evenhand.store.database.causes import cause
from evenhand.store.database.connections import connector, in_memory, on_disk, prepare
from evenhand.store.database.reader import Reader
from evenhand.store.database.regimes import Regimes
from evenhand.store.database.replies import Replies
from evenhand.store.database.tables import faults, replies, runs
from evenhand.store.database.texts import Texts
from evenhand.store.database.writer import Writer

__all__ = ["BUSY_TIMEOUT_S", "Run", "Store", "Verified", "open_store"]

BUSY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one opening of the store wrote.

    Args:
        started_at_ms: of the first write, in milliseconds since 1970, UTC.
        ended_at_ms: None where the process was killed, or is still at work.
        replies: calls that were answered and paid for.
        faults: attempts that brought no reply; calls sent = replies + faults, as far as they were committed.
        unpriced: replies whose price was unknown.
        cost_usd: of the priced ones; None where none was.
    """

    id: int
    started_at_ms: int
    ended_at_ms: int | None
    replies: int
    faults: int
    unpriced: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How many rows were read and found to be what their hash names."""

    replies: int
    items: int
    judges: int


class Store:
    """See the module; made by `open_store`."""

    def __init__(self, where: str, reader: Reader, writer: Writer) -> None:
        self.where = where
        self.replies = Replies(reader, writer)
        self.items = Texts(reader, writer, "item")
        self.judges = Texts(reader, writer, "judge")
        self.regimes = Regimes(reader, writer)
        self._reader = reader
        self._writer = writer

    def runs(self) -> tuple[Run, ...]:
        """Every run that kept a reply or a fault, oldest first.

        Raises:
            StoreError: the store cannot be read.
        """
        answered = (
            select(
                replies.c.run_id,
                func.count().label("replies"),
                func.count(replies.c.cost_usd).label("priced"),
                func.total(replies.c.input_tokens).label("input_tokens"),
                func.total(replies.c.output_tokens).label("output_tokens"),
                func.sum(replies.c.cost_usd).label("cost_usd"),
            )
            .group_by(replies.c.run_id)
            .subquery()
        )
        failed = select(faults.c.run_id, func.count().label("faults")).group_by(faults.c.run_id).subquery()
        query = (
            select(runs, answered, failed)
            .outerjoin(answered, answered.c.run_id == runs.c.id)
            .outerjoin(failed, failed.c.run_id == runs.c.id)
            .order_by(runs.c.id)
        )
        return tuple(
            Run(
                id=row.id,
                started_at_ms=row.started_at_ms,
                ended_at_ms=row.ended_at_ms,
                replies=row.replies or 0,
                faults=row.faults or 0,
                unpriced=(row.replies or 0) - (row.priced or 0),
                input_tokens=int(row.input_tokens or 0),
                output_tokens=int(row.output_tokens or 0),
                cost_usd=row.cost_usd,
            )
            for row in self._reader.each(query)
        )

    def verify(self) -> Verified:
        """Compare every text with the hash it stands under, and ask SQLite for damage.

        Raises:
            StoreError: at the first damage; names the key where there is one.
        """
        found = self._reader.pragma("integrity_check")
        if found != ["ok"]:
            raise StoreError(f"{self.where}: the database is damaged ({found[0]}); restore it from a copy")
        return Verified(replies=self.replies.verify(), items=self.items.verify(), judges=self.judges.verify())

    def close(self) -> None:
        """Write what is queued, bring the log into the database file, and close.

        Raises:
            StoreError: something that nobody waited for (faults, items) could not be kept.
        """
        try:
            self._writer.close()
        finally:
            self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(path: Path | None, *, create: bool = True, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
    """Open a store, made and brought to the newest schema if need be.

    Args:
        path: the database file. A folder that has to be made for it is readable by its owner only, and ignored by git.
            None keeps everything in memory, for tests and dry runs.
        create: False refuses a store that is not there, for commands that only read.
        busy_timeout_s: how long to wait while another process writes.
    Raises:
        StoreError: it is not there, a folder, no database, another application's, of a later version, read-only or
            damaged.
    """
    where = "the store in memory" if path is None else str(path)
    try:
        database = in_memory() if path is None else on_disk(path, create=create)
        connect = connector(database, busy_timeout_s)
        connection = connect()
        try:
            prepare(connection, busy_timeout_s)
        except BaseException:
            connection.close()
            raise
    except (StoreError, OSError, ValueError, sqlite3.Error, SQLAlchemyError) as error:
        raise StoreError(f"{where}: {cause(error)}") from error
    return Store(where, Reader(connection, where), Writer(connect, where))

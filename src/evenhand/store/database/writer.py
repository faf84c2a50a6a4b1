"""One thread that writes, and groups what it writes: many replies share one commit, since a commit waits for the disk.

A group is committed as soon as nothing has arrived for 5 ms, or 50 ms after its first write, or at 256 writes,
whichever comes first. So a lone reply waits 5 ms and not 50, and replies that arrive in waves, as those of many equal
requests in flight do, go to the disk wave by wave.

    submit(apply, payload, waiter)  from any thread; returns at once
    apply(transaction, payloads)    in the writing thread, once a group for all payloads submitted with it
    waiter                          a future of any event loop; resolved when its group is durable, or broken

Whoever waits may be cancelled or its loop closed: the write is made all the same. A group that cannot be written is
rolled back as a whole, and the writer is finished: those who wait and all later submits get the StoreError, so that a
run stops instead of paying for replies that nobody keeps. What was committed before stays.

The queue is bounded by those who wait: nobody who awaits each write can have more than one in it. Faults are not
awaited; each is some 200 bytes and stands for one HTTP exchange.
"""

import asyncio
import atexit
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects import sqlite

from evenhand.errors import StoreError
from evenhand.store.database.causes import cause
from evenhand.store.database.migrations import writing
from evenhand.store.database.packing import compressor
from evenhand.store.database.tables import endpoints, runs

__all__ = ["GROUP_SIZE", "GROUP_WINDOW_S", "QUIET_S", "Apply", "Transaction", "Writer"]

GROUP_SIZE = 256
GROUP_WINDOW_S = 0.05
QUIET_S = 0.005

Apply = Callable[["Transaction", Sequence[Any]], Sequence[Any] | None]
"""Writes payloads; gives each waiter's result in the same order, or None where all results are None."""


class Transaction:
    """What an `Apply` writes with: the connection inside its transaction, and the ids that rows refer to.

    Attributes:
        connection: Core's; for statements that run by the thousand `execute` and `executemany` reach the driver.
        compress: to a zstandard frame, with a compressor that only this thread uses.
        now_ms: one time for the whole group.
    """

    def __init__(self, connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        self.connection = connection
        self.execute = driver.execute
        self.executemany = driver.executemany
        self.compress = compressor().compress
        self.now_ms = 0
        self._endpoint_ids: dict[tuple[str, str], int] = {}
        self._run_id: int | None = None

    @property
    def run_id(self) -> int:
        """This process's row among the runs, made with the first write."""
        if self._run_id is None:
            made = self.connection.execute(insert(runs).values(started_at_ms=self.now_ms))
            assert made.inserted_primary_key is not None
            self._run_id = int(made.inserted_primary_key[0])
        return self._run_id

    def endpoint_id(self, endpoint: str, model: str) -> int:
        """The row of an endpoint and model, made if need be; so each reply carries a number instead of two texts."""
        known = self._endpoint_ids.get((endpoint, model))
        if known is None:
            pair = {"endpoint": endpoint, "model": model}
            self.connection.execute(sqlite.insert(endpoints).values(**pair).on_conflict_do_nothing())
            known = self.connection.execute(select(endpoints.c.id).filter_by(**pair)).scalar_one()
            self._endpoint_ids[endpoint, model] = known
        return known

    def end_run(self) -> None:
        """Note when this process stopped writing."""
        if self._run_id is not None:
            self.connection.execute(update(runs).where(runs.c.id == self._run_id).values(ended_at_ms=self.now_ms))


class _Write(NamedTuple):
    apply: Apply
    payload: Any
    waiter: "asyncio.Future[Any] | None"


class Writer:
    """The writing thread and its queue; the thread starts with the first write.

    Args:
        connect: opens the connection that only this thread will use.
        where: the store's path, for messages.
    """

    def __init__(self, connect: Callable[[], Connection], where: str) -> None:
        self._connect = connect
        self._where = where
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._queue: deque[_Write] = deque()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._failure: StoreError | None = None
        self._untold: StoreError | None = None

    def submit(self, apply: Apply, payload: Any, waiter: "asyncio.Future[Any] | None" = None) -> None:
        """Queue one write.

        Raises:
            StoreError: the store is closed, or an earlier group could not be written.
        """
        with self._lock:
            if self._failure is not None:
                self._untold = None
                raise StoreError(str(self._failure)) from self._failure
            if self._closing:
                raise StoreError(f"{self._where}: the store is closed")
            self._queue.append(_Write(apply, payload, waiter))
            waiting = len(self._queue)
            if self._thread is None:
                self._start()
        if waiting in (1, GROUP_SIZE):  # in between the thread looks by itself; waking it for each write costs more
            self._wake.set()

    async def write(self, apply: Apply, payload: Any) -> Any:
        """Queue one write and wait until it is durable; its result.

        Raises:
            StoreError: it could not be kept.
        """
        waiter = asyncio.get_running_loop().create_future()
        self.submit(apply, payload, waiter)
        return await waiter

    def close(self) -> None:
        """Write what is queued, and end the thread. Later submits are refused; closing again does nothing.

        Raises:
            StoreError: something that nobody waited for could not be kept, and nobody was told so yet.
        """
        with self._lock:
            self._closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self._close_at_exit)
        if self._untold is not None:
            untold, self._untold = self._untold, None
            raise untold

    def _close_at_exit(self) -> None:
        with contextlib.suppress(StoreError):
            self.close()

    # --- the thread -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        # A daemon, so that an interpreter which ends on an error does not hang; what it still holds is written at exit.
        self._thread = threading.Thread(target=self._serve, name="evenhand-store", daemon=True)
        self._thread.start()
        atexit.register(self._close_at_exit)

    def _serve(self) -> None:
        """Until closed: gather a group, commit it, tell those who wait."""
        connection: Connection | None = None
        try:
            connection = self._connect()
            transaction = Transaction(connection)
            while group := self._gathered():
                self._commit(transaction, group)
            self._finish(transaction)
        except Exception as error:
            self._fail(error)
        finally:
            if connection is not None:
                _discard(connection)

    def _gathered(self) -> list[_Write]:
        """The next group; empty when closed and nothing is left."""
        while not self._queue:
            if self._closing:
                return []
            self._wake.wait()
            self._wake.clear()
        ends = time.monotonic() + GROUP_WINDOW_S
        before = 0
        while before < len(self._queue) < GROUP_SIZE and not self._closing and time.monotonic() < ends:
            before = len(self._queue)
            self._wake.clear()
            if before < GROUP_SIZE and not self._closing:
                self._wake.wait(QUIET_S)
        return [self._queue.popleft() for _ in range(min(len(self._queue), GROUP_SIZE))]

    def _commit(self, transaction: Transaction, group: list[_Write]) -> None:
        """One group, all or nothing; a group that fails ends the thread after its waiters are told."""
        by_kind: dict[Apply, list[_Write]] = {}
        for write in group:
            by_kind.setdefault(write.apply, []).append(write)
        outcomes: list[tuple[_Write, Any]] = []
        try:
            transaction.now_ms = time.time_ns() // 1_000_000
            with writing(transaction.connection):
                for apply, writes in by_kind.items():
                    results = apply(transaction, [write.payload for write in writes])
                    outcomes += zip(writes, results or [None] * len(writes), strict=True)
        except Exception:
            self._queue.extendleft(reversed(group))  # back to where they were: all of the queue fails together
            raise
        _tell(outcomes, None)

    def _finish(self, transaction: Transaction) -> None:
        """Note the end of the run, and bring the log into the database file while nobody waits for it."""
        transaction.now_ms = time.time_ns() // 1_000_000
        with writing(transaction.connection):
            transaction.end_run()
        transaction.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _fail(self, error: Exception) -> None:
        """Tell everyone who waits, and everyone who comes later."""
        failure = StoreError(f"{self._where}: {cause(error)}")
        failure.__cause__ = error
        with self._lock:
            self._failure = failure
            lost = [(write, None) for write in self._queue]
            self._queue.clear()
            if lost and all(write.waiter is None for write, _ in lost):
                self._untold = failure
        _tell(lost, failure)


def _tell(outcomes: Iterable[tuple[_Write, Any]], failure: StoreError | None) -> None:
    """Resolve the waiters: one call into each event loop for the whole group, since each call wakes the loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for write, result in outcomes:
        if write.waiter is not None:
            by_loop.setdefault(write.waiter.get_loop(), []).append((write.waiter, result))
    for loop, waiters in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, waiters, failure)
        except RuntimeError:  # the loop was closed: nobody waits any more
            continue


def _resolve(waiters: Iterable[tuple["asyncio.Future[Any]", Any]], failure: StoreError | None) -> None:
    """In the loop's thread: give each waiter its result, or an error of its own."""
    for waiter, result in waiters:
        if waiter.done():  # cancelled meanwhile
            continue
        if failure is None:
            waiter.set_result(result)
        else:
            own = StoreError(str(failure))
            own.__cause__ = failure
            waiter.set_exception(own)


def _discard(connection: Connection) -> None:
    """Close for good: the engine keeps no pool."""
    engine = connection.engine
    connection.close()
    engine.dispose()

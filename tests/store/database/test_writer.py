"""The writing thread: groups, waiters, and what a disk or another process can do to it."""

import asyncio
import gc
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from evenhand.errors import StoreError
from evenhand.store.database.connections import connector, on_disk, prepare
from evenhand.store.database.writer import GROUP_SIZE, Transaction, Writer

groups: dict[int, list[list[Any]]] = {}


def note(transaction: Transaction, payloads: Sequence[int]) -> Sequence[int]:
    """Write numbers, remember the group, give each back tenfold."""
    transaction.executemany("INSERT INTO noted (n) VALUES (?)", [(n,) for n in payloads])
    groups.setdefault(threading.get_ident(), []).append(list(payloads))
    return [10 * n for n in payloads]


def fill(transaction: Transaction, payloads: Sequence[int]) -> None:
    """Write so many bytes each."""
    transaction.executemany("INSERT INTO filled (b) VALUES (zeroblob(?))", [(n,) for n in payloads])


def broken(transaction: Transaction, payloads: Sequence[object]) -> None:
    """A mistake of our own."""
    raise ZeroDivisionError("a mistake")


class Hold:
    """Keeps the thread busy, so that what is queued meanwhile makes one group."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.release = threading.Event()

    async def begin(self, writer: Writer) -> None:
        writer.submit(held, self)
        while not self.entered.is_set():
            await asyncio.sleep(0.001)


def held(transaction: Transaction, payloads: Sequence[Hold]) -> None:
    for hold in payloads:
        hold.entered.set()
        hold.release.wait()


class Bench:
    """A store's file with two small tables, and a writer on it."""

    def __init__(self, path: Path, *, busy_timeout_s: float = 5.0, limit_pages: int | None = None) -> None:
        self.path = path
        connect = connector(on_disk(path, create=True), busy_timeout_s)
        connection = connect()
        prepare(connection, busy_timeout_s)
        connection.exec_driver_sql("PRAGMA query_only = OFF")
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS noted (n INTEGER)")
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS filled (b BLOB)")
        connection.close()

        def limited() -> Connection:
            connection = connect()
            if limit_pages is not None:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {limit_pages}")
                connection.rollback()
            return connection

        self.writer = Writer(limited, str(path))

    def numbers(self) -> list[int]:
        raw = sqlite3.connect(self.path)
        try:
            return [n for (n,) in raw.execute("SELECT n FROM noted ORDER BY rowid")]
        finally:
            raw.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "evenhand.db")
    groups.clear()
    yield made
    made.writer.close()


async def note_all(writer: Writer, numbers: Sequence[int]) -> list[Any]:
    return await asyncio.gather(*(writer.write(note, n) for n in numbers), return_exceptions=True)


def test_each_waiter_gets_its_own_result_and_order_is_kept(bench: Bench) -> None:
    assert asyncio.run(note_all(bench.writer, range(1000))) == [10 * n for n in range(1000)]
    assert bench.numbers() == list(range(1000))


def test_what_arrives_together_shares_commits_of_at_most_256(bench: Bench) -> None:
    asyncio.run(note_all(bench.writer, range(1000)))
    (sizes,) = [[len(group) for group in made] for made in groups.values()]
    assert max(sizes) == GROUP_SIZE
    assert len(sizes) <= 6


def test_a_write_is_durable_when_its_waiter_hears_of_it(bench: Bench) -> None:
    async def one_by_one() -> None:
        for n in range(20):
            await bench.writer.write(note, n)
            assert bench.numbers() == list(range(n + 1))

    asyncio.run(one_by_one())


def test_one_writer_serves_loops_one_after_the_other(bench: Bench) -> None:
    for n in range(3):
        assert asyncio.run(note_all(bench.writer, [n])) == [10 * n]
    assert bench.numbers() == [0, 1, 2]


def test_one_writer_serves_loops_side_by_side(bench: Bench) -> None:
    results: list[list[Any]] = []

    def run(start: int) -> None:
        results.append(asyncio.run(note_all(bench.writer, range(start, start + 100))))

    threads = [threading.Thread(target=run, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r[0] for r in results) == [0, 10_000, 20_000, 30_000]
    assert len(bench.numbers()) == 400


def test_who_stops_waiting_loses_nothing(bench: Bench) -> None:
    async def cancelled() -> None:
        tasks = [asyncio.ensure_future(bench.writer.write(note, n)) for n in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
        assert results[1::2] == [10 * n for n in range(1, 50, 2)]

    asyncio.run(cancelled())
    assert bench.numbers() == list(range(50))


def test_a_loop_that_ended_loses_nothing(bench: Bench) -> None:
    async def leave() -> None:
        for n in range(10):
            bench.writer.submit(note, n, asyncio.get_running_loop().create_future())

    asyncio.run(leave())
    bench.writer.close()
    assert bench.numbers() == list(range(10))


def test_closing_writes_what_is_queued(bench: Bench) -> None:
    for n in range(5000):
        bench.writer.submit(note, n)
    bench.writer.close()
    assert bench.numbers() == list(range(5000))
    with pytest.raises(StoreError, match="closed"):
        bench.writer.submit(note, 1)


def test_an_interpreter_that_ends_writes_what_is_queued(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys; from pathlib import Path; from evenhand.store.database.sql import open_store\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "store.replies.fault(key=bytes(32), endpoint='e', model='m', code='server', status=500)\n"
        "raise SystemExit(3)\n"
    )
    path = tmp_path / "evenhand.db"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(path)], check=False).returncode == 3
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT count(*) FROM faults").fetchone() == (1,)
    raw.close()


def test_no_thread_runs_before_the_first_write(tmp_path: Path) -> None:
    before = threading.active_count()
    bench = Bench(tmp_path / "evenhand.db")
    assert threading.active_count() == before
    bench.writer.close()


def refused_from_now_on(bench: Bench, said: str) -> None:
    for _ in range(2):
        with pytest.raises(StoreError, match=said) as refusal:
            bench.writer.submit(note, 1)
        assert str(bench.path) in str(refusal.value)
    bench.writer.close()


def test_a_full_disk_reaches_everyone_who_waits_and_keeps_what_was_committed(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "evenhand.db", limit_pages=200)

    async def until_full() -> None:
        await bench.writer.write(note, 1)
        hold = Hold()
        await hold.begin(bench.writer)
        asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, hold.release.set)
        results = await asyncio.gather(
            *(bench.writer.write(note, 2) for _ in range(10)),
            bench.writer.write(fill, 10_000_000),
            *(bench.writer.write(note, 3) for _ in range(1000)),
            return_exceptions=True,
        )
        assert all(isinstance(result, StoreError) and "disk is full" in str(result) for result in results)
        assert len({id(result) for result in results}) == len(results)

    asyncio.run(until_full())
    refused_from_now_on(bench, "disk is full")
    assert bench.numbers() == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_file_that_may_not_grow_is_a_store_error(tmp_path: Path) -> None:
    import resource
    import subprocess

    assert resource
    code = """
import asyncio, hashlib, os, resource, sys
from pathlib import Path
from evenhand.errors import StoreError
from evenhand.store.database.sql import open_store
from evenhand.terms import Reply
store = open_store(Path(sys.argv[1]))
async def put(n):
    request = str(n).encode() + os.urandom(4000)
    await store.replies.put(key=hashlib.sha256(request).digest(), endpoint="e", model="m", request=request,
        reply=Reply(text=str(n)), latency_ms=1.0, attempts=1, cost_usd=None)
    print(hashlib.sha256(request).hexdigest(), flush=True)
async def main():
    await put(0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    for n in range(1000):
        await put(n)
try:
    asyncio.run(main())
except StoreError as error:
    print("refused:", error)
    try:
        store.replies.fault(key=bytes(32), endpoint="e", model="m", code="server", status=None)
    except StoreError as later:
        print("later:", later)
store.close()
"""
    path = tmp_path / "evenhand.db"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    *keys, refused, later = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert refused.startswith(f"refused: {path}: ")
    assert later.removeprefix("later: ") == refused.removeprefix("refused: ")
    assert_all_there(path, keys)


def assert_all_there(path: Path, keys: Sequence[str]) -> None:
    """What was acknowledged is in the store, and the store is sound."""
    from evenhand.store.database.sql import open_store

    with open_store(path) as store:
        assert store.verify().replies >= len(keys)
        assert [key for key in keys if store.replies.get(bytes.fromhex(key)) is None] == []


def test_a_lock_held_too_long_is_a_store_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "evenhand.db", busy_timeout_s=0.1)
    other = sqlite3.connect(bench.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    results = asyncio.run(note_all(bench.writer, [1, 2]))
    assert all(isinstance(result, StoreError) and "locked" in str(result) for result in results)
    other.execute("ROLLBACK")
    other.close()
    refused_from_now_on(bench, "locked")
    assert bench.numbers() == []


def test_a_lock_held_for_a_while_is_waited_for(bench: Bench) -> None:
    other = sqlite3.connect(bench.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    assert asyncio.run(note_all(bench.writer, [1])) == [10]
    release.join()
    other.close()


def test_a_mistake_of_our_own_hangs_nobody_and_keeps_nothing_of_its_group(bench: Bench) -> None:
    async def several() -> list[Any]:
        hold = Hold()
        await hold.begin(bench.writer)
        others = asyncio.gather(
            bench.writer.write(note, 1),
            bench.writer.write(broken, None),
            bench.writer.write(note, 2),
            return_exceptions=True,
        )
        await asyncio.sleep(0)
        hold.release.set()
        return await others

    results = asyncio.run(several())
    assert all(isinstance(result, StoreError) and "ZeroDivisionError" in str(result) for result in results)
    refused_from_now_on(bench, "ZeroDivisionError")
    assert bench.numbers() == []


def test_a_database_that_cannot_be_opened_reaches_the_waiters(tmp_path: Path) -> None:
    def refuse() -> Connection:
        raise sqlite3.OperationalError("unable to open database file")

    writer = Writer(refuse, "here")
    results = asyncio.run(note_all(writer, [1, 2]))
    assert all(isinstance(result, StoreError) and str(result).startswith("here: ") for result in results)
    writer.close()


def test_what_nobody_waited_for_is_not_lost_in_silence(bench: Bench) -> None:
    bench.writer.submit(broken, None)
    with pytest.raises(StoreError, match="ZeroDivisionError"):
        bench.writer.close()
    bench.writer.close()  # said once


def test_errors_that_nobody_waits_for_are_not_reported_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path / "evenhand.db")

    async def leave() -> None:
        task = asyncio.ensure_future(bench.writer.write(broken, None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)

    asyncio.run(leave())
    bench.writer.close()
    gc.collect()
    assert caplog.records == []
    assert capsys.readouterr().err == ""


def test_readers_see_whole_groups_while_others_write(bench: Bench) -> None:
    seen: list[int] = []
    done = threading.Event()

    def read() -> None:
        raw = sqlite3.connect(bench.path)
        while not done.is_set():
            seen.append(raw.execute("SELECT count(*) FROM noted").fetchone()[0])
        raw.close()

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        asyncio.run(note_all(bench.writer, range(GROUP_SIZE)))
    done.set()
    reader.join()
    (sizes,) = [[len(group) for group in made] for made in groups.values()]
    whole = {sum(sizes[:n]) for n in range(len(sizes) + 1)}
    assert set(seen) <= whole
    assert seen == sorted(seen)

"""A store as a whole: where it may lie, whose it is, what damage does, what several processes do to it."""

import asyncio
import contextlib
import hashlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from evenhand.errors import StoreError
from evenhand.store.database.migrations import APPLICATION_ID, MIGRATIONS
from evenhand.store.database.sql import Store, Verified, open_store
from evenhand.terms import Reply, Usage


def request(n: int) -> bytes:
    return b'{"n":%d,"text":"%s"}' % (n, random.Random(n).randbytes(1500).hex().encode())


def key(n: int) -> bytes:
    return hashlib.sha256(request(n)).digest()


async def put(store: Store, n: int, *, text: str | None = None, cost_usd: float | None = 0.25) -> None:
    await store.replies.put(
        key=key(n),
        endpoint="http://localhost/v1",
        model="openai/judge",
        request=request(n),
        reply=Reply(text=text or f"answer {n}", usage=Usage(input_tokens=10, output_tokens=n)),
        latency_ms=12.5,
        attempts=1,
        cost_usd=cost_usd,
    )


async def put_many(store: Store, numbers: range) -> None:
    await asyncio.gather(*(put(store, n) for n in numbers))


def run_python(code: str, *arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_folder_is_made_for_its_owner_and_left_alone_by_git(tmp_path: Path) -> None:
    path = tmp_path / "run" / ".evenhand" / "evenhand.db"
    open_store(path).close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_store(tmp_path / "my.db").close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [entry.name for entry in tmp_path.iterdir()] == ["my.db"]


@pytest.mark.parametrize(
    "name",
    [
        "a?mode=memory.db",
        "a#fragment.db",
        "100%25.db",
        "file:b.db",
        "Prüfung – 審査 🙂.db",
        'with space\'s "quotes".db',
        "line\nbreak.db",
        ":memory:",
        "-dash.db",
        os.fsdecode(b"not-utf8-\xff.db"),
    ],
)
def test_any_file_name_is_taken_literally(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(Path(name)) as store:
        asyncio.run(put(store, 1))
    assert os.listdir(tmp_path) == [name]
    with open_store(tmp_path / name, create=False) as store:
        assert store.replies.get(key(1)) is not None


def test_a_missing_store_is_not_made_for_those_who_only_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store here"):
        open_store(tmp_path / "no" / "evenhand.db", create=False)
    assert not (tmp_path / "no").exists()


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it is a folder"):
        open_store(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made or opened"):
        open_store(tmp_path / "file" / "evenhand.db")


def test_a_device_is_no_store() -> None:
    with pytest.raises(StoreError, match="no ordinary file"):
        open_store(Path("/dev/null"))


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(StoreError):
        open_store(Path("a\0b.db"))


@pytest.mark.parametrize("content", [b"id,score\n" * 500, os.urandom(9000), b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"scores\.csv"):
        open_store(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["scores.csv"]


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE theirs (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 3"]
)
def test_another_applications_database_is_refused_and_left_as_it_is(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute(statement)
    theirs.commit()
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another application"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_later_versions_store_is_refused_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    open_store(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match=rf"version 99, .* up to {len(MIGRATIONS)}; upgrade"):
        open_store(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    path.touch()
    open_store(path).close()
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    raw.close()


def test_opening_an_up_to_date_store_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    open_store(path).close()
    before = path.read_bytes()
    with open_store(path) as store:
        assert store.replies.get(key(1)) is None
    assert path.read_bytes() == before


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        asyncio.run(put_many(store, range(600)))
        assert (tmp_path / "evenhand.db-wal").stat().st_size > 0
    assert os.listdir(tmp_path) == ["evenhand.db"]
    with open_store(path) as store:
        assert store.verify() == Verified(replies=600, items=0, judges=0)


def test_a_store_in_memory_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(None) as store, open_store(None) as other:
        asyncio.run(put_many(store, range(300)))
        assert store.verify().replies == 300
        assert other.replies.get(key(1)) is None
    assert os.listdir(tmp_path) == []


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path / "evenhand.db")
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.replies.get(key(1))
    with pytest.raises(StoreError, match="closed"):
        asyncio.run(put(store, 1))


def test_each_run_is_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"

    async def first(store: Store) -> None:
        await put(store, 1)
        await put(store, 2, cost_usd=None)
        for status in (429, None):
            store.replies.fault(key=key(3), endpoint="e", model="m", code="server", status=status)

    with open_store(path) as store:
        asyncio.run(first(store))
    with open_store(path) as store:
        assert len(store.runs()) == 1  # opening alone is no run
        asyncio.run(put(store, 4, cost_usd=None))
        one, two = store.runs()
    assert (one.replies, one.faults, one.unpriced, one.cost_usd) == (2, 2, 1, 0.25)
    assert (one.input_tokens, one.output_tokens) == (20, 3)
    assert one.ended_at_ms is not None
    assert one.started_at_ms <= one.ended_at_ms
    assert (two.replies, two.faults, two.unpriced, two.cost_usd, two.ended_at_ms) == (1, 0, 1, None, None)


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_reported_and_never_read_as_a_reply(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        asyncio.run(put_many(store, range(200)))
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    start = rng.randrange(len(content) // 2, len(content) - 12_000)  # where the rows lie
    content[start : start + 3000] = rng.randbytes(3000)
    path.write_bytes(content)

    with open_store(path) as store:
        with pytest.raises(StoreError, match=r"damaged"):
            store.verify()
        for n in range(200):
            with contextlib.suppress(StoreError):
                reply = store.replies.get(key(n))
                assert reply is None or reply.text == f"answer {n}"


def test_a_swapped_request_is_found(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        asyncio.run(put_many(store, range(2)))
    raw = sqlite3.connect(path)
    raw.execute("UPDATE replies SET request = (SELECT request FROM replies WHERE id = 1) WHERE id = 2")
    raw.commit()
    (swapped,) = raw.execute("SELECT key FROM replies WHERE id = 2").fetchone()
    raw.close()
    with open_store(path) as store, pytest.raises(StoreError, match=f"sha256:{swapped.hex()} is damaged"):
        store.verify()


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_read_only_store_is_refused_when_written(what: str) -> None:
    # Permissions do not bind root, so a child that gives up being root does the writing.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "evenhand.db"
        with open_store(path) as store:
            asyncio.run(put(store, 1))
        path.chmod(0o444 if what == "file" else 0o666)
        folder.chmod(0o777 if what == "file" else 0o555)
        done = run_python(
            """
            import asyncio, os, sys
            from pathlib import Path
            from evenhand.errors import StoreError
            from evenhand.store.database.sql import open_store
            import sqlalchemy.dialects.sqlite, encodings.idna
            if os.getuid() == 0:
                os.setgroups([]); os.setgid(65534); os.setuid(65534)
            try:
                with open_store(Path(sys.argv[1])) as store:
                    asyncio.run(store.replies.keep_profile("e", "m", __import__("evenhand.terms").terms.Profile()))
            except StoreError as error:
                print("refused:", error)
            """,
            path,
        )
        assert done.stdout.startswith(f"refused: {path}: "), done.stdout + done.stderr
        assert "writ" in done.stdout
        folder.chmod(0o700)


def test_many_processes_may_make_one_store_at_once(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from evenhand.store.database.sql import open_store
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(20):
            open_store(Path(sys.argv[1]) / str(n) / "evenhand.db").close()
        """
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.communicate()[0] is not None and child.returncode for child in children] == [0, 0, 0]
    for n in range(20):
        with open_store(tmp_path / str(n) / "evenhand.db", create=False) as store:
            assert store.verify() == Verified(replies=0, items=0, judges=0)

"""The schema's steps, from the oldest on."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from evenhand.errors import StoreError
from evenhand.store.database.connections import connector, in_memory, on_disk
from evenhand.store.database.migrations import APPLICATION_ID, MIGRATIONS, migrate, schema_version, writing
from evenhand.store.database.tables import metadata


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[[], Connection]]:
    opened: list[Connection] = []
    open_connection = connector(on_disk(tmp_path / "evenhand.db", create=True), 10.0)

    def connect() -> Connection:
        opened.append(open_connection())
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def shape(connection: Connection) -> object:
    """Tables with their columns, keys and references, as SQLite reports them."""
    inspector = inspect(connection)
    found = {
        table: (
            [(c["name"], str(c["type"]), c["nullable"], c["primary_key"]) for c in inspector.get_columns(table)],
            sorted(tuple(u["column_names"]) for u in inspector.get_unique_constraints(table)),
            sorted((tuple(f["constrained_columns"]), f["referred_table"]) for f in inspector.get_foreign_keys(table)),
            sorted(str(c["sqltext"]).replace('"', "") for c in inspector.get_check_constraints(table)),
            sorted(i["name"] or "" for i in inspector.get_indexes(table)),
        )
        for table in inspector.get_table_names()
    }
    connection.rollback()
    return found


def test_the_steps_build_the_tables_that_the_code_reads(connect: Callable[[], Connection]) -> None:
    connection = connect()
    assert migrate(connection) == len(MIGRATIONS) == schema_version(connection)
    connection.rollback()
    stepwise = shape(connection)

    with connector(in_memory(), 1.0)() as whole:
        metadata.create_all(whole)
        assert stepwise == shape(whole)


@pytest.mark.parametrize("oldest", range(len(MIGRATIONS) + 1))
def test_a_store_of_any_age_becomes_one_of_today(connect: Callable[[], Connection], oldest: int) -> None:
    migrate(connect(), migrations=MIGRATIONS[:oldest])
    connection = connect()
    assert migrate(connection) == len(MIGRATIONS)
    assert set(inspect(connection).get_table_names()) == set(metadata.tables)


def test_rows_of_the_first_schema_survive_later_steps(connect: Callable[[], Connection]) -> None:
    connection = connect()
    migrate(connection, migrations=MIGRATIONS[:1])
    with writing(connection):
        connection.exec_driver_sql("INSERT INTO runs (started_at_ms) VALUES (1)")
        connection.exec_driver_sql("INSERT INTO endpoints (endpoint, model) VALUES ('e', 'm')")
        connection.exec_driver_sql(
            "INSERT INTO replies (key, endpoint_id, run_id, latency_ms, attempts, created_at_ms, reply, request)"
            " VALUES (zeroblob(32), 1, 1, 2.5, 1, 3, x'00', x'01')"
        )
    taken: list[int] = []
    steps = (
        *MIGRATIONS,
        lambda c: c.exec_driver_sql("ALTER TABLE runs ADD COLUMN command TEXT"),
        lambda _: taken.append(1),
    )
    assert migrate(connection, migrations=steps) == len(steps)
    assert migrate(connection, migrations=steps) == len(steps)
    assert taken == [1]
    row = connection.exec_driver_sql("SELECT latency_ms, command FROM replies JOIN runs ON runs.id = run_id").one()
    assert tuple(row) == (2.5, None)


def test_a_step_that_breaks_leaves_no_half_of_itself(connect: Callable[[], Connection]) -> None:
    def breaks(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (a)")
        raise RuntimeError("power cut")

    connection = connect()
    migrate(connection)
    with pytest.raises(RuntimeError):
        migrate(connection, migrations=(*MIGRATIONS, breaks))
    assert schema_version(connection) == len(MIGRATIONS)
    assert "half" not in inspect(connection).get_table_names()


def test_the_file_names_its_application(tmp_path: Path, connect: Callable[[], Connection]) -> None:
    migrate(connect())
    assert (tmp_path / "evenhand.db").read_bytes()[68:72] == b"EVNH" == APPLICATION_ID.to_bytes(4, "big")


def test_a_later_version_is_refused(connect: Callable[[], Connection]) -> None:
    connection = connect()
    migrate(connection, migrations=(*MIGRATIONS, lambda _: None))
    with pytest.raises(StoreError, match="upgrade evenhand"):
        migrate(connection)


def test_two_that_migrate_at_once_take_each_step_once(connect: Callable[[], Connection]) -> None:
    taken: list[int] = []
    steps = tuple(lambda _, n=n: taken.append(n) for n in range(30))
    threads = [threading.Thread(target=migrate, args=(connect(),), kwargs={"migrations": steps}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == list(range(30))


def test_what_is_read_before_writing_does_not_make_the_writer_give_up(connect: Callable[[], Connection]) -> None:
    # A deferred transaction in the reader's place is refused with "locked" at once, whatever its time-out.
    migrate(connect())
    done: list[int] = []

    def count_up(connection: Connection) -> None:
        for _ in range(50):
            with writing(connection):
                n = connection.exec_driver_sql("SELECT count(*) FROM runs").scalar_one()
                connection.exec_driver_sql("INSERT INTO runs (started_at_ms) VALUES (?)", (n,))
        done.append(1)

    threads = [threading.Thread(target=count_up, args=(connect(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [1, 1, 1]
    rows = connect().exec_driver_sql("SELECT started_at_ms FROM runs ORDER BY id").scalars().all()
    assert rows == list(range(150))


def test_an_empty_database_has_version_nought(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with connector(on_disk(tmp_path / "empty.db", create=False), 1.0)() as connection:
        assert schema_version(connection) == 0
    assert sqlite3.sqlite_version_info >= (3, 24)  # for ON CONFLICT

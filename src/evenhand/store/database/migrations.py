"""The schema, as numbered steps: each is applied once, in a transaction of its own, and never changed afterwards.

A store says in its header whose it is (`application_id`) and which step was the last (`user_version`). A store written
by a later version than this one is refused, never guessed at. To change the schema, append a function to `MIGRATIONS`
and bring `tables` to the same state; a test compares the two.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection

from evenhand.errors import StoreError

__all__ = ["APPLICATION_ID", "MIGRATIONS", "Migration", "migrate", "schema_version", "writing"]

APPLICATION_ID = 0x45564E48
"""`EVNH`, at byte 68 of the file."""

Migration = Callable[[Connection], None]


def migrate(connection: Connection, *, migrations: Sequence[Migration] | None = None) -> int:
    """Bring a database to the newest schema.

    Args:
        connection: of a new, empty database, or of a store of any earlier version.
        migrations: the steps, in order; those of this version unless a test says otherwise.
    Returns:
        The version that the store has now: the number of steps.
    Raises:
        StoreError: the database belongs to another application, or a later version of evenhand wrote it.
    """
    steps = MIGRATIONS if migrations is None else migrations
    while (version := schema_version(connection, len(steps))) < len(steps):
        connection.rollback()  # Core opens its bookkeeping at the first read
        with writing(connection):
            # Another process may have taken the step since: only what is read under the write lock counts.
            if schema_version(connection, len(steps)) == version:
                steps[version](connection)
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.exec_driver_sql(f"PRAGMA user_version = {version + 1}")
    connection.rollback()
    return version


def schema_version(connection: Connection, newest: int | None = None) -> int:
    """The schema version of a store, 0 for an empty database.

    Args:
        connection: of any database.
        newest: the last version that can be read; that of this evenhand unless a test says otherwise.
    Raises:
        StoreError: the database belongs to another application, or a later version of evenhand wrote it.
    """
    newest = len(MIGRATIONS) if newest is None else newest
    # One statement sees one state, though another process may be making this store at the same moment.
    application, version, n_tables = connection.exec_driver_sql(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).one()
    if application != APPLICATION_ID:
        if application or version or n_tables:
            raise StoreError("it is a database of another application; name another file with --store")
        return 0
    if version > newest:
        raise StoreError(
            f"its schema has version {version}, and this evenhand knows versions up to {newest}; upgrade evenhand"
        )
    return int(version)


@contextmanager
def writing(connection: Connection) -> Iterator[None]:
    """One write transaction: the lock is taken first, all is committed or nothing.

    `BEGIN IMMEDIATE` waits its turn. A deferred transaction that has read and then wants to write is refused with
    "locked" at once, whatever the time-out, if another process wrote meanwhile.
    """
    with connection.begin():  # only Core's own bookkeeping: the driver's implicit transactions are off
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield


def _1_replies_items_judges(connection: Connection) -> None:
    """The first schema."""
    for statement in (
        """CREATE TABLE endpoints (
            id INTEGER NOT NULL PRIMARY KEY,
            endpoint TEXT NOT NULL,
            model TEXT NOT NULL,
            profile TEXT,
            UNIQUE (endpoint, model)
        )""",
        """CREATE TABLE runs (
            id INTEGER NOT NULL PRIMARY KEY,
            started_at_ms INTEGER NOT NULL,
            ended_at_ms INTEGER
        )""",
        """CREATE TABLE replies (
            id INTEGER NOT NULL PRIMARY KEY,
            "key" BLOB NOT NULL UNIQUE CHECK (length("key") = 32),
            endpoint_id INTEGER NOT NULL REFERENCES endpoints (id),
            run_id INTEGER NOT NULL REFERENCES runs (id),
            input_tokens INTEGER,
            cached_tokens INTEGER,
            output_tokens INTEGER,
            reasoning_tokens INTEGER,
            cost_usd FLOAT,
            latency_ms FLOAT NOT NULL,
            attempts INTEGER NOT NULL,
            created_at_ms INTEGER NOT NULL,
            reply BLOB NOT NULL,
            request BLOB NOT NULL
        )""",
        """CREATE TABLE faults (
            id INTEGER NOT NULL PRIMARY KEY,
            "key" BLOB NOT NULL CHECK (length("key") = 32),
            endpoint_id INTEGER NOT NULL REFERENCES endpoints (id),
            run_id INTEGER NOT NULL REFERENCES runs (id),
            code TEXT NOT NULL,
            status INTEGER,
            created_at_ms INTEGER NOT NULL
        )""",
        """CREATE TABLE retries (
            "key" BLOB NOT NULL PRIMARY KEY CHECK (length("key") = 32),
            first_attempt INTEGER NOT NULL
        )""",
        """CREATE TABLE items (
            id INTEGER NOT NULL PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
            document BLOB NOT NULL
        )""",
        """CREATE TABLE judges (
            id INTEGER NOT NULL PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
            document BLOB NOT NULL
        )""",
    ):
        connection.exec_driver_sql(statement)


def _2_regimes(connection: Connection) -> None:
    """What probes found of models."""
    connection.exec_driver_sql(
        """CREATE TABLE regimes (
            id INTEGER NOT NULL PRIMARY KEY,
            endpoint TEXT NOT NULL,
            model TEXT NOT NULL,
            regime TEXT NOT NULL,
            document TEXT NOT NULL,
            created_at_ms INTEGER NOT NULL,
            UNIQUE (endpoint, model)
        )"""
    )


MIGRATIONS: tuple[Migration, ...] = (_1_replies_items_judges, _2_regimes)

"""How a store's file is found, made, opened and brought into shape before anything is read from it."""

import contextlib
import os
import sqlite3
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from evenhand.errors import StoreError
from evenhand.store.database.causes import BUSY_CODES, result_code
from evenhand.store.database.migrations import migrate, schema_version

__all__ = ["Database", "connector", "in_memory", "on_disk", "prepare"]

# Measured at 64 rows of 1.7 kB a commit: 8 kB pages keep 1.69 kB a judgement and 4 kB pages 2.10, in the same time.
_PAGE_SIZE = 8192
_CHECKPOINT_PAGES = 500


class Database(NamedTuple):
    """What the driver opens: a path, or SQLite's URI of a database in memory."""

    name: str
    uri: bool


def on_disk(path: Path, *, create: bool) -> Database:
    """The database file at a path, made empty if it is not there: for its owner's eyes only, since it holds prompts.

    Raises:
        StoreError: it is a folder or no ordinary file, or not there and not to be made.
        OSError: the folder or the file cannot be made.
    """
    path = path.absolute()  # no name can then begin with `file:`, which SQLite may read as a URI
    if path.is_dir():
        raise StoreError("it is a folder; name a file in it, such as evenhand.db")
    if path.exists():
        if not path.is_file():
            raise StoreError("it is no ordinary file; name another with --store")
    elif not create:
        raise StoreError("there is no store here; judge something first, or name the store with --store")
    else:
        _make_folder(path.parent)
        with contextlib.suppress(FileExistsError):  # another process was faster, or a link points to where it will be
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return Database(str(path), uri=False)


def in_memory() -> Database:
    """A database that all connections of this process to the same name share, until the last of them closes."""
    return Database(f"file:/evenhand-{uuid.uuid4()}?vfs=memdb", uri=True)


def connector(database: Database, busy_timeout_s: float) -> Callable[[], Connection]:
    """What opens a connection: for any one thread, the driver's implicit transactions off, every commit on the disk."""

    def opened() -> sqlite3.Connection:
        connection = sqlite3.connect(
            database.name, uri=database.uri, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")  # the first to read the file, which may be no database
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        except BaseException:
            connection.close()
            raise
        return connection

    # The name goes to the driver as it is: in a URL of SQLAlchemy's `?`, `#` and `%` would need escapes.
    engine = create_engine("sqlite://", creator=opened, poolclass=NullPool)
    return engine.connect


def prepare(connection: Connection, busy_timeout_s: float) -> None:
    """Check whose database it is, bring it to WAL mode and the newest schema, then allow this connection only to read.

    A store that is up to date is not written to.

    Raises:
        StoreError: another application's, of a later version, or where no write-ahead log can be kept.
        DBAPIError: it is no database, read-only, full, locked or damaged.
    """
    if schema_version(connection) == 0:
        connection.exec_driver_sql(f"PRAGMA page_size = {_PAGE_SIZE}")
    _keep_log(connection, time.monotonic() + busy_timeout_s)
    connection.rollback()  # Core opens its bookkeeping at the first statement
    migrate(connection)
    connection.exec_driver_sql("PRAGMA query_only = ON")


def _keep_log(connection: Connection, until: float) -> None:
    """Switch to write-ahead logging, which readers need to see one state while another process writes."""
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    while mode not in ("wal", "memory"):
        try:
            mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
        except DBAPIError as error:
            # SQLite does not wait here by itself while another process switches the same new database.
            if result_code(error) not in BUSY_CODES or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                raise StoreError(
                    f"its file system cannot keep a write-ahead log (SQLite stays at {mode!r}); "
                    "name a store on a local disk with --store"
                )


def _make_folder(folder: Path) -> None:
    """A folder that git leaves alone; one that is there stays as it is."""
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")

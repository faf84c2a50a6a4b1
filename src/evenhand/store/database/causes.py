"""What went wrong with the database, in words that name the way out; decided by SQLite's codes, never by text."""

import sqlite3

from sqlalchemy.exc import DBAPIError

from evenhand.errors import StoreError

__all__ = ["BUSY_CODES", "cause", "result_code"]

_BY_CODE = {
    sqlite3.SQLITE_FULL: "the disk is full; make room and run the same command again, what is committed is kept",
    sqlite3.SQLITE_READONLY: "it is read-only; give yourself write permission or name another store with --store",
    sqlite3.SQLITE_PERM: "it is read-only; give yourself write permission or name another store with --store",
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened or its log beside it cannot be made; the store and its folder must be writable"
    ),
    sqlite3.SQLITE_BUSY: "another process has kept it locked for too long; wait for that process or end it",
    sqlite3.SQLITE_LOCKED: "another process has kept it locked for too long; wait for that process or end it",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; name another file with --store",
    sqlite3.SQLITE_CORRUPT: "the database is damaged; restore it from a copy, or name another store with --store",
    sqlite3.SQLITE_IOERR: (
        "the disk refuses to read or write; check its room, quota and health, and run the same command again"
    ),
}

BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def result_code(error: BaseException) -> int | None:
    """SQLite's primary result code behind an error of the driver or of SQLAlchemy; None where there is none."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(origin, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def cause(error: BaseException) -> str:
    """The cause and the way out, without the place; the driver's own words where the code is a rare one."""
    if isinstance(error, StoreError):
        return str(error)
    if isinstance(error, OSError):
        return f"it cannot be made or opened ({error.strerror}); name another store with --store"
    code = result_code(error)
    origin = error.orig if isinstance(error, DBAPIError) else error
    if code in _BY_CODE:
        return f"{_BY_CODE[code]} (SQLite says: {origin})"
    return f"it cannot be used ({type(origin).__name__}: {origin}); name another store with --store"

"""The connection that only reads: through Core, or on the driver where a look-up is made for every call."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select

from evenhand.errors import StoreError
from evenhand.store.database.causes import cause

__all__ = ["Reader"]


class Reader:
    """A connection for reading; one thread at a time. Each statement sees everything committed before it.

    Args:
        connection: outside any transaction, so that no old snapshot is held.
        where: the store's path, for messages.
    """

    def __init__(self, connection: Connection, where: str) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        self.where = where
        self._connection = connection
        self._execute = driver.execute

    def look_up(self, statement: str, key: bytes) -> tuple[Any, ...] | None:
        """The one row that a statement of the driver finds, or None.

        Raises:
            StoreError: the store is closed or cannot be read.
        """
        try:
            row: tuple[Any, ...] | None = self._execute(statement, (key,)).fetchone()
        except Exception as error:
            raise StoreError(f"{self.where}: {cause(error)}") from error
        return row

    def rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        """All rows of a query.

        Raises:
            StoreError: as above.
        """
        return list(self.each(query))

    def each(self, query: Select[Any]) -> Iterator[Row[Any]]:
        """The rows of a query one by one, in constant memory.

        Raises:
            StoreError: as above.
        """
        try:
            yield from self._connection.execute(query)
        except Exception as error:
            raise StoreError(f"{self.where}: {cause(error)}") from error

    def pragma(self, name: str) -> list[Any]:
        """The first column of what a pragma reports.

        Raises:
            StoreError: as above.
        """
        try:
            return [row[0] for row in self._connection.exec_driver_sql(f"PRAGMA {name}")]
        except Exception as error:
            raise StoreError(f"{self.where}: {cause(error)}") from error

    def close(self) -> None:
        """Close for good: the engine keeps no pool."""
        engine = self._connection.engine
        self._connection.close()
        engine.dispose()

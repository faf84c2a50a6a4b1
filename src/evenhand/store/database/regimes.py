"""What the last probe of a model at an endpoint found: its rating regime, with the probe's whole result.

A judge whose counter-bias is `auto` looks here before it judges. A later probe replaces an earlier one.
"""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from evenhand.keys import canonical_json
from evenhand.store.database.reader import Reader
from evenhand.store.database.tables import regimes
from evenhand.store.database.writer import Transaction, Writer

__all__ = ["Regimes"]


class Regimes:
    """The regimes in one opened store; one thread at a time.

    Args:
        reader: the connection that reads.
        writer: the process's one writer.
    """

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def regime(self, model: str, endpoint: str | None = None) -> str | None:
        """The regime of a model, or None if it was never probed.

        Args:
            model: `provider/model`.
            endpoint: identity of the endpoint; None takes the latest probe of that model at any.
        Raises:
            StoreError: the store cannot be read.
        """
        query = select(regimes.c.regime).where(regimes.c.model == model)
        if endpoint is not None:
            query = query.where(regimes.c.endpoint == endpoint)
        rows = self._reader.rows(query.order_by(regimes.c.created_at_ms.desc(), regimes.c.id.desc()).limit(1))
        return None if not rows else str(rows[0].regime)

    def keep(self, *, model: str, endpoint: str, regime: str, document: object) -> None:
        """Keep what a probe found, in place of an earlier one; durable with the next group.

        Args:
            model: `provider/model`.
            endpoint: identity of the endpoint.
            regime: its name.
            document: the probe's result, any JSON value.
        Raises:
            InvalidInput: the document has no JSON form.
            StoreError: nothing can be kept any more.
        """
        self._writer.submit(_write, (model, endpoint, regime, canonical_json(document).decode()))


def _write(transaction: Transaction, payloads: Sequence[tuple[str, str, str, str]]) -> None:
    """In the writing thread: one row a model and endpoint."""
    for model, endpoint, regime, document in payloads:
        found = {"regime": regime, "document": document, "created_at_ms": transaction.now_ms}
        statement = sqlite.insert(regimes).values(model=model, endpoint=endpoint, **found)
        transaction.connection.execute(
            statement.on_conflict_do_update(index_elements=["endpoint", "model"], set_=found)
        )

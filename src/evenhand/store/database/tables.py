"""The tables of the store, as the newest schema has them; `migrations` builds the same ones step by step.

    endpoints   who was asked: an endpoint's identity and a model, and how that model can be asked (its profile)
    runs        one row for each opening of the store that kept a reply or a fault
    replies     what was answered, by the content key of the call; never replaced
    faults      attempts that brought no reply, so that each call sent is accounted for
    retries     keys whose outcome `--retry-failed` gave up, and the attempt number to begin with instead
    items       items and judges by the hash of their canonical JSON
    judges
    regimes     what the last probe of a model at an endpoint found

Texts are zstandard frames. Times are whole milliseconds since 1970, UTC. NULL means not known, never zero.
Replies and faults are written and looked up by the thousand, so their statements are compiled here once, from the same
tables, and run on the driver (measured at the statements). Everything else goes through SQLAlchemy Core.
"""

from collections.abc import Sequence

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    insert,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql import ClauseElement

__all__ = [
    "FAULT_COLUMNS",
    "INSERT_FAULT",
    "INSERT_ITEM",
    "INSERT_JUDGE",
    "INSERT_REPLY",
    "REPLY_COLUMNS",
    "SELECT_ITEM",
    "SELECT_JUDGE",
    "SELECT_REPLY",
    "endpoints",
    "faults",
    "items",
    "judges",
    "metadata",
    "regimes",
    "replies",
    "retries",
    "runs",
]

metadata = MetaData()

endpoints = Table(
    "endpoints",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("profile", Text),
    UniqueConstraint("endpoint", "model"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at_ms", Integer, nullable=False),
    Column("ended_at_ms", Integer),
)

# The texts stand last, so that counting tokens and costs reads no page that holds only text.
replies = Table(
    "replies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", LargeBinary, CheckConstraint("length(key) = 32"), nullable=False, unique=True),
    Column("endpoint_id", Integer, ForeignKey("endpoints.id"), nullable=False),
    Column("run_id", Integer, ForeignKey("runs.id"), nullable=False),
    Column("input_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("output_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cost_usd", Float),
    Column("latency_ms", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("created_at_ms", Integer, nullable=False),
    Column("reply", LargeBinary, nullable=False),
    Column("request", LargeBinary, nullable=False),
)

faults = Table(
    "faults",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", LargeBinary, CheckConstraint("length(key) = 32"), nullable=False),
    Column("endpoint_id", Integer, ForeignKey("endpoints.id"), nullable=False),
    Column("run_id", Integer, ForeignKey("runs.id"), nullable=False),
    Column("code", Text, nullable=False),
    Column("status", Integer),
    Column("created_at_ms", Integer, nullable=False),
)

retries = Table(
    "retries",
    metadata,
    Column("key", LargeBinary, CheckConstraint("length(key) = 32"), primary_key=True),
    Column("first_attempt", Integer, nullable=False),
)


def _texts(name: str) -> Table:
    """A table of texts by the hash of what they are before compression."""
    return Table(
        name,
        metadata,
        Column("id", Integer, primary_key=True),
        Column("hash", LargeBinary, CheckConstraint("length(hash) = 32"), nullable=False, unique=True),
        Column("document", LargeBinary, nullable=False),
    )


items = _texts("items")
judges = _texts("judges")

regimes = Table(
    "regimes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("regime", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at_ms", Integer, nullable=False),
    UniqueConstraint("endpoint", "model"),
)


def _compiled(statement: ClauseElement, columns: Sequence[str] | None = None) -> str:
    """The statement's text for the driver, whose parameters stand in the order of `columns`."""
    compiled = statement.compile(dialect=sqlite.dialect(), column_keys=columns)
    if columns is not None and tuple(compiled.positiontup or ()) != tuple(columns):  # type: ignore[attr-defined]
        raise AssertionError(f"parameters {compiled.positiontup} are not in the order {columns}")  # type: ignore[attr-defined]
    return str(compiled)


REPLY_COLUMNS = tuple(column.name for column in replies.columns if column.name != "id")
FAULT_COLUMNS = tuple(column.name for column in faults.columns if column.name != "id")

# A look-up that finds nothing takes 9 microseconds on the driver and 64 through Core's cached statement; a row of a
# group of 64 takes 18-24 and 38 (processor time, `benchmarks/store.py` prints both again).
SELECT_REPLY = _compiled(
    select(
        replies.c.reply,
        replies.c.input_tokens,
        replies.c.cached_tokens,
        replies.c.output_tokens,
        replies.c.reasoning_tokens,
    ).where(replies.c.key == bindparam("key"))
)
INSERT_REPLY = _compiled(sqlite.insert(replies).on_conflict_do_nothing(index_elements=["key"]), REPLY_COLUMNS)
INSERT_FAULT = _compiled(insert(faults), FAULT_COLUMNS)

_TEXT_COLUMNS = ("hash", "document")
SELECT_ITEM = _compiled(select(items.c.document).where(items.c.hash == bindparam("hash")))
SELECT_JUDGE = _compiled(select(judges.c.document).where(judges.c.hash == bindparam("hash")))
INSERT_ITEM = _compiled(sqlite.insert(items).on_conflict_do_nothing(index_elements=["hash"]), _TEXT_COLUMNS)
INSERT_JUDGE = _compiled(sqlite.insert(judges).on_conflict_do_nothing(index_elements=["hash"]), _TEXT_COLUMNS)

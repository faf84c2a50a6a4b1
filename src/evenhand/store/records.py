"""Records on disk: one JSON object a line, read back equal to what was written.

    with RecordWriter("records.jsonl") as writer:       .jsonl, .csv or .parquet
        writer.write(record)

    for record in read_records("records.jsonl"): ...    .jsonl or .parquet; every line checked

What is written lies beside the target until the end and then takes its place, so that the target is whole or untouched.
docs/records.md says what each field means.
"""

import math
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from evenhand.errors import InvalidInput, StoreError
from evenhand.store.item_files.rows import json_fault
from evenhand.store.record_shapes import shape_fault
from evenhand.store.record_tables import parquet_lines, write_csv, write_parquet
from evenhand.store.text_files import Replacement, place, quoted, read_text_file
from evenhand.terms import Record

__all__ = ["SCHEMA", "RecordWriter", "read_records", "record_document", "record_line"]

SCHEMA = "evenhand.record/1"
_NAMES = ("schema", *(field.name for field in fields(Record) if field.name != "schema"))
_ONLY_IF_SET = "feedback"
_REQUIRED = frozenset({"schema", "item", "item_hash", "metadata", "judge", "member", "rerun", "status"})
_ENDINGS = (".jsonl", ".ndjson", ".csv", ".parquet", ".pq")
_values = attrgetter(*_NAMES)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def record_line(record: Record) -> bytes:
    r"""A record as one line of JSONL, with its line break; fields in one order, numbers as they are.

    Raises:
        InvalidInput: NaN or an infinity in a score, a weight or a cost; text that UTF-8 cannot write.
    """
    _refuse_unwritable_numbers(record)
    try:
        return _encode(record_document(record)) + b"\n"
    except (UnicodeEncodeError, RecursionError, TypeError, OverflowError) as error:
        raise InvalidInput(
            f"record_line: the record of item {quoted(record.item)} has no JSON form ({error})"
        ) from error


def record_document(record: Record) -> dict[str, Any]:
    """A record's fields in their one order; a field that came later stands only where it says something."""
    document = dict(zip(_NAMES, _values(record), strict=True))
    if record.feedback is None:
        del document[_ONLY_IF_SET]
    return document


class RecordWriter:
    """Writes records to a file that appears whole at the end, or not at all.

    Args:
        path: ends in .jsonl, .csv or .parquet; checked here, before anything is judged.
    Raises:
        InvalidInput: another ending, or a place that cannot be written.
        StoreError: when writing or closing: the disk is full.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.n_written = 0
        suffix = self.path.suffix.casefold()
        if suffix not in _ENDINGS and not self.path.is_char_device():
            raise InvalidInput(f"{place(path)}: records are written to .jsonl, .csv or .parquet; name the file so")
        if suffix in (".parquet", ".pq"):
            _require_pyarrow(place(path))
        self._suffix = suffix
        self._target = Replacement(path)
        self._abandoned = False

    def write(self, record: Record) -> None:
        """Write one record."""
        self._target.write(record_line(record))
        self.n_written += 1

    def abandon(self) -> None:
        """Leave the target as it was when the writer closes."""
        self._abandoned = True

    def close(self) -> None:
        """Put the file in its place, or drop it if it was abandoned."""
        if self._abandoned:
            self._target.drop()
            return
        if self._suffix in (".csv", ".parquet", ".pq"):
            self._tabulate()
        self._target.keep()

    def _tabulate(self) -> None:
        """Turn the lines written so far into a table: its columns are known only now."""
        lines = self._target
        lines.stream.close()
        write = write_csv if self._suffix == ".csv" else write_parquet
        table = lines.path.with_suffix(".table")
        try:
            write(lines.path, table)
            table.replace(lines.path)
        except OSError as error:
            lines.drop()
            raise StoreError(f"{lines.name}: cannot be written ({error.strerror}); free some space") from error
        finally:
            table.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abandon()
        self.close()


def read_records(path: str | Path) -> Iterator[Record]:
    """Records as they were written, one at a time.

    Args:
        path: JSONL or Parquet as `RecordWriter` writes it, or `-` for JSONL from standard input. A CSV file holds only
            a part of each record and cannot be read back.
    Raises:
        InvalidInput: a line that is no record, with its number and field; a schema of another version.
    """
    suffix = Path(path).suffix.casefold()
    if suffix == ".csv":
        raise InvalidInput(
            f"{place(path)}: a CSV file holds only a part of each record; use the .jsonl or .parquet one"
        )
    if suffix in (".parquet", ".pq"):
        _require_pyarrow(place(path))
        lines, name, unit = parquet_lines(Path(path)), place(path), "row"
    else:
        file = read_text_file(path, has_option=False)
        lines, name, unit = file.lines(), file.name, "line"
    return _records(lines, name, unit)


def _records(lines: Iterator[bytes], name: str, unit: str) -> Iterator[Record]:
    """A record a line; blank lines are passed over, and count."""
    n = 0
    for number, line in enumerate(lines, start=1):
        if not line.isspace():
            n += 1
            yield _record(line, f"{name} {unit} {number}")
    if n == 0:
        raise InvalidInput(f"{name}: holds no records; expected the output of `evenhand judge -o`")


def _record(line: bytes, where: str) -> Record:
    """One line as a record."""
    try:
        document = _decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        _, column, reason = json_fault(line.rstrip(b"\r\n"), error)
        raise InvalidInput(f"{where}, column {column}: broken JSON ({reason}); repair or remove it") from error
    if not isinstance(document, dict):
        raise InvalidInput(f"{where}: expected a record, came {quoted(line.decode().strip())}")
    schema = document.get("schema")
    if schema != SCHEMA:
        came = "no schema" if schema is None else f"the schema {quoted(schema)}"
        raise InvalidInput(
            f"{where}: {came}; this version of evenhand reads {SCHEMA}, as `evenhand judge -o` writes it"
        )
    for key in document:
        if key not in _NAMES:
            raise InvalidInput(f"{where}: the field {quoted(key)} is unknown in {SCHEMA}; remove it")
    missing = [key for key in _NAMES if key in _REQUIRED and key not in document]
    if missing:
        raise InvalidInput(
            f"{where}: the field {missing[0]!r} is missing; expected a record as `evenhand judge` writes it"
        )
    try:
        record = msgspec.convert(document, Record, strict=True)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{where}: {_in_words(str(error))}") from error
    _check_status(record, where)
    fault = shape_fault(document, record)
    if fault is not None:
        raise InvalidInput(f"{where}: {_in_words(fault)}")
    return record


def _in_words(error: str) -> str:
    """What did not fit, with the field first."""
    reason, _, path = error.partition(" - at `$.")
    return f"{path.rstrip('`')}: {reason}" if path else reason


def _check_status(record: Record, where: str) -> None:
    """A verdict has a score, a failure a cause, and neither has the other's."""
    if record.status == "verdict" and record.score is None:
        raise InvalidInput(
            f"{where}: status is 'verdict', yet score is null; a record without a score abstains or fails"
        )
    if record.status != "verdict" and record.score is not None:
        raise InvalidInput(f"{where}: status is {record.status!r}, yet score is {record.score}; expected null")
    if (record.status == "failed") != (record.cause is not None):
        raise InvalidInput(f"{where}: status is {record.status!r}; a cause stands in failed records, and only there")


def _refuse_unwritable_numbers(record: Record) -> None:
    """JSON has no NaN and no infinity, and the encoder would write null for them: a score lost in silence."""
    _refuse_unwritable("score", record.score, record)
    _refuse_unwritable("exact", record.exact, record)
    _refuse_unwritable("cost_usd", record.cost_usd, record)
    for criterion in record.criteria:
        for name in ("weight", "score", "exact"):
            _refuse_unwritable(name, criterion.get(name), record)


def _refuse_unwritable(name: str, value: Any, record: Record) -> None:
    """Refuse one number that is none."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"record_line: {name} of item {quoted(record.item)} is {value}, which JSON does not have")


def _require_pyarrow(name: str) -> None:
    """Say what to install, before anything is judged."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise InvalidInput(f"{name}: Parquet needs pyarrow; install evenhand[parquet], or use .jsonl")

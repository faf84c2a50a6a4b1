"""Records as tables: CSV for spreadsheets, Parquet for analysis. One row a record, one column a criterion's score.

CSV holds the summary of each record. A text cell that a spreadsheet would run as a formula gets an apostrophe in front,
since ids, reasons and messages come from files and models. Parquet holds the same columns and each whole record beside
them, so that it can be read back.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.store.text_files import place, quoted

__all__ = ["parquet_lines", "spreadsheet_safe", "write_csv", "write_parquet"]

_COLUMNS = ("item", "member", "rerun", "status", "score", "exact")
_LAST = ("cause_code", "cause_message", "reason", "cost_usd", "judge")
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_PLAIN_NUMBER = re.compile(r"[-+]?[0-9]{1,300}(\.[0-9]{1,300})?")
_ROWS = 1024
_decode = msgspec.json.Decoder().decode


def spreadsheet_safe(text: str) -> str:
    """Text that no spreadsheet runs: an apostrophe before what would begin a formula, unless it is a plain number.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-5"), spreadsheet_safe("-5+cmd")
    ("'=1+1", '-5', "'-5+cmd")
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _PLAIN_NUMBER.fullmatch(text) else text


def write_csv(lines: Path, target: Path) -> None:
    """Turn records, one JSON object a line, into CSV.

    Args:
        lines: as `record_line` writes them.
        target: written over.
    """
    criteria = _criteria(lines)
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*_COLUMNS, *(f"criterion.{name}" for name in criteria), *_LAST])
        for line in _lines(lines):
            writer.writerow(map(_cell, _row(_decode(line), criteria).values()))


def write_parquet(lines: Path, target: Path) -> None:
    """Turn records, one JSON object a line, into Parquet; the column `record` holds each line.

    Args:
        lines: as `record_line` writes them.
        target: written over.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    criteria = _criteria(lines)
    whole, number, text = pa.int64(), pa.float64(), pa.string()
    types = {"rerun": whole, "score": number, "exact": number, "cost_usd": number}
    names = [*_COLUMNS, *(f"criterion.{name}" for name in criteria), *_LAST, "record"]
    schema = pa.schema([(name, number if name.startswith("criterion.") else types.get(name, text)) for name in names])
    with ParquetWriter(target, schema, compression="zstd") as writer:
        for chunk in _chunks(_lines(lines)):
            rows = [{**_row(_decode(line), criteria), "record": line.decode().strip()} for line in chunk]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def parquet_lines(path: Path) -> Iterator[bytes]:
    """The records of a Parquet file that `write_parquet` made, as JSON.

    Raises:
        InvalidInput: no such file, no Parquet, or no column `record`.
    """
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path)
    except FileNotFoundError as error:
        raise InvalidInput(f"{place(path)}: no such file; check the path") from error
    except (ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{place(path)}: cannot be read as Parquet ({quoted(error)})") from error
    with file:
        if "record" not in file.schema_arrow.names:
            raise InvalidInput(f"{place(path)}: no column 'record'; expected a file as `evenhand judge -o` writes it")
        for batch in file.iter_batches(batch_size=_ROWS, columns=["record"]):
            for line in batch.column(0).to_pylist():
                yield str(line).encode()


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file."""
    with path.open("rb") as stream:
        yield from stream


def _chunks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Lines by the thousand."""
    chunk: list[bytes] = []
    for line in lines:
        chunk.append(line)
        if len(chunk) == _ROWS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _criteria(lines: Path) -> list[str]:
    """The ids of all criteria, in the order in which they first come."""
    seen: dict[str, None] = {}
    for line in _lines(lines):
        seen.update(dict.fromkeys(str(criterion["id"]) for criterion in _decode(line)["criteria"]))
    seen.pop("", None)  # one pool for all: its score is the record's
    return list(seen)


def _row(record: Mapping[str, Any], criteria: list[str]) -> dict[str, Any]:
    """A record's row, in the order of the columns."""
    scores = {str(criterion["id"]): criterion.get("score") for criterion in record["criteria"]}
    cause = record["cause"] or {}
    return {
        **{name: record[name] for name in _COLUMNS},
        **{f"criterion.{name}": scores.get(name) for name in criteria},
        "cause_code": cause.get("code"),
        "cause_message": cause.get("message"),
        "reason": record["reason"],
        "cost_usd": record["cost_usd"],
        "judge": record["judge"].get("name"),
    }


def _cell(value: Any) -> Any:
    """A CSV cell: text made safe, numbers as JSON writes them, nothing for null."""
    return spreadsheet_safe(value) if isinstance(value, str) else value

"""Scores in a Parquet file, column by column."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.item_files.tables import json_value
from evenhand.store.scores.columns import ScoreColumns, resolve_columns
from evenhand.store.scores.from_json import json_cell
from evenhand.store.scores.rows import Names, RawColumns
from evenhand.store.scores.values import read_times
from evenhand.store.text_files import place, quoted

__all__ = ["read_parquet"]


def read_parquet(path: Path, wanted: ScoreColumns) -> RawColumns:
    """A Parquet file, column by column."""
    import numpy as np

    name = place(path)
    file = _parquet_file(path, name)
    with file:
        names = file.schema_arrow.names
        doubled = next((column for column in names if names.count(column) > 1), None)
        if doubled is not None:
            raise InvalidInput(f"{name}: two columns are called {quoted(doubled)}; rename one of them")
        columns = resolve_columns(wanted, names, source=name)
        table = file.read(columns=list(columns.named()))
    if table.num_rows == 0:
        raise InvalidInput(f"{name}: holds no rows of scores")
    needed = set(replace(columns, by_chance=()).named())
    texts, notes = {}, []
    for column in columns.named():
        if column == columns.time:
            continue
        try:
            texts[column] = _arrow_names(table.column(column), name, column)
        except InvalidInput:
            if column in needed:
                raise
            notes.append(f"{name}: column {quoted(column)} holds no text and is passed over")
    columns = replace(columns, by_chance=tuple(column for column in columns.by_chance if column in texts))
    raw = RawColumns(
        source=name, unit="row", columns=columns, texts=texts, line=np.arange(1, table.num_rows + 1, dtype=np.int64),
        notes=notes,
    )  # fmt: skip
    if columns.time is not None:
        _add_times(raw, table.column(columns.time))
    return raw


def _add_times(raw: RawColumns, column: Any) -> None:
    """Times: as they are where the file has that type, else from texts or numbers."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        raw.times = column.cast(pa.timestamp("us"), safe=False).to_numpy().astype("datetime64[us]")
        return
    texts = [_arrow_cell(value) for value in column.to_pylist()]
    raw.times = read_times(texts)
    wrong = [int(row) for row in np.flatnonzero(np.isnat(raw.times)) if texts[row].strip()]
    raw.n_no_times = len(wrong)
    raw.no_times = [(row + 1, quoted(texts[row])) for row in wrong[:3]]


def _parquet_file(path: Path, name: str) -> Any:
    """The file, opened by pyarrow."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InvalidInput(
            f"{name}: reading Parquet needs pyarrow; install evenhand[parquet], or save the table as CSV"
        ) from error
    try:
        return ParquetFile(path)
    except FileNotFoundError as error:
        raise InvalidInput(f"{name}: no such file; check the path") from error
    except (ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{name}: cannot be read as Parquet ({quoted(error)})") from error


def _arrow_names(column: Any, source: str, name: str) -> Names:
    """A column factorised; null is "". Bytes are refused: they are no text until somebody says in which encoding."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.types as kinds

    whole = column.combine_chunks()
    if kinds.is_nested(whole.type) and not kinds.is_dictionary(whole.type):  # lists and structs: Arrow factorises none
        rows = enumerate(whole.to_pylist(), start=1)
        cells = [None if value is None else json_cell(json_value(value, source, row, name)) for row, value in rows]
        whole = pa.array(cells, pa.string())
    encoded = whole if kinds.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    values = encoded.dictionary.to_pylist()
    if (odd := next((value for value in values if isinstance(value, bytes)), None)) is not None:
        json_value(odd, source, int(np.flatnonzero(codes >= 0)[0]) + 1, name)
    names = [_arrow_cell(value) for value in values]
    if (codes < 0).any():
        codes[codes < 0] = len(names)
        names.append("")
    return Names(codes=codes, names=tuple(names))


def _arrow_cell(value: Any) -> str:
    """A cell as text; times in ISO form."""
    return value.isoformat() if hasattr(value, "isoformat") else json_cell(value)

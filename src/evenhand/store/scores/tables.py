"""Scores of any system as one typed table: `read_scores(path)` reads CSV, JSONL, Parquet and evenhand's own records.

A row without a usable score stays in the table with the reason, so that it can be counted beside every figure: failed,
abstained, missing (blank), text, infinite. Nothing is dropped in silence and nothing becomes 0.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.from_csv import read_csv
from evenhand.store.scores.from_json import read_json
from evenhand.store.scores.from_parquet import read_parquet
from evenhand.store.scores.from_records import is_record_file, read_record_scores
from evenhand.store.scores.rows import Names, RawColumns
from evenhand.store.scores.table import STATUSES, ScoreFault, ScoreTable
from evenhand.store.scores.values import INFINITE, MISSING, NUMBER, TEXT, failure_kinds, read_numbers
from evenhand.store.text_files import TextFile, quoted, read_text_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_scores"]

_SCORED, _FAILED, _ABSTAINED, _MISSING, _TEXT, _INFINITE = range(len(STATUSES))
_OF_KIND = {NUMBER: _SCORED, MISSING: _MISSING, TEXT: _TEXT, INFINITE: _INFINITE}
_MOST_TEXT = 0.5
_EXAMPLES = 3


def read_scores(path: str | Path, columns: ScoreColumns | None = None) -> ScoreTable:
    """Scores from CSV, JSONL, a JSON list, Parquet, or evenhand's records.

    Args:
        path: the file; `-` is standard input.
        columns: names of columns; what is not named is found by alias.
    Raises:
        InvalidInput: no such file or column, nothing in it, a header that names a column twice, more than a tenth of
            the rows unreadable, or mostly text where the score should be.
    """
    wanted = columns or ScoreColumns()
    if not wanted.score and is_record_file(path):
        return read_record_scores(path)
    return _table(_columns(path, wanted))


def _columns(path: str | Path, wanted: ScoreColumns) -> RawColumns:
    """The columns that play a role, as texts; the form is told by the ending, or by how the text begins."""
    suffix = Path(path).suffix.casefold()
    with _no_cycles():
        if suffix in (".parquet", ".pq"):
            return read_parquet(Path(path), wanted)
        file = read_text_file(path, has_option=False)
        if suffix in (".jsonl", ".ndjson", ".json") or (suffix not in (".csv", ".tsv") and _looks_like_json(file)):
            return read_json(file, wanted)
        return read_csv(file, wanted)


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Millions of short lists are made and dropped, none in a cycle: looking for cycles takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _looks_like_json(file: TextFile) -> bool:
    """Whether the first line that is not blank begins an object or a list."""
    first = next((line for line in file.lines() if not line.isspace()), b"")
    return first.lstrip()[:1] in (b"{", b"[")


def _table(raw: RawColumns) -> ScoreTable:
    """Texts to numbers, times and states; one block of cells for each score column."""
    import numpy as np

    columns, n = raw.columns, len(raw.line)
    faults = [
        ScoreFault(field="", kind=kind, n=raw.n_unreadable[kind], examples=tuple(examples))
        for kind, examples in raw.unreadable.items()
    ]
    state = _state(raw)
    values, statuses = [], []
    for name in columns.score:
        value, status = _scores(raw, name, faults, state)
        values.append(value)
        statuses.append(status)
    times = len(columns.score)
    return ScoreTable(
        source=raw.source, unit=raw.unit, columns=columns,
        value=np.concatenate(values), status=np.concatenate(statuses),
        row=np.tile(np.arange(n, dtype=np.int64), times), line=np.tile(raw.line, times),
        item=_repeated(_joined([raw.texts[name] for name in columns.item]), times),
        judge=_repeated(_one(raw, columns.judge), times), rerun=_repeated(_one(raw, columns.rerun), times),
        criterion=_criteria(_one(raw, columns.criterion), columns.score, n),
        time=_times(raw, faults, times), human=_humans(raw, faults, times),
        beside={name: _repeats(raw.texts[name], times) for name in (*columns.beside, *columns.by_chance)},
        faults=tuple(faults), notes=tuple(raw.notes),
    )  # fmt: skip


def _scores(
    raw: RawColumns, name: str, faults: list[ScoreFault], state: "NDArray[np.int8] | None"
) -> "tuple[NDArray[np.float64], NDArray[np.int8]]":
    """The numbers of one score column, and what each cell is."""
    import numpy as np

    texts = raw.texts[name]
    numbers, kinds = read_numbers(texts.names, decimal_comma=raw.decimal_comma)
    status = np.array([_OF_KIND[kind] for kind in range(4)], np.int8)[kinds][texts.codes]
    if state is not None:
        status = np.where(state == _SCORED, status, state)
    n_text = int((status == _TEXT).sum())
    n_given = n_text + int((status == _SCORED).sum())
    if n_text > _MOST_TEXT * n_given:
        line, words = _examples(raw, texts, status == _TEXT)[0]
        comma = " (a decimal comma? write 7.5, or separate the columns by semicolons)" if _has_comma(words) else ""
        raise InvalidInput(
            f"{raw.source} {raw.unit} {line}: column {quoted(name)} holds {words}, and text in {n_text} of {n_given} "
            f"rows, where scores were expected{comma}; name the column of the scores with --score"
        )
    for code, kind in (
        (_TEXT, "text where a number was expected"),
        (_INFINITE, "a number that is infinite or beyond 1e15"),
    ):
        chosen = status == code
        if chosen.any():
            examples = _examples(raw, texts, chosen)
            faults.append(ScoreFault(field=name, kind=kind, n=int(chosen.sum()), examples=examples))
    return numbers[texts.codes], status


def _has_comma(words: str) -> bool:
    """Whether a quoted text looks like a number with a decimal comma."""
    return words.strip("'\"").replace(",", "", 1).strip().isdecimal() and "," in words


def _examples(raw: RawColumns, texts: Names, chosen: "NDArray[np.bool_]") -> tuple[tuple[int, str], ...]:
    """The first few chosen cells, with line and text."""
    import numpy as np

    return tuple(
        (int(raw.line[row]), quoted(texts.names[texts.codes[row]])) for row in np.flatnonzero(chosen)[:_EXAMPLES]
    )


def _state(raw: RawColumns) -> "NDArray[np.int8] | None":
    """(n,) scored, failed or abstained, by the status column; None without one."""
    import numpy as np

    name = raw.columns.status
    if name is None:
        return None
    texts = raw.texts[name]
    is_error = any(word in name.casefold() for word in ("error", "exception", "fail"))
    kinds, unknown = failure_kinds(texts.names, is_error=is_error)
    if unknown:
        words = ", ".join(quoted(word, 30) for word in unknown[:3])
        raw.notes.append(f"column {quoted(name)}: not understood, and taken as scored: {words}")
    codes = np.array([STATUSES.index(kind) for kind in kinds], np.int8)
    return codes[texts.codes]


def _one(raw: RawColumns, name: str | None) -> Names | None:
    """The column's names, or None."""
    return None if name is None else _named(raw.texts[name])


def _named(texts: Names) -> Names:
    """Texts as names: a blank is no name."""
    import numpy as np

    blank = np.array([not text.strip() for text in texts.names], bool)
    if not blank.any():
        return texts
    place = np.cumsum(~blank, dtype=np.int32) - 1
    place[blank] = -1
    return Names(codes=place[texts.codes], names=tuple(text for text in texts.names if text.strip()))


def _joined(parts: list[Names]) -> Names | None:
    """Several columns as one name, joined by ` / `."""
    import numpy as np

    if len(parts) < 2:
        return _named(parts[0]) if parts else None
    codes = parts[0].codes.astype(np.int64)
    for part in parts[1:]:
        codes = codes * len(part.names) + part.codes
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(distinct), np.int32)
    place[order] = np.arange(len(distinct), dtype=np.int32)
    names = tuple(" / ".join(part.names[part.codes[first[k]]] for part in parts) for k in order)
    return Names(codes=place[inverse], names=names)


def _repeated(names: Names | None, times: int) -> Names | None:
    """The same names for each block of cells."""
    return None if names is None else _repeats(names, times)


def _repeats(names: Names, times: int) -> Names:
    """The same where there are names."""
    import numpy as np

    return names if times == 1 else Names(codes=np.tile(names.codes, times), names=names.names)


def _criteria(within: Names | None, columns: tuple[str, ...], n: int) -> Names | None:
    """A criterion for each score column; together with a criterion column, for each pair."""
    import numpy as np

    if len(columns) == 1:
        return within
    blocks = Names(codes=np.repeat(np.arange(len(columns), dtype=np.int32), n), names=columns)
    tiled = _repeated(within, len(columns))
    return blocks if tiled is None else _joined([tiled, blocks])


def _times(raw: RawColumns, faults: list[ScoreFault], times: int) -> "NDArray[np.datetime64] | None":
    """(n,) when; None where the column holds no times at all."""
    import numpy as np

    if raw.times is None:
        return None
    if raw.n_no_times:
        kind = "no time that can be read (ISO 8601, or seconds since 1970)"
        field = raw.columns.time or ""
        faults.append(ScoreFault(field=field, kind=kind, n=raw.n_no_times, examples=tuple(raw.no_times)))
    return None if np.isnat(raw.times).all() else np.tile(raw.times, times)


def _humans(raw: RawColumns, faults: list[ScoreFault], times: int) -> "NDArray[np.float64] | None":
    """(n,) human grades; nan where there is none."""
    import numpy as np

    name = raw.columns.human
    if name is None:
        return None
    texts = raw.texts[name]
    numbers, kinds = read_numbers(texts.names, decimal_comma=raw.decimal_comma)
    wrong = (kinds[texts.codes] == TEXT) | (kinds[texts.codes] == INFINITE)
    if wrong.any():
        kind = "a human grade that is no number"
        faults.append(ScoreFault(field=name, kind=kind, n=int(wrong.sum()), examples=_examples(raw, texts, wrong)))
    return np.tile(numbers[texts.codes], times)

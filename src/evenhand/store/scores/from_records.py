"""The scores of evenhand's own records, as a score table."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.rows import Names
from evenhand.store.scores.table import STATUSES, ScoreTable
from evenhand.store.text_files import place, read_text_file

if TYPE_CHECKING:
    from evenhand.terms import Record

__all__ = ["OVERALL", "is_record_file", "read_record_scores", "record_scores"]

OVERALL = "overall"
"""What the score of a record with several criteria is called beside theirs."""

_STATUS = {
    "verdict": STATUSES.index("scored"),
    "failed": STATUSES.index("failed"),
    "abstained": STATUSES.index("abstained"),
}
_COLUMNS = ScoreColumns(
    score=("score",), item=("item",), judge="judge", rerun="rerun", criterion="criteria", status="status"
)


def is_record_file(path: str | Path) -> bool:
    """Whether a file holds records, by its first line or its columns; a pipe is never asked."""
    file = Path(path)
    suffix = file.suffix.casefold()
    if not file.is_file():
        return False
    if suffix in (".parquet", ".pq"):
        return _has_record_column(file)
    with file.open("rb") as stream:
        line = next((line for line in stream if not line.isspace()), b"")
    try:
        first = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return isinstance(first, dict) and str(first.get("schema", "")).startswith("evenhand.record/")


def _has_record_column(path: Path) -> bool:
    """Whether a Parquet file is one that `evenhand judge -o` wrote."""
    try:
        from pyarrow.parquet import read_schema

        return {"record", "item", "rerun", "status"} <= set(read_schema(path).names)
    except (ImportError, OSError, ValueError):
        return False  # said in a sentence by whoever reads it


def read_record_scores(path: str | Path) -> ScoreTable:
    """The scores in a file of records.

    Raises:
        InvalidInput: a line that is no record.
    """
    from evenhand.store.records import read_records  # with all it needs, more to load than a plain log needs in all

    unit = "row" if Path(path).suffix.casefold() in (".parquet", ".pq") else "line"
    lines = None if unit == "row" else _lines(path)
    return record_scores(read_records(path), source=place(path), unit=unit, lines=lines)


def _lines(path: str | Path) -> list[int]:
    """The lines that are not blank."""
    return [number for number, line in enumerate(read_text_file(path).lines(), start=1) if not line.isspace()]


def record_scores(
    records: "Iterable[Record]", *, source: str, unit: str = "line", lines: list[int] | None = None
) -> ScoreTable:
    """Scores of records: the overall one, and each criterion's where there are several.

    A panel's members and its combined verdict are different judges: `name` is the combined one, `name (model)` a
    member.
    """
    import numpy as np

    found = list(records)
    if not found:
        raise InvalidInput(f"{source}: holds no records; expected the output of `evenhand judge -o`")
    several = any(len(record.criteria) > 1 for record in found)
    panels = {record.judge.get("hash") for record in found if record.panel is not None}
    cells: list[tuple[int, str, Any, int]] = []
    for row, record in enumerate(found):
        exact = record.exact if record.exact is not None else record.score
        cells.append((row, OVERALL, exact, _STATUS[record.status]))
        if several:
            cells += [(row, str(part["id"]), _exact(part), _criterion_status(part)) for part in record.criteria]
    rows = np.array([cell[0] for cell in cells], np.int64)
    criterion = _names([cell[1] for cell in cells]) if several else None
    places = np.arange(1, len(found) + 1) if lines is None else np.array(lines, np.int64)
    return ScoreTable(
        source=source, unit=unit, columns=_COLUMNS,
        value=np.array([np.nan if cell[2] is None else float(cell[2]) for cell in cells]),
        status=np.array([cell[3] for cell in cells], np.int8), row=rows, line=places[rows],
        item=_names([found[k].item for k in rows]), judge=_names([_judge(found[k], panels) for k in rows]),
        rerun=_names([str(found[k].rerun) for k in rows]), criterion=criterion, scale=_scale(found),
        overall=None if criterion is None else criterion.names.index(OVERALL), is_records=True,
    )  # fmt: skip


def _exact(part: Any) -> Any:
    """A criterion's score before rounding."""
    return part.get("exact") if part.get("exact") is not None else part.get("score")


def _criterion_status(part: Any) -> int:
    """A criterion without a score abstained: one that fails fails its record."""
    return _STATUS["abstained"] if _exact(part) is None else _STATUS["verdict"]


def _judge(record: "Record", panels: set[Any]) -> str:
    """Who scored."""
    name = str(record.judge.get("name") or "judge")
    is_member = record.judge.get("hash") in panels and record.panel is None
    return f"{name} ({record.member})" if is_member and record.member else name


def _scale(records: "list[Record]") -> tuple[float, float] | None:
    """The scale of all scores, where it is one."""
    scales = {(float(record.scale[0]), float(record.scale[1])) for record in records if record.scale is not None}
    return scales.pop() if len(scales) == 1 else None


def _names(texts: list[str]) -> Names:
    """Texts factorised."""
    import numpy as np

    codes: dict[str, int] = {}
    found = np.array([codes.setdefault(text, len(codes)) for text in texts], np.int32)
    return Names(codes=found, names=tuple(codes))

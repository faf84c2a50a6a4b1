"""Drift of a score log: periods, what changed between them, and the rows after which scores are distributed otherwise.

Every number is looked at, also those off the scale: a log whose scale changes leaves it from some row on.
"""

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.score_cells import Cells
from evenhand.analysis.score_groups import splits
from evenhand.errors import InvalidInput
from evenhand.stats.collapse import Spread
from evenhand.stats.drift import ChangePoint, Drift, change_points, drift_between

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Change", "Periods", "Segment", "Series", "periods_of", "series_of"]

_UNITS = {"hour": "h", "day": "D", "week": "W", "month": "M", "year": "Y"}
_MOST_PERIODS = 12
_WIDEST = 10_000_000
_MIN_ROWS = 40
_ALPHA = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """Which period each cell is in.

    Attributes:
        codes: (n,) number of the period, -1 where the time is unknown.
        labels: of the periods, in order.
        unit: `hour`, `day`, `week`, `month`, `year` or `rows`.
    """

    codes: "NDArray[np.int64]"
    labels: tuple[str, ...]
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change point, with where it is in the file.

    Attributes:
        after_row: the last row before it, counted from 0 as it stands in the file.
        after_line: the line on which that row begins.
        at: the time of the first row after it; None without times.
        point: how the scores changed.
    """

    after_row: int
    after_line: int
    at: str | None
    point: ChangePoint

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        where = {"after_row": self.after_row, "after_line": self.after_line, "at": self.at}
        return {**asdict(self.point), **where}


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The scores between two change points; those off the scale are among them."""

    first_row: int
    last_row: int
    spread: Spread
    out_of_scale: int

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        rows = {"first_row": self.first_row, "last_row": self.last_row, "out_of_scale": self.out_of_scale}
        return {**rows, **self.spread.document()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Scores in the order of time: of all rows, or of one judge.

    Attributes:
        name: the judge; "" for all.
        n: rows that hold a number, in order.
        changes: where the scores change.
        segments: what they are between; none without a change.
        drift: between the periods; None where there are none.
        p_adjusted: the chi-square p-value after Holm over all series of its kind.
        sorted_by_score: whether the rows have no times and stand in the order of their scores, which is no order of
            time: nothing was looked for then.
    """

    name: str
    n: int
    changes: tuple[Change, ...]
    segments: tuple[Segment, ...]
    drift: Drift | None
    p_adjusted: float | None = None
    sorted_by_score: bool = False

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "n": self.n,
            "change_points": [change.document() for change in self.changes],
            "segments": [segment.document() for segment in self.segments],
            "sorted_by_score": self.sorted_by_score,
            "drift": None if self.drift is None else {**self.drift.document(), "chi2_p_adjusted": self.p_adjusted},
        }


def periods_of(cells: Cells, wanted: str = "auto") -> Periods | None:
    """The periods of a log.

    Args:
        wanted: `hour`, `day`, `week`, `month`, `year`; a number for so many equal parts of the rows in order; `none`;
            or `auto`: the finest unit that gives two to twelve periods, none without times.
    Raises:
        InvalidInput: another word, or a unit of time for a log without times.
    """
    import numpy as np

    table = cells.table
    if wanted == "none":
        return None
    if wanted.isdecimal() and 2 <= int(wanted) <= 1000:
        return _parts(cells, int(wanted))
    if wanted not in (*_UNITS, "auto"):
        raise InvalidInput(
            f"--period {wanted!r}: expected hour, day, week, month, year, none, auto, or a number of equal parts (2 on)"
        )
    if table.time is None or np.isnat(table.time).all():
        if wanted == "auto":
            return None
        raise InvalidInput(f"--period {wanted}: {table.source} has no times; name their column with --time")
    for unit in (wanted,) if wanted != "auto" else _UNITS:
        found = _calendar(table.time, unit)
        if wanted != "auto" or 2 <= len(found.labels) <= _MOST_PERIODS:
            return found
    return None


def _parts(cells: Cells, n_parts: int) -> Periods:
    """Equal parts of the rows, in order."""
    import numpy as np

    order = _ordered(cells, np.arange(cells.table.n))
    rows = np.full(cells.table.n, -1, np.int64)
    _, first = np.unique(cells.table.row[order], return_index=True)
    in_order = cells.table.row[order][np.sort(first)]
    place = np.empty(int(cells.table.row.max(initial=-1)) + 1, np.int64)
    place[in_order] = np.arange(len(in_order))
    rows[order] = place[cells.table.row[order]] * n_parts // max(len(in_order), 1)
    return Periods(codes=rows, labels=tuple(f"part {k + 1} of {n_parts}" for k in range(n_parts)), unit="rows")


def _calendar(time: "NDArray[np.datetime64]", unit: str) -> Periods:
    """Calendar periods, UTC; weeks begin on Monday."""
    import numpy as np

    known = ~np.isnat(time)
    days = time[known]
    if unit == "week":  # numpy's weeks begin on Thursday, as 1970 did
        starts = (days.astype("datetime64[D]") - np.timedelta64(4, "D")).astype("datetime64[W]")
        starts = starts.astype("datetime64[D]") + np.timedelta64(4, "D")
    else:
        starts = days.astype(f"datetime64[{_UNITS[unit]}]")
    distinct, inverse = _numbered(starts.astype(np.int64))
    codes = np.full(len(time), -1, np.int64)
    codes[known] = inverse
    labels = tuple(str(start) + (":00" if unit == "hour" else "") for start in distinct.astype(starts.dtype))
    return Periods(codes=codes, labels=labels, unit=unit)


def _numbered(starts: "NDArray[np.int64]") -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """As `numpy.unique` with its inverse; counted rather than sorted where they lie close, in a tenth of the time."""
    import numpy as np

    offsets = starts - starts.min()
    width = int(offsets.max()) + 1
    if width > _WIDEST:
        return np.unique(starts, return_inverse=True)
    used = np.zeros(width, bool)
    used[offsets] = True
    return np.flatnonzero(used) + starts.min(), (np.cumsum(used) - 1)[offsets]


def _ordered(cells: Cells, chosen: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """Cells in the order of time (of the file where there is none); cells whose time is unknown are left out."""
    import numpy as np

    table = cells.table
    if table.time is None:
        rows = table.row[chosen]
        return chosen if (rows[1:] >= rows[:-1]).all() else chosen[np.argsort(rows, kind="stable")]
    known = chosen[~np.isnat(table.time[chosen])]
    rows, times = table.row[known], table.time[known]
    if (times[1:] >= times[:-1]).all() and (rows[1:] >= rows[:-1]).all():
        return known
    return known[np.lexsort((rows, times))]


def series_of(cells: Cells, periods: Periods | None) -> tuple[Series, Mapping[str, Series]]:
    """The series of all rows, and of each judge where there are several.

    A row with several criteria counts with the mean of its scores, since these are not independent.
    """
    import numpy as np

    everything = np.flatnonzero(cells.number)
    judges = cells.table.judge
    several = judges is not None and len(judges.names) > 1
    groups = splits(judges.codes[everything], len(judges.names)) if judges is not None and several else []
    alpha = _ALPHA / (1 + len(groups))
    whole = _series(cells, everything, "", periods, alpha)
    by_judge = {
        name: _series(cells, everything[group], name, periods, alpha)
        for name, group in zip(judges.names if judges is not None else (), groups, strict=False)
    }
    return whole, _adjusted(by_judge)


def _series(cells: Cells, chosen: "NDArray[np.int64]", name: str, periods: Periods | None, alpha: float) -> Series:
    """One series."""
    import numpy as np

    table = cells.table
    order = _ordered(cells, chosen)
    starts = np.flatnonzero(np.diff(table.row[order], prepend=-1))
    first = order[starts]
    values = table.value[first]
    if len(starts) < len(order):
        values = np.add.reduceat(table.value[order], starts) / np.diff(starts, append=len(order))
    in_order = table.time is None and _is_sorted(values)
    points = () if in_order or len(values) < _MIN_ROWS else change_points(values, alpha=alpha)
    drift = None
    if periods is not None:
        inside = periods.codes[first] >= 0
        drift = drift_between(values[inside], periods.codes[first][inside])
    return Series(
        name=name, n=len(first), changes=tuple(_change(cells, first, point) for point in points),
        segments=_segments(cells, order, starts, points), drift=drift, sorted_by_score=in_order,
    )  # fmt: skip


def _is_sorted(values: "NDArray[np.float64]") -> bool:
    """Whether scores of three levels or more only rise, or only fall."""
    import numpy as np

    steps = np.diff(values)
    return bool(((steps >= 0).all() or (steps <= 0).all()) and np.count_nonzero(steps) >= 2)


def _change(cells: Cells, first: "NDArray[np.int64]", point: ChangePoint) -> Change:
    """Where a change is in the file."""
    table = cells.table
    before, after = first[point.after_row], first[point.after_row + 1]
    at = None if table.time is None else str(table.time[after].astype("datetime64[s]"))
    return Change(after_row=int(table.row[before]), after_line=int(table.line[before]), at=at, point=point)


def _segments(
    cells: Cells, order: "NDArray[np.int64]", starts: "NDArray[np.int64]", points: tuple[ChangePoint, ...]
) -> tuple[Segment, ...]:
    """What the scores are between the changes."""
    if not points:
        return ()
    cuts = [0, *(int(starts[point.after_row + 1]) for point in points), len(order)]
    found = []
    for start, end in itertools.pairwise(cuts):
        part = order[start:end]
        spread = cells.rounded(part) if cells.scale.decimals else cells.spread(part)
        rows = cells.table.row[part]
        off = int(cells.off_scale[part].sum())
        found.append(Segment(first_row=int(rows[0]), last_row=int(rows[-1]), spread=spread, out_of_scale=off))
    return tuple(found)


def _adjusted(series: Mapping[str, Series]) -> Mapping[str, Series]:
    """The same series with Holm's p-values beside the plain ones."""
    from dataclasses import replace

    tested = [
        (s.drift.chi2_p, name) for name, s in series.items() if s.drift is not None and s.drift.chi2_p is not None
    ]
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, (p_value, name) in enumerate(sorted(tested)):
        largest = max(largest, min(1.0, p_value * (len(tested) - rank)))
        adjusted[name] = largest
    return {name: replace(one, p_adjusted=adjusted.get(name)) for name, one in series.items()}

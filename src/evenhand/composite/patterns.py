"""Where the rows that break a rule lie, and whether any rule of these columns could hold at all.

pattern          all of them in one year, one group, or at one end of a column: an era, a second grader, a knee
contradictions   a row at least as good in every column, and yet scored strictly below: no monotone rule holds
outside          scores beyond every component: no mean of the components
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.composite.rule.printing import name_text, number_text, printed
from evenhand.composite.rule.syntax import Text
from evenhand.composite.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["Contradiction", "Pattern", "contradictions", "outside_range", "pattern_of"]

_MOST_LEVELS = 30
_RARE = 0.01  # a place where the violators all lie is named if chance puts them there in fewer cases than this
_MOST_PAIRS = 20
_CLOSE = 1e-12  # relative
_CHUNK = 2_000_000  # pairs of rows compared at a time
_MOST_CHUNKS = 100  # tables of up to 14,000 rows are compared whole, of larger ones the first violating rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What the rows that break the rule have in common.

    Attributes:
        column: of the table.
        where: in words, `year == 2011` or `intelligence <= 49`.
        n_violated: rows that break the rule, all of which are there.
        n_there: rows that are there.
        chance: probability that as many random rows all lie in one of the places that were looked at.
        rows: indices of the rows that are there.
    """

    column: str
    where: str
    n_violated: int
    n_there: int
    chance: float
    rows: tuple[int, ...]

    def document(self) -> "Mapping[str, Any]":
        """As `--json` prints it."""
        return {
            "column": self.column, "where": self.where, "n_violated": self.n_violated, "n_there": self.n_there,
            "chance": self.chance,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two rows that no monotone rule can both give.

    Attributes:
        better: index of the row that is at least as good in every column.
        worse: index of the row that is scored above it all the same.
        equal: whether the two are equal in every column, all exact: then no rule at all can hold.
    """

    better: int
    worse: int
    equal: bool


def pattern_of(violated: "Booleans", tested: "Booleans", table: Table, *, skip: Sequence[str]) -> Pattern | None:
    """The place where all violating rows lie, if chance would hardly put them there.

    Args:
        violated: (n_rows,).
        tested: (n_rows,) rows that were tested.
        table: every column of it is looked at, texts and numbers.
        skip: columns that are not looked at (the score, names).
    Returns:
        The least likely place by the hypergeometric distribution, corrected for how many were looked at; None with
        fewer than two violators, or where none is rarer than 1 in 100.
    """
    import numpy as np

    n, v = int(tested.sum()), int((violated & tested).sum())
    if v < 2 or v == n:
        return None
    best: tuple[float, int, str, str, Booleans] | None = None
    tried = 0
    for name, column in table.columns.items():
        if name in skip:
            continue
        for where, inside in _groups(column, violated & tested, tested):
            tried += 1
            there = int((inside & tested).sum())
            if there < n and not (violated & tested & ~inside).any():
                logarithm = _log_choose(there, v) - _log_choose(n, v)
                if best is None or (logarithm, there) < best[:2]:
                    best = (logarithm, there, name, where, inside)
    if best is None or best[0] + math.log(tried) > math.log(_RARE):
        return None
    logarithm, there, name, where, inside = best
    return Pattern(
        column=name, where=where, n_violated=v, n_there=there, chance=min(1.0, math.exp(logarithm) * tried),
        rows=tuple(np.flatnonzero(inside & tested).tolist()),
    )  # fmt: skip


def contradictions(
    violated: "Booleans", tested: "Booleans", boxes: "Sequence[tuple[Floats, Floats, int]]",
    score: "tuple[Floats, Floats]", texts: Sequence[Sequence[str]] = (),
) -> tuple[Contradiction, ...]:  # fmt: skip
    """Pairs of rows that no rule with these directions can both give, a violating row among each.

    Args:
        violated: (n_rows,) rows that break the rule; two rows that hold cannot contradict each other.
        tested: (n_rows,).
        boxes: per column (low, high, sign): +1 and -1 as the rule rises or falls in it, 0 where it does not matter,
            2 where it may do either (then only rows that are equal in it are compared).
        score: (low, high) of the score.
        texts: columns of texts in which the rows of a pair are equal.
    Returns:
        At most 20 pairs, of the earliest violating rows.
    """
    import numpy as np

    boxes = [box for box in boxes if box[2] != 0]
    if not boxes:
        return ()
    codes = [np.unique(np.array(cells, dtype=str), return_inverse=True)[1] for cells in texts]
    rows, wrong = np.flatnonzero(tested), np.flatnonzero(violated & tested)
    found: dict[tuple[int, int], bool] = {}
    size = max(1, _CHUNK // max(len(rows), 1))
    for start in range(0, min(len(wrong), size * _MOST_CHUNKS), size):
        some = wrong[start : start + size]
        for better, worse in ((some, rows), (rows, some)):
            top, bottom = score[1][better][:, None], score[0][worse][None, :]
            which = ~_reaches(top, bottom) & _dominates(boxes, codes, better, worse)
            for place in np.flatnonzero(which)[:_MOST_PAIRS].tolist():
                a, b = int(better[place // len(worse)]), int(worse[place % len(worse)])
                found[a, b] = all(_same_point(low, high, a, b) for low, high, _ in boxes)
        if len(found) >= _MOST_PAIRS:
            break
    pairs = sorted(found, key=lambda pair: (max(pair), min(pair)))
    return tuple(Contradiction(better=a, worse=b, equal=found[a, b]) for a, b in pairs[:_MOST_PAIRS])


def outside_range(
    boxes: "Sequence[tuple[Floats, Floats]]", score: "tuple[Floats, Floats]"
) -> "tuple[Booleans, Booleans]":
    """(n_rows,) each: rows whose score lies below every component, and above every one; no mean can give them."""
    import numpy as np

    lows, highs = np.stack([low for low, _ in boxes]), np.stack([high for _, high in boxes])
    least, most = lows.min(axis=0), highs.max(axis=0)
    known = ~np.isnan(least) & ~np.isnan(score[0])
    return known & ~_reaches(score[1], least), known & ~_reaches(most, score[0])


def _dominates(
    boxes: "Sequence[tuple[Floats, Floats, int]]", codes: "Sequence[NDArray[np.int64]]", better: Any, worse: Any
) -> "Booleans":
    """(n_better, n_worse) whether the lower corner of the one is at least the upper corner of the other."""
    import numpy as np

    found = np.ones((len(better), len(worse)), dtype=bool)
    for low, high, sign in boxes:
        if sign == 2:
            point = (low[better] == high[better])[:, None] & (low[worse] == high[worse])[None, :]
            found &= point & (low[better][:, None] == low[worse][None, :])
        else:
            up, down = (low[better], high[worse]) if sign > 0 else (-high[better], -low[worse])
            found &= _reaches(up[:, None], down[None, :])
    for code in codes:
        found &= code[better][:, None] == code[worse][None, :]
    return found


def _reaches(upper: "Floats", lower: "Floats") -> "Booleans":
    """Where upper >= lower; ends that touch in decimals may miss by an ulp (62.4 + 0.05 is less than 62.5 - 0.05)."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        slack = _CLOSE * np.maximum(np.abs(upper), np.abs(lower))
        return np.asarray((upper >= lower) | (upper >= lower - slack))


def _same_point(low: "Floats", high: "Floats", a: int, b: int) -> bool:
    return bool(low[a] == high[a] == low[b] == high[b])


def _groups(column: Column, violated: "Booleans", tested: "Booleans") -> "Iterator[tuple[str, Booleans]]":
    """Places in a column that hold every violating row: one level, or one end."""
    import numpy as np

    name = name_text(column.name)
    shown = {column.texts[row] for row in np.flatnonzero(violated)}
    levels = {column.texts[row] for row in np.flatnonzero(tested)}
    if 2 <= len(levels) <= _MOST_LEVELS and len(shown) == 1:
        level = next(iter(shown))
        value = column.values[np.flatnonzero(violated)[0]]
        text = number_text(float(value)) if value == value and math.isfinite(value) else printed(Text(level))
        yield f"{name} == {text}", np.array([cell == level for cell in column.texts], dtype=bool)
    own = column.values[violated]
    if np.isfinite(own).all():
        with np.errstate(invalid="ignore"):
            yield f"{name} <= {number_text(float(own.max()))}", column.values <= own.max()
            yield f"{name} >= {number_text(float(own.min()))}", column.values >= own.min()


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

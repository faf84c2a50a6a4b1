"""A table of components and a score: numbers, and how exactly each was printed.

The printed decimals are what the rounding test rests on: a cell `62.5` says no more than 62.45 to 62.55.
Readers of files fill a `Table` (`Table.of_texts`), and so does a data frame (`Table.of_frame`).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["Column", "Table", "comma_hint", "printed_decimals"]

_NUMBER = re.compile(r"[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")
_SURE_DIGITS = 15  # of a float, however many its shortest text has
_FLOAT_DIGITS = 7  # a column with cells of more digits was printed from floats, not to fixed decimals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One column of a table.

    Attributes:
        name: as the table has it.
        values: (n_rows,) the numbers; nan where there is none, infinities as printed.
        decimals: (n_rows,) printed decimals of each cell (negative for `1.2e5`); 0 where there is no number.
        texts: (n_rows,) the text of each cell, for conditions such as `grader == "staff"`.
        exact: whether the printed numbers are the numbers themselves (counts), so that no cell has a rounding box.
        lower: whether lower is better.
        widths: (n_rows,) half-widths that a reader knows better than the decimals say; None to derive them.
        errors: (n_rows,) standard errors printed beside the values (`62.5 ± 0.4`); None without any.
    """

    name: str
    values: "Floats"
    decimals: "Integers"
    texts: tuple[str, ...]
    exact: bool = False
    lower: bool = False
    widths: "Floats | None" = None
    errors: "Floats | None" = None

    @property
    def is_numeric(self) -> bool:
        """Whether any cell is a number."""
        import numpy as np

        return not bool(np.isnan(self.values).all())

    def half_widths(self) -> "Floats":
        """(n_rows,) half of one unit in the last printed place; 0 where the column is exact or holds no number.

        Where a writer dropped trailing zeros (`5` among `4.62`), the most decimals of any cell hold for all. Where the
        decimals are truly mixed, each cell has its own. A column with a cell of more than seven significant digits was
        printed from floats: there the significant digits are fixed, and a cell of larger magnitude has fewer decimals.
        """
        import numpy as np

        if self.exact:
            return np.zeros(len(self.values))
        if self.widths is not None:
            return self.widths
        known = np.isfinite(self.values)
        found = np.zeros(len(self.values))
        if known.any():
            last = [text[-1:] for text, is_known in zip(self.texts, known, strict=True) if is_known]
            found[known] = 0.5 * 10.0 ** -_places(self.values[known], self.decimals[known], last)
        return found

    def box(self, rounding: str = "nearest") -> tuple["Floats", "Floats"]:
        """(low, high) of where each number can have lain before it was printed; infinities and nan stay.

        Args:
            rounding: `nearest` (half-up and half-even alike: closed on both sides) or `truncation` (towards zero).
        """
        import numpy as np

        half = self.half_widths()
        if rounding == "nearest":
            return self.values - half, self.values + half
        if rounding != "truncation":
            raise InvalidInput(f"Column.box: rounding {rounding!r} is unknown; use 'nearest' or 'truncation'")
        return (
            np.where(self.values > 0, self.values, self.values - 2 * half),
            np.where(self.values < 0, self.values, self.values + 2 * half),
        )

    def where(self, chosen: "Booleans | Integers") -> "Column":
        """The chosen cells; the half-widths stay those of the whole column."""
        import numpy as np

        texts = np.array([*self.texts, None], dtype=object)[:-1]
        return replace(
            self,
            values=self.values[chosen], decimals=self.decimals[chosen], texts=tuple(texts[chosen]),
            widths=None if self.exact else self.half_widths()[chosen],
            errors=None if self.errors is None else self.errors[chosen],
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """One row per system.

    Attributes:
        names: (n_rows,) of the systems, as printed; duplicates are possible.
        columns: by name, in the order of the table.
        rows: (n_rows,) the number of each row in its file, from 1; dropped rows leave gaps.
        source: how messages name the table.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Column]
    rows: tuple[int, ...]
    source: str = "table"

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.names)

    def column(self, name: str) -> Column:
        """One column by its name.

        Raises:
            InvalidInput: no such column; the message says which name was perhaps meant.
        """
        found = self.columns.get(name)
        if found is None:
            raise InvalidInput(f"{self.source} has no column {_cut(name)}; {_nearest(name, self.columns)}")
        return found

    def where(self, chosen: "Booleans | Integers") -> "Table":
        """The chosen rows, which keep their numbers and the rounding boxes of the whole table."""
        import numpy as np

        kept = np.arange(self.n_rows)[chosen]
        return replace(
            self,
            names=tuple(self.names[row] for row in kept),
            columns={name: column.where(kept) for name, column in self.columns.items()},
            rows=tuple(self.rows[row] for row in kept),
        )

    def declared(self, *, exact: Iterable[str] = (), lower: Iterable[str] = ()) -> "Table":
        """The same table with these columns declared exact (no rounding box), or lower-is-better."""
        columns = dict(self.columns)
        for name in exact:
            columns[name] = replace(self.column(name), exact=True, lower=columns[name].lower)
        for name in lower:
            columns[name] = replace(columns.get(name) or self.column(name), lower=True)
        return replace(self, columns=columns)

    @classmethod
    def of_texts(
        cls,
        cells: Mapping[str, Sequence[str]],
        *,
        names: Sequence[str] | None = None,
        rows: Sequence[int] | None = None,
        source: str = "table",
    ) -> "Table":
        """A table from printed cells; whatever is no plain number is text, and nan as a number.

        >>> table = Table.of_texts({"a": ["1.5", "2", "n/a"]}, names=["x", "y", "z"])
        >>> table.column("a").half_widths().tolist()
        [0.05, 0.05, 0.0]
        """
        columns = {name: _column(name, [str(text).strip() for text in texts]) for name, texts in cells.items()}
        lengths = {len(column.texts) for column in columns.values()} | ({len(names)} if names is not None else set())
        if len(lengths) > 1:
            raise InvalidInput(f"Table.of_texts: columns of {sorted(lengths)} cells came; expected one length")
        n = next(iter(lengths), 0)
        return cls(
            names=tuple(names) if names is not None else tuple(str(number + 1) for number in range(n)),
            columns=columns, rows=tuple(rows) if rows is not None else tuple(range(1, n + 1)), source=source,
        )  # fmt: skip

    @classmethod
    def of_frame(cls, frame: Any, *, name: str | None = None, source: str = "frame") -> "Table":
        """A table from a data frame (anything with `columns` and `frame[column]`; pandas is not imported).

        Args:
            frame: one row per system.
            name: the column that names the systems; None for the frame's index.
        """
        cells = {str(column): [_printed(value) for value in frame[column]] for column in frame.columns}
        if name is not None and name not in cells:
            raise InvalidInput(f"Table.of_frame: no column {_cut(name)} to name the rows; {_nearest(name, cells)}")
        index = getattr(frame, "index", None)
        labels = cells[name] if name is not None else None if index is None else [str(label) for label in index]
        return cls.of_texts(cells, names=labels, source=source)


def _places(values: "Floats", decimals: "Integers", last: Sequence[str]) -> "Floats":
    """The place of the last digit that is known of each number.

    Of numbers printed to d decimals about a tenth end in 0 (half of them, where all others end in 5). Where none does,
    zeros were dropped, and about that share of the cells is shorter; many more shorter cells were printed shorter.
    """
    import numpy as np

    most = int(decimals.max())
    size = np.floor(np.log10(np.where(values == 0, 1.0, np.abs(values))))
    digits = min(int((decimals + size + 1).max()), _SURE_DIGITS)
    if digits > _FLOAT_DIGITS:
        return np.asarray(np.minimum(most, digits - 1 - size))
    endings = {digit for digit, places in zip(last, decimals.tolist(), strict=True) if places == most}
    n, shorter, share = len(values), int((decimals < most).sum()), 1 / (1 + len(endings))
    if "0" in endings or shorter > share * n + 3 * (share * (1 - share) * n) ** 0.5 + 1:
        return decimals.astype(float)
    return np.full(n, float(most))


def printed_decimals(text: str) -> int | None:
    """How many decimals a plain number was printed with; None where the text is no plain number.

    >>> printed_decimals("62.50"), printed_decimals("1e3"), printed_decimals("n/a")
    (2, -3, None)
    """
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        return None
    return len(found[2] or "") - int(found[3] or 0)


def comma_hint(cell: str) -> str:
    """The way out for `66,3`, which only a reader of files can take; "" for any other cell."""
    is_number = re.fullmatch(r"[-+]?[0-9. ]+,[0-9]+ ?%?", cell.strip())
    return f"; --decimal-comma reads {cell.strip()[:20]!a} as a number" if is_number else ""


def _column(name: str, texts: Sequence[str]) -> Column:
    import numpy as np

    decimals = [printed_decimals(text) for text in texts]
    values = [
        float(text) if places is not None else _infinity(text) for text, places in zip(texts, decimals, strict=True)
    ]
    found = Column(
        name=name, values=np.array(values, dtype=float), texts=tuple(texts),
        decimals=np.array([places or 0 for places in decimals], dtype=np.int64),
    )  # fmt: skip
    return replace(found, widths=found.half_widths())


def _infinity(text: str) -> float:
    word = text.lower().lstrip("+-")
    return math.copysign(math.inf, -1.0 if text.startswith("-") else 1.0) if word in ("inf", "infinity") else math.nan


def _printed(value: Any) -> str:
    """A cell of a data frame as text; `52.0` is 52, since a gap makes floats of a column of integers."""
    if value is None or str(value) in ("nan", "NaN", "<NA>", "NaT"):
        return ""
    text = str(value)
    return text if isinstance(value, str) else text.removesuffix(".0")


def _nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?`, or what there is."""
    import difflib

    names = list(known)
    lowered = {column.lower(): column for column in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean {_cut(lowered[close[0]])}?"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"it has {', '.join(map(_cut, names[:8]))}{more}"


def _cut(name: str) -> str:
    """A name from a file, made safe for a message: no control characters, at most 60 characters."""
    return ascii(name[:60])[1:-1] if not name.isprintable() else f"`{name[:60]}`"

"""Columns of a published table: numbers with what their print says of them, and what in them is no number.

The rounding box of a cell follows from how its column was printed. Where trailing zeros were kept, each cell's own
decimals count. Where a writer dropped them (`59.0` or `59` among `78.33`), the column's most decimals do. A column of
many digits was printed from floats, so that its significant digits are fixed and its decimals are not. One of `86.0`
and `52.0` alone holds whole numbers, of which a gap elsewhere has made floats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.store.ranked.cells import RankedCell
from evenhand.store.text_files import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Printing", "RankedColumn", "read_column"]

Printing = Literal["decimals", "zeros dropped", "mixed decimals", "significant digits", "whole numbers", "exact"]

_FLOAT_DIGITS = 8
_SURE_DIGITS = 15  # of a float, however many its shortest text has
_MOSTLY = 0.5
_FEW = 5
_SENTINELS = frozenset((-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedColumn:
    """One column, one cell a row.

    Attributes:
        values: (n,) the numbers; nan where there is none, infinities as they are.
        decimals: (n,) printed decimals of each cell, 0 where it holds no number.
        widths: (n,) half of one unit in the last place known; 0 where the column is exact or the cell no number.
        texts: (n,) the cells as they stand.
        errors: (n,) what stands after `±`, nan where nothing does; None where no cell has it.
        printing: how the widths were found.
        kind: `number`, or `text` where fewer than half of the filled cells are numbers.
        parent: of a part of cells such as `94/92`, the column that they are from; "" otherwise.
        unit: `%`, letters or a currency sign that the cells bear.
        missing, stray, infinite: (n,) which cells stand for nothing, hold text among numbers, are infinite.
        exact: declared: the printed numbers are the numbers.
        lower: declared: lower is better.
    """

    name: str
    values: "NDArray[np.float64]"
    decimals: "NDArray[np.int64]"
    widths: "NDArray[np.float64]"
    texts: tuple[str, ...]
    missing: "NDArray[np.bool_]"
    stray: "NDArray[np.bool_]"
    infinite: "NDArray[np.bool_]"
    errors: "NDArray[np.float64] | None" = None
    printing: Printing = "decimals"
    kind: Literal["number", "text"] = "number"
    parent: str = ""
    unit: str = ""
    exact: bool = False
    lower: bool = False

    def where(self, chosen: "NDArray[np.bool_]") -> "RankedColumn":
        """The chosen cells; their widths stay those that the whole column showed."""
        return replace(
            self,
            values=self.values[chosen], decimals=self.decimals[chosen], widths=self.widths[chosen],
            texts=tuple(text for text, is_kept in zip(self.texts, chosen, strict=True) if is_kept),
            missing=self.missing[chosen], stray=self.stray[chosen], infinite=self.infinite[chosen],
            errors=None if self.errors is None else self.errors[chosen],
        )  # fmt: skip

    def declared(self, *, exact: bool, lower: bool) -> "RankedColumn":
        """The same column as its user declares it."""
        import numpy as np

        if not exact:
            return replace(self, lower=lower)
        return replace(self, exact=True, lower=lower, widths=np.zeros(len(self.texts)), printing="exact")

    def sentinels(self) -> tuple[float, "NDArray[np.bool_]"] | None:
        """A number that probably stands for a missing one, and where: a usual code, outside all others' range."""
        import numpy as np

        known = self.values[np.isfinite(self.values)]
        for code in (float(known.min()), float(known.max())) if known.size else ():
            rest = known[known != code]
            where = self.values == code
            apart = rest.size >= 2 and (rest.min() >= 0 if code < 0 else rest.max() < code / 2)
            if code in _SENTINELS and apart and (where.sum() >= 2 or abs(code) >= 99):
                return code, where
        return None

    def document(self) -> dict[str, Any]:
        """What was read, as `--json` prints it."""
        found: dict[str, Any] = {
            "name": self.name, "kind": self.kind, "missing": int(self.missing.sum()), "text": int(self.stray.sum()),
            "infinite": int(self.infinite.sum()),
        }  # fmt: skip
        if self.kind == "number":
            found |= {"decimals": self.most_decimals(), "printing": self.printing}
        extra = {"unit": self.unit, "exact": self.exact, "lower": self.lower, "part_of": self.parent}
        return found | {key: value for key, value in extra.items() if value}

    def most_decimals(self) -> int:
        """The most decimals of any number."""
        import numpy as np

        known = np.isfinite(self.values)
        return int(self.decimals[known].max()) if known.any() else 0


def read_column(
    name: str, texts: Sequence[str], read: Callable[[str], RankedCell]
) -> tuple[RankedColumn, tuple[RankedColumn, ...], list[str]]:
    """A column, the columns of its cells' parts, and what a reader should know.

    Args:
        texts: (n,) its cells.
        read: what reads a cell.
    """
    import numpy as np

    cells = [read(text) for text in texts]
    units = [cell.unit for cell in cells if cell.kind == "number" and cell.unit]
    unit = max(sorted(set(units)), key=units.count) if units else ""
    cells = [_foreign(cell) if cell.unit and cell.unit != unit else cell for cell in cells]
    filled = sum(cell.kind != "missing" for cell in cells)
    n_numbers = sum(cell.kind in ("number", "infinite") for cell in cells)
    if not n_numbers or n_numbers < _MOSTLY * filled:
        blank = np.zeros(len(cells), bool)
        return RankedColumn(
            name=name, kind="text", texts=tuple(texts), values=np.full(len(cells), np.nan),
            decimals=np.zeros(len(cells), np.int64), widths=np.zeros(len(cells)),
            missing=_which(cells, "missing"), stray=blank, infinite=blank,
        ), (), []  # fmt: skip
    values = np.array([np.nan if cell.value is None else cell.value for cell in cells])
    widths, printing = _widths(cells, values)
    spreads = np.array([np.nan if cell.spread is None else cell.spread for cell in cells])
    column = RankedColumn(
        name=name, values=values, decimals=np.array([cell.decimals for cell in cells], np.int64), widths=widths,
        texts=tuple(texts), errors=None if np.isnan(spreads).all() else spreads, printing=printing, unit=unit,
        missing=_which(cells, "missing"), stray=_which(cells, "text"), infinite=_which(cells, "infinite"),
    )  # fmt: skip
    parts = tuple(_parts(column, cells))
    return column, parts, list(_notes(column, cells, parts))


def _foreign(cell: RankedCell) -> RankedCell:
    """A number in another unit than the column's is no number of the column."""
    return RankedCell(kind="text", text=cell.text)


def _which(cells: Sequence[RankedCell], kind: str) -> "NDArray[np.bool_]":
    import numpy as np

    return np.array([cell.kind == kind for cell in cells], bool)


def _widths(cells: Sequence[RankedCell], values: "NDArray[np.float64]") -> "tuple[NDArray[np.float64], Printing]":
    """Half a unit in the last place of each cell, and how the column was printed."""
    import numpy as np

    numbers = np.array([cell.kind == "number" for cell in cells], bool)
    widths = np.zeros(len(cells))
    if not numbers.any():
        return widths, "decimals"
    decimals = np.array([cell.decimals for cell in cells], np.int64)
    printing, places = _places(
        decimals[numbers], np.array([cell.digits for cell in cells], np.int64)[numbers],
        _last_digits(cells, int(decimals[numbers].max())), values[numbers],
    )  # fmt: skip
    widths[numbers] = 0.5 * 10.0 ** -places.astype(float)
    return widths, printing


def _places(
    decimals: "NDArray[np.int64]",
    digits: "NDArray[np.int64]",
    last: set[str],
    values: "NDArray[np.float64]",
) -> "tuple[Printing, NDArray[np.int64]]":
    """How the numbers were printed, and the place of the last digit known of each."""
    import numpy as np

    most, most_digits = int(decimals.max()), min(int(digits.max()), _SURE_DIGITS)
    if most_digits == _SURE_DIGITS or (
        most_digits >= _FLOAT_DIGITS and (digits == most_digits).sum() > (decimals == most).sum()
    ):
        sizes = np.abs(values)
        whole = np.where(sizes > 0, np.floor(np.log10(np.where(sizes > 0, sizes, 1.0))) + 1, 1).astype(np.int64)
        known = np.minimum(most_digits - whole, most)
        return "significant digits", known if most_digits == _SURE_DIGITS else np.maximum(decimals, known)
    if most == 1 and len(set(values.tolist())) >= _FEW and (values == np.round(values)).all():
        return "whole numbers", np.zeros_like(decimals)
    if (decimals == most).all():
        return "decimals", decimals
    # Of numbers rounded to `most` decimals a tenth ends in 0 (half, where the others all end in 5): where none does,
    # the zeros were dropped, and about so many cells are shorter; clearly more shorter ones were printed so.
    n_shorter, n, share = int((decimals < most).sum()), len(decimals), 1 / (1 + len(last))
    if "0" not in last and n_shorter <= share * n + 3 * float(np.sqrt(share * (1 - share) * n)) + 1:
        return "zeros dropped", np.full(n, most)
    return "mixed decimals", decimals


def _last_digits(cells: Sequence[RankedCell], most: int) -> set[str]:
    """The last digits of the numbers with the most decimals; a 0 among them shows that zeros were kept."""
    return {_last(cell) for cell in cells if cell.kind == "number" and cell.decimals == most}


def _last(cell: RankedCell) -> str:
    """The last digit of the number."""
    main = cell.text.partition("±")[0].partition("(")[0]
    return next((character for character in reversed(main) if character.isdigit()), "")


def _parts(column: RankedColumn, cells: Sequence[RankedCell]) -> "list[RankedColumn]":
    """The first, second, ... number of cells such as `94/92`, as columns of their own."""
    import numpy as np

    count = max((len(cell.parts) for cell in cells), default=0)
    return [
        replace(
            column,
            name=f"{column.name}_{number + 1}",
            values=np.array([cell.parts[number] if len(cell.parts) > number else np.nan for cell in cells]),
            missing=np.array([len(cell.parts) <= number for cell in cells], bool),
            stray=np.zeros(len(cells), bool), infinite=np.zeros(len(cells), bool), errors=None, parent=column.name,
        )
        for number in range(count)
    ]  # fmt: skip


def _notes(column: RankedColumn, cells: Sequence[RankedCell], parts: Sequence[RankedColumn]) -> "list[str]":
    """What a reader should know of how a column was read."""
    name, found = quoted(column.name), []
    if parts:
        paired = [cell for cell in cells if cell.parts]
        names = " and ".join(quoted(part.name) for part in parts)
        found.append(
            f"{name}: {len(paired)} cells such as {quoted(paired[0].text)} are read as the mean of their numbers, "
            f"which are the columns {names}"
        )
    grouped = [cell for cell in cells if cell.kind == "number" and "," in cell.text and not cell.parts]
    if grouped and column.decimals.max() <= 0:
        found.append(f"{name}: {quoted(grouped[0].text)} is read as {grouped[0].value:,.0f} (thousands)")
    if column.errors is not None:
        found.append(f"{name}: what stands after ± is taken for a standard error")
    if column.unit and (bare := [cell for cell in cells if cell.kind == "number" and not cell.unit]):
        n = sum(cell.kind == "number" for cell in cells)
        found.append(
            f"{name}: {n - len(bare)} of {n} numbers bear {quoted(column.unit)}, the others, such as "
            f"{quoted(bare[0].text)}, no unit; all are read alike"
        )
    marked = [cell for cell in cells if cell.remark and cell.kind == "number"]
    if marked:
        found.append(f"{name}: marks left out in {len(marked)} cell(s), such as {quoted(marked[0].remark)}")
    return found

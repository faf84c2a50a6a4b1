"""What a file of scores holds, typed: numbers, states, and factorised names, column by column."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.rows import Names
from evenhand.store.text_files import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["STATUSES", "ScoreFault", "ScoreStatus", "ScoreTable"]

ScoreStatus = Literal["scored", "failed", "abstained", "missing", "text", "infinite"]
STATUSES: tuple[ScoreStatus, ...] = ("scored", "failed", "abstained", "missing", "text", "infinite")
"""What a cell of `ScoreTable.status` stands for, by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFault:
    """Something in the file that is no score: how often it came, and where first.

    Attributes:
        field: the column, or "" where the whole row is meant.
        kind: in words, such as `text where a number was expected`.
        n: how many cells or rows.
        examples: the first few, each with its line and what stood there.
    """

    field: str
    kind: str
    n: int
    examples: tuple[tuple[int, str], ...]

    def sentence(self, source: str, unit: str = "line") -> str:
        """Where, what came, how often."""
        column = f", column {quoted(self.field)}" if self.field else ""
        where = "; ".join(f"{unit} {line}: {words}" for line, words in self.examples)
        more = ", ..." if self.n > len(self.examples) else ""
        return f"{source}{column}: {self.n} x {self.kind} ({where}{more})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores, one a cell: a row of the file has as many cells as there are score columns.

    Attributes:
        source: how messages name the file.
        unit: what `line` counts: `line` or `row`.
        columns: which column played which role.
        value: (n,) the number that stands in the cell, also where the row failed; nan where there is none.
        status: (n,) index into STATUSES.
        row: (n,) the row of the file that a cell is of, from 0.
        line: (n,) where that row begins in the file.
        item, judge, rerun, criterion: factorised names, or None where the file does not say.
        time: (n,) UTC, NaT where unknown; None where the file has no times.
        human: (n,) the human grade on the same row, nan where there is none; None without such a column.
        beside: the texts of the further columns that were asked for, by column.
        scale: the scale that the file itself declares (records do).
        overall: code of the criterion that sums the others up, where one does.
        faults: what was no score, by kind.
        notes: what a reader should know about how the file was read.
        is_records: whether these are evenhand's own records.
    """

    source: str
    unit: str
    columns: ScoreColumns
    value: "NDArray[np.float64]"
    status: "NDArray[np.int8]"
    row: "NDArray[np.int64]"
    line: "NDArray[np.int64]"
    item: Names | None = None
    judge: Names | None = None
    rerun: Names | None = None
    criterion: Names | None = None
    time: "NDArray[np.datetime64] | None" = None
    human: "NDArray[np.float64] | None" = None
    beside: Mapping[str, Names] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    overall: int | None = None
    faults: tuple[ScoreFault, ...] = ()
    notes: tuple[str, ...] = ()
    is_records: bool = False

    @property
    def n(self) -> int:
        """How many cells."""
        return len(self.value)

    @property
    def n_rows(self) -> int:
        """How many rows of the file they are of."""
        import numpy as np

        return len(np.unique(self.row))

    @property
    def score(self) -> "NDArray[np.float64]":
        """(n,) the scores: nan unless the cell's status is `scored`."""
        import numpy as np

        return np.where(self.status == STATUSES.index("scored"), self.value, np.nan)

    def counts(self) -> dict[ScoreStatus, int]:
        """How many cells have each status; they add up to n."""
        import numpy as np

        found = np.bincount(self.status, minlength=len(STATUSES))
        return {status: int(found[code]) for code, status in enumerate(STATUSES)}

    def where(self, chosen: "NDArray[np.bool_]") -> "ScoreTable":
        """The chosen cells only; names keep their codes, and faults stay those of the whole file."""

        def part(names: Names) -> Names:
            return Names(codes=names.codes[chosen], names=names.names)

        def cut(names: Names | None) -> Names | None:
            return None if names is None else part(names)

        return replace(
            self,
            value=self.value[chosen], status=self.status[chosen], row=self.row[chosen], line=self.line[chosen],
            item=cut(self.item), judge=cut(self.judge), rerun=cut(self.rerun), criterion=cut(self.criterion),
            time=None if self.time is None else self.time[chosen],
            human=None if self.human is None else self.human[chosen],
            beside={name: part(names) for name, names in self.beside.items()},
        )  # fmt: skip

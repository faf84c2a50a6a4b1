"""Rows of a file as columns of factorised texts; rows that cannot be read are counted and named.

A log is read in spite of a torn line, a repeated header or a row with too many cells: these hold no score that could be
trusted, so each is kept apart by kind with its line. Where more than a tenth of all rows are like that, the file is not
what it was taken for and is refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.values import read_times
from evenhand.store.text_files import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CHUNK", "Names", "RawColumns", "RowBuilder"]

CHUNK = 8192
"""Rows that are taken at once: their lists fit into the processor's cache."""

_MOST_UNREADABLE = 0.1
_ALWAYS_BORNE = 2
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A column of texts, factorised.

    Attributes:
        codes: (n,) place of each row's text in `names`; -1 where the row has none.
        names: the distinct texts, in the order in which they first come.
    """

    codes: "NDArray[np.int32]"
    names: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class RawColumns:
    """What was read, before any text is taken as a number.

    Attributes:
        source: how messages name the file.
        unit: what its places are: `line` or `row`.
        columns: which column plays which role.
        texts: factorised texts by column; JSON's null and a missing field are "". Not the time: its texts are seldom
            twice the same, and are read as they come.
        times: (n,) UTC, NaT where there is none; None without such a column.
        no_times: the first few texts that are no time, each with its line.
        n_no_times: how many there were.
        line: (n,) where each row begins.
        unreadable: kind to the places and words of rows that could not be read, the first few.
        n_unreadable: kind to how many there were.
        notes: what a reader should know about how the file was read.
        decimal_comma: whether the file's separator leaves the comma to decimals.
    """

    source: str
    unit: str
    columns: ScoreColumns
    texts: dict[str, Names]
    line: "NDArray[np.int64]"
    times: "NDArray[np.datetime64] | None" = None
    no_times: list[tuple[int, str]] = field(default_factory=list)
    n_no_times: int = 0
    unreadable: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    n_unreadable: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    decimal_comma: bool = False


class _Codes(dict[str, int]):
    """Gives each new text the next number."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class RowBuilder:
    """Columns that grow chunk by chunk."""

    def __init__(self, columns: ScoreColumns) -> None:
        self.columns = columns
        names = [name for name in columns.named() if name != columns.time]
        self._codes = {name: _Codes() for name in names}
        self._parts: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
        self._times: list[NDArray[np.datetime64]] = []
        self._lines: list[NDArray[np.int64]] = []
        self.no_times: list[tuple[int, str]] = []
        self.n_no_times = 0
        self.unreadable: dict[str, list[tuple[int, str]]] = {}
        self.n_unreadable: dict[str, int] = {}

    def add(self, columns: Iterable[tuple[str, Sequence[str]]], lines: "NDArray[np.int64]") -> None:
        """Add one chunk of each column."""
        import numpy as np

        for name, texts in columns:
            if name == self.columns.time:
                self._add_times(texts, lines)
            else:
                codes = map(self._codes[name].__getitem__, texts)
                self._parts[name].append(np.fromiter(codes, np.int32, len(texts)))
        self._lines.append(lines)

    def _add_times(self, texts: Sequence[str], lines: "NDArray[np.int64]") -> None:
        """Read one chunk of times; a text that is none is kept apart, unless it is blank."""
        import numpy as np

        times = read_times(texts)
        self._times.append(times)
        for place in np.flatnonzero(np.isnat(times)).tolist():
            if texts[place].strip():
                self.n_no_times += 1
                if len(self.no_times) < _EXAMPLES:
                    self.no_times.append((int(lines[place]), quoted(texts[place])))

    def refuse(self, kind: str, line: int, words: str) -> None:
        """Count a row that cannot be read."""
        self.n_unreadable[kind] = self.n_unreadable.get(kind, 0) + 1
        examples = self.unreadable.setdefault(kind, [])
        if len(examples) < _EXAMPLES:
            examples.append((line, words))

    def finished(self, source: str, unit: str, notes: list[str]) -> RawColumns:
        """The whole table."""
        import numpy as np

        line = np.concatenate(self._lines) if self._lines else np.zeros(0, np.int64)
        self._check(source, unit, len(line))
        texts = {
            name: Names(codes=np.concatenate(parts) if parts else np.zeros(0, np.int32), names=tuple(self._codes[name]))
            for name, parts in self._parts.items()
        }
        return RawColumns(
            source=source, unit=unit, columns=self.columns, texts=texts, line=line,
            times=np.concatenate(self._times) if self._times else None,
            no_times=self.no_times, n_no_times=self.n_no_times,
            unreadable=self.unreadable, n_unreadable=self.n_unreadable, notes=notes,
        )  # fmt: skip

    def _check(self, source: str, unit: str, n: int) -> None:
        """Refuse a file without rows, and one that is mostly unreadable."""
        n_bad = sum(self.n_unreadable.values())
        if n == 0 and n_bad == 0:
            raise InvalidInput(f"{source}: holds no rows of scores; expected a header and a row for each score")
        if n == 0 or n_bad > max(_ALWAYS_BORNE, _MOST_UNREADABLE * (n + n_bad)):
            kind, examples = next(iter(self.unreadable.items()))
            raise InvalidInput(
                f"{source}: {n_bad} of {n + n_bad} rows cannot be read, the first in {unit} {examples[0][0]} "
                f"({kind}: {examples[0][1]}); repair the file, or convert it to CSV or JSONL"
            )

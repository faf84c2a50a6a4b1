"""Bootstrap over items, or over the sources they came from, by weights: a resample is how often each item was drawn.

A statistic is resampled by a kernel: from weights (n_batch, n_rows) it gives its value under each row of weights, nan
where it is undefined. Equal seeds draw equal resamples; figures that must be paired (differences, ceilings) come from
one draw of one kernel with several values. Items that are equal in all ratings are one row that is drawn as often as
they stand for (multinomial): with few levels the table is resampled, not the items.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.weights import weighted_sums
from evenhand.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["Bootstrap", "Draws", "Kernel", "Units", "draw", "no_resampling"]

Kernel = Callable[["Floats"], "Floats"]
"""Weights (n_batch, n_rows), whole numbers, to values (n_batch,) or (n_batch, n_statistics); nan where undefined."""

_BATCH = 1 << 15  # weights held at once: small enough for the processor's cache, large enough to hide the call
_FEW = 400  # below this many items the table saves nothing
_SAME = 1e-12  # values nearer than this differ by rounding alone
_NOT_ASKED = "no resampling was asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How a figure is resampled.

    Args:
        n_resamples: 1,999 by default; 9,999 for a number to be published.
        seed: of the generator; printed beside the figure.
        confidence: of the interval, in (0, 1).
        clusters: (n_items,) the source of each item (query, essay prompt, document), of any hashable kind. With it
            whole sources are drawn: items of one source resemble each other, and an interval over items is then too
            narrow (on one real set with 25 queries, [0.483, 0.530] over items and [0.373, 0.625] over queries).
        most_undefined: largest share of resamples without a value up to which an interval is given.
    Raises:
        InvalidInput: a number outside its range.
    """

    n_resamples: int = 1999
    seed: int = 0
    confidence: float = 0.95
    clusters: Sequence[Hashable] | None = None
    most_undefined: float = 0.05

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise InvalidInput(
                f"bootstrap: confidence {self.confidence} is no level; expected a number between 0 and 1"
            )
        if self.n_resamples < 1:
            raise InvalidInput(f"bootstrap: {self.n_resamples} resamples; expected 1 or more, better 1,999")
        if not 0.0 <= self.most_undefined < 1.0:
            raise InvalidInput(f"bootstrap: most_undefined {self.most_undefined}; expected a share below 1")
        if self.seed < 0:
            raise InvalidInput(f"bootstrap: seed {self.seed}; expected 0 or more")

    def of(self, kept: "Sequence[bool] | NDArray[np.bool_]") -> "Bootstrap":
        """The same for some of the items: their clusters are taken along."""
        if self.clusters is None:
            return self
        if len(self.clusters) != len(kept):
            raise InvalidInput(f"bootstrap: {len(self.clusters)} clusters for {len(kept)} items; expected one an item")
        return replace(self, clusters=tuple(c for c, keep in zip(self.clusters, kept, strict=True) if keep))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """What is drawn, and which rows it weighs.

    Attributes:
        rows: (n_rows,) one item for each row; rows that differ in no rating are one where that is quicker.
        n_items: items in all.
        n_units: items or clusters that are drawn with replacement, as many as there are.
        codes: (n_items,) the cluster of each item, from 0; None where items are drawn.
        table: (n_units, n_rows), or (n_rows,) where items are drawn: how many items each row stands for; None where
            every item is its own row.
    """

    rows: "Integers"
    n_items: int
    n_units: int
    codes: "Integers | None" = None
    table: "Floats | None" = None

    @classmethod
    def of(cls, ratings: "Floats", bootstrap: Bootstrap) -> "Units":
        """The units of a matrix of ratings (n_items, n_columns); nan is missing.

        Raises:
            InvalidInput: clusters of another length.
        """
        import numpy as np

        n = len(ratings)
        codes = _codes(bootstrap.clusters, n)
        n_units = n if codes is None else int(codes.max(initial=-1)) + 1
        rows, of_item = (np.arange(n), None) if n < _FEW else _distinct(ratings)
        n_rows = len(rows)
        if of_item is None or n_rows * 4 > n or (codes is not None and n_rows * n_units > 4 * n):
            return cls(rows=np.arange(n), n_items=n, n_units=n_units, codes=codes)
        if codes is None:
            table = np.bincount(of_item, minlength=n_rows).astype(np.float64)
        else:
            flat = np.bincount(codes * n_rows + of_item, minlength=n_units * n_rows)
            table = flat.reshape(n_units, n_rows).astype(np.float64)
        return cls(rows=rows, n_items=n, n_units=n_units, codes=codes, table=table)

    def once(self) -> "Floats":
        """(1, n_rows) weights of the data as they are."""
        import numpy as np

        if self.table is None:
            return np.ones((1, len(self.rows)))
        whole: Floats = np.atleast_2d(self.table).sum(axis=0, keepdims=True)
        return whole

    def weights(self, bootstrap: Bootstrap) -> "Iterator[Floats]":
        """Batches (n_batch, n_rows) of weights, `n_resamples` in all; the same whatever the batch."""
        import numpy as np

        rng = np.random.default_rng(bootstrap.seed)
        size = max(1, _BATCH // max(1, len(self.rows), self.n_units if self.codes is not None else 0))
        for start in range(0, bootstrap.n_resamples, size):
            n = min(size, bootstrap.n_resamples - start)
            if self.codes is None and self.table is not None:
                yield rng.multinomial(self.n_items, self.table / self.n_items, size=n).astype(np.float64)
                continue
            counts = _counts(rng, self.n_units, n)
            if self.codes is None:
                yield counts
            else:
                yield counts[:, self.codes] if self.table is None else weighted_sums(counts, self.table)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """A statistic, or several, on each resample.

    Attributes:
        values: (n_resamples, n_statistics); nan where a statistic is undefined on a resample.
        bootstrap: the settings.
        n_items: items in the data.
        n_units: items or clusters that were drawn.
    """

    values: "Floats"
    bootstrap: Bootstrap
    n_items: int
    n_units: int

    def estimate(self, value: float, column: int = 0, *, n: int | None = None) -> Estimate:
        """A value with its percentile interval, or with the reason why it has none.

        Args:
            value: the statistic on the data as they are.
            column: which of the statistics it is.
            n: items it rests on, where that is not all.
        """
        low, high, why = self.interval(column)
        return Estimate(
            value=float(value),
            low=low,
            high=high,
            no_interval=why,
            n=self.n_items if n is None else n,
            method="" if why else f"percentile bootstrap over {self.unit}",
            confidence=self.bootstrap.confidence,
            n_resamples=len(self.values),
            n_degenerate=self.n_undefined(column),
            seed=self.bootstrap.seed,
        )

    def interval(self, column: int = 0) -> tuple[float | None, float | None, str | None]:
        """(low, high, None), or (None, None, reason): too many undefined resamples, or all alike."""
        import numpy as np

        if why := self.refusal(column):
            return None, None, why
        tail = 50.0 * (1.0 - self.bootstrap.confidence)
        low, high = np.percentile(self.defined(column), [tail, 100.0 - tail])
        if high - low <= _SAME * max(1.0, abs(high)):
            return None, None, f"degenerate: the resamples give {high:.6g} throughout, which is no sign of precision"
        return float(low), float(high), None

    def refusal(self, column: int = 0) -> str | None:
        """Why no interval can be given, or None."""
        if self.n_units < 2:
            return f"one {'item' if self.bootstrap.clusters is None else 'cluster'}: there is nothing to resample"
        n_undefined, n = self.n_undefined(column), len(self.values)
        if n_undefined > self.bootstrap.most_undefined * n:
            digits = 1 if n_undefined > (self.bootstrap.most_undefined + 0.001) * n else 2  # 5.03 % is more than 5 %
            return (
                f"{n_undefined:,} of {n:,} resamples ({100 * n_undefined / n:.{digits}f} %) leave it undefined, "
                f"more than {100 * self.bootstrap.most_undefined:g} %"
            )
        return None

    def defined(self, column: int = 0) -> "Floats":
        """The values of the resamples that have one."""
        import numpy as np

        found = self.values[:, column]
        return found[~np.isnan(found)]

    def n_undefined(self, column: int = 0) -> int:
        """How many resamples leave it undefined; they are left out of the interval."""
        return len(self.values) - len(self.defined(column))

    def standard_error(self, column: int = 0) -> float | None:
        """SD (n - 1) of the resamples; None where the interval is refused."""
        if self.refusal(column) or len(self.defined(column)) < 2:
            return None
        return float(self.defined(column).std(ddof=1))

    @property
    def unit(self) -> str:
        """What was drawn: `items`, or `25 clusters`."""
        return "items" if self.bootstrap.clusters is None else plural(self.n_units, "cluster")


def draw(kernel: Kernel, units: Units, bootstrap: Bootstrap) -> Draws:
    """A kernel's values on all resamples, batch by batch, so that memory stays bounded."""
    import numpy as np

    values = [kernel(weights) for weights in units.weights(bootstrap)]
    stacked = np.concatenate([found[:, None] if found.ndim == 1 else found for found in values])
    return Draws(values=stacked, bootstrap=bootstrap, n_items=units.n_items, n_units=units.n_units)


def no_resampling(value: float, *, n: int) -> Estimate:
    """A value without an interval, because nobody asked for one."""
    return Estimate(value=float(value), n=n, no_interval=_NOT_ASKED)


def _counts(rng: "np.random.Generator", n_units: int, n_batch: int) -> "Floats":
    """(n_batch, n_units): how often each unit is drawn; the indices are those that scipy's bootstrap draws."""
    import numpy as np

    drawn = rng.integers(0, n_units, size=(n_batch, n_units))
    drawn += np.arange(n_batch)[:, None] * n_units
    return np.bincount(drawn.ravel(), minlength=n_batch * n_units).reshape(n_batch, n_units).astype(np.float64)


def _codes(clusters: Sequence[Hashable] | None, n_items: int) -> "Integers | None":
    """The clusters numbered from 0 in the order in which they come."""
    import numpy as np

    if clusters is None:
        return None
    if len(clusters) != n_items:
        raise InvalidInput(f"bootstrap: {len(clusters)} clusters for {n_items} items; expected one an item")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.intp)


def _distinct(ratings: "Floats") -> "tuple[Integers, Integers]":
    """One item for each distinct row, and the row of each item."""
    import numpy as np

    filled = np.where(np.isnan(ratings), np.inf, ratings)  # nan equals nothing; no rating is infinite
    codes = np.zeros(len(filled), dtype=np.intp)
    for column in filled.T:
        levels, level = np.unique(column, return_inverse=True)
        codes = np.unique(codes * len(levels) + level, return_inverse=True)[1]
    _, rows = np.unique(codes, return_index=True)
    return rows, codes

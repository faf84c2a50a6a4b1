"""Could a sample of rows have told two rules apart? Asked of the components alone, before any score is looked at."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["Sample", "certain_rows", "chance", "samples", "smallest_sample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one sample could have told.

    Attributes:
        what: `top 31`, `these 3 rows`, `4 random rows`.
        n: rows in it.
        n_telling: rows in it that are certain to tell; None for random ones.
        probability: that at least one row tells.
    """

    what: str
    n: int
    n_telling: int | None
    probability: float

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {"sample": self.what, "n": self.n, "n_telling": self.n_telling, "probability": self.probability}


def certain_rows(one: "tuple[Floats, Floats]", other: "tuple[Floats, Floats]", half_widths: "Floats") -> "Booleans":
    """(n_rows,) rows on which two rules cannot print the same score.

    Args:
        one: (low, high) of the one rule over each row's box.
        other: (low, high) of the other.
        half_widths: (n_rows,) of the score.
    Returns:
        Where [low - h, high + h] of the two are disjoint; False where a rule has no value.
    """
    import numpy as np

    with np.errstate(invalid="ignore"):
        apart = np.maximum(one[0] - other[1], other[0] - one[1]) > 2 * half_widths
    return np.asarray(apart)


def chance(n_rows: int, n_telling: int, k: int) -> float:
    """The probability that k random rows of n hold at least one of the m that tell: 1 - C(n - m, k) / C(n, k).

    >>> [round(chance(48, 15, k), 3) for k in (4, 8, 16)]
    [0.79, 0.963, 0.999]
    """
    if k > n_rows - n_telling:
        return 1.0 if n_telling else 0.0
    return 1.0 - math.comb(n_rows - n_telling, k) / math.comb(n_rows, k)


def smallest_sample(n_rows: int, n_telling: int, wanted: float = 0.95) -> int | None:
    """The fewest random rows that tell with this probability; None where no row tells."""
    if not n_telling:
        return None
    low, high = 1, n_rows
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(n_rows, n_telling, middle) >= wanted else (middle + 1, high)
    return low


def samples(
    telling: "Booleans", order: Sequence[int], *, top: Sequence[int], chosen: Sequence[int], random: Sequence[int]
) -> tuple[Sample, ...]:
    """The answers for the top k, for chosen rows, and for k random ones.

    Args:
        telling: (n_rows,) rows that are certain to tell.
        order: row indices, best score first.
        top: how many of the best.
        chosen: row indices; empty for none.
        random: how many random rows.
    """
    n, m = len(telling), int(telling.sum())

    def seen(what: str, rows: Sequence[int]) -> Sample:
        count = int(telling[list(rows)].sum())
        return Sample(what=what, n=len(rows), n_telling=count, probability=float(count > 0))

    found = [seen(f"top {min(k, n)}", order[:k]) for k in top]
    if chosen:
        found.append(seen(f"these {len(chosen)} rows" if len(chosen) > 1 else "this row", chosen))
    for k in dict.fromkeys(min(k, n) for k in random):
        what = f"{k} random row{'s' if k > 1 else ''}"
        found.append(Sample(what=what, n=k, n_telling=None, probability=chance(n, m, k)))
    return tuple(found)

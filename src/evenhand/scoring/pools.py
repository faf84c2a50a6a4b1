"""The evidence formula over many pools at once, on numpy arrays.

Gives for each pool what `score_impacts` gives: floats are computed in double precision, and where a value comes so near
to a half that the last digits decide, its rounding is taken from the 50-digit arithmetic.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.scoring.impact import Tally, score_tally
from evenhand.scoring.variants import Settings
from evenhand.terms import IMPACTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["PoolScores", "score_pools"]

_NEAR = 1e-6
_BASE = max(IMPACTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolScores:
    """(n_pools,) arrays, named as in `Breakdown`; raw, exact and score are nan for a pool without items."""

    net: "Integers"
    n: "Integers"
    normalized: "Floats"
    raw: "Floats"
    density: "Floats"
    multiplier: "Floats"
    exact: "Floats"
    score: "Floats"
    confidence: "Floats"


def score_pools(
    impacts: "ArrayLike", pools: "ArrayLike", settings: Settings, *, n_pools: int | None = None
) -> PoolScores:
    """Scores of many pools.

    Args:
        impacts: (n_items,) integers, each a permitted impact.
        pools: (n_items,) integers in [0, n_pools): the pool of each item, in any order.
        settings: used for every pool.
        n_pools: number of pools; by default one more than the largest number in `pools`.
    Raises:
        InvalidInput: shapes differ, not integers, an impact outside the set, a pool out of range, more than 100 pools
            per item and a million in all (number the pools from 0), or `log` where a pool holds one item.

    >>> from evenhand.scoring.variants import settings
    >>> score_pools([3, -2, 1, 1], [0, 0, 2, 2], settings()).score.tolist()
    [54.0, nan, 59.0]
    """
    import numpy as np

    counts = _counts(impacts, pools, n_pools)
    values = np.array(IMPACTS)
    n, net = counts.sum(axis=1), counts @ values
    if settings.normaliser == "log" and (n == 1).any():
        raise InvalidInput(
            f"score_pools: pool {int((n == 1).argmax())} holds one item, and the variant {settings.variant!r} divides "
            "by ln(n), which is then 0; use another variant, or leave the pool out"
        )
    normalized = _ranked(counts) if settings.normaliser == "ranked" else _quotient(net, n, settings)
    centre, empty = float(settings.centre), n == 0
    raw = np.clip(centre + float(settings.scale) * normalized, float(settings.lowest), float(settings.highest))
    density = n / float(settings.density_denominator)
    confidence = np.minimum(density, 1.0)
    multiplier = float(settings.multiplier_floor) + float(settings.multiplier_gain) * confidence
    exact = centre + (raw - centre) * multiplier
    exact[empty] = raw[empty] = np.nan
    return PoolScores(
        net=net,
        n=n,
        normalized=normalized,
        raw=raw,
        density=density,
        multiplier=multiplier,
        exact=exact,
        score=_rounded(exact, counts, settings),
        confidence=confidence,
    )


def _counts(impacts: "ArrayLike", pools: "ArrayLike", n_pools: int | None) -> "Integers":
    """(n_pools, 8) how often each impact of IMPACTS occurs in each pool."""
    import numpy as np

    values, places = _integers(impacts, "impacts"), _integers(pools, "pools")
    if values.shape != places.shape:
        raise InvalidInput(
            f"score_pools: impacts has the shape {values.shape} and pools {places.shape}; expected one pool an item"
        )
    column = np.full(2 * _BASE + 1, -1)
    column[np.array(IMPACTS) + _BASE] = np.arange(len(IMPACTS))
    inside = (values >= -_BASE) & (values <= _BASE)
    codes = column[np.where(inside, values, 0) + _BASE]
    if (codes < 0).any():
        position = int((codes < 0).argmax())
        raise InvalidInput(
            f"score_pools: impacts[{position}] is {values[position]}; expected one of {', '.join(map(str, IMPACTS))}"
        )
    size = int(places.max(initial=-1)) + 1 if n_pools is None else n_pools
    if size > 1_000_000 and size > 100 * len(places):
        raise InvalidInput(f"score_pools: {size} pools for {len(places)} items; number the pools from 0 without gaps")
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < size:
        raise InvalidInput(
            f"score_pools: pools runs from {places.min()} to {places.max()}; expected numbers from 0 to {size - 1}"
        )
    flat = np.bincount(places * len(IMPACTS) + codes, minlength=size * len(IMPACTS))
    return flat.reshape(size, len(IMPACTS))


def _integers(given: "ArrayLike", name: str) -> "Integers":
    """A one-dimensional array of integers."""
    import numpy as np

    array = np.asarray(given)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidInput(
            f"score_pools: {name} is an array of {array.dtype} with {array.ndim} dimensions; expected integers in one"
        )
    return array.astype(np.int64, copy=False)


def _quotient(net: "Integers", n: "Integers", settings: Settings) -> "Floats":
    """Net over the normaliser of n; 0 where n is 0 (net is 0 there, and 2 stands in for n)."""
    import numpy as np

    held = np.where(n == 0, 2, n).astype(np.float64)
    match settings.normaliser:
        case "sqrt":
            divisor = np.sqrt(held)
        case "mean":
            divisor = held
        case "log":
            divisor = np.log(held)
        case _:
            divisor = np.ones_like(held)
    quotient: Floats = net / divisor
    return quotient


def _ranked(counts: "Integers") -> "Floats":
    """As `impact._ranked`: magnitudes are columns i and -1 - i of IMPACTS, strongest first."""
    import numpy as np

    magnitudes = np.array(IMPACTS[:4])
    positive, negative = counts[:, :4], counts[:, :3:-1]
    held = positive + negative
    last = held.cumsum(axis=1)
    share = magnitudes * (positive - negative) / np.maximum(held, 1)
    ranked: Floats = (share * (np.sqrt(last) - np.sqrt(last - held))).sum(axis=1)
    return ranked


def _rounded(exact: "Floats", counts: "Integers", settings: Settings) -> "Floats":
    """Half up; values near a half are decided by the 50-digit arithmetic, once for each distinct pool."""
    import numpy as np

    score = np.floor(exact + 0.5)
    near = np.flatnonzero(np.abs(exact - np.floor(exact) - 0.5) < _NEAR)
    if len(near):
        distinct, place = np.unique(counts[near], axis=0, return_inverse=True)
        decided = [score_tally(_tally(row.tolist()), settings).score for row in distinct]
        score[near] = np.array(decided, dtype=np.float64)[place.reshape(-1)]
    return score


def _tally(row: list[int]) -> Tally:
    """A row of counts as `score_tally` takes it."""
    return tuple((impact, count) for impact, count in zip(IMPACTS, row, strict=True) if count)

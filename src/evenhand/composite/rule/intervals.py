"""Interval arithmetic over rows that also follows how each column moves the result.

An `Interval` holds, per row, the ends of what an expression can be, and per column whether the expression rises (+1),
falls (-1), does not depend on it (0), or may do either (2) while the columns roam their boxes. As long as no sign is 2,
every step picks the same corner of the box for each occurrence of a column, so that the ends are reached: the image of
the box, not merely a bound of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.rule.means import aggregate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Signs = NDArray[np.int8]

__all__ = [
    "EITHER",
    "Interval",
    "extremes",
    "hull",
    "magnitude",
    "mean_of",
    "monotone",
    "negated",
    "power",
    "product",
    "quotient",
    "total",
]

EITHER = 2
"""The sign of a column that may move an expression both ways."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interval:
    """What an expression can be on each row.

    Attributes:
        low: (n_rows,) nan where it has no value.
        high: (n_rows,).
        signs: column -> (n_rows,) of +1, -1, 0 or EITHER; columns that are not named do not matter.
        loose: (n_rows,) where the ends may lie outside the image even if every column moves it one way.
    """

    low: "Floats"
    high: "Floats"
    signs: "Mapping[str, Signs]"
    loose: "Booleans"

    @classmethod
    def of_constant(cls, value: float, n_rows: int) -> "Interval":
        """One number on every row."""
        import numpy as np

        ends = np.full(n_rows, value)
        return cls(low=ends, high=ends, signs={}, loose=np.zeros(n_rows, dtype=bool))

    def with_ends(self, low: "Floats", high: "Floats", *, loose: "Booleans | bool" = False) -> "Interval":
        """Other ends, the same signs."""
        return Interval(low=low, high=high, signs=self.signs, loose=self.loose | loose)

    def unsure(self) -> "Interval":
        """The same ends, but every column may move it either way, and the ends need not be reached."""
        import numpy as np

        wide = self.high > self.low
        signs = {name: np.where(sign != 0, EITHER, 0).astype(np.int8) for name, sign in self.signs.items()}
        return Interval(low=self.low, high=self.high, signs=signs, loose=self.loose | wide)


def negated(x: Interval) -> Interval:
    """Minus x."""
    return Interval(
        low=-x.high, high=-x.low, signs={name: _turned(sign) for name, sign in x.signs.items()}, loose=x.loose
    )


def total(x: Interval, y: Interval) -> Interval:
    """The sum x + y."""
    return Interval(low=x.low + y.low, high=x.high + y.high, signs=_merged([x.signs, y.signs]), loose=x.loose | y.loose)


def product(x: Interval, y: Interval) -> Interval:
    """x * y; a zero beats an infinity, since the infinity is only approached."""
    import numpy as np

    corners = np.stack([_times(a, b) for a in (x.low, x.high) for b in (y.low, y.high)])
    signs = _merged([_scaled(x.signs, _sign(y)), _scaled(y.signs, _sign(x))])
    return Interval(low=corners.min(axis=0), high=corners.max(axis=0), signs=signs, loose=x.loose | y.loose)


def quotient(x: Interval, y: Interval) -> Interval:
    """x / y; unbounded where y can be 0, and a bound alone where y can have either sign: 1 / y skips what is near 0."""
    import numpy as np

    with np.errstate(all="ignore"):
        inside = (y.low < 0) & (y.high > 0)
        nothing = (y.low == 0) & (y.high == 0)
        low = np.where(y.high == 0, -np.inf, 1 / np.where(y.high == 0, 1.0, y.high))
        high = np.where(y.low == 0, np.inf, 1 / np.where(y.low == 0, 1.0, y.low))
    low, high = np.where(inside, -np.inf, low), np.where(inside, np.inf, high)
    low, high = np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)
    signs = {
        name: np.where((sign != 0) & inside, EITHER, _turned(sign)).astype(np.int8) for name, sign in y.signs.items()
    }
    return product(x, Interval(low=low, high=high, signs=signs, loose=y.loose | inside))


def monotone(x: Interval, low: "Floats", high: "Floats") -> Interval:
    """A function that never falls, from its values at the ends of x."""
    return x.with_ends(low, high)


def power(x: Interval, y: Interval, exponent: float | None) -> Interval:
    """x ^ y; `exponent` where y is one constant."""
    import numpy as np

    with np.errstate(all="ignore"):
        if exponent is None:
            return _power_of_both(_above_zero(x), y)
        if exponent < 0:
            one = Interval.of_constant(1.0, len(x.low))
            return quotient(one, power(x, y, -exponent))
        if exponent != int(exponent) or exponent > 2**53:
            x = _above_zero(x)
            return monotone(x, x.low**exponent, x.high**exponent)
        if exponent % 2 == 1:
            return monotone(x, x.low**exponent, x.high**exponent)
        if exponent == 0:
            return Interval.of_constant(1.0, len(x.low)).with_ends(x.low**0 + 0 * x.low, x.high**0 + 0 * x.high)
        size = magnitude(x)
        return monotone(size, size.low**exponent, size.high**exponent)


def magnitude(x: Interval) -> Interval:
    """The absolute value of x."""
    import numpy as np

    inside = (x.low < 0) & (x.high > 0)
    low = np.where(inside, 0.0, np.minimum(np.abs(x.low), np.abs(x.high)))
    return Interval(
        low=low, high=np.maximum(np.abs(x.low), np.abs(x.high)), signs=_scaled(x.signs, _sign(x)), loose=x.loose
    )


def extremes(name: str, parts: Sequence[Interval], present: "Booleans") -> Interval:
    """The least (`min`) or greatest (`max`) of several; parts that cannot be it do not count towards the signs."""
    import numpy as np

    least = name == "min"
    lows, highs = np.stack([part.low for part in parts]), np.stack([part.high for part in parts])
    ones = np.ones(len(parts))
    low, high = aggregate(name, lows, ones, present), aggregate(name, highs, ones, present)
    signs, loose = [], np.zeros(len(low), dtype=bool)
    for part, counts in zip(parts, present, strict=True):
        can_be = counts & ((part.low <= high) if least else (part.high >= low))
        signs.append({column: np.where(can_be, sign, 0).astype(np.int8) for column, sign in part.signs.items()})
        loose |= part.loose & can_be
    return Interval(low=low, high=high, signs=_merged(signs), loose=loose)


def mean_of(
    name: str, parts: Sequence[Interval], weights: "Floats", present: "Booleans", *, exponent: float
) -> Interval:
    """A weighted mean, sum, product or median; each part moves it the way its weight does."""
    import numpy as np

    if name in ("min", "max"):
        return extremes(name, parts, present)
    if name == "prod":
        return _product_of(parts, present)
    if name == "sd":
        return _spread_of(parts, present)
    if name in ("geomean", "hmean") or (name == "power" and exponent != 1):
        parts = [_above_zero(part) for part in parts]
    sums = (weights[:, None] * present).sum(axis=0) if name != "sum" else np.ones(present.shape[1])
    ways = np.where(present, np.sign(weights[:, None] * sums), 0).astype(np.int8)
    if name == "median":
        ways = present.astype(np.int8)
    lows, highs = np.stack([part.low for part in parts]), np.stack([part.high for part in parts])
    falls = ways < 0
    low = aggregate(name, np.where(falls, highs, lows), weights, present, exponent=exponent)
    high = aggregate(name, np.where(falls, lows, highs), weights, present, exponent=exponent)
    signs = _merged([_scaled(part.signs, way) for part, way in zip(parts, ways, strict=True)])
    loose = np.asarray((np.stack([part.loose for part in parts]) & (ways != 0)).any(axis=0))
    return Interval(low=low, high=high, signs=signs, loose=loose)


def hull(first: Interval, second: Interval, choice: "tuple[Booleans, Booleans]", swayed: Sequence[str]) -> Interval:
    """What a conditional can be: the branch that is taken, or both where its condition can fall either way.

    Args:
        first: where the condition holds.
        second: where it does not.
        choice: (n_rows,) each, where the condition can hold, and where it can fail.
        swayed: columns of the condition, whose signs are lost where it can fall either way.
    """
    import numpy as np

    can, cannot = choice
    both = can & cannot
    low = np.where(both, np.fmin(first.low, second.low), np.where(can, first.low, second.low))
    high = np.where(both, np.fmax(first.high, second.high), np.where(can, first.high, second.high))
    signs = dict(_merged([_kept(first.signs, can), _kept(second.signs, cannot)]))
    for name in swayed:
        before = signs.get(name, np.zeros(len(low), dtype=np.int8))
        signs[name] = np.where(both, EITHER, before).astype(np.int8)
    loose = both | (first.loose & can) | (second.loose & cannot)
    return Interval(low=low, high=high, signs=signs, loose=loose)


def _kept(signs: "Mapping[str, Signs]", where: "Booleans") -> "Mapping[str, Signs]":
    import numpy as np

    return {name: np.where(where, sign, 0).astype(np.int8) for name, sign in signs.items()}


def _product_of(parts: Sequence[Interval], present: "Booleans") -> Interval:
    """A product, one factor after the other; a factor that is left out is 1."""
    import numpy as np

    found = Interval.of_constant(1.0, present.shape[1])
    for part, counts in zip(parts, present, strict=True):
        kept = Interval(
            low=np.where(counts, part.low, 1.0), high=np.where(counts, part.high, 1.0),
            signs=_kept(part.signs, counts), loose=part.loose & counts,
        )  # fmt: skip
        found = product(found, kept)
    none = ~present.any(axis=0)
    return found.with_ends(np.where(none, np.nan, found.low), np.where(none, np.nan, found.high))


def _spread_of(parts: Sequence[Interval], present: "Booleans") -> Interval:
    """A standard deviation, which moves by at most the root mean square of the half-widths.

    Where a part that counts has an end without bound, there is no middle, and the deviation can be anything from 0 on.
    """
    import numpy as np

    lows, highs = np.stack([part.low for part in parts]), np.stack([part.high for part in parts])
    endless = ((np.isinf(lows) | np.isinf(highs)) & present).any(axis=0)
    undefined = ((np.isnan(lows) | np.isnan(highs)) & present).any(axis=0)
    lows, highs = np.where(np.isinf(lows), 0.0, lows), np.where(np.isinf(highs), 0.0, highs)
    ones = np.ones(len(parts))
    centre = aggregate("sd", 0.5 * (lows + highs), ones, present)
    move = np.sqrt(aggregate("mean", (0.5 * (highs - lows)) ** 2, ones, present))
    free = endless & ~undefined
    found = Interval(
        low=np.where(free, 0.0, np.maximum(centre - move, 0.0)),
        high=np.where(free, np.inf, centre + move),
        signs=_merged([part.signs for part in parts]),
        loose=np.asarray(np.stack([part.loose for part in parts]).any(axis=0)),
    )
    return found.unsure()


def _power_of_both(x: Interval, y: Interval) -> Interval:
    """x ^ y for x of 0 or more, both in intervals: the extremes lie at corners."""
    import numpy as np

    corners = np.stack([a**b for a in (x.low, x.high) for b in (y.low, y.high)])
    grows = np.where(x.low >= 1, 1, np.where(x.high <= 1, -1, EITHER)).astype(np.int8)
    signs = _merged([_scaled(x.signs, _sign(y)), _scaled(y.signs, grows)])
    return Interval(low=corners.min(axis=0), high=corners.max(axis=0), signs=signs, loose=x.loose | y.loose)


def _above_zero(x: Interval) -> Interval:
    """The part of x from 0 on; nan where there is none."""
    import numpy as np

    nothing = x.high < 0
    return x.with_ends(
        np.where(nothing, np.nan, np.maximum(x.low, 0.0)), np.where(nothing, np.nan, np.maximum(x.high, 0.0))
    )


def _times(a: "Floats", b: "Floats") -> "Floats":
    import numpy as np

    with np.errstate(all="ignore"):
        zero = ((a == 0) | (b == 0)) & ~np.isnan(a) & ~np.isnan(b)
        return np.where(zero, 0.0, a * b)


def _sign(x: Interval) -> "Signs":
    """Whether x is never negative (+1), never positive (-1), 0, or may be both."""
    import numpy as np

    zero = (x.low == 0) & (x.high == 0)
    return np.where(zero, 0, np.where(x.low >= 0, 1, np.where(x.high <= 0, -1, EITHER))).astype(np.int8)


def _turned(sign: "Signs") -> "Signs":
    import numpy as np

    return np.where(sign == EITHER, EITHER, -sign).astype(np.int8)


def _scaled(signs: "Mapping[str, Signs]", factor: "Signs") -> "Mapping[str, Signs]":
    """Signs of something multiplied by a factor of this sign."""
    import numpy as np

    def one(sign: "Signs") -> "Signs":
        either = (sign == EITHER) | (factor == EITHER)
        return np.where((sign == 0) | (factor == 0), 0, np.where(either, EITHER, sign * factor)).astype(np.int8)

    return {name: one(sign) for name, sign in signs.items()}


def _merged(parts: "Sequence[Mapping[str, Signs]]") -> "Mapping[str, Signs]":
    """Signs of a sum: as its parts agree, EITHER where they do not."""
    import numpy as np

    found: dict[str, Signs] = {}
    for signs in parts:
        for name, sign in signs.items():
            before = found.get(name)
            if before is None:
                found[name] = sign
                continue
            agree = np.where(before == sign, before, EITHER)
            found[name] = np.where(before == 0, sign, np.where(sign == 0, before, agree)).astype(np.int8)
    return found

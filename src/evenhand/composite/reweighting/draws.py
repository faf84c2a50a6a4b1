"""How much of the weights each system holds: leader's shares, rank acceptability, pairwise winning indices.

The names are those of stochastic multicriteria acceptability analysis (SMAA): the rank acceptability b_ir is the share
of the weights that give system i rank r; b_i1 is its share of first places; the central weights are the mean of those
that make it first; the pairwise winning index is the share that puts i above k.
Source: Lahdelma and Salminen (2001), SMAA-2, Operations Research 49(3), 444-454.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any

from evenhand.composite.reweighting.form import WeightedForm
from evenhand.composite.reweighting.region import WeightRegion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Acceptability", "Share", "acceptability", "alike", "leader_counts"]

_CELLS = 2_000_000  # scores held at once: 16 MB of floats, and as much again for their order
_PAIRED = 30
_TIE = 1e-12  # relative


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the weights, by draws.

    Attributes:
        value: the share; systems that tie for a place share it equally.
        low, high: Wilson's 95 % interval.
        se: sqrt(p (1 - p) / n).
        n: draws.
        tied: share of the draws in which the place was shared with a system that was level.
    """

    value: float
    low: float
    high: float
    se: float
    n: int
    tied: float = 0.0

    @classmethod
    def of(cls, count: float, n: int, tied: float = 0.0) -> "Share":
        """From how many of n draws.

        >>> Share.of(0, 100).value, round(Share.of(0, 100).high, 4), round(Share.of(50, 100).se, 3)
        (0.0, 0.037, 0.05)
        """
        p, z2 = float(count) / n, 1.959963984540054**2
        centre, half = (p + z2 / (2 * n)), 1.959963984540054 * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        low, high = ((centre + side * half) / (1 + z2 / n) for side in (-1, 1))
        return cls(
            value=p, low=0.0 if p == 0 else max(low, 0.0), high=1.0 if p == 1 else min(high, 1.0),
            se=sqrt(p * (1 - p) / n), n=n, tied=float(tied) / n,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Acceptability:
    """What the draws say.

    Attributes:
        n_draws: weight vectors drawn.
        first: (n,) share of first places.
        ranks: (n, n) share of the draws in which system i has rank r, equal systems both having the better one.
        central: (n, m) mean of the weights that make a system first; nan where none did.
        paired: (k,) systems of `pairwise`: the best by mean rank.
        pairwise: (k, k) share of the draws in which the row's system ranks above the column's.
    """

    n_draws: int
    first: tuple[Share, ...]
    ranks: "Floats"
    central: "Floats"
    paired: tuple[int, ...]
    pairwise: "Floats"

    def rank_interval(self, system: int, coverage: float = 0.95) -> tuple[int, int]:
        """The ranks that leave (1 - coverage) / 2 of the draws on either side."""
        import numpy as np

        tail = (1 - coverage) / 2
        total = np.cumsum(self.ranks[system])
        low = int(np.searchsorted(total, tail + 1e-12)) + 1
        high = int(np.searchsorted(total, 1 - tail - 1e-12)) + 1
        return low, min(high, len(total))

    def mean_rank(self, system: int) -> float:
        """Mean rank over the draws."""
        import numpy as np

        return float(self.ranks[system] @ np.arange(1, self.ranks.shape[1] + 1))


def alike(form: WeightedForm) -> tuple["Integers", "Integers"]:
    """Systems that no weights can tell apart: (n,) group of each, and (g,) one member of each group.

    Equal systems get equal scores only in exact arithmetic; told apart by rounding, one would lead by chance.
    """
    import numpy as np

    linear = form.linear()
    whole = linear
    if whole is None:
        columns = [form.arguments, *(operand[:, None] for operand in form.operands if operand is not None)]
        whole = np.nan_to_num(np.hstack(columns), nan=1e300)
    _, first, group = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    return np.asarray(group.ravel()), np.asarray(first)


def leader_counts(form: WeightedForm, draws: "Iterable[Floats]") -> "Floats":
    """(n,) in how many of the drawn weights each system leads, equal systems counted together at the first of them.

    A draw in which systems share first place, such as by a cap that both reach, is divided among all of them.
    """
    import numpy as np

    group, members = alike(form)
    linear, sizes = form.linear(), np.bincount(group)
    found = np.zeros(len(form.rows))
    chosen = None if linear is None else np.ascontiguousarray(linear[members].T)
    for weights in draws:
        if chosen is not None:
            found += np.bincount(members[(weights @ chosen).argmax(axis=1)], minlength=len(found))
            continue
        merits = form.merits(weights)[:, members]
        is_first = _level(merits, merits.max(axis=1, keepdims=True))
        found[members] += (is_first * sizes / (is_first @ sizes)[:, None]).sum(axis=0)
    return found


def _level(one: "Floats", other: "Floats") -> "NDArray[np.bool_]":
    """Where two merits differ by floating point alone."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= _TIE * np.maximum(np.abs(one), np.abs(other))
    return np.asarray((one == other) | (near & np.isfinite(one)))


def acceptability(
    form: WeightedForm, region: WeightRegion, *, rng: "np.random.Generator", n_draws: int
) -> Acceptability:
    """Ranks under weights drawn uniformly from what is allowed.

    Args:
        rng: draws the weights.
        n_draws: how many.
    """
    import numpy as np

    group, members = alike(form)
    sizes = np.bincount(group)
    linear = form.linear()
    chosen = None if linear is None else -np.ascontiguousarray(linear[members].T)
    n_groups, m = len(members), len(form.labels)
    counts = np.zeros(n_groups * len(group), np.int64)
    lead = _Lead(
        led=np.zeros(n_groups), shared=np.zeros(n_groups), tied=np.zeros(n_groups), sums=np.zeros((n_groups, m))
    )
    paired: Integers | None = None
    wins = np.zeros((0, 0), np.int64)
    for weights in region.draws(rng, n_draws, max(_CELLS // n_groups, 100)):
        lacks = -form.merits(weights)[:, members] if chosen is None else weights @ chosen
        order = np.argsort(lacks, axis=1)
        places, ranks = _ranks(order, sizes, None if chosen is not None else lacks)
        counts += np.bincount((order * len(group) + places).ravel(), minlength=len(counts))
        lead.add(weights, ranks if chosen is None else None, order[:, 0], sizes)
        if paired is None:
            paired = np.argsort(ranks.mean(axis=0), kind="stable")[:_PAIRED]
            wins = np.zeros((len(paired), len(paired)), np.int64)
        _count_wins(np.ascontiguousarray(ranks[:, paired].T), wins, can_tie=chosen is None)
    assert paired is not None
    table = counts.reshape(n_groups, len(group)) / n_draws
    with np.errstate(all="ignore"):
        centre = np.where(lead.led[:, None] > 0, lead.sums / lead.led[:, None], np.nan)
    first = [Share.of(lead.shared[own], n_draws, tied=lead.tied[own]) for own in range(n_groups)]
    return Acceptability(
        n_draws=n_draws, first=tuple(first[own] for own in group.tolist()), ranks=table[group], central=centre[group],
        paired=tuple(int(members[own]) for own in paired), pairwise=wins / n_draws,
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Lead:
    """By group: draws led, each system's part of them, those that were tied, and the sum of the weights there."""

    led: "Floats"
    shared: "Floats"
    tied: "Floats"
    sums: "Floats"

    def add(
        self, weights: "Floats", ranks: "NDArray[np.signedinteger[Any]] | None", leaders: "Integers", sizes: "Integers"
    ) -> None:
        """Count (d, m) weights with their (d, g) ranks from 0; without ranks, each has one group in the lead."""
        import numpy as np

        if ranks is not None:
            is_first = ranks == 0
            n_first = is_first.astype(float) @ sizes
            self.led += is_first.sum(axis=0)
            self.shared += (is_first / n_first[:, None]).sum(axis=0)
            self.tied += (is_first & (n_first > 1)[:, None]).sum(axis=0)
            self.sums += is_first.astype(float).T @ weights
            return
        n = len(sizes)
        led = np.bincount(leaders, minlength=n)
        self.led += led
        self.shared += led / sizes
        self.tied += np.where(sizes > 1, led, 0)
        for column in range(weights.shape[1]):
            self.sums[:, column] += np.bincount(leaders, weights=weights[:, column], minlength=n)


def _ranks(
    order: "Integers", sizes: "Integers", lacks: "Floats | None" = None
) -> "tuple[Integers, NDArray[np.signedinteger[Any]]]":
    """Ranks from 0, groups of several systems taking as many: (d, g) or (1, g) by place, and (d, g) by group.

    Args:
        lacks: (d, g) what was ordered, where groups can be level in it; they have the better rank.
    """
    import numpy as np

    n_draws, n_groups = order.shape
    places = np.arange(n_groups, dtype=np.int64)[None]
    if not (sizes == 1).all():
        taken = sizes[order]
        places = np.cumsum(taken, axis=1) - taken
    if lacks is not None:
        ordered = np.take_along_axis(lacks, order, axis=1)
        same = np.zeros(order.shape, bool)
        same[:, 1:] = _level(ordered[:, 1:], ordered[:, :-1])
        places = np.maximum.accumulate(np.where(same, 0, places), axis=1)
    ranks: NDArray[np.signedinteger[Any]] = np.empty(order.size, np.int16 if sizes.sum() < 1 << 15 else np.int32)
    ranks[order + np.arange(n_draws)[:, None] * n_groups] = places  # a third of the time of put_along_axis
    return places, ranks.reshape(n_draws, n_groups)


def _count_wins(ranks: "NDArray[np.signedinteger[Any]]", wins: "Integers", *, can_tie: bool) -> None:
    """Add to (k, k) how often each row of (k, d) ranks is above each other."""
    import numpy as np

    for own, other in combinations(range(len(ranks)), 2):  # counted along an axis, it takes three times as long
        above = np.count_nonzero(ranks[own] < ranks[other])
        wins[own, other] += above
        wins[other, own] += np.count_nonzero(ranks[other] < ranks[own]) if can_tie else ranks.shape[1] - above

"""The ranking under one way of putting the composite together, and the families of ways that are looked at.

Every view carries its weights, its mean and what it does with gates, so that it can be drawn up again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.composite.reweighting.draws import alike
from evenhand.composite.reweighting.form import Gates, WeightedForm
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "EXPONENTS",
    "Stretch",
    "View",
    "emphases",
    "leave_one_out",
    "mean_sweep",
    "ranks_of",
    "view_of",
    "weights_of_names",
]

EXPONENTS = (float("-inf"), -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, float("inf"))
"""Means that are swept: the smallest argument, harmonic (-1), geometric (0), arithmetic (1), the largest argument."""

_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """One ranking.

    Attributes:
        name: what it is called.
        weights: (m,) summing to 1.
        power: exponent of the mean.
        gates: what is done with factors that depend on the row.
        scores: (n,) what the rule gives.
        ranks: (n,) from 1; systems whose scores differ by rounding alone share the better rank.
        undefined: why there is no ranking; the arrays are then empty.
    """

    name: str
    weights: "Floats"
    power: float
    gates: Gates
    scores: "Floats"
    ranks: "Integers"
    undefined: str | None = None

    @property
    def leaders(self) -> tuple[int, ...]:
        """Who is first; several where they tie."""
        return tuple(int(own) for own in (self.ranks == 1).nonzero()[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """From where to where one system leads as a column's weight grows, the others sharing the rest equally."""

    low: float
    high: float
    leader: int


def ranks_of(merits: "Floats") -> "Integers":
    """(n,) ranks from 1 of (n,) merits, larger being better; differences within rounding are ties.

    >>> import numpy as np
    >>> ranks_of(np.array([0.3, 0.1 + 0.2, 0.5])).tolist()
    [2, 2, 1]
    """
    import numpy as np

    order = np.argsort(-merits, kind="stable")
    ordered = merits[order]
    with np.errstate(invalid="ignore"):
        near = ordered[:-1] - ordered[1:] <= _TIE * np.maximum(np.abs(ordered[:-1]), np.abs(ordered[1:]))
    same = np.append(False, (near & np.isfinite(ordered[1:])) | (ordered[:-1] == ordered[1:]))[: len(order)]
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = starts + 1
    return ranks


def view_of(form: WeightedForm, name: str, weights: "Floats") -> View:
    """The ranking under some weights."""
    group, members = alike(form)
    return View(
        name=name, weights=weights, power=form.core.power, gates=form.gates, scores=form.scores(weights[None])[0],
        ranks=ranks_of(form.merits(weights[None])[0][members][group]),
    )  # fmt: skip


def leave_one_out(form: WeightedForm, weights: "Floats") -> tuple[View, ...]:
    """Without each column in turn, its weight shared out in proportion; a gate on it stays unless released."""
    import numpy as np

    found = []
    for at, label in enumerate(form.labels):
        rest = np.where(np.arange(len(weights)) == at, 0.0, weights)
        if rest.sum() > 0:
            found.append(view_of(form, f"without {label}", rest / rest.sum()))
        else:
            found.append(_undefined(form, f"without {label}", weights, "no other column has a weight"))
    return tuple(found)


def mean_sweep(form: WeightedForm, weights: "Floats") -> tuple[View, ...]:
    """The same weights under other means."""
    found = []
    for power in EXPONENTS:
        name = f"power {power:g}"
        if power != 1 and (form.arguments < 0).any():
            found.append(_undefined(form.with_power(power), name, weights, "a component is negative"))
        else:
            found.append(view_of(form.with_power(power), name, weights))
    return tuple(found)


def _undefined(form: WeightedForm, name: str, weights: "Floats", why: str) -> View:
    import numpy as np

    return View(
        name=name, weights=weights, power=form.core.power, gates=form.gates, scores=np.empty(0),
        ranks=np.empty(0, np.int64), undefined=why,
    )  # fmt: skip


def emphases(form: WeightedForm) -> Mapping[str, tuple[Stretch, ...]]:
    """For each column, who leads as its weight goes from 0 to 1 while the others share the rest equally.

    Exact: the upper edge of straight lines. Empty where the rule has no linear form.
    """
    import numpy as np

    linear = form.linear()
    m = len(form.labels)
    if linear is None or m < 2:
        return {}
    usable = np.flatnonzero(~form.hopeless()) if not form.hopeless().all() else np.arange(len(linear))
    found = {}
    for at, label in enumerate(form.labels):
        others = linear[usable][:, np.arange(m) != at].mean(axis=1)
        edge = _edge(others, linear[usable, at] - others)
        found[label] = tuple(replace(one, leader=int(usable[one.leader])) for one in edge)
    return found


def _edge(start: "Floats", slope: "Floats") -> list[Stretch]:
    """Whose line is highest where, between 0 and 1."""
    import numpy as np

    size = float(np.abs(start).max() + np.abs(slope).max()) or 1.0
    at = 0.0
    found: list[Stretch] = []
    top = np.flatnonzero(start >= start.max() - _TIE * size)
    leader = int(top[slope[top].argmax()])
    while True:
        steeper = np.flatnonzero(slope > slope[leader] + _TIE * size)
        meets = (start[leader] - start[steeper]) / (slope[steeper] - slope[leader])
        nearest = float(meets.min()) if steeper.size else 1.0
        if nearest >= 1.0:
            return [*found, Stretch(low=at, high=1.0, leader=leader)]
        nearest = max(nearest, at)
        rivals = steeper[meets <= nearest + _TIE]
        if nearest > at:
            found.append(Stretch(low=at, high=nearest, leader=leader))
        at, leader = nearest, int(rivals[slope[rivals].argmax()])


def weights_of_names(
    named: Mapping[str, float], labels: Sequence[str], aliases: Mapping[str, str], *, source: str
) -> "Floats":
    """Weights by name as a vector that sums to 1; columns that are not named share what is left equally.

    Args:
        named: column or alias to weight, at least 0. Where all columns are named, only the proportions count.
        source: where they come from, for messages.
    Raises:
        InvalidInput: an unknown name, a weight below 0, a sum of 0, or some columns named with a sum above 1.

    >>> found = weights_of_names({"I": 0.7}, ["iq", "cost", "speed"], {"I": "iq"}, source="--weights")
    >>> found.round(3).tolist()
    [0.7, 0.15, 0.15]
    """
    import difflib

    import numpy as np

    found = np.full(len(labels), np.nan)
    by_case = {alias.casefold(): own for alias, own in aliases.items() if own in labels}
    by_case |= {label.casefold(): label for label in labels}
    for name, weight in named.items():
        label = aliases.get(name, name)
        label = label if label in labels else by_case.get(label.casefold(), "")
        if not label:
            near = difflib.get_close_matches(name, [*labels, *aliases], n=1)
            hint = f"did you mean {near[0]!a}?" if near else f"the rule weights {', '.join(labels)[:200]}"
            raise InvalidInput(f"{source}: the rule has no weight for {name[:60]!a}; {hint}")
        if not 0 <= weight < float("inf"):
            raise InvalidInput(f"{source}: the weight of {name[:60]!a} is {weight:g}; expected a number of at least 0")
        if found[labels.index(label)] == found[labels.index(label)]:
            raise InvalidInput(f"{source}: {name[:60]!a} is weighted twice; give each column one weight")
        found[labels.index(label)] = weight
    total, left = float(np.nansum(found)), int(np.isnan(found).sum())
    if left and total > 1 + 1e-9:
        raise InvalidInput(
            f"{source}: the weights given sum to {total:g}, and {left} column(s) have none; give every column "
            "a weight, or weights that leave the others something of 1"
        )
    if left:
        return np.where(np.isnan(found), max(1 - total, 0.0) / left, found)
    if total <= 0:
        raise InvalidInput(f"{source}: the weights sum to 0; give at least one column a weight above 0")
    return np.asarray(found / total)

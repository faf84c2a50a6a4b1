"""Who can lead at all, how little it takes to dethrone the leader, and who is beaten whatever the weights.

All by exact means where the rule orders systems linearly in its weights: a system can lead if some weights, all of them
above 0 or on the border, put it above every other (a linear program a system); the nearest flip is the least change,
summed over the weights, that lifts a rival to the leader (a closed form on the simplex, a linear program else).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.reweighting.draws import alike
from evenhand.composite.reweighting.form import WeightedForm
from evenhand.composite.reweighting.region import WeightRegion, solved

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Flip", "dominators", "nearest_flips", "possible_leaders"]

_CLOSE = 1e-9
_MOST_ROUNDS = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flip:
    """The nearest weights at which a rival draws level with the leader; the slightest step further hands it the lead.

    Attributes:
        to: the rival.
        l1: sum of the absolute changes of the weights; half of it changes hands.
        weights: (m,) the weights there.
        moves: (from, to, how much) in the order of size.
    """

    to: int
    l1: float
    weights: "Floats"
    moves: tuple[tuple[int, int, float], ...]


def possible_leaders(form: WeightedForm, region: WeightRegion, known: Iterable[int] = ()) -> tuple[int, ...]:
    """Systems that lead alone (or level with equal ones) under some allowed weights.

    Args:
        known: systems that are known to lead, from draws; no program is solved for them.
    Returns:
        Indices, ascending. Exact if the rule has a linear form, else only what was known.
    """
    import numpy as np

    group, members = alike(form)
    found = {int(group[own]) for own in known}
    linear = form.linear()
    if linear is not None:
        chosen = linear[members]
        # A score of 0 whatever the weights leads nowhere, and would only blur the scale.
        usable = np.flatnonzero(~form.hopeless()[members]) if not form.hopeless().all() else np.arange(len(members))
        chosen = chosen[usable]
        place = {int(own): at for at, own in enumerate(usable)}
        rivals = [place[own] for own in sorted(found) if own in place]
        found |= {own for own, at in place.items() if own not in found and _can_lead(chosen, at, region, rivals)}
    return tuple(int(own) for own in np.flatnonzero(np.isin(group, list(found))))


def _can_lead(merits: "Floats", own: int, region: WeightRegion, start: Sequence[int]) -> bool:
    """Whether some allowed weights put a system above all others by more than rounding.

    Starts with the rivals that lead somewhere, and adds whoever still beats it until none does.
    """
    import numpy as np

    ahead = _scaled(merits[own] - merits)
    others = np.delete(np.arange(len(merits)), own)
    if not len(others):
        return True
    if not (ahead[others] > 0).any(axis=1).all():  # somebody is at least as good everywhere
        return False
    m = region.n_weights
    limits = np.hstack([region.above, np.zeros((len(region.above), 1))])
    rivals = [rival for rival in start if rival != own] or [int(others[0])]
    for _ in range(_MOST_ROUNDS):
        # Largest margin t with w . ahead >= t for these rivals.
        best = solved(
            np.append(np.zeros(m), -1.0),
            above=np.vstack([np.hstack([ahead[rivals], -np.ones((len(rivals), 1))]), limits]),
            above_of=np.concatenate([np.zeros(len(rivals)), region.above_of]),
            equal=np.hstack([np.vstack([np.ones((1, m)), region.equal]), np.zeros((1 + len(region.equal), 1))]),
            equal_of=np.concatenate([[1.0], region.equal_of]), bounds=[(0, 1)] * m + [(-3, 3)],
        )  # fmt: skip
        if best is None or best.x[-1] <= _CLOSE:
            return False
        margins = ahead @ best.x[:m]
        margins[own] = np.inf
        worst = int(margins.argmin())
        if margins[worst] > _CLOSE / 10:
            return True
        rivals.append(worst)
    return False


def _scaled(rows: "Floats") -> "Floats":
    """Each row by its largest entry: a sign is all that counts, and rows may differ by many orders of size."""
    import numpy as np

    sizes = np.abs(rows).max(axis=-1, keepdims=True)
    return np.asarray(rows / np.where(sizes > 0, sizes, 1.0))


def nearest_flips(form: WeightedForm, region: WeightRegion, weights: "Floats") -> tuple[Flip, ...]:
    """For each rival that can be lifted to the leader, the nearest weights that do so, nearest first.

    Args:
        weights: (m,) where the leader leads; allowed.
    Returns:
        To a system that is level with the leader already, a flip of length 0. Empty where the rule has no linear form,
        or where the leader leads only because its component of 0 has the weight 0.
    """
    import numpy as np

    linear, hopeless = form.linear(), form.hopeless()
    if linear is None or hopeless[_leader(form, weights)]:
        return ()
    group, _ = alike(form)
    leader = _leader(form, weights)
    gains = _scaled(linear - linear[leader])
    ahead = gains @ weights
    level = np.flatnonzero((np.abs(ahead) <= _CLOSE) & (group != group[leader])).tolist()
    found = [Flip(to=own, l1=0.0, weights=weights, moves=()) for own in level if gains[own].max() > 0]
    for rival in np.flatnonzero((ahead < -_CLOSE) & ~hopeless).tolist():
        if region.is_simplex and not level:
            there = _level(gains[rival], weights)
        else:  # above every system that leads now
            there = _level_within(_scaled(linear[rival] - linear[[leader, *level]]), weights, region)
        if there is not None:
            moves = _moves(weights, there)
            found.append(Flip(to=rival, l1=float(np.abs(there - weights).sum()), weights=there, moves=moves))
    return tuple(sorted(found, key=lambda flip: (flip.l1, flip.to)))


def _leader(form: WeightedForm, weights: "Floats") -> int:
    """Who is first; of several that are level, the one that is best under equal weights."""
    import numpy as np

    linear, merits = form.linear(), form.merits(weights[None])[0]
    level = np.flatnonzero(merits >= merits.max() - 1e-12 * abs(merits.max()))
    return int(level[(merits if linear is None else linear.sum(axis=1))[level].argmax()])


def _level(gain: "Floats", weights: "Floats") -> "Floats | None":
    """The nearest weights on the simplex with gain . w = 0: from the columns that cost most to the best one."""
    best = int(gain.argmax())
    if gain[best] <= 0:
        return None
    found, lacks = weights.copy(), -float(gain @ weights)
    for column in gain.argsort().tolist():
        rate = float(gain[best] - gain[column])
        if lacks <= 0 or rate <= 0:
            break
        moved = min(float(found[column]), lacks / rate)
        found[column] -= moved
        found[best] += moved
        lacks -= moved * rate
    return found if lacks <= _CLOSE else None


def _level_within(gains: "Floats", weights: "Floats", region: WeightRegion) -> "Floats | None":
    """The same among allowed weights, with several gains: least sum of u, -u <= w - weights <= u, gains @ w >= 0."""
    import numpy as np

    m, n = len(weights), len(gains)
    sums = np.vstack([np.ones((1, m)), region.equal])
    sums_of = np.concatenate([[1.0], region.equal_of])
    most = solved(  # some allowed weights must put it above, not only level
        np.append(np.zeros(m), -1.0),
        above=np.vstack(
            [np.hstack([gains, -np.ones((n, 1))]), np.hstack([region.above, np.zeros((len(region.above), 1))])]
        ),
        above_of=np.concatenate([np.zeros(n), region.above_of]),
        equal=np.hstack([sums, np.zeros((len(sums), 1))]), equal_of=sums_of, bounds=[(0, 1)] * m + [(-3, 3)],
    )  # fmt: skip
    if most is None or most.x[-1] <= _CLOSE:
        return None
    eye = np.eye(m)
    sides = [np.hstack([gains, np.zeros((n, m))]), np.hstack([eye, eye]), np.hstack([-eye, eye])]
    best = solved(
        np.concatenate([np.zeros(m), np.ones(m)]),
        above=np.vstack([*sides, np.hstack([region.above, np.zeros((len(region.above), m))])]),
        above_of=np.concatenate([np.zeros(n), weights, -weights, region.above_of]),
        equal=np.hstack([sums, np.zeros((len(sums), m))]), equal_of=sums_of, bounds=[(0, 1)] * m + [(0, 2)] * m,
    )  # fmt: skip
    return None if best is None else np.asarray(best.x[:m])


def _moves(before: "Floats", after: "Floats") -> tuple[tuple[int, int, float], ...]:
    """What goes from where to where, largest first."""
    lost = [[float(before[at] - after[at]), at] for at in range(len(before)) if before[at] - after[at] > _CLOSE]
    won = [[float(after[at] - before[at]), at] for at in range(len(before)) if after[at] - before[at] > _CLOSE]
    found = []
    lost.sort(reverse=True)
    won.sort(reverse=True)
    while lost and won:
        moved = min(lost[0][0], won[0][0])
        found.append((int(lost[0][1]), int(won[0][1]), moved))
        for side in (lost, won):
            side[0][0] -= moved
            if side[0][0] <= _CLOSE:
                side.pop(0)
    return tuple(sorted(found, key=lambda move: -move[2]))


def dominators(form: WeightedForm) -> tuple[int | None, ...]:
    """For each system, one that is at least as good everywhere and better somewhere; None on the Pareto front.

    Compared is what the mean is taken of, and every factor or addend of the row; a dominated system leads under no
    weights. Of several dominators the one that is best on average is named.
    """
    import numpy as np

    whole = np.hstack(_sides(form))
    by_mean = np.argsort(-np.nan_to_num(form.arguments).mean(axis=1), kind="stable")
    found: list[int | None] = []
    for own in whole:
        better = (whole >= own).all(axis=1) & (whole > own).any(axis=1)
        found.append(next((int(other) for other in by_mean if better[other]), None) if better.any() else None)
    return tuple(found)


def _sides(form: WeightedForm) -> "list[Floats]":
    """(n, k) each: what is better when larger. Where that cannot be said, both a side and its opposite are given."""
    import numpy as np

    arguments = np.nan_to_num(form.arguments, nan=-np.inf)
    is_positive = bool((arguments >= 0).all())
    sign = -1.0 if form.reversed else 1.0
    sides, is_turned = [], False
    for step, operand in reversed(form.steps()):
        if operand is None or step.kind == "power":
            continue
        column = operand[:, None]
        if step.kind in ("add", "subtract_from"):
            sides.append(sign * column)
            sign = -sign if step.kind == "subtract_from" else sign
            continue
        if (operand < 0).all():
            sign, column = -sign, -column
        is_turned |= bool((column < 0).any())
        factor = column if step.kind == "multiply" else 1 / column
        sides += [sign * factor] if is_positive else [factor, -factor]
    sides = [*sides, sign * arguments, *([-sign * arguments] if is_turned else [])]
    return [*sides, *(-side for side in sides)] if form.may_fall() else sides

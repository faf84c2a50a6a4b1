"""What gaming would do to a score: padding up to the caps, repetition, one strong item, and how many weak ones suffice.

Everything is the formula itself on other items: nothing here estimates.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

from evenhand.scoring.criteria import score_criteria
from evenhand.scoring.impact import score_items, score_tally
from evenhand.scoring.scales import Exact, exact_number
from evenhand.scoring.variants import Settings
from evenhand.terms import IMPACTS, Evidence

__all__ = ["Padding", "Reach", "Stress", "stressed", "weak_items_to"]

Weights = Mapping[str, Decimal | None] | None
Cell = tuple[str | None, str | None, str | None]

TARGET_SHARE = Fraction(9, 10)
"""The target as a share of the scale: 90 on 0 to 100."""

# Up to so many added items every number is tried, since few items can lower a strong pool before they raise it;
# beyond, more of them only raise it.
_EACH = 2048
_MOST = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """The score with every free place filled by items of one impact."""

    impact: int
    score: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far one pool is from the target.

    Args:
        id: the criterion; None where all items are one pool.
        target: the score to reach.
        items: the fewest +1 items with which the pool's score is at or above it; None where no number suffices.
        room: free places in the pool's cells; None where its items stand in no cell, so that no cap holds.
        within_caps: whether the free places hold them; None where no cap holds or no number suffices.
    """

    id: str | None
    target: float
    items: int | None
    room: int | None
    within_caps: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stress:
    """A score under stress; a score is None where a pool is left without items, or with one where `log` needs two.

    Args:
        padded: at the caps, by impact; empty where no item stands in a cell, so that no cap holds.
        places: items added at the caps.
        duplicates: items that repeat others.
        strongest: the item taken out, None without items.
    """

    score: int | None
    padded: tuple[Padding, ...]
    places: int
    duplicates: int
    without_duplicates: int | None
    strongest: Evidence | None
    without_strongest: int | None
    reach: tuple[Reach, ...]


def stressed(
    items: Sequence[Evidence], weights: Weights, settings: Settings, *, distinct: Sequence[Evidence]
) -> Stress:
    """The score of items under stress.

    Args:
        items: those that count.
        weights: criterion to weight; None scores one pool.
        settings: of the formula.
        distinct: the items without those that repeat others; telling them apart is not the formula's business.
    Raises:
        InvalidInput: what `score_items` and `score_criteria` refuse.

    >>> from evenhand.scoring.variants import settings
    >>> found = [Evidence(claim="a", impact=3), Evidence(claim="b", impact=-2)]
    >>> made = stressed(found, None, settings(), distinct=found)
    >>> made.score, made.without_strongest, made.reach[0].items
    (54, 38, 25)
    """
    free = _free(items, weights, settings.cap)
    strongest = max(items, key=lambda item: abs(item.impact), default=None)
    rest = [item for item in items if item is not strongest]
    return Stress(
        score=_score(items, weights, settings),
        padded=tuple(
            Padding(impact=impact, score=_score([*items, *_filling(free, impact)], weights, settings))
            for impact in (1, 5)
            if free
        ),
        places=sum(free.values()),
        duplicates=len(items) - len(distinct),
        without_duplicates=_score(distinct, weights, settings),
        strongest=strongest,
        without_strongest=_score(rest, weights, settings),
        reach=tuple(_reach(items, name, free, settings) for name in ([None] if weights is None else weights)),
    )


def weak_items_to(target: Exact, impacts: Sequence[int], settings: Settings) -> int | None:
    """The fewest +1 items that bring a pool's score to a target or above; None where no number does.

    Args:
        target: on the formula's scale.
        impacts: what the pool holds already.

    >>> from evenhand.scoring.variants import settings
    >>> weak_items_to(90, [], settings()), weak_items_to(90, [-5], settings()), weak_items_to(90, [], settings("mean"))
    (25, 35, None)
    """
    counts = Counter(impacts)

    def reaches(added: int) -> bool:
        n = len(impacts) + added
        if n == 0 or (n == 1 and settings.normaliser == "log"):
            return False
        score = _with_weak(counts, added, settings)
        return score is not None and score >= target

    first = next((added for added in range(_EACH + 1) if reaches(added)), None)
    if first is not None:
        return first
    low = _EACH
    while not reaches(2 * low):
        low *= 2
        if low > _MOST:
            return None
    high = 2 * low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _with_weak(counts: Counter[int], added: int, settings: Settings) -> int | None:
    """A pool's score with so many +1 items more."""
    held = counts + Counter({1: added})
    return score_tally(tuple((impact, held[impact]) for impact in IMPACTS if held[impact]), settings).score


def _score(items: Sequence[Evidence], weights: Weights, settings: Settings) -> int | None:
    """The score of these items; None where a pool has none, or one where the logarithm needs two."""
    if settings.normaliser == "log":
        sizes = Counter(item.criterion if weights is not None else None for item in items)
        if 1 in sizes.values():
            return None
    if weights is None:
        return score_items(items, settings).score
    return score_criteria(items, weights, settings).score


def _reach(items: Sequence[Evidence], name: str | None, free: Mapping[Cell, int], settings: Settings) -> Reach:
    """One pool's way to the target."""
    own = [item.impact for item in items if name is None or item.criterion == name]
    target = exact_number(settings.lowest) + TARGET_SHARE * exact_number(settings.highest - settings.lowest)
    needed = weak_items_to(target, own, settings)
    room = sum(n for cell, n in free.items() if name is None or cell[0] == name) if free else None
    within = None if needed is None or room is None else needed <= room
    return Reach(id=name, target=float(target), items=needed, room=room, within_caps=within)


def _free(items: Sequence[Evidence], weights: Weights, cap: int) -> dict[Cell, int]:
    """Free places of every cell that criteria, perspectives and passes make; empty where an item is in no cell.

    A criterion that has a weight and no item has free places as well: they would be filled first.
    """
    if not items or any(item.criterion is None or item.perspective is None for item in items):
        return {}
    held: Counter[Cell] = Counter((item.criterion, item.perspective, item.pass_name) for item in items)
    criteria = dict.fromkeys([*(weights or ()), *(item.criterion for item in items)])
    perspectives = dict.fromkeys(item.perspective for item in items)
    passes = dict.fromkeys(item.pass_name for item in items)
    return {cell: max(0, cap - held[cell]) for cell in product(criteria, perspectives, passes)}


def _filling(free: Mapping[Cell, int], impact: int) -> list[Evidence]:
    """Items of one impact in every free place."""
    empty = Evidence(claim="padding", impact=impact)
    return [
        replace(empty, criterion=criterion, perspective=perspective, pass_name=pass_name)
        for (criterion, perspective, pass_name), n in free.items()
        for _ in range(n)
    ]

"""What a reader of a score should know: facts about a pool that the number alone hides.

`against_sign`        an item moves the normalized impact against its own sign
`one_sided`           positive and negative items stand beyond 2 to 1
`below_item_floor`    fewer items than the floor
`impossible_totals`   no items can have these totals
`off_scale`           an amplifying multiplier carried the score beyond the scale
"""

from collections.abc import Iterable, Sequence
from math import log, sqrt

from evenhand.scoring.impact import Breakdown
from evenhand.scoring.variants import Settings
from evenhand.terms import IMPACTS

__all__ = ["against_sign", "one_sided", "pool_flags"]


def against_sign(impacts: Sequence[int], settings: Settings) -> tuple[int, ...]:
    """Positions of the items whose presence moves the normalized impact against their own sign.

    Each is compared with the pool without it. Where that pool's normaliser is undefined (`log` with one item left), the
    item is passed over. Empty for `ranked`, always.

    >>> from evenhand.scoring.variants import settings
    >>> against_sign([-3, -3, -1], settings()), against_sign([-3, -3, -1], settings("ranked"))
    ((2,), ())
    """
    net, n = sum(impacts), len(impacts)
    moved = {impact for impact in set(impacts) if _moves_against(impact, net, n, settings)}
    return tuple(position for position, impact in enumerate(impacts) if impact in moved)


def one_sided(impacts: Iterable[int]) -> bool:
    """Whether positive and negative items stand beyond 2 to 1, either way; False without items.

    >>> one_sided([1, 1, 1, -1]), one_sided([1, 1, -5])
    (True, False)
    """
    signs = [impact > 0 for impact in impacts]
    return _beyond(signs.count(True), signs.count(False))


def pool_flags(breakdown: Breakdown) -> tuple[str, ...]:
    """The flags that hold for one pool's score, in the order above.

    >>> from evenhand.scoring.impact import score_impacts, score_totals
    >>> from evenhand.scoring.variants import settings
    >>> pool_flags(score_impacts([-3, -3, -1], settings())), pool_flags(score_totals(25, 4, settings()))
    (('against_sign', 'one_sided'), ('impossible_totals',))
    """
    settings, flags = breakdown.settings, []
    if breakdown.tally is None:
        if abs(breakdown.net) > max(IMPACTS) * breakdown.n:
            flags.append("impossible_totals")
    else:
        if any(_moves_against(impact, breakdown.net, breakdown.n, settings) for impact, _ in breakdown.tally):
            flags.append("against_sign")
        positive = sum(count for impact, count in breakdown.tally if impact > 0)
        if _beyond(positive, breakdown.n - positive):
            flags.append("one_sided")
    if breakdown.n < settings.item_floor:
        flags.append("below_item_floor")
    if breakdown.exact is not None and not settings.lowest <= breakdown.exact <= settings.highest:
        flags.append("off_scale")
    return tuple(flags)


def _beyond(positive: int, negative: int) -> bool:
    """Whether one side has more than twice as many as the other."""
    return positive > 2 * negative or negative > 2 * positive


def _moves_against(impact: int, net: int, n: int, settings: Settings) -> bool:
    """Whether the pool with one such item lies on the wrong side of the pool without it; never so for `ranked`.

    Binary floats do: the two sides differ by far more than their last digits, or are equal.
    """
    if settings.normaliser == "ranked" or n < 2 or (settings.normaliser == "log" and n == 2):
        return False
    before, after = (net - impact) / _divisor(n - 1, settings), net / _divisor(n, settings)
    return (after - before) * impact < -1e-12 * (1 + abs(before))


def _divisor(n: int, settings: Settings) -> float:
    """The normaliser of n items."""
    match settings.normaliser:
        case "sqrt":
            return sqrt(n)
        case "mean":
            return n
        case "log":
            return log(n)
        case _:
            return 1

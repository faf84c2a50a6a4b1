"""Signed impact items to one score: the evidence formula, with every step kept.

Published form: normalized = net / sqrt(n). Diminishing returns, but an added weak item can move a strong pool against
the item's own sign: -3, -3 gives -4.24, and a further -1 makes it -4.04. `scoring.flags` finds such items.

Form `ranked`, of ours: the items are ordered by magnitude, strongest first, and the i-th counts with the weight
sqrt(i) - sqrt(i - 1); equal magnitudes share their weights equally; normalized is the signed sum. It equals the
published form when all magnitudes are equal, and an added item never moves it against its sign.

Arithmetic is decimal with 50 digits. Before rounding half up the value is taken at 30 decimals: a value that is
exactly a half in real numbers may end in ...4999 at the 50th digit, and an irrational one does not come that near.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext

from evenhand.errors import InvalidInput
from evenhand.scoring.variants import Settings
from evenhand.terms import IMPACTS, Evidence

__all__ = [
    "Breakdown",
    "Tally",
    "arithmetic",
    "over_cap",
    "score_impacts",
    "score_items",
    "score_tally",
    "score_totals",
    "weakest_over_cap",
    "within_cap",
]

_EXACT = Context(prec=50)
_NEAR = Decimal(10) ** -30
_HALF = Decimal("0.5")
_MOST = 10**12
_PERMITTED = frozenset(IMPACTS)
_STATED = ", ".join(f"{impact:+d}" for impact in IMPACTS)

Tally = tuple[tuple[int, int], ...]
Cell = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One pool's score with every step.

    Args:
        settings: the constants used.
        tally: (impact, how often), strongest praise first; None where only totals were given.
        net: sum of impacts.
        n: number of items.
        normalized: net after the normaliser; 0 without items.
        raw_unclamped: centre + scale * normalized; None without items.
        raw: the same within lowest and highest; None without items.
        density: n / density_denominator, not clamped.
        multiplier: how much of the distance from the centre remains.
        exact: the unrounded score; None without items.
        score: `exact` rounded half up; None without items, since no evidence is no score, and not the centre.
        confidence: density within 0 and 1.
    """

    settings: Settings
    tally: Tally | None
    net: int
    n: int
    normalized: float
    raw_unclamped: float | None
    raw: float | None
    density: float
    multiplier: float
    exact: float | None
    score: int | None
    confidence: float


def score_items(items: Iterable[Evidence], settings: Settings) -> Breakdown:
    """The score of one pool of evidence items; an item that does not count (`counted` false) is left out.

    Raises:
        InvalidInput: an impact outside the permitted set; `log` with one item, whose logarithm is 0.

    >>> from evenhand.scoring.variants import settings
    >>> found = score_items([Evidence(claim="fast", impact=3), Evidence(claim="no tests", impact=-2)], settings())
    >>> found.net, found.n, found.score
    (1, 2, 54)
    """
    return score_impacts([item.impact for item in items if item.counted], settings)


def score_impacts(impacts: Iterable[int], settings: Settings) -> Breakdown:
    """The same for bare impacts.

    >>> from evenhand.scoring.variants import settings
    >>> score_impacts([1] * 25, settings()).exact
    90.0
    """
    counts = Counter(impacts)
    if not _PERMITTED.issuperset(counts) or bool in map(type, counts):
        _refuse_impact(counts)
    return score_tally(tuple((impact, counts[impact]) for impact in IMPACTS if impact in counts), settings)


def score_tally(tally: Tally, settings: Settings) -> Breakdown:
    """The same from how often each impact occurs: (impact, count above 0), each impact at most once."""
    net, n = sum(impact * count for impact, count in tally), sum(count for _, count in tally)
    with localcontext(_EXACT):
        normalized = _ranked(tally) if settings.normaliser == "ranked" else _quotient(net, n, settings)
        return _steps(net, n, normalized, tally, settings)


def score_totals(net: int, n: int, settings: Settings) -> Breakdown:
    """The score where only the sum of impacts and the number of items are known.

    Totals that no items could have are scored as they stand, since the published examples hold such a row (25 from 4
    items, at most 5 each); the flag `impossible_totals` says so.

    Raises:
        InvalidInput: not integers, n below 0, a net impact without items, more than 12 digits, `ranked`, or `log` with
            n = 1.

    >>> from evenhand.scoring.variants import settings
    >>> [score_totals(net, n, settings()).score for net, n in ((25, 25), (25, 4), (0, 20), (-15, 25))]
    [90, 90, 50, 26]
    """
    for name, value in (("net", net), ("n", n)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidInput(f"score_totals: {name} is {value!r}; expected an integer")
        if abs(value) > _MOST:
            raise InvalidInput(f"score_totals: {name} has more than 12 digits; expected at most 1e12")
    if n < 0:
        raise InvalidInput(f"score_totals: n is {n}; expected 0 or more items")
    if n == 0 and net != 0:
        raise InvalidInput(f"score_totals: net is {net} although n is 0; without items net must be 0")
    if settings.normaliser == "ranked":
        raise InvalidInput(
            f"score_totals: the variant {settings.variant!r} orders items by magnitude, which totals do not show; "
            "give the items, or use another variant"
        )
    with localcontext(_EXACT):
        return _steps(net, n, _quotient(net, n, settings), None, settings)


def arithmetic(breakdown: Breakdown) -> dict[str, int | float | None]:
    """The steps under the names that files carry.

    >>> from evenhand.scoring.variants import settings
    >>> arithmetic(score_totals(25, 4, settings()))["multiplier"]
    0.8
    """
    return {
        "net_impact": breakdown.net,
        "total_items": breakdown.n,
        "normalized": breakdown.normalized,
        "raw": breakdown.raw,
        "density": breakdown.density,
        "multiplier": breakdown.multiplier,
        "confidence": breakdown.confidence,
    }


def over_cap(items: Sequence[Evidence], cap: int) -> tuple[int, ...]:
    """Positions of the items that exceed the cap of their cell, taking them in order.

    A cell is one criterion and perspective, in one pass; an item that names only one of the two is in none.
    """
    seen: Counter[Cell] = Counter()
    over = []
    for position, item in enumerate(items):
        cell = _cell(item)
        if cell is not None:
            seen[cell] += 1
            if seen[cell] > cap:
                over.append(position)
    return tuple(over)


def weakest_over_cap(items: Sequence[Evidence], cap: int) -> tuple[int, ...]:
    """Positions of the items to drop so that each cell keeps at most `cap`.

    The strongest by absolute impact stay, among equals the first. Items that do not count (`counted` false) take no
    room and are never dropped.

    Raises:
        InvalidInput: cap is below 1.
    """
    if cap < 1:
        raise InvalidInput(f"within_cap: cap is {cap}; expected at least 1")
    if all(_cell(item) is None for item in items):
        return ()
    room: Counter[Cell] = Counter()
    dropped = []
    for position in sorted(range(len(items)), key=lambda position: (-abs(items[position].impact), position)):
        cell = _cell(items[position])
        if cell is not None and items[position].counted:
            room[cell] += 1
            if room[cell] > cap:
                dropped.append(position)
    return tuple(sorted(dropped))


def within_cap(items: Sequence[Evidence], cap: int) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """Items kept and dropped by `weakest_over_cap`, both in input order.

    >>> items = [Evidence(claim=str(i), impact=i, criterion="c", perspective="p") for i in (1, -3, 2)]
    >>> [item.impact for item in within_cap(items, 2)[0]]
    [-3, 2]
    """
    dropped = frozenset(weakest_over_cap(items, cap))
    return (
        tuple(item for position, item in enumerate(items) if position not in dropped),
        tuple(item for position, item in enumerate(items) if position in dropped),
    )


def _refuse_impact(counts: Iterable[object]) -> None:
    """Name the first impact that is none."""
    for impact in counts:
        if isinstance(impact, bool) or impact not in _PERMITTED:
            raise InvalidInput(f"score_impacts: an impact is {impact!r}; expected one of {_STATED}")


def _cell(item: Evidence) -> Cell | None:
    """The cell of an item, or None where criterion or perspective is missing."""
    if item.criterion is None or item.perspective is None:
        return None
    return item.criterion, item.perspective, item.pass_name


def _quotient(net: int, n: int, settings: Settings) -> Decimal:
    """Net over the normaliser of n; 0 without items."""
    if n == 0:
        return Decimal(0)
    match settings.normaliser:
        case "sqrt":
            return net / Decimal(n).sqrt()
        case "mean":
            return Decimal(net) / n
        case "log":
            if n == 1:
                raise InvalidInput(
                    f"the variant {settings.variant!r} divides by ln(n), which is 0 for one item; "
                    "give at least two items, or use another variant"
                )
            return net / Decimal(n).ln()
        case _:
            return Decimal(net)


def _ranked(tally: Tally) -> Decimal:
    """Sum over magnitudes m, strongest first, of m * (positive - negative) / items * (sqrt(last) - sqrt(before))."""
    signed: dict[int, int] = {}
    held: dict[int, int] = {}
    for impact, count in tally:
        signed[abs(impact)] = signed.get(abs(impact), 0) + (count if impact > 0 else -count)
        held[abs(impact)] = held.get(abs(impact), 0) + count
    total, before = Decimal(0), 0
    for magnitude in sorted(held, reverse=True):
        last = before + held[magnitude]
        share = Decimal(magnitude * signed[magnitude]) / held[magnitude]
        total += share * (Decimal(last).sqrt() - Decimal(before).sqrt())
        before = last
    return total


def _steps(net: int, n: int, normalized: Decimal, tally: Tally | None, settings: Settings) -> Breakdown:
    """Everything after the normaliser."""
    unclamped = settings.centre + settings.scale * normalized
    raw = min(max(unclamped, settings.lowest), settings.highest)
    density = n / settings.density_denominator
    confidence = min(density, Decimal(1))
    multiplier = settings.multiplier_floor + settings.multiplier_gain * confidence
    exact = settings.centre + (raw - settings.centre) * multiplier
    return Breakdown(
        settings=settings,
        tally=tally,
        net=net,
        n=n,
        normalized=float(normalized),
        raw_unclamped=float(unclamped) if n else None,
        raw=float(raw) if n else None,
        density=float(density),
        multiplier=float(multiplier),
        exact=float(exact) if n else None,
        score=int((exact.quantize(_NEAR) + _HALF).to_integral_value(ROUND_FLOOR)) if n else None,
        confidence=float(confidence),
    )

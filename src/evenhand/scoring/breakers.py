"""Circuit breakers: a declared fatal finding caps the score or forces it to the bottom, whatever else was found.

Without one a single fatal finding can be bought off with praise. A breaker names a catalogue entry or a detector; it
trips when an item of that id counts, or would if its cell had room: a cap bounds what a cell weighs, and five items of
praise must not push a fatal finding out. Flags say what happened: `breaker:<id>` for each that tripped, `fail` where
one forces it, `capped_from:<score>` where the score would have been higher.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.errors import InvalidInput
from evenhand.scoring.scales import exact_number, plain_number
from evenhand.scoring.scored import Scored
from evenhand.terms import Breaker, Evidence, JudgeSpec

__all__ = ["FAIL", "broken", "refuse_breakers", "tripped"]

FAIL = "fail"
"""The flag of a record that a breaker forces to fail."""

_OVER_CAP = "over_cap"


def tripped(breakers: Sequence[Breaker], items: Iterable[Evidence]) -> tuple[Breaker, ...]:
    """The breakers whose finding counts, or lies over the cap of its cell, in the order in which they are declared.

    >>> tripped([Breaker(finding="leak", fail=True)], [Evidence(claim="a key is shown", impact=-5, catalog_id="leak")])
    (Breaker(finding='leak', cap=None, fail=True),)
    """
    standing = (item for item in items if item.counted or item.dropped == _OVER_CAP)
    found = {name for item in standing for name in (item.catalog_id, item.detector) if name is not None}
    return tuple(breaker for breaker in breakers if breaker.finding in found)


def broken(scored: Scored, breakers: Sequence[Breaker]) -> Scored:
    """The score once these breakers have tripped.

    A cap lowers the score, exact and shown, and never raises it; a record that abstains stays so. `fail` sets the
    lowest score of the scale even where the rest would abstain: the fatal finding is evidence enough.
    """
    if not breakers:
        return scored
    forced = any(breaker.fail for breaker in breakers)
    flags = (*(f"breaker:{breaker.finding}" for breaker in breakers), *((FAIL,) if forced else ()))
    if scored.score is None and not forced:
        return replace(scored, flags=(*flags, *scored.flags))
    limit = min(_limit(breaker, scored) for breaker in breakers)
    score = limit if scored.score is None else min(exact_number(scored.score), limit)
    exact = limit if scored.exact is None else min(exact_number(scored.exact), limit)
    if scored.score is not None and score < exact_number(scored.score):
        flags = (*flags, f"capped_from:{scored.score}")
    return replace(scored, score=plain_number(score), exact=float(exact), flags=(*flags, *scored.flags), abstained=None)


def refuse_breakers(spec: JudgeSpec) -> None:
    """Breakers that could never trip, or would do nothing.

    Raises:
        InvalidInput: a finding that is neither a catalogue entry nor a detector, one declared twice, or a breaker
            that neither caps nor fails, or does both.
    """
    known = [entry.id for entry in spec.catalog] + [detector.id for detector in spec.detectors]
    seen: set[str] = set()
    for breaker in spec.breakers:
        where = f"judge {spec.name}: breaker {breaker.finding!r}"
        if breaker.finding not in known:
            listed = ", ".join(map(repr, known)) or "none is declared"
            raise InvalidInput(
                f"{where} is neither a catalogue entry nor a detector; expected one of their ids: {listed}"
            )
        if breaker.finding in seen:
            raise InvalidInput(f"{where} stands twice; keep one")
        if (breaker.cap is None) is not breaker.fail:
            raise InvalidInput(f"{where} needs either `cap` or `fail: true`, not both")
        seen.add(breaker.finding)


def _limit(breaker: Breaker, scored: Scored) -> Fraction:
    """The highest score that a breaker leaves."""
    lowest = exact_number(scored.scale[0])
    return lowest if breaker.cap is None else max(lowest, exact_number(breaker.cap))

"""Criteria with too little evidence: taken out with their weight, but not so much of it that silence pays.

One criterion with a single item collapses towards the centre of the scale, whatever the item says. So a criterion with
fewer counted items than the floor is taken out and its weight goes to the others, each in proportion to its own. A
record that loses more than a quarter of its weight this way abstains: whoever shows nothing is not scored on the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evenhand.scoring.scales import plain_number

__all__ = ["MOST_TAKEN_OUT", "KeptWeights", "kept_weights", "short_of_floor"]

MOST_TAKEN_OUT = Fraction(1, 4)
"""The most weight that may be taken out of a record that is still scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWeights:
    """What remains when criteria are taken out.

    Args:
        shares: share of the overall score by criterion, 0 for one taken out; those kept sum to exactly 1.
        out: ids of the criteria taken out, in the order of the judge.
        out_weight: their declared weight together.
        reason: why the record abstains; None where it is scored.
    """

    shares: Mapping[str, Fraction]
    out: tuple[str, ...]
    out_weight: Fraction
    reason: str | None


def short_of_floor(counts: Mapping[str, int], floor: int) -> tuple[str, ...]:
    """The criteria with fewer counted items than the floor, which is at least 1: without any item there is no score.

    >>> short_of_floor({"craft": 4, "depth": 1}, 2), short_of_floor({"craft": 1, "depth": 0}, 0)
    (('depth',), ('depth',))
    """
    return tuple(name for name, n in counts.items() if n < max(1, floor))


def kept_weights(shares: Mapping[str, Fraction], counts: Mapping[str, int], floor: int) -> KeptWeights:
    """The weights that remain, exactly.

    Args:
        shares: declared share by criterion, summing to 1.
        counts: counted items by criterion.
        floor: fewest items that a criterion may have.

    >>> shares = {"a": Fraction(1, 4), "b": Fraction(1, 2), "c": Fraction(1, 4)}
    >>> found = kept_weights(shares, {"a": 1, "b": 5, "c": 3}, 2)
    >>> found.out, found.shares["b"], found.reason
    (('a',), Fraction(2, 3), None)
    """
    out = short_of_floor(counts, floor)
    out_weight = sum((shares[name] for name in out), Fraction(0))
    if not out:
        return KeptWeights(shares=shares, out=(), out_weight=out_weight, reason=None)
    if out_weight > MOST_TAKEN_OUT:
        return KeptWeights(
            shares=shares, out=out, out_weight=out_weight, reason=_reason(out, out_weight, counts, floor)
        )
    kept = {name: Fraction(0) if name in out else share / (1 - out_weight) for name, share in shares.items()}
    return KeptWeights(shares=kept, out=out, out_weight=out_weight, reason=None)


def _reason(out: tuple[str, ...], out_weight: Fraction, counts: Mapping[str, int], floor: int) -> str:
    """Why so much missing evidence leaves no score."""
    named = ", ".join(f"{name!r} ({counts[name]})" for name in out)
    return (
        f"fewer than {max(1, floor)} items count for {named}: {plain_number(out_weight):.4g} of the weight is without "
        f"evidence, and at most {plain_number(MOST_TAKEN_OUT)} may be taken out"
    )

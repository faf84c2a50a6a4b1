"""How far additions to a candidate move a judge's score, and whether changes of what is judged move it at all.

The lift of a payload is paired: the score of an item with it minus that of the same item without it, the mean over
reruns, then over items. The interval is a percentile bootstrap over items at 95 %; where every item moved alike it is a
point, and the count of lifted items with its own interval says more.

A control is the reverse. An item reacts if its score differs, or if one side has a score and the other has none. One
that has the lowest score already cannot tell: what is changed is worth no more, so that a good judge leaves it there.
A judge is said not to read where the interval of the share that reacted ends below one half.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record

__all__ = ["Lift", "Pair", "Reaction", "bootstrap_interval", "lift_of", "paired", "reaction_of"]

Pair = tuple[Record, Record]
"""One judgement of the item as it is, and the same of the changed one."""

READS = 0.5
"""Share that must be possible for a judge that reads: the upper end of the interval lies at or above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """What one kind of payload does.

    Args:
        n: items with a score on both sides.
        mean: mean lift in points of the judge's scale; None without such items.
        interval: of the mean; None with fewer than two items.
        lifted: items whose mean lift is above 0.
        lifted_interval: Wilson's, of their share; None without items.
        abstained: judgements left out since a side abstained and none failed.
        newly_scored: of these, those that abstained before and have a score with the payload.
        failed: judgements left out since a side failed or is missing.
    """

    kind: str
    n: int
    mean: float | None
    interval: tuple[float, float] | None
    lifted: int
    lifted_interval: tuple[float, float] | None
    abstained: int
    newly_scored: int
    failed: int

    def exceeds(self, most: float) -> bool:
        """Whether even the lower end of the interval lies above a limit."""
        return self.interval is not None and self.interval[0] > most

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What one control showed.

    Args:
        n: items that can tell: a score on one side at least, not the lowest one as they are, and no failure in any
            rerun.
        reacted: of these, those that reacted in some rerun.
        share: reacted / n; None without items.
        interval: Wilson's.
        reads: False where the interval ends below one half; None without items.
        at_lowest: items left out since they have the lowest score as they are.
        silent: items left out since they abstain on both sides.
        failed: judgements that failed on a side or are missing.
        why_not: why the control could not be run; None where it was.
    """

    kind: str
    n: int = 0
    reacted: int = 0
    share: float | None = None
    interval: tuple[float, float] | None = None
    reads: bool | None = None
    at_lowest: int = 0
    silent: int = 0
    failed: int = 0
    why_not: str | None = None

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


def paired(
    plain: Mapping[tuple[str, int], Record], changed: Mapping[tuple[str, int], Record]
) -> tuple[dict[str, list[Pair]], int]:
    """Judgements of the same item and rerun side by side.

    Args:
        plain: (item, rerun) to the record of the item as it is.
        changed: the same of the changed item, under the item's own id.
    Returns:
        Item to pairs, and how many of `changed` have no counterpart or the other way round.
    """
    pairs: dict[str, list[Pair]] = {}
    for key, record in changed.items():
        if key in plain:
            pairs.setdefault(key[0], []).append((plain[key], record))
    return pairs, len(plain.keys() ^ changed.keys())


def lift_of(
    kind: str, pairs: Mapping[str, Sequence[Pair]], *, seed: int, n_resamples: int = 2000, missing: int = 0
) -> Lift:
    """The lift of one kind over all items.

    Args:
        kind: the payload's.
        pairs: item to its judgements on both sides, one a rerun.
        seed: of the bootstrap.
        n_resamples: how many.
        missing: judgements without a counterpart; they count as failed.
    """
    lifts, abstained, newly, failed = [], 0, 0, missing
    for judgements in pairs.values():
        own = []
        for before, after in judgements:
            statuses = {before.status, after.status}
            if "failed" in statuses:
                failed += 1
            elif "abstained" in statuses:
                abstained += 1
                newly += after.status == "verdict"
            else:
                own.append(_value(after) - _value(before))
        if own:
            lifts.append(math.fsum(own) / len(own))
    n, lifted = len(lifts), sum(lift > 0 for lift in lifts)
    return Lift(
        kind=kind,
        n=n,
        mean=math.fsum(lifts) / n if n else None,
        interval=bootstrap_interval(lifts, seed=seed, n_resamples=n_resamples),
        lifted=lifted,
        lifted_interval=wilson_interval(lifted, n) if n else None,
        abstained=abstained,
        newly_scored=newly,
        failed=failed,
    )


def reaction_of(kind: str, pairs: Mapping[str, Sequence[Pair]], *, missing: int = 0) -> Reaction:
    """Whether a control moved the scores.

    Args:
        kind: the control's.
        pairs: item to its judgements on both sides, one a rerun.
        missing: judgements without a counterpart; they count as failed.
    """
    n = reacted = silent = at_lowest = 0
    failed = missing
    for judgements in pairs.values():
        n_failed = sum("failed" in {before.status, after.status} for before, after in judgements)
        failed += n_failed
        if n_failed:
            continue
        if all(before.status == after.status == "abstained" for before, after in judgements):
            silent += 1
            continue
        if all(_is_lowest(before) for before, _ in judgements):
            at_lowest += 1
            continue
        n += 1
        reacted += any(_differs(before, after) for before, after in judgements)
    interval = wilson_interval(reacted, n) if n else None
    return Reaction(
        kind=kind,
        n=n,
        reacted=reacted,
        share=reacted / n if n else None,
        interval=interval,
        reads=None if interval is None else interval[1] >= READS,
        at_lowest=at_lowest,
        silent=silent,
        failed=failed,
    )


def bootstrap_interval(values: Sequence[float], *, seed: int, n_resamples: int) -> tuple[float, float] | None:
    """The 2.5 and 97.5 percentiles of the mean over resamples of the values; None with fewer than two.

    >>> bootstrap_interval([0.0, 1.0, 1.0, 0.0], seed=1, n_resamples=500)
    (0.0, 1.0)
    """
    if len(values) < 2:
        return None
    import numpy as np

    sample, rng = np.array(values), np.random.default_rng(seed)
    means = [float(sample[rng.integers(0, len(sample), len(sample))].mean()) for _ in range(n_resamples)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _differs(before: Record, after: Record) -> bool:
    """Whether a score came, went or moved."""
    if before.status != after.status:
        return True
    return before.status == "verdict" and _value(before) != _value(after)


def _is_lowest(record: Record) -> bool:
    """Whether a score stands at the lower end of its scale."""
    return record.status == "verdict" and record.scale is not None and _value(record) <= record.scale[0]


def _value(record: Record) -> float:
    """The unrounded score."""
    value = record.exact if record.exact is not None else record.score
    assert value is not None
    return float(value)

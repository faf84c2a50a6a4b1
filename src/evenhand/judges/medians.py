"""A panel's median, of numbers that a reader finds in the record, and the breakers that its members tripped.

    score   the median of the members' scores as shown; of an even number, the mean of the two middle ones, rounded as
            the protocol rounds
    exact   likewise of their unrounded scores

The two are taken each by itself, so `score` need not be `exact` rounded: the score of several criteria comes from their
rounded finals.

A circuit breaker is a yes or no, so it goes by majority here too: a fatal finding that more than half of the declared
members count trips the panel's breaker, and one that fewer count is flagged `breaker_minority:<id>`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from evenhand.scoring.breakers import broken, tripped
from evenhand.scoring.scales import exact_number, half_up, plain_number, weight_shares
from evenhand.scoring.scored import Ends, Scored, ScoredCriterion
from evenhand.terms import Breaker, JudgeSpec, Verdict

__all__ = ["DISSENT_SHARE", "Median", "is_far"]

DISSENT_SHARE = Fraction(12, 100)
"""How far from the median a score says something else, as a share of the scale: 12 of 100 points, beyond which one of
two measurements is wrong."""


class Median:
    """Takes the medians of one judge.

    Args:
        spec: the judge.
        size: declared members.
    Raises:
        InvalidInput: weights that cannot be used.
    """

    def __init__(self, spec: JudgeSpec, size: int) -> None:
        self._size = size
        self._breakers = spec.breakers
        self._digits = 0 if spec.protocol == "evidence" else 2
        self._shares: Mapping[str, Fraction] = (
            weight_shares((one.id, one.weight) for one in spec.criteria) if spec.criteria else {}
        )

    def of(self, scored: Sequence[Scored]) -> Scored:
        """The median of scores that there are, also criterion by criterion; the overall one is that of the overalls."""
        shown, exact = self._middle(scored)
        criteria = tuple(self._criterion(own.id, scored) for own in scored[0].criteria)
        flags = tuple(f"criterion_out:{made.id}" for made in criteria if made.score is None)
        return Scored(score=shown, exact=exact, scale=scored[0].scale, criteria=criteria, flags=flags)

    def broken(self, scored: Scored, verdicts: Iterable[Verdict]) -> Scored:
        """The panel's score, or its abstention, once the members' fatal findings are counted."""
        votes = self._votes(verdicts)
        fatal = [one for one in self._breakers if 2 * votes[one.finding] > self._size]
        fewer = [f"breaker_minority:{one.finding}" for one in self._breakers if votes[one.finding] and one not in fatal]
        made = broken(scored, fatal)
        return Scored(
            score=made.score,
            exact=made.exact,
            scale=made.scale,
            criteria=made.criteria,
            flags=(*made.flags[: len(made.flags) - len(scored.flags)], *fewer, *scored.flags),
            abstained=made.abstained,
        )

    def _votes(self, verdicts: Iterable[Verdict]) -> Counter[str]:
        """How many members tripped each breaker, by its finding."""
        votes: Counter[str] = Counter()
        for verdict in verdicts:
            items = (item for own in verdict.criteria for item in own.items)
            found: Sequence[Breaker] = tripped(self._breakers, items)
            votes.update(breaker.finding for breaker in found)
        return votes

    def _criterion(self, name: str, scored: Sequence[Scored]) -> ScoredCriterion:
        """One criterion over the members that scored it, with the weight that the judge declares."""
        own = [part for one in scored for part in one.criteria if part.id == name]
        held = [part for part in own if part.exact is not None]
        shown, exact = self._middle(held) if 2 * len(held) > self._size else (None, None)
        weight = float(self._shares.get(name, 1))
        return ScoredCriterion(id=name, weight=weight, score=shown, exact=exact, scale=own[0].scale)

    def _middle(self, parts: Sequence[Scored | ScoredCriterion]) -> tuple[int | float, float]:
        """(shown, exact), each the median of its own kind."""
        shown, exact = (
            _median([exact_number(value) for value in values if value is not None])
            for values in ([part.score for part in parts], [part.exact for part in parts])
        )
        return plain_number(half_up(shown, self._digits)), float(exact)


def is_far(score: int | float, median: int | float, scale: Ends) -> bool:
    """Whether a member's score says something else than the median.

    >>> is_far(62, 50, (0, 100)), is_far(63, 50, (0, 100)), is_far(7, 8, (1, 10)), is_far(6, 8, (1, 10))
    (False, True, False, True)
    """
    width = exact_number(scale[1]) - exact_number(scale[0])
    return abs(exact_number(score) - exact_number(median)) > DISSENT_SHARE * width


def _median(values: Sequence[Fraction]) -> Fraction:
    """The middle value, or the mean of the two middle ones.

    >>> _median([Fraction(3), Fraction(1), Fraction(2), Fraction(9)])
    Fraction(5, 2)
    """
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

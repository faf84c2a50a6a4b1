"""Checks and groups of checks to a level, exactly.

    count  the sum of passed weights, within the lowest and highest level
    share  lowest + (highest - lowest) * passed / positive weights, the quotient within 0 and 1

A group counts once, with a weight of its own, if any of its checks passes. A check that does not apply adds nothing to
`count` and leaves the denominator of `share`; a group does not apply if none of its checks does. A passed check of
negative weight takes away. A pass whose required quote was not found (`counted` false) is no pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from evenhand.errors import InvalidInput
from evenhand.scoring.scales import Scale, exact_number, plain_number, scale_of
from evenhand.terms import Check, CheckGroup, CheckResult, Criterion

__all__ = ["Checklist", "ChecklistScore", "reachable", "refuse_unreachable", "score_checks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistScore:
    """What the passed checks amount to.

    Args:
        exact: the score on the criterion's levels; None if nothing applies.
        reason: why there is no score; empty where there is one.
    """

    exact: Fraction | None
    reason: str = ""


class Checklist:
    """A criterion's checks, prepared once so that scoring one reply costs a few microseconds.

    All weights and levels are kept as whole multiples of one fraction, so sums are exact.
    """

    def __init__(self, criterion: Criterion) -> None:
        """Check that the criterion can be scored.

        Raises:
            InvalidInput: no checks, no levels, an id twice, no positive weight, or levels out of reach of `count`.
        """
        self.id = criterion.id
        self.scale = _scale(criterion)
        rows = _rows(criterion)
        self._ids = tuple(check.id for _, checks in rows for check in checks)
        self._may_not_apply = frozenset(check.id for _, checks in rows for check in checks if check.na)
        for name in self._ids:
            if self._ids.count(name) > 1:
                raise InvalidInput(f"criterion {criterion.id!r}: the check {name!r} stands twice; give it another id")
        refuse_unreachable(criterion)
        parts = (self.scale.lowest, self.scale.highest, *(weight for weight, _ in rows))
        self._unit = lcm(*(part.denominator for part in parts))
        self._lowest, self._highest, *weights = (int(part * self._unit) for part in parts)
        starts = [0]
        for _, checks in rows:
            starts.append(starts[-1] + len(checks))
        self._rows = tuple(zip(weights, starts[:-1], starts[1:], strict=True))
        self._share = criterion.map == "share"
        self._known: dict[tuple[int, int], ChecklistScore] = {}

    def score(self, results: Sequence[CheckResult]) -> ChecklistScore:
        """The score of one reply's results.

        Args:
            results: one for each check of the criterion, in any order.
        Raises:
            InvalidInput: a check without a result, a result without a check, or one that may not be inapplicable is.
        """
        results = self._ordered(results)
        passed = positive = 0
        applies = False
        for weight, start, end in self._rows:
            row_applies = row_passed = False
            for result in results[start:end]:
                if result.passed is not None:
                    row_applies = True
                    row_passed = row_passed or (result.passed and result.counted)
                elif result.id not in self._may_not_apply:
                    raise InvalidInput(
                        f"criterion {self.id!r}: the check {result.id!r} has no answer; expected true or false "
                        "(a check that may be inapplicable says `na: true`)"
                    )
            if row_applies:
                applies = True
                positive += max(weight, 0)
                passed += weight if row_passed else 0
        if not applies:
            return ChecklistScore(exact=None, reason=f"criterion {self.id!r}: none of its checks applies")
        if self._share and not positive:
            return ChecklistScore(exact=None, reason=f"criterion {self.id!r}: no check of positive weight applies")
        made = self._known.get((passed, positive))
        if made is None:
            made = self._known[passed, positive] = ChecklistScore(exact=self._level(passed, positive))
        return made

    def _ordered(self, results: Sequence[CheckResult]) -> Sequence[CheckResult]:
        """The results in the order of the checks."""
        if tuple(result.id for result in results) == self._ids:
            return results
        by_id = {result.id: result for result in results}
        if len(by_id) != len(results) or by_id.keys() != set(self._ids):
            came = ", ".join(result.id for result in results) or "nothing"
            raise InvalidInput(
                f"criterion {self.id!r}: the results are for {came}; expected one each for {', '.join(self._ids)}"
            )
        return [by_id[name] for name in self._ids]

    def _level(self, passed: int, positive: int) -> Fraction:
        """The level of a sum, by the criterion's map."""
        if not self._share:
            return Fraction(min(max(passed, self._lowest), self._highest), self._unit)
        part = Fraction(min(max(passed, 0), positive), positive)
        return (self._lowest + (self._highest - self._lowest) * part) / self._unit


def score_checks(criterion: Criterion, results: Sequence[CheckResult]) -> ChecklistScore:
    """One reply's score on one criterion; `Checklist` does the same for many replies.

    Raises:
        InvalidInput: as `Checklist` says.

    >>> from decimal import Decimal
    >>> checks = tuple(Check(id=name, ask="?", weight=Decimal(w)) for name, w in (("a", "0.2"), ("b", "0.8")))
    >>> criterion = Criterion(id="c", levels=(Decimal(0), Decimal(1)), checks=checks)
    >>> score_checks(criterion, [CheckResult(id="a", passed=True), CheckResult(id="b", passed=False)]).exact
    Fraction(1, 5)
    """
    return Checklist(criterion).score(results)


def reachable(criterion: Criterion) -> tuple[Fraction, Fraction]:
    """The lowest and highest sum of passed weights that the criterion's checks can give, before any clamp."""
    weights = [weight for weight, _ in _rows(criterion)]
    return (
        sum((weight for weight in weights if weight < 0), Fraction(0)),
        sum((weight for weight in weights if weight > 0), Fraction(0)),
    )


def refuse_unreachable(criterion: Criterion) -> None:
    """Refuse weights that cannot earn the highest level.

    Raises:
        InvalidInput: no weight is positive, or `count` cannot reach the highest level.
    """
    _, most = reachable(criterion)
    scale = _scale(criterion)
    if most <= 0:
        raise InvalidInput(f"criterion {criterion.id!r}: no check has a positive weight; give at least one")
    if criterion.map == "count" and most < scale.highest:
        raise InvalidInput(
            f"criterion {criterion.id!r}: the weights of all checks sum to {plain_number(most)}, which `map: count` "
            f"cannot bring to the highest level {plain_number(scale.highest)}; "
            "write `map: share`, lower the level, or raise weights"
        )


def _rows(criterion: Criterion) -> list[tuple[Fraction, tuple[Check, ...]]]:
    """(weight, checks any of which earns it)."""
    rows = [
        (exact_number(entry.weight), entry.any_of if isinstance(entry, CheckGroup) else (entry,))
        for entry in criterion.checks
    ]
    if not rows or not all(checks for _, checks in rows):
        raise InvalidInput(f"criterion {criterion.id!r}: it has no checks, or an empty group; give at least one check")
    return rows


def _scale(criterion: Criterion) -> Scale:
    """The criterion's levels as a scale."""
    if criterion.levels is None:
        raise InvalidInput(f"criterion {criterion.id!r}: it has no levels; write `levels: [lowest, highest]`")
    return scale_of(*criterion.levels, what=f"criterion {criterion.id!r}")

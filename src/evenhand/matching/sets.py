"""Whether two lists of values are the same: counted where plain, paired off where a comparer or tolerance is needed."""

from collections import Counter
from collections.abc import Callable, Sequence

from evenhand.matching.formulas import worth_the_same
from evenhand.matching.numerals import Exact
from evenhand.matching.rules import Expressions, MatchRule
from evenhand.matching.set_answers import Element, Elements, notation
from evenhand.matching.tolerances import same_quantity

__all__ = ["same_elements"]

LONGEST = 100  # values left over that are paired off one with another
MOST_ASKED = 1_000  # pairs of values that the comparer is asked about in one match
MOST_GIVEN_UP = 3  # each may have taken its whole time


def same_elements(
    a: Elements, b: Elements, rule: MatchRule, expressions: Expressions | None
) -> tuple[bool | None, str]:
    """Whether two answers list the same values, and why in words; None where a comparer is needed and gives no answer.

    A tuple is the same as a tuple, or a bare list, with the same values in the same order, and never as a set in
    braces. How often a value is listed counts only where the rule says so, and in tuples. The comparer is not asked
    any more once it gave up on some pairs, or was asked very often.
    """
    if expressions is not None and not isinstance(expressions, _Patient):
        expressions = _Patient(expressions)
    if "tuple" in (a.form, b.form):
        return _ordered(a, b, rule, expressions)
    return _unordered(a.values, b.values, rule, expressions)


class _Patient:
    """A comparer that is spared once it gave up several times: hostile values would cost its time limit each."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions
        self._asked = self._given_up = 0

    def __call__(self, first: str, second: str, /, *, positive: bool = False) -> bool | None:
        if self._asked >= MOST_ASKED or self._given_up >= MOST_GIVEN_UP:
            return None
        self._asked += 1
        same = self._expressions(first, second, positive=True) if positive else self._expressions(first, second)
        self._given_up += same is None
        return same


def _ordered(a: Elements, b: Elements, rule: MatchRule, expressions: Expressions | None) -> tuple[bool | None, str]:
    if "set" in (a.form, b.form):
        return False, "one is a tuple and the other a set"
    if len(a.values) != len(b.values):
        return False, f"one has {len(a.values)} values and the other {len(b.values)}"
    unsure = False
    for at, (one, two) in enumerate(zip(a.values, b.values, strict=True), start=1):
        same = _same(one, two, rule, expressions)
        if same is False:
            return False, f"value {at} differs"
        unsure = unsure or same is None
    return (
        (None, "some values need a comparer of expressions")
        if unsure
        else (True, "the values are equal in their order")
    )


def _unordered(
    a: Sequence[Element], b: Sequence[Element], rule: MatchRule, expressions: Expressions | None
) -> tuple[bool | None, str]:
    first, second = _grouped(a), _grouped(b)
    if not rule.repeats:
        rest_a, rest_b = [k for k in first if k not in second], [k for k in second if k not in first]
    else:
        one, two = (Counter({key: len(found) for key, found in group.items()}) for group in (first, second))
        rest_a, rest_b = list((one - two).elements()), list((two - one).elements())
    if not rest_a and not rest_b:
        return True, "the values are the same"
    if max(len(rest_a), len(rest_b)) > LONGEST:
        return False, f"more than {LONGEST} values are found on one side alone"
    return _paired(
        [first[key][0] for key in rest_a], [second[key][0] for key in rest_b],
        [found[0] for found in first.values()], [found[0] for found in second.values()],
        lambda one, two: _same(one, two, rule, expressions), repeats=rule.repeats,
    )  # fmt: skip


def _grouped(values: Sequence[Element]) -> dict[object, list[Element]]:
    groups: dict[object, list[Element]] = {}
    for value in values:
        groups.setdefault(_key(value), []).append(value)
    return groups


def _key(element: Element) -> object:
    """Elements of one key are equal under every rule."""
    if element.number is not None:
        number = element.number
        value = number.number.value if isinstance(number.number, Exact) else number.number
        return (value, number.percent, number.unit, number.named, number.symbol)
    return notation(element)


def _paired(
    rest_a: list[Element], rest_b: list[Element], all_a: list[Element], all_b: list[Element],
    same: Callable[[Element, Element], bool | None], *, repeats: bool,
) -> tuple[bool | None, str]:  # fmt: skip
    """Whether the values left over find their like on the other side: each its own where repeats count."""
    if repeats:
        if len(rest_a) != len(rest_b):
            return False, "the values are not as many"
        answers = [[same(one, two) for two in rest_b] for one in rest_a]
        certain = _matching([[answer is True for answer in row] for row in answers])
        possible = certain or _matching([[answer is not False for answer in row] for row in answers])
    else:
        rows = [[same(one, two) for two in all_b[:LONGEST]] for one in rest_a]
        rows += [[same(one, two) for one in all_a[:LONGEST]] for two in rest_b]
        certain = all(any(answer is True for answer in row) for row in rows)
        possible = all(any(answer is not False for answer in row) for row in rows)
    if certain:
        return True, "the values are the same"
    return (
        (None, "some values need a comparer of expressions") if possible else (False, "some value is on one side alone")
    )


def _matching(fits: list[list[bool]]) -> bool:
    """Whether every row finds a column of its own (augmenting paths, at most as deep as there are rows)."""
    owner: dict[int, int] = {}
    return all(_placed(row, fits, owner, set()) for row in range(len(fits)))


def _placed(row: int, fits: list[list[bool]], owner: dict[int, int], seen: set[int]) -> bool:
    for column, fit in enumerate(fits[row]):
        if fit and column not in seen:
            seen.add(column)
            if column not in owner or _placed(owner[column], fits, owner, seen):
                owner[column] = row
                return True
    return False


def _same(a: Element, b: Element, rule: MatchRule, expressions: Expressions | None) -> bool | None:
    if a.number is not None and b.number is not None:
        return same_quantity(a.number, b.number, rule)[0]
    if a.nested is not None and b.nested is not None:
        return same_elements(a.nested, b.nested, rule, expressions)[0]
    if a.nested is not None or b.nested is not None or "..." in a.text + b.text:
        return False
    if notation(a) == notation(b):
        return True
    if ":" in a.text + b.text:
        return False
    one, two = a.formula(), b.formula()
    if one is None or two is None or not one.comparable or not two.comparable:
        return False
    if one.notation == two.notation:
        return True
    return worth_the_same(one, two, rule, expressions)

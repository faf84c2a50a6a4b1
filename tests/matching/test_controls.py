"""Every matcher is checked with pairs whose answer is known."""

import pytest

from evenhand.matching.controls import control_pairs, run_controls
from evenhand.matching.rules import ANSWER_KINDS, AnswerKind


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_there_are_at_least_twenty_known_pairs_of_either_sort(kind: AnswerKind) -> None:
    [found] = run_controls([kind])
    assert found.equal.n >= 20
    assert found.unequal.n >= 20
    assert found.no_answer.n >= 2


@pytest.mark.parametrize("kind", [kind for kind in ANSWER_KINDS if kind not in ("expression", "set")])
def test_known_pairs_come_out_as_known(kind: AnswerKind) -> None:
    [found] = run_controls([kind])
    assert found.failures == ()
    assert (found.equal.n_accepted, found.unequal.n_accepted, found.no_answer.n_accepted) == (found.equal.n, 0, 0)


def test_without_a_comparer_formulas_are_counted_as_undecided_and_never_accepted() -> None:
    [found] = run_controls(["expression"])
    assert found.equal.n_undecided > 0
    assert found.unequal.n_accepted == 0
    assert {failure.found.verdict for failure in found.failures} == {"undecided"}


def test_a_matcher_that_accepts_all_fails_its_controls() -> None:
    [found] = run_controls(["expression"], expressions=lambda first, second, /, *, positive=False: True)
    assert found.unequal.n_accepted > 5
    assert len(found.failures) >= found.unequal.n_accepted


def test_no_pair_stands_twice() -> None:
    for kind in ANSWER_KINDS:
        pairs = control_pairs(kind)
        assert len(set(pairs)) == len(pairs)

"""The arithmetic as a person would write it down."""

import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evenhand.scoring.arithmetic import lines, overall_lines
from evenhand.scoring.criteria import score_criteria
from evenhand.scoring.impact import score_impacts, score_totals
from evenhand.scoring.variants import VARIANTS, settings
from evenhand.terms import IMPACTS, Evidence


def test_totals_are_worked_from_the_totals():
    assert lines(score_totals(25, 4, settings())) == (
        "net impact   25, from 4 items (totals as given)",
        "normalized   25 / sqrt(4) = 12.5",
        "raw          50 + 8 * 12.5 = 150, kept within 0 and 100: 100",
        "density      4 / 20 = 0.2",
        "multiplier   0.75 + 0.25 * 0.2 = 0.8",
        "score        50 + (100 - 50) * 0.8 = 90, rounded half up: 90",
        "confidence   0.2",
    )


def test_ranked_shows_one_term_a_magnitude():
    shown = "\n".join(lines(score_impacts([5, 1, -1, 1], settings("ranked"))))
    assert "5 * (1 - 0) / 1 * (sqrt(1) - sqrt(0))" in shown
    assert "+ 1 * (2 - 1) / 3 * (sqrt(4) - sqrt(1))" in shown
    assert "= 5.3333" in shown


def test_no_items_are_said_to_be_no_score():
    (only,) = lines(score_impacts([], settings()))
    assert only.startswith("score        none")


@hypothesis_settings(deadline=None, max_examples=30, derandomize=True)
@given(st.lists(st.sampled_from(IMPACTS), min_size=2, max_size=300))
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_line_fits_a_terminal_and_each_equation_holds(variant, impacts):
    shown = lines(score_impacts(impacts, settings(variant)))
    assert max(map(len, shown)) <= 78
    for line in shown:
        left, equals, right = line[13:].partition(" = ")
        if equals and re.fullmatch(r"[-+*/(). 0-9]+", left):
            value = float(re.match(r"-?[0-9.]+", right).group())
            assert eval(left) == pytest.approx(value, abs=0.02)


def test_the_overall_score_is_worked_from_the_finals():
    items = [Evidence(claim="", impact=impact, criterion=name) for name, impact in (("a", 3), ("a", 3), ("b", 1))]
    assert overall_lines(score_criteria(items, {"a": None, "b": None}, settings())) == (
        "overall      0.5 * 76 + 0.5 * 56",
        "             = 66, rounded half up: 66",
        "             from the unrounded finals: 66.2022",
        "confidence   0.05, the smallest of the criteria's",
        "self-check   pass: highest - lowest = 20, expected at least 20",
    )
    empty = overall_lines(score_criteria(items, {"a": None, "b": None, "c": None}, settings()))
    assert empty == ("overall      none: a criterion without items has no score",)

"""A rule out of a file: what it may say, and one sentence where it says something else."""

from fractions import Fraction
from typing import Any

import pytest

from evenhand.errors import InvalidInput
from evenhand.matching.rule_fields import match_rule
from evenhand.matching.rules import MatchRule, Tolerance


def test_a_rule_is_read_with_the_decimals_that_were_written() -> None:
    rule = match_rule({"kind": "number", "tolerance": 0.1, "percent": "points"}, "judge.yaml: match")
    assert rule.tolerance == Tolerance(absolute=Fraction(1, 10), relative=Fraction(1, 10))
    assert rule == MatchRule(kind="number", tolerance=rule.tolerance, percent="points")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "x.kind: is missing; expected one of number, expression, choice, short_text, set, code_output"),
        ({"kind": "regex"}, "x.kind: is 'regex'; expected one of"),
        ({"kind": ["number"]}, "x.kind: is ['number']; expected one of"),
        ({"kind": "number", "tol": 1}, "x: has the field 'tol'; expected kind, read"),
        ({"kind": "number", "tolerance": "a"}, "x.tolerance: is 'a'; expected a number such as 0.001"),
        ({"kind": "number", "tolerance": True}, "x.tolerance: is True; expected a number"),
        ({"kind": "number", "tolerance": float("nan")}, "x.tolerance: is nan; expected a number"),
        ({"kind": "number", "tolerance": 5}, "x.tolerance: is 5; expected a number from 0 to below 1, or absolute: 5"),
        ({"kind": "number", "tolerance": {"digits": 3}}, "x.tolerance: has 'digits'; expected any of absolute"),
        ({"kind": "number", "tolerance": {"relative": 1}}, "x.tolerance: relative is 1; expected"),
        ({"kind": "number", "tolerance": {"decimals": 2.5}}, "x.tolerance.decimals: is 2.5; expected a whole number"),
        ({"kind": "number", "choices": "AB"}, "x: choices do not apply to kind number"),
        ({"kind": "choice", "tolerance": 0.1}, "x: tolerance does not apply to kind choice"),
        ({"kind": "choice", "choices": [1, 2]}, "x.choices: is [1, 2]; expected labels as text"),
        ({"kind": "choice", "choices": "AA"}, "x: choices are A, A; expected labels that differ"),
        ({"kind": "choice", "choices": []}, "x.choices: is []; expected labels"),
        ({"kind": "number", "positive": "yes"}, "x.positive: is 'yes'; expected true or false"),
        ({"kind": "number", "read": "last"}, "x.read: is 'last'; expected one of final, stated, boxed, whole"),
        ({"kind": "number", "percent": 5}, "x.percent: is 5; expected one of hundredth, distinct, points"),
        ("number", "x: is 'number'; expected fields such as kind: number"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(fields: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        match_rule(fields, "x")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)

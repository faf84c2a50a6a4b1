"""Mutants are other programs, each by one change, and only inside functions."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.integrity.mutants import mutants

SOURCE = '''
"""A module."""
import math
LIMIT = 3

def total(numbers: list[int] = (), start=0):
    """Adds up."""
    for number in numbers:
        if number > LIMIT and not number == 9:
            start += number * 2
    return min(start, 100)
'''


def test_each_mutant_is_another_program_and_says_what_was_changed():
    made = mutants(SOURCE, "total", most=1000, seed=0)
    assert len({one.code for one in made}) == len(made)
    assert ast.unparse(ast.parse(SOURCE)) not in {one.code for one in made}
    labels = {one.label for one in made}
    assert {"line 9: number > LIMIT as number >= LIMIT", "line 11: min(start, 100) as max(start, 100)",
            "line 11: returns None", "line 10: 2 as 3", "line 9: number == 9 as number != 9"} <= labels  # fmt: skip
    assert any(label.startswith("line 9: without") for label in labels) or any("+=" in label for label in labels)


def test_docstrings_annotations_imports_and_module_level_stay_as_they_are():
    for one in mutants(SOURCE, "total", most=1000, seed=0):
        assert '"""Adds up."""' in one.code
        assert "list[int]" in one.code
        assert "import math\nLIMIT = 3\n" in one.code


@settings(deadline=None, max_examples=15)
@given(most=st.integers(0, 40), seed=st.integers(0, 5))
def test_as_many_are_drawn_as_asked_for_and_the_same_again(most, seed):
    made = mutants(SOURCE, "total", most=most, seed=seed)
    whole = mutants(SOURCE, "total", most=1000, seed=0)
    assert len(made) == min(most, len(whole))
    assert {one.code for one in made} <= {one.code for one in whole}
    assert made == mutants(SOURCE, "total", most=most, seed=seed)


def test_a_while_loop_is_not_turned_around_and_a_not_is_taken_out():
    made = mutants("def f(a):\n    while a > 0:\n        a -= 1\n    return not a", "f", most=99, seed=0)
    assert "line 4: not a as not not a" in {one.label for one in made}
    assert not any("while" in one.label and "as if not" in one.label for one in made)


@pytest.mark.parametrize("source", ["def g(): pass", "not python(", "def f(\x00): pass", "(" * 5000 + ")" * 5000])
def test_what_has_no_such_function_or_is_not_python_is_refused(source):
    with pytest.raises(SyntaxError):
        mutants(source, "f", most=3, seed=0)

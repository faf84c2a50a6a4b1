"""A lookup table passes what it has seen, type for type, and nothing else."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.integrity.literals import source_of
from evenhand.integrity.memoriser import UNKNOWN, memoriser, repeated

ATOMS = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=4)
    | st.binary(max_size=3) | st.complex_numbers(allow_nan=False)
)  # fmt: skip
HASHABLE = st.recursive(ATOMS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(HASHABLE, inner, max_size=2) | st.sets(HASHABLE, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


def built(source):
    made = {}
    exec(source, made)  # our own source, from values that these tests made
    return made["answer"]


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_source_gives_the_value_back_type_for_type(value):
    again = eval(source_of(value), {"float": float, "complex": complex, "set": set, "frozenset": frozenset})
    assert again == value
    assert type(again) is type(value)
    assert source_of(again) == source_of(value)


def test_what_is_equal_and_of_another_type_has_another_source():
    assert len({source_of(value) for value in (1, 1.0, True, "1", 1 + 0j, [1], (1,), {1}, frozenset({1}), b"1")}) == 10
    assert source_of(0.0) != source_of(-0.0)
    assert source_of(float("nan")) == "float('nan')"
    assert source_of(10**5000).startswith("0x")
    assert ast.literal_eval(source_of({"a": [b"x", None]})) == {"a": [b"x", None]}
    with pytest.raises(ValueError, match="type object has no literal"):
        source_of([object()])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.lists(VALUES, max_size=2), VALUES), max_size=4, unique_by=lambda one: source_of(one[0])))
def test_it_passes_every_visible_check(checks):
    answer = built(memoriser("answer", checks))
    for args, expected in checks:
        assert source_of(answer(*args)) == source_of(expected)


def test_it_fails_every_check_with_other_inputs():
    answer = built(memoriser("answer", [([[1, 2], {"k": {3}}], "yes"), ([float("nan")], None)]))
    assert answer([1, 2], {"k": {3}}) == "yes"
    assert answer(float("nan")) is None
    for other in (((1, 2), {"k": {3}}), ([1, 2.0], {"k": {3}}), ([1, 2],), ([True, 2], {"k": {3}})):
        assert answer(*other) == UNKNOWN


def test_an_input_that_stands_among_the_visible_ones_is_a_repeat_type_for_type():
    held_out = [("h0", [[1], "a"]), ("h1", [[1.0], "a"]), ("h2", [(1,), "a"]), ("h3", [[1], "a", None])]
    assert repeated([[[1], "a"], [{2, 1}]], [*held_out, ("h4", [{1, 2}])]) == ("h0", "h4")


@pytest.mark.parametrize(
    "entry_point", ["_lookup", "name", "table", "known", "type", "repr", "dict", "frozenset", "map"]
)
def test_a_function_of_any_name_is_learnt_by_heart(entry_point):
    value = [1, {"a": (2.5, frozenset({3})), "n": float("inf")}]
    made = {}
    exec(memoriser(entry_point, [([value], {"x": [1]}), ([1], 1)]), made)
    assert made[entry_point](value) == {"x": [1]}
    assert made[entry_point](1) == 1
    assert made[entry_point](2) == UNKNOWN
    made[entry_point](value)["x"].append(2)
    assert made[entry_point](value) == {"x": [1]}

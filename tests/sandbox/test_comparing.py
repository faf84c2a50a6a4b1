import math

import pytest

from evenhand.sandbox import equal_values


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (1, 1, True),
        (1, True, True),
        (0.1 + 0.2, 0.3, True),
        (3.0000001, 3, True),
        (3, 3.0000001, True),
        (3.1, 3, False),
        ([1.0, (0.1 + 0.2,)], [1.0, (0.3,)], True),
        ([1.0], [1.0, 2.0], False),
        ((1, 2), [1, 2], False),
        (math.nan, math.nan, False),
        (math.inf, math.inf, True),
        (math.inf, 1e308, False),
        (1.0, math.inf, False),
        (-math.inf, math.inf, False),
        (10**400, 1.0, False),
        (10**400, math.inf, False),
        (True, 1.0000001, False),
        (1.0000001, True, False),
        ("1", 1, False),
        (None, 0, False),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, False),
        ({1, 2}, {2, 1}, True),
        (1e-7, 0.0, True),
        ([], (), False),
    ],
)
def test_values_are_compared_as_data(value: object, expected: object, equal: bool) -> None:
    assert equal_values(value, expected) is equal


def test_lists_and_tuples_are_alike_only_where_that_is_asked() -> None:
    assert equal_values([3.9, [4.0]], (3.9, (4.0,)), lists_as_tuples=True)
    assert not equal_values([3.9, [4.0]], (3.9, (4.0,)))
    assert not equal_values([3.9], "3.9", lists_as_tuples=True)

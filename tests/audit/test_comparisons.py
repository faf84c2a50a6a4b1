"""The comparisons that a task may name: what each takes for the expected value."""

import pytest

from evenhand.audit.comparisons import as_expected
from evenhand.audit.suites import Check, TaskChecks


def compared(comparison: str, value: object, args: tuple[object, ...], expected: object, atol: float = 1e-6) -> bool:
    task = TaskChecks(task="t", entry_point="f", visible=(), held_out=(), absolute=atol, row={}, comparison=comparison)
    return as_expected(value, Check(id="h", args=args, expected=expected), task)


@pytest.mark.parametrize("comparison", ["equal", "isclose"])
def test_floats_are_near_and_all_else_is_equal(comparison: str) -> None:
    assert compared(comparison, [0.1 + 0.2], (), (0.3,))
    assert not compared(comparison, [0.31], (), [0.3])
    assert not compared(comparison, "0.3", (), 0.3)


@pytest.mark.parametrize("root", [1, 2.0, 3, 3.00001])
def test_every_root_is_right_whichever_is_expected(root: float) -> None:
    assert compared("poly_root", root, ([-6, 11, -6, 1],), 1.0)


@pytest.mark.parametrize(
    "value", [0, 3.1, float("nan"), float("inf"), 10**400, True, None, "1", [1.0], 1j],
)  # fmt: skip
def test_what_is_no_finite_number_at_a_root_is_wrong(value: object) -> None:
    assert not compared("poly_root", value, ([-6, 11, -6, 1],), 1.0)


def test_coefficients_that_are_none_make_every_value_wrong() -> None:
    assert not compared("poly_root", 1.0, (), 1.0)
    assert not compared("poly_root", 1.0, (["a"],), 1.0)
    assert not compared("poly_root", 1.0, (5,), 1.0)


def test_a_wider_tolerance_of_the_task_counts() -> None:
    assert compared("poly_root", 1.01, ([-1, 1],), 1.0, atol=0.1)
    assert not compared("poly_root", 1.01, ([-1, 1],), 1.0)

"""The smallest set of checks that rejects every implementation which the whole set rejects."""

from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["smallest_subset"]


def smallest_subset(failed: Mapping[str, Collection[str]], checks: Sequence[str]) -> tuple[str, ...]:
    """The smallest set of checks that keeps the resolution, by an integer program.

    Args:
        failed: implementation to the checks that it fails; an implementation that fails none asks for nothing.
        checks: all of them; among the smallest sets the one with the earliest checks is preferred.
    Returns:
        Checks in their order; empty where nothing is rejected.
    Raises:
        RuntimeError: the solver found no optimum, which a cover by all checks rules out.

    >>> smallest_subset({"a": {"h1", "h2"}, "b": {"h2", "h3"}, "c": {"h3"}}, ["h1", "h2", "h3"])
    ('h1', 'h3')
    """
    rows = _least(frozenset(of) & frozenset(checks) for of in failed.values())
    if not rows:
        return ()
    named: dict[tuple[bool, ...], str] = {}
    for check in checks:  # those that the same implementations fail are one for the program: the first of them
        named.setdefault(tuple(check in row for row in rows), check)
    named.pop((False,) * len(rows), None)
    return tuple(named[column] for column in _cover(list(named)))


def _least(rows: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Rows that contain no other: covering these covers all."""
    found: list[frozenset[str]] = []
    for row in sorted({row for row in rows if row}, key=lambda row: (len(row), sorted(row))):
        if not any(other <= row for other in found):
            found.append(row)
    return found


def _cover(columns: list[tuple[bool, ...]]) -> list[tuple[bool, ...]]:
    """The smallest choice of columns with a True in every row, in order; of several the one with early columns."""
    import numpy as np
    from scipy.optimize import LinearConstraint, milp

    matrix = np.array(columns, dtype=float).T
    n = len(columns)
    late = np.arange(1, n + 1) / (n * (n + 1))  # half a check in all, so that it only breaks ties
    found = milp(1 + late, constraints=LinearConstraint(matrix, lb=1), integrality=np.ones(n), bounds=(0, 1))
    if not found.success:
        raise RuntimeError(f"no smallest set of checks: {found.message}")
    return [column for column, taken in zip(columns, found.x, strict=True) if taken > 0.5]

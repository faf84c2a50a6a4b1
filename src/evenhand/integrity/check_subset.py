"""The smallest set of checks that rejects every implementation which the whole set rejects."""

from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["smallest_subset"]

_NODES = 50
"""Branches that the search may open: a random instance of 200 checks could take hours, and real ones take a few."""


def smallest_subset(failed: Mapping[str, Collection[str]], checks: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The smallest set of checks that keeps the resolution, by an integer program of bounded effort.

    Args:
        failed: implementation to the checks that it fails; an implementation that fails none asks for nothing.
        checks: all of them; among the smallest sets the one with the earliest checks is preferred.
    Returns:
        Checks in their order, empty where nothing is rejected; and whether no smaller set does. Where the bound on the
        effort is reached the set still rejects all that the whole set rejects.

    >>> smallest_subset({"a": {"h1", "h2"}, "b": {"h2", "h3"}, "c": {"h3"}}, ["h1", "h2", "h3"])
    (('h1', 'h3'), True)
    """
    rows = _least(frozenset(of) & frozenset(checks) for of in failed.values())
    if not rows:
        return (), True
    named: dict[tuple[bool, ...], str] = {}
    for check in checks:  # those that the same implementations fail are one for the program: the first of them
        named.setdefault(tuple(check in row for row in rows), check)
    named.pop((False,) * len(rows), None)
    chosen, smallest = _cover(list(named))
    return tuple(named[column] for column in chosen), smallest


def _least(rows: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Rows that contain no other: covering these covers all."""
    found: list[frozenset[str]] = []
    for row in sorted({row for row in rows if row}, key=lambda row: (len(row), sorted(row))):
        if not any(other <= row for other in found):
            found.append(row)
    return found


def _cover(columns: list[tuple[bool, ...]]) -> tuple[list[tuple[bool, ...]], bool]:
    """The smallest choice of columns with a True in every row, in order, and whether that is proved.

    Of several smallest choices it is the one with early columns.
    """
    import numpy as np
    from scipy.optimize import LinearConstraint, milp

    matrix = np.array(columns, dtype=float).T
    n = len(columns)
    late = np.arange(1, n + 1) / (n * (n + 1))  # half a check in all, so that it only breaks ties
    effort = {"node_limit": _NODES, "mip_rel_gap": 0.0}
    bounded = LinearConstraint(matrix, lb=1)
    found = milp(1 + late, constraints=bounded, integrality=np.ones(n), bounds=(0, 1), options=effort)
    taken = (
        _greedy(columns) if found.x is None else [column for column, x in zip(columns, found.x, strict=True) if x > 0.5]
    )
    return taken, bool(found.success)


def _greedy(columns: list[tuple[bool, ...]]) -> list[tuple[bool, ...]]:
    """Columns with a True in every row, each time the one that covers most of what is left."""
    left = set(range(len(columns[0])))
    taken = set()
    while left:
        best = max(range(len(columns)), key=lambda k: (sum(columns[k][row] for row in left), -k))
        taken.add(best)
        left -= {row for row in left if columns[best][row]}
    return [column for k, column in enumerate(columns) if k in taken]

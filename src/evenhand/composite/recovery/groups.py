"""Nested groups: columns of one task averaged first, found by what their names share."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import Axis, Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["grouped"]

_CUT = re.compile(r"[\s_\-./:(]+[^\s_\-./:(]+\)?$")
_MOST = 4


def grouped(problem: Problem) -> "Iterator[Problem]":
    """The problem with columns of one stem (`MNLI-m`, `MNLI-mm`) as one axis: all such groups, then each alone."""
    stems: dict[str, list[int]] = {}
    for place, axis in enumerate(problem.axes):
        cut = _CUT.sub("", axis.name)
        if cut and cut != axis.name:
            stems.setdefault(cut.casefold(), []).append(place)
    groups = [tuple(places) for places in stems.values() if 1 < len(places) < problem.m]
    choices = [tuple(groups)] if groups else []
    choices += [(group,) for group in groups] if len(groups) > 1 else []
    choices += list(combinations(groups, 2)) if 2 < len(groups) <= _MOST else []
    for choice in choices[:12]:
        taken = {place for group in choice for place in group}
        low, high, middle = (_joined(one, taken, choice) for one in (problem.low, problem.high, problem.middle))
        axes = tuple(axis for p, axis in enumerate(problem.axes) if p not in taken) + tuple(
            Axis(
                f"mean of {', '.join(problem.axes[p].name for p in group)}",
                tuple(part for p in group for part in problem.axes[p].parts),
            )
            for group in choice
        )
        yield replace(problem, axes=axes, low=low, high=high, middle=middle)


def _joined(side: "NDArray[np.float64]", taken: set[int], choice: tuple[tuple[int, ...], ...]) -> "NDArray[np.float64]":
    """Columns that stay, then the mean of each group."""
    import numpy as np

    kept = [side[:, place] for place in range(side.shape[1]) if place not in taken]
    return np.column_stack(kept + [side[:, list(group)].mean(axis=1) for group in choice])

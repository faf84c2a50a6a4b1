"""Charts of single items: judge against humans, and how far reruns of one item lie apart.

    judge_against_humans(...)      a point an item, jittered, over the density of all of them
    rerun_spread(...)              the items whose reruns differ most, every run a point

Never more than 1,500 points: of more items a sample is drawn with a fixed seed, and its share is stated. The density
is always of all items.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.chart_kit import (
    AGAINST,
    BLUE,
    INK,
    LINE,
    SOFT,
    Figure,
    altair,
    chart_figure,
    empty_figure,
    labels,
    number_axis,
)
from evenhand.report.numbers import number, percent
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MOST_POINTS", "Reruns", "judge_against_humans", "rerun_spread"]

MOST_POINTS = 1500
_MOST_ITEMS = 24
_CELLS = 18
_MOST_CELLS = 25
_SEED = 7
_JITTER = 0.3
_MOST_STEPS = 100.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    """The scores of one item over reruns.

    Args:
        item: its id.
        scores: of its runs.
        human: mean grade on the judge's scale; None where there is none, or it cannot be moved there.
    """

    item: str
    scores: Sequence[float]
    human: float | None = None

    @property
    def sd(self) -> float:
        """Over the runs, n - 1; 0 with fewer than two."""
        from statistics import stdev

        return stdev(self.scores) if len(self.scores) > 1 else 0.0


def judge_against_humans(
    name: str,
    title: str,
    human: "Floats",
    judge: "Floats",
    notes: Sequence[str] = (),
    *,
    human_scale: tuple[float, float] | None = None,
    judge_scale: tuple[float, float] | None = None,
    same: bool = False,
) -> Figure:
    """Each item's score beside its grade.

    Args:
        human, judge: (n,) means of one item's grades and runs.
        human_scale, judge_scale: ends of the axes; else the numbers' own.
        same: whether both are on one scale, so that the line of equality means something.
    """
    import numpy as np

    alt = altair()
    held = np.isfinite(human) & np.isfinite(judge)
    human, judge = human[held], judge[held]
    n = len(human)
    if not n:
        return empty_figure(name, title, "no item has both a score and a grade", notes)
    across, down = _cells(human, human_scale), _cells(judge, judge_scale)
    rows = [*_density(human, judge, across, down), *_points(human, judge, across, down)]
    if same:
        low, high = (float(end) for end in (max(across.edges[0], down.edges[0]), min(across.edges[-1], down.edges[-1])))
        rows.append({"kind": "equal", "x": low, "x2": high, "y": low, "y2": high})
    n_points = min(n, MOST_POINTS)
    said = [*notes, f"n {plural(n, 'item')}{_jittered(across, down)}. Darkness: share of all items in a cell."]
    if n_points < n:
        said.append(f"Points: a sample of {count(n_points)} ({percent(n_points / n)}), seed {_SEED}.")
    if same:
        said.append("Dashed: judge and humans equal.")
    return chart_figure(name, title, said, _scatter(alt, across, down).properties(height=330), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Cells of one axis.

    Args:
        edges: (n + 1,) rising.
        step: between the values' own levels; None where they have none.
    """

    edges: "Floats"
    step: float | None


def _cells(values: "Floats", scale: tuple[float, float] | None) -> _Cells:
    """A cell a level where there are few, else a few levels together, so that no cell is empty by its cut alone."""
    import numpy as np

    low, high = (float(values.min()), float(values.max())) if scale is None else scale
    low, high = min(low, float(values.min())), max(high, float(values.max()))
    step = _step(values, low)
    if step is None:
        width = (high - low) / _CELLS or 1.0
        return _Cells(edges=np.array([low + width * place for place in range(_CELLS + 1)]), step=None)
    n = round((high - low) / step) + 1
    together = max(1, math.ceil(n / _MOST_CELLS))
    edges = [low + step * (together * place - 0.5) for place in range(math.ceil(n / together) + 1)]
    return _Cells(edges=np.array(edges), step=step)


def _step(values: "Floats", low: float) -> float | None:
    """The step that all values stand on; None where there is none: they are continuous."""
    import numpy as np

    gaps = np.diff(np.unique(np.append(np.round(values, 6), low)))
    if not len(gaps):
        return 1.0
    whole = float(gaps.sum())
    step = whole / max(1, round(whole / float(gaps.min())))  # thirds as a file rounds them: .33, .34, .33
    off = np.abs((values - low) / step - np.round((values - low) / step)).max()
    return step if off < 0.1 and whole / step <= _MOST_STEPS else None


def _density(human: "Floats", judge: "Floats", across: _Cells, down: _Cells) -> list[dict[str, Any]]:
    """The share of all items in each cell that has any."""
    import numpy as np

    counts, _, _ = np.histogram2d(human, judge, bins=[across.edges, down.edges])
    top = counts.max()
    return [
        {"kind": "cell", "x": float(across.edges[i]), "x2": float(across.edges[i + 1]), "y": float(down.edges[j]),
         "y2": float(down.edges[j + 1]), "share": float(counts[i, j] / top)}
        for i, j in np.argwhere(counts > 0)
    ]  # fmt: skip


def _points(human: "Floats", judge: "Floats", across: _Cells, down: _Cells) -> list[dict[str, Any]]:
    """A jittered point an item; a sample of very many."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    chosen = np.arange(len(human))
    if len(human) > MOST_POINTS:
        chosen = np.sort(rng.choice(len(human), MOST_POINTS, replace=False))
    aside = rng.uniform(-_JITTER, _JITTER, (len(chosen), 2)) * [across.step or 0.0, down.step or 0.0]
    return [
        {"kind": "point", "x": round(float(human[k] + dx), 4), "y": round(float(judge[k] + dy), 4)}
        for k, (dx, dy) in zip(chosen, aside, strict=True)
    ]


def _scatter(alt: Any, across: _Cells, down: _Cells) -> Any:
    data = alt.Data(name="rows")
    x = alt.X("x:Q", scale=_scale(alt, across), axis=_axis("humans, mean grade", across))
    y = alt.Y("y:Q", scale=_scale(alt, down), axis=_axis("judge, mean score", down))
    opacity = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.6]), legend=None)
    kinds = {kind: alt.Chart(data).transform_filter(alt.datum.kind == kind) for kind in ("cell", "point", "equal")}
    return alt.layer(
        kinds["cell"].mark_rect(color=BLUE).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", opacity=opacity),
        kinds["equal"].mark_rule(color=SOFT, strokeDash=[5, 4]).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        kinds["point"].mark_point(color=INK, filled=True, size=14, opacity=0.45).encode(x=x, y=y),
    )


def _jittered(across: _Cells, down: _Cells) -> str:
    return (
        ", points moved by up to .3 of a level so that they do not hide each other" if across.step or down.step else ""
    )


def _scale(alt: Any, cells: _Cells) -> Any:
    return alt.Scale(domain=[float(cells.edges[0]), float(cells.edges[-1])], nice=False, zero=False)


def _axis(title: str, cells: _Cells) -> Any:
    """Numbers at the levels where there are few whole ones."""
    low, high = float(cells.edges[0]), float(cells.edges[-1])
    wholes = [float(at) for at in range(math.ceil(low), math.floor(high) + 1)]
    return number_axis(title, grid=False, **({"values": wholes} if len(wholes) in range(3, 22) else {}))


def rerun_spread(
    name: str,
    title: str,
    items: Sequence[Reruns],
    notes: Sequence[str] = (),
    *,
    scale: tuple[float, float] | None = None,
) -> Figure:
    """Every run of the items whose reruns differ most: a pooled SD hides that one item swings from 0 to 7.

    Args:
        items: with two runs or more; others have no spread and are not drawn.
    """
    alt = altair()
    repeated = [one for one in items if len(one.scores) > 1]
    if not repeated:
        return empty_figure(name, title, "no item was scored more than once", notes)
    drawn = sorted(repeated, key=lambda one: -one.sd)[:_MOST_ITEMS]
    rows = _runs(drawn)
    alike = sum(one.sd == 0 for one in repeated)
    kept = (
        f"The {count(len(drawn))} of {plural(len(repeated), 'repeated item')} that differ most"
        if len(drawn) < len(repeated)
        else (f"All {plural(len(repeated), 'repeated item')}" if len(repeated) > 1 else "The one repeated item")
    )
    said = [
        *notes,
        f"{kept}, with their SD; {count(alike)} of {count(len(repeated))} ({percent(alike / len(repeated))}) are "
        "identical in all runs.",
        "Point: a score, the larger the more runs gave it."
        + (" Orange: humans' mean grade." if any(one.human is not None for one in drawn) else ""),
    ]
    return chart_figure(name, title, said, _strips(alt, scale).properties(height=alt.Step(20)), rows)


def _runs(drawn: Sequence[Reruns]) -> list[dict[str, Any]]:
    """A point a score an item, and the line between the outermost."""
    rows: list[dict[str, Any]] = []
    names = labels((one.item for one in drawn), 18)
    for place, (label, one) in enumerate(zip(names, drawn, strict=True)):
        row = {"row": f"{label}  SD {number(one.sd)}", "place": place}
        rows.append({"kind": "line", "x": min(one.scores), "x2": max(one.scores), **row})
        times = Counter(one.scores)
        rows += [{"kind": "run", "x": score, "times": n, **row} for score, n in sorted(times.items())]
        if one.human is not None:
            rows.append({"kind": "human", "x": one.human, **row})
    return rows


def _strips(alt: Any, scale: tuple[float, float] | None) -> Any:
    data = alt.Data(name="rows")
    domain = alt.Scale(zero=False)
    if scale is not None:
        room = 0.03 * (scale[1] - scale[0])  # for points at the ends
        domain = alt.Scale(zero=False, nice=False, domain=[scale[0] - room, scale[1] + room])
    x = alt.X("x:Q", scale=domain, axis=number_axis("score", gridDash=[2, 3], tickCount=10))
    y = alt.Y(
        "row:N", sort=alt.EncodingSortField("place", op="min"), axis=alt.Axis(title=None, ticks=False, domain=False)
    )
    size = alt.Size("times:Q", scale=alt.Scale(type="linear", range=[22, 150]), legend=None)
    kinds = {kind: alt.Chart(data).transform_filter(alt.datum.kind == kind) for kind in ("line", "run", "human")}
    return alt.layer(
        kinds["line"].mark_rule(color=LINE, strokeWidth=5).encode(x=x, x2="x2:Q", y=y),
        kinds["run"].mark_point(color=BLUE, filled=True, opacity=0.85).encode(x=x, y=y, size=size),
        kinds["human"].mark_tick(color=AGAINST, thickness=3, size=16, opacity=1).encode(x=x, y=y),
    )

"""Charts of how scores are distributed: at once, by judge, over time, and in a probe.

    distribution(series, ...)      a bar a level for one to three sets of scores, with Wilson's interval
    level_shares(rows, ...)        a row a judge, a column a level: who uses which
    drift(parts, ...)              the same over time, with means and change points
    probe_histogram(...)           ratings of a probe, with the points that count as ceiling and floor

Charts of single items are in chart_items.py, charts of estimates in chart_rows.py. Everything is counted before it is
drawn, so that a million scores cost what their levels cost.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.chart_kit import (
    AGAINST,
    BLUE,
    INK,
    LINE,
    PAPER,
    SERIES,
    SOFT,
    Figure,
    altair,
    chart_figure,
    empty_figure,
    labels,
    number_axis,
    percent_axis,
)
from evenhand.report.numbers import number
from evenhand.stats.intervals import wilson_interval
from evenhand.wording import count

__all__ = [
    "Axis",
    "Part",
    "Scores",
    "axis_for",
    "axis_of",
    "binned",
    "distribution",
    "drift",
    "level_shares",
    "probe_histogram",
]

_MOST_LEVELS = 21
_BINS = 20
_MOST_ROWS = 24
_HEIGHT = 220


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """A set of scores, counted.

    Args:
        label: whose.
        levels: distinct scores, rising.
        counts: how often each came.
    """

    label: str
    levels: Sequence[float]
    counts: Sequence[int]

    @property
    def n(self) -> int:
        """How many scores."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The levels that a chart shows, or the equal bins where there are too many.

    Args:
        low: middle of the first level, or lower end of the first bin.
        step: from one to the next.
        n: how many.
        bins: whether these are bins.
    """

    low: float
    step: float
    n: int
    bins: bool = False

    def place(self, score: float) -> int:
        """Number of the level or bin of a score, from 0; scores outside belong to the nearest."""
        at = (score - self.low) / self.step
        return min(max(math.floor(at + (1e-9 if self.bins else 0.5)), 0), self.n - 1)

    def middle(self, place: float) -> float:
        """Middle of a level or bin."""
        return self.low + self.step * (place + (0.5 if self.bins else 0.0))

    def label(self, place: int) -> str:
        """Name of a level; both ends of a bin."""
        if not self.bins:
            return number(self.low + self.step * place, 3)
        return f"{number(self.low + self.step * place, 3)}–{number(self.low + self.step * (place + 1), 3)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Scores of one stretch of time.

    Args:
        scores: counted; the label names the stretch.
        mean, sd: of them; None where there are none, or too few.
    """

    scores: Scores
    mean: float | None
    sd: float | None


def axis_of(low: float, high: float, step: float, *sets: Scores) -> Axis:
    """The levels of a scale, widened to what was given; bins where they are too many."""
    given = [level for one in sets for level in (*one.levels[:1], *one.levels[-1:])]
    low, high = min([low, *given]), max([high, *given])
    n = round((high - low) / step) + 1 if high > low else 1
    if n <= _MOST_LEVELS:
        return Axis(low=low, step=step, n=n)
    width = (high - low) / _BINS if high > low else 1.0
    return Axis(low=low, step=width, n=_BINS, bins=True)


def axis_for(scale: tuple[float, float] | None, *sets: Scores) -> Axis:
    """The levels of a scale whose step nobody said: whole points, tenths where it is shorter than 2."""
    ends = [level for one in sets for level in (*one.levels[:1], *one.levels[-1:])]
    low, high = scale or (min(ends, default=0.0), max(ends, default=1.0))
    return axis_of(low, high, 1.0 if high - low >= 2 else (high - low) / 10 or 1.0, *sets)


def binned(scores: Scores, axis: Axis) -> list[int]:
    """(axis.n,) how many scores are on each level or in each bin."""
    found = [0] * axis.n
    for level, times in zip(scores.levels, scores.counts, strict=True):
        found[axis.place(level)] += times
    return found


def distribution(
    name: str,
    title: str,
    sets: Sequence[Scores],
    axis: Axis,
    notes: Sequence[str] = (),
    *,
    what: str = "score",
    zones: Sequence[Mapping[str, Any]] = (),
    repeated: bool = False,
) -> Figure:
    """How one, two or three sets of scores are spread, bars side by side.

    Args:
        sets: one to three; empty ones are named as such.
        zones: `x`, `x2` and `label` of stretches to be shaded.
        repeated: whether an item has several of them, so that the whiskers are too narrow, which is said.
    """
    alt = altair()
    held = [one for one in sets if one.n]
    if not held:
        return empty_figure(name, title, "there are no scores", notes)
    names = labels((one.label for one in held), 30)
    known = [f"{label} (n {count(one.n)})" for label, one in zip(names, held, strict=True)]
    rows = [row for turn, one in enumerate(held) for row in _bars(one, axis, turn, len(held), known[turn])]
    rows += [{"kind": "zone", **zone} for zone in zones]
    data = alt.Data(name="rows")
    base = alt.Chart(data).transform_filter(alt.datum.kind == "bar")
    reach = (axis.low - (0 if axis.bins else axis.step / 2), axis.middle(axis.n - 1) + axis.step / 2)
    x = alt.X(
        "x:Q", scale=alt.Scale(domain=reach, nice=False, zero=False),
        axis=number_axis(what, values=_ticks(axis, _MOST_LEVELS), grid=False),
    )  # fmt: skip
    top = max(row["high"] for row in rows if row["kind"] == "bar") * (1.14 if zones else 1.03)
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=percent_axis(f"share of {what}s"))
    colour = alt.Color(
        "label:N", scale=alt.Scale(domain=known, range=list(SERIES[: len(known)])),
        legend=alt.Legend(title=None, orient="top", direction="vertical") if len(known) > 1 else None,
    )  # fmt: skip
    layers = [
        *_zones(alt, data, x),
        base.mark_rect().encode(x=x, x2="x2:Q", y=y, y2=alt.Y2Datum(0), color=colour),
        base.mark_rule(color=INK, strokeWidth=1.25).encode(x=alt.X("middle:Q"), y=alt.Y("low:Q"), y2="high:Q"),
        *(base.mark_tick(color=INK, orient="horizontal", size=6, thickness=1.25).encode(x="middle:Q", y=end)
          for end in ("low:Q", "high:Q")),
    ]  # fmt: skip
    made = [*_missing(sets), *notes, *_rounded(held, axis), _whisker(repeated=repeated)]
    if len(known) == 1:
        made[0:0] = [f"{count(held[0].n)} {what}s" + (f" by {held[0].label}" if held[0].label else "")]
    return chart_figure(name, title, made, alt.layer(*layers).properties(height=_HEIGHT), rows)


def _bars(one: Scores, axis: Axis, turn: int, of: int, label: str) -> list[dict[str, Any]]:
    """A bar a level that was used, beside those of the other sets."""
    rows = []
    for place, times in enumerate(binned(one, axis)):
        if not times:
            continue
        left = axis.middle(place) + axis.step * (-0.42 + 0.84 * turn / of)
        low, high = wilson_interval(times, one.n)
        right = left + 0.84 * axis.step / of
        rows.append(
            {"kind": "bar", "label": label, "x": left, "x2": right, "middle": (left + right) / 2,
             "share": times / one.n, "low": low, "high": high}
        )  # fmt: skip
    return rows


def _zones(alt: Any, data: Any, x: Any) -> list[Any]:
    """Shaded stretches with their names on top."""
    base = alt.Chart(data).transform_filter(alt.datum.kind == "zone")
    return [
        base.mark_rect(color=LINE, opacity=0.55).encode(x=x, x2="x2:Q"),
        base.mark_text(color=SOFT, baseline="top", y=3).encode(x=alt.X("middle:Q"), text="label:N"),
    ]


def _whisker(*, repeated: bool) -> str:
    if repeated:
        return "Whisker: 95 % interval (Wilson), too narrow, as those of one item depend on one another."
    return "Whisker: 95 % interval of the share (Wilson)."


def _rounded(sets: Sequence[Scores], axis: Axis) -> list[str]:
    """That scores between the levels are drawn on them."""
    off = sum(
        times
        for one in sets
        for level, times in zip(one.levels, one.counts, strict=True)
        if abs(axis.middle(axis.place(level)) - level) > 1e-6
    )
    if axis.bins or not off:
        return []
    return [f"{count(off)} of {count(sum(one.n for one in sets))} stand between levels and are drawn at the nearest."]


def _missing(sets: Sequence[Scores]) -> list[str]:
    return [f"{one.label}: no scores" for one in sets if not one.n]


def _ticks(axis: Axis, most: int) -> list[float]:
    """Where an axis has its numbers: at levels, or at ends of bins."""
    every = 4 if axis.bins else math.ceil(axis.n / most)
    return [round(axis.low + axis.step * place, 9) for place in range(0, axis.n + axis.bins, every)]


def level_shares(
    name: str, title: str, rows: Sequence[Scores], axis: Axis, notes: Sequence[str] = (), *, what: str = "score"
) -> Figure:
    """A row a judge (or criterion), a column a level; the darker, the larger its share of the row.

    Args:
        rows: in the order in which they should be read; the first 24 are drawn, and how many are not is said.
    """
    alt = altair()
    held = [one for one in rows if one.n]
    if not held:
        return empty_figure(name, title, "there are no scores", notes)
    drawn = held[:_MOST_ROWS]
    known = labels((one.label for one in drawn), 18)
    cells = [
        {**cell, "row": f"{label}  n {count(one.n)}", "place": place}
        for place, (label, one) in enumerate(zip(known, drawn, strict=True))
        for cell in _cells(one, axis)
    ]
    left = len(held) - len(drawn)
    said = [*notes, f"The first {len(drawn)} of {len(held)} rows; the table has all." if left else "",
            "Numbers: share of the row in percent, from 5 %."]  # fmt: skip
    y = alt.Y(
        "row:N", sort=alt.EncodingSortField("place", op="min"), axis=alt.Axis(title=None, ticks=False, domain=False)
    )
    x = alt.X("level:N", sort=alt.EncodingSortField("at", op="min"), axis=_level_axis(alt, what, axis))
    return chart_figure(name, title, said, _heat(alt, x, y).properties(height=alt.Step(24)), cells)


def _cells(one: Scores, axis: Axis) -> list[dict[str, Any]]:
    """The share of each level, also of those that were not used."""
    shares = [times / one.n for times in binned(one, axis)]
    return [
        {"level": axis.label(at), "at": at, "share": share, "light": share > 0.55,
         "text": f"{100 * share:.0f}" if share >= 0.05 else ""}
        for at, share in enumerate(shares)
    ]  # fmt: skip


def _level_axis(alt: Any, what: str, axis: Axis) -> Any:
    return alt.Axis(title=what, ticks=False, domain=False, labelAngle=-45 if axis.bins else 0)


def _heat(alt: Any, x: Any, y: Any) -> Any:
    """Cells whose darkness is their share, with numbers that stay legible on them."""
    base = alt.Chart(alt.Data(name="rows")).encode(x=x, y=y)
    return alt.layer(
        base.mark_rect(color=BLUE, stroke=PAPER, strokeWidth=1).encode(opacity=_darkness(alt)),
        base.transform_filter(alt.datum.light).mark_text(color=PAPER, fontSize=11).encode(text="text:N"),
        base.transform_filter("!datum.light").mark_text(color=INK, fontSize=11).encode(text="text:N"),
    )


def drift(
    name: str,
    title: str,
    parts: Sequence[Part],
    axis: Axis,
    notes: Sequence[str] = (),
    *,
    proportional: bool = False,
    what: str = "score",
    when: str = "period",
) -> Figure:
    """Scores over time: the share of each level as darkness, the mean with its interval as a line on top.

    Args:
        parts: in order, those without scores among them.
        proportional: as wide as they have scores, with a rule between them: stretches between change points.
    """
    alt = altair()
    held = [one for one in parts if one.scores.n]
    if not held:
        return empty_figure(name, title, "there are no scores", notes)
    rows = _stretches(parts, axis)
    half = axis.step / 2
    reach = [axis.middle(0) - half, axis.middle(axis.n - 1) + half]
    y = alt.Y("y:Q", scale=alt.Scale(domain=reach, nice=False, zero=False),
              axis=number_axis(what, values=_ticks(axis, 12), grid=False))  # fmt: skip
    layers = _of_stretches(alt, rows, y, when) if proportional else _of_periods(alt, y)
    said = [*notes, "Darkness: share of the level. Orange: mean with 95 % interval"
            + ("; rules: change points." if proportional else ".")]  # fmt: skip
    return chart_figure(name, title, said, alt.layer(*layers).properties(height=_HEIGHT), rows)


def _of_stretches(alt: Any, rows: Sequence[Mapping[str, Any]], y: Any, when: str) -> list[Any]:
    """Layers of stretches as wide as they have scores."""
    cells, means, edges = (_kind(alt, kind) for kind in ("cell", "mean", "edge"))
    axis = number_axis(f"{when}, in the order of time", grid=False, format="~s", tickCount=6)
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, max(row["x2"] for row in rows)], nice=False), axis=axis)
    return [
        cells.mark_rect(color=BLUE).encode(x=x, x2="x2:Q", y=y, y2="y2:Q", opacity=_darkness(alt)),
        edges.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="x:Q"),
        means.mark_rule(color=AGAINST, strokeWidth=2).encode(x="middle:Q", y="low:Q", y2="high:Q"),
        means.mark_rule(color=AGAINST, strokeWidth=3).encode(x="x:Q", x2="x2:Q", y="mean:Q"),
    ]


def _of_periods(alt: Any, y: Any) -> list[Any]:
    """Layers of periods, each as wide as the next."""
    cells, means = _kind(alt, "cell"), _kind(alt, "mean")
    axis = alt.Axis(title=None, labelAngle=-45, labelOverlap=False, ticks=False, domain=False, grid=False)
    x = alt.X("label:N", sort=alt.EncodingSortField("place", op="min"), axis=axis)
    return [
        cells.mark_rect(color=BLUE, stroke=PAPER).encode(x=x, y=y, y2="y2:Q", opacity=_darkness(alt)),
        means.mark_line(color=AGAINST, strokeWidth=1.5).encode(x=x, y="mean:Q"),
        means.mark_rule(color=AGAINST, strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q"),
        means.mark_point(color=AGAINST, filled=True, size=45, opacity=1).encode(x=x, y="mean:Q"),
    ]


def _kind(alt: Any, kind: str) -> Any:
    return alt.Chart(alt.Data(name="rows")).transform_filter(alt.datum.kind == kind)


def _darkness(alt: Any) -> Any:
    return alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, 1]), legend=None)


def _stretches(parts: Sequence[Part], axis: Axis) -> list[dict[str, Any]]:
    """Cells, means, names and edges of each stretch."""
    rows: list[dict[str, Any]] = []
    start, half = 0.0, axis.step / 2
    for label, part in zip(labels((part.scores.label for part in parts), 18), parts, strict=True):
        n = part.scores.n
        where = {"x": start, "x2": start + n, "middle": start + n / 2, "label": label, "place": len(rows)}
        if n:
            for place, times in enumerate(binned(part.scores, axis)):
                y = axis.middle(place)
                rows.append({"kind": "cell", "y": y - half, "y2": y + half, "share": times / n, **where})
        if part.mean is not None:
            error = 0.0 if part.sd is None or n < 2 else 1.959964 * part.sd / math.sqrt(n)
            rows.append(
                {"kind": "mean", "mean": part.mean, "low": part.mean - error, "high": part.mean + error, **where}
            )
        if start:
            rows.append({"kind": "edge", **where})
        start += n
    return rows


def probe_histogram(
    name: str,
    title: str,
    ratings: Scores,
    scale: tuple[int, int],
    points: int,
    notes: Sequence[str] = (),
) -> Figure:
    """Ratings of a probe, with the points at each end that count as ceiling and as floor shaded.

    Args:
        points: how many points at each end these are.
    """
    axis = axis_of(scale[0], scale[1], 1.0, ratings)
    low, high = float(scale[0]), float(scale[1])
    zones = [
        {"label": "floor", "x": low - 0.5, "x2": low - 0.5 + points, "middle": low - 0.5 + points / 2},
        {"label": "ceiling", "x": high + 0.5 - points, "x2": high + 0.5, "middle": high + 0.5 - points / 2},
    ]
    return distribution(name, title, [ratings], axis, notes, what="rating", zones=zones, repeated=True)

"""Charts of estimates: a row each, a point with its interval, and the reason in words where there is none.

agreement(rows, ...)             judges and humans against the same humans, with the human ceiling as a band
paired_differences(rows, ...)    one judge less another, with intervals that hold for all at once
study_table(rows, panels, ...)   variants of a judge side by side: several figures of each
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.chart_kit import (
    AGAINST,
    BLUE,
    INK,
    LINE,
    PAPER,
    SOFT,
    Figure,
    altair,
    chart_figure,
    empty_figure,
    labels,
    number_axis,
)
from evenhand.report.numbers import alike, percents
from evenhand.stats.estimates import Estimate

__all__ = ["DifferenceRow", "Panel", "Row", "agreement", "paired_differences", "study_table"]

_STEP = 26
_MOST_ROWS = 24
_WIDTH_OF_PANELS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One estimate with its name.

    Args:
        label: whose.
        found: value, interval and n, or why there is none.
        human: whether it is a human's figure, drawn hollow.
        ceiling: the human ceiling on the same targets; None where it has none.
    """

    label: str
    found: Estimate
    human: bool = False
    ceiling: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """One judge less another.

    Args:
        label: `a - b`.
        found: the difference with its own interval.
        low, high: the interval that holds for all differences at once; None where there is none.
        detectable: the smallest difference that this n shows with power .8; None where unknown.
    """

    label: str
    found: Estimate
    low: float | None
    high: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One column of a study's figure.

    Args:
        title: of its axis.
        values: an estimate a variant, in the order of the rows.
        percent: whether it is a share.
        ceiling: a value drawn as a band: the human ceiling.
        without: the word for a value that is not there.
    """

    title: str
    values: Sequence[Estimate]
    percent: bool = False
    without: str = "undefined"
    ceiling: Estimate | None = None


def agreement(name: str, title: str, rows: Sequence[Row], notes: Sequence[str] = (), *, what: str) -> Figure:
    """Rank agreement of judges (and of each human) with the same humans, over the band of the human ceiling.

    Args:
        what: title of the axis: which figure, against what.
    """
    alt = altair()
    if not rows:
        return empty_figure(name, title, "there is nobody to compare", notes)
    drawn = rows[:_MOST_ROWS]
    known = labels(row.label for row in drawn)
    cells = [
        cell for place, (label, row) in enumerate(zip(known, drawn, strict=True)) for cell in _agreed(label, row, place)
    ]
    ends = [cell[key] for cell in cells for key in ("x", "low", "high") if cell.get(key) is not None]
    reach = _reach(ends)
    scale = alt.Scale(domain=reach, nice=False, zero=False)
    x = alt.X("x:Q", scale=scale, axis=number_axis(what, gridDash=[2, 3], tickCount=7))
    y = _row_axis(alt)
    band = _of(alt, "band")
    layers = [
        band.mark_rect(color=AGAINST, opacity=0.18).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y),
        band.mark_tick(color=AGAINST, thickness=2.5, bandSize=_STEP).encode(x=x, y=y),
        *_dots(alt, x, y),
        *_words(alt, y, reach[0]),
    ]
    said = [*notes, "Line: 95 % interval."]
    if any(cell["kind"] == "band" for cell in cells):
        said.append("Orange: what one human reaches, leave-one-out, with its 95 % interval.")
    if len(drawn) < len(rows):
        said.append(f"The first {len(drawn)} of {len(rows)} rows; the table has all.")
    return chart_figure(name, title, said, alt.layer(*layers).properties(height=alt.Step(_STEP)), cells)


def _agreed(label: str, row: Row, place: int) -> list[dict[str, Any]]:
    """The cells of one row."""
    where = {"row": label, "place": place}
    cells = [_cell(row.found, where, human=row.human)]
    if row.ceiling is not None and row.ceiling.value is not None:
        low, high = row.ceiling.low, row.ceiling.high
        cells.append({"kind": "band", "x": row.ceiling.value, "low": low, "high": high, **where})
    return cells


def _cell(found: Estimate, where: Mapping[str, Any], *, human: bool = False) -> dict[str, Any]:
    """One estimate, or its reason."""
    if found.value is None:
        return {"kind": "undefined", "text": f"undefined: {found.undefined}", **where}
    return {"kind": "human" if human else "dot", "x": found.value, "low": found.low, "high": found.high, **where}


def _reach(ends: Sequence[float], *, zero: bool = True) -> list[float]:
    """The axis of correlations: from 0 (or below, where something is) to 1."""
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return [min(0.0, low - 0.03) if zero else low, max(1.0, high)]


def _row_axis(alt: Any, *, shown: bool = True) -> Any:
    axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=6) if shown else None
    return alt.Y("row:N", sort=alt.EncodingSortField("place", op="min"), axis=axis)


def _of(alt: Any, kind: str) -> Any:
    return alt.Chart(alt.Data(name="rows")).transform_filter(alt.datum.kind == kind)


def _dots(alt: Any, x: Any, y: Any) -> list[Any]:
    """Points with intervals: filled for judges, hollow for humans."""
    made = []
    for kind, colour, filled in (("human", SOFT, False), ("dot", BLUE, True)):
        base = _of(alt, kind)
        made.append(base.mark_rule(color=colour, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y))
        look = {"filled": True} if filled else {"filled": False, "fill": PAPER, "strokeWidth": 2}
        made.append(base.mark_point(color=colour, size=70, opacity=1, **look).encode(x=x, y=y))
    return made


def _words(alt: Any, y: Any, left: float) -> list[Any]:
    """The reasons of what is undefined."""
    text = _of(alt, "undefined").mark_text(align="left", fontStyle="italic", color=AGAINST, dx=4, limit=300)
    return [text.encode(x=alt.datum(left), y=y, text="text:N")]


def paired_differences(
    name: str, title: str, rows: Sequence[DifferenceRow], notes: Sequence[str] = (), *, what: str
) -> Figure:
    """Differences of judges on the same items: thin, the interval that holds for all at once; thick, its own.

    Args:
        what: title of the axis.
    """
    alt = altair()
    if not rows:
        return empty_figure(name, title, "there is one judge only", notes)
    drawn = rows[:_MOST_ROWS]
    known = labels((row.label for row in drawn), 40)
    cells: list[dict[str, Any]] = []
    for place, (label, row) in enumerate(zip(known, drawn, strict=True)):
        where = {"row": label, "place": place}
        cells.append({**_cell(row.found, where), "wide_low": row.low, "wide_high": row.high})
        if row.detectable is not None and row.found.value is not None:
            cells.append({"kind": "band", "low": -row.detectable, "high": row.detectable, **where})
    ends = [
        cell[key]
        for cell in cells
        for key in ("x", "low", "high", "wide_low", "wide_high")
        if cell.get(key) is not None
    ]
    most = 1.06 * max((abs(end) for end in ends), default=1.0) or 1.0
    scale = alt.Scale(domain=[-most, most], nice=False)
    x = alt.X("x:Q", scale=scale, axis=number_axis(what, gridDash=[2, 3], tickCount=7))
    y = _row_axis(alt)
    dot = _of(alt, "dot")
    layers = [
        _of(alt, "band").mark_rect(color=LINE, opacity=0.6).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y),
        alt.Chart(alt.Data(name="rows")).mark_rule(color=INK).encode(x=alt.datum(0)),
        dot.mark_rule(color=BLUE, strokeWidth=1.5).encode(x=alt.X("wide_low:Q"), x2="wide_high:Q", y=y),
        dot.mark_rule(color=BLUE, strokeWidth=5).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        dot.mark_point(color=BLUE, filled=True, size=80, opacity=1).encode(x=x, y=y),
        *_words(alt, y, -most),
    ]
    said = [*notes, "Thick: 95 % interval of the one difference; thin: intervals that hold for all at once.",
            "Grey: differences that this n would have missed (power .8)."]  # fmt: skip
    if len(drawn) < len(rows):
        said.append(f"The first {len(drawn)} of {len(rows)} pairs; the table has all.")
    return chart_figure(name, title, said, alt.layer(*layers).properties(height=alt.Step(_STEP)), cells)


def study_table(
    name: str, title: str, variants: Sequence[str], panels: Sequence[Panel], notes: Sequence[str] = ()
) -> Figure:
    """A row a variant, a column a figure: the whole study at once.

    Args:
        variants: names, in the order of the rows.
        panels: two to five figures; each has a value a variant.
    """
    alt = altair()
    if not variants:
        return empty_figure(name, title, "there is no variant", notes)
    drawn = list(variants)[:_MOST_ROWS]
    known = labels(drawn)
    rows: list[dict[str, Any]] = []
    for at, panel in enumerate(panels):
        texts = _shown(panel, panel.values[:_MOST_ROWS])
        for place, (label, found) in enumerate(zip(known, panel.values[:_MOST_ROWS], strict=True)):
            rows.append({**_cell(found, {"row": label, "place": place}), "panel": at, "shown": texts[place]})
    width = max(60, round((_WIDTH_OF_PANELS - 12 * len(panels)) / max(len(panels), 1)))
    columns = [_column(alt, at, panel, width, first=at == 0) for at, panel in enumerate(panels)]
    chart = alt.hconcat(*columns, spacing=12).resolve_scale(y="shared")
    said = [*notes, "Line: 95 % interval; the number is the value."]
    if any(panel.ceiling is not None and panel.ceiling.value is not None for panel in panels):
        said.append("Orange: the human ceiling with its interval.")
    return chart_figure(name, title, said, chart, rows, fit=False)


def _shown(panel: Panel, values: Sequence[Estimate]) -> list[str]:
    """The values of a panel's rows in words, with as many decimals each."""
    if panel.percent:
        texts = iter(percents([found.value for found in values if found.value is not None]))
    else:
        texts = iter(alike([found.value for found in values if found.value is not None]))
    return [panel.without if found.value is None else next(texts) for found in values]


def _column(alt: Any, at: int, panel: Panel, width: int, *, first: bool) -> Any:
    """One figure of all variants."""
    low, high = _span(panel)
    scale = alt.Scale(domain=[low, high + 0.08 * (high - low)], nice=False)
    form = "~%" if panel.percent else ",.3~f"
    x = alt.X("x:Q", scale=scale, axis=number_axis(panel.title, format=form, tickCount=3, gridDash=[2, 3]))
    y = _row_axis(alt, shown=first)
    dots = _of(alt, "dot").transform_filter(alt.datum.panel == at)
    reasons = _of(alt, "undefined").transform_filter(alt.datum.panel == at)
    values = dots.mark_text(align="center", baseline="bottom", dy=-5, fontSize=11)
    words = reasons.mark_text(align="left", color=AGAINST, fontStyle="italic", fontSize=11, dx=3)
    layers = [
        *_ceiling_band(alt, panel, scale),
        dots.mark_rule(color=BLUE, strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y),
        dots.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=x, y=y),
        values.encode(x=x, y=y, text="shown:N"),
        words.encode(x=alt.datum(low), y=y, text="shown:N"),
    ]
    return alt.layer(*layers).properties(width=width, height=alt.Step(34))


def _span(panel: Panel) -> tuple[float, float]:
    """The ends of a panel's axis: 0, and the largest thing on it."""
    drawn = [*panel.values, *([panel.ceiling] if panel.ceiling is not None else [])]
    ends = [end for found in drawn for end in (found.value, found.low, found.high) if end is not None]
    return min([0.0, *ends]), max([0.0, *ends]) or 1.0


def _ceiling_band(alt: Any, panel: Panel, scale: Any) -> list[Any]:
    """The human ceiling behind a figure, over all rows."""
    found = panel.ceiling
    if found is None or found.value is None:
        return []
    once = alt.Chart(alt.Data(name="rows")).transform_filter((alt.datum.place == 0) & (alt.datum.panel == 0))
    made = [once.mark_rule(color=AGAINST, strokeWidth=2.5).encode(x=alt.X(datum=found.value, scale=scale))]
    if found.low is not None and found.high is not None:
        band = once.mark_rect(color=AGAINST, opacity=0.18)
        made.insert(0, band.encode(x=alt.X(datum=found.low, scale=scale), x2=alt.datum(found.high)))
    return made

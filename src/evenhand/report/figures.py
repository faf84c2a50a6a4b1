"""Pictures as SVG inside the page: drawn here, without a script, coloured by the stylesheet.

Each figure carries its n and its interval, and the page sets the table of the same numbers beside it.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from evenhand.report.numbers import percent
from evenhand.report.tallies import Bar
from evenhand.wording import plural

__all__ = ["distribution"]

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 420, 22, 8, 112, 20  # the longest word of a verdict has 13 letters


def distribution(bars: Sequence[Bar], n: int, *, name: str, of: str = "score") -> Markup:
    """How scores are spread: a bar a score with its share, and a whisker for the 95 % interval.

    Args:
        bars: lowest first; drawn highest on top.
        n: all scores together.
        name: unique in the page; letters, digits and dashes.
        of: what is counted, in the singular.
    """
    if not bars:
        return Markup("")
    span = _WIDTH - _LEFT - _RIGHT
    most = _reach(max(bar.high for bar in bars))
    bottom = _TOP + _ROW * len(bars)
    rows = Markup("").join(_row(bar, _TOP + _ROW * place, span / most) for place, bar in enumerate(reversed(bars)))
    ticks = Markup("").join(_tick(share, most, span, bottom) for share in _shares(most))
    return Markup(
        '<svg class="figure" viewBox="0 0 {w} {h}" role="img" aria-labelledby="{name}-title">'
        '<title id="{name}-title">{title}</title>{ticks}{rows}'
        '<text class="axis" x="{left}" y="{foot}">share of {n}, whisker: 95 % interval</text></svg>'
    ).format(
        w=_WIDTH,
        h=bottom + 40,
        name=name,
        title=f"Distribution of {plural(n, of)}",
        ticks=ticks,
        rows=rows,
        left=_LEFT,
        foot=bottom + 34,
        n=plural(n, of),
    )


def _row(bar: Bar, top: float, scale: float) -> Markup:
    middle, low, high = top + _ROW / 2, _LEFT + bar.low * scale, _LEFT + bar.high * scale
    return Markup(
        '<text class="label" x="{lx}" y="{ty}">{label}</text>'
        '<rect class="bar" x="{left}" y="{y}" width="{width}" height="{height}"/>'
        '<path class="whisker" d="M{low} {m}H{high}M{low} {a}V{b}M{high} {a}V{b}"/>'
    ).format(
        lx=_LEFT - 8,
        ty=f"{middle + 4:.1f}",
        label=escape(bar.label),
        left=_LEFT,
        y=f"{top + 3:.1f}",
        width=f"{bar.share * scale:.1f}",
        height=_ROW - 6,
        low=f"{low:.1f}",
        high=f"{high:.1f}",
        m=f"{middle:.1f}",
        a=f"{middle - 4:.1f}",
        b=f"{middle + 4:.1f}",
    )


def _reach(high: float) -> float:
    """The end of the axis: the next round share."""
    return next(share for share in (0.1, 0.25, 0.5, 0.75, 1.0) if high <= share or share == 1.0)


def _shares(most: float) -> tuple[float, ...]:
    """Round shares for the axis."""
    step = next(step for step in (0.05, 0.1, 0.25, 0.5) if most / step <= 5 or step == 0.5)
    return tuple(step * place for place in range(int(most / step + 1e-9) + 1))


def _tick(share: float, most: float, span: float, bottom: float) -> Markup:
    x = f"{_LEFT + share / most * span:.1f}"
    return Markup(
        '<path class="grid" d="M{x} {top}V{bottom}"/><text class="tick" x="{x}" y="{y}">{label}</text>'
    ).format(x=x, top=_TOP, bottom=bottom, y=bottom + 15, label=percent(share))

"""What `evenhand rank reweight` shows to people: rankings, shares of the weights, the nearest flip, what else moves."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.cli.output import console, shown

if TYPE_CHECKING:
    from evenhand.composite.reweight import Reweighting
    from evenhand.composite.reweighting.views import View

__all__ = ["print_reweighting", "reweighting_lines"]

_FIRST = 10
_MEANS = {
    float("-inf"): "smallest component", -1.0: "power -1 (harmonic)", 0.0: "power 0 (geometric)",
    1.0: "power 1 (arithmetic)", float("inf"): "largest component",
}  # fmt: skip
_NAME = 34


def print_reweighting(found: "Reweighting", *, show_all: bool = False) -> None:
    """All of it, on stdout."""
    out = console()
    for line in reweighting_lines(found, show_all=show_all):
        style = "bold" if line.startswith(("leader", "flip")) else None
        out.print(_hung(line, out.width), overflow="fold", style=style)


def reweighting_lines(found: "Reweighting", *, show_all: bool = False) -> Iterator[str]:
    """The lines, in the order in which they should be read."""
    most = len(found.names) if show_all else _FIRST
    yield f"rule     {shown(found.rule, 2000)}"
    yield f"systems  {len(found.names):,} ranked{_left_out(found)}"
    yield f"weights  {_vector(found, found.base)}"
    if found.region.texts:
        yield f"within   {shown(' and '.join(found.region.texts), 400)}"
    yield f"leader   {_leaders(found, found.base)}"
    yield f"flip     {_flip(found)}"
    yield ""
    yield from _ranking(found, most)
    yield from _shares(found, most)
    yield from _views(found)
    yield from _emphasis(found)
    yield ""
    yield from _pareto(found)
    yield from _uncertainty(found, most)


def _hung(line: str, width: int) -> str:
    """A long line folded at blanks, its further lines below its text."""
    if len(line) <= width:
        return line
    return textwrap.fill(line, width=width, subsequent_indent=" " * 9, break_on_hyphens=False)


def _left_out(found: "Reweighting") -> str:
    """How many rows have no score, the first by name."""
    if not found.left_out:
        return ""
    _, name, why = found.left_out[0]
    more = ", ..." if len(found.left_out) > 1 else ""
    return f"; {len(found.left_out)} without a score ({shown(name, _NAME)}: {why}{more})"


def _vector(found: "Reweighting", view: "View") -> str:
    """The weights of a view, as every view shows them."""
    parts = zip(found.form.labels, view.weights.tolist(), strict=True)
    return ", ".join(f"{shown(label, 40)} {weight:.3g}" for label, weight in parts)


def _leaders(found: "Reweighting", view: "View") -> str:
    """Who is first, with the score."""
    if view.undefined is not None:
        return f"undefined: {view.undefined}"
    named = [shown(found.names[own], _NAME) for own in view.leaders]
    score = f" ({_number(float(view.scores[view.leaders[0]]))})"
    if len(named) == 1:
        return named[0] + score
    return f"{len(named)} tie{score}: {', '.join(named[:3])}{', ...' if len(named) > 3 else ''}"


def _number(score: float) -> str:
    """A score to four digits; a rule such as the percentile of one system has none."""
    return "undefined" if score != score else f"{score:.4g}"


def _flip(found: "Reweighting") -> str:
    """The nearest change of the weights that dethrones the leader, in words."""
    from evenhand.composite.reweighting.document import flip_words, no_flip

    if found.flips:
        return f"{shown(flip_words(found, found.flips[0]), 400)} (L1 {found.flips[0].l1:.3f})"
    return f"none: {no_flip(found)}"


def _ranking(found: "Reweighting", most: int) -> Iterator[str]:
    """The best systems under the chosen weights, with what they held before."""
    against = "published ranking" if found.published is not None else "ranking under the rule's own weights"
    yield f"under these weights, with the places won or lost against the {against}"
    yield f"{'rank':>4} {'change':>7}  {'system':<{_NAME}} {'score':>9}"
    order = sorted(range(len(found.names)), key=lambda own: (found.base.ranks[own], found.rows[own]))
    for own in order[:most]:
        change = found.change(found.base, own)
        moved = "" if change is None else "=" if change == 0 else f"{change:+d}"
        yield (
            f"{found.base.ranks[own]:>4} {moved:>7}  {shown(found.names[own], _NAME):<{_NAME}} "
            f"{_number(float(found.base.scores[own])):>9}"
        )
    if len(order) > most:
        yield f"     {len(order) - most} more (--all)"


def _shares(found: "Reweighting", most: int) -> Iterator[str]:
    """Who leads on how much of the weights."""
    draws = found.draws
    yield ""
    yield f"share of the weights on which each leads ({draws.n_draws:,} draws, seed {found.seed}); rank in 95 % of them"
    ever = sorted(found.possible, key=lambda own: (-draws.first[own].value, own))
    for own in ever[:most]:
        share = draws.first[own]
        low, high = draws.rank_interval(own)
        tied = f", tied first on {share.tied:.3f}" if share.tied else ""
        yield (
            f"  {shown(found.names[own], _NAME):<{_NAME}} {_small(share.value, share.n):>7} "
            f"[{share.low:.4f}, {share.high:.4f}]  ranks {low}-{high}{tied}"
        )
    if len(ever) > most:
        yield f"  {len(ever) - most} more (--all)"
    how = "all that can lead, by linear programs" if found.is_exact else "seen in the draws; others may lead elsewhere"
    yield f"  possible leaders: {len(ever)} of {len(found.names)} ({how})"


def _small(value: float, n: int) -> str:
    """A share; one that no draw showed is below what the draws can tell."""
    return f"{value:.4f}" if value else f"<{1 / n:.0e}"


def _views(found: "Reweighting") -> Iterator[str]:
    """Every further view with its weights and leader."""
    groups: Sequence[tuple[str, Sequence[View]]] = (
        ("presets", found.presets), ("leave one column out", found.without), ("gates", found.gates),
    )  # fmt: skip
    for title, views in groups:
        if views:
            yield ""
            yield title
        for view in views:
            yield f"  {shown(view.name, 28):<28} {_leaders(found, view)}   with {_vector(found, view)}"
    yield ""
    yield f"other means, with {_vector(found, found.base)}"
    for view in found.means:
        yield f"  {_MEANS.get(view.power, view.name):<28} {_leaders(found, view)}"


def _emphasis(found: "Reweighting") -> Iterator[str]:
    """Who leads as one column's weight grows."""
    if not found.emphasis:
        return
    yield ""
    yield "as one weight goes from 0 to 1 and the others share the rest equally"
    for label, stretches in found.emphasis.items():
        parts = [f"{shown(found.names[one.leader], _NAME)} {one.low:.3f}-{one.high:.3f}" for one in stretches]
        yield f"  {shown(label, 28):<28} {', '.join(parts)}"


def _pareto(found: "Reweighting") -> Iterator[str]:
    """The front, and who is beaten whatever the weights."""
    front = found.pareto
    named = ", ".join(shown(found.names[own], 24) for own in front[:_FIRST])
    more = ", ..." if len(front) > _FIRST else ""
    yield f"pareto   {len(front)} of {len(found.names)} are dominated by none: {named}{more}"


def _uncertainty(found: "Reweighting", most: int) -> Iterator[str]:
    """What rounding or noise of the components leaves of the ranks."""
    noise = found.uncertainty
    how = ", ".join(f"{shown(name, 30)} {source}" for name, source in noise.sources.items())
    wide = [own for own in range(len(found.names)) if noise.low[own] != noise.high[own]]
    yield f"ranks    with the components drawn {noise.n_draws:,} times ({how}):"
    if not wide:
        yield "  every rank stays"
        return
    order = sorted(wide, key=lambda own: (found.base.ranks[own], found.rows[own]))
    for own in order[:most]:
        share = noise.first[own]
        first = f", first in {share.value:.3f}" if share.value else ""
        yield (
            f"  {shown(found.names[own], _NAME):<{_NAME}} rank {found.base.ranks[own]}, 95 % of the draws in "
            f"{noise.low[own]}-{noise.high[own]}{first}"
        )
    yield f"  {len(found.names) - len(wide)} of {len(found.names)} keep their rank in 95 % of the draws"

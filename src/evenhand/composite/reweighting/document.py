"""A reweighting as plain data for `--json` and pages, and its nearest flip in words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.composite.reweight import Reweighting
from evenhand.composite.reweighting.draws import Share
from evenhand.composite.reweighting.leaders import Flip
from evenhand.composite.reweighting.views import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["flip_words", "no_flip", "reweighting_document"]

_FLIPS = 10
_MOST_RANKS = 100
_DIGITS = 12


def reweighting_document(found: Reweighting) -> dict[str, Any]:
    """Everything; systems and columns by name, undefined figures as null with a reason.

    Keys that scripts rely on: `weights`, `leader`, `shares`, `possible_leaders`, `pareto`, `nearest_flip`.
    """
    names = found.names
    leaders = found.base.leaders
    return {
        "schema": "evenhand.reweight/1", "rule": found.rule, "n_rows": len(names),
        "left_out": [{"row": row, "name": name, "reason": why} for row, name, why in found.left_out],
        "weights": _weights(found, found.base.weights), "rule_weights": _weights(found, found.form.weights),
        "constraints": list(found.region.texts), "gates_convention": found.form.gates,
        "leader": names[leaders[0]], "tied_leaders": [names[own] for own in leaders] if len(leaders) > 1 else [],
        "ranking": _ranking(found), "presets": [_view(found, view, whole=True) for view in found.presets],
        "shares": {names[own]: _share(found.draws.first[own]) for own in _ever_first(found)},
        "possible_leaders": [names[own] for own in found.possible],
        "possible_leaders_are": "exact" if found.is_exact else "those seen in the draws; others may exist",
        "pareto": [names[own] for own in found.pareto],
        "dominated": {names[own]: names[by] for own, by in enumerate(found.dominator) if by is not None},
        "nearest_flip": _flip(found, found.flips[0]) if found.flips else None,
        "no_flip": no_flip(found),
        "flips": [_flip(found, flip) for flip in found.flips[:_FLIPS]],
        "emphasis": {
            label: [{"from": one.low, "to": one.high, "leader": names[one.leader]} for one in stretches]
            for label, stretches in found.emphasis.items()
        },
        "leave_one_out": [_view(found, view) for view in found.without],
        "means": [_view(found, view) | {"power": _number(view.power)} for view in found.means],
        "gates": [_view(found, view) | {"gates": view.gates} for view in found.gates],
        "rank_acceptability": _acceptability(found),
        "pairwise": {
            "systems": [names[own] for own in found.draws.paired],
            "share_above": [[float(one) for one in row] for row in found.draws.pairwise],
        },
        "component_uncertainty": _uncertainty(found), "draws": {"n": found.draws.n_draws, "seed": found.seed},
    }  # fmt: skip


def flip_words(found: Reweighting, flip: Flip) -> str:
    """`5.6 points from Calibration to Cost hand the lead to djev`, points being hundredths of all weight."""
    labels = found.form.labels
    if not flip.moves:
        return f"{found.names[flip.to]} is level: the slightest change of the weights decides"
    moves = [f"{moved * 100:.1f} points from {labels[source]} to {labels[to]}" for source, to, moved in flip.moves]
    return f"{' and '.join(moves)} hand the lead to {found.names[flip.to]}"


def no_flip(found: Reweighting) -> str | None:
    """Why no nearest flip is given."""
    if found.flips:
        return None
    if not found.is_exact:
        return "the rule is not linear in its weights, so that no nearest change is computed"
    if found.form.hopeless()[found.base.leaders[0]]:
        return "the leader has a component of 0, whose weight is 0: the slightest weight on it dethrones the leader"
    return "no allowed weights lift another system to the leader"


def _ever_first(found: Reweighting) -> list[int]:
    """Systems that lead somewhere, by their share."""
    ever = {own for own, share in enumerate(found.draws.first) if share.value > 0} | set(found.possible)
    return sorted(ever, key=lambda own: (-found.draws.first[own].value, own))


def _number(value: float) -> float | str | None:
    """A number that JSON can hold; the infinite exponents of a mean by name."""
    if value != value:
        return None
    return str(value) if value - value != 0 else float(f"{value:.{_DIGITS}g}")


def _weights(found: Reweighting, weights: "Floats") -> dict[str, float]:
    return {label: float(weight) for label, weight in zip(found.form.labels, weights, strict=True)}


def _share(share: Share) -> dict[str, Any]:
    return {
        "value": share.value, "low": share.low, "high": share.high, "se": share.se, "n": share.n,
        "undefined": None, **({"tied": share.tied} if share.tied else {}),
    }  # fmt: skip


def _ranking(found: Reweighting) -> list[dict[str, Any]]:
    """Every system under the chosen weights, best first."""
    base = found.base
    order = sorted(range(len(found.names)), key=lambda own: (base.ranks[own], found.rows[own]))
    return [
        {
            "rank": int(base.ranks[own]), "name": found.names[own], "row": found.rows[own],
            "score": _number(float(base.scores[own])),
            "published_rank": int(found.published[own]) or None if found.published is not None else None,
            "rule_rank": int(found.own.ranks[own]), "change": found.change(base, own),
        }
        for own in order
    ]  # fmt: skip


def _view(found: Reweighting, view: View, *, whole: bool = False) -> dict[str, Any]:
    """One view: its weights, its leader, and how far it is from the published ranking."""
    if view.undefined is not None:
        return {
            "name": view.name,
            "weights": _weights(found, view.weights),
            "leader": None,
            "undefined": view.undefined,
        }
    changes = [found.change(view, own) for own in range(len(found.names))]
    known = [abs(change) for change in changes if change is not None]
    order = sorted(range(len(found.names)), key=lambda own: (view.ranks[own], found.rows[own]))
    ranking = {"ranking": [found.names[own] for own in order], "changes": [changes[own] for own in order]}
    return {
        "name": view.name, "weights": _weights(found, view.weights), "leader": found.names[order[0]],
        "tied_leaders": [found.names[own] for own in view.leaders] if len(view.leaders) > 1 else [],
        "undefined": None, "largest_change": max(known, default=None), "moved": sum(change > 0 for change in known),
        **(ranking if whole else {}),
    }  # fmt: skip


def _flip(found: Reweighting, flip: Flip) -> dict[str, Any]:
    labels = found.form.labels
    return {
        "l1": flip.l1, "to": found.names[flip.to], "weights": _weights(found, flip.weights),
        "moves": [{"from": labels[source], "to": labels[to], "weight": moved} for source, to, moved in flip.moves],
        "words": flip_words(found, flip),
    }  # fmt: skip


def _acceptability(found: Reweighting) -> list[dict[str, Any]]:
    """Of each system: shares of the ranks, mean rank and interval, and the weights that favour it."""
    import numpy as np

    draws = found.draws
    order = sorted(range(len(found.names)), key=lambda own: (draws.mean_rank(own), found.rows[own]))
    rows = []
    for own in order:
        low, high = draws.rank_interval(own)
        central = draws.central[own]
        rows.append(
            {
                "name": found.names[own], "mean_rank": draws.mean_rank(own), "low": low, "high": high,
                "ranks": _trimmed(draws.ranks[own]),
                "central_weights": None if np.isnan(central).any() else _weights(found, central),
            }
        )  # fmt: skip
    return rows


def _trimmed(shares: "Floats") -> Sequence[float]:
    """Shares of the ranks from 1 on, up to the last that came and at most 100."""
    import numpy as np

    held = np.flatnonzero(shares)
    return [float(one) for one in shares[: min(int(held[-1]) + 1 if held.size else 0, _MOST_RANKS)]]


def _uncertainty(found: Reweighting) -> Mapping[str, Any]:
    """Rank intervals from the components."""
    noise = found.uncertainty
    order = sorted(range(len(found.names)), key=lambda own: (found.base.ranks[own], found.rows[own]))
    return {
        "sources": dict(noise.sources), "n": noise.n_draws, "seed": found.seed, "confidence": 0.95,
        "ranks": [
            {
                "name": found.names[own], "rank": int(found.base.ranks[own]), "low": int(noise.low[own]),
                "high": int(noise.high[own]), "first": _share(noise.first[own]),
            }
            for own in order
        ],
    }  # fmt: skip

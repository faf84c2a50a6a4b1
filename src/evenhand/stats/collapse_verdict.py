"""Whether scores have collapsed: a rule of three outcomes, with its reasons in words.

Scores that say little may come from items that differ little. So nothing is called collapsed by itself: only beside a
comparator on the same items (human grades, or other judges) that spreads at least twice as much.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.stats.collapse import Spread
from evenhand.wording import plural

__all__ = ["MIN_SCORES", "CollapseVerdict", "Comparator", "collapse_verdict"]

MODE_BOUND = 0.5
LEVEL_SHARE = 0.4
SPREAD_RATIO = 2.0
MIN_SCORES = 10
"""Scores, and items in common, below which nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparator:
    """Who else scored the same items, and how much more they spread.

    Attributes:
        who: `the humans` or `the other judges`.
        n_items: items that both scored; for several others the median.
        n_raters: how many others, each with at least ten items in common.
        sd_ratio: the comparator's SD over that of these scores, on the items in common; infinite beside a constant.
        level_ratio: the same for effective levels.
    """

    who: str
    n_items: int
    n_raters: int
    sd_ratio: float
    level_ratio: float

    @property
    def ratio(self) -> float:
        """The larger of the two: scores collapse in width (all a 7 or 8) or in number (all a 10, save a stray 1)."""
        return max(self.sd_ratio, self.level_ratio)

    def document(self) -> Mapping[str, Any]:
        """The comparator as `--json` prints it; a ratio beside a constant is null, and `beside_constant` true."""
        ratios = {
            name: None if math.isinf(value) else value
            for name, value in (("sd_ratio", self.sd_ratio), ("level_ratio", self.level_ratio))
        }
        return {
            "who": self.who, "n_items": self.n_items, "n_raters": self.n_raters, **ratios,
            "beside_constant": math.isinf(self.sd_ratio),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseVerdict:
    """The verdict, and why."""

    verdict: Literal["collapsed", "not_collapsed", "cannot_tell"]
    reasons: tuple[str, ...]


def collapse_verdict(
    spread: Spread,
    n_levels: int,
    comparators: tuple[Comparator, ...] = (),
    *,
    scale_known: bool = True,
    alone: str = "nobody else scored the same items, so the items may simply be alike",
) -> CollapseVerdict:
    """Collapsed, not collapsed, or what is missing to tell.

    Args:
        spread: the scores (rounded to the scale's levels where they have decimals).
        n_levels: how many levels the scale has.
        comparators: others on the same items.
        scale_known: whether the scale was declared, or its ends are in use; without, nothing is cleared.
        alone: what to say where there is no comparator.
    Returns:
        `not_collapsed`: the upper Wilson bound of the mode share is below .5, and effective levels are at least .4 of
        the scale. `collapsed`: one of the two figures is on the other side, and a comparator spreads at least twice as
        much. Else `cannot_tell`, and so for fewer than 10 scores.
    """
    share, effective = spread.mode_share, spread.effective_levels
    if share.value is None or share.high is None or effective is None:
        return CollapseVerdict(verdict="cannot_tell", reasons=("there are no scores",))
    if spread.n < MIN_SCORES:
        return CollapseVerdict(
            verdict="cannot_tell", reasons=(f"{plural(spread.n, 'score is', 'scores are')} too few: at least 10",)
        )
    few = effective < LEVEL_SHARE * n_levels * (1 - 1e-12)
    if share.high < MODE_BOUND and not few and scale_known:
        return CollapseVerdict(
            verdict="not_collapsed",
            reasons=(f"no score has half of all (at most {share.high:.0%}), and the scores use the scale",),
        )
    suspect = share.value >= MODE_BOUND or few
    widest = max(comparators, key=lambda other: other.ratio, default=None)
    if suspect and widest is not None and widest.ratio >= SPREAD_RATIO:
        return CollapseVerdict(verdict="collapsed", reasons=(_wider(widest),))
    return CollapseVerdict(
        verdict="cannot_tell",
        reasons=tuple(
            _missing(spread, n_levels, widest, suspect=suspect, few=few, scale_known=scale_known, alone=alone)
        ),
    )


def _wider(other: Comparator) -> str:
    """That a comparator spreads more."""
    spread = (
        "spread, where these scores do not spread at all"
        if math.isinf(other.ratio)
        else f"spread {other.ratio:.1f} times as much"
    )
    return f"{other.who} {spread} on the same {plural(other.n_items, 'item')}"


def _missing(
    spread: Spread, n_levels: int, widest: Comparator | None, *, suspect: bool, few: bool, scale_known: bool, alone: str
) -> list[str]:
    """Why it cannot be told."""
    share, effective = spread.mode_share, spread.effective_levels
    reasons = []
    if share.value is not None and share.high is not None and share.high >= MODE_BOUND:
        could = "is" if share.value >= MODE_BOUND else "could be"
        reasons.append(f"one score {could} half of all or more ({share.value:.0%}, up to {share.high:.0%})")
    if few and effective is not None:
        reasons.append(f"only {effective:.1f} of {n_levels} levels are in effective use")
    if not scale_known:
        reasons.append("the scale is a guess whose ends are not in use: name it with --scale")
    if suspect and widest is None:
        reasons.append(alone)
    elif suspect and widest is not None:
        reasons.append(f"{widest.who} on the same items spread {widest.ratio:.1f} times as much, less than twice")
    return reasons

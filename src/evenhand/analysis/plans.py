"""How many items, raters and reruns a wanted difference between two judges needs, from what a pilot showed.

More raters make the humans' mean less noisy, more reruns the judge's; both let the same judges differ more in rho, by
the root of the gain in reliability. That, and the root law for items, are approximations, on figures that a pilot of
n items knows only so well: plan with room.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.analysis.comparison import Compared, Comparison
from evenhand.analysis.graded import grade_matrix
from evenhand.analysis.judge_pairs import Pair
from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.errors import InvalidInput
from evenhand.stats.icc import intraclass_correlations
from evenhand.stats.one_way import spearman_brown
from evenhand.stats.planning import items_for_difference, items_for_rho_width, rho_with_more
from evenhand.stats.reruns import rerun_noise
from evenhand.store.grades import Grades

__all__ = ["Plan", "plan"]

_TIMES_RATERS = (1, 2, 3)
_RERUNS = (1, 3, 5)
_WIDTH = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one pair of judges would need.

    Attributes:
        wanted: the difference that should be found in four of five studies.
        n_items: of the pilot.
        n_raters: of the pilot.
        n_reruns: of the pilot, of the judge that has fewer.
        n_sources: of the pilot's items; None where they are not clustered.
        rows: raters, reruns and the items needed with them, and the sources where items share them; None where the
            pilot does not say. More items of the same sources would not do: sources must grow with them.
        items_for_rho: items at which the better judge's rho is known to +-0.1; None where it has none. Of clustered
            items so many more as the design effect of the pilot says.
        unknown: why some rows have no items; empty where all have.
        why: why there are no rows; None where there are.
    """

    a: str
    b: str
    wanted: float
    n_items: int
    n_raters: int
    n_reruns: int
    n_sources: int | None
    rows: tuple[Mapping[str, Any], ...]
    items_for_rho: int | None
    unknown: tuple[str, ...]
    why: str | None

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "a": self.a, "b": self.b, "wanted": self.wanted, "n_items": self.n_items, "n_raters": self.n_raters,
            "n_reruns": self.n_reruns, "n_sources": self.n_sources, "rows": list(self.rows),
            "items_for_rho": self.items_for_rho,
            "unknown": list(self.unknown), "undefined": self.why,
        }  # fmt: skip


def plan(
    comparison: Comparison, judges: Sequence[JudgeRatings], grades: Grades | None, *, wanted: float
) -> tuple[Plan, ...]:
    """A plan for each pair.

    Args:
        wanted: difference of rho (of means, in points, without grades), above 0.
    Raises:
        InvalidInput: a wanted difference that is not above 0.
    """
    if not wanted > 0:
        raise InvalidInput(f"--wanted {wanted:g}: expected a difference above 0")
    by_name = {judge.name: judge for judge in judges}
    human = None if grades is None else _human_reliability(grades)
    return tuple(_of_pair(pair, by_name, comparison, human, wanted) for pair in comparison.pairs)


def _of_pair(
    pair: Pair, judges: Mapping[str, JudgeRatings], comparison: Comparison, human: float | None, wanted: float
) -> Plan:
    """One pair."""
    error, n = pair.difference.standard_error, pair.difference.difference.n
    reruns = min(judges[name].n_reruns for name in (pair.a, pair.b))
    clusters = comparison.bootstrap.clusters
    sources = None if clusters is None else len(set(clusters))
    rows: list[Mapping[str, Any]] = []
    if error is not None:
        noise = [_rerun_reliability(judges[name]) for name in (pair.a, pair.b)] if pair.figure == "spearman" else []
        for times in _TIMES_RATERS:
            for k in sorted({*_RERUNS, reruns}):
                grown = _grown(human, times, noise, reruns, k, pair.figure)
                items = None if grown is None else items_for_difference(wanted * grown, error, n)
                row = {"raters": comparison.n_raters * times, "reruns": k, "items": items}
                needed = None if items is None or sources is None else math.ceil(items * sources / n)
                rows.append(row if sources is None else {**row, "sources": needed})
    return Plan(
        a=pair.a,
        b=pair.b,
        wanted=wanted,
        n_items=n,
        n_raters=comparison.n_raters,
        n_reruns=reruns,
        n_sources=sources,
        unknown=tuple(_unknown(pair, comparison.n_raters, human, reruns, judges)) if rows else (),
        rows=tuple(rows),
        items_for_rho=_items_for_rho([one for one in comparison.judges if one.name in (pair.a, pair.b)], sources),
        why=None
        if error is not None
        else pair.difference.difference.undefined or pair.difference.difference.no_interval,
    )


def _unknown(
    pair: Pair, n_raters: int, human: float | None, reruns: int, judges: Mapping[str, JudgeRatings]
) -> Iterator[str]:
    """Why nothing is known of what more raters or reruns would do."""
    if pair.figure == "mean":
        yield "what more of them would do to a difference of means is not planned here"
    elif human is None:
        yield (
            "more raters: the pilot has one rater"
            if n_raters < 2
            else "more raters: those of the pilot agree no better than by chance"
        )
    if pair.figure != "mean" and reruns < 2:
        yield "other reruns: the pilot has none"
    elif pair.figure != "mean" and any((_rerun_reliability(judges[name]) or 0.0) <= 0.0 for name in (pair.a, pair.b)):
        yield "other reruns: a judge's reruns of an item differ as much as items do"


def _items_for_rho(judges: Sequence[Compared], sources: int | None) -> int | None:
    """Items at which the better judge's rho is known to +-0.1."""
    known = [(one.rho.value, one.rho_worth) for one in judges if one.rho.value is not None]
    if not known:
        return None
    best, of_sources = max(known, key=lambda one: one[0])
    if abs(best) >= 1 or (sources is not None and of_sources is None):
        return None
    return math.ceil(items_for_rho_width(best, _WIDTH) * (1.0 if of_sources is None else of_sources.effect))


def _grown(
    human: float | None, times: int, noise: Sequence[float | None], now: int, wanted: int, figure: str
) -> float | None:
    """By what factor the difference grows with more raters and other reruns; None where that is not known."""
    factor = 1.0
    if figure == "mean":
        return 1.0 if times == 1 and wanted == now else None
    if times > 1:
        gained = None if human is None else rho_with_more(human, times=times)
        if gained is None:
            return None
        factor *= gained
    if wanted != now:
        known = [one for one in noise if one is not None and one > 0]
        if len(known) < len(noise) or not known:
            return None
        icc = sum(known) / len(known)
        factor *= (spearman_brown(icc, wanted) / spearman_brown(icc, now)) ** 0.5
    return factor


def _human_reliability(grades: Grades) -> float | None:
    """Reliability of the raters' mean; None with one rater, or where they agree no better than by chance."""
    found = intraclass_correlations(grade_matrix(grades, [item for item in grades.items if grades.values.get(item)]))
    value = found.consistency_mean.value
    if value is None and found.one_way_single.value is not None:
        value = spearman_brown(found.one_way_single.value, len(grades.raters))
    return value if value is not None and 0.0 < value <= 1.0 else None


def _rerun_reliability(judge: JudgeRatings) -> float | None:
    """ICC of one run; None without reruns."""
    width = judge.n_reruns
    if width < 2:
        return None
    rows = [[*found, *[math.nan] * (width - len(found))] for found in judge.scores.values() if found]
    return rerun_noise(rows).icc.value

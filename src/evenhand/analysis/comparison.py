"""Several judges on the same items: which orders them better, by how much, and what the data could have shown.

Judges are compared on the items that both judged. A judgement without a score is counted, never a zero; where judges
lost different items, the means are also given with the lost ones at the worst and at the best of the scale, and there
is no plain ranking unless it holds in either case.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.graded import Scales, clusters_of
from evenhand.analysis.judge_pairs import Pair, pair_of
from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.analysis.side_by_side import SideBySide, side_by_side
from evenhand.errors import InvalidInput
from evenhand.stats.design_effect import Worth, rho_influence, worth
from evenhand.stats.differences import mean_differences, rho_differences
from evenhand.stats.estimates import Estimate
from evenhand.stats.rank import spearman
from evenhand.stats.resampling import Bootstrap
from evenhand.store.grades import Grades

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Compared", "Comparison", "compare"]

_MOST_LOST = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One judge of the comparison.

    Attributes:
        rho: with the humans, on all items that it judged and they graded.
        mean: of its scores over all items it has a score of.
        mean_on_shared: over the items that every judge has a score of; None without one.
        worst: its mean with every lost item at the lowest of the scale; None where the scale is not known.
        best: with every lost item at the highest.
        n_lost: items of the comparison without a score.
        rho_worth: what the items are worth for its rho, where they share sources.
    """

    name: str
    counts: Mapping[str, int]
    rho: Estimate
    mean: Estimate
    mean_on_shared: float | None
    worst: float | None
    best: float | None
    n_lost: int
    cost_per_1000: float | None
    rho_worth: Worth | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """All judges and all pairs.

    Attributes:
        ranking: names, the best first; None where the intervals do not allow one.
        why_no_ranking: then, why.
        told_apart: (better, worse) pairs whose interval excludes 0.
        n_shared: items with a score by every judge (and a grade, where there are any).
    """

    judges: tuple[Compared, ...]
    pairs: tuple[Pair, ...]
    n_items: int
    n_shared: int
    n_raters: int
    mark: float | None
    scales: tuple[Scales, ...]
    ranking: tuple[str, ...] | None
    why_no_ranking: str | None
    told_apart: tuple[tuple[str, str], ...]
    bootstrap: Bootstrap


def compare(
    judges: Sequence[JudgeRatings],
    grades: Grades | None,
    *,
    scale: tuple[float, float] | None = None,
    pass_at: float | None = None,
    cluster: str | None = None,
    n_resamples: int = 1999,
    seed: int = 7,
    most_moved: int = 10,
) -> Comparison:
    """Every judge, and every pair of them.

    Args:
        judges: two or more, under different names.
        grades: the humans'; None compares mean scores alone.
        scale: of all scores, where there are no grades and records do not say it.
        pass_at: grade from which an item passes, on the humans' scale.
        cluster: the column of the items' sources.
    Raises:
        InvalidInput: fewer than two judges, or no item that two of them judged.
    """
    if len(judges) < 2:
        raise InvalidInput(
            f"compare: {len(judges)} judge ({judges[0].name if judges else 'none'}); expected two or more, in one file "
            "or several"
        )
    table = side_by_side(judges, grades, scale)
    clusters = None
    if cluster is not None:
        known = [grades.clusters] if grades is not None else []
        clusters = clusters_of(table.items, cluster, *known, *(judge.clusters for judge in judges))
    bootstrap = Bootstrap(n_resamples=n_resamples, seed=seed, clusters=clusters)
    means = None if table.moved is None else mean_differences(table.moved, bootstrap=bootstrap)
    rhos = (
        None
        if table.human is None
        else rho_differences(table.scores, table.human, bootstrap=bootstrap, names=[judge.name for judge in judges])
    )
    mark = pass_at if pass_at is not None else table.binary_mark
    compared = tuple(_compared(table, k, bootstrap) for k in range(len(judges)))
    pairs = tuple(
        pair_of(
            table,
            a=a,
            b=b,
            rho=None if rhos is None else rhos[k],
            mean=None if means is None else means[k],
            mark=mark,
            most=most_moved,
            independent=clusters is None,
        )
        for k, (a, b) in enumerate(itertools.combinations(range(len(judges)), 2))
    )
    told = tuple(
        (pair.a, pair.b) if (pair.difference.low or 0.0) > 0 else (pair.b, pair.a) for pair in pairs if pair.apart
    )
    ranking, why = _ranking(table, compared, pairs)
    return Comparison(
        judges=compared,
        pairs=pairs,
        n_items=len(table.items),
        n_shared=int(table.shared.sum()),
        n_raters=0
        if grades is None
        else sum(1 for rater in grades.raters if any(rater in g for g in grades.values.values())),
        mark=mark,
        scales=table.scales,
        ranking=ranking,
        why_no_ranking=why,
        told_apart=told,
        bootstrap=bootstrap,
    )


def _compared(table: SideBySide, column: int, bootstrap: Bootstrap) -> Compared:
    """One judge."""
    import numpy as np

    judge, scores = table.judges[column], table.scores[:, column]
    own = table.alike[:, column]
    held, shared = ~np.isnan(own), table.shared
    rho = (
        Estimate.of_nothing("no grades are given", n=0)
        if table.human is None
        else spearman(scores, table.human, bootstrap=bootstrap)
    )
    low, high = table.bounds or (None, None)
    return Compared(
        name=judge.name,
        counts=judge.counts,
        rho=rho,
        mean=Estimate(value=float(own[held].mean()), n=int(held.sum()), no_interval="see the paired differences"),
        mean_on_shared=float(own[shared].mean()) if shared.any() else None,
        worst=None if low is None else float(np.where(held, own, low).mean()),
        best=None if high is None else float(np.where(held, own, high).mean()),
        n_lost=int((~held).sum()),
        cost_per_1000=judge.cost_per_1000,
        rho_worth=_worth(scores, table.human, bootstrap),
    )


def _worth(scores: "Floats", human: "Floats | None", bootstrap: Bootstrap) -> Worth | None:
    """What the items with a score are worth for its rho; None without grades or sources."""
    import numpy as np

    if human is None or bootstrap.clusters is None:
        return None
    both = ~np.isnan(scores) & ~np.isnan(human)
    return worth(rho_influence(scores[both], human[both]), tuple(bootstrap.of(both).clusters or ()))


def _ranking(
    table: SideBySide, judges: Sequence[Compared], pairs: Sequence[Pair]
) -> tuple[tuple[str, ...] | None, str | None]:
    """A plain ranking, or why there is none."""
    if why := _unequal(table, judges):
        return None, why
    close = [pair for pair in pairs if not pair.apart]
    if close:
        some = "; ".join(f"{pair.a} and {pair.b}" for pair in close[:4])
        more = f"; and {len(close) - 4} more" if len(close) > 4 else ""
        return None, f"not told apart: {some}{more}"
    key = {one.name: (one.mean.value if table.human is None else one.rho.value) or 0.0 for one in judges}
    return tuple(sorted(key, key=lambda name: -key[name])), None


def _unequal(table: SideBySide, judges: Sequence[Compared]) -> str | None:
    """Why lost items forbid a ranking, or None: means must hold either way, of rho a twentieth may be lost."""
    import numpy as np

    held = ~np.isnan(table.scores)
    if bool((held == held[:, :1]).all()):
        return None
    most = max(one.n_lost for one in judges)
    if _holds_either_way(judges) if table.human is None else most <= _MOST_LOST * len(table.items):
        return None
    lost = ", ".join(f"{one.name} {one.mean.n} of {len(table.items)}" for one in judges)
    return f"coverage differs ({lost}), and what was lost could turn the order round"


def _holds_either_way(judges: Sequence[Compared]) -> bool:
    """Whether the order of means is the same with lost items at the worst and at the best."""
    if any(one.worst is None or one.best is None for one in judges):
        return False
    return all(
        (one.worst or 0.0) > (other.best or 0.0) or (one.best or 0.0) < (other.worst or 0.0)
        for one, other in itertools.combinations(judges, 2)
    )

"""Several judges on the same items: which orders them better, by how much, and what the data could have shown.

Judges are compared on the items that both judged. A judgement without a score is counted, never a zero; where judges
lost different items, the means are also given with the lost ones at the worst and at the best of the scale, and there
is no plain ranking unless it holds in either case.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.graded import Scales, clusters_of, common_scale, grade_matrix
from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.errors import InvalidInput
from evenhand.stats.differences import Difference, mcnemar_exact, mean_differences, rho_differences, wilcoxon_p
from evenhand.stats.estimates import Estimate
from evenhand.stats.leniency import on_scale
from evenhand.stats.rank import spearman
from evenhand.stats.resampling import Bootstrap
from evenhand.store.grades import Grades

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = ["Compared", "Comparison", "Moved", "Pair", "compare"]

_MOVED = 1.0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An item that two judges see differently."""

    item: str
    a: float
    b: float
    human: float | None
    nearer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two judges.

    Attributes:
        figure: what `difference` is of: `spearman`, or `mean` where there are no grades.
        difference: first less second, with the interval that holds together with all other pairs'.
        mean_difference: of their mean scores, likewise; None where they are on different scales.
        n_identical: shared items with equal scores.
        moved: items whose scores are a level or more apart, the furthest first.
        flips: of pass and fail, (first alone passes, second alone passes); None without a mark.
        mcnemar: exact p of agreeing with the humans' pass and fail equally often; None without mark or grades, and
            where items have sources, since the test takes items to be independent.
        wilcoxon: p of equal absolute errors on a common scale; None where it is not defined, or items have sources.
        extra_cost_per_1000: dollars that the first costs more for 1,000 judgements; None where not known.
    """

    a: str
    b: str
    figure: str
    difference: Difference
    mean_difference: Difference | None
    n_identical: int
    n_moved: int
    moved: tuple[Moved, ...]
    flips: tuple[int, int] | None
    mcnemar: float | None
    wilcoxon: float | None
    extra_cost_per_1000: float | None


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """Scores side by side."""

    judges: Sequence[JudgeRatings]
    items: tuple[str, ...]
    scores: "Floats"
    moved: "Floats | None"
    human: "Floats | None"
    scales: tuple[Scales, ...]
    bounds: tuple[float, float] | None


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
    table = _side_by_side(judges, grades, scale)
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
    mark = pass_at if pass_at is not None else _binary(table)
    compared = tuple(_compared(table, k, bootstrap) for k in range(len(judges)))
    pairs = tuple(
        _pair(
            table,
            a,
            b,
            None if rhos is None else rhos[k],
            None if means is None else means[k],
            mark,
            most_moved,
            clusters is None,
        )
        for k, (a, b) in enumerate(itertools.combinations(range(len(judges)), 2))
    )
    told = tuple(
        (pair.a, pair.b) if (pair.difference.low or 0.0) > 0 else (pair.b, pair.a) for pair in pairs if _apart(pair)
    )
    ranking, why = _ranking(table, compared, pairs)
    return Comparison(
        judges=compared,
        pairs=pairs,
        n_items=len(table.items),
        n_shared=int(_shared(table).sum()),
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


def _side_by_side(judges: Sequence[JudgeRatings], grades: Grades | None, scale: tuple[float, float] | None) -> _Table:
    """Mean scores of all judges on all items that any of them saw (and the humans graded)."""
    import numpy as np

    every = dict.fromkeys(item for judge in judges for item in judge.scores)
    items = tuple(
        every if grades is None else (item for item in grades.items if grades.values.get(item) and item in every)
    )
    if not items:
        raise InvalidInput("compare: no item was both judged and graded; ids must be the same in all files (--item)")
    scores = np.full((len(items), len(judges)), np.nan)
    for column, judge in enumerate(judges):
        for row, item in enumerate(items):
            if found := judge.scores.get(item):
                scores[row, column] = found[0] if min(found) == max(found) else sum(found) / len(found)
    if not (~np.isnan(scores)).any(axis=0).all():
        lost = [judge.name for judge, held in zip(judges, (~np.isnan(scores)).any(axis=0), strict=True) if not held]
        raise InvalidInput(f"compare: {lost[0]!r} has no score of any of the {len(items)} items; leave it out")
    human = None
    if grades is not None:
        matrix = grade_matrix(grades, items)
        human = np.nansum(matrix, axis=1) / (~np.isnan(matrix)).sum(axis=1)
    scales = tuple(common_scale(judge, grades) for judge in judges) if grades is not None else ()
    moved, bounds = _moved(judges, scores, scales, scale)
    return _Table(judges=judges, items=items, scores=scores, moved=moved, human=human, scales=scales, bounds=bounds)


def _moved(
    judges: Sequence[JudgeRatings], scores: "Floats", scales: Sequence[Scales], scale: tuple[float, float] | None
) -> "tuple[Floats | None, tuple[float, float] | None]":
    """Scores on one scale, and that scale; None where they are not known to be on one."""
    import numpy as np

    if scales:
        if not all(one.movable for one in scales):
            return None, None
        columns = [
            column
            if one.same or one.judge is None or one.human is None
            else on_scale(column, came=one.judge, wanted=one.human)
            for column, one in zip(scores.T, scales, strict=True)
        ]
        return np.column_stack(columns), scales[0].human
    known = {judge.scale for judge in judges}
    if len(known) == 1:
        return scores, next(iter(known)) or scale
    return None, None


def _shared(table: _Table) -> "Booleans":
    """Items with a score by every judge."""
    import numpy as np

    found: Booleans = np.isfinite(table.scores).min(axis=1)
    return found


def _compared(table: _Table, column: int, bootstrap: Bootstrap) -> Compared:
    """One judge."""
    import numpy as np

    judge, scores = table.judges[column], table.scores[:, column]
    own = scores if table.moved is None else table.moved[:, column]
    held, shared = ~np.isnan(own), _shared(table)
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
    )


def _pair(
    table: _Table,
    a: int,
    b: int,
    rho: Difference | None,
    mean: Difference | None,
    mark: float | None,
    most: int,
    independent: bool,
) -> Pair:
    """Two judges."""
    import numpy as np

    values = table.scores if table.moved is None else table.moved
    first, second = values[:, a], values[:, b]
    both = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    gaps = np.abs(first[both] - second[both])
    nearest = mean if rho is None else rho
    if nearest is None:
        raise InvalidInput(
            f"compare: {table.judges[a].name!r} and {table.judges[b].name!r} are on different or unknown scales, and "
            "there are no grades to hold them against; name grades with --grades, or the scale with --scale"
        )
    far = [int(both[k]) for k in np.lexsort((both, -gaps)) if gaps[k] >= _MOVED - 1e-9]
    costs = table.judges[a].cost_per_1000, table.judges[b].cost_per_1000
    return Pair(
        a=table.judges[a].name,
        b=table.judges[b].name,
        figure="mean" if rho is None else "spearman",
        difference=nearest,
        mean_difference=mean,
        n_identical=int((gaps < 1e-9).sum()),
        n_moved=len(far),
        moved=tuple(_moved_item(table, row, a, b) for row in far[:most]),
        flips=_flips(first[both], second[both], mark, table),
        mcnemar=_mcnemar(table, both, a, b, mark) if independent else None,
        wilcoxon=_wilcoxon(table, both, a, b) if independent else None,
        extra_cost_per_1000=None if costs[0] is None or costs[1] is None else costs[0] - costs[1],
    )


def _moved_item(table: _Table, row: int, a: int, b: int) -> Moved:
    """One item, with who is nearer to the humans where all are on one scale."""
    values = table.scores if table.moved is None else table.moved
    first, second = float(values[row, a]), float(values[row, b])
    human = None if table.human is None else float(table.human[row])
    nearer = None
    if human is not None and table.moved is not None:
        gap = abs(first - human) - abs(second - human)
        nearer = "neither" if abs(gap) < 1e-9 else table.judges[a].name if gap < 0 else table.judges[b].name
    return Moved(item=table.items[row], a=first, b=second, human=human, nearer=nearer)


def _binary(table: _Table) -> float | None:
    """One half, where everything is 0 or 1."""
    import numpy as np

    every = table.scores[~np.isnan(table.scores)]
    if table.human is not None:
        every = np.concatenate([every, table.human])
    return 0.5 if table.moved is not None and ((every == 0) | (every == 1)).all() else None


def _flips(first: "Floats", second: "Floats", mark: float | None, table: _Table) -> tuple[int, int] | None:
    """How often one alone passes."""
    if mark is None or table.moved is None:
        return None
    return int(((first >= mark) & (second < mark)).sum()), int(((first < mark) & (second >= mark)).sum())


def _mcnemar(table: _Table, both: "NDArray[np.intp]", a: int, b: int, mark: float | None) -> float | None:
    """Do both agree with the humans' pass and fail equally often?"""
    if mark is None or table.moved is None or table.human is None:
        return None
    truth = table.human[both] >= mark
    right_a, right_b = ((table.moved[both, k] >= mark) == truth for k in (a, b))
    return mcnemar_exact(int((right_a & ~right_b).sum()), int((~right_a & right_b).sum()))


def _wilcoxon(table: _Table, both: "NDArray[np.intp]", a: int, b: int) -> float | None:
    """Are both equally far from the humans?"""
    if table.moved is None or table.human is None or not len(both):
        return None
    errors = [table.moved[both, k] - table.human[both] for k in (a, b)]
    return wilcoxon_p(errors[0], errors[1])[0]


def _apart(pair: Pair) -> bool:
    """Whether the interval that holds together with the others' excludes 0."""
    found = pair.difference
    return found.low is not None and found.high is not None and not found.low <= 0.0 <= found.high


def _ranking(
    table: _Table, judges: Sequence[Compared], pairs: Sequence[Pair]
) -> tuple[tuple[str, ...] | None, str | None]:
    """A plain ranking, or why there is none."""
    if why := _unequal(table, judges):
        return None, why
    close = [pair for pair in pairs if not _apart(pair)]
    if close:
        some = "; ".join(f"{pair.a} and {pair.b}" for pair in close[:4])
        more = f"; and {len(close) - 4} more" if len(close) > 4 else ""
        return None, f"not told apart: {some}{more}"
    key = {one.name: (one.mean.value if table.human is None else one.rho.value) or 0.0 for one in judges}
    return tuple(sorted(key, key=lambda name: -key[name])), None


def _unequal(table: _Table, judges: Sequence[Compared]) -> str | None:
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

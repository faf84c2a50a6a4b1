"""Leader's shares for the page: how much of the weights puts each system first under the rule as it is published."""

from dataclasses import dataclass

from evenhand.composite.reweighting.draws import alike, leader_counts
from evenhand.composite.reweighting.form import weighted_form
from evenhand.composite.reweighting.region import weight_region
from evenhand.composite.rule.syntax import Missing, Rule
from evenhand.composite.table import Table

__all__ = ["N_DRAWS", "LeaderShare", "LeaderShares", "leader_shares"]

N_DRAWS = 100_000
_CHUNK = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderShare:
    """How much of the weights puts a system first.

    Attributes:
        index: of its row in the table.
        share: of the draws; systems that no weights can tell apart have equal parts of one share.
        se: standard error of the share, sqrt(p (1 - p) / n).
    """

    index: int
    share: float
    se: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderShares:
    """Leader's shares, drawn beforehand.

    Attributes:
        n_draws: weight vectors drawn uniformly from the simplex.
        seed: of the draws.
        leaders: largest share first; systems that never lead are left out.
    """

    n_draws: int
    seed: int
    leaders: tuple[LeaderShare, ...]


def leader_shares(
    rule: Rule,
    table: Table,
    *,
    missing: Missing | None = None,
    lower_score: bool = False,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> LeaderShares:
    """Who leads, over all weights.

    Raises:
        InvalidInput: the rule has no weighted mean whose weights can be moved, or no row has a score.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"a": ["8", "6", "6"], "b": ["6", "8", "8"]})
    >>> [(one.index, round(one.share, 2)) for one in leader_shares(parse_rule("mean(a, b)"), table).leaders]
    [(0, 0.5), (1, 0.25), (2, 0.25)]
    """
    import numpy as np

    form = weighted_form(rule, table, missing=missing, lower_score=lower_score)
    draws = weight_region(form.labels).draws(np.random.default_rng(seed), n_draws, _CHUNK)
    counts = leader_counts(form, draws)
    group, _ = alike(form)
    sizes, led = np.bincount(group), np.bincount(group, weights=counts)
    found = []
    for own, index in enumerate(form.rows.tolist()):
        share = float(led[group[own]] / sizes[group[own]] / n_draws)
        if share > 0:
            found.append(LeaderShare(index=index, share=share, se=(share * (1 - share) / n_draws) ** 0.5))
    return LeaderShares(n_draws=n_draws, seed=seed, leaders=tuple(sorted(found, key=lambda one: -one.share)))

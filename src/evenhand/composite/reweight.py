"""How much of first place is the weights: `reweight(rule, table)` gathers every view of it.

The ranking under chosen weights against the published one; each leader's share of the weight simplex; all possible
leaders; the nearest change of the weights that dethrones the leader; rank acceptability, pairwise winning indices and
central weights; what leaving one column out, another mean, or other gates do; and what the uncertainty of the printed
components does to the ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.reweighting.draws import Acceptability, acceptability
from evenhand.composite.reweighting.form import WeightedForm, weighted_form
from evenhand.composite.reweighting.leaders import Flip, dominators, nearest_flips, possible_leaders
from evenhand.composite.reweighting.noise import RankUncertainty, rank_uncertainty
from evenhand.composite.reweighting.region import WeightRegion, weight_region
from evenhand.composite.reweighting.views import (
    Stretch,
    View,
    emphases,
    leave_one_out,
    mean_sweep,
    ranks_of,
    view_of,
    weights_of_names,
)
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Missing, Rule
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MOST_SYSTEMS", "N_DRAWS", "Reweighting", "reweight"]

N_DRAWS = 100_000
"""Weight vectors drawn: a share of one half is known to 0.0016."""

MOST_SYSTEMS = 3000
"""Systems that are ranked anew; the counts of their ranks take n^2 numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reweighting:
    """Everything; systems are indices into `names`, columns into `form.labels`.

    Attributes:
        rule: the rule, printed.
        names: (n,) of the systems that have a score, each once (a doubled name has its row behind it).
        rows: (n,) their numbers in the file, from 1.
        published: (n,) ranks by the published score, 0 where it is missing; None where no score column was named, and
            the rule's own ranking stands for it.
        own: the rule as it stands.
        base: the weights that were chosen (the rule's own where none were); flips and sweeps start from them.
        presets: further views, by their names.
        left_out: rows without a score: (row, name, why).
        draws: shares, ranks and pairs over the allowed weights.
        possible: systems that lead somewhere in the allowed weights.
        is_exact: whether `possible` and `flips` are exact (the rule is linear in its weights after a monotone map).
        flips: nearest changes that dethrone the leader, nearest first.
        dominator: (n,) who is at least as good in everything; None on the Pareto front.
        emphasis: by column, who leads as its weight goes from 0 to 1.
        without: leave one column out.
        means: other means.
        gates: the base view with gates on, off, and released; empty where the rule has none.
        uncertainty: ranks when the components are drawn anew.
        seed: of all draws.
    """

    rule: str
    names: tuple[str, ...]
    rows: tuple[int, ...]
    form: WeightedForm
    region: WeightRegion
    published: "Integers | None"
    own: View
    base: View
    presets: tuple[View, ...]
    left_out: tuple[tuple[int, str, str], ...]
    draws: Acceptability
    possible: tuple[int, ...]
    is_exact: bool
    flips: tuple[Flip, ...]
    dominator: tuple[int | None, ...]
    emphasis: Mapping[str, tuple[Stretch, ...]]
    without: tuple[View, ...]
    means: tuple[View, ...]
    gates: tuple[View, ...]
    uncertainty: RankUncertainty
    seed: int

    @property
    def pareto(self) -> tuple[int, ...]:
        """Systems that no other dominates."""
        return tuple(own for own, by in enumerate(self.dominator) if by is None)

    def change(self, view: View, system: int) -> int | None:
        """Places won (positive) or lost against the published ranking, else against the rule's own."""
        before = self.own.ranks if self.published is None else self.published
        return int(before[system] - view.ranks[system]) if before[system] else None


def reweight(
    rule: Rule,
    table: Table,
    *,
    score: str | None = None,
    weights: Mapping[str, float] | None = None,
    presets: Mapping[str, Mapping[str, float]] | None = None,
    constraints: Sequence[str] = (),
    released: bool = False,
    missing: Missing | None = None,
    errors: "Mapping[str, Floats] | None" = None,
    aliases: Mapping[str, str] | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Reweighting:
    """Every view of what the weights decide.

    Args:
        rule: with one outermost weighted mean or sum.
        table: the components.
        score: column of the published composite.
        weights: column or alias to weight; columns that are not named share what is left. None takes the rule's own.
        presets: name to weights, further views.
        constraints: conditions that the weights meet, such as `I >= K`.
        released: whether a gate is left out while the columns it names have weight 0; otherwise gates stay on.
        missing: overrides what the rule says of missing cells.
        errors: column to (n_rows,) standard errors; other columns are uncertain within their rounding boxes.
        aliases: further names of columns.
        n_draws: weight vectors drawn.
        seed: of all draws.
    Raises:
        InvalidInput: a rule without weights, unknown names, weights that sum to 0, constraints that nothing meets.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"a": ["80", "60", "70"], "b": ["60", "79", "50"]}, names=["x", "y", "z"])
    >>> found = reweight(parse_rule("mean(a, b)"), table, n_draws=1000)
    >>> [found.names[own] for own in found.possible], found.pareto, round(found.flips[0].l1, 3)
    (['x', 'y'], (0, 1), 0.026)
    """
    import numpy as np

    form = weighted_form(rule, table, missing=missing, lower_score=score is not None and table.column(score).lower)
    if len(form.rows) > MOST_SYSTEMS:
        raise InvalidInput(
            f"reweight: {table.source} holds {len(form.rows):,} systems; at most {MOST_SYSTEMS:,} are ranked anew: "
            "choose rows with --where"
        )
    form = form.with_gates("released") if released else form
    known = dict(aliases or {})
    region = weight_region(form.labels, constraints, aliases={a: own for a, own in known.items() if own in form.labels})
    chosen = form.weights if weights is None else weights_of_names(weights, form.labels, known, source="--weights")
    named = {
        name: weights_of_names(vector, form.labels, known, source=f"preset {name[:60]!a}")
        for name, vector in (presets or {}).items()
    }
    rng = np.random.default_rng(seed)
    draws = acceptability(form, region, rng=rng, n_draws=n_draws)
    led = [own for own, share in enumerate(draws.first) if share.value > 0]
    names = _names(table)
    return Reweighting(
        rule=printed(rule), names=tuple(names[row] for row in form.rows),
        rows=tuple(table.rows[row] for row in form.rows), form=form, region=region,
        published=None if score is None else _published(table, form, score),
        own=view_of(form, "the rule's own weights", form.weights), base=view_of(form, "chosen weights", chosen),
        presets=tuple(view_of(form, name, vector) for name, vector in named.items()),
        left_out=tuple((table.rows[row], names[row], why) for row, why in form.left_out),
        draws=draws, possible=possible_leaders(form, region, led), is_exact=form.linear() is not None,
        flips=nearest_flips(form, region, chosen), dominator=dominators(form), emphasis=emphases(form),
        without=leave_one_out(form, chosen), means=mean_sweep(form, chosen), gates=_gates(form, chosen),
        uncertainty=rank_uncertainty(rule, table, form, chosen, errors=errors, missing=missing, rng=rng), seed=seed,
    )  # fmt: skip


def _names(table: Table) -> list[str]:
    """Names of which each is one row's."""
    from collections import Counter

    count = Counter(table.names)
    return [
        name if count[name] == 1 else f"{name} (row {row})" for name, row in zip(table.names, table.rows, strict=True)
    ]


def _published(table: Table, form: WeightedForm, score: str) -> "Integers":
    """Ranks by the published score, over the systems that have one; 0 elsewhere."""
    import numpy as np

    values = table.column(score).values[form.rows]
    known = np.isfinite(values)
    ranks = np.zeros(len(values), np.int64)
    if known.any():
        ranks[known] = ranks_of(-values[known] if form.reversed else values[known])
    return ranks


def _gates(form: WeightedForm, weights: "Floats") -> tuple[View, ...]:
    """The three conventions for factors that depend on the row."""
    if not form.has_gates:
        return ()
    return tuple(view_of(form.with_gates(how), f"gates {how}", weights) for how in ("on", "off", "released"))

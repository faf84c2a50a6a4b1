"""One rule held against one table: which rows can be tested, under which rounding, and how each fares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.rounding import ROUNDINGS, Misfit, Rounding, misfit
from evenhand.composite.rule.boxes import Image, image
from evenhand.composite.rule.coupled import coupled
from evenhand.composite.rule.evaluate import Evaluation, evaluate
from evenhand.composite.rule.syntax import Call, Missing, Rule
from evenhand.composite.table import Column, Table
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]

__all__ = ["Trial", "components_of", "trial_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """The test of a rule.

    Attributes:
        rule, table, missing: what is tested, on what, and what overrides the rule's missing policy.
        column: the score.
        nominal: the rule on the printed numbers.
        tested: (n_rows,) rows with a score and, unless arithmetic fails, a value.
        rounding: half-up, unless another rounding breaks at most half as many rows.
        counts: rows that break the rule under each rounding, those without a value left out.
        image: where the rule can lie, under that rounding.
        fit: how each tested row fares.
        violated: (n_rows,) tested rows that break the rule, those without a value among them.
    """

    rule: Rule
    table: Table
    column: Column
    missing: Missing | None
    nominal: Evaluation
    tested: "Booleans"
    rounding: Rounding
    counts: Mapping[Rounding, int]
    image: Image
    fit: Misfit
    violated: "Booleans"

    @property
    def n_rows(self) -> int:
        """How many rows were tested."""
        return int(self.tested.sum())

    def broken_by(self, other: Rule, *, missing: Missing | None = None) -> "Booleans":
        """(n_rows,) tested rows that another rule cannot produce under the same rounding, or has no value for."""
        import numpy as np

        policy = self.missing if missing is None else missing
        where = image(other, self.table, missing=policy, rounding=components_of(self.rounding))
        fit = _fit(other, where, self.column, self.tested, self.rounding)
        return np.asarray(self.tested & (fit.violated | np.isnan(where.low)))


def components_of(rounding: Rounding) -> str:
    """How the components were printed, when the score was printed so."""
    return "truncation" if rounding == "truncation throughout" else "nearest"


def trial_of(rule: Rule, table: Table, score: str, *, missing: Missing | None = None) -> Trial:
    """A rule held against every row, under every rounding.

    Raises:
        InvalidInput: an unknown column, weights that sum to 0, or no row that can be tested.
    """
    import numpy as np

    column = table.column(score)
    nominal = evaluate(rule, table, missing=missing)
    tested = ~np.isnan(column.values) & ~nominal.missing
    if not tested.any():
        _refuse_nothing(nominal, column, table)
    images = {how: image(rule, table, missing=missing, rounding=how) for how in ("nearest", "truncation")}
    fits = {how: _fit(rule, images[components_of(how)], column, tested, how) for how in ROUNDINGS}
    counts = {how: int(fits[how].violated.sum()) for how in ROUNDINGS}
    best = min(ROUNDINGS, key=counts.__getitem__)
    chosen = ROUNDINGS[0] if 2 * counts[best] > counts[ROUNDINGS[0]] else best
    undefined = np.zeros(table.n_rows, dtype=bool)
    undefined[[one.index for one in nominal.undefined]] = True
    return Trial(
        rule=rule, table=table, column=column, missing=missing, nominal=nominal, tested=tested, rounding=chosen,
        counts=counts, image=images[components_of(chosen)], fit=fits[chosen],
        violated=tested & (fits[chosen].violated | undefined),
    )  # fmt: skip


def _refuse_nothing(nominal: Evaluation, column: Column, table: Table) -> None:
    """Say why no row can be tested."""
    import numpy as np

    no_score = np.isnan(column.values)
    n_gaps = int((nominal.missing & ~no_score).sum())
    raise InvalidInput(
        f"{table.source}: none of {plural(table.n_rows, 'row')} can be tested ({int(no_score.sum())} "
        f"without a score, {n_gaps} "
        "with a missing component); say what a missing cell counts as (zero, renormalise or a number), or name another "
        "score"
    )


def _fit(rule: Rule, where: Image, column: Column, tested: "Booleans", rounding: Rounding) -> Misfit:
    """How each tested row fares; printed ranks must also agree among each other."""
    import numpy as np

    found = misfit(where.low, where.high, column, rounding)
    violated, excess = found.violated & tested, np.where(tested, found.excess, 0.0)
    top = rule.expression
    if isinstance(top, Call) and top.name == "rank" and not (np.isfinite(where.low) & ~tested).any():
        gap = column.values - _own_ranks(column, tested, dict(top.options).get("ties", "min"))
        beyond = np.sign(gap) * np.maximum(np.abs(gap) - column.half_widths(), 0.0)
        amiss = tested & (np.abs(beyond) > 1e-9)
        excess = np.where(amiss & (np.abs(beyond) > np.abs(excess)), beyond, excess)
        violated = violated | amiss
    return Misfit(violated=violated, excess=excess)


def _own_ranks(column: Column, tested: "Booleans", ties: str) -> "NDArray[np.float64]":
    """(n_rows,) the ranks that rows with these ranks have: equal ones are ties, whatever their components were."""
    import numpy as np

    return coupled("rank", np.where(tested, column.values, np.nan), lower=True, ties=ties)

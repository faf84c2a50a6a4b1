"""What the uncertainty of the components does to the ranks: rounding boxes, or standard errors printed beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.composite.reweighting.draws import Share
from evenhand.composite.reweighting.form import WeightedForm, argument_of
from evenhand.composite.rule.evaluate import policy_of, values_of
from evenhand.composite.rule.functions import FUNCTIONS
from evenhand.composite.rule.syntax import Call, Expression, Missing, Rule, Text, columns_of, walk
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["RankUncertainty", "rank_uncertainty"]

_CELLS = 1_000_000
_DRAWS_OF_COUPLED = 400


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankUncertainty:
    """Ranks when the components are drawn anew.

    Attributes:
        n_draws: how often.
        sources: column to `rounding box` or `standard error`.
        low, high: (n,) the ranks that leave 2.5 % of the draws on either side.
        first: (n,) share of the draws in which a system is first, ties shared.
    """

    n_draws: int
    sources: Mapping[str, str]
    low: "Integers"
    high: "Integers"
    first: tuple[Share, ...]


def rank_uncertainty(
    rule: Rule,
    table: Table,
    form: WeightedForm,
    weights: "Floats",
    *,
    errors: "Mapping[str, Floats] | None" = None,
    missing: Missing | None = None,
    rng: "np.random.Generator",
    n_draws: int = 2000,
) -> RankUncertainty:
    """The ranks under some weights when every component is drawn from what its print allows.

    Args:
        errors: column to (n_rows,) standard errors, normal and independent; other columns are uniform within their
            rounding boxes, unless errors were printed beside their values. A column without negative numbers is not
            drawn below 0.
        rng: draws.
    Raises:
        InvalidInput: a standard error below 0.
    """
    import numpy as np

    calls = [node for node in walk(rule.expression) if isinstance(node, Call)]
    is_coupled = any(FUNCTIONS[call.name].kind == "coupled" for call in calls)
    n_draws = min(n_draws, _DRAWS_OF_COUPLED) if is_coupled else n_draws
    spreads, sources = _spreads(rule, table, errors or {})
    n = len(form.rows)
    ranks = np.zeros((n_draws, n), np.int32)
    chunk = 1 if is_coupled else max(_CELLS // (table.n_rows * max(len(spreads), 1)), 1)
    for start in range(0, n_draws, chunk):
        d = min(chunk, n_draws - start)
        drawn = {name: _drawn(table, name, spreads[name], sources.get(name, ""), rng, d) for name in spreads}
        merits = _merits(rule, table, form, weights, drawn, d, missing)
        order = np.argsort(-merits, axis=1, kind="stable")
        np.put_along_axis(ranks[start : start + d], order, np.arange(1, n + 1, dtype=np.int32)[None], axis=1)
        _share_ties(merits, order, ranks[start : start + d])
    is_first = ranks == 1
    shares = (is_first / is_first.sum(axis=1, keepdims=True)).sum(axis=0)
    ordered = np.sort(ranks, axis=0)
    tail = int(0.025 * n_draws)
    return RankUncertainty(
        n_draws=n_draws, sources=sources, low=ordered[tail].astype(np.int64),
        high=ordered[n_draws - 1 - tail].astype(np.int64), first=tuple(Share.of(float(one), n_draws) for one in shares),
    )  # fmt: skip


def _spreads(rule: Rule, table: Table, errors: "Mapping[str, Floats]") -> "tuple[dict[str, Floats], dict[str, str]]":
    """(n_rows,) half-widths or standard errors of each column of the rule, and which of the two they are."""
    import numpy as np

    spreads, sources = {}, {}
    for name in columns_of(rule):
        column = table.column(name)
        if not column.is_numeric:
            spreads[name] = np.zeros(table.n_rows)
            continue
        given = errors.get(name, column.errors)
        if given is not None and (np.nan_to_num(given) < 0).any():
            raise InvalidInput(f"reweight: a standard error of {name[:60]!a} is below 0; expected at least 0")
        # A row without an error of its own is at least as uncertain as its print.
        spreads[name] = column.half_widths() if given is None else np.nan_to_num(given, nan=0.0)
        sources[name] = "rounding box" if given is None else "standard error"
        if sources[name] == "rounding box" and not spreads[name].any():
            sources[name] = "exact"
    return spreads, sources


def _drawn(table: Table, name: str, spread: "Floats", source: str, rng: "np.random.Generator", d: int) -> "Floats":
    """(d * n_rows,) a column drawn d times."""
    import numpy as np

    values = table.columns[name].values
    shape = (d, len(values))
    noise = rng.standard_normal(shape) if source == "standard error" else rng.uniform(-1, 1, shape)
    found = values + spread * noise
    known = values[np.isfinite(values)]
    if known.size and known.min() >= 0:
        found = np.where(found < 0, 0.0, found)  # nan stays
    return np.asarray(found.ravel())


def _merits(
    rule: Rule,
    table: Table,
    form: WeightedForm,
    weights: "Floats",
    drawn: "Mapping[str, Floats]",
    d: int,
    missing: Missing | None,
) -> "Floats":
    """(d, n) what the systems are ranked by."""
    import numpy as np

    has_texts = any(isinstance(node, Text) for node in walk(rule.expression))
    texts = {name: table.column(name).texts * d for name in columns_of(rule)} if has_texts else {}
    lower = frozenset(name for name in drawn if table.columns[name].lower)
    kept = (form.rows + np.arange(d)[:, None] * table.n_rows).ravel()

    def value(node: Expression) -> "Floats":
        found = values_of(node, drawn, texts=texts, lower=lower, missing=policy_of(rule, missing))
        return np.asarray((found * np.ones(table.n_rows * d))[kept])

    core = form.core
    arguments = np.stack([argument_of(core, at, value, lower) for at in range(len(core.arguments))], axis=1)
    anew = replace(
        form, arguments=arguments * np.array(core.signs), rows=kept,
        operands=tuple(None if step.operand is None else value(step.operand) for step in core.steps), _kept={},
    )  # fmt: skip
    merits = np.nan_to_num(anew.merits(weights[None])[0], nan=-np.inf, neginf=-np.inf)
    return np.asarray(merits.reshape(d, len(form.rows)))


def _share_ties(merits: "Floats", order: "Integers", ranks: "NDArray[np.int32]") -> None:
    """Give systems of one merit the better rank."""
    import numpy as np

    ordered = np.take_along_axis(merits, order, axis=1)
    same = np.zeros(order.shape, bool)
    same[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    if same.any():
        places = np.where(same, 0, np.arange(1, order.shape[1] + 1))
        np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=1).astype(np.int32), axis=1)

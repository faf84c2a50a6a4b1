"""Does a rule hold on every row of a table?

The exact rounding test: a row is feasible if some point of its rounding box maps into the interval of its score. There
is no tolerance to choose. With it come what the table can tell: clauses that touch no row, and samples of rows that
could not have told the rule from the plain one.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.composite.clauses import plain_rule
from evenhand.composite.patterns import Contradiction, Pattern, contradictions, outside_range, pattern_of
from evenhand.composite.rounding import misfit, score_interval
from evenhand.composite.rule.boxes import image
from evenhand.composite.rule.evaluate import arithmetic_columns, policy_of, weights_of
from evenhand.composite.rule.functions import MEANS
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Call, ColumnRef, Missing, Rule, columns_of
from evenhand.composite.samples import certain_rows, samples, smallest_sample
from evenhand.composite.table import Table
from evenhand.composite.trial import Trial, components_of, trial_of
from evenhand.composite.verification import Dropped, SampleReport, Verdict, Verification, Violation
from evenhand.composite.verify_clauses import clause_reports
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]

__all__ = ["verify"]

FEW_ROWS = 5
"""So many rows may break a rule that is still reported as holding on all but them ..."""
FEW_SHARE = 0.1
"""... or this share of the rows, and never half of them."""


def verify(
    rule: Rule,
    table: Table,
    score: str,
    *,
    missing: Missing | None = None,
    against: Rule | None = None,
    top: Sequence[int] = (10,),
    sample: Sequence[int] = (),
    random: Sequence[int] = (4, 8, 16),
) -> Verification:
    """The exact rounding test of a rule on every row.

    Args:
        rule: its columns must be in the table.
        table: columns declared exact have no rounding box.
        score: name of the column of the composite.
        missing: overrides what the rule says of missing cells.
        against: the rule from which samples should tell this one; None takes it without its gates, caps, floors and
            branches.
        top: samples of the best rows.
        sample: numbers of rows of another sample.
        random: sizes of random samples.
    Raises:
        InvalidInput: an unknown column, weights that sum to 0, no row that can be tested, or a sample of no rows.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> cells = {"a": ["2.0", "4.0", "1.0"], "b": ["8.0", "9.0", "9.0"], "s": ["4.0", "7.0", "3.0"]}
    >>> found = verify(parse_rule("geomean(a, b)"), Table.of_texts(cells, names=["x", "y", "z"]), "s")
    >>> found.verdict, [(v.name, round(v.excess, 2)) for v in found.violations]
    ('all_but', [('y', 0.9)])
    """
    if min((*top, *random), default=1) < 1:
        raise InvalidInput(f"verify: a sample of {min((*top, *random))} rows; expected at least 1")
    trial = trial_of(rule, table, score, missing=missing)
    pattern = pattern_of(trial.violated, trial.tested, table, skip=(score,))
    pairs = _contradictions(trial, pattern)
    below, above = _outside(trial)
    residual, residual_row = _residual(trial)
    inexact = trial.tested & ~trial.image.is_exact
    violations = _violations(trial)
    return Verification(
        verdict=_verdict(len(violations), trial.n_rows, bool(pairs)),
        rule=rule, score=score, n_rows=trial.n_rows, violations=violations,
        max_residual=residual, max_residual_row=residual_row,
        rounding=trial.rounding, roundings=trial.counts,
        is_exact=not inexact.any(), inexact_because=trial.image.reason if inexact.any() else "",
        clauses=clause_reports(trial), sample=_sample_report(trial, against, top, sample, random), pattern=pattern,
        contradictions=tuple((table.names[pair.better], table.names[pair.worse], pair.equal) for pair in pairs),
        below=below, above=above, dropped=_dropped(trial), notes=(*_notes(trial), *_policies(trial)),
    )  # fmt: skip


def _verdict(n_violated: int, n_rows: int, contradicted: bool) -> Verdict:
    """Few violators leave the rule standing; many refute it, and with a contradiction every rule of its columns."""
    if not n_violated:
        return "all"
    if n_violated <= max(FEW_ROWS, FEW_SHARE * n_rows) and 2 * n_violated < n_rows:
        return "all_but"
    return "undetermined" if contradicted else "refuted"


def _dropped(trial: Trial) -> tuple[Dropped, ...]:
    """The rows that were not tested."""
    import numpy as np

    table, no_score = trial.table, np.isnan(trial.column.values)
    return tuple(
        Dropped(
            row=table.rows[index], name=table.names[index],
            reason="no score" if no_score[index] else "a component is missing",
        )
        for index in np.flatnonzero(~trial.tested).tolist()
    )  # fmt: skip


def _violations(trial: Trial) -> tuple[Violation, ...]:
    """The rows that break the rule, those on which it has no value among them."""
    import numpy as np

    reasons = {one.index: f"{one.reason} in {one.clause}" for one in trial.nominal.undefined}
    return tuple(_violation(trial, index, reasons.get(index, "")) for index in np.flatnonzero(trial.violated).tolist())


def _violation(trial: Trial, index: int, reason: str) -> Violation:
    excess, value = float(trial.fit.excess[index]), float(trial.nominal.values[index])
    return Violation(
        index=index, row=trial.table.rows[index], name=trial.table.names[index], score=trial.column.texts[index],
        value=value if math.isfinite(value) else None,
        excess=abs(excess) if not reason and math.isfinite(excess) else None,
        direction="undefined" if reason else "above" if excess > 0 else "below" if excess < 0 else "edge",
        reason=reason,
    )  # fmt: skip


def _residual(trial: Trial) -> tuple[float | None, int | None]:
    """(largest |rule - score| on the printed numbers, number of its row)."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        residuals = np.where(trial.tested, np.abs(trial.nominal.values - trial.column.values), np.nan)
    residuals = np.where(np.isfinite(residuals), residuals, -1.0)
    index = int(residuals.argmax())
    return (None, None) if residuals[index] < 0 else (float(residuals[index]), trial.table.rows[index])


# --- what the violators have in common -----------------------------------------------------------------------------


def _contradictions(trial: Trial, pattern: Pattern | None) -> tuple[Contradiction, ...]:
    """Pairs that no monotone rule of these columns can both give; a pattern's two sides may follow two rules."""
    table, names = trial.table, columns_of(trial.rule)
    arithmetic = arithmetic_columns(trial.rule.expression)
    how = components_of(trial.rounding)
    boxes = [(*table.columns[name].box(how), trial.image.signs[name]) for name in names if name in arithmetic]
    texts = [table.columns[name].texts for name in names if name not in arithmetic]
    if pattern is not None and pattern.column not in arithmetic:
        inside = set(pattern.rows)
        texts.append(tuple(str(index in inside) for index in range(table.n_rows)))
    interval = score_interval(trial.column, trial.rounding)
    return contradictions(trial.violated, trial.tested, boxes, interval, texts)


def _outside(trial: Trial) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the rows below and above every component, where the rule is a mean of columns, no weight below 0."""
    import numpy as np

    top = trial.rule.expression
    if not isinstance(top, Call) or top.name not in MEANS or len(top.args) < 2:
        return (), ()
    if top.weights is not None and (weights_of(top) < 0).any():
        return (), ()
    names = [arg.name for arg in top.args if isinstance(arg, ColumnRef)]
    if len(names) < len(top.args) - (top.name == "power"):
        return (), ()
    boxes = [trial.table.columns[name].box(components_of(trial.rounding)) for name in names]
    sides = outside_range(boxes, score_interval(trial.column, trial.rounding))
    below, above = (
        tuple(trial.table.rows[index] for index in np.flatnonzero(side & trial.tested).tolist()) for side in sides
    )
    return below, above


# --- samples -------------------------------------------------------------------------------------------------------


def _sample_report(
    trial: Trial, against: Rule | None, top: Sequence[int], sample: Sequence[int], random: Sequence[int]
) -> SampleReport | None:
    """Could samples have told the rule from the other one?"""
    import numpy as np

    kept = np.flatnonzero(trial.tested)
    chosen = _chosen(sample, kept.tolist(), trial.table)
    other = plain_rule(trial.rule) if against is None else against
    if other == trial.rule:
        return None
    how = components_of(trial.rounding)
    plain, own = image(other, trial.table, missing=trial.missing, rounding=how), trial.image
    telling = certain_rows((own.low, own.high), (plain.low, plain.high), trial.column.half_widths())
    values = trial.column.values[kept]
    order = np.argsort(values if _lower_is_better(trial) else -values, kind="stable").tolist()
    telling = telling[kept]
    return SampleReport(
        against=printed(other), telling=tuple(trial.table.rows[index] for index in kept[telling].tolist()),
        first=next((place + 1 for place, index in enumerate(order) if telling[index]), None),
        samples=samples(telling, order, top=top, chosen=chosen, random=random),
        enough=smallest_sample(len(kept), int(telling.sum())),
    )  # fmt: skip


def _lower_is_better(trial: Trial) -> bool:
    """Whether the best rows have the lowest score: so declared, or the rule is a rank."""
    top = trial.rule.expression
    return trial.column.lower or (isinstance(top, Call) and top.name == "rank")


def _chosen(sample: Sequence[int], kept: Sequence[int], table: Table) -> list[int]:
    """Places among the tested rows, for numbers of rows."""
    places = {table.rows[index]: place for place, index in enumerate(kept)}
    unknown = [row for row in sample if row not in places]
    if unknown:
        raise InvalidInput(
            f"{table.source}: row {unknown[0]} of the sample is none of the {len(kept)} rows that were tested; "
            "rows are numbered as in the file, from 1"
        )
    return [places[row] for row in dict.fromkeys(sample)]


# --- notes ---------------------------------------------------------------------------------------------------------


def _notes(trial: Trial) -> tuple[str, ...]:
    """What a reader should know beside the verdict."""
    table, names, n = trial.table, columns_of(trial.rule), trial.n_rows
    found = []
    if n <= len(names):
        found.append(
            f"{plural(n, 'row')} and {plural(len(names), 'column')}: with free weights almost any rule could be made "
            "to hold, so that this table says little"
        )
    whole = [
        name for name in sorted(arithmetic_columns(trial.rule.expression))
        if not table.columns[name].exact and table.columns[name].half_widths().max(initial=0) == 0.5
    ]  # fmt: skip
    if whole:
        more = f" and {len(whole) - 5} more" if len(whole) > 5 else ""
        found.append(
            f"whole numbers in {', '.join(whole[:5])}{more}: taken as rounded; where they are counts, declare them "
            "exact"
        )
    undefined = [table.rows[one.index] for one in trial.nominal.undefined]
    if undefined:
        rows = ", ".join(map(str, undefined[:5])) + (", ..." if len(undefined) > 5 else "")
        found.append(f"the rule has no value on row {rows}; the other rows were tested")
    return tuple(found)


def _policies(trial: Trial) -> tuple[str, ...]:
    """Which missing policy would reproduce the rows that a gap left out."""
    import numpy as np

    gaps = trial.nominal.missing & ~np.isnan(trial.column.values)
    n = int(gaps.sum())
    if policy_of(trial.rule, trial.missing) != "drop" or not n:
        return ()
    held = []
    policies: tuple[tuple[str, Missing], ...] = (("zero", 0.0), ("renormalise", "renormalise"), ("1", 1.0))
    for word, policy in policies:
        where = image(trial.rule, trial.table, missing=policy, rounding=components_of(trial.rounding))
        fit = misfit(where.low, where.high, trial.column, trial.rounding)
        held.append(f"{word} {int((gaps & ~fit.violated & ~np.isnan(where.low)).sum())}")
    rows = f"{n} row{'s' if n > 1 else ''}"
    return (f"{rows} left out for a gap; on so many of them the rule holds with missing = {', '.join(held)}",)

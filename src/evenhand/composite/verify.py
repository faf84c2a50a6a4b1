"""Does a rule hold on every row of a table?

The exact rounding test: a row is feasible if some point of its rounding box maps into the interval of its score. There
is no tolerance to choose. With it come what the table can tell: clauses that touch no row, and samples of rows that
could not have told the rule from the plain one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evenhand.composite.boxes import Image, image
from evenhand.composite.clauses import Clause, clauses_of, plain_rule
from evenhand.composite.evaluate import Evaluation, arithmetic_columns, evaluate, policy_of
from evenhand.composite.functions import MEANS
from evenhand.composite.latex import latex
from evenhand.composite.patterns import Contradiction, Pattern, contradictions, outside_range, pattern_of
from evenhand.composite.printing import printed
from evenhand.composite.rounding import ROUNDINGS, Misfit, Rounding, misfit, score_interval
from evenhand.composite.samples import Sample, certain_rows, samples, smallest_sample
from evenhand.composite.syntax import Call, ColumnRef, Missing, Rule, columns_of
from evenhand.composite.table import Column, Table
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["ClauseReport", "Dropped", "SampleReport", "Verification", "Violation", "verify"]

Verdict = Literal["all", "all_but", "refuted", "undetermined"]

FEW_ROWS = 5
"""So many rows may break a rule that is still reported as holding on all but them ..."""
FEW_SHARE = 0.1
"""... or this share of the rows, and never half of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A row whose box the rule cannot map into its score's interval.

    Attributes:
        index: in the table, from 0.
        row: its number in the file, from 1.
        name: of the system.
        score: as printed.
        value: the rule on the printed components; None where it has no value.
        excess: by how much the score's interval is missed, in units of the score; 0.0 where the rounding alone is
            another on an edge; None where the rule or the score has no finite value.
        direction: `above` (printed above what the rule allows), `below`, `edge` or `undefined`.
        reason: why the rule has no value; "" where it has one.
    """

    index: int
    row: int
    name: str
    score: str
    value: float | None
    excess: float | None
    direction: Literal["above", "below", "edge", "undefined"]
    reason: str = ""

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        found = {
            "row": self.row, "name": self.name, "score": self.score, "value": self.value, "excess": self.excess,
            "direction": self.direction,
        }  # fmt: skip
        return {**found, "reason": self.reason} if self.reason else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A row that was not tested, and why."""

    row: int
    name: str
    reason: str

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {"row": self.row, "name": self.name, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReport:
    """What a table says about one clause.

    Attributes:
        clause: printed.
        kind: `gate`, `cap`, `floor`, `branch`, `default`, `ties` or `missing`.
        when: on which rows it acts, in words.
        rows: numbers of the rows on which the score would be another without it.
        names: of those rows.
        carried_by: numbers of those rows that the rule without it cannot produce.
        n_acting: rows on which the clause itself makes a difference; more than `rows` where another clause undoes it.
    """

    clause: str
    kind: str
    when: str
    rows: tuple[int, ...]
    names: tuple[str, ...]
    carried_by: tuple[int, ...]
    n_acting: int

    @property
    def inert(self) -> bool:
        """Whether no row is touched, so that this table cannot tell that the clause is there."""
        return not self.rows

    @property
    def sentence(self) -> str:
        """What the table can tell about it."""
        if self.inert and self.n_acting:
            return f"cannot be told here: the rest of the rule undoes it on the {self.n_acting} row(s) with {self.when}"
        if self.inert:
            return f"cannot be told here: no row has {self.when}"
        many = f"{len(self.rows)} row{'s' if len(self.rows) > 1 else ''}"
        if not self.carried_by:
            return f"cannot be told here: the rounding hides it on the {many} with {self.when}"
        told = len(self.carried_by)
        if told == 1:
            return f"touches {many}; carried by a single row"
        return f"touches {many}; carried by {told}"

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "clause": self.clause, "kind": self.kind, "when": self.when, "rows": list(self.rows),
            "names": list(self.names), "inert": self.inert, "carried_by": list(self.carried_by),
            "says": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleReport:
    """Whether samples could have told the rule from another one.

    Attributes:
        against: the other rule, printed.
        telling: numbers of the rows on which the two cannot print the same score.
        first: place by score of the first of them, from 1; None without any.
        samples: the answers.
        enough: the fewest random rows that tell with probability 0.95; None where no row tells.
    """

    against: str
    telling: tuple[int, ...]
    first: int | None
    samples: tuple[Sample, ...]
    enough: int | None

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "against": self.against, "telling_rows": list(self.telling), "first_place": self.first,
            "samples": [sample.document() for sample in self.samples], "random_rows_for_95": self.enough,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the table says about a rule.

    Attributes:
        verdict: `all` (holds on every row), `all_but` (on all but few), `refuted`, or `undetermined` (the columns do
            not determine the score, so that no monotone rule of them can hold).
        rule: that was tested.
        score: name of the column.
        n_rows: rows that were tested, those among them on which the rule is undefined.
        violations: rows that break it, in the order of the table.
        max_residual: largest |rule - score| on the printed numbers; None where no row has both.
        max_residual_row: number of that row.
        rounding: under which the verdict holds: half-up, unless another one breaks at most half as many rows.
        roundings: violations under each rounding that was tried.
        is_exact: whether the test is exact; else an acceptance only means "not refuted".
        inexact_because: why it is not; "" where it is.
        clauses: what the table says about each clause.
        sample: the sample question; None where the rule is plain and no other rule was given.
        pattern: where all violating rows lie, where chance would hardly put them there.
        contradictions: pairs of rows (names) that no monotone rule can both give.
        below, above: numbers of rows whose score lies outside the range of the components of a mean.
        dropped: rows that were not tested.
        notes: what else a reader should know.
    """

    verdict: Verdict
    rule: Rule
    score: str
    n_rows: int
    violations: tuple[Violation, ...]
    max_residual: float | None
    max_residual_row: int | None
    rounding: Rounding
    roundings: Mapping[Rounding, int]
    is_exact: bool
    inexact_because: str
    clauses: tuple[ClauseReport, ...] = ()
    sample: SampleReport | None = None
    pattern: Pattern | None = None
    contradictions: tuple[tuple[str, str, bool], ...] = ()
    below: tuple[int, ...] = ()
    above: tuple[int, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "verdict": self.verdict, "rule": printed(self.rule), "latex": latex(self.rule), "score": self.score,
            "n_rows": self.n_rows, "n_violations": len(self.violations),
            "violations": [violation.document() for violation in self.violations],
            "max_residual": self.max_residual, "max_residual_row": self.max_residual_row,
            "rounding": self.rounding, "roundings": dict(self.roundings),
            "exact": self.is_exact, "not_exact_because": self.inexact_because or None,
            "clauses": [clause.document() for clause in self.clauses],
            "sample": None if self.sample is None else self.sample.document(),
            "pattern": None if self.pattern is None else self.pattern.document(),
            "contradictions": [
                {"at_least_as_good": better, "scored_above": worse, "equal": equal}
                for better, worse, equal in self.contradictions
            ],
            "outside_components": {"below": list(self.below), "above": list(self.above)},
            "dropped": [row.document() for row in self.dropped], "notes": list(self.notes),
        }  # fmt: skip


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
        InvalidInput: an unknown column, weights that sum to 0, or no row that can be tested.

    >>> from evenhand.composite.parse import parse_rule
    >>> cells = {"a": ["2.0", "4.0", "1.0"], "b": ["8.0", "9.0", "9.0"], "s": ["4.0", "7.0", "3.0"]}
    >>> found = verify(parse_rule("geomean(a, b)"), Table.of_texts(cells, names=["x", "y", "z"]), "s")
    >>> found.verdict, [(v.name, round(v.excess, 2)) for v in found.violations]
    ('all_but', [('y', 0.9)])
    """
    import numpy as np

    column = table.column(score)
    found = evaluate(rule, table, missing=missing)
    tested, dropped = _tested(found, column, table)
    trial = _trial(rule, table, column, tested, missing)
    fit = trial.fit(trial.rounding)
    violations = _violations(found, fit, column, table)
    violated = np.zeros(table.n_rows, dtype=bool)
    violated[[violation.index for violation in violations]] = True
    pattern = pattern_of(violated, tested, table, skip=(score,))
    pairs = _contradictions(rule, table, column, violated, tested, trial, pattern)
    below, above = _outside(rule, table, column, tested, trial)
    residual, residual_row = _residual(found, column, table, tested)
    inexact = tested & ~trial.image.is_exact
    return Verification(
        verdict=_verdict(len(violations), int(tested.sum()), bool(pairs)),
        rule=rule, score=score, n_rows=int(tested.sum()), violations=violations,
        max_residual=residual, max_residual_row=residual_row,
        rounding=trial.rounding, roundings=trial.counts,
        is_exact=not inexact.any(), inexact_because=trial.image.reason if inexact.any() else "",
        clauses=_clause_reports(rule, table, column, violated, tested, trial, missing),
        sample=_sample_report(rule, against, table, column, tested, trial, missing, top, sample, random),
        pattern=pattern,
        contradictions=tuple((table.names[pair.better], table.names[pair.worse], pair.equal) for pair in pairs),
        below=below, above=above, dropped=dropped, notes=_notes(rule, table, int(tested.sum()), violations),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """The test of one rule under every rounding."""

    images: Mapping[str, Image]
    column: Column
    tested: "Booleans"
    rounding: Rounding = "half-up"
    counts: Mapping[Rounding, int] = field(default_factory=dict)

    @property
    def image(self) -> Image:
        """Where the rule can lie, under the rounding that was chosen."""
        return self.images[_components_of(self.rounding)]

    def fit(self, rounding: Rounding) -> Misfit:
        """How each tested row fares."""
        import numpy as np

        where = self.images[_components_of(rounding)]
        found = misfit(where.low, where.high, self.column, rounding)
        return Misfit(violated=found.violated & self.tested, excess=np.where(self.tested, found.excess, 0.0))


def _components_of(rounding: Rounding) -> str:
    """How the components were printed, when the score was printed so."""
    return "truncation" if rounding == "truncation throughout" else "nearest"


def _trial(rule: Rule, table: Table, column: Column, tested: "Booleans", missing: Missing | None) -> _Trial:
    """The rule under every rounding: half-up is taken, unless another one breaks at most half as many rows."""
    images = {how: image(rule, table, missing=missing, rounding=how) for how in ("nearest", "truncation")}
    trial = _Trial(images=images, column=column, tested=tested)
    counts: dict[Rounding, int] = {how: int(trial.fit(how).violated.sum()) for how in ROUNDINGS}
    best = min(ROUNDINGS, key=counts.__getitem__)
    usual = 2 * counts[best] > counts[ROUNDINGS[0]]
    return _Trial(images=images, column=column, tested=tested, counts=counts, rounding=ROUNDINGS[0] if usual else best)


def _tested(found: Evaluation, column: Column, table: Table) -> tuple["Booleans", tuple[Dropped, ...]]:
    """(which rows can be tested, why the others cannot)."""
    import numpy as np

    no_score = np.isnan(column.values)
    tested = ~no_score & ~found.missing
    if not tested.any():
        many = (
            f"{int(no_score.sum())} without a score, {int((found.missing & ~no_score).sum())} with a missing component"
        )
        raise InvalidInput(
            f"{table.source}: none of {table.n_rows} rows can be tested ({many}); "
            "say what a missing cell counts as (zero, renormalise or a number), or name another score"
        )
    dropped = tuple(
        Dropped(
            row=table.rows[index], name=table.names[index],
            reason="no score" if no_score[index] else "a component is missing",
        )
        for index in np.flatnonzero(~tested).tolist()
    )  # fmt: skip
    return tested, dropped


def _violations(found: Evaluation, fit: Misfit, column: Column, table: Table) -> tuple[Violation, ...]:
    """The rows that break the rule, those on which it has no value among them."""
    import numpy as np

    reasons = {
        one.index: f"{one.reason} in {one.clause}" for one in found.undefined if not np.isnan(column.values[one.index])
    }
    rows = sorted({*np.flatnonzero(fit.violated).tolist(), *reasons})
    return tuple(_violation(index, reasons.get(index, ""), found, fit, column, table) for index in rows)


def _violation(index: int, reason: str, found: Evaluation, fit: Misfit, column: Column, table: Table) -> Violation:
    import math

    excess, value = float(fit.excess[index]), float(found.values[index])
    has_excess = not reason and math.isfinite(excess)
    return Violation(
        index=index, row=table.rows[index], name=table.names[index], score=column.texts[index],
        value=value if math.isfinite(value) else None, excess=abs(excess) if has_excess else None,
        direction="undefined" if reason else "above" if excess > 0 else "below" if excess < 0 else "edge",
        reason=reason,
    )  # fmt: skip


def _verdict(n_violated: int, n_rows: int, contradicted: bool) -> Verdict:
    """Few violators leave the rule standing; many refute it, and with a contradiction every rule of its columns."""
    if not n_violated:
        return "all"
    if n_violated <= max(FEW_ROWS, FEW_SHARE * n_rows) and 2 * n_violated < n_rows:
        return "all_but"
    return "undetermined" if contradicted else "refuted"


def _contradictions(
    rule: Rule, table: Table, column: Column, violated: "Booleans", tested: "Booleans", trial: _Trial,
    pattern: Pattern | None,
) -> tuple[Contradiction, ...]:  # fmt: skip
    """Pairs that no monotone rule of these columns can both give; a pattern's two sides may follow two rules."""
    arithmetic = arithmetic_columns(rule.expression)
    how = _components_of(trial.rounding)
    boxes = [
        (*table.columns[name].box(how), trial.image.signs[name]) for name in columns_of(rule) if name in arithmetic
    ]
    texts = [table.columns[name].texts for name in columns_of(rule) if name not in arithmetic]
    if pattern is not None and pattern.column not in arithmetic:
        inside = set(pattern.rows)
        texts.append(tuple(str(index in inside) for index in range(table.n_rows)))
    return contradictions(violated, tested, boxes, score_interval(column, trial.rounding), texts)


def _outside(
    rule: Rule, table: Table, column: Column, tested: "Booleans", trial: _Trial
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the rows below and above every component, where the rule is a mean of columns."""
    import numpy as np

    top = rule.expression
    if not isinstance(top, Call) or top.name not in MEANS or len(top.args) < 2:
        return (), ()
    names = [arg.name for arg in top.args if isinstance(arg, ColumnRef)]
    if len(names) < len(top.args) - (top.name == "power"):
        return (), ()
    boxes = [table.columns[name].box(_components_of(trial.rounding)) for name in names]
    sides = outside_range(boxes, score_interval(column, trial.rounding))
    below, above = (tuple(table.rows[i] for i in np.flatnonzero(side & tested).tolist()) for side in sides)
    return below, above


def _residual(found: Evaluation, column: Column, table: Table, tested: "Booleans") -> tuple[float | None, int | None]:
    """(largest |rule - score| on the printed numbers, number of its row)."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        residuals = np.where(tested, np.abs(found.values - column.values), np.nan)
    residuals = np.where(np.isfinite(residuals), residuals, -1.0)
    index = int(residuals.argmax())
    return (None, None) if residuals[index] < 0 else (float(residuals[index]), table.rows[index])


def _clause_reports(
    rule: Rule, table: Table, column: Column, violated: "Booleans", tested: "Booleans", trial: _Trial,
    missing: Missing | None,
) -> tuple[ClauseReport, ...]:  # fmt: skip
    """Each clause: the rows it touches, and the rows that carry it."""
    reports = [
        _clause_report(clause, rule, table, column, violated, tested, trial, missing) for clause in clauses_of(rule)
    ]
    return (*reports, *_missing_report(rule, table, column, violated, tested, trial, missing))


def _clause_report(
    clause: Clause, rule: Rule, table: Table, column: Column, violated: "Booleans", tested: "Booleans",
    trial: _Trial, missing: Missing | None,
) -> ClauseReport:  # fmt: skip
    """One clause, against the rule without it."""
    import numpy as np

    policy = policy_of(clause.without, missing)
    touched = _differ(clause.without, Rule(rule.expression, policy), table, policy) & tested
    acting = _differ(Rule(clause.node, policy), Rule(clause.instead, policy), table) & tested
    without = image(clause.without, table, missing=missing, rounding=_components_of(trial.rounding))
    lost = misfit(without.low, without.high, column, trial.rounding).violated | np.isnan(without.low)
    return _report(
        clause.text, clause.kind, clause.when, touched, touched & lost & ~violated, table, n_acting=int(acting.sum())
    )


def _differ(one: Rule, other: Rule, table: Table, missing: Missing | None = None) -> "Booleans":
    """(n_rows,) where two rules have different values on the printed numbers, or only one of them has any."""
    import numpy as np

    a, b = (evaluate(rule, table, missing=missing).values for rule in (one, other))
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b) > 1e-12 * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(apart | (np.isnan(a) != np.isnan(b)))


def _report(
    text: str, kind: str, when: str, touched: "Booleans", carried: "Booleans", table: Table, *, n_acting: int
) -> ClauseReport:
    import numpy as np

    rows = np.flatnonzero(touched).tolist()
    return ClauseReport(
        clause=text, kind=kind, when=when, rows=tuple(table.rows[index] for index in rows),
        names=tuple(table.names[index] for index in rows),
        carried_by=tuple(table.rows[index] for index in np.flatnonzero(carried).tolist()), n_acting=n_acting,
    )  # fmt: skip


def _missing_report(
    rule: Rule, table: Table, column: Column, violated: "Booleans", tested: "Booleans", trial: _Trial,
    missing: Missing | None,
) -> tuple[ClauseReport, ...]:  # fmt: skip
    """The missing policy as a clause: its rows are those with a gap, carried where zero or renormalising fails."""
    import numpy as np

    policy = policy_of(rule, missing)
    if policy == "drop" or (rule.missing is None and missing is None):
        return ()
    names = sorted(arithmetic_columns(rule.expression))
    gaps = np.zeros(table.n_rows, dtype=bool)
    for name in names:
        gaps |= np.isnan(table.columns[name].values)
    other: Missing = 0.0 if policy == "renormalise" else "renormalise"
    without = image(rule, table, missing=other, rounding=_components_of(trial.rounding))
    lost = misfit(without.low, without.high, column, trial.rounding).violated | np.isnan(without.low)
    text = f"missing = {policy if isinstance(policy, str) else f'{policy:g}'}"
    gaps &= tested
    return (
        _report(text, "missing", "a missing component", gaps, gaps & lost & ~violated, table, n_acting=int(gaps.sum())),
    )


def _sample_report(
    rule: Rule, against: Rule | None, table: Table, column: Column, tested: "Booleans", trial: _Trial,
    missing: Missing | None, top: Sequence[int], sample: Sequence[int], random: Sequence[int],
) -> SampleReport | None:  # fmt: skip
    """Could samples have told the rule from the other one?"""
    import numpy as np

    other = plain_rule(rule) if against is None else against
    if other == rule:
        return None
    how = _components_of(trial.rounding)
    plain = image(other, table, missing=missing, rounding=how)
    own = trial.image
    telling = certain_rows((own.low, own.high), (plain.low, plain.high), column.half_widths())
    kept = np.flatnonzero(tested)
    order = np.argsort(-column.values[kept], kind="stable").tolist()
    telling = telling[kept]
    first = next((place + 1 for place, index in enumerate(order) if telling[index]), None)
    m = int(telling.sum())
    return SampleReport(
        against=printed(other), telling=tuple(table.rows[index] for index in kept[telling].tolist()), first=first,
        samples=samples(telling, order, top=top, chosen=_chosen(sample, kept.tolist(), table), random=random),
        enough=smallest_sample(len(kept), m),
    )  # fmt: skip


def _chosen(sample: Sequence[int], kept: Sequence[int], table: Table) -> list[int]:
    """Places among the tested rows, for numbers of rows."""
    places = {table.rows[index]: place for place, index in enumerate(kept)}
    unknown = [row for row in sample if row not in places]
    if unknown:
        raise InvalidInput(
            f"{table.source}: row {unknown[0]} of the sample is none of the {len(kept)} rows that were tested; "
            "rows are numbered as in the file, from 1"
        )
    return [places[row] for row in sample]


def _notes(rule: Rule, table: Table, n_rows: int, violations: Sequence[Violation]) -> tuple[str, ...]:
    """What a reader should know beside the verdict."""
    names = columns_of(rule)
    found = []
    if n_rows <= len(names):
        found.append(
            f"{n_rows} row{'s' if n_rows > 1 else ''} and {len(names)} columns: a rule with free weights could hold "
            "by chance, so that this table says little"
        )
    counts = [
        name for name in sorted(arithmetic_columns(rule.expression))
        if not table.columns[name].exact and table.columns[name].half_widths().max(initial=0) == 0.5
    ]  # fmt: skip
    if counts:
        found.append(
            f"whole numbers in {', '.join(counts[:5])}: taken as rounded; where they are counts, declare them exact"
        )
    wide = [violation.row for violation in violations if violation.direction == "undefined"]
    if wide:
        found.append(f"the rule has no value on row {', '.join(map(str, wide[:5]))}; the other rows were tested")
    return tuple(found)

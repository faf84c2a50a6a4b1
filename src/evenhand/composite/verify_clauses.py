"""What a table says about each clause of a rule: the rows it touches, and the rows that carry it."""

from typing import TYPE_CHECKING

from evenhand.composite.clauses import Clause, clauses_of
from evenhand.composite.rule.evaluate import arithmetic_columns, evaluate, policy_of
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Missing, Rule
from evenhand.composite.table import Table
from evenhand.composite.trial import Trial
from evenhand.composite.verification import ClauseReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]

__all__ = ["clause_reports", "differing"]


def clause_reports(trial: Trial) -> tuple[ClauseReport, ...]:
    """Every clause of the rule, and its missing policy where it has one."""
    return (*(_of_clause(trial, clause) for clause in clauses_of(trial.rule)), *_of_missing(trial))


def _of_clause(trial: Trial, clause: Clause) -> ClauseReport:
    """One clause, against the rule without it."""
    policy = policy_of(trial.rule, trial.missing)
    touched = differing(clause.without, trial.rule, trial.table, policy) & trial.tested
    acting = differing(Rule(clause.node), Rule(clause.instead), trial.table, policy) & trial.tested
    lost = trial.broken_by(clause.without)
    texts = (clause.text, printed(clause.instead), clause.kind, clause.when)
    return _report(trial, texts, touched, lost, n_acting=int(acting.sum()))


def _of_missing(trial: Trial) -> tuple[ClauseReport, ...]:
    """The missing policy: its rows are those with a gap; carried where the other policy fails."""
    import numpy as np

    policy = policy_of(trial.rule, trial.missing)
    if policy == "drop":
        return ()
    gaps = np.zeros(trial.table.n_rows, dtype=bool)
    for name in arithmetic_columns(trial.rule.expression):
        gaps |= np.isnan(trial.table.columns[name].values)
    gaps &= trial.tested
    other: Missing = 0.0 if policy == "renormalise" else "renormalise"
    lost = trial.broken_by(trial.rule, missing=other)
    stated, instead = (f"missing = {one if isinstance(one, str) else f'{one:g}'}" for one in (policy, other))
    texts = (stated, instead, "missing", "a missing component")
    return (_report(trial, texts, gaps, lost, n_acting=int(gaps.sum())),)


def differing(one: Rule, other: Rule, table: Table, missing: Missing) -> "Booleans":
    """(n_rows,) where two rules have different values on the printed numbers, or only one of them has any."""
    import numpy as np

    a, b = (evaluate(rule, table, missing=missing).values for rule in (one, other))
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b) > 1e-12 * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(apart | (np.isnan(a) != np.isnan(b)))


def _report(
    trial: Trial, texts: tuple[str, str, str, str], touched: "Booleans", lost: "Booleans", *, n_acting: int
) -> ClauseReport:
    """The rows by their numbers and names; `texts` are the clause, what stands instead, its kind, and when it acts."""
    import numpy as np

    table = trial.table
    rows, carried = np.flatnonzero(touched).tolist(), np.flatnonzero(touched & lost & ~trial.violated).tolist()
    return ClauseReport(
        clause=texts[0], instead=texts[1], kind=texts[2], when=texts[3],
        rows=tuple(table.rows[index] for index in rows),
        names=tuple(table.names[index] for index in rows), carried_by=tuple(table.rows[index] for index in carried),
        n_acting=n_acting, n_broken=int((touched & trial.violated).sum()),
        holds_without=bool(trial.violated.any() and not lost.any()),
    )  # fmt: skip

"""What `verify` finds: the verdict, the rows that break the rule, its clauses, and what samples could have told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.composite.patterns import Pattern
from evenhand.composite.rounding import Rounding
from evenhand.composite.rule.latex import latex
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Rule
from evenhand.composite.samples import Sample

__all__ = ["ClauseReport", "Dropped", "SampleReport", "Verdict", "Verification", "Violation"]

Verdict = Literal["all", "all_but", "refuted", "undetermined"]


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
        instead: what stands in its place in the rule without it, printed.
        kind: `gate`, `cap`, `floor`, `branch`, `default`, `ties` or `missing`.
        when: on which rows it acts, in words.
        rows: numbers of the rows on which the score would be another without it.
        names: of those rows.
        carried_by: numbers of those rows that the rule without it cannot produce.
        n_acting: rows on which the clause itself makes a difference; more than `rows` where another clause undoes it.
        n_broken: rows touched that break the rule as it is, so that they cannot carry the clause.
        holds_without: whether the rule breaks on some row, and on none without the clause.
    """

    clause: str
    instead: str
    kind: str
    when: str
    rows: tuple[int, ...]
    names: tuple[str, ...]
    carried_by: tuple[int, ...]
    n_acting: int
    n_broken: int = 0
    holds_without: bool = False

    @property
    def inert(self) -> bool:
        """Whether no row is touched, so that this table cannot tell that the clause is there."""
        return not self.rows

    @property
    def sentence(self) -> str:
        """What the table can tell about it."""
        if self.inert and self.n_acting:
            on = f"the {_rows(self.n_acting)} with {self.when}"
            return f"cannot be told here: the rest of the rule undoes it on {on}"
        if self.inert:
            return f"cannot be told here: no row has {self.when}"
        if self.holds_without:
            return f"touches {_rows(len(self.rows))}; with {self.instead} instead, the rule holds on every row"
        if not self.carried_by and self.n_broken:
            return f"touches {_rows(len(self.rows))}, of which {self.n_broken} break the rule; carried by none"
        if not self.carried_by:
            return f"cannot be told here: the rounding hides it on the {_rows(len(self.rows))} with {self.when}"
        told = "a single row" if len(self.carried_by) == 1 else f"{len(self.carried_by)}"
        return f"touches {_rows(len(self.rows))}; carried by {told}"

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "clause": self.clause, "instead": self.instead, "kind": self.kind, "when": self.when,
            "rows": list(self.rows), "names": list(self.names), "inert": self.inert,
            "carried_by": list(self.carried_by), "holds_without": self.holds_without, "says": self.sentence,
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
    notes: tuple[str, ...] = ()

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


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"

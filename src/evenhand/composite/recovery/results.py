"""What a search for a rule found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.composite.rule.latex import latex
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Rule

__all__ = ["Clause", "Gap", "Parameter", "RecoveredRule", "Recovery", "Suspect", "Untested", "Verdict"]

Verdict = Literal["unique", "ambiguous", "none", "undetermined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A number of a rule: as stated, and between which ends it can lie; None where no row bounds it."""

    value: float
    low: float | None
    high: float | None

    def document(self) -> dict[str, float | None]:
        """As `--json` prints it."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of a rule and the rows that speak for it.

    Attributes:
        clause: in words, such as `gate on intelligence`.
        rows: numbers of the rows that it changes as printed.
        carried_by: numbers of the rows that do not hold without it.
    """

    clause: str
    rows: tuple[int, ...]
    carried_by: tuple[int, ...]

    @property
    def inert(self) -> bool:
        """Whether the table cannot tell the clause."""
        return not self.carried_by

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "clause": self.clause, "rows": list(self.rows), "carried_by": list(self.carried_by), "inert": self.inert,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredRule:
    """A rule that holds on every row searched, save the suspects.

    Attributes:
        parameters: by name, such as `weight of speed`, `knee of intelligence`, `floor`.
        n_free: how many of its numbers were fitted.
        is_proof: whether its acceptance rests on the exact test on every row; else it is "not refuted".
        missing: what missing cells do, in words; "" where there are none.
        missing_rows: numbers of the rows that carry it.
        unused: components that it does not name: decoys.
    """

    rule: Rule
    parameters: Mapping[str, Parameter]
    clauses: tuple[Clause, ...] = ()
    n_free: int = 0
    is_proof: bool = True
    missing: str = ""
    missing_rows: tuple[int, ...] = ()
    unused: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "rule": printed(self.rule), "latex": latex(self.rule), "n_free": self.n_free, "exact": self.is_proof,
            "parameters": {name: found.document() for name, found in self.parameters.items()},
            "clauses": [clause.document() for clause in self.clauses],
            "missing": self.missing, "missing_rows": list(self.missing_rows), "unused": list(self.unused),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Untested:
    """A one-clause extension of the rule that the table cannot tell from it.

    Attributes:
        kind: `gate`, `floor`, `cap` or `missing`.
        column: whose; "" where it is of all, or of missing cells.
        low: least number of the clause that goes unnoticed; None without an end.
        high: greatest.
        told_by: which row could tell, in words.
        nearest: names of the rows of the table that come nearest to telling.
    """

    kind: Literal["gate", "floor", "cap", "missing"]
    column: str
    low: float | None
    high: float | None
    told_by: str
    nearest: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The clause in words."""
        of = f" on {self.column}" if self.column else ""
        if self.kind == "missing":
            return "what a missing cell does"
        limit = f"at or under {self.high:.6g}" if self.kind != "cap" else f"at or above {self.low:.6g}"
        return f"{self.kind}{of} {limit}"

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "clause": self.clause, "kind": self.kind, "column": self.column, "low": self.low, "high": self.high,
            "told_by": self.told_by, "rows": list(self.nearest),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A row that the rule does not reproduce: by how much it is printed above (+) or below (-) what the rule allows."""

    row: int
    name: str
    excess: float

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"row": self.row, "name": self.name, "excess": self.excess}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A row on which two survivors differ, in units of the score's rounding."""

    row: int
    name: str
    gap: float

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"row": self.row, "name": self.name, "gap": self.gap}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What `evenhand rank recover` says.

    Attributes:
        verdict: `unique`, `ambiguous`, `none` or `undetermined`.
        reason: why, in a sentence.
        level: of the search that first had survivors; "" without any.
        rules: simplest first.
        n_rows: rows with a score.
        n_searched: of them, those with every component.
        n_survivors: how many survived; more than `rules` where there are very many.
        untested: extensions of the first rule.
        suspects: rows that the rules do not reproduce.
        separating: rows that separate the survivors best.
        unexplained: numbers of rows with a missing component that no policy reproduces.
        notes: what else a reader should know.
        shuffles: how often shuffled scores were accepted, of how many.
    """

    verdict: Verdict
    reason: str
    n_rows: int
    n_searched: int
    level: str = ""
    rules: tuple[RecoveredRule, ...] = ()
    n_survivors: int = 0
    untested: tuple[Untested, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    separating: tuple[Gap, ...] = ()
    unexplained: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    shuffles: tuple[int, int] = field(default=(0, 0))

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "verdict": self.verdict, "reason": self.reason, "level": self.level, "n_rows": self.n_rows,
            "n_searched": self.n_searched, "n_survivors": self.n_survivors,
            "rules": [rule.document() for rule in self.rules],
            "untested": [found.document() for found in self.untested],
            "suspects": [found.document() for found in self.suspects],
            "separating": [found.document() for found in self.separating],
            "unexplained": list(self.unexplained),
            "shuffles": {"accepted": self.shuffles[0], "of": self.shuffles[1]}, "notes": list(self.notes),
        }  # fmt: skip

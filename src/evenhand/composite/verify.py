"""Does a rule hold on every row of a table: the exact rounding test, its clauses, and what a sample could have told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.composite.syntax import Missing, Rule
from evenhand.composite.table import Table

__all__ = ["Verification", "Violation", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A row whose box the rule cannot map into its score's interval.

    Attributes:
        row: its number in the file, from 1.
        name: of the system.
        excess: by how much the score's interval is missed, in units of the score; None where the rule is undefined.
        direction: `above` (printed above what the rule allows) or `below`.
    """

    row: int
    name: str
    excess: float | None
    direction: Literal["above", "below", "undefined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What `evenhand rank verify` says; see `document()`."""

    verdict: Literal["all", "all_but", "refuted", "undetermined"]
    n_rows: int
    violations: tuple[Violation, ...]

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        raise NotImplementedError


def verify(rule: Rule, table: Table, score: str, *, missing: Missing | None = None) -> Verification:
    """The exact rounding test of a rule on every row."""
    raise NotImplementedError

"""What a page shows, already in words and rounded numbers; every form of page is made from this and nothing else.

Text of candidates, models and files stands here as it came: each form escapes it in its own way. With `hide_scores`
no score, weight, impact or level is put in here at all, so that no form can show one.
"""

from dataclasses import dataclass, field

from evenhand.report.caveats import Caveat
from evenhand.report.excerpts import Piece
from evenhand.report.tallies import Bar

__all__ = ["CriterionView", "Finding", "Group", "ItemView", "Judge", "Question", "RecordView", "Report", "Row", "Text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check's answer, or an item of evidence.

    Args:
        name: the check's id, or the item's claim.
        outcome: `yes`, `no`, `does not apply`; or the impact.
        kind: `for`, `against`, or `aside` where it does not count.
        standing: whether the quotation stands in the text, in words.
        mark: number of the marked place in the text, or None.
        notes: where it came from, why it does not count, how the panel voted.
    """

    name: str
    ask: str = ""
    outcome: str
    kind: str
    quote: str = ""
    standing: str = ""
    mark: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionView:
    """One criterion of one record."""

    id: str
    ask: str = ""
    weight: str = ""
    score: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    not_shown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordView:
    """One record. `n` is its score as a number, for a threshold; None without a score, or where scores are hidden."""

    who: str
    rerun: int
    status: str
    score: str = ""
    exact: str = ""
    scale: str = ""
    flags: tuple[str, ...] = ()
    criteria: tuple[CriterionView, ...] = ()
    working: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    cause: str = ""
    reason: str = ""
    raw: str = ""
    raw_note: str = ""
    usage: str = ""
    cost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text of an item, its quotations marked."""

    name: str
    chars: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """One item with all its records, the deciding one first."""

    number: int
    id: str
    facts: tuple[tuple[str, str], ...] = ()
    task: str = ""
    texts: tuple[Text, ...] = ()
    missing: str = ""
    records: tuple[RecordView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table of criteria: a criterion, or one of its checks."""

    name: str
    is_check: bool = False
    n: str = ""
    weight: str = ""
    median: str = ""
    middle: str = ""
    yes: str = ""
    yes_interval: str = ""
    remarks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The figures of one judge and member, or of a judge's panel."""

    who: str
    judge: str
    verdict: int
    abstained: int
    failed: int
    bars: tuple[Bar, ...] = ()
    n_scores: int = 0
    rows: tuple[Row, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def n(self) -> int:
        """All records."""
        return self.verdict + self.abstained + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing that the judge asks; `depth` 1 is a check of the criterion above it."""

    id: str
    ask: str
    weight: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge by its hash; without questions where the store does not have it."""

    name: str
    hash: str
    protocol: str
    models: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole page.

    Args:
        n_items: items in the records; `items` are the first of them.
        unreached: records without a verdict, the first of them, up to `items_shown`: (item, record).
        n_unreached: all of them.
    """

    title: str
    source: str
    hide_scores: bool
    caveats: tuple[Caveat, ...]
    groups: tuple[Group, ...]
    judges: tuple[Judge, ...]
    items: tuple[ItemView, ...]
    n_items: int
    unreached: tuple[tuple[str, RecordView], ...] = ()
    n_unreached: int = 0
    notes: tuple[str, ...] = field(default=())

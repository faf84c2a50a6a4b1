"""What a page shows, already in words and rounded numbers; every form of page is made from this and nothing else.

Text of candidates, models and files stands here as it came: each form escapes it in its own way. With `hide_scores`
no score, weight, impact or level is put in here at all, so that no form can show one.
"""

from dataclasses import dataclass, field

from evenhand.report.caveats import Caveat
from evenhand.report.excerpts import Piece
from evenhand.report.tallies import Bar

__all__ = [
    "CriterionView",
    "DraftView",
    "Finding",
    "Group",
    "ItemView",
    "Judge",
    "Question",
    "RecordView",
    "Report",
    "Row",
    "Table",
    "Text",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A small table of figures.

    Args:
        name: its heading.
        head: the names of its columns, ours.
        rows: a cell for each column; the first `n_texts` cells of a row may be foreign text, the others are numbers.
        notes: what stands below; may hold foreign text.
    """

    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_texts: int = 1
    notes: tuple[str, ...] = ()


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
    """One record.

    Args:
        feedback: advice to the author, as the model wrote it.
        tables: the running score of a draft's buckets.
    """

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
    feedback: str = ""
    tables: tuple[Table, ...] = ()
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
    """The figures of one judge and member, or of a judge's panel.

    Args:
        labels: how often each word was the verdict, where verdicts are words (reference, pairwise).
        tables: what else the verdicts come to: swaps, win rates, strengths.
    """

    who: str
    judge: str
    verdict: int
    abstained: int
    failed: int
    bars: tuple[Bar, ...] = ()
    n_scores: int = 0
    labels: tuple[Bar, ...] = ()
    n_labels: int = 0
    tables: tuple[Table, ...] = ()
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
class DraftView:
    """One pass over a draft beside the one before: facts, and the findings by what became of them."""

    slug: str
    facts: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    not_shown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole page.

    Args:
        divergences: bare numbers beside evidence on the same items; None where no two such runs are in the records.
        drafts: passes over drafts, each beside the one before, the first of them, up to `items_shown`.
        n_drafts: all of them.
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
    divergences: Table | None = None
    drafts: tuple[DraftView, ...] = ()
    n_drafts: int = 0
    unreached: tuple[tuple[str, RecordView], ...] = ()
    n_unreached: int = 0
    notes: tuple[str, ...] = field(default=())

"""What follows the closing table of `evenhand judge`: a single item's record, and each draft beside the one before."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli.output import console, shown

if TYPE_CHECKING:
    from evenhand.analysis.drafts import DraftChange
    from evenhand.terms import Record

__all__ = ["Closing", "draft_lines", "record_lines"]

_BUCKETS = {"working": "Working", "not_working": "Not working", "missing": "Missing", "confusing": "Confusing"}
_MOST = 40  # findings of one record, and of one list of a draft's change
_WIDTH = 78


class Closing:
    """Looks at records as they pass by, and keeps what the closing lines need.

    Args:
        since: files with earlier records, in their order; read at once, so that a wrong one costs no call.
        hide_scores: leave out whatever tells a score.
        single: whether one item is judged once, whose record is then shown.
    Raises:
        InvalidInput: a file that holds no records.
    """

    def __init__(self, since: Sequence[Path], *, hide_scores: bool, single: bool) -> None:
        from evenhand.store.records import read_records

        self.hide_scores = hide_scores
        self._earlier = [record for path in since for record in read_records(path)]
        self._compares = bool(since)
        self._single = single
        self._now: list[Record] = []

    def see(self, record: "Record") -> None:
        """One record of this run."""
        if self._compares or (self._single and (not self._now or record.member is None)):
            self._now.append(record)

    def changes(self) -> "tuple[DraftChange, ...]":
        """Each draft beside the one before."""
        if not self._compares:
            return ()
        from evenhand.analysis.drafts import draft_changes

        return draft_changes(self._earlier, self._now)

    def document(self) -> dict[str, Any]:
        """What `--json` prints beside the records; nothing without `--since`."""
        return {"drafts": [change.document() for change in self.changes()]} if self._compares else {}

    def print(self) -> None:
        """The lines, on stdout."""
        lines: list[str] = []
        if self._single and self._now:
            lines += record_lines(self._now[-1], hide_scores=self.hide_scores)
        changes = self.changes()
        for change in changes:
            lines += ["", *draft_lines(change, hide_scores=self.hide_scores)]
        if self._compares and not changes:
            lines += ["", "since    no earlier record has the slug of an item judged now"]
        out = console()
        for line in lines:
            out.print(line, overflow="fold")


def record_lines(record: "Record", *, hide_scores: bool) -> list[str]:
    """The findings of one evidence record in words, the score after each bucket, and the feedback."""
    items = [item for criterion in record.criteria for item in criterion.get("items", ()) if item.get("counted")]
    lines: list[str] = []
    running = [part for criterion in record.criteria for part in (criterion.get("arithmetic") or {}).get("buckets", ())]
    for part in running:
        name = part["bucket"]
        tail = "" if hide_scores else f", score so far {part['score'] if part['total_items'] else 'none'}"
        lines += ["", f"{_BUCKETS.get(name, shown(str(name)))} ({part['items']}{tail})"]
        lines += _findings([item for item in items if item.get("bucket") == name], hide_scores=hide_scores)
    if not running and items:
        lines += ["", f"findings that count: {len(items)}", *_findings(items, hide_scores=hide_scores)]
    if record.feedback:
        lines += ["", "feedback"]
        for paragraph in record.feedback.split("\n"):
            lines += textwrap.wrap(shown(paragraph), _WIDTH) or [""]
    for flag in record.flags:
        if flag.startswith("feedback_failed:"):
            lines += ["", f"feedback could not be had: {shown(flag.partition(':')[2])}"]
    return lines


def draft_lines(change: "DraftChange", *, hide_scores: bool) -> list[str]:
    """What a draft's pass changed, with the number of findings beside each list."""
    lines = [
        f"draft    {shown(change.slug)}: {shown(change.item)} after {shown(change.earlier)}, pass {len(change.scores)}"
    ]
    if not hide_scores:
        passes = " → ".join("none" if score is None else f"{score:g}" for score in change.scores)
        delta = "undefined" if change.delta is None else f"{change.delta:+g}"
        lines.append(f"scores   {passes}; delta {delta}")
        if not change.comparable:
            lines.append("         another judge file or model made the pass before: the delta holds that too")
    for name, claims in (
        ("resolved", change.resolved),
        ("remaining", change.remaining),
        ("new", change.new),
        ("no longer praised", change.lost),
        ("newly praised", change.gained),
    ):
        lines.append(f"{name} ({len(claims)})")
        lines += _cut([_wrapped(shown(claim)) for claim in claims])
    return lines


def _findings(items: Sequence[Mapping[str, Any]], *, hide_scores: bool) -> list[str]:
    """One finding a line, with its place and its impact."""
    made = []
    for item in items:
        place = f" [{item['place']}]" if item.get("place") else ""
        sign = "+" if item["impact"] > 0 else "-"
        made.append(_wrapped(f"{sign if hide_scores else format(item['impact'], '+d')} {shown(item['claim'] + place)}"))
    return _cut(made)


def _cut(made: Sequence[Sequence[str]]) -> list[str]:
    lines = [line for one in made[:_MOST] for line in one]
    return lines + ([f"  and {len(made) - _MOST} more"] if len(made) > _MOST else [])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ") or ["  "]

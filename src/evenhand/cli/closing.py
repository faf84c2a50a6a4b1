"""What follows the closing table of `evenhand judge`: a single item's record, each draft beside the one before, and
bare numbers beside the evidence.
"""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli.output import console, shown
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.analysis.divergence import Comparison, NaiveAgainstEvidence
    from evenhand.analysis.drafts import DraftChange
    from evenhand.terms import Record

__all__ = ["Closing", "draft_lines", "naive_lines", "record_lines"]

_BUCKETS = {"working": "Working", "not_working": "Not working", "missing": "Missing", "confusing": "Confusing"}
_MOST = 40  # findings of one record, and of one list of a draft's change
_MOST_SLUGS = 5
_WIDTH = 78
_NAIVE = "naive    "


class Closing:
    """Looks at records as they pass by, and keeps what the closing lines need.

    Args:
        since: files with earlier records, in their order; read at once, so that a wrong one costs no call.
        hide_scores: leave out whatever tells a score.
        single: whether one item is judged once, whose record is then shown.
        naive: files with records of a `number` judge on the same items, read at once likewise.
    Raises:
        InvalidInput: a file that holds no records, or none of a `number` judge.
    """

    def __init__(self, since: Sequence[Path], *, hide_scores: bool, single: bool, naive: Sequence[Path] = ()) -> None:
        from evenhand.store.records import read_records

        self.hide_scores = hide_scores
        self._earlier = [record for path in since for record in read_records(path)]
        self._compares = bool(since)
        self._single = single
        self._now: list[Record] = []
        self._naive = _naive(naive) if naive else None

    def see(self, record: "Record") -> None:
        """One record of this run."""
        if self._naive is not None:
            self._naive.add(record)
        if self._compares or (self._single and (not self._now or record.member is None)):
            self._now.append(record)

    def changes(self) -> "tuple[DraftChange, ...]":
        """Each draft beside the one before."""
        if not self._compares:
            return ()
        from evenhand.analysis.drafts import draft_changes

        return draft_changes(self._earlier, self._now)

    def document(self) -> dict[str, Any]:
        """What `--json` prints beside the records; nothing without `--since` and `--naive`."""
        document: dict[str, Any] = {}
        if self._compares:
            document["drafts"] = [change.document() for change in self.changes()]
        if self._naive is not None:
            document["divergence"] = [one.document() for one in self._naive.comparisons(apart=True)]
        return document

    def print(self) -> None:
        """The lines, on stdout."""
        lines: list[str] = []
        if self._single and self._now:
            lines += record_lines(self._now[-1], hide_scores=self.hide_scores)
        changes = self.changes()
        for change in changes:
            lines += ["", *draft_lines(change, hide_scores=self.hide_scores)]
        if self._compares and not changes:
            lines += ["", *_no_slug(self._earlier, self._now)]
        for one in () if self._naive is None else self._naive.comparisons(apart=True):
            lines += ["", *naive_lines(one, hide_scores=self.hide_scores)]
        out = console()
        for line in lines:
            out.print(line, overflow="fold")


def record_lines(record: "Record", *, hide_scores: bool) -> list[str]:
    """The findings of one evidence record in words, the score after each bucket, and the feedback."""
    several = len(record.criteria) > 1
    items = [
        {**item, "criterion": criterion.get("id") if several else None}
        for criterion in record.criteria
        for item in criterion.get("items", ())
        if item.get("counted")
    ]
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


def naive_lines(one: "Comparison", *, hide_scores: bool) -> list[str]:
    """How far bare numbers and evidence lie apart, with n, interval and what to make of it."""
    from evenhand.analysis.divergence import READINGS

    found = one.found
    left_out = f"; {found.left_out} scored by one of them or none" if found.left_out else ""
    n = f"n = {plural(found.n_items, 'item')}"
    apart = "no distance"
    if hide_scores:
        return [f"{_NAIVE}{shown(one.naive, 24)} beside {shown(one.evidence, 24)}: distance hidden"]
    if found.n_items:
        ends = "undefined for one item"
        if found.n_items > 1:
            ends = f"[{found.interval[0]:.1f}, {found.interval[1]:.1f}]"
        apart = f"{found.mean:.1f} points of 100 apart on average {ends}"
    said = [
        f"{shown(one.naive)} beside {shown(one.evidence)}: {apart}, {n}{left_out}",
        READINGS[found.reading],
    ]
    if found.n_items and not found.sure:
        said.append("not sure: the interval does not lie on that side as a whole")
    if not one.same_models:
        said.append(
            f"other models gave the numbers ({shown(', '.join(one.naive_models))}): the distance holds that too"
        )
    lines = [line for text in said for line in textwrap.wrap(text, _WIDTH - len(_NAIVE), break_on_hyphens=False)]
    return [(" " * len(_NAIVE) if place else _NAIVE) + line for place, line in enumerate(lines)]


def _naive(paths: Sequence[Path]) -> "NaiveAgainstEvidence":
    """The bare numbers of files that were judged before."""
    from evenhand.analysis.divergence import NaiveAgainstEvidence
    from evenhand.store.records import read_records

    made = NaiveAgainstEvidence()
    for path in paths:
        before = made.n_naive
        for record in read_records(path):
            if record.judge.get("protocol") == "number":
                made.add(record)
        if made.n_naive == before:
            raise InvalidInput(
                f"--naive {shown(str(path))}: it holds no record of a judge of protocol number; judge the same items "
                "with one (`evenhand init number`), and name its records"
            )
    return made


def _no_slug(earlier: "Sequence[Record]", now: "Sequence[Record]") -> list[str]:
    """That no pass goes on from an earlier one, with the slugs of both."""
    from evenhand.analysis.drafts import slug_of

    slugs = [list(dict.fromkeys(map(slug_of, records))) for records in (now, earlier)]
    judged, before = [
        ", ".join(shown(slug, 60) for slug in found[:_MOST_SLUGS])
        + (f" and {len(found) - _MOST_SLUGS} more" if len(found) > _MOST_SLUGS else "")
        for found in slugs
    ]
    text = (
        f"no earlier record has the slug of an item judged now ({judged or 'none'}); the earlier ones have "
        f"{before or 'none'}; give both the same metadata field `slug`"
    )
    return textwrap.wrap(text, _WIDTH, initial_indent="since    ", subsequent_indent=" " * 9, break_on_hyphens=False)


def _findings(items: Sequence[Mapping[str, Any]], *, hide_scores: bool) -> list[str]:
    """One finding a line, with its impact, its criterion where there are several, and its place."""
    made = []
    for item in items:
        place = f" [{item['place']}]" if item.get("place") else ""
        about = f"{item['criterion']}: " if item["criterion"] else ""
        sign = "+" if item["impact"] > 0 else "-"
        made.append(
            _wrapped(f"{sign if hide_scores else format(item['impact'], '+d')} {shown(about + item['claim'] + place)}")
        )
    return _cut(made)


def _cut(made: Sequence[Sequence[str]]) -> list[str]:
    lines = [line for one in made[:_MOST] for line in one]
    return lines + ([f"  and {len(made) - _MOST} more"] if len(made) > _MOST else [])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ") or ["  "]

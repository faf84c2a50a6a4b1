"""Records, and the texts they name, to a Report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from evenhand.analysis.divergence import Comparison
from evenhand.analysis.drafts import DraftChange
from evenhand.analysis.summary import MemberSummary
from evenhand.report.caveats import Caveat, caveats
from evenhand.report.gathering import Gathered, gather
from evenhand.report.item_views import Shown, item_view, record_view
from evenhand.report.model import Group, Judge, Question, Report, Row
from evenhand.report.numbers import UNDEFINED, UNKNOWN, alike, cost, interval, number, percent
from evenhand.report.tables import distance, divergence_table, draft_view, escalation_facts, pair_tables
from evenhand.report.tallies import CheckTally, CriterionTally, GroupTally, bars, label_bars
from evenhand.report.texts import Library
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import CheckGroup, Record
from evenhand.wording import count, plural

__all__ = ["ITEMS_SHOWN", "read_report", "source_name"]

ITEMS_SHOWN = 50
"""Items in full, unless said."""


def read_report(
    records: Iterable[Record],
    library: Library,
    *,
    source: str,
    title: str | None = None,
    items_shown: int = ITEMS_SHOWN,
    hide_scores: bool = False,
) -> Report:
    """Everything that a page shows.

    Args:
        records: read once, in a stream.
        source: what the page calls them.
        title: None makes one of the judges' names.
        items_shown: items in full, 0 or more; all records are in the figures.
        hide_scores: leave every score, weight, impact and level out.
    """
    found = gather(records, items_shown=items_shown)
    library.gather(found.hashes)
    shown = Shown(library, hide_scores=hide_scores)
    tallies = found.tallies()
    names = list(dict.fromkeys(str(group.judge.get("name")) for group in tallies))
    apart, changes = found.naive.comparisons(), found.drafts()
    beyond = (*_distances(apart, hide_scores), *_other_passes(changes))
    return Report(
        title=title or ", ".join(names),
        source=source,
        hide_scores=hide_scores,
        caveats=caveats(tallies, beyond, hide_scores=hide_scores),
        groups=tuple(_group(group, tallies, hide_scores) for group in tallies),
        judges=tuple(_judges(tallies, library, hide_scores)),
        items=tuple(item_view(place, own, shown) for place, own in enumerate(found.items.values(), 1)),
        n_items=len(found.item_keys),
        divergences=divergence_table(apart, hide_scores=hide_scores),
        drafts=tuple(draft_view(change, hide_scores=hide_scores) for change in changes[:items_shown]),
        n_drafts=len(changes),
        unreached=tuple((record.item, record_view(record, shown)) for record in found.unreached),
        n_unreached=found.n_unreached,
        notes=tuple(_notes(found, hide_scores)),
    )


def _distances(apart: Iterable[Comparison], hide_scores: bool) -> Iterable[Caveat]:
    """Whether bare numbers on the same items speak against the evidence."""
    for one in apart:
        wrong = one.found.reading == "one_is_wrong" and not hide_scores
        yield Caveat(serious=wrong, text=distance(one, hide_scores=hide_scores))


def _other_passes(changes: Sequence[DraftChange]) -> Iterable[Caveat]:
    """Drafts whose passes were not made alike."""
    n = sum(not change.comparable for change in changes)
    if n:
        yield Caveat(
            serious=True,
            text=f"{count(n)} of {plural(len(changes), 'comparison')} of a draft with the pass before: another judge "
            "file or model made that one, so what changed holds this too.",
        )


def source_name(*paths: Path) -> str:
    """Records files without the folders of the machine they lie on."""
    return ", ".join("standard input" if str(path) == "-" else path.name for path in paths)


def _notes(found: Gathered, hide_scores: bool) -> Iterable[str]:
    """Cuts, stated."""
    if len(found.items) < len(found.item_keys):
        yield (
            f"The first {count(len(found.items))} of {plural(len(found.item_keys), 'item')} "
            f"{'is' if len(found.items) == 1 else 'are'} shown in full "
            "(`--items-shown`); all are in the figures."
        )
    if hide_scores:
        yield "Scores, weights, impacts and levels are left out (`--hide-scores`)."


def _group(group: GroupTally, tallies: Sequence[GroupTally], hide_scores: bool) -> Group:
    sums = group.sums
    document = sums.document()
    labels = sum((one.labels for one in group.criteria.values()), Counter[str]())
    facts = [("calls", count(sums.calls))]
    if group.member is not None or len(group.judge.get("models", ())) == 1:
        facts += list(_tokens(group))
    facts.append(("cost", _cost(group)))
    if group.member is None:
        facts.append(("dissent", f"in {count(group.dissent)} of {plural(sums.n, 'record')}"))
    if group.panel is not None:
        facts += escalation_facts(group.panel.escalation(_members(group, tallies)))
    if not hide_scores:
        facts.append(("rerun SD", _reruns(document)))
    return Group(
        who=group.member or "panel",
        judge=str(group.judge.get("name")),
        verdict=sums.verdict,
        abstained=sums.abstained,
        failed=sums.failed,
        bars=() if hide_scores else bars(sums.scores, group.scale),
        n_scores=sums.scores.total(),
        labels=() if hide_scores else label_bars(labels),
        n_labels=labels.total(),
        tables=tuple(pair_tables(document["pairs"], hide_scores=hide_scores)) if "pairs" in document else (),
        rows=tuple(row for name, one in group.criteria.items() for row in _rows(name, one, hide_scores)),
        facts=tuple(facts),
    )


def _members(panel: GroupTally, tallies: Sequence[GroupTally]) -> dict[str, MemberSummary]:
    """The sums of a panel's members, by name."""
    head = panel.judge.get("name"), panel.judge.get("hash")
    return {
        one.member: one.sums
        for one in tallies
        if one.member is not None and (one.judge.get("name"), one.judge.get("hash")) == head
    }


def _tokens(group: GroupTally) -> Iterable[tuple[str, str]]:
    """What was sent and answered; unknown where no endpoint said."""
    sums = group.sums
    if sums.usage_unknown == sums.n:
        yield "tokens", UNKNOWN
        return
    unknown = f" ({plural(sums.usage_unknown, 'record')} without a count)" if sums.usage_unknown else ""
    yield "tokens in", f"{count(sums.input_tokens)}, of them {count(sums.cached_tokens)} cached{unknown}"
    yield "tokens out", count(sums.output_tokens)


def _cost(group: GroupTally) -> str:
    sums = group.sums
    if not sums.cost_unknown:
        return cost(sums.cost_usd) if sums.calls else "nothing was answered"
    known = sums.n - sums.cost_unknown
    return f"unknown for {plural(sums.cost_unknown, 'record')}" + (
        f"; {cost(sums.cost_usd)} for the others" if known and sums.cost_usd else ""
    )


def _reruns(document: dict[str, float | None]) -> str:
    n = int(document["rerun_items"] or 0)
    if not n:
        return f"{UNDEFINED}: no item has two scored reruns"
    return f"{number(document['rerun_sd'])} over {plural(n, 'item')} with two scored reruns or more"


def _rows(name: str, tally: CriterionTally, hide_scores: bool) -> Iterable[Row]:
    """A criterion, then its checks."""
    remarks = []
    if tally.out:
        remarks.append(f"taken out in {plural(tally.out, 'record')}")
    if tally.without:
        remarks.append(f"without a score in {plural(tally.without, 'record')}")
    if tally.items:
        remarks.append(f"{count(tally.counted)} of {plural(tally.items, 'item')} count")
    middle = None if hide_scores else tally.quartiles()
    weights = [number(weight, 4) for weight in sorted(tally.weights)]
    yield Row(
        name=name,
        n=count(tally.n),
        weight="" if hide_scores else weights[0] if len(weights) == 1 else " to ".join(weights[:1] + weights[-1:]),
        median=number(middle[1]) if middle else "",
        middle=" to ".join(alike((middle[0], middle[2]))) if middle else "",
        remarks="; ".join(remarks),
    )
    for check_id, check in tally.checks.items():
        yield _check_row(check_id, check)


def _check_row(name: str, check: CheckTally) -> Row:
    remarks = []
    if check.uncounted:
        remarks.append(f"{count(check.uncounted)} yes did not count: the quotation is not in the text")
    if check.na:
        remarks.append(f"did not apply to {count(check.na)}")
    return Row(
        name=name,
        is_check=True,
        n=count(check.n),
        yes=f"{count(check.yes)} ({percent(check.yes / check.n)})" if check.n else UNDEFINED,
        yes_interval=interval(wilson_interval(check.yes, check.n)) if check.n else "",
        remarks="; ".join(remarks),
    )


def _judges(tallies: Sequence[GroupTally], library: Library, hide_scores: bool) -> Iterable[Judge]:
    """Each judge once."""
    for key, head in {(str(g.judge.get("hash")), str(g.judge.get("name"))): g.judge for g in tallies}.items():
        spec = library.judge(key[0])
        questions: list[Question] = []
        for criterion in spec.criteria if spec else ():
            questions.append(
                Question(id=criterion.id, ask=criterion.ask, weight=_weight(criterion.weight, hide_scores))
            )
            for row in criterion.checks:
                routes = row.any_of if isinstance(row, CheckGroup) else (row,)
                weight = _weight(row.weight, hide_scores)
                questions += [
                    Question(id=one.id, ask=one.ask, weight=weight if one is routes[0] else "or", depth=1)
                    for one in routes
                ]
        yield Judge(
            name=key[1],
            hash=key[0],
            protocol=str(head.get("protocol")),
            models=tuple(map(str, (*head.get("models", ()), *head.get("escalate_to", ())))),
            questions=tuple(questions),
            missing="" if spec else "its questions and weights are not available: the judge is not in the store",
        )


def _weight(weight: object, hide_scores: bool) -> str:
    return "" if hide_scores or weight is None else number(float(str(weight)), 4)

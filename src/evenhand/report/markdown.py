"""A Report as Markdown for a pull request: foreign text stands in code spans only, where nothing is a link, a mention,
a tag or a table's edge.
"""

from collections.abc import Iterable, Sequence

from evenhand.report.model import DraftView, Finding, Group, ItemView, RecordView, Report, Table
from evenhand.report.numbers import interval, percent
from evenhand.report.visible import code_block, code_span
from evenhand.wording import count, plural

__all__ = ["report_markdown"]

_LONGEST = 300
_RAW = 1_000


def report_markdown(report: Report) -> str:
    """The report as Markdown, with a line break at the end."""
    parts = [
        f"# {code_span(report.title, 200)}",
        f"{plural(report.n_items, 'item')} in {code_span(report.source)}",
        "\n".join(_caveats(report)),
        *report.notes,
        "\n".join(_counts(report)),
    ]
    if report.divergences:
        parts += list(_small(report.divergences, 2))
    for group in report.groups:
        parts += list(_group(group, report))
    if report.drafts:
        parts.append("## Draft by draft")
    if report.n_drafts > len(report.drafts):
        parts.append(f"The first {count(len(report.drafts))} of {count(report.n_drafts)} passes are shown.")
    for draft in report.drafts:
        parts += list(_draft(draft))
    parts += list(_unreached(report))
    if report.items:
        parts.append("## Item by item")
    for item in report.items:
        parts += list(_item(item))
    return "\n\n".join(part for part in parts if part) + "\n"


def _caveats(report: Report) -> Iterable[str]:
    for caveat in report.caveats:
        yield f"- **{'Warning' if caveat.serious else 'Note'}** {_mixed(caveat.text)}"


def _mixed(text: str) -> str:
    """Our own sentence that may hold a foreign name: as code, since the two cannot be told apart any more."""
    return code_span(text)


def _counts(report: Report) -> Iterable[str]:
    yield from _table(
        ("Judge", "Rater", "Verdicts", "Abstained", "Failed", "All"),
        [
            (
                code_span(group.judge, table=True),
                code_span(group.who, table=True),
                *map(count, (group.verdict, group.abstained, group.failed, group.n)),
            )
            for group in report.groups
        ],
        right=2,
    )


def _group(group: Group, report: Report) -> Iterable[str]:
    yield f"## {code_span(group.who)}"
    if group.bars:
        rows = [
            (bar.label, count(bar.n), percent(bar.share), interval((bar.low, bar.high))) for bar in reversed(group.bars)
        ]
        yield "\n".join(_table(("Score", "n", "Share", "95 % interval"), rows, right=0))
        yield _counted(plural(group.n_scores, "score"), group)
    if group.labels:
        rows = [
            (bar.label, count(bar.n), percent(bar.share), interval((bar.low, bar.high)))
            for bar in reversed(group.labels)
        ]
        yield "\n".join(_table(("Word", "n", "Share", "95 % interval"), rows, right=1))
        yield _counted(f"{plural(group.n_labels, 'record')} with a word", group)
    for table in group.tables:
        yield from _small(table, 3)
    if group.rows:
        names = ("Criterion, check", "n", "Median", "Middle half", "Yes, counted", "95 % interval", "Remarks")
        shown = [
            (
                ("&nbsp;&nbsp;" if row.is_check else "") + code_span(row.name, table=True),
                *(row.n, row.median, row.middle, row.yes.replace("<", "&lt;"), row.yes_interval, row.remarks),
            )
            for row in group.rows
        ]
        yield "\n".join(_table(names, shown, right=1))
    yield "; ".join(f"{name} {value}" for name, value in group.facts)


def _counted(n: str, group: Group) -> str:
    return f"n = {n}; {count(group.failed)} failed, {count(group.abstained)} abstained."


def _small(table: Table, depth: int) -> Iterable[str]:
    """A table of figures, its texts as code."""
    yield f"{'#' * depth} {table.name}"
    rows = [
        tuple(
            code_span(cell, _LONGEST, table=True) if place < table.n_texts else cell for place, cell in enumerate(row)
        )
        for row in table.rows
    ]
    if rows:
        yield "\n".join(_table(table.head, rows, right=table.n_texts))
    yield from (code_span(note, _RAW) for note in table.notes)


def _draft(draft: DraftView) -> Iterable[str]:
    """One pass over a draft, with what became of the findings."""
    yield f"### {code_span(draft.slug, _LONGEST)}"
    lines = [f"- {name}: {code_span(value, _LONGEST)}" for name, value in draft.facts]
    for name, claims in draft.lists:
        lines.append(f"- {name}")
        lines += [f"  - {code_span(claim, _LONGEST)}" for claim in claims]
    if draft.not_shown:
        lines.append(f"- {plural(draft.not_shown, 'further finding')} not shown")
    yield "\n".join(lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: int) -> Iterable[str]:
    """A table whose columns from `right` on hold numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---:' if place >= right else '---' for place in range(len(head)))}|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('<0.1', '&lt;0.1').replace('>99', '&gt;99') for cell in row)} |"


def _unreached(report: Report) -> Iterable[str]:
    if not report.n_unreached:
        return
    yield f"## Without a verdict: {plural(report.n_unreached, 'record')}"
    for name, record in report.unreached:
        yield f"- {code_span(name, _LONGEST)} {record.status}, {code_span(record.who)}: " + code_span(
            record.cause or record.reason, _LONGEST
        )
        if record.raw:
            yield code_block(record.raw[:_RAW])


def _item(item: ItemView) -> Iterable[str]:
    yield f"### {code_span(item.id, _LONGEST)}"
    if item.missing:
        yield f"({item.missing})"
    for record in item.records:
        yield from _record(record)


def _record(record: RecordView) -> Iterable[str]:
    rerun = f", rerun {record.rerun}" if record.rerun else ""
    score = f": **{record.score}** on {record.scale}" if record.score else ""
    yield f"{code_span(record.who)}{rerun}: {record.status}{score}"
    lines = [f"- flag: {code_span(flag)}" for flag in record.flags]
    lines += [f"- dissent: {code_span(line, _LONGEST)}" for line in record.dissent]
    if record.cause or record.reason:
        lines.append(f"- cause: {code_span(record.cause or record.reason, _LONGEST)}")
    for criterion in record.criteria:
        lines += [f"- {code_span(f'{name}: {value}', _LONGEST)}" for name, value in criterion.facts]
        lines += [_finding(finding) for finding in criterion.findings]
    yield "\n".join(lines)
    if record.working:
        yield code_block("\n".join(record.working))
    for table in record.tables:
        yield from _small(table, 4)
    if record.feedback:
        yield f"Feedback to the author:\n\n{code_block(record.feedback)}"
    yield f"{record.usage}; cost {record.cost}"


def _finding(finding: Finding) -> str:
    quote = f" {code_span(finding.quote, _LONGEST)} ({finding.standing})" if finding.quote else ""
    notes = "".join(f"; {code_span(note, _LONGEST)}" for note in finding.notes)
    return f"- {finding.outcome} {code_span(finding.name, _LONGEST)}{quote}{notes}"

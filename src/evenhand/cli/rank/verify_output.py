"""What `evenhand rank verify` shows to people: the rule, its clauses, the rows that break it, samples, the verdict."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.cli.output import console, shown
from evenhand.report import numbers
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.composite.verification import SampleReport, Verification, Violation

__all__ = ["print_verification", "verification_lines"]

_NAMED = 5
_MOST_ROWS = 10
_NAME = 34


def print_verification(found: "Verification", *, show_all: bool = False) -> None:
    """All of it, on stdout."""
    out = console()
    for line in verification_lines(found, show_all=show_all):
        out.print(_hung(line, out.width), overflow="fold", style="bold" if line.startswith("verdict") else None)


def verification_lines(found: "Verification", *, show_all: bool = False) -> Iterator[str]:
    """The lines, in the order in which they should be read."""
    from evenhand.composite.rule.printing import printed

    yield f"rule     {shown(printed(found.rule), 2000)}"
    left = f"; {plural(len(found.dropped), 'row')} left out ({_reasons(found)})" if found.dropped else ""
    yield f"rows     {found.n_rows:,} tested{left}"
    yield f"printed  {_rounding(found)}"
    if found.max_residual is not None:
        most = numbers.compact(found.max_residual)
        yield f"residual at most {most} on the printed numbers (row {found.max_residual_row})"
    yield from _clauses(found)
    yield from _violations(found, show_all=show_all)
    yield from _together(found)
    if found.sample is not None:
        yield from _samples(found.sample, found.n_rows)
    yield ""
    for note in found.notes:
        yield f"note     {shown(note, 400)}"
    yield f"verdict  {_verdict(found)}"


def _hung(line: str, width: int) -> str:
    """A long line folded at blanks, its further lines below its text."""
    if len(line) <= width:
        return line
    indent = 10 if line.startswith("  ") else 9
    return textwrap.fill(line, width=width, subsequent_indent=" " * indent, break_on_hyphens=False)


def _reasons(found: "Verification") -> str:
    """Why rows were left out, with how many each."""
    from collections import Counter

    return ", ".join(f"{reason}: {n}" for reason, n in Counter(row.reason for row in found.dropped).items())


def _rounding(found: "Verification") -> str:
    """Under which rounding the figures hold, and what the others would say."""
    counts = ", ".join(f"{name} {n:,}" for name, n in found.roundings.items())
    return f"taken as {found.rounding}; rows that break the rule: {counts}"


def _clauses(found: "Verification") -> Iterator[str]:
    """A line or two a clause."""
    if not found.clauses:
        return
    yield ""
    yield "clauses: what each touches, and whether this table can tell that it is there"
    for clause in found.clauses:
        yield f"  {clause.kind:<8}{shown(clause.when, 160)}"
        yield f"          {shown(clause.sentence, 200)}{_named(clause.names) if 0 < len(clause.rows) <= _NAMED else ''}"


def _named(names: Sequence[str]) -> str:
    return f": {', '.join(shown(name, 40) for name in names)}"


def _violations(found: "Verification", *, show_all: bool) -> Iterator[str]:
    """A line a row that breaks the rule, 79 characters wide."""
    if not found.violations:
        return
    yield ""
    yield f"{'row':>5} {'breaks the rule':<{_NAME}} {'score':>9} {'rule':>9} {'off by':>8}"
    most = None if show_all else _MOST_ROWS
    for violation in found.violations[:most]:
        yield _violation(violation)
        if violation.reason:
            yield f"      {shown(violation.reason, 160)}"
    if most is not None and len(found.violations) > most:
        yield f"... and {len(found.violations) - most:,} more (--all)"
    yield "off by: beyond what the printed digits allow; + where the score is the higher"


def _violation(violation: "Violation") -> str:
    sign = {"above": "+", "below": "-"}.get(violation.direction, "")
    off = (
        "edge"
        if violation.direction == "edge"
        else "-"
        if violation.excess is None
        else sign + numbers.compact(violation.excess)
    )
    name = f"{violation.row:>5} {shown(violation.name, _NAME):<{_NAME}}"
    return f"{name} {shown(violation.score, 9):>9} {numbers.compact(violation.value):>9} {off:>8}"


def _together(found: "Verification") -> Iterator[str]:
    """What the rows that break the rule have in common, and what they prove."""
    if not found.violations:
        return
    yield ""
    order = [violation.index for violation in found.violations]
    if order[0] > 0:
        yield (
            f"first    {plural(order[0], 'row')} above it {'holds' if order[0] == 1 else 'hold'}; the "
            f"first that fails is row {found.violations[0].row}"
        )
    if found.pattern is not None:
        pattern = found.pattern
        where = f"{shown(pattern.where, 120)} ({plural(pattern.n_there, 'row')} there)"
        yield f"where    all {pattern.n_violated:,} have {where}; by chance: p {_p(pattern.chance)}"
    for side, rows in (("below", found.below), ("above", found.above)):
        if rows:
            yield f"outside  {plural(len(rows), 'row')} scored {side} every component: no mean of them can give that"
    for better, worse, equal in found.contradictions[:3]:
        how = "equal in every column" if equal else "at least as good in every column"
        yield f"proof    {shown(better, 60)} is {how}, yet {shown(worse, 60)} is scored higher"


def _samples(sample: "SampleReport", n_rows: int) -> Iterator[str]:
    """Whether samples could have told this rule from the other one."""
    yield ""
    yield f"against  {shown(sample.against, 600)}"
    if not sample.telling:
        yield "         no row of this table can tell the two apart"
        return
    yield (
        f"         {len(sample.telling):,} of {plural(n_rows, 'row')} "
        f"{'tells' if len(sample.telling) == 1 else 'tell'} the two apart; the first in place {sample.first}"
    )
    for one in sample.samples:
        if one.n_telling is None:
            yield f"         {one.what}: told with probability {_probability(one.probability)}"
        else:
            yield (
                f"         {one.what}: {'told' if one.n_telling else 'not told'} "
                f"({plural(one.n_telling, 'row tells', 'rows tell')})"
            )
    yield f"         {plural(sample.enough or 0, 'row')} at random tell with probability 0.95"


def _verdict(found: "Verification") -> str:
    """The verdict, as a sentence."""
    n = len(found.violations)
    held = "" if found.is_exact else f"; not refuted, since {found.inexact_because}: the test bounds it"
    if found.verdict == "all":
        return f"the rule reproduces every row ({found.n_rows:,}){held}"
    if found.verdict == "all_but":
        names = ", ".join(shown(violation.name, 40) for violation in found.violations[:_NAMED])
        more = f" and {n - _NAMED} more" if n > _NAMED else ""
        return f"the rule reproduces all rows but {n} of {found.n_rows:,}: {names}{more}"
    if found.verdict == "refuted":
        return f"refuted: {n:,} of {plural(found.n_rows, 'row')} cannot be had from the rule"
    return (
        f"undetermined: {n:,} of {plural(found.n_rows, 'row')} {'fails' if n == 1 else 'fail'}, and no "
        f"monotone rule of these columns can hold"
    )


def _probability(value: float) -> str:
    """Never a false 0 or 1."""
    text = f"{value:.3f}"
    return {"0.000": "<0.001", "1.000": ">0.999"}.get(text, text) if 0 < value < 1 else text


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {numbers.number(value, 3)}"

"""What `evenhand rank recover` shows to people: verdict, rules with their intervals, what is untested, suspects."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.cli.output import console, shown
from evenhand.report import numbers
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.composite.recovery.results import Clause, Parameter, RecoveredRule, Recovery, Untested

__all__ = ["print_recovery", "recovery_lines"]

_RULES, _UNTESTED, _SUSPECTS, _NAMED = 3, 8, 10, 5
_WIDE = 36


def print_recovery(found: "Recovery", *, show_all: bool = False) -> None:
    """All of it, on stdout."""
    out = console()
    for line in recovery_lines(found, show_all=show_all):
        out.print(_hung(line, out.width), overflow="fold", style="bold" if line.startswith("verdict") else None)


def _hung(line: str, width: int) -> str:
    """A long line folded at blanks, its further lines below its text."""
    if len(line) <= width:
        return line
    return textwrap.fill(line, width=width, subsequent_indent=" " * 10, break_on_hyphens=False)


def recovery_lines(found: "Recovery", *, show_all: bool = False) -> Iterator[str]:
    """The lines, in the order in which they should be read."""
    yield f"verdict   {found.verdict}: {shown(found.reason, 600)}"
    left = found.n_rows - found.n_searched
    yield f"rows      {found.n_searched:,} searched" + (f"; {left:,} more lack a component" if left else "")
    if found.level:
        yield f"level     {found.level}"
    rules = found.rules if show_all else found.rules[:_RULES]
    for number, rule in enumerate(rules):
        yield ""
        yield from _rule(rule, number, found)
    if found.n_survivors > len(rules):
        yield (
            f"... {plural(found.n_survivors, 'rule holds', 'rules hold')} on every row; {len(rules)} are "
            f"shown (--all, --json)"
        )
    yield from _untested(found.untested, show_all=show_all)
    yield from _suspects(found, show_all=show_all)
    yield from _separating(found)
    if found.notes:
        yield ""
    for note in found.notes:
        yield f"note      {shown(note, 600)}"


def _rule(rule: "RecoveredRule", number: int, found: "Recovery") -> Iterator[str]:
    """A rule, its numbers with their intervals, and the rows that carry its clauses."""
    from evenhand.composite.rule.printing import printed

    yield f"{'rule' if number == 0 else 'or':<10}{shown(printed(rule.rule), 3000)}"
    if not rule.is_proof:
        yield "          not refuted: it couples rows or is not continuous, so that the test only bounds it"
    if rule.parameters:
        yield f"          {'number':<{_WIDE}} {'value':>10} {'at least':>10} {'at most':>10}"
    for name, one in rule.parameters.items():
        yield _parameter(name, one)
    for clause in rule.clauses:
        yield from _clause(clause)
    if rule.unused:
        yield f"unused    {', '.join(shown(name, 40) for name in rule.unused)}"
    if rule.missing:
        yield f"missing   {shown(rule.missing, 200)}; carried by {_rows(rule.missing_rows)}"


def _parameter(name: str, one: "Parameter") -> str:
    figures = "".join(f" {numbers.compact(figure):>10}" for figure in (one.value, one.low, one.high))
    return f"          {shown(name, _WIDE):<{_WIDE}}{figures}"


def _clause(clause: "Clause") -> Iterator[str]:
    """Which rows speak for a clause."""
    name = shown(clause.clause, 80)
    if clause.inert:
        yield f"clause    {name}: cannot be told here; no row needs it"
        return
    alone = "; one row alone speaks for it" if len(clause.carried_by) == 1 else ""
    yield f"clause    {name}: changes {plural(len(clause.rows), 'row')}; carried by {_rows(clause.carried_by)}{alone}"


def _untested(untested: Sequence["Untested"], *, show_all: bool) -> Iterator[str]:
    """What the table cannot tell from the rule."""
    if not untested:
        return
    yield ""
    yield "untested: clauses that may stand beside the first rule, for all that this table can tell"
    kept = untested if show_all else _mixed(untested)
    for one in kept:
        near = ", ".join(shown(name, 24) for name in one.nearest[:2])
        yield f"  {shown(one.clause, 76)}"
        yield f"          {shown(one.told_by, 100)} could tell" + (f"; nearest {near}" if near else "")
    if len(untested) > len(kept):
        yield f"  ... and {len(untested) - len(kept)} more (--all)"


def _mixed(untested: Sequence["Untested"]) -> list["Untested"]:
    """All gates first, then what else there is room for."""
    gates = [one for one in untested if one.kind == "gate"]
    return (gates + [one for one in untested if one.kind != "gate"])[: max(_UNTESTED, 0)]


def _suspects(found: "Recovery", *, show_all: bool) -> Iterator[str]:
    """Rows that the first rule does not reproduce."""
    if not found.suspects:
        return
    yield ""
    yield f"{'row':>6} {'suspect':<40} {'off by':>10}"
    for one in found.suspects if show_all else found.suspects[:_SUSPECTS]:
        sign = "+" if one.excess > 0 else "-"
        yield f"{one.row:>6} {shown(one.name, 40):<40} {sign + numbers.compact(abs(one.excess)):>10}"
    if len(found.suspects) > _SUSPECTS and not show_all:
        yield f"... and {len(found.suspects) - _SUSPECTS:,} more (--all)"
    yield "off by: beyond what the printed digits allow; + where the score is the higher"


def _separating(found: "Recovery") -> Iterator[str]:
    """Rows on which survivors differ most."""
    if not found.separating:
        return
    yield ""
    yield "separate  rows on which the survivors differ most, in half-widths of the score:"
    names = [f"{shown(one.name, 40)} (row {one.row}) {numbers.compact(one.gap)}" for one in found.separating]
    yield f"          {'; '.join(names)}"


def _rows(rows: Sequence[int]) -> str:
    """How many rows, and the first few by number."""
    some = ", ".join(str(row) for row in rows[:_NAMED])
    return f"{plural(len(rows), 'row')} ({some}{', ...' if len(rows) > _NAMED else ''})"

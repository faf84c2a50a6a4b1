"""`evenhand rank page TABLE --rule RULE -o page.html`: a page on which the weights can be moved."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, say, shown, write_text
from evenhand.cli.rank.tables import (
    Aliases,
    Components,
    DecimalComma,
    Exact,
    Lower,
    MissingCells,
    NameColumn,
    PageTable,
    RankInput,
    RowsWhere,
    StatedRule,
    TableFile,
    rank_input,
    say_what_was_read,
)
from evenhand.cli.rank.verify import rule_text
from evenhand.errors import InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.composite.rule.syntax import Rule
    from evenhand.composite.verification import Verification
    from evenhand.report.rank_shares import LeaderShares

__all__ = ["page"]


def page(
    path: TableFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="The page, a .html file.")],
    rule: StatedRule = None,
    score: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the published composite, to compare with.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the page; else the name of the table's file.")
    ] = None,
    name: NameColumn = None,
    columns: Components = None,
    where: RowsWhere = None,
    alias: Aliases = None,
    exact: Exact = None,
    lower: Lower = None,
    missing: MissingCells = None,
    decimal_comma: DecimalComma = False,
    table: PageTable = None,
    presets: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML or JSON of named weights, as of rank reweight.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the leader's shares that are drawn beforehand.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained page with sliders for the weights, which re-ranks in the reader's browser.

    With --score the rule is held against the published scores first; a rule that does not reproduce all of them is
    shown under a banner that says so.
    """
    from evenhand.composite.rule.parse import parse_rule
    from evenhand.report.rank_page import rank_page
    from evenhand.store.weight_presets import read_presets

    _refuse_output(output, path)
    given = rank_input(
        path, score=score, name=name, columns=columns, where=where, alias=alias, exact=exact, lower=lower,
        missing=missing, decimal_comma=decimal_comma, table=table,
    )  # fmt: skip
    parsed = parse_rule(rule_text(rule), columns=tuple(given.table.columns), aliases=given.ranked.aliases)
    column = None if score is None else given.ranked.find(score)
    found = _verified(parsed, given, column)
    is_lower = column is not None and given.table.columns[column].lower
    shares, why = _shares(parsed, given, is_lower, seed)
    named = {} if presets is None else read_presets(presets)
    html = rank_page(
        parsed, given.table, score=column, missing=given.missing, lower_score=is_lower,
        title=title or (path.stem if str(path) != "-" else "Ranking"), verification=found, shares=shares,
        presets=named, aliases=given.ranked.aliases,
    )  # fmt: skip
    write_text(output, html)
    if as_json:
        verdict = None if found is None else found.verdict
        document = {
            "page": str(output), "bytes": len(html.encode()), "verdict": verdict,
            "shares": None if shares is None else {
                "n_draws": shares.n_draws, "seed": shares.seed,
                "leaders": [
                    {"row": given.table.rows[one.index], "name": given.table.names[one.index], "share": one.share,
                     "se": one.se}
                    for one in shares.leaders
                ],
            },
            "no_shares_because": why,
        }  # fmt: skip
        sys.stdout.write(json_text({**document, "table": given.ranked.document()}))
        return
    say_what_was_read(given.ranked)
    if found is not None and found.violations:
        say(
            f"the rule is not reproduced on {count(len(found.violations))} of "
            f"{plural(found.n_rows, 'row')}; the page says so"
        )
    if why is not None:
        say(shown(f"note: no leader's shares were drawn beforehand; {why}"))
    print(f"wrote {shown(str(output))} ({len(html.encode()) / 1000:,.0f} kB)")


def _verified(rule: "Rule", given: RankInput, score: str | None) -> "Verification | None":
    """What the published scores say of the rule; None without any."""
    from evenhand.composite.verify import verify

    return None if score is None else verify(rule, given.table, score, missing=given.missing)


def _shares(rule: "Rule", given: RankInput, lower_score: bool, seed: int) -> "tuple[LeaderShares | None, str | None]":
    """Leader's shares of the published rule, or why there are none."""
    from evenhand.report.rank_shares import leader_shares

    try:
        found = leader_shares(rule, given.table, missing=given.missing, lower_score=lower_score, seed=seed)
    except InvalidInput as error:  # such as a maximum, whose weights do not matter; the page draws its own
        return None, str(error)
    return found, None


def _refuse_output(output: Path, table: Path) -> None:
    """A page, and never over the table that it is made from."""
    if output.suffix.casefold() not in (".html", ".htm"):
        raise InvalidInput(f"-o {shown(str(output))}: a page is HTML; name the file .html")
    if output.exists() and table.exists() and output.samefile(table):
        raise InvalidInput(f"-o {shown(str(output))}: this is the table that is read; name another file")

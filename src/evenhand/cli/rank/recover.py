"""`evenhand rank recover TABLE --score COLUMN`: what the rule of a composite is, and how far the table can tell."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text
from evenhand.cli.rank.tables import (
    Aliases,
    Components,
    DecimalComma,
    Exact,
    Lower,
    MissingCells,
    NameColumn,
    NamedScore,
    PageTable,
    RowsWhere,
    TableFile,
    listed_names,
    rank_input,
    say_what_was_read,
)

if TYPE_CHECKING:
    from evenhand.store.ranked.tables import RankedTable

__all__ = ["recover"]


def recover(
    path: TableFile,
    score: NamedScore = None,
    name: NameColumn = None,
    columns: Components = None,
    where: RowsWhere = None,
    alias: Aliases = None,
    exact: Exact = None,
    lower: Lower = None,
    missing: MissingCells = None,
    decimal_comma: DecimalComma = False,
    table: PageTable = None,
    era: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help='Where the rule may change; else columns of few values; "" for none.'),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the shuffles that the verdict rests on.")] = 0,
    show_all: Annotated[bool, typer.Option("--all", help="Every survivor, suspect and untested clause.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for the rules that reproduce every row, by the digits that were printed, and say what cannot be told.

    A rule is never fitted: it reproduces every row, or it is no rule. Exits 0 whatever was found.
    """
    from evenhand.cli.rank.recover_output import print_recovery
    from evenhand.composite.recover import recover as recovery
    from evenhand.composite.recovery.report import RecoverSettings

    given = rank_input(
        path, score=score, needs_score=True, name=name, columns=columns, where=where, alias=alias, exact=exact,
        lower=lower, missing=missing, decimal_comma=decimal_comma, table=table,
    )  # fmt: skip
    ranked = given.ranked
    named = None if era is None else [ranked.find(one) for one in listed_names([e for e in era if e.strip()], "--era")]
    found = recovery(
        given.table, ranked.find(str(score)), columns=ranked.components, eras=_eras(ranked) if named is None else named,
        settings=RecoverSettings(seed=seed, missing=given.missing),
    )  # fmt: skip
    if as_json:
        sys.stdout.write(json_text({**found.document(), "seed": seed, "table": ranked.document()}))
    else:
        say_what_was_read(ranked)
        print_recovery(found, show_all=show_all)


def _eras(ranked: "RankedTable") -> list[str]:
    """Columns that are neither component, score nor name; the search keeps those of few values."""
    taken = {*ranked.components, ranked.score, ranked.name}
    return [name for name, column in ranked.columns.items() if name not in taken and not column.parent]

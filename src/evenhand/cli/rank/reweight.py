"""`evenhand rank reweight TABLE --rule RULE`: how much of first place is the weights."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, shown
from evenhand.cli.rank.tables import (
    Aliases,
    Components,
    DecimalComma,
    Exact,
    Lower,
    MissingCells,
    NameColumn,
    PageTable,
    RowsWhere,
    StatedRule,
    TableFile,
    listed_names,
    rank_input,
    say_what_was_read,
)
from evenhand.cli.rank.verify import rule_text
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.cli.rank.tables import RankInput
    from evenhand.composite.table import Floats

__all__ = ["reweight", "weights_option"]

_MOST_DRAWS = 10_000_000


def reweight(
    path: TableFile,
    rule: StatedRule = None,
    score: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the published composite; else the rule's own."),
    ] = None,
    weights: Annotated[
        list[str] | None, typer.Option(metavar="I=.7,...", help="Other weights; the columns left out share the rest.")
    ] = None,
    presets: Annotated[Path | None, typer.Option(metavar="FILE", help="YAML or JSON of named weights.")] = None,
    constraint: Annotated[
        list[str] | None, typer.Option(metavar="EXPR", help="Weights meet this, such as 'I >= K'; repeatable.")
    ] = None,
    released: Annotated[
        bool, typer.Option("--release-gates", help="A gate ends where its column has weight 0; else it stays.")
    ] = False,
    se: Annotated[
        list[str] | None, typer.Option(metavar="I=COL", help="Column of a component's standard errors; repeatable.")
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
    draws: Annotated[int, typer.Option(min=100, max=_MOST_DRAWS, metavar="N", help="Weight vectors drawn.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of all draws.")] = 0,
    show_all: Annotated[bool, typer.Option("--all", help="Every system, not only the first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank anew under other weights, and say how much of first place the weights decide.

    Columns that --weights leaves out share equally what is left of 1.
    """
    from evenhand.cli.rank.reweight_output import print_reweighting
    from evenhand.composite.reweight import reweight as reweighting
    from evenhand.composite.reweighting.document import reweighting_document
    from evenhand.composite.rule.parse import parse_rule
    from evenhand.store.weight_presets import read_presets

    given = rank_input(
        path, score=score, name=name, columns=columns, where=where, alias=alias, exact=exact, lower=lower,
        missing=missing, decimal_comma=decimal_comma, table=table,
    )  # fmt: skip
    found = reweighting(
        parse_rule(rule_text(rule), columns=tuple(given.table.columns), aliases=given.ranked.aliases),
        given.table, score=None if score is None else given.ranked.find(score),
        weights=weights_option(weights), presets=None if presets is None else read_presets(presets),
        constraints=tuple(constraint or ()), released=released, missing=given.missing, errors=_errors(se, given),
        aliases=given.ranked.aliases, n_draws=draws, seed=seed,
    )  # fmt: skip
    if as_json:
        sys.stdout.write(json_text({**reweighting_document(found), "table": given.ranked.document()}))
    else:
        say_what_was_read(given.ranked)
        print_reweighting(found, show_all=show_all)


def weights_option(texts: Sequence[str] | None) -> dict[str, float] | None:
    """`I=.7,C=.1`, several of them; a name that holds a comma stands in backticks.

    Raises:
        InvalidInput: no `=`, no number, or one column twice.

    >>> weights_option(["I=.7,C=.1", "S=0.2"])
    {'I': 0.7, 'C': 0.1, 'S': 0.2}
    """
    if not texts:
        return None
    found: dict[str, float] = {}
    for text in texts:
        for part in listed_names([text], "--weights") if "`" not in text else [text]:
            column, equals, number = part.rpartition("=")
            column = column.strip().strip("`")
            try:
                weight = float(number)
            except ValueError:
                equals = ""
            if not equals or not column or column in found or weight != weight:
                raise InvalidInput(
                    f"--weights {shown(text, 80)!r}: expected columns with their weights, each once, such as I=.7,C=.1"
                )
            found[column] = weight
    return found


def _errors(texts: Sequence[str] | None, given: "RankInput") -> "dict[str, Floats] | None":
    """`--se I=I_se`: the component's column to its standard errors."""
    found = {}
    for text in texts or ():
        component, equals, column = text.partition("=")
        if not equals or not component.strip() or not column.strip():
            raise InvalidInput(f"--se {shown(text, 80)!r}: expected COMPONENT=COLUMN, such as I=I_se")
        own, errors = given.ranked.find(component), given.table.column(given.ranked.find(column))
        if not errors.is_numeric:
            raise InvalidInput(f"--se {shown(text, 80)!r}: column {shown(errors.name, 60)!r} holds no number")
        found[own] = errors.values
    return found or None

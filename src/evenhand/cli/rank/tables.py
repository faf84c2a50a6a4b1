"""The table that every `evenhand rank` command reads: its options, with one meaning, and what they come to.

rank_input(path, score=..., ...)    the file as the store reads it, and as `composite` takes it
say_what_was_read(ranked)           what a reader should know of it, on stderr
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenhand.cli.output import say, shown
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.composite.table import Table
    from evenhand.store.ranked.tables import RankedTable

__all__ = [
    "Aliases",
    "Components",
    "DecimalComma",
    "Exact",
    "Lower",
    "MissingCells",
    "NameColumn",
    "NamedScore",
    "PageTable",
    "RankInput",
    "RowsWhere",
    "StatedRule",
    "TableFile",
    "composite_table",
    "listed_names",
    "rank_input",
    "say_what_was_read",
]

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", help="CSV, TSV, JSON, Parquet, Markdown or HTML; - for standard input.")
]
StatedRule = Annotated[
    str | None,
    typer.Option("--rule", metavar="RULE", help="Such as 'mean(a, b)'; @FILE reads it from a file.  [required]"),
]
NamedScore = Annotated[
    str | None, typer.Option("--score", metavar="COLUMN", help="Column of the composite.  [required]")
]
NameColumn = Annotated[
    str | None, typer.Option("--name", metavar="COL", help='Column that names the systems; "" numbers the rows.')
]
Components = Annotated[
    list[str] | None, typer.Option("--columns", metavar="A,B", help="The components; else all columns of numbers.")
]
RowsWhere = Annotated[
    str | None, typer.Option("--where", metavar="EXPR", help="Rows that count, such as 'listing is number'.")
]
Aliases = Annotated[
    list[str] | None, typer.Option("--alias", metavar="I=COL", help="Another name of a column; repeatable.")
]
Exact = Annotated[
    list[str] | None, typer.Option("--exact", metavar="COL", help="Its numbers are not rounded (counts); repeatable.")
]
Lower = Annotated[list[str] | None, typer.Option("--lower", metavar="COL", help="Lower is better; repeatable.")]
MissingCells = Annotated[
    str | None,
    typer.Option("--missing", metavar="POLICY", help="drop, zero, renormalise or a number; else what the rule says."),
]
DecimalComma = Annotated[bool, typer.Option("--decimal-comma", help="62,5 is a number, 1.234 is 1234.")]
PageTable = Annotated[
    int | None, typer.Option("--table", min=1, metavar="N", help="Which table of a Markdown or HTML page.")
]

_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RankInput:
    """A table as it was read, as the rules take it, and what a missing component does (None: what the rule says)."""

    ranked: "RankedTable"
    table: "Table"
    missing: Literal["drop", "renormalise"] | float | None


def rank_input(
    path: Path,
    *,
    score: str | None,
    needs_score: bool = False,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    alias: Sequence[str] | None = None,
    exact: Sequence[str] | None = None,
    lower: Sequence[str] | None = None,
    missing: str | None = None,
    decimal_comma: bool = False,
    table: int | None = None,
) -> RankInput:
    """The table that the options describe.

    Raises:
        InvalidInput: the file, a column, the condition or an option cannot be used, or a score is needed and not named.
    """
    from evenhand.store.ranked.tables import TableSettings, alias_option, missing_option, read_ranked_table

    policy = missing_option(missing)
    settings = TableSettings(
        score=score, name=name, columns=listed_names(columns, "--columns"), where=where,
        aliases=alias_option(alias or ()), exact=listed_names(exact, "--exact"), lower=listed_names(lower, "--lower"),
        decimal_comma=decimal_comma, table=table,
    )  # fmt: skip
    ranked = read_ranked_table(path, settings)
    if needs_score and score is None:
        raise InvalidInput(
            "--score is missing: name the column of the composite with --score COLUMN; "
            f"{shown(str(path), 200)} has {_listed(ranked.components)}"
        )
    return RankInput(ranked=ranked, table=composite_table(ranked), missing=policy)


def _listed(names: Sequence[str]) -> str:
    """Columns of numbers, as a list in a sentence."""
    own = [shown(name, 40) for name in names[:_LISTED]]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"the columns of numbers {', '.join(own)}{more}"


def listed_names(texts: Sequence[str] | None, option: str) -> tuple[str, ...]:
    """Names of columns set apart by commas; one that holds a comma stands in backticks.

    Raises:
        InvalidInput: an empty name.

    >>> listed_names(["I,C", "`a, b`"], "--columns")
    ('I', 'C', 'a, b')
    """
    found: list[str] = []
    for text in texts or ():
        for quoted, plain in re.findall(r"\s*(?:`([^`]*)`|([^,`]*))\s*(?:,|$)", f"{text},")[:-1]:
            if not (quoted or plain.strip()):
                raise InvalidInput(f"{option} {shown(text, 60)!r}: a name is empty; expected columns, such as I,C,S")
            found.append(quoted or plain.strip())
    return tuple(found)


def composite_table(ranked: "RankedTable") -> "Table":
    """The table as `composite` takes it, with the half-widths that the reader found."""
    from evenhand.composite.table import Column, Table

    columns = {
        name: Column(
            name=name, values=column.values, decimals=column.decimals, texts=column.texts, exact=column.exact,
            lower=column.lower, widths=column.widths, errors=column.errors,
        )
        for name, column in ranked.columns.items()
    }  # fmt: skip
    return Table(names=ranked.names, columns=columns, rows=ranked.rows, source=ranked.source)


def say_what_was_read(ranked: "RankedTable") -> None:
    """Rows, columns and everything that was not plain, on stderr."""
    decimals = ", ".join(
        f"{name} {ranked.columns[name].most_decimals()}" + (" exact" if ranked.columns[name].exact else "")
        for name in (*ranked.components, ranked.score)
        if name is not None
    )
    say(shown(f"read {plural(ranked.n_rows, 'row')} of {ranked.form} from {ranked.source}; decimals: {decimals}"))
    for note in ranked.notes:
        say(shown(f"note: {note}"))

"""`evenhand rank verify TABLE --rule RULE --score COLUMN`: does a stated rule hold on every row."""

import sys
from typing import Annotated

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
    NamedScore,
    PageTable,
    RowsWhere,
    StatedRule,
    TableFile,
    rank_input,
    say_what_was_read,
)
from evenhand.errors import InvalidInput

__all__ = ["rows_of", "rule_text", "verify"]

_EXITS = {"all": 0, "all_but": 1, "refuted": 1, "undetermined": 3}
_RULE_CHARACTERS = 100_000


def verify(
    path: TableFile,
    rule: StatedRule = None,
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
    against: Annotated[
        str | None, typer.Option(metavar="RULE", help="Could samples tell the two? Else: without gates and caps.")
    ] = None,
    top: Annotated[list[int] | None, typer.Option(min=1, metavar="K", help="A sample: the best K; repeatable.")] = None,
    sample: Annotated[str | None, typer.Option(metavar="ROWS", help="A sample: these rows, such as 1,2,7-9.")] = None,
    random: Annotated[
        list[int] | None, typer.Option(min=1, metavar="K", help="A sample: K random rows; repeatable.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Every row that breaks the rule, not only the first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Hold a stated rule against every row, by the digits that were printed; docs/composites.md has the language.

    Exits 0 if the rule reproduces every row, 1 if not, 3 if the columns do not determine the score.
    """
    from evenhand.cli.rank.verify_output import print_verification
    from evenhand.composite.rule.parse import parse_rule
    from evenhand.composite.verify import verify as verification

    given = rank_input(
        path, score=score, needs_score=True, name=name, columns=columns, where=where, alias=alias, exact=exact,
        lower=lower, missing=missing, decimal_comma=decimal_comma, table=table,
    )  # fmt: skip
    names, aliases, column = tuple(given.table.columns), given.ranked.aliases, given.ranked.find(str(score))
    found = verification(
        parse_rule(rule_text(rule), columns=names, aliases=aliases), given.table, column,
        missing=given.missing,
        against=None if against is None else parse_rule(rule_text(against), columns=names, aliases=aliases),
        top=top or (10,), sample=rows_of(sample), random=random or (4, 8, 16),
    )  # fmt: skip
    if as_json:
        sys.stdout.write(json_text({**found.document(), "table": given.ranked.document()}))
    else:
        say_what_was_read(given.ranked)
        print_verification(found, show_all=show_all)
    raise typer.Exit(_EXITS[found.verdict])


def rule_text(option: str | None) -> str:
    """The rule that an option states: itself, or what the file behind `@` holds.

    Raises:
        InvalidInput: there is none, no such file, one that is no text, or one larger than any rule.
    """
    if option is None:
        raise InvalidInput(
            "--rule is missing: state how the score comes from the columns, such as --rule 'mean(a, b)'; where nobody "
            "states it, `evenhand rank recover TABLE --score COLUMN` searches for it"
        )
    if not option.startswith("@"):
        return option
    from evenhand.store.text_files import read_text_file

    if option == "@":
        raise InvalidInput("--rule @: no file is named; expected @FILE, or the rule itself")
    with read_text_file(option[1:], has_option=False).open() as characters:
        text = characters.read(_RULE_CHARACTERS + 1)
    if len(text) > _RULE_CHARACTERS:
        raise InvalidInput(f"{shown(option[1:], 200)}: more than {_RULE_CHARACTERS:,} characters; expected a rule")
    return text


def rows_of(text: str | None) -> tuple[int, ...]:
    """Numbers of rows, such as `1,2,7-9`.

    Raises:
        InvalidInput: anything else.

    >>> rows_of("1,2,7-9")
    (1, 2, 7, 8, 9)
    """
    found: list[int] = []
    for part in (text or "").split(",") if text is not None else ():
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.strip().isdecimal()) or len(part) > 20:
            raise InvalidInput(f"--sample {shown(str(text), 60)}: expected numbers of rows, such as 1,2,7-9")
        ends = int(first), int(last) if dash else int(first)
        if not 0 < ends[0] <= ends[1] or ends[1] - ends[0] > 1_000_000:
            raise InvalidInput(
                f"--sample {shown(str(text), 60)}: {shown(part.strip(), 30)} is no range of rows from 1 on"
            )
        found += range(ends[0], ends[1] + 1)
    return tuple(dict.fromkeys(found))

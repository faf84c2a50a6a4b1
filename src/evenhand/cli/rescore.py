"""`evenhand rescore RESULTS`: new scores under changed formula settings, or proof that the old ones recompute."""

import contextlib
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import DEFAULT_STORE, AsJson
from evenhand.cli.output import json_text, say, shown
from evenhand.errors import InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.terms import Record

__all__ = ["rescore"]

_NAMED = 10


def rescore(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Records, as `evenhand judge -o` wrote them.")],
    variant: Annotated[str | None, typer.Option(help="Formula variant, for evidence.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of a formula setting; repeatable.")
    ] = None,
    judge: Annotated[Path | None, typer.Option(help="Judge file with the same questions, other weights.")] = None,
    store: Annotated[Path, typer.Option(help="The store they were judged with.")] = DEFAULT_STORE,
    check: Annotated[bool, typer.Option("--check", help="Recompute and compare; exit 1 if a record differs.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the new records.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute scores from stored replies; no call is made."""
    from evenhand.analysis.summary import Summary
    from evenhand.evaluate.rescoring import Rescorer, differences
    from evenhand.store.database.sql import open_store
    from evenhand.store.judge_files import read_judge
    from evenhand.store.packaged import templates
    from evenhand.store.records import RecordWriter, read_records, record_document

    scoring = _scoring(variant, set_)
    if check and (scoring or judge):
        raise InvalidInput("--check recomputes under the same settings; leave --variant, --set and --judge out")
    if not store.exists():
        raise InvalidInput(f"--store {shown(str(store))}: no such store; name the one these records were judged with")
    spec = None if judge is None else read_judge(judge)
    before, after = Summary(), Summary()
    moved: Counter[str] = Counter()
    differing: list[str] = []
    records: list[Record] = []
    with contextlib.ExitStack() as stack:
        rescorer = Rescorer(
            store=stack.enter_context(open_store(store)), templates=templates(), scoring=scoring, judge=spec
        )
        writer = None if output is None else stack.enter_context(RecordWriter(output))
        for change in rescorer.rescore(read_records(results)):
            before.add(change.before)
            after.add(change.after)
            moved[_direction(change.before, change.after)] += 1
            if check and (names := differences(change.before, change.after)):
                differing.append(f"{shown(change.before.item)} ({', '.join(names)})")
            if writer is not None:
                writer.write(change.after)
            elif as_json:
                records.append(change.after)
    document: dict[str, Any] = {
        "schema": "evenhand.rescore/1",
        **(
            {"records": [record_document(record) for record in records]}
            if output is None
            else {"records_path": str(output)}
        ),
        "summary": after.document(),
        "before": before.document(),
        "moved": dict(sorted(moved.items())),
        "scoring": scoring,
        "check": ("fail" if differing else "pass") if check else None,
        "differing": differing,
    }
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        _print(document, output)
    if differing:
        say(
            f"error: {count(len(differing))} of {plural(after.all.n, 'record')} "
            f"{'does' if len(differing) == 1 else 'do'} not recompute: "
            f"{'; '.join(differing[:_NAMED])}"
        )
        raise typer.Exit(1)


def _scoring(variant: str | None, pairs: list[str] | None) -> dict[str, Any]:
    """Formula settings from the command line, with numbers as numbers."""
    scoring: dict[str, Any] = {} if variant is None else {"variant": variant}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise InvalidInput(f"--set {shown(pair)}: expected NAME=VALUE, such as scale=6")
        try:
            scoring[name] = int(value) if value.lstrip("+-").isdigit() else float(value)
        except ValueError:
            raise InvalidInput(f"--set {shown(name)}: {shown(value)} is no number") from None
    return scoring


def _direction(before: "Record", after: "Record") -> str:
    if before.status != after.status:
        return f"{before.status} to {after.status}"
    if before.score == after.score or before.score is None or after.score is None:
        return "same"
    return "up" if after.score > before.score else "down"


def _print(document: dict[str, Any], output: Path | None) -> None:
    from evenhand.cli.judge_output import summary_lines
    from evenhand.cli.output import console

    out = console()
    for line in summary_lines(document["summary"]):
        out.print(line, overflow="fold")
    moved = ", ".join(f"{name} {count}" for name, count in document["moved"].items())
    out.print(f"moved    {moved or 'nothing'}; no call was made")
    if document["check"] is not None:
        out.print(
            f"check    {document['check']}: {plural(document['summary']['n'], 'record')} recomputed from stored replies"
        )
    if output is not None:
        out.print(f"records  {shown(str(output))}", overflow="fold")

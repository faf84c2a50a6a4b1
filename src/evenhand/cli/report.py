"""`evenhand report RECORDS`: one self-contained page, Markdown or JUnit; no model is called."""

import contextlib
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import DEFAULT_STORE, AsJson
from evenhand.cli.output import console, json_text, say, shown, write_text
from evenhand.errors import InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.report.junit import Gate
    from evenhand.report.model import Report
    from evenhand.terms import Record

__all__ = ["report"]

_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".xml": "junit"}


def report(
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDS...", help="Records, as `evenhand judge -o` wrote them; drafts oldest first."),
    ],
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="report.html, report.md or report.xml (JUnit); repeatable."),
    ] = None,
    store: Annotated[Path | None, typer.Option(help="The store they were judged with.")] = None,
    items: Annotated[Path | None, typer.Option(help="The items file, where the store is not at hand.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    items_shown: Annotated[int, typer.Option(min=0, help="Items in full; all are in the figures.")] = 50,
    hide_scores: Annotated[
        bool, typer.Option("--hide-scores", help="Leave scores, weights, impacts and levels out.")
    ] = False,
    pass_at: Annotated[
        float | None, typer.Option(help="A lower score is a failed test, and the command exits 1.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn records into one self-contained page, Markdown or JUnit."""
    from evenhand.report.junit import Gate, deciding, report_junit
    from evenhand.report.reading import read_report, source_name
    from evenhand.report.texts import Library
    from evenhand.store.database.sql import open_store
    from evenhand.store.items import read_items
    from evenhand.store.records import read_records

    forms = {path: _form(path, records, items) for path in output or ()}
    if pass_at is not None and pass_at != pass_at:
        raise InvalidInput("--pass-at nan: expected a score")
    _refuse_twice(records)
    if items is not None and items.is_dir():
        say(
            f"note: --items {shown(str(items))}: a folder is read a file an item, or a repository where it holds .git; "
            "the text of a repository judged otherwise (--repositories, --source) comes from its store alone (--store)"
        )
    found: Iterable[Record] = itertools.chain.from_iterable(map(read_records, records))
    gate = Gate(pass_at=pass_at)
    decisive: tuple[Record, ...] = ()
    if pass_at is not None or "junit" in forms.values():
        found = tuple(found)  # who decides is known at the end only; a page alone is made from a stream
        decisive = deciding(found)
    for record in decisive:
        gate.add(record)
    with contextlib.ExitStack() as stack:
        opened = None
        if (where := _store(store)) is not None:
            opened = stack.enter_context(open_store(where, create=False))
        made = read_report(
            found,
            Library(opened, None if items is None else read_items(items, skip_empty=True)),
            source=source_name(*records),
            title=title,
            items_shown=items_shown,
            hide_scores=hide_scores,
        )
    for path, form in forms.items():
        if form == "junit":
            text = report_junit(decisive, title=made.title, pass_at=pass_at, hide_scores=hide_scores)
        else:
            text = _page(made, form)
        write_text(path, text)
    if as_json:
        sys.stdout.write(json_text(_document(made, forms, gate)))
    else:
        _print(made, forms)
    _end(gate)


def _refuse_twice(records: Sequence[Path]) -> None:
    """A file that is named twice would count every record twice."""
    for place, path in enumerate(records):
        for other in records[:place]:
            if path == other or (path.exists() and other.exists() and path.samefile(other)):
                raise InvalidInput(f"{shown(str(path))}: this file is named twice, and would count twice; name it once")


def _form(path: Path, records: Sequence[Path], items: Path | None) -> str:
    """The form that a file's ending names; never over what is read."""
    form = _FORMS.get(path.suffix.casefold())
    if form is None:
        raise InvalidInput(
            f"-o {shown(str(path))}: the form is chosen by the ending; name the file .html, .md or .xml (JUnit)"
        )
    for source in (*records, items):
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise InvalidInput(f"-o {shown(str(path))}: this is the file that is read; name another one")
    return form


def _store(store: Path | None) -> Path | None:
    """The named store, or the usual one where it is there."""
    if store is not None:
        return store
    return DEFAULT_STORE if DEFAULT_STORE.exists() else None


def _page(made: "Report", form: str) -> str:
    if form == "markdown":
        from evenhand.report.markdown import report_markdown

        return report_markdown(made)
    from evenhand.report.pages import report_page

    return report_page(made)


def _document(made: "Report", forms: Mapping[Path, str], gate: "Gate") -> dict[str, Any]:
    """What `--json` prints: the page's content as plain JSON."""
    import dataclasses

    return {
        "schema": "evenhand.report/1",
        "written": [{"path": str(path), "form": form} for path, form in forms.items()],
        "gate": None
        if gate.pass_at is None
        else {"pass_at": gate.pass_at, "n": gate.n, "below": gate.below, "failed": gate.failed},
        **dataclasses.asdict(made),
    }


def _print(made: "Report", forms: Mapping[Path, str]) -> None:
    """What the page says first, for people."""
    out = console()
    out.print(shown(made.title, 200), style="bold", overflow="fold")
    for caveat in made.caveats:
        out.print(f"{'warning ' if caveat.serious else 'note    '} {shown(caveat.text)}", overflow="fold")
    for group in made.groups:
        out.print(
            f"verdicts {group.verdict}   abstained {group.abstained}   failed {group.failed}   of {group.n}"
            f"   {shown(group.who, 60)}",
            overflow="fold",
        )
    for note in made.notes:
        out.print(note, overflow="fold")
    for path in forms:
        out.print(f"written  {shown(str(path))}", overflow="fold")
    if not forms:
        say("nothing was written: name a file with -o report.html, report.md or report.xml")


def _end(gate: "Gate") -> None:
    """A gate that was asked for decides: below the mark 1; not measured 3."""
    if gate.pass_at is None:
        return
    if gate.below:
        say(
            f"error: {count(gate.below)} of {plural(gate.n, 'score')} {'is' if gate.below == 1 else 'are'} "
            f"below --pass-at {gate.pass_at:g}"
        )
        raise typer.Exit(1)
    if gate.failed:
        say(
            f"error: {count(gate.failed)} of {plural(gate.n, 'record')} failed, so that --pass-at could not "
            f"be checked for them"
        )
        raise typer.Exit(3)

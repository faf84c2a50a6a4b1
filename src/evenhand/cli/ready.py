"""Ready-made judges: `evenhand init NAME`, and a packaged judge where a judge file is asked for."""

import difflib
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.output import json_text, say, shown, write_text
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.terms import JudgeSpec

__all__ = ["init", "list_judges", "packaged_name", "ready_judge"]


def init(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A ready-made judge; without it they are listed.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; NAME.yaml unless said, - for stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Copy a ready-made judge file, to be made one's own."""
    if name is None:
        list_judges()
        return
    from evenhand.store.packaged import example_judge

    text = example_judge(packaged_name(name))
    if str(output) == "-":
        sys.stdout.write(text)
        return
    path = output or Path(f"{packaged_name(name)}.yaml")
    if path.exists() and not path.is_char_device() and not force:
        raise InvalidInput(f"{shown(str(path))}: is there already; name another file with -o, or use --force")
    write_text(path, text)
    say(f"wrote {shown(str(path))}; judge with:\n  evenhand judge {shown(str(path))} ITEMS -m PROVIDER/MODEL")


def list_judges(*, as_json: bool = False) -> None:
    """The ready-made judges: name, protocol, and what each is for."""
    from evenhand.store.packaged import example_judges

    rows = [(name, *_described(text)) for name, text in example_judges().items()]
    if as_json:
        judges = [{"name": name, "protocol": protocol, "about": about} for name, protocol, about in rows]
        sys.stdout.write(json_text({"schema": "evenhand.judges/1", "judges": judges}))
        return
    wide = max(len(name) for name, _, _ in rows)
    for name, protocol, about in rows:
        head = f"{name:<{wide}}  {protocol:<16}  "
        print(textwrap.fill(about, 79, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False))


def packaged_name(name: str) -> str:
    """The name of a ready-made judge, with or without `.yaml`.

    Raises:
        InvalidInput: there is none of this name.
    """
    from evenhand.store.packaged import example_judges

    names = list(example_judges())
    bare = name.removesuffix(".yaml")
    if bare in names:
        return bare
    near = difflib.get_close_matches(bare.casefold(), names, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}? There are" if near else "there are"
    raise InvalidInput(f"no ready-made judge is called {shown(name, 60)}; {meant} {', '.join(names)}")


def ready_judge(path: Path) -> "JudgeSpec":
    """The judge of a file, or the ready-made one of that name where no such file is there; stderr says so.

    Raises:
        InvalidInput: neither is there, or the file is no judge.
    """
    from evenhand.store.judge_files import read_judge
    from evenhand.store.packaged import example_judge_file

    name = str(path)
    if (path.exists() and not path.is_dir()) or name == "-" or path.suffix or len(path.parts) != 1:
        return read_judge(path)
    try:
        known = packaged_name(name)
    except InvalidInput as error:
        raise InvalidInput(f"{shown(name, 60)}: no such judge file, and {error}") from error
    say(f"note: no file {shown(name)} is here, so the ready-made judge is used; `evenhand init {known}` copies it")
    with example_judge_file(known) as file:
        return read_judge(file)


def _described(text: str) -> tuple[str, str]:
    """Protocol and first sentence of a judge file's text."""
    lines = text.split("\n")
    protocol = next(line.partition(":")[2].strip() for line in lines if line.startswith("protocol:"))
    comment = " ".join(line.removeprefix("#").strip() for line in lines[:3] if line.startswith("#"))
    return protocol, comment.partition(". ")[0].rstrip(".") if "? " not in comment else _until(comment)


def _until(comment: str) -> str:
    """The first sentence, where it is a question."""
    question, mark, rest = comment.partition("? ")
    return question + "?" if mark and ". " not in question else (question + mark + rest).partition(". ")[0]

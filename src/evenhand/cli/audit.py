"""`evenhand audit CONFIG.yaml`: can the evaluator itself be relied on; `audit reach` is its C4 alone."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, say, shown, write_text
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from typer._click.core import Command, Context

    from evenhand.audit.running import Settings

__all__ = ["AuditGroup", "app", "audit"]

_CONFIG = "config"


class AuditGroup(TyperGroup):
    """`evenhand audit FILE` runs an audit; a word that is a command of its own is that command."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Put the command of an audit before what is no command's name."""
        named = bool(args) and args[0] in self.commands and args[0] != _CONFIG
        return super().parse_args(ctx, args if named else [_CONFIG, *(args or ["--help"])])

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        """The audit's own command goes by the group's name, so that its help shows what is typed."""
        name, command, left = super().resolve_command(ctx, args)
        return "" if name == _CONFIG else name, command, left


app = typer.Typer(cls=AuditGroup, help="Can the evaluator itself be relied on.", rich_markup_mode=None)


@app.command(_CONFIG, hidden=True)
def audit(
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG.yaml", help="What is audited; docs/audit.md has its keys.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Audit every configuration (.yaml) of a folder instead.")
    ] = None,
    require: Annotated[str, typer.Option(metavar="C1,C2", help="Criteria that decide the exit code.")] = "C1,C2,C3,C4",
    control_items: Annotated[int, typer.Option(min=1, help="Items that controls are made of.")] = 25,
    timeout_s: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one control.")] = 30.0,
    probe_s: Annotated[float, typer.Option("--probe-timeout", min=1.0, help="Seconds for the probe inside.")] = 120.0,
    tasks: Annotated[str, typer.Option(metavar="worst|most", help="Which task speaks for C4.")] = "worst",
    generate: Annotated[bool, typer.Option(help="Make mutants and a lookup table for C4.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
    allow_unsandboxed: Annotated[
        bool, typer.Option("--allow-unsandboxed", help="Run candidates though no sandbox works; it protects nothing.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="page.html or audit.json.")] = None,
    as_json: AsJson = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of --json (of --study, beside it), and end.")
    ] = False,
) -> None:
    """Score one evaluator against the Evaluator Integrity Criteria, with the evidence for each verdict.

    Exits 1 if a required verdict is fail, else 3 if evidence is insufficient. Channels of kind command and python are
    your own code and run as you. `evenhand audit reach TASKS CANDIDATES` measures C4 alone.
    """
    from evenhand.integrity.verdicts import exit_code

    if schema:
        from evenhand.audit.schema import schema_text, study_schema_text

        sys.stdout.write(schema_text() if study is None else study_schema_text())
        return
    required = _required(require)
    settings = _settings(tasks, control_items, timeout_s, probe_s, generate, seed, allow_unsandboxed)
    if (config is None) == (study is None):
        raise InvalidInput("audit: name either a configuration, CONFIG.yaml, or a folder of them with --study")
    form = None if output is None else _form(output, config)
    if study is not None:
        _study(study, settings, required, output, form, as_json=as_json)
        return
    assert config is not None
    from evenhand.audit.config import read_config
    from evenhand.audit.running import run_audit
    from evenhand.cli.audit_output import print_audit

    found = run_audit(read_config(config), settings, note=say)
    document = found.document()
    if output is not None:
        write_text(output, json_text(document) if form == "json" else _page([document]))
        say(f"written  {shown(str(output))}")
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_audit(document)
    raise typer.Exit(exit_code(found.words, required))


def _required(text: str) -> list[str]:
    """The criteria of `--require`."""
    from evenhand.integrity.verdicts import exit_code

    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    if not names:
        raise InvalidInput("--require: names no criterion; use C1, C2, C3 or C4, separated by commas")
    exit_code({}, names)
    return names


def _settings(
    tasks: str, control_items: int, timeout_s: float, probe_s: float, generate: bool, seed: int, allow_unsandboxed: bool
) -> "Settings":
    from evenhand.audit.running import Settings

    if tasks not in ("worst", "most"):
        raise InvalidInput(f"--tasks {shown(tasks, 40)}: expected worst or most")
    return Settings(
        control_items=control_items, timeout_s=timeout_s, probe_s=probe_s, generate=generate, seed=seed,
        taken="worst" if tasks == "worst" else "most", allow_unsandboxed=allow_unsandboxed,
    )  # fmt: skip


def _form(output: Path, config: Path | None) -> str:
    """The form that the ending asks for, checked before anything is run."""
    form = {".html": "html", ".htm": "html", ".json": "json"}.get(output.suffix.casefold())
    if form is None:
        raise InvalidInput(f"-o {shown(str(output))}: the form is chosen by the ending; name the file .html or .json")
    if not output.parent.is_dir():
        raise InvalidInput(f"-o {shown(str(output))}: there is no folder {shown(str(output.parent))}; make it first")
    if config is not None and output.exists() and config.exists() and output.samefile(config):
        raise InvalidInput(f"-o {shown(str(output))}: this is the file that is read; name another one")
    return form


def _page(documents: list[dict[str, object]], broken: list[dict[str, object]] | None = None) -> str:
    from evenhand.report.audit_page import audit_page

    return audit_page(documents, broken or ())


def _study(
    folder: Path, settings: "Settings", required: list[str], output: Path | None, form: str | None, *, as_json: bool
) -> None:
    """Audit every configuration of a folder, and count verdicts by population."""
    from evenhand.audit.study import run_study
    from evenhand.cli.audit_output import print_study

    found = run_study(folder, settings, note=say)
    document = found.document()
    if output is not None:
        write_text(output, json_text(document) if form == "json" else _page(document["audits"], document["broken"]))
        say(f"written  {shown(str(output))}")
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_study(document)
    raise typer.Exit(found.exit_code(required))

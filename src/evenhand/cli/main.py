"""The command line: one file a command, and in one place how errors become sentences and exit codes.

Exit codes: 0 done; 1 a gate, check or audit verdict failed; 2 the input or the call is wrong; 3 something could not be
measured; 130 interrupted. Command modules import what is heavy inside their functions, so that `--help` stays fast.
"""

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import typer

from evenhand.cli import (
    audit,
    audit_reach,
    compare,
    diagnose,
    harden,
    judge,
    models,
    probe,
    ready,
    report,
    rescore,
    score,
    study,
    trace,
    validate,
)
from evenhand.cli.output import say
from evenhand.cli.rank import commands as rank_commands
from evenhand.errors import BudgetSpent, EvenhandError, ProviderError
from evenhand.store.text_files import quoted

__all__ = ["app", "run"]

_INTERRUPTED = 130

app = typer.Typer(
    name="evenhand",
    help="Automated judging you can check: models find evidence, arithmetic picks the number.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("score")(score.score)
app.command("judge")(judge.judge)
app.command("init")(ready.init)
app.command("rescore")(rescore.rescore)
app.command("harden")(harden.harden)
app.command("diagnose")(diagnose.diagnose)
app.command("probe")(probe.probe)
app.command("validate")(validate.validate)
app.command("compare")(compare.compare)
app.command("study")(study.study)
app.command("trace")(trace.trace)
app.command("report")(report.report)
audit.app.command("reach")(audit_reach.reach)
app.add_typer(audit.app, name="audit")
app.add_typer(models.app, name="models")
app.add_typer(rank_commands.app, name="rank")


@app.callback(invoke_without_command=True)
def _root(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Automated judging you can check: models find evidence, arithmetic picks the number."""
    if version:
        from importlib.metadata import version as installed

        print(f"evenhand {installed('evenhand')}")
        raise typer.Exit


@cache
def _command() -> Callable[[], Any]:
    """All commands, built once however often one process runs them: typer builds each of them anew at every call."""
    return typer.main.get_command(app)


def run() -> None:
    """Console entry: run the command, turn evenhand's own errors into one sentence and an exit code."""
    _open_closed_streams()
    stdout = sys.stdout
    try:
        try:
            _command()()
        finally:
            if sys.stdout is not stdout:  # typer puts another one there where nobody reads on, and exits 1
                raise BrokenPipeError
            stdout.flush()  # now, while it can still be told that it failed
    except (ProviderError, BudgetSpent) as error:
        say(f"error: {error}")
        sys.exit(3)
    except EvenhandError as error:
        say(f"error: {error}")
        sys.exit(2)
    except SystemExit as ended:
        if ended.code == _INTERRUPTED:  # typer makes this of a KeyboardInterrupt, and says nothing
            say("interrupted: what was answered is kept; run the same command again to go on")
        raise
    except KeyboardInterrupt:
        say("interrupted")  # before or after the command itself
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(141)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP) and error.filename is not None:
            say(f"error: {quoted(str(error.filename))}: is no path that can be ({error.strerror}); check it")
            sys.exit(2)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG):
            raise
        _abandon_stdout()
        say(f"error: standard output cannot be written ({error.strerror}); free some space and run again")
        sys.exit(2)


def _open_closed_streams() -> None:
    """A stream closed by the caller (`2>&-`) goes nowhere: else notes would be printed on the other one."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # open to the end


def _abandon_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not complain about it at its end."""
    sys.stdout = None
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

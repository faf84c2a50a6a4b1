"""The command line: one file a command, and in one place how errors become sentences and exit codes.

Exit codes: 0 done; 1 a gate, check or audit verdict failed; 2 the input or the call is wrong; 3 something could not be
measured; 130 interrupted. Command modules import what is heavy inside their functions, so that `--help` stays fast.
"""

import os
import sys

import typer

from evenhand.cli import judge, models, rescore, score
from evenhand.cli.output import say
from evenhand.errors import BudgetSpent, EvenhandError, ProviderError

__all__ = ["app", "run"]

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
app.command("rescore")(rescore.rescore)
app.add_typer(models.app, name="models")


@app.callback(invoke_without_command=True)
def _root(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version.")) -> None:
    """Automated judging you can check: models find evidence, arithmetic picks the number."""
    if version:
        from importlib.metadata import version as installed

        print(f"evenhand {installed('evenhand')}")
        raise typer.Exit


def run() -> None:
    """Console entry: run the command, turn evenhand's own errors into one sentence and an exit code."""
    try:
        app()
    except (ProviderError, BudgetSpent) as error:
        say(f"error: {error}")
        sys.exit(3)
    except EvenhandError as error:
        say(f"error: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("interrupted: what was answered is kept; run the same command again to go on")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)

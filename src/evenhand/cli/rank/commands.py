"""`evenhand rank`: a composite score is an argument; verify it, recover it, re-rank it, show it."""

import typer

from evenhand.cli.rank import page, recover, reweight, verify

__all__ = ["app"]

app = typer.Typer(
    help="Composite scores: does the stated rule hold, what is the rule, how much of first place is the weights.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("verify", short_help="Does a stated rule hold on every row?")(verify.verify)
app.command("recover", short_help="What is the rule, and how far can the table tell?")(recover.recover)
app.command("reweight", short_help="How much of first place is the weights?")(reweight.reweight)
app.command("page", short_help="The table as a page of sliders, one file.")(page.page)

"""`evenhand diagnose SCORES`: what a log of scores says about its judges; no model is called."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, shown
from evenhand.cli.trust_output import Output, Plot, outputs
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.analysis.diagnosis import Diagnosis
    from evenhand.report.trust_pages import TrustContent

__all__ = ["diagnose", "scale_of"]


def diagnose(
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="CSV, JSONL, JSON or Parquet, or records; - for standard input.")
    ],
    score: Annotated[list[str] | None, typer.Option(help="Column of the scores; repeatable: criteria.")] = None,
    item: Annotated[list[str] | None, typer.Option(help="Column of the item; repeatable: together.")] = None,
    judge: Annotated[str | None, typer.Option(help="Column of who scored.")] = None,
    rerun: Annotated[str | None, typer.Option(help="Column of the rerun.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time; else the order of rows.")] = None,
    criterion: Annotated[str | None, typer.Option(help="Column of the criterion, in a long table.")] = None,
    human: Annotated[str | None, typer.Option(help="Column of the human grade of the same item.")] = None,
    status: Annotated[str | None, typer.Option(help="Column that says which rows failed.")] = None,
    scale: Annotated[str | None, typer.Option(metavar="LO:HI", help="The scale of the scores.")] = None,
    human_scale: Annotated[str | None, typer.Option(metavar="LO:HI", help="The humans' scale, if another.")] = None,
    period: Annotated[
        str, typer.Option(help="hour, day, week, month, year, none, or a number of equal parts.")
    ] = "auto",
    keep_zeros: Annotated[bool, typer.Option("--keep-zeros", help="Count rows whose scores are all zero.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Every judge and period, not only the first.")] = False,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Look for collapse, drift and hidden failures in a log of scores. No model is called.

    Columns are found by their usual names; an option names another one, and an empty name ("") none.
    """
    from evenhand.analysis.diagnosis import DiagnosisSettings, diagnosis
    from evenhand.cli.diagnose_output import print_diagnosis
    from evenhand.store.scores.columns import ScoreColumns
    from evenhand.store.scores.tables import read_scores

    written = outputs("diagnose", output, plot, read=[scores])
    settings = DiagnosisSettings(
        scale=scale_of(scale, "--scale"),
        human_scale=scale_of(human_scale, "--human-scale"),
        period=period,
        keep_zeros=keep_zeros,
    )
    columns = ScoreColumns(
        score=tuple(score or ()), item=tuple(item or ()), judge=judge, rerun=rerun, time=time,
        criterion=criterion, human=human, status=status,
    )  # fmt: skip
    found = diagnosis(read_scores(scores, columns), settings)
    written.write(found.document(), lambda draw: _page(found, draw=draw))
    if as_json:
        sys.stdout.write(json_text(found.document()))
    else:
        print_diagnosis(found, show_all=show_all)


def scale_of(text: str | None, option: str) -> tuple[float, float] | None:
    """The ends of a scale, as `LO:HI`.

    Raises:
        InvalidInput: anything else, and ends that are not in order.

    >>> scale_of("1:5", "--scale")
    (1.0, 5.0)
    """
    if text is None:
        return None
    low, _, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (1.0, 0.0)
    if not 1e-9 <= ends[1] - ends[0] <= 1e15:
        raise InvalidInput(f"{option} {shown(text, 60)}: expected the two ends of the scale, lower first, such as 1:10")
    return ends


def _page(found: "Diagnosis", *, draw: bool) -> "TrustContent":
    """The page; the kit that makes it is loaded only if one is asked for."""
    from evenhand.report.diagnosis_page import diagnosis_content

    return diagnosis_content(found, draw=draw)

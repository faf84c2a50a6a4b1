"""`evenhand compare A B ... --grades G`: which judge is better, and what these data could have shown."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text
from evenhand.cli.rated_inputs import (
    Cluster,
    Columns,
    CriterionName,
    ItemColumns,
    JudgeColumn,
    Raters,
    RerunColumn,
    Resamples,
    ScaleText,
    ScoreColumnNames,
    ScoreScale,
    Seed,
    Strict,
    pass_mark,
    read_grades_file,
    read_judges,
    refuse_strictly,
)
from evenhand.cli.trust_output import Output, Plot, outputs

if TYPE_CHECKING:
    from evenhand.analysis.judge_ratings import JudgeRatings
    from evenhand.store.grades import Grades

__all__ = ["compare"]


def compare(
    records: Annotated[
        list[Path], typer.Argument(metavar="A B ...", help="Records or tables; two judges or more in all.")
    ],
    grades: Annotated[
        Path | None, typer.Option("--grades", "-g", metavar="G", help="Hand grades; without them means are compared.")
    ] = None,
    scale: ScaleText = None,
    score_scale: ScoreScale = None,
    item: ItemColumns = None,
    score: ScoreColumnNames = None,
    judge: JudgeColumn = None,
    rerun: RerunColumn = None,
    criterion: CriterionName = None,
    rater: Raters = None,
    cluster: Cluster = None,
    pass_at: Annotated[float | None, typer.Option(help="Grade from which an item passes.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what a wanted difference would need.")] = False,
    wanted: Annotated[float, typer.Option(help="With --plan: the difference that should be found.")] = 0.1,
    moved: Annotated[int, typer.Option(min=0, help="How many of the items that moved to show.")] = 10,
    resamples: Resamples = 1999,
    seed: Seed = 7,
    strict: Strict = False,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Compare judges on the same items, paired: differences that hold together, flips, what moved, what it costs."""
    from evenhand.analysis.comparison import compare as compared
    from evenhand.analysis.comparison_document import comparison_document
    from evenhand.analysis.plans import plan as planned
    from evenhand.cli.compare_output import print_comparison
    from evenhand.report.comparison_page import comparison_content
    from evenhand.store.number_cells import scale_of

    written = outputs("compare", output, plot, read=[*records, *([] if grades is None else [grades])])
    columns = Columns(
        item=item or (), score=score or (), judge=judge, rerun=rerun, cluster=cluster, criterion=criterion
    )
    stated = None if scale is None else scale_of(scale, "--scale")
    own = stated if score_scale is None else scale_of(score_scale, "--score-scale")
    pass_mark(pass_at, own if grades is None else stated)
    judges = read_judges(records, columns, scale=own)
    given = None
    if grades is not None:
        given = read_grades_file(grades, scale=stated, columns=columns, raters=rater or (), scores=records)
    if strict:
        _refuse(judges, given)
    found = compared(
        judges, given, scale=own, pass_at=pass_at, cluster=cluster, n_resamples=resamples, seed=seed, most_moved=moved
    )
    plans = planned(found, judges, given, wanted=wanted) if plan else ()
    document: dict[str, Any] = {"schema": "evenhand.comparison/1", **comparison_document(found)}
    if plan:
        document["plan"] = [one.document() for one in plans]
    against = None if given is None else f"{given.name} ({given.reading})"
    written.write(
        document, lambda draw: comparison_content(found, grades=against, plans=document.get("plan", ()), draw=draw)
    )
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_comparison(found, plans, against)


def _refuse(judges: "list[JudgeRatings]", grades: "Grades | None") -> None:
    """`--strict`: every item has a score by every judge, and a grade where there are any."""
    every = dict.fromkeys(item for one in judges for item in one.scores)
    graded = None if grades is None else [item for item in grades.items if grades.values.get(item)]
    for one in judges:
        scored = {item for item, scores in one.scores.items() if scores}
        lost = [item for item in (every if graded is None else graded) if item not in scored]
        ungraded = [] if graded is None else [item for item in every if item not in set(graded)]
        refuse_strictly(one.name, lost, ungraded)

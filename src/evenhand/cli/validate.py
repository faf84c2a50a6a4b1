"""`evenhand validate RECORDS --grades G`: can this judge be trusted? No model is called.

Without RECORDS it says how well the raters agree, which is the most that a judge could be held to.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, shown, warn
from evenhand.cli.rated_inputs import (
    Cluster,
    Columns,
    CriterionName,
    GradesPath,
    ItemColumns,
    ItemsPath,
    JudgeColumn,
    Raters,
    RerunColumn,
    Resamples,
    ScaleText,
    ScoreColumnNames,
    ScoreScale,
    Seed,
    StoreOption,
    Strict,
    Texts,
    pass_mark,
    read_grades_file,
    read_judges,
    refuse_strictly,
    unlabelled_scores,
)
from evenhand.cli.trust_output import Output, Outputs, Plot, outputs
from evenhand.errors import InvalidInput
from evenhand.wording import none_of

if TYPE_CHECKING:
    from evenhand.analysis.judge_ratings import JudgeRatings
    from evenhand.analysis.validation import Validation
    from evenhand.report.trust_pages import TrustContent
    from evenhand.store.grades import Grades

__all__ = ["validate"]


def validate(
    grades: GradesPath,
    records: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RECORDS]",
            help="Records of `evenhand judge -o`, or any table of scores. Without it: how well the raters agree.",
        ),
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
    length: Annotated[str | None, typer.Option(metavar="COL", help="Column of the text's length.")] = None,
    only: Annotated[str | None, typer.Option(metavar="JUDGE", help="Of several judges, this one.")] = None,
    unlabelled: Annotated[
        Path | None, typer.Option(help="A larger run of the judge without grades, for its corrected pass rate.")
    ] = None,
    pass_at: Annotated[float | None, typer.Option(help="Grade from which an item passes.")] = None,
    items: ItemsPath = None,
    store: StoreOption = None,
    misses: Annotated[int, typer.Option(min=0, help="How many of the worst misses to show.")] = 10,
    cost_ratio: Annotated[
        float, typer.Option(min=0.001, help="What one more graded item costs over one more run.")
    ] = 10.0,
    resamples: Resamples = 1999,
    seed: Seed = 7,
    strict: Strict = False,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Hold a judge's scores against hand grades: rank agreement, ceiling, noise, leniency, worst misses, cost."""
    from evenhand.analysis.graded import join
    from evenhand.analysis.validation import ValidationSettings
    from evenhand.analysis.validation import validate as validated
    from evenhand.cli.validate_output import print_judges, print_validation
    from evenhand.store.number_cells import scale_of

    written = outputs("validate", output, plot, read=[grades] if records is None else [records, grades])
    columns = Columns(
        item=item or (), score=score or (), judge=judge, rerun=rerun, cluster=cluster, length=length,
        criterion=criterion,
    )  # fmt: skip
    stated = None if scale is None else scale_of(scale, "--scale")
    if records is None:
        needing = {
            "--score": score, "--judge": judge, "--rerun": rerun, "--score-scale": score_scale, "--length": length,
            "--only": only, "--unlabelled": unlabelled, "--pass-at": pass_at, "--items": items, "--store": store,
            "--plot": plot, "--strict": strict or None,
        }  # fmt: skip
        _refuse_without_scores([name for name, value in needing.items() if value is not None])
        raters = read_grades_file(grades, scale=stated, columns=columns, raters=rater or ())
        _raters_alone(raters, written, cluster=cluster, n_resamples=resamples, seed=seed, as_json=as_json)
        return
    own = stated if score_scale is None else scale_of(score_scale, "--score-scale")
    pass_mark(pass_at, stated)
    judges = _chosen(read_judges([records], columns, scale=own), only)
    given = read_grades_file(grades, scale=stated, columns=columns, raters=rater or (), scores=[records])
    texts = Texts(items=items, store=store)
    specs = texts.judges(judges)
    found = []
    for one in judges:
        graded = join(one, given, lengths=texts.lengths, cluster=cluster)
        if strict:
            refuse_strictly(one.name, graded.not_judged, graded.not_graded)
        many = None
        if unlabelled is not None:
            many = unlabelled_scores(unlabelled, columns, one, graded=graded.items, scale=own)
        settings = ValidationSettings(
            n_resamples=resamples, seed=seed, pass_at=pass_at, unlabelled=many, cost_ratio=cost_ratio,
            most_misses=misses, specs=specs, criterion=criterion,
        )  # fmt: skip
        found.append(validated(graded, given, settings))
    document = _document(found, texts)
    written.write(document, lambda draw: _content(found, texts, draw=draw))
    if as_json:
        sys.stdout.write(json_text(document))
    elif len(found) == 1:
        print_validation(found[0], texts.of(_missed(found[0])))
    else:
        print_judges(found)


def _refuse_without_scores(options: Sequence[str]) -> None:
    """Options that say something of a judge, where none is given."""
    if options:
        raise InvalidInput(
            f"{options[0]}: without RECORDS there are no scores, only grades; name the records or the table of scores"
        )


def _raters_alone(
    grades: "Grades", written: Outputs, *, cluster: str | None, n_resamples: int, seed: int, as_json: bool
) -> None:
    """Grades without a judge: the ceiling, and how far raters agree."""
    from evenhand.analysis.raters import rater_agreement
    from evenhand.cli.raters_output import print_raters, raters_content

    found = rater_agreement(grades, cluster=cluster, n_resamples=n_resamples, seed=seed)
    document = found.document()
    written.write(document, lambda _: raters_content(found))
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_raters(found)


def _chosen(judges: "list[JudgeRatings]", only: str | None) -> "list[JudgeRatings]":
    """The judge asked for; all, unless there is one panel, which is the judge its members make."""
    if only is not None:
        named = [one for one in judges if one.name == only]
        if not named:
            names = ", ".join(repr(shown(one.name, 60)) for one in judges[:12])
            raise InvalidInput(f"--only {shown(only, 60)!r}: no such judge; there are {names}")
        return named
    without = [one for one in judges if not any(one.scores.values())]
    for one in without:
        warn(f"{shown(one.name, 80)}: {none_of(one.n, 'judgement', of='its')} reached a usable score; left out")
    return [one for one in judges if one not in without] or judges


def _document(found: "list[Validation]", texts: Texts) -> dict[str, Any]:
    """What `--json` prints: one judge's figures at the top; with several, each under `judges`."""
    from evenhand.analysis.validation_document import validation_document

    made = [validation_document(one, texts.of(_missed(one))) for one in found]
    grades = found[0].grades
    head: dict[str, Any] = {
        "schema": "evenhand.validation/1",
        "grades": {"name": grades.name, "reading": grades.reading, "raters": list(grades.raters)},
        "bootstrap": {
            "resamples": found[0].settings.n_resamples,
            "seed": found[0].settings.seed,
            "over": "items" if found[0].graded.clusters is None else "clusters",
        },
    }
    panels = [document for one, document in zip(found, made, strict=True) if one.graded.judge.is_panel]
    if len(made) == 1:
        return {**head, **made[0]}
    if len(panels) == 1:
        return {**head, **panels[0], "judges": made}
    return {**head, "judges": made}


def _missed(found: "Validation") -> list[tuple[str, str | None]]:
    """The items whose texts are shown."""
    return [(miss.item, miss.item_hash) for miss in (*found.misses, *found.brief_but_strong)]


def _content(found: "list[Validation]", texts: Texts, *, draw: bool) -> "TrustContent":
    """The page: of one judge whole, of several side by side."""
    from evenhand.report.validation_page import validation_content, validations_content

    if len(found) == 1:
        return validation_content(found[0], texts.of(_missed(found[0])), draw=draw)
    return validations_content(found, draw=draw)

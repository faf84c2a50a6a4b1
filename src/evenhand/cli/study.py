"""`evenhand study JUDGE... ITEMS --grades G`: judge variants on one graded set, side by side."""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.acceptance_output import accepting
from evenhand.cli.judge import overridden, refuse_what_candidates_bring
from evenhand.cli.options import (
    CONCURRENCY,
    DEADLINE_S,
    DEFAULT_STORE,
    TIMEOUT_S,
    AsJson,
    BaseUrl,
    BudgetTokens,
    BudgetUsd,
    Concurrency,
    Deadline,
    DryRun,
    RequestsPerMinute,
    RetryFailed,
    StorePath,
    Timeout,
    TokensPerMinute,
    settings_of,
)
from evenhand.cli.output import json_text, say, shown, warn
from evenhand.cli.rated_inputs import (
    Cluster,
    Columns,
    ItemColumns,
    Raters,
    Resamples,
    ScaleText,
    Seed,
    read_grades_file,
)
from evenhand.cli.ready import ready_judge
from evenhand.cli.study_output import (
    print_study,
    study_document,
    study_rows,
    with_acceptance,
    write_study,
    write_study_page,
)
from evenhand.cli.trust_output import Plot, outputs
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.wording import count, none_of, plural

if TYPE_CHECKING:
    from evenhand.analysis.acceptance import Acceptance
    from evenhand.analysis.comparison import Comparison
    from evenhand.analysis.validation import Validation
    from evenhand.evaluate.session import Judged, Session
    from evenhand.evaluate.study import Variant
    from evenhand.store.grades import Grades
    from evenhand.store.items import Items
    from evenhand.terms import JudgeSpec, Record

__all__ = ["study"]

_FILES = ("records.jsonl", "table.csv", "study.json", "report.html")


def study(
    paths: Annotated[
        list[Path], typer.Argument(metavar="JUDGE... ITEMS", help="Judge files (or ready-made names), then the items.")
    ],
    grades: Annotated[
        Path | None, typer.Option("--grades", "-g", metavar="G", help="Hand grades of the items.")
    ] = None,
    truth: Annotated[
        str | None, typer.Option(metavar="COL", help="Instead of grades: the items' column with the known answer.")
    ] = None,
    truth_by_match: Annotated[
        bool,
        typer.Option(
            "--truth-by-match",
            help="Instead of grades: right is what matches the item's reference, by the match of the `commit` variant.",
        ),
    ] = False,
    scale: ScaleText = None,
    item: ItemColumns = None,
    rater: Raters = None,
    cluster: Cluster = None,
    reruns: Annotated[int, typer.Option(min=1, help="Ask each item so many times afresh.")] = 5,
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="provider/model; replaces the files' models.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0.0, max=2.0, help="Replaces the files'.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge only the first so many items.")] = None,
    base_url: BaseUrl = None,
    store: StorePath = DEFAULT_STORE,
    max_concurrency: Concurrency = CONCURRENCY,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    timeout_s: Timeout = TIMEOUT_S,
    deadline_s: Deadline = DEADLINE_S,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    retry_failed: RetryFailed = False,
    max_failed: Annotated[int, typer.Option(min=0, help="Exit 3 if more judgements failed.")] = 0,
    resamples: Resamples = 1999,
    seed: Seed = 7,
    dry_run: DryRun = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Folder for records, table and study.")
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Run judge variants on one graded set: rho, mode share, rerun SD, ceiling and cost of each, side by side."""
    from evenhand.evaluate.session import Session
    from evenhand.evaluate.study import refuse_unequal_names
    from evenhand.store.items import read_items
    from evenhand.store.number_cells import scale_of

    *judge_files, items_path = paths
    if not judge_files:
        raise InvalidInput("study: expected judge files and then the items; there is one path only")
    if (grades is not None) + (truth is not None) + truth_by_match != 1:
        raise InvalidInput("study: name the truth by --grades G, or by --truth COL or --truth-by-match; one of them")
    stated = None if scale is None else scale_of(scale, "--scale")
    specs = [overridden(ready_judge(path), model, reruns, temperature) for path in judge_files]
    refuse_unequal_names(specs)
    refuse_what_candidates_bring(items_path, store)
    items = read_items(items_path, limit=limit)
    if truth_by_match:
        from evenhand.evaluate.study import truth_by_match as matched

        given = matched(items, specs, name=shown(items.name, 200))
    else:
        given = _truth(grades, truth, items, stated, Columns(item=item or (), cluster=cluster), rater or ())
    outputs("study", None, plot)
    _refuse_unheld(items, given, cluster)
    _refuse_folder(output, [*judge_files, items_path, *([] if grades is None else [grades])])
    sessions = [Session(spec, items, store=store, base_url=base_url, dry=dry_run, panel=False) for spec in specs]
    for note in dict.fromkeys((*items.notes, *(note for session in sessions for note in session.notes))):
        warn(shown(note))
    if dry_run:
        _estimate(sessions, as_json)
        return
    _make(output)
    settings = settings_of(
        max_concurrency=max_concurrency, requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute,
        timeout_s=timeout_s, deadline_s=deadline_s, budget_usd=budget_usd, budget_tokens=budget_tokens,
        retry_failed=retry_failed,
    )  # fmt: skip
    variants = _run(sessions, settings, output)
    lengths = {one.id: len(one.candidate) for one in items}
    validations, comparison = _held(variants, given, lengths, cluster, resamples, seed)
    accepted = accepting(variants, list(items), given, resamples, seed)
    _warn_of_acceptance(specs, accepted, cluster)
    document = study_document(variants, validations, comparison, given)
    document["acceptance"] = [one.document() for one in accepted]
    if output is not None:
        write_study(output, document, with_acceptance(study_rows(validations), accepted))
    write_study_page(output, validations, comparison, accepted, plot)
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_study(validations, comparison, accepted, given)
        if output is not None:
            print(f"written  {shown(str(output))}: records.jsonl, table.csv, study.json, report.html")
    _exit([variant.judged for variant in variants], max_failed)


def _truth(
    grades: Path | None,
    truth: str | None,
    items: "Items",
    scale: tuple[float, float] | None,
    columns: Columns,
    raters: Sequence[str],
) -> "Grades":
    """What the variants are held against."""
    if grades is not None:
        return read_grades_file(grades, scale=scale, columns=columns, raters=raters)
    from evenhand.evaluate.study import truth_of

    return truth_of(items, str(truth), name=shown(items.name, 200), scale=scale)


def _refuse_unheld(items: "Items", grades: "Grades", cluster: str | None) -> None:
    """Refuse what could not be held against the truth, before it is paid for."""
    from evenhand.analysis.graded import clusters_of

    metadata = {one.id: one.metadata for one in items}
    graded = [item for item in grades.items if grades.values.get(item)]
    both = [item for item in graded if item in metadata]
    if not both:
        some = f" (such as {shown(graded[0], 40)!r})" if graded else ""
        raise InvalidInput(
            f"{grades.name}: {none_of(len(graded), 'graded item', of='its')}{some} is among the items (such as "
            f"{shown(next(iter(metadata), ''), 40)!r}); ids must be the same in both: name the id's column with --item"
        )
    known = {item: str(found) for item in both if (found := metadata[item].get(str(cluster))) is not None}
    clusters_of(both, cluster, grades.clusters, known)


def _refuse_folder(output: Path | None, read: Sequence[Path]) -> None:
    """Refuse a folder in which something that is read would be written over, or that cannot hold the files."""
    if output is None:
        return
    if output.exists() and not output.is_dir():
        raise InvalidInput(f"-o {shown(str(output))}: is a file; name a folder")
    for name in _FILES:
        written = output / name
        if written.is_dir():
            raise InvalidInput(f"-o {shown(str(output))}: holds a folder {name}, where a file is to be; name another")
        if same := next((path for path in read if path.exists() and written.exists() and written.samefile(path)), None):
            raise InvalidInput(f"-o {shown(str(output))}: {shown(str(same))} is read, and would be written over")
    for path in read:
        if path.is_dir() and output.resolve().is_relative_to(path.resolve()):
            raise InvalidInput(f"-o {shown(str(output))}: lies inside the judged folder; name one elsewhere")


def _make(output: Path | None) -> None:
    """The folder, before anything is asked."""
    if output is None:
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"-o {shown(str(output))}: cannot be made ({error.strerror}); name another folder"
        ) from error


def _run(sessions: "Sequence[Session]", settings: Any, output: Path | None) -> "tuple[Variant, ...]":
    """Run all variants; the records stand whole in the folder, or not at all."""
    from evenhand.cli.judge_output import watch
    from evenhand.evaluate.study import run_study
    from evenhand.store.records import RecordWriter

    def began(spec: Any, number: int, n: int) -> None:
        say(f"variant {number} of {n}: {shown(spec.name, 60)}")

    if output is None:
        return _complete(run_study(sessions, settings, sink=_nothing, watch=watch, began=began))
    with RecordWriter(output / "records.jsonl") as writer:
        variants = run_study(sessions, settings, sink=writer.write, watch=watch, began=began)
        if any(variant.judged.stop is not None for variant in variants):
            writer.abandon()
    return _complete(variants)


def _nothing(record: "Record") -> None:
    """Records are kept by the study itself."""


def _complete(variants: "tuple[Variant, ...]") -> "tuple[Variant, ...]":
    """All variants, or how the last one ended."""
    judged = variants[-1].judged
    stop = judged.stop
    if stop is None:
        return variants
    n = sum(variant.judged.summary["n"] for variant in variants)
    if isinstance(stop, EvenhandError) and not isinstance(stop, InvalidInput):
        say(f"error: {shown(str(stop))}")
        say(f"{n} judged and kept; run the same command again to go on")
        raise typer.Exit(3)
    say(f"{n} judged and kept")
    raise stop


def _held(
    variants: "Sequence[Variant]",
    grades: "Grades",
    lengths: Mapping[str, int],
    cluster: str | None,
    resamples: int,
    seed: int,
) -> "tuple[list[Validation], Comparison | None]":
    """Every variant against the truth, and all against each other."""
    from evenhand.analysis.comparison import compare
    from evenhand.analysis.graded import join
    from evenhand.analysis.judge_ratings import ratings_of_records
    from evenhand.analysis.validation import ValidationSettings, validate

    ratings = []
    specs = {}
    for variant in variants:
        made = ratings_of_records(variant.records, cluster=cluster)
        several = len(made) > 1
        for one in made:
            name = one.name if several else variant.spec.name
            ratings.append(dataclasses.replace(one, name=name))
        specs.update({str(record.judge["hash"]): variant.spec for record in variant.records[:1]})
    usable = [one for one in ratings if any(one.scores.values())]
    for one in ratings:
        if one not in usable:
            warn(f"{shown(one.name, 60)}: {none_of(one.n, 'judgement', of='its')} reached a score; it has no figures")
    if not usable:
        say("error: study: no variant reached a score; the records say why, by cause")
        raise typer.Exit(3)
    settings = ValidationSettings(n_resamples=resamples, seed=seed, specs=specs)
    found = [validate(join(one, grades, lengths=lengths, cluster=cluster), grades, settings) for one in usable]
    comparison = None
    if len(usable) > 1:
        comparison = compare(usable, grades, cluster=cluster, n_resamples=resamples, seed=seed)
    return found, comparison


def _warn_of_acceptance(specs: "Sequence[JudgeSpec]", accepted: "Sequence[Acceptance]", cluster: str | None) -> None:
    """Say what the figures of accepting and solving do not do, where somebody may expect it."""
    from evenhand.scoring.labels import ACCEPTANCE_PROTOCOLS

    if not accepted and any(spec.protocol in ACCEPTANCE_PROTOCOLS for spec in specs):
        warn("the truth is not 0 and 1 throughout, so that nothing is said of false positives and solve accuracy")
    if accepted and cluster is not None:
        warn("--cluster: figures of accepting and solving draw items, not clusters; their intervals may be too narrow")


def _estimate(sessions: "Sequence[Session]", as_json: bool) -> None:
    """What a run would send."""
    found = [{"variant": session.spec.name, **session.estimate()} for session in sessions]
    if as_json:
        sys.stdout.write(json_text({"schema": "evenhand.estimate/1", "variants": found}))
        return
    for one in found:
        cost = "unknown" if one["cost_usd"] is None else f"about ${one['cost_usd']:.4f}"
        print(
            f"{shown(str(one['variant']), 40)}: {plural(one['calls'], 'call')} to send, {one['stored']:,} "
            f"stored, cost {cost}"
        )
    print("nothing was sent")


def _exit(judged: "Sequence[Judged]", max_failed: int) -> None:
    """Exit 3 where more failed than allowed."""
    failed, n = sum(one.summary["failed"] for one in judged), sum(one.summary["n"] for one in judged)
    if failed > max_failed:
        say(f"error: {count(failed)} of {plural(n, 'judgement')} failed; --max-failed allows {max_failed}")
        raise typer.Exit(3)

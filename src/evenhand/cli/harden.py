"""`evenhand harden JUDGE ITEMS`: what additions to a candidate do to its score, and whether the judge reads at all."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.judge import (
    INVENTORIED_CHARS,
    named_files,
    overridden,
    refuse_overwriting,
    refuse_what_candidates_bring,
    repository_mode,
)
from evenhand.cli.options import (
    CONCURRENCY,
    DEADLINE_S,
    DEFAULT_STORE,
    TIMEOUT_S,
    AllowSelfJudging,
    Anyway,
    AsJson,
    BaseUrl,
    BudgetTokens,
    BudgetUsd,
    Concurrency,
    Deadline,
    DryRun,
    FieldColumns,
    ItemsEncoding,
    MaxFailed,
    Models,
    RecordsFile,
    Repositories,
    RepositoryChars,
    RequestsPerMinute,
    Reruns,
    RetryFailed,
    SkipEmpty,
    Sources,
    StorePath,
    Temperature,
    Timeout,
    TokensPerMinute,
    settings_of,
)
from evenhand.cli.output import json_text, say, shown, warn
from evenhand.cli.ready import ready_judge
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.evaluate.evaluation import Settings
    from evenhand.evaluate.hardening import Hardened, Hardening

__all__ = ["harden"]


def harden(
    judge_file: Annotated[
        Path, typer.Argument(metavar="JUDGE", help="Judge file (YAML or JSON), or a ready-made judge.")
    ],
    items_path: Annotated[
        Path, typer.Argument(metavar="ITEMS", help="JSONL, JSON, CSV, Parquet, a folder, or - for JSONL on stdin.")
    ],
    kind: Annotated[
        list[str] | None, typer.Option("--kind", "-k", help="Only this payload; repeatable. All unless said.")
    ] = None,
    max_lift: Annotated[
        float | None, typer.Option("--max-lift", help="Exit 1 if a lift lies above this, its whole interval with it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    model: Models = None,
    reruns: Reruns = None,
    temperature: Temperature = None,
    max_concurrency: Concurrency = CONCURRENCY,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    timeout_s: Timeout = TIMEOUT_S,
    deadline_s: Deadline = DEADLINE_S,
    base_url: BaseUrl = None,
    store: StorePath = DEFAULT_STORE,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    max_failed: MaxFailed = 0,
    retry_failed: RetryFailed = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Attack only the first so many items.")] = None,
    map_: FieldColumns = None,
    encoding: ItemsEncoding = None,
    repositories: Repositories = None,
    repository_chars: RepositoryChars = None,
    source: Sources = None,
    skip_empty: SkipEmpty = False,
    no_panel: Annotated[bool, typer.Option("--no-panel", help="Several models: record each alone.")] = False,
    allow_self_judging: AllowSelfJudging = False,
    anyway: Anyway = False,
    dry_run: DryRun = False,
    output: RecordsFile = None,
    as_json: AsJson = False,
) -> None:
    """Attack a judge with what candidates may hold, and check that it reads what it is given.

    Each item is judged as it is, with every payload, and under the controls. The lift is the score with a payload less
    the score without it.
    """
    from evenhand.evaluate.hardening import Hardening, chosen_kinds
    from evenhand.store.item_files.fields import field_mapping
    from evenhand.store.items import read_items

    kinds = chosen_kinds(kind or [])
    if max_lift is not None and max_lift != max_lift:
        raise InvalidInput("--max-lift nan: expected a number of points")
    spec = overridden(ready_judge(judge_file), model, reruns, temperature)
    refuse_what_candidates_bring(items_path, store)
    if output is not None:
        refuse_overwriting(output, judge_file, items_path, ())
    items = read_items(
        items_path,
        mapping=field_mapping(map_ or ()),
        encoding=encoding,
        limit=limit,
        skip_empty=skip_empty,
        repositories=repository_mode(repositories, items_path, spec),
        repository_chars=repository_chars or (INVENTORIED_CHARS if spec.inventory else None),
        sources=named_files(source),
    )
    hardening = Hardening(
        spec,
        list(items),
        kinds=kinds,
        seed=seed,
        store=store,
        base_url=base_url,
        dry=dry_run,
        panel=not no_panel,
        allow_self_judging=allow_self_judging,
        anyway=anyway,
    )
    for note in (*items.notes, *hardening.notes):
        warn(shown(note))
    if dry_run:
        _print_estimate(hardening, as_json)
        return
    settings = settings_of(
        max_concurrency=max_concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        retry_failed=retry_failed,
        timeout_s=timeout_s,
        deadline_s=deadline_s,
    )
    from evenhand.cli.harden_output import document_of, print_hardened

    hardened = _run(hardening, settings, output)
    document = document_of(
        spec, hardened, n_items=len(items), seed=seed, max_lift=max_lift, planned=hardening.n_planned
    )
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        print_hardened(document)
    _exit(hardened, document, hardening.n_planned, max_failed)


def _print_estimate(hardening: "Hardening", as_json: bool) -> None:
    """What would be sent."""
    document = hardening.estimate()
    if as_json:
        sys.stdout.write(json_text(document))
        return
    dollars = "unknown (no price for a model)"
    if document["cost_usd"] is not None:
        dollars = f"about ${document['cost_usd']:.4f}, at most ${document['cost_usd_at_most']:.4f}"
    print(
        f"items    {document['items']:,} ({plural(document['judgements'], 'judgement')}: as they are, "
        f"attacked, controls)"
    )
    print(
        f"calls    {document['calls']:,} to send (at most {document['calls_at_most']:,}), "
        f"{document['stored']:,} answered from the store"
    )
    print(f"tokens   about {document['input_tokens']:,} in, {document['output_tokens']:,} out")
    print(f"cost     {dollars}")
    print("nothing was sent")


def _run(hardening: "Hardening", settings: "Settings", output: Path | None) -> "Hardened":
    """Judge everything, and write the records; `metadata.hardening` says which variant each is of."""
    from evenhand.cli.judge_output import watch
    from evenhand.store.records import RecordWriter

    if output is None:
        return hardening.run(settings, watch=watch)
    with RecordWriter(output) as writer:  # opened first, so that a name it cannot have is refused before the run
        hardened = hardening.run(settings, watch=watch)
        for record in () if hardened.stop is not None else hardened.records:
            writer.write(record)
        if hardened.stop is not None:
            writer.abandon()
    return hardened


def _exit(hardened: "Hardened", document: dict[str, Any], n_planned: int, max_failed: int) -> None:
    """Say why a run fell short or a limit was exceeded, and leave with its code."""
    stop, n = hardened.stop, len(hardened.records)
    if isinstance(stop, KeyboardInterrupt):
        raise stop
    if isinstance(stop, EvenhandError) and not isinstance(stop, InvalidInput):
        say(f"error: {shown(str(stop))}")
        say(f"{n} of {n_planned} judged and kept; run the same command again to go on")
        raise typer.Exit(3)
    if stop is not None:
        raise stop
    if hardened.failed > max_failed:
        say(f"error: {count(hardened.failed)} of {plural(n, 'judgement')} failed; --max-failed allows {max_failed}")
        raise typer.Exit(3)
    if document["exceeded"]:
        say(f"error: --max-lift {document['max_lift']:g} is exceeded by {', '.join(document['exceeded'])}")
        raise typer.Exit(1)
    if document["unmeasured"]:
        say(
            f"error: --max-lift {document['max_lift']:g} could not be checked for {', '.join(document['unmeasured'])}: "
            "an interval needs two items with a score on both sides"
        )
        raise typer.Exit(3)

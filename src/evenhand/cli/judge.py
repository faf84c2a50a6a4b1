"""`evenhand judge JUDGE ITEMS`: one record per item, judge and rerun."""

import dataclasses
import gc
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from evenhand.cli.closing import Closing
from evenhand.cli.options import (
    CONCURRENCY,
    DEADLINE_S,
    DEFAULT_STORE,
    TIMEOUT_S,
    AllowSelfJudging,
    Anyway,
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
    model_names,
    settings_of,
)
from evenhand.cli.output import json_text, say, shown, warn
from evenhand.cli.ready import list_judges, ready_judge
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.evaluate.evaluation import Settings
    from evenhand.evaluate.session import Judged, Session
    from evenhand.store.item_files.folders import RepositoryMode
    from evenhand.terms import JudgeSpec, Record

__all__ = [
    "INVENTORIED_CHARS",
    "judge",
    "named_files",
    "overridden",
    "refuse_overwriting",
    "refuse_what_candidates_bring",
    "repository_mode",
]

INVENTORIED_CHARS = 8_000_000  # of a repository that is read feature by feature


def _list(context: typer.Context, wanted: bool) -> None:
    """Where `--json` was not read yet, whether it was given is known a moment later."""
    context.obj = "list" if wanted else context.obj
    if wanted and "as_json" in context.params:
        _json(context, context.params["as_json"])


def _json(context: typer.Context, as_json: bool) -> bool:
    """The list, if it was asked for; eager as `--list` is, since no judge and no items need be named for it."""
    if context.obj == "list":
        list_judges(as_json=as_json)
        raise typer.Exit
    return as_json


_COLLECT_AFTER = 10_000


def judge(
    judge_file: Annotated[
        Path, typer.Argument(metavar="JUDGE", help="Judge file (YAML or JSON), or the name of a ready-made judge.")
    ],
    items_path: Annotated[
        Path,
        typer.Argument(metavar="ITEMS", help="JSONL, JSON, CSV, Parquet, a folder, one text, or - for JSONL on stdin."),
    ],
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
    limit: Annotated[int | None, typer.Option(min=1, help="Judge only the first so many items.")] = None,
    map_: FieldColumns = None,
    encoding: ItemsEncoding = None,
    repositories: Repositories = None,
    repository_chars: RepositoryChars = None,
    source: Sources = None,
    skip_empty: SkipEmpty = False,
    panel: Annotated[
        bool | None,
        typer.Option("--panel/--no-panel", help="Combine several models; the default for a file's, not for --model."),
    ] = None,
    allow_self_judging: AllowSelfJudging = False,
    anyway: Anyway = False,
    since: Annotated[
        list[Path] | None, typer.Option(help="Earlier records: say what was resolved, what is new, and the delta.")
    ] = None,
    naive: Annotated[
        list[Path] | None,
        typer.Option(help="Records of a number judge on the same items: say how far they are from the evidence."),
    ] = None,
    hide_scores: Annotated[bool, typer.Option("--hide-scores", help="Leave scores out of the closing table.")] = False,
    list_: Annotated[
        bool, typer.Option("--list", is_eager=True, callback=_list, help="List the ready-made judges, and end.")
    ] = False,
    dry_run: DryRun = False,
    output: RecordsFile = None,
    as_json: Annotated[
        bool, typer.Option("--json", is_eager=True, callback=_json, help="One JSON document on stdout.")
    ] = False,
) -> None:
    """Judge items: the model finds evidence, arithmetic picks the number."""
    from evenhand.evaluate.session import Session
    from evenhand.store.item_files.fields import field_mapping
    from evenhand.store.items import read_items

    if hide_scores and as_json:
        raise InvalidInput("--hide-scores: the JSON document holds whole records; leave --json or --hide-scores out")
    spec = overridden(ready_judge(judge_file), model, reruns, temperature)
    _refuse_unfit(spec, judge_file)
    refuse_what_candidates_bring(items_path, store)
    if output is not None:
        refuse_overwriting(output, judge_file, items_path, (*(since or ()), *(naive or ())))
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
    if naive and spec.protocol != "evidence":
        raise InvalidInput(
            f"--naive: {shown(spec.name)} is a judge of protocol {spec.protocol}; bare numbers are compared with an "
            "evidence judge's scores, so leave --naive out"
        )
    closing = Closing(since or [], hide_scores=hide_scores, single=len(items) * spec.reruns == 1, naive=naive or [])
    session = Session(
        spec,
        items,
        store=store,
        base_url=base_url,
        dry=dry_run,
        panel=_as_panel(panel, model, spec),
        allow_self_judging=allow_self_judging,
        anyway=anyway,
    )
    for note in (*items.notes, *session.notes):
        warn(shown(note))
    if dry_run:
        _print_estimate(session.estimate(), as_json)
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
    with _collecting_seldom():
        judged = _run(session, settings, output, closing, keep=as_json)
    if as_json:
        sys.stdout.write(json_text({**_document(judged, output), **closing.document()}))
    else:
        _print_judged(spec, judged, output, closing)
    _exit(judged, max_failed)


def _run(session: "Session", settings: "Settings", output: Path | None, closing: Closing, *, keep: bool) -> "Judged":
    """Judge everything; records go to the file as they are done, or to memory where they are to be printed."""
    from evenhand.cli.judge_output import watch

    if output is None:
        judged = session.run(settings, watch=watch, sink=None if keep else closing.see)
        for record in judged.records:
            closing.see(record)
        return judged
    from evenhand.store.records import RecordWriter

    with RecordWriter(output) as writer:

        def sink(record: "Record") -> None:
            writer.write(record)
            closing.see(record)

        judged = session.run(settings, watch=watch, sink=sink)
        if judged.stop is not None:
            writer.abandon()
    return judged


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for cyclic garbage seldom, and not among what was loaded: a judgement makes next to none.

    At the interpreter's own pace of 700 objects the search walks all that is in flight again and again, for a twelfth
    of the processor time of a judgement; the peak of memory is the same.
    """
    pace = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*pace)
        gc.unfreeze()


def _document(judged: "Judged", output: Path | None) -> dict[str, Any]:
    """What `--json` prints. An unfinished run leaves the output file as it was."""
    from evenhand.store.records import record_document

    finished = judged.stop is None
    records = [record_document(record) for record in judged.records]
    return {
        "schema": "evenhand.judgement/1",
        **({"records": records} if output is None else {"records_path": str(output) if finished else None}),
        "summary": {
            **judged.summary,
            "planned": judged.n_planned,
            "complete": finished,
            "stopped": None if finished else (str(judged.stop) or "interrupted"),
            "calls": judged.calls,
            "omitted": judged.omitted,
        },
    }


def overridden(
    spec: "JudgeSpec", models: list[str] | None, reruns: int | None, temperature: float | None
) -> "JudgeSpec":
    """The judge as the command line changes it; `openai:x` is `openai/x`, as in judge files."""
    from evenhand.terms import ModelSpec

    changes: dict[str, Any] = {}
    if models:
        names = model_names(models, option="--model", way_out="to ask one model again use --reruns")
        given = {known.model: known for known in spec.models}
        changes["models"] = tuple(given.get(name) or ModelSpec(model=name) for name in names)
    if reruns is not None:
        changes["reruns"] = reruns
    if temperature is not None:
        changes["temperature"] = temperature
    spec = dataclasses.replace(spec, **changes)
    if not spec.models:
        raise InvalidInput(f"{spec.name}: no model is named; write `models: [provider/model]` or use --model")
    return spec


def _pairs(option: str, expected: str, pairs: list[str] | None) -> list[tuple[str, str]]:
    """What stands before and behind the first equals sign of each."""
    found = []
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise InvalidInput(f"{option} {shown(pair)}: expected {expected}")
        found.append((name, value))
    return found


def named_files(sources: list[str] | None) -> dict[str, Path]:
    """Further texts of an item, by name."""
    return {name: Path(file) for name, file in _pairs("--source", "NAME=FILE, such as demo=talk.txt", sources)}


def _as_panel(wanted: bool | None, models: list[str] | None, spec: "JudgeSpec") -> bool:
    """Whether several models decide together: those a judge file declares do, those set beside each other do not.

    Raises:
        InvalidInput: a panel is asked for, and nothing says how one would decide.
    """
    from evenhand.judges.panel import panel_rule

    if wanted and panel_rule(spec) is None:
        raise InvalidInput(
            f"--panel: `protocol: {spec.protocol}` has no rule by which several models decide together; leave it out, "
            "and each is recorded alone"
        )
    return wanted if wanted is not None else not models or spec.escalate is not None


def repository_mode(wanted: str | None, items_path: Path, spec: "JudgeSpec") -> "RepositoryMode":
    """Which folders are one item: what the caller says, or else what the judge takes a folder for."""
    from typing import get_args

    from evenhand.store.item_files.folders import RepositoryMode, mode_for

    if wanted is None:
        return mode_for(items_path, spec.folder)
    for mode in get_args(RepositoryMode):
        if mode == wanted:
            return cast("RepositoryMode", mode)
    raise InvalidInput(f"--repositories {shown(wanted)}: expected {', '.join(get_args(RepositoryMode))}")


def _refuse_unfit(spec: "JudgeSpec", judge_file: Path) -> None:
    """Name the file in whatever its protocol or its scales refuse, also where nothing will be sent."""
    from evenhand.judges import judge_for
    from evenhand.scoring.verdicts import VerdictScorer
    from evenhand.store.packaged import templates

    try:
        judge_for(spec, templates())
        VerdictScorer(spec)
    except InvalidInput as error:
        raise InvalidInput(f"{shown(str(judge_file))}: {error}") from error


def refuse_overwriting(output: Path, judge_file: Path, items_path: Path, earlier: Sequence[Path]) -> None:
    """Records may take the place of older records, never of what was read; in a judged folder they would be judged."""
    for read in (judge_file, items_path, *earlier):
        if output.exists() and read.exists() and output.samefile(read):
            raise InvalidInput(f"--output {shown(str(output))} is {shown(str(read))} itself; name another file")
    if items_path.is_dir() and output.resolve().is_relative_to(items_path.resolve()):
        raise InvalidInput(
            f"--output {shown(str(output))} lies inside the judged folder {shown(str(items_path))}, where the next run "
            "would judge it; name a file elsewhere"
        )
    if items_path.is_dir() and Path(".env").exists():
        from evenhand.store.item_files.folders import refuse_inside

        refuse_inside(items_path, ".env", "the .env of the current folder")


def refuse_what_candidates_bring(items_path: Path, store: Path) -> None:
    """A judged folder may bring a store or a `.env` of its own: replies, keys and addresses of the candidate's.

    Reading the folder refuses them too, but not under names that it passes over, from where the command may be run.
    """
    from evenhand.store.item_files.folders import refuse_inside

    refuse_inside(items_path, store, "the store")
    dotenv = Path.cwd() / ".env"
    if dotenv.is_file():
        refuse_inside(items_path, dotenv, "the .env that would be read")


def _print_estimate(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_text(document))
        return
    dollars = "unknown (no price for a model)"
    if document["cost_usd"] is not None:
        dollars = f"about ${document['cost_usd']:.4f}, at most ${document['cost_usd_at_most']:.4f}"
    print(f"items    {document['items']:,} ({plural(document['judgements'], 'judgement')})")
    print(
        f"calls    {document['calls']:,} to send (at most {document['calls_at_most']:,}), "
        f"{document['stored']:,} answered from the store"
        + (f", {document['shared']:,} shared with another candidate" if "shared" in document else "")
    )
    print(f"tokens   about {document['input_tokens']:,} in, {document['output_tokens']:,} out")
    print(f"         at most {document['input_tokens_at_most']:,} in, {document['output_tokens_at_most']:,} out")
    print(f"cost     {dollars}")
    if more := document.get("if_all_escalated"):
        print(f"escalate at most {more['calls_at_most']:,} further calls, if every item were escalated")
    print(textwrap.fill(f"assumed  {document['assumed']}", 79, subsequent_indent=" " * 9, break_on_hyphens=False))
    print("nothing was sent")


def _print_judged(spec: "JudgeSpec", judged: "Judged", output: Path | None, closing: Closing) -> None:
    from evenhand.cli.judge_output import print_summary

    title = f"{spec.name}: {spec.protocol} by {', '.join(model.model for model in spec.models)}"
    if spec.reruns > 1:
        title += f", {plural(spec.reruns, 'rerun')}"
    print_summary(title, judged.summary, judged.calls, judged.seconds, hide_scores=closing.hide_scores)
    closing.print()
    if judged.stop is None:
        print(f"records  {shown(str(output))}" if output else "records  not written; -o records.jsonl keeps them")


def _exit(judged: "Judged", max_failed: int) -> None:
    """Say why a run stopped or fell short, and leave with its code."""
    for model, parameters in judged.omitted.items():
        warn(f"{shown(model)} does not take {', '.join(parameters)}: left out of its calls")
    stop, n = judged.stop, judged.summary["n"]
    if isinstance(stop, KeyboardInterrupt):
        say(f"{n} of {judged.n_planned} judged and kept")
        raise stop
    if isinstance(stop, EvenhandError) and not isinstance(stop, InvalidInput):
        say(f"error: {shown(str(stop))}")
        say(f"{n} of {judged.n_planned} judged and kept; run the same command again to go on")
        raise typer.Exit(3)
    if stop is not None:
        raise stop
    if judged.summary["failed"] > max_failed:
        hints = _ways_out(judged.summary["causes"])
        say(
            f"error: {count(judged.summary['failed'])} of {plural(n, 'judgement')} failed; --max-failed "
            f"allows {max_failed}{hints}"
        )
        raise typer.Exit(3)


def _ways_out(causes: Mapping[str, int]) -> str:
    """What may help against failures that replies caused; the others say so in their own messages."""
    afresh = " or ".join(code for code in ("unreadable", "empty") if code in causes)
    longer = "; for what was truncated set a higher `max_tokens` in the judge file" if "truncated" in causes else ""
    return (f"; --retry-failed asks afresh what was {afresh}" if afresh else "") + longer

"""`evenhand probe MODEL [MODEL...]`: how a model rates, and how sure that is."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

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
    StorePath,
    Timeout,
    TokensPerMinute,
    model_names,
    settings_of,
)
from evenhand.cli.output import json_text, say, shown, warn
from evenhand.cli.trust_output import Output, Plot, outputs
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.analysis.probes import Probed
    from evenhand.evaluate.evaluation import Settings
    from evenhand.evaluate.probing import ProbePlan
    from evenhand.stats.regime_figures import Reading
    from evenhand.store.database.sql import Store
    from evenhand.terms import ProbeItems

__all__ = ["probe"]

_METHODS = ("sample", "logprob", "both")
_READINGS = ("script", "text")
_MOST_ITEMS = 10_000


def probe(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="MODEL...", help="provider/model; several are compared.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="sample: all items in one call; logprob: one token an item; or both.")
    ] = "sample",
    runs: Annotated[int, typer.Option(min=1, max=10_000, help="Calls at most (logprob: runs simulated).")] = 30,
    until_sure: Annotated[
        bool, typer.Option("--until-sure", help="Stop early, once one regime holds 95 % over at least 10 runs.")
    ] = False,
    domain: Annotated[
        str, typer.Option(help="Items that ship: prose, code-readability, business-idea or headline.")
    ] = "prose",
    items_path: Annotated[
        Path | None, typer.Option("--items", help="Your own: name, scale_min, scale_max, items (JSON or YAML).")
    ] = None,
    runs_dir: Annotated[
        Path | None, typer.Option(help="Classify runs made elsewhere: run-001.json, ...; no model is asked.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="LO:HI, the scale of --runs-dir without --items.")] = None,
    n_items: Annotated[
        int | None, typer.Option(min=1, max=_MOST_ITEMS, help="Numbers in each run of --runs-dir without --items.")
    ] = None,
    reading: Annotated[
        str, typer.Option(help="Ceiling and floor: script (top and bottom two of ten) or text (the extreme point).")
    ] = "script",
    control: Annotated[
        bool | None,
        typer.Option(
            "--control/--no-control",
            help="Digit control on a shorter and a turned scale; by itself where ratings pile up.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=0, max=999, help="Single-item calls an item that test the log probabilities.")
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="Of the ratings.")] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=1, help="Limit of a reply about all items.")] = 2048,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap and of simulated runs.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, max=100_000, help="Of the runs.")] = 2000,
    max_concurrency: Concurrency = CONCURRENCY,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    timeout_s: Timeout = TIMEOUT_S,
    deadline_s: Deadline = DEADLINE_S,
    base_url: BaseUrl = None,
    store: StorePath = DEFAULT_STORE,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    max_failed: Annotated[
        int | None, typer.Option(min=0, help="Exit 3 if more runs failed; else only where no regime is found.")
    ] = None,
    dry_run: DryRun = False,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Probe how a model rates: one of six regimes, the figures behind it, and how sure it is.

    The published protocol: 20 items of varied quality rated 1 to 10 in one call, 30 calls at temperature 0.7.
    """
    from evenhand.evaluate.probing import ProbePlan
    from evenhand.report.probe_page import probe_content

    _one_of("--method", method, _METHODS)
    _one_of("--reading", reading, _READINGS)
    read = [path for path in (items_path,) if path is not None]
    written = outputs("probe", output, plot, read=read)
    names = model_names(models or [], option="MODEL", way_out="name each model once")
    if runs_dir is not None:
        found = [_elsewhere(runs_dir, names, items_path, domain, scale, n_items, reading, seed, resamples)]
    else:
        if not names:
            raise InvalidInput("MODEL: no model is named; write provider/model, or --runs-dir for runs made elsewhere")
        if scale is not None or n_items is not None:
            raise InvalidInput("--scale and --n-items describe the runs of --runs-dir; the items file says both itself")
        if until_sure and method == "logprob":
            raise InvalidInput("--until-sure: with --method logprob nothing is sampled that could stop; leave one out")
        plan = ProbePlan(
            method=cast("Any", method),
            runs=runs,
            temperature=temperature,
            max_tokens=max_tokens,
            until_sure=until_sure,
            control=control,
            samples=samples,
            reading=cast("Reading", reading),
            seed=seed,
            n_resamples=resamples,
        )
        settings = settings_of(
            max_concurrency=max_concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            timeout_s=timeout_s,
            deadline_s=deadline_s,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
        )
        made = _probed(names, _items(items_path, domain), plan, settings, store, base_url, dry_run=dry_run)
        if isinstance(made, dict):
            _print_estimate(made, as_json)
            return
        found = made
    documents = [one.document() for one in found]
    whole = documents[0] if len(documents) == 1 else {"schema": "evenhand.probes/1", "models": documents}
    written.write(whole, lambda draw: probe_content(documents, draw=draw))
    _print(documents, whole, as_json)
    _exit(found, max_failed)


def _probed(
    names: "Sequence[str]",
    items: "ProbeItems",
    plan: "ProbePlan",
    settings: "Settings",
    store: Path,
    base_url: str | None,
    *,
    dry_run: bool,
) -> "list[Probed] | dict[str, Any]":
    """What was found of each model, or what would be sent."""
    from evenhand.cli.judge_output import watch
    from evenhand.evaluate.probing import Probing
    from evenhand.store.packaged import templates

    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_store(store, dry_run=dry_run))
        probing = Probing(names, items, plan, templates(), store=opened, base_url=base_url, dry=dry_run)
        if dry_run:
            return probing.estimate()
        return list(probing.run(settings, watch=watch))


def _store(path: Path, *, dry_run: bool) -> "Store":
    """The store; a dry run makes none where there is none."""
    from evenhand.store.database.sql import open_store

    return open_store(None if dry_run and not path.exists() else path)


def _elsewhere(
    runs_dir: Path,
    names: "Sequence[str]",
    items_path: Path | None,
    domain: str,
    scale: str | None,
    n_items: int | None,
    reading: str,
    seed: int,
    resamples: int,
) -> "Probed":
    """Runs made elsewhere."""
    from evenhand.evaluate.probing import probed_runs
    from evenhand.store.probe_files import read_runs
    from evenhand.terms import ProbeItems

    if len(names) > 1:
        raise InvalidInput("--runs-dir: the runs of one folder are of one model; name one, or none")
    items = _items(items_path, domain)
    if items_path is not None and (scale is not None or n_items is not None):
        raise InvalidInput("--scale and --n-items: the items file says both; leave them or --items out")
    if items_path is None:
        low, high = _scale(scale) if scale is not None else (items.scale_min, items.scale_max)
        n = n_items or len(items.items)
        items = ProbeItems(name="runs made elsewhere", scale_min=low, scale_max=high, items=("",) * n)
    return probed_runs(
        read_runs(runs_dir),
        items,
        model=names[0] if names else None,
        reading=cast("Reading", reading),
        seed=seed,
        n_resamples=resamples,
    )


def _items(items_path: Path | None, domain: str) -> "ProbeItems":
    from evenhand.store.probe_files import probe_domain, read_probe_items

    return probe_domain(domain) if items_path is None else read_probe_items(items_path)


def _scale(text: str) -> tuple[int, int]:
    """LO:HI as whole numbers."""
    low, colon, high = text.partition(":")
    try:
        ends = int(low), int(high)
    except ValueError:
        ends = (0, 0)
    if not colon or ends[0] >= ends[1] or len(text) > 40:
        raise InvalidInput(f"--scale {shown(text, 40)}: expected LO:HI in whole numbers, such as 1:10")
    return ends


def _one_of(option: str, value: str, known: "Sequence[str]") -> None:
    if value not in known:
        raise InvalidInput(f"{option} {shown(value, 40)}: expected {', '.join(known[:-1])} or {known[-1]}")


def _print_estimate(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_text(document))
        return
    dollars = "unknown (no price for a model)"
    if document["cost_usd"] is not None:
        dollars = f"about ${document['cost_usd']:.4f}, at most ${document['cost_usd_at_most']:.4f}"
    print(
        f"items    {document['n_items']} in each call, {plural(len(document['models']), 'model')}, "
        f"{document['runs']} runs"
    )
    print(f"calls    {document['calls']:,} to send, {document['stored']:,} answered from the store")
    print(f"         at most {document['control_calls_at_most']:,} more for the digit control, where ratings pile up")
    print(f"tokens   about {document['input_tokens']:,} in, {document['output_tokens']:,} out")
    print(f"cost     {dollars}")
    print("nothing was sent")


def _print(documents: "Sequence[dict[str, Any]]", whole: dict[str, Any], as_json: bool) -> None:
    """One document for one model, a list of them for several; or the same for people."""
    if as_json:
        sys.stdout.write(json_text(whole))
        return
    from evenhand.cli.output import console
    from evenhand.cli.probe_output import comparison_lines, probe_lines

    out = console()
    for number, document in enumerate(documents):
        for line in ([""] if number else []) + probe_lines(document):
            out.print(line, overflow="fold")
    if len(documents) > 1:
        for line in ["", *comparison_lines(documents)]:
            out.print(line, overflow="fold")


def _exit(found: "Sequence[Probed]", max_failed: int | None) -> None:
    """Say what was left out or could not be found, and leave with its code."""
    for one in found:
        if one.omitted:
            warn(f"{shown(one.model or '')} does not take {', '.join(one.omitted)}: left out of its calls")
    lacking = [one for one in found if one.found.regime is None]
    for one in lacking:
        say(f"error: {shown(one.model or 'these runs')}: no regime, {one.found.undefined}; {one.n_failed} failed")
    failed = [one for one in found if max_failed is not None and one.n_failed > max_failed]
    for one in failed:
        say(f"error: {shown(one.model or 'these runs')}: {one.n_failed} failed; --max-failed allows {max_failed}")
    if lacking or failed:
        raise typer.Exit(3)

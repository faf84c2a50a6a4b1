"""`evenhand trace --items ITEMS -- COMMAND`: run any harness behind a recording proxy, and say what its judge does."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.options import TIMEOUT_S, AsJson, FieldColumns, ItemsEncoding, Timeout
from evenhand.cli.output import json_text, say, write_text
from evenhand.errors import InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.integrity.trace_evidence import TraceEvidence
    from evenhand.matching.rules import Expressions
    from evenhand.terms import Item
    from evenhand.trace.proxy import Answerer, Forward, Proxy
    from evenhand.trace.session import TracedRun

__all__ = ["trace"]

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the command line asks for."""

    items: "Sequence[Item]"
    outcomes: Path | None
    kind: str | None
    swap: int
    seed: int
    same: "Expressions | None" = None


def trace(
    command: Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The harness.")] = None,
    items: Annotated[Path | None, typer.Option("--items", metavar="ITEMS", help="The items that it judges.")] = None,
    outcomes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSONL that the harness writes: id, accepted.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for the trace; else .evenhand/traces/NNNN.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Where calls are passed on to; else OPENAI_BASE_URL as it was before.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="A model on this machine answers instead: local/smollm2.")
    ] = None,
    replies: Annotated[Path | None, typer.Option(metavar="FILE", help="Scripted replies instead: JSONL.")] = None,
    match: Annotated[
        str | None, typer.Option(help="Answer kind: number, expression, choice, short_text, set or code_output.")
    ] = None,
    swap: Annotated[
        int, typer.Option(min=0, metavar="N", help="Ask N commitments again with another candidate: 2 calls each.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw of --swap.")] = 0,
    fields: FieldColumns = None,
    encoding: ItemsEncoding = None,
    timeout_s: Timeout = TIMEOUT_S,
    as_json: AsJson = False,
) -> None:
    """Run a harness behind a recording proxy: who sees what, whether the judge commits first, what acceptance follows.

    The harness is told the proxy's address in OPENAI_BASE_URL. Its calls are passed on with its own key and kept
    without it. Exit 3 if no item could be placed, or the harness did not end well.
    """
    from evenhand.evaluate.expressions import formula_worker
    from evenhand.evaluate.tracing import kind_of, match_word
    from evenhand.store.item_files.fields import field_mapping
    from evenhand.store.items import read_items
    from evenhand.trace.files import new_folder

    if not command:
        raise InvalidInput("trace: no command; write the harness's command after '--'")
    if items is None:
        raise InvalidInput("trace: --items is missing; name the items that the harness judges")
    if sum(one is not None for one in (base_url, model, replies)) > 1:
        raise InvalidInput("--base-url, --model and --replies each say who answers; give one of them")
    read = read_items(items, mapping=field_mapping(fields or ()), encoding=encoding)
    for note in read.notes:
        say(f"note: {note}")
    whole = list(read)
    kind = match or kind_of(whole)
    if kind is not None:
        match_word(kind)
    if swap and kind is None:
        raise InvalidInput("--swap: no match relation; say what an answer is with --match")
    with formula_worker(kind, "--match expression") or nullcontext() as worker:
        same = None if worker is None else worker.same
        asked = _Asked(items=whole, outcomes=outcomes, kind=kind, swap=swap, seed=seed, same=same)
        folder = new_folder(out)
        before = _stamp(outcomes)
        run, evidence = asyncio.run(_traced(command, folder, asked, base_url, model, replies, timeout_s, as_json))
    if outcomes is not None and before is not None and before == _stamp(outcomes):
        note = f"{outcomes.name} was there before and this run did not write it: its outcomes may be of another run"
        evidence = replace(evidence, notes=(*evidence.notes, note))
    document = evidence.document()
    write_text(folder / "evidence.json", json_text(document))
    if as_json:
        sys.stdout.write(json_text({"schema": "evenhand.traced/1", "folder": str(folder), "trace": dict(run.about),
                                    "evidence": document}))  # fmt: skip
    else:
        from evenhand.cli.trace_output import print_trace

        print_trace(folder, run, evidence, has_outcomes=outcomes is not None)
    if run.ended_by == "SIGINT":
        raise typer.Exit(_INTERRUPTED)
    if evidence.n_placed == 0 or run.exit_code != 0:
        raise typer.Exit(3)


async def _traced(
    command: Sequence[str],
    folder: Path,
    asked: _Asked,
    base_url: str | None,
    model: str | None,
    replies: Path | None,
    timeout_s: float,
    as_json: bool,
) -> "tuple[TracedRun, TraceEvidence]":
    """The run and what it shows."""
    from evenhand.trace.session import trace as traced

    to, close = _destination(base_url, model, replies, timeout_s)
    shows: list[TraceEvidence] = []

    async def afterwards(proxy: "Proxy", where: Path) -> None:
        shows.append(await _evidence(proxy, where, asked))

    try:
        run = await traced(
            command,
            os.environ,
            folder,
            to=to,
            stdout=2 if as_json else None,  # the one document of --json stands alone on stdout
            keep_headers=bool(asked.swap),
            afterwards=afterwards,
        )
    finally:
        await close()
    return run, shows[0]


def _destination(
    base_url: str | None, model: str | None, replies: Path | None, timeout_s: float
) -> "tuple[Forward | Answerer, Callable[[], Awaitable[None]]]":
    """Who answers, and what releases them."""
    from evenhand.evaluate.tracing import answered_by, forward_to
    from evenhand.trace.proxy import Answerer
    from evenhand.trace.replies import ScriptedReplies

    async def nothing() -> None:
        """Nothing is held."""

    if model is not None:
        return answered_by(model, timeout_s=timeout_s)
    if replies is not None:
        script = ScriptedReplies(replies)
        return Answerer(name=script.name, answer=script, model="scripted/replies"), nothing
    return forward_to(base_url, os.environ), nothing


async def _evidence(proxy: "Proxy", folder: Path, asked: _Asked) -> "TraceEvidence":
    """What the trace shows, and what a swap moves while the harness's headers are at hand."""
    from evenhand.evaluate.tracing import ask_swaps, evidence_of, match_word
    from evenhand.integrity.swaps import disclosed, swap_plan
    from evenhand.store.outcomes import read_outcomes
    from evenhand.trace.files import read_calls, read_requests

    written = asked.outcomes is not None and asked.outcomes.exists()
    accepted = read_outcomes(asked.outcomes).accepted if written and asked.outcomes else None
    evidence = evidence_of(asked.items, read_calls(folder), accepted, asked.kind, asked.same)
    if asked.outcomes is not None and not written:
        note = f"the harness wrote no outcomes to {asked.outcomes}"
        evidence = replace(evidence, notes=(*evidence.notes, note))
    if not asked.swap or asked.kind is None:
        return evidence
    plan = swap_plan(asked.items, evidence, read_requests(folder), n=asked.swap, seed=asked.seed)
    say(f"swap     {count(len(plan))} of {plural(asked.swap, 'item')} asked again, {plural(2 * len(plan), 'call')}")
    answers = await ask_swaps(proxy, plan)
    return replace(evidence, swap=disclosed(answers, evidence, match_word(asked.kind, asked.same)[0], seed=asked.seed))


def _stamp(path: Path | None) -> tuple[int, int] | None:
    """Size and time of change; None where there is no file."""
    if path is None or not path.is_file():
        return None
    status = path.stat()
    return status.st_size, status.st_mtime_ns

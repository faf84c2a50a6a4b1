"""`evenhand audit reach TASKS CANDIDATES`: which held-out checks a known-incorrect implementation can reach."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, say, shown, write_text
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.audit.reach import ReachSettings
    from evenhand.integrity.degenerate import TaskReach

__all__ = ["SCHEMA", "reach"]

SCHEMA = "evenhand.audit-reach/1"


def reach(
    tasks: Annotated[
        Path, typer.Argument(metavar="TASKS", help="Rows with task_id, entry_point, visible_checks, heldout_checks.")
    ],
    candidates: Annotated[
        Path | None,
        typer.Argument(metavar="[CANDIDATES]", help="Rows with task_id, code, and candidate_id and kind if any."),
    ] = None,
    generate: Annotated[
        bool, typer.Option("--generate", help="Make a lookup table, and mutants of each task's solution, as well.")
    ] = False,
    first: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many tasks.")] = None,
    check_s: Annotated[float, typer.Option("--check-timeout", min=0.5, max=600, help="Seconds for one check.")] = 1.0,
    slots: Annotated[int, typer.Option(min=1, max=64, help="Candidates run at the same time.")] = 2,
    most_mutants: Annotated[int, typer.Option("--mutants", min=0, help="At most so many for a task.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Of drawing mutants.")] = 0,
    required: Annotated[
        bool, typer.Option("--require", help="Exit 1 if the verdict is fail, 3 if evidence is insufficient.")
    ] = False,
    by: Annotated[str, typer.Option("--tasks", metavar="worst|most", help="Which task speaks for C4.")] = "worst",
    allow_unsandboxed: Annotated[
        bool, typer.Option("--allow-unsandboxed", help="Run candidates though no sandbox works; it protects nothing.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the JSON here as well.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure which held-out checks can tell an incorrect implementation that passes every visible check.

    Each candidate runs in a sandbox of its own, over one suite at a time; expected values never enter it. A witness
    must fail twice, and a time-out is no witness.
    """
    from evenhand.audit.implementations import read_implementations
    from evenhand.audit.reach import ReachSettings, measure_reach
    from evenhand.audit.suites import read_tasks
    from evenhand.sandbox import Sandbox

    if by not in ("worst", "most"):
        raise InvalidInput(f"--tasks {shown(by, 40)}: expected worst or most")
    if candidates is None and not generate:
        raise InvalidInput("audit reach: name a file of candidates, or use --generate to make some")
    if output is not None and not output.parent.is_dir():
        raise InvalidInput(f"-o {shown(str(output))}: there is no folder {shown(str(output.parent))}; make it first")
    settings = ReachSettings(
        check_s=check_s, slots=slots, generate=generate, most_mutants=most_mutants, seed=seed
    )  # fmt: skip
    known = read_tasks(tasks)[:first]
    names = [task.task for task in known]
    read = None if candidates is None else read_implementations(candidates, frozenset(names))
    if read is not None and read.n_other_tasks:
        say(
            f"{plural(read.n_other_tasks, 'candidate belongs', 'candidates belong')} to tasks that are not "
            f"looked at, and are not run"
        )
    with Sandbox(allow_unsandboxed=allow_unsandboxed) as box:
        if box.kind == "unsandboxed":
            say("warning: candidates run unsandboxed, and nothing protects this machine from them")
        found = measure_reach(known, () if read is None else read.implementations, settings, box, note=say)
        document = _document(found, settings, by, box.kind)
    if output is not None:
        write_text(output, json_text(document))
        say(f"written  {shown(str(output))}")
    if as_json:
        sys.stdout.write(json_text(document))
    else:
        _print(document)
    if required:
        from evenhand.integrity.verdicts import exit_code

        raise typer.Exit(exit_code({"C4": document["criteria"]["C4"]["verdict"]}, ["C4"]))


def _document(found: "tuple[TaskReach, ...]", settings: "ReachSettings", by: str, kind: str) -> dict[str, Any]:
    """The verdict on C4 as in an audit, and how it was measured."""
    from evenhand.integrity.criteria_v0_1 import VERSION
    from evenhand.integrity.degenerate import degenerate_verdict

    where = "unsandboxed" if kind == "unsandboxed" else f"in the sandbox ({kind})"
    verdict = degenerate_verdict(
        found, source=f"measured here, {where}, each witness twice", taken="most" if by == "most" else "worst"
    )
    return {
        "schema": SCHEMA,
        "criteria_version": VERSION,
        "criteria": {"C4": verdict.document()},
        "settings": {
            "check_timeout_s": settings.check_s,
            "generated": settings.generate,
            "mutants": settings.most_mutants,
            "seed": settings.seed,
            "sandbox": kind,
        },
    }


def _print(document: dict[str, Any]) -> None:
    from evenhand.cli.audit_output import print_reach

    print_reach(document)

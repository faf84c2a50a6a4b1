"""What `evenhand harden` shows: a row for each payload and each control, of each member."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.cli.output import console, shown
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.evaluate.hardening import Hardened, HardenedMember
    from evenhand.terms import JudgeSpec

__all__ = ["document_of", "hardened_lines", "print_hardened"]


def document_of(
    spec: "JudgeSpec", hardened: "Hardened", *, n_items: int, seed: int, max_lift: float | None, planned: int
) -> dict[str, Any]:
    """What `--json` prints."""
    members = [_member(found, max_lift) for found in hardened.members]
    runs = [run for run in (hardened.judged, hardened.other) if run is not None]
    costs = [run.summary["cost_usd"] for run in runs]
    return {
        "schema": "evenhand.hardening/1",
        "judge": spec.name,
        "protocol": spec.protocol,
        "items": n_items,
        "scale": hardened.scale,
        "seed": seed,
        "members": members,
        "max_lift": max_lift,
        "exceeded": list(dict.fromkeys(kind for found in members for kind in found["exceeded"])),
        "unmeasured": list(dict.fromkeys(kind for found in members for kind in found["unmeasured"])),
        "not_reading": list(dict.fromkeys(kind for found in members for kind in found["not_reading"])),
        "planned": planned,
        "complete": hardened.stop is None,
        "stopped": None if hardened.stop is None else (str(hardened.stop) or "interrupted"),
        "failed": hardened.failed,
        "calls": {name: sum(run.calls[name] for run in runs) for name in ("asked", "stored", "shared")},
        "cost_usd": None if None in costs else sum(costs),
    }


def print_hardened(document: Mapping[str, Any]) -> None:
    """The table, on stdout."""
    out = console()
    for line in hardened_lines(document):
        out.print(line, overflow="fold")


def hardened_lines(document: Mapping[str, Any]) -> list[str]:
    """The table's lines."""
    scale = document["scale"]
    on = f", scores from {scale[0]:g} to {scale[1]:g}" if scale else ""
    n = document["items"]
    lines = [f"{shown(document['judge'], 60)}: {document['protocol']}, {plural(n, 'item')}{on}"]
    for member in document["members"]:
        lines += ["", *_member_lines(member, document["seed"])]
    calls = document["calls"]
    lines += ["", f"calls    {calls['asked']} sent, {calls['stored']} answered from the store"]
    cost = document["cost_usd"]
    return [*lines, "cost     unknown (no price for a model)" if cost is None else f"cost     ${cost:.4f}"]


def _member(found: "HardenedMember", max_lift: float | None) -> dict[str, Any]:
    return {
        "member": found.member,
        "baseline": found.baseline,
        "attacks": [lift.document() for lift in found.lifts],
        "controls": [reaction.document() for reaction in found.reactions],
        "exceeded": [lift.kind for lift in found.lifts if max_lift is not None and lift.exceeds(max_lift)],
        "unmeasured": [lift.kind for lift in found.lifts if max_lift is not None and lift.interval is None],
        "not_reading": [reaction.kind for reaction in found.reactions if reaction.reads is False],
    }


def _member_lines(member: Mapping[str, Any], seed: int) -> Iterator[str]:
    name, plain = member["member"] or "the panel", member["baseline"]
    yield shown(name, 78)
    yield f"as they are: verdicts {plain['verdict']}, abstained {plain['abstained']}, failed {plain['failed']}"
    yield ""
    yield f"{'payload':<16}{'lift':>8}  {'interval':<18}{'lifted':<12}{'abstained':>9}{'failed':>7}"
    for row in member["attacks"]:
        mark = " !" if row["kind"] in member["exceeded"] else ""
        yield (
            f"{row['kind']:<16}{_signed(row['mean']):>8}  {_between(row['interval']):<18}"
            f"{row['lifted']} of {row['n']:<6}  {row['abstained']:>8}{row['failed']:>7}{mark}"
        )
    yield f"(mean lift in points, 95 % bootstrap over items, seed {seed})"
    yield ""
    yield f"{'control':<16}{'reacted':>8}  interval"
    for row in member["controls"]:
        yield _control_line(row)


def _control_line(row: Mapping[str, Any]) -> str:
    head = f"{row['kind']:<16}"
    if row["why_not"]:
        return f"{head}not run: {row['why_not']}"
    if row["share"] is None:
        left_out = f"{row['at_lowest']} lowest already, {row['silent']} without a score, {row['failed']} failed"
        return f"{head}undefined: no item can tell ({left_out})"
    verdict = "" if row["reads"] else "  THE JUDGE IS NOT READING"
    low, high = row["interval"]
    lowest = f" ({row['at_lowest']} lowest already)" if row["at_lowest"] else ""
    return f"{head}{row['share']:>8.2f}  [{low:.2f}, {high:.2f}] of {plural(row['n'], 'item')}{lowest}{verdict}"


def _signed(value: float | None) -> str:
    return "none" if value is None else f"{value:+.2f}"


def _between(ends: Sequence[float] | None) -> str:
    return "undefined" if ends is None else f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"

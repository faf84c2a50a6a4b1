"""What `evenhand trace` prints for people."""

from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.cli.output import hanging, shown
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.integrity.trace_evidence import TracedItem, TraceEvidence
    from evenhand.trace.session import TracedRun

__all__ = ["print_trace"]

_WIDTH = 79
_HANG = 16
_SHOWN = 6


def print_trace(folder: Path, run: "TracedRun", evidence: "TraceEvidence", *, has_outcomes: bool) -> None:
    """The facts, and last what they allow to be said."""
    rows = [
        ("trace", str(folder)),
        ("harness", _ended(run)),
        ("calls", _calls(evidence)),
    ]
    if run.strangers:
        rows.append(("refused", f"{plural(run.strangers, 'request')} without the path's token, or to another host"))
    if evidence.unplaced:
        rows.append(("placed", evidence.unplaced))
    else:
        rows += _judge(evidence, has_outcomes=has_outcomes)
    rows += [("note", note) for note in evidence.notes]
    if not evidence.unplaced:
        rows.append(("C1", _allows(evidence, has_outcomes=has_outcomes)))
    for name, text in rows:
        for line in hanging(f"{name:<{_HANG}}{shown(text)}", _WIDTH, _HANG):
            print(line)


def _ended(run: "TracedRun") -> str:
    how = f"exit code {run.exit_code}" if run.ended_by is None else f"ended by {run.ended_by}"
    return f"{how} after {run.about['duration_s']:g} s; answered by {run.about['answered_by']}"


def _calls(evidence: "TraceEvidence") -> str:
    models = f"; models {', '.join(evidence.models)}" if evidence.models else ""
    return f"{evidence.n_calls} seen, {evidence.n_readable} readable, {evidence.n_failed} not answered{models}"


def _judge(evidence: "TraceEvidence", *, has_outcomes: bool) -> list[tuple[str, str]]:
    """How the judge came to its answers, over the items."""
    placed = [one for one in evidence.items if one.arm != "unplaced"]
    rows = [("placed", f"{count(evidence.n_placed)} of {plural(evidence.n_items, 'item')}")]
    for arm, n in evidence.arms.items():
        own = [one for one in evidence.items if one.arm == arm]
        first = next((one for one in own if one.commitment is not None), own[0])
        rows.append((arm, f"{n} of {evidence.n_items}: {first.item}: {first.reason}"))
    referred = sum(bool(one.reference_in_view) for one in placed)
    if referred:
        rows.append(("reference", f"in view on {count(referred)} of {plural(len(placed), 'item')}"))
    committed = [one for one in placed if one.commitment is not None]
    rows.append(("commitment", _commitments(committed, len(placed))))
    solved = [one.solved for one in committed if one.solved is not None]
    if solved:
        rows.append(
            (
                "solved",
                f"{count(sum(solved))} of {plural(len(solved), 'commitment')} "
                f"{'equals' if sum(solved) == 1 else 'equal'} the reference",
            )
        )
    if has_outcomes:
        rows.append(("acceptance", _acceptance(evidence)))
    if evidence.n_scored:
        decides = {True: "and it decides", False: "and it does not decide", None: "and whether it decides is not shown"}
        rows.append(
            (
                "score",
                f"{plural(evidence.n_scored, 'item has', 'items have')} one after the commitment, "
                f"{decides[evidence.score_decides]}",
            )
        )
    if evidence.swap is not None and not evidence.swap.n and not evidence.swap.unreadable:
        rows.append(("swap", "nothing could be asked again: no commitment was made with a candidate in plain view"))
    elif evidence.swap is not None:
        swap = evidence.swap
        share = "" if swap.low is None else f" (95 % {swap.low:.2f} to {swap.high:.2f})"
        rows.append((
            "swap",
            f"another candidate moved {count(swap.moved)} of {plural(swap.n, 'commitment')}{share}; asking "
            f"again unchanged moved "
            f"{swap.moved_unswapped}; {swap.unreadable} unreadable; seed {swap.seed}",
        ))  # fmt: skip
    return rows


def _commitments(committed: "list[TracedItem]", n: int) -> str:
    if not committed:
        return f"none on {plural(n, 'item')}"
    blind = sum(one.candidate_in_view is False for one in committed)
    held = sum(bool(one.comparison_has_commitment) for one in committed)
    compared = sum(one.compared for one in committed)
    compares = (
        f"; {count(held)} of {plural(compared, 'later comparison')} {'holds' if held == 1 else 'hold'} it"
        if compared
        else "; no later call compares"
    )
    return f"on {count(len(committed))} of {plural(n, 'item')}, {blind} of them without the candidate in view{compares}"


def _acceptance(evidence: "TraceEvidence") -> str:
    if not evidence.match:
        return f"{plural(evidence.n_outcomes, 'outcome')}, compared with nothing: say what an answer is with --match"
    if not evidence.n_matched and not evidence.undecided:
        return f"{plural(evidence.n_outcomes, 'outcome')}, and no commitment that they could be compared with"
    equal = evidence.n_matched - len(evidence.disagreements)
    more = f"; differs on {_ids(evidence.disagreements)}" if evidence.disagreements else ""
    undecided = f"; undecided on {_ids(evidence.undecided)}" if evidence.undecided else ""
    return (
        f"equals match(candidate, commitment), kind {evidence.match}, on {count(equal)} of "
        f"{plural(evidence.n_matched, 'item')} of "
        f"{evidence.n_outcomes} with an outcome{more}{undecided}"
    )


def _allows(evidence: "TraceEvidence", *, has_outcomes: bool) -> str:
    """What the trace allows to be said about C1; the verdict itself is `evenhand audit`'s."""
    if evidence.arm in ("anchored", "solve_first", "commit_ignored"):
        return f"the trace speaks against judge independence ({evidence.arm})"
    if evidence.score_decides:
        return "the trace speaks against judge independence: a score decides and not the match"
    if evidence.arm == "commit_scored":
        return "the trace does not show that the match decides: a score follows the commitment"
    if not has_outcomes:
        return "insufficient evidence at best: acceptance happens outside the wire; give the harness's --outcomes"
    if evidence.n_matched < evidence.n_items:
        return (
            f"insufficient evidence: acceptance could be checked on {count(evidence.n_matched)} of "
            f"{plural(evidence.n_items, 'item')}"
        )
    return "the trace speaks for judge independence; evenhand audit scores it, with the judge's solve accuracy"


def _ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more

"""C1: does the judge answer for itself before it compares, and does the match decide.

The facts come from a prompt template, from a recorded trace with outcomes, or from evenhand's own records; what is not
known is None, and None never passes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.integrity.solving import SolveFigures, solve_figures
from evenhand.integrity.verdicts import CriterionVerdict, TaskClass, Word
from evenhand.wording import count, plural

__all__ = ["JudgeFacts", "JudgeKind", "judge_independence"]

JudgeKind = Literal["none", "template", "trace", "evenhand"]

_SHOWN = 12  # ids in a sentence or a list of examples


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts:
    """What is known about how a judge comes to accept.

    Args:
        kind: where it is known from.
        source: the same in words, for the report.
        has_candidate: the candidate is in view when the judge answers for itself, or when it judges at all.
        has_reference: a reference is in view.
        commits: an answer of its own in a form that can be parsed is required, or was seen on the calls.
        precedes: it comes before anything is compared.
        match: the declared match relation in words; "" where there is none.
        n_matched: items on which acceptance was compared with the match.
        disagreements: ids of items where acceptance is not what the match says.
        without_commitment: ids of items that were accepted although no answer could be parsed.
        score_decides: a score that came after the commitment separates the accepted from the rejected, and the match
            does not.
        n_open: items on which acceptance could not be compared with the match: not placed, without an outcome, or with
            a match that is undecided.
        unplaced: why the judge's calls could not be read; "" where they could.
        asks_score: the judge is asked for a verdict or a score as well.
        details: further figures for the evidence, as plain JSON.
    """

    kind: JudgeKind
    source: str
    has_candidate: bool | None = None
    has_reference: bool | None = None
    commits: bool | None = None
    precedes: bool | None = None
    match: str = ""
    n_matched: int = 0
    disagreements: tuple[str, ...] = ()
    without_commitment: tuple[str, ...] = ()
    score_decides: bool | None = None
    n_open: int = 0
    unplaced: str = ""
    asks_score: bool | None = None
    details: Mapping[str, Any] | None = None


def judge_independence(
    facts: JudgeFacts, task_class: TaskClass, solving: SolveFigures | None = None
) -> CriterionVerdict:
    """The verdict on C1.

    Args:
        facts: how the judge comes to accept.
        task_class: of the tasks judged.
        solving: the judge's own solve accuracy; None where it was not disclosed.
    Returns:
        `fail` wherever one of the conditions is seen broken; `pass` only where all were seen to hold and the solve
        accuracy is disclosed.
    """
    figures = solving or solve_figures(())
    word, reason = _word(facts, task_class, figures)
    return CriterionVerdict(
        criterion="C1", verdict=word, reason=reason, evidence=_evidence(facts, figures), source=facts.source
    )


def _word(facts: JudgeFacts, task_class: TaskClass, figures: SolveFigures) -> tuple[Word, str]:
    if task_class == "subjective":
        return "not applicable", "a subjective task has no answer that a judge could commit to"
    if facts.kind == "none":
        return "not applicable", "no model judges"
    broken = _broken(facts)
    if broken:
        return "fail", broken
    missing = _missing(facts, figures)
    if missing:
        return "insufficient evidence", missing
    on = f"all {count(facts.n_matched)} items" if facts.n_matched > 1 else "the one item"
    return "pass", (
        "the judge commits to an answer of its own before the comparison, and acceptance is what matching the "
        f"candidate against it gives on {on}"
    )


def _broken(facts: JudgeFacts) -> str:
    """What was seen to be broken; "" where nothing was."""
    if facts.commits is False:
        where = "the candidate is in view and " if facts.has_candidate else ""
        return f"{where}the judge is not held to an answer of its own in a form that can be parsed"
    if facts.precedes is False:
        return "the judge's own answer comes after the comparison, not before it"
    if facts.without_commitment:
        items = _ids(facts.without_commitment)
        return f"candidates were accepted although no answer of the judge's own was given: {items}"
    if facts.score_decides:
        return "a score that follows the commitment decides, not the match with it"
    if facts.disagreements:
        n = len(facts.disagreements)
        return (
            f"acceptance is not what the match with the judge's own answer gives on {count(n)} of "
            f"{plural(facts.n_matched, 'item')}: "
            f"{_ids(facts.disagreements)}"
        )
    return ""


def _missing(facts: JudgeFacts, figures: SolveFigures) -> str:
    """What is not known; "" where nothing is missing."""
    if facts.unplaced:
        return facts.unplaced
    if facts.commits is None or facts.precedes is None:
        return "it is not shown that the judge commits to an answer of its own before the comparison"
    if facts.has_reference:
        return "a reference is in view, so that the answer need not be the judge's own"
    if not facts.match:
        return "the match relation between candidate and the judge's own answer is not specified"
    if facts.n_matched == 0 and not facts.n_open:
        what = "the judge's records" if facts.kind == "evenhand" else "the harness's outcomes, item by item"
        return f"acceptance happens outside of what was seen: give {what} (judge.outcomes)"
    if facts.n_open:
        n = facts.n_open + facts.n_matched
        return (
            f"on {count(facts.n_open)} of {plural(n, 'item')} acceptance could not be compared with the "
            f"match, or is not given"
        )
    if figures.solve_accuracy.value is None:
        return "the judge's own solve accuracy on these tasks is not disclosed"
    return ""


def _evidence(facts: JudgeFacts, figures: SolveFigures) -> dict[str, Any]:
    return {
        "kind": facts.kind,
        "has_candidate": facts.has_candidate,
        "has_reference": facts.has_reference,
        "commits": facts.commits,
        "commitment_precedes_comparison": facts.precedes,
        "asks_for_verdict_or_score": facts.asks_score,
        "match": facts.match or None,
        "n_matched": facts.n_matched,
        "n_not_matched": facts.n_open,
        "score_decides": facts.score_decides,
        "disagreements": list(facts.disagreements),
        "accepted_without_commitment": list(facts.without_commitment),
        **figures.document(),
        **({"details": dict(facts.details)} if facts.details else {}),
    }


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more

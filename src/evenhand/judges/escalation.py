"""When the first judge is not enough: a second one is asked where the first is unsure or disagrees with itself.

    unsure         a check whose probability of yes lies strictly between `low` and `high`
    disagreement   two of the first members or reruns answer a check, or place a level, differently
    no_verdict     a first member failed or abstained: it has decided nothing

What is escalated is decided by the escalation members alone: the first ones have just shown that they cannot tell, and
with one of each a vote of all would only ever be unanimous or tied.
"""

from collections.abc import Iterator, Sequence

from evenhand.errors import InvalidInput
from evenhand.judges.panel import Seat, refuse_panel, vote
from evenhand.terms import CriterionVerdict, Escalation, JudgeSpec, Verdict

__all__ = ["reasons_to_escalate", "refuse_escalation"]

_PROTOCOLS = ("checklist", "anchored")


def reasons_to_escalate(escalation: Escalation, seats: Sequence[Seat]) -> tuple[str, ...]:
    """Why an item is escalated; empty where the first members suffice.

    Args:
        seats: every first member and rerun on one item.
    Returns:
        `unsure:CHECK`, `disagreement:CHECK` (or the criterion's id), `no_verdict`, each once, in that order.
    """
    verdicts = [seat.outcome for seat in seats if isinstance(seat.outcome, Verdict)]
    found: list[str] = []
    if escalation.on != "disagreement":
        found += [f"unsure:{name}" for name in _unsure(escalation, verdicts)]
    if escalation.on != "unsure":
        found += [f"disagreement:{name}" for name in _contested(verdicts)]
    if len(verdicts) < len(seats):
        found.append("no_verdict")
    return tuple(dict.fromkeys(found))


def refuse_escalation(spec: JudgeSpec) -> None:
    """Refuse an escalation that could never happen, or whose outcome could not be decided.

    Raises:
        InvalidInput: a protocol whose results are hardly ever equal, nothing by which to be unsure or to disagree,
            bounds that enclose nothing, a model asked twice, or two members that must decide by majority.
    """
    escalation = spec.escalate
    if escalation is None:
        return
    where = f"judge {spec.name}: escalate"
    if spec.protocol not in _PROTOCOLS:
        raise InvalidInput(
            f"{where}: it is for {', '.join(_PROTOCOLS)}, whose answers can agree or be unsure, and this judge's "
            f"protocol is {spec.protocol}; take it out"
        )
    if not escalation.to:
        raise InvalidInput(f"{where}: `to` names no model; write `to: [provider/model]`")
    names = [model.model for model in (*spec.models, *escalation.to)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"{where}: {twice!r} would be asked twice; escalate to another model")
    if not 0.0 <= escalation.low < escalation.high <= 1.0:
        raise InvalidInput(
            f"{where}: low is {escalation.low} and high {escalation.high}; expected 0 <= low < high <= 1"
        )
    refuse_panel(spec, len(escalation.to), where="escalate.to")
    _refuse_idle(spec, escalation, where)


def _refuse_idle(spec: JudgeSpec, escalation: Escalation, where: str) -> None:
    """Refuse a trigger that nothing can pull: a setting that does nothing misleads."""
    has_probabilities = spec.read == "logprob" and escalation.on != "disagreement"
    if escalation.on == "unsure" and not has_probabilities:
        raise InvalidInput(
            f"{where}: `on: unsure` needs probabilities, which only `read: logprob` gives; add it, or write "
            "`on: disagreement`"
        )
    if not has_probabilities and len(spec.models) == 1 and spec.reruns == 1:
        raise InvalidInput(
            f"{where}: one model asked once cannot disagree; name several models, set `reruns`, or `read: logprob`"
        )


def _unsure(escalation: Escalation, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Checks whose probability lies strictly between the bounds."""
    for verdict in verdicts:
        for criterion in verdict.criteria:
            for check in criterion.checks:
                if check.probability is not None and escalation.low < check.probability < escalation.high:
                    yield check.id


def _contested(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Checks, or criteria, on which not all say the same."""
    for column in zip(*(verdict.criteria for verdict in verdicts), strict=True):
        for answers in zip(*(_answers(found) for found in column), strict=True):
            if len({said for _, said in answers}) > 1:
                yield answers[0][0]


def _answers(found: CriterionVerdict) -> list[tuple[str, object]]:
    """What one verdict says on a criterion: (check or criterion, answer)."""
    if found.checks:
        return [(check.id, vote(check)) for check in found.checks]
    return [(found.id, found.level)]

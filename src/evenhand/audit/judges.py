"""What is known of the judge, from a template, a trace, or an evenhand judge file: facts for C1."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.audit.config import AuditConfig, JudgeConfig
from evenhand.audit.evenhand_judge import evenhand_judge
from evenhand.audit.items import AuditItem
from evenhand.audit.judge_seen import JudgeSeen
from evenhand.audit.match_rules import Matchers, Matching, rule_words
from evenhand.errors import InvalidInput
from evenhand.integrity.findings import template_findings
from evenhand.integrity.judge_independence import JudgeFacts
from evenhand.integrity.solving import Judged
from evenhand.integrity.templates import TemplateReading, read_template
from evenhand.integrity.trace_evidence import TracedItem, TraceEvidence
from evenhand.store.outcomes import Outcome, read_outcomes
from evenhand.store.text_files import place, quoted, read_text_file
from evenhand.wording import count, plural

__all__ = ["judge_seen", "trace_facts"]

_WRONG = ("unequal", "no_answer")


def judge_seen(config: AuditConfig, items: Sequence[AuditItem], matchers: Matchers) -> JudgeSeen:
    """Read what the configuration names.

    Raises:
        InvalidInput: a file of it cannot be read, or a template holds neither task nor candidate.
    """
    judge = config.judge
    if judge is None:
        facts = JudgeFacts(kind="template", source="nothing: no judge is described", unplaced="no judge is described")
        return JudgeSeen(facts=facts)
    if judge.kind == "none":
        return JudgeSeen(facts=JudgeFacts(kind="none", source="the configuration, which says that no model judges"))
    outcomes = read_outcomes(judge.outcomes).items if judge.outcomes and judge.kind != "evenhand" else {}
    if judge.outcomes and outcomes and items and not any(item.id in outcomes for item in items):
        raise InvalidInput(
            f"{place(judge.outcomes)}: none of its ids is one of {place(config.items or '')}, such as "
            f"{quoted(items[0].id)}; give outcomes of these items"
        )
    match = None if judge.match is None else matchers.of(judge.match)
    if judge.kind == "template":
        return _template(judge, items, outcomes, match)
    if judge.kind == "trace":
        return _trace(config, judge, items, outcomes, match)
    return evenhand_judge(judge, items, matchers)


# --- a template ----------------------------------------------------------------------------------------------------


def _template(
    judge: JudgeConfig, items: Sequence[AuditItem], outcomes: Mapping[str, Outcome], match: Matching | None
) -> JudgeSeen:
    """What the text demands, and what the outcomes say about how its answers were used."""
    assert judge.path is not None
    file = read_text_file(judge.path, has_option=False)
    try:
        reading = read_template(file.text())
    except InvalidInput as error:
        raise InvalidInput(f"{file.name}: {error}") from error
    compared = _compared(items, outcomes, match)
    facts = JudgeFacts(
        kind="template",
        source=f"the template {judge.path.name}{', with outcomes as the harness gives them' if outcomes else ''}",
        has_candidate=reading.has_candidate,
        has_reference=reading.has_reference,
        commits=_demands(reading),
        precedes=_precedes(reading),
        asks_score=bool(reading.verdict),
        match=rule_words(judge.match),
        n_matched=len(compared.same) + len(compared.different),
        disagreements=compared.different,
        without_commitment=compared.without,
        n_open=compared.n_open,
        details={
            "placeholders": list(reading.placeholders),
            "has_task": reading.has_task,
            "commitment_demanded": reading.commitment or None,
            "verdict_demanded": reading.verdict or None,
            "told_to_solve_first": reading.solve_first or None,
        },
    )
    judged = _judged(items, outcomes, match)
    return JudgeSeen(facts=facts, judged=judged, findings=tuple(template_findings(reading, judge.path.name)))


def _demands(reading: TemplateReading) -> bool | None:
    """Whether an answer of the judge's own is demanded; not known of a prompt that shows no candidate to judge."""
    if reading.commitment:
        return True
    return False if reading.has_candidate else None


def _precedes(reading: TemplateReading) -> bool | None:
    """Whether it is demanded before any verdict; without the candidate in view there is nothing to compare yet."""
    if not reading.commitment:
        return None
    return True if not reading.has_candidate or not reading.verdict else reading.commitment_first


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Items by whether acceptance is what the match with the commitment gives."""

    same: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    n_open: int = 0


def _compared(items: Sequence[AuditItem], outcomes: Mapping[str, Outcome], match: Matching | None) -> _Compared:
    """Acceptance against the match, where the outcomes hold commitments."""
    committed = any(one.commitment is not None for one in outcomes.values())
    if match is None or not committed:
        return _Compared()
    n_open = 0
    same: list[str] = []
    different: list[str] = []
    without: list[str] = []
    for item in items:
        one = outcomes.get(item.id, Outcome())
        if item.id not in outcomes or (one.accepted is not None and not item.candidate):
            n_open += 1  # what is left out could have been decided otherwise
        elif one.accepted is None:
            n_open += one.commitment is not None
        elif one.commitment is None:
            without += [item.id] if one.accepted else []
        elif (word := match(item.candidate, one.commitment).verdict) == "undecided":
            n_open += 1
        else:
            (same if one.accepted is (word == "equal") else different).append(item.id)
    return _Compared(same=tuple(same), different=tuple(different), without=tuple(without), n_open=n_open)


def _judged(items: Sequence[AuditItem], outcomes: Mapping[str, Outcome], match: Matching | None) -> tuple[Judged, ...]:
    """What is known of each item, its truth from the outcomes or else by the match with the gold."""
    return tuple(
        Judged(
            item=item.id,
            solves=_solves(item, outcomes.get(item.id, Outcome()), match),
            wrong=_wrong(item, outcomes.get(item.id, Outcome()), match),
            accepted=outcomes.get(item.id, Outcome()).accepted,
        )
        for item in items
    )


def _solves(item: AuditItem, outcome: Outcome, match: Matching | None) -> tuple[bool, ...]:
    """Blind solves, marked by the harness or by the match with the gold; an undecided one is left out."""
    if outcome.solved or match is None or not item.gold:
        return outcome.solved
    words = [match(answer, item.gold).verdict for answer in outcome.solves]
    return tuple(word == "equal" for word in words if word != "undecided")


def _wrong(item: AuditItem, outcome: Outcome, match: Matching | None) -> bool | None:
    if outcome.wrong is not None or match is None or not item.gold or not item.candidate:
        return outcome.wrong
    word = match(item.candidate, item.gold).verdict
    return None if word == "undecided" else word in _WRONG


# --- a trace -------------------------------------------------------------------------------------------------------


def _trace(
    config: AuditConfig,
    judge: JudgeConfig,
    items: Sequence[AuditItem],
    outcomes: Mapping[str, Outcome],
    match: Matching | None,
) -> JudgeSeen:
    """What the recorded calls show, item by item."""
    assert judge.path is not None
    found = _evidence(config, judge, outcomes, match)
    by_item = {one.item: one for one in found.items}
    facts = trace_facts(found, judge.path, set(outcomes) if outcomes else None)
    facts = replace(facts, match=rule_words(judge.match))
    judged = tuple(
        replace(one, solves=one.solves or _blind_solve(by_item.get(one.item)))
        for one in _judged(items, outcomes, match)
    )
    return JudgeSeen(facts=facts, judged=judged)


def _evidence(
    config: AuditConfig, judge: JudgeConfig, outcomes: Mapping[str, Outcome], match: Matching | None
) -> TraceEvidence:
    from evenhand.integrity.sequence import trace_evidence
    from evenhand.store.items import read_items
    from evenhand.trace.files import read_calls

    if config.items is None:
        raise InvalidInput(f"{config.file}: task.items is missing; a trace is read by the texts of its items")
    assert judge.path is not None
    folder = judge.path.parent if judge.path.is_file() else judge.path
    return trace_evidence(
        tuple(read_items(config.items)),
        tuple(read_calls(folder)),
        {item: one.accepted for item, one in outcomes.items()} if outcomes else None,
        None if match is None else lambda candidate, gold: match(candidate, gold).verdict,
        match_words=rule_words(judge.match),
    )


def trace_facts(found: TraceEvidence, path: Path, with_outcome: set[str] | None) -> JudgeFacts:
    """The facts for C1 that a trace's evidence holds.

    Args:
        found: what the trace shows.
        path: of the trace.
        with_outcome: ids of items that the outcomes name; None where there are no outcomes.
    """
    placed = [one for one in found.items if one.arm != "unplaced"]
    committed = [one for one in placed if one.commitment is not None]
    outcomes = ", without outcomes" if with_outcome is None else ", with outcomes as the harness gives them"
    return JudgeFacts(
        kind="trace",
        source=f"a trace of {plural(found.n_calls, 'call')} in {path.name}, {count(len(placed))} of "
        f"{plural(found.n_items, 'item')} placed"
        f"{outcomes}",
        has_candidate=_any(one.candidate_in_view for one in placed),
        has_reference=_any(one.reference_in_view for one in placed),
        commits=_commits(placed),
        precedes=_all(one.precedes for one in committed),
        match=found.match,
        n_matched=found.n_matched,
        disagreements=found.disagreements,
        without_commitment=found.accepted_without_commitment,
        score_decides=found.score_decides,
        n_open=0 if with_outcome is None else sum(_is_open(one, with_outcome) for one in found.items),
        unplaced=_unreadable(found, placed),
        asks_score=found.n_scored > 0,
        details={key: value for key, value in found.document().items() if key != "schema"},
    )


def _unreadable(found: TraceEvidence, placed: Sequence[TracedItem]) -> str:
    """Why the trace cannot say how acceptance comes about; "" where it can."""
    if found.unplaced or not placed:
        return found.unplaced or "no item of the trace could be placed"
    if found.arm == "commit_scored" and found.score_decides is None:
        return "a score follows the commitment, and the outcomes do not tell whether it or the match decides"
    return ""


def _is_open(one: TracedItem, with_outcome: set[str]) -> bool:
    """Whether acceptance could not be compared with the match; an abstention has nothing to compare."""
    if one.arm == "unplaced" or one.item not in with_outcome:
        return True
    return one.accepted is not None and one.commitment is not None and one.matched in (None, "undecided")


def _commits(placed: Sequence[TracedItem]) -> bool | None:
    """False where one judge was not held to an answer; None without any."""
    if not placed:
        return None
    return not any(one.arm in ("anchored", "solve_first") for one in placed)


def _blind_solve(item: TracedItem | None) -> tuple[bool, ...]:
    """A commitment made without the candidate in view is a blind solve."""
    blind = item is not None and item.candidate_in_view is False and item.solved is not None
    return (bool(item.solved),) if blind and item is not None else ()


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def _all(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return all(known) if known else None

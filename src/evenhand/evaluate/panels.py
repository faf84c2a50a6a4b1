"""From the members' outcomes on an item to the panel's records, and whether a second judge is to be asked.

    members' records      one a member and rerun, as without a panel
    the panel's records   one a rerun: `member` null, `panel` with rule, size, members and dissent

What a combined record rests on stands in it: its keys are those of all members, in order, so that `rescore` can compute
it again without the members' own records.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.evaluate.recording import Recorder, evidence_entry
from evenhand.judges.escalation import reasons_to_escalate, refuse_escalation
from evenhand.judges.families import Kinship
from evenhand.judges.panel import Merge, Panel, Seat, panel_rule, refuse_panel
from evenhand.repository_text import ITEM_FLAGS
from evenhand.terms import Evidence, Failure, JudgeSpec, ModelSpec, Outcome, Record, Verdict

__all__ = ["Done", "PanelRecorder", "asked_models", "has_panel", "refuse_unfit"]


# How flags begin that tell of the item, whoever judges it.
_OF_ITEM = ("person_must_decide:", "pass_left_out:", "detector_left_out:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One judgement: who gave it, what came out, its record, and what detectors had found before."""

    member: str
    outcome: Outcome
    record: Record
    findings: tuple[Evidence, ...] = ()


def has_panel(spec: JudgeSpec) -> bool:
    """Whether this judge's members are combined: there are several and a rule, or it escalates."""
    return spec.escalate is not None or (len(spec.models) > 1 and panel_rule(spec) is not None)


def asked_models(spec: JudgeSpec) -> tuple[ModelSpec, ...]:
    """Every model that may be asked: the judge's, and those it escalates to."""
    return spec.models if spec.escalate is None else (*spec.models, *spec.escalate.to)


def refuse_unfit(spec: JudgeSpec, *, panel: bool) -> None:
    """Refuse members that could not decide, or an escalation that could not happen.

    Args:
        panel: False where each member is recorded alone.
    Raises:
        InvalidInput: as `refuse_panel` and `refuse_escalation`, or an escalation without a panel.
    """
    if not panel and spec.escalate is not None:
        raise InvalidInput(
            f"judge {spec.name}: it escalates, and what a second judge decides is the panel's record; take --no-panel "
            "away, or `escalate` out"
        )
    if panel:
        refuse_escalation(spec)
        # Two first members that may disagree are no trouble where disagreement calls a second judge.
        if spec.escalate is None or spec.escalate.on == "unsure":
            refuse_panel(spec, len(spec.models))


class PanelRecorder:
    """Writes the combined records of one judge.

    Args:
        spec: the judge.
        recorder: of the members' records.
        kinship: the members' families; None where they are not known.
    Raises:
        InvalidInput: a protocol without a panel rule.
    """

    def __init__(self, spec: JudgeSpec, recorder: Recorder, kinship: Kinship | None = None) -> None:
        self.escalation = spec.escalate
        self._recorder = recorder
        self._kinship = kinship
        self._first = self._panel(spec, len(spec.models))
        self._second = None if spec.escalate is None else self._panel(spec, len(spec.escalate.to))

    def reasons(self, firsts: Sequence[Done]) -> tuple[str, ...]:
        """Why an item is to be escalated; empty where it is not."""
        return () if self.escalation is None else reasons_to_escalate(self.escalation, [_seat(done) for done in firsts])

    def records(
        self, firsts: Sequence[Done], seconds: Sequence[Done] = (), because: Sequence[str] = ()
    ) -> Iterator[Record]:
        """The combined records of one item, a rerun each.

        Args:
            firsts: every member and rerun, members in their order.
            seconds: those of the escalation, likewise; empty where the item was not escalated.
            because: why it was.
        """
        for rerun in sorted({done.record.rerun for done in firsts}):
            own = [done for done in firsts if done.record.rerun == rerun]
            yield self.record(own, [done for done in seconds if done.record.rerun == rerun], because)

    def record(self, firsts: Sequence[Done], seconds: Sequence[Done], because: Sequence[str]) -> Record:
        """The combined record of one item and rerun; the escalation members decide where there are any."""
        panel, deciders = (self._second, seconds) if seconds and self._second else (self._first, firsts)
        made = panel.combine([self._scored(done) for done in deciders])
        document: dict[str, Any] = {
            "rule": panel.rule,
            "size": panel.size,
            "members": [_member(done) for done in (*firsts, *seconds)],
            "dissent": list(made.dissent),
        }
        if self.escalation is not None:
            document["escalation"] = {
                "escalated": bool(seconds),
                "because": list(because),
                "first": [done.member for done in firsts],
                "to": [model.model for model in self.escalation.to],
            }
        if firsts[0].findings:
            document["findings"] = [evidence_entry(finding) for finding in firsts[0].findings]
        flags = self._flags(deciders, escalated=bool(seconds))
        return self._recorder.combined([done.record for done in (*firsts, *seconds)], made, document, flags)

    def _panel(self, spec: JudgeSpec, size: int) -> Panel:
        return Panel(spec, size, self._recorder.scorer, merge=_merge(spec))

    def _scored(self, done: Done) -> Seat:
        """A seat with its score, which a median is taken of."""
        if isinstance(done.outcome, Verdict):
            return Seat(member=done.member, outcome=done.outcome, scored=self._recorder.scorer.score(done.outcome))
        return _seat(done)

    def _flags(self, deciders: Sequence[Done], *, escalated: bool) -> tuple[str, ...]:
        """What a reader should know of who decided."""
        n_verdicts = sum(isinstance(done.outcome, Verdict) for done in deciders)
        found = {
            "escalated": escalated,
            "members_without_verdict": n_verdicts < len(deciders),
            "shared_family": self._kinship is not None and self._kinship.shared([done.member for done in deciders]),
            "same_family": any("same_family" in done.record.flags for done in deciders),
            **{flag: any(flag in done.record.flags for done in deciders) for flag in ITEM_FLAGS},
        }
        of_item = (flag for done in deciders for flag in done.record.flags if flag.startswith(_OF_ITEM))
        return (*(name for name, holds in found.items() if holds), *dict.fromkeys(of_item))


def _merge(spec: JudgeSpec) -> Merge | None:
    """How a pool counts near-duplicates once."""
    if panel_rule(spec) != "pool":
        return None
    from evenhand.judges.duplicates import merge_near_duplicates  # here, since few judges pool and rapidfuzz is large

    return merge_near_duplicates


def _seat(done: Done) -> Seat:
    return Seat(member=done.member, outcome=done.outcome)


def _member(done: Done) -> Mapping[str, Any]:
    """A member's part in a combined record; `calls` says how many of its keys are this member's."""
    record = done.record
    entry: dict[str, Any] = {"member": done.member, "status": record.status, "calls": len(record.keys)}
    dial = next((flag for flag in record.flags if flag.startswith("counter_bias:")), None)
    if dial is not None:
        entry["counter_bias"] = dial.partition(":")[2]
    if isinstance(done.outcome, Failure):
        return {**entry, "code": done.outcome.code}
    if record.status == "verdict":
        return {**entry, "score": record.score, "exact": record.exact}
    return {**entry, "reason": record.reason}

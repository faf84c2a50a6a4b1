"""From an outcome to the record that survives: nothing in it varies by clock, cache or number of attempts."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.judges.panel import Combined
from evenhand.scoring.scored import Scored
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import (
    Abstention,
    CheckResult,
    CriterionVerdict,
    Evidence,
    Failure,
    Item,
    Outcome,
    OwnAnswer,
    Record,
    Usage,
    Verdict,
)

__all__ = ["Recorder", "evidence_entry", "judge_head", "metadata_of", "sum_usage"]

Flags = tuple[str, ...]


def judge_head(
    *,
    name: str,
    judge_hash: str,
    protocol: str,
    protocol_version: int,
    models: Sequence[str],
    escalate_to: Sequence[str] = (),
) -> dict[str, Any]:
    """The `judge` field of a record; `escalate_to` stands only where the judge escalates."""
    head = {
        "name": name,
        "hash": judge_hash,
        "protocol": protocol,
        "protocol_version": protocol_version,
        "models": list(models),
    }
    return {**head, "escalate_to": list(escalate_to)} if escalate_to else head


class Recorder:
    """Scores verdicts and writes records for one judge.

    Args:
        head: the `judge` field.
        scorer: the formulas, bound to the judge.
    """

    def __init__(self, head: Mapping[str, Any], scorer: VerdictScorer) -> None:
        self.scorer = scorer
        self._head = head

    def record(
        self,
        *,
        item: str,
        item_hash: str,
        metadata: Mapping[str, Any],
        candidate_chars: int,
        member: str,
        rerun: int,
        outcome: Outcome,
        cost_usd: float | None,
        flags: Flags = (),
    ) -> Record:
        """The record of one outcome; `flags` stand in front of those of verdict and score."""
        common: dict[str, Any] = {
            "item": item,
            "item_hash": item_hash,
            "metadata": metadata,
            "judge": self._head,
            "member": member,
            "rerun": rerun,
            "candidate_chars": candidate_chars,
            "usage": outcome.usage,
            "cost_usd": cost_usd,
            "keys": outcome.keys,
        }
        if isinstance(outcome, Failure):
            cause = {"code": outcome.code, "message": outcome.message, "raw_key": outcome.raw_key}
            return Record(status="failed", cause=cause, flags=flags, **common)
        if isinstance(outcome, Abstention):
            return Record(status="abstained", reason=outcome.reason, text=outcome.text, flags=flags, **common)
        return _of_verdict(outcome, self.scorer.score(outcome), flags, common)

    def combined(self, members: Sequence[Record], made: Combined, panel: Mapping[str, Any], flags: Flags) -> Record:
        """A panel's record on one item and rerun.

        Args:
            members: the records of all that were asked, in order: the panel rests on their replies together, and cost
                what they cost together.
            made: what they came to.
            panel: the record's `panel` field.
            flags: what a reader should know.
        """
        first, costs = members[0], [record.cost_usd for record in members if record.keys]
        common: dict[str, Any] = {
            "item": first.item,
            "item_hash": first.item_hash,
            "metadata": first.metadata,
            "judge": self._head,
            "member": None,
            "rerun": first.rerun,
            "panel": panel,
            "candidate_chars": first.candidate_chars,
            "usage": sum_usage([record.usage for record in members]),
            "cost_usd": None if None in costs or not costs else sum(cost for cost in costs if cost is not None),
            "keys": tuple(key for record in members for key in record.keys),
        }
        record = _of_verdict(made.verdict, made.scored, flags, common)
        for criterion in record.criteria:
            _add_votes(criterion, made.votes.get(criterion["id"], {}))
        return record


def metadata_of(item: Item) -> Mapping[str, Any]:
    """What an analysis may group by: the item's metadata, with the system that gave the candidate."""
    return item.metadata if item.system is None else {**item.metadata, "system": item.system}


def sum_usage(usages: Sequence[Usage]) -> Usage:
    """Tokens added up; a figure is None only where no usage has it."""
    sums: dict[str, int | None] = {}
    for name in ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"):
        known = [count for usage in usages if (count := getattr(usage, name)) is not None]
        sums[name] = sum(known) if known else None
    return Usage(**sums)


def _of_verdict(verdict: Verdict, scored: Scored, flags: Flags, common: Mapping[str, Any]) -> Record:
    """A verdict's record; one whose criteria cannot be scored abstains, and keeps its findings."""
    criteria = tuple(_criterion(found, part) for found, part in zip(verdict.criteria, scored.criteria, strict=True))
    flags = (*flags, *verdict.flags, *scored.flags)
    if scored.abstained is not None:
        return Record(
            status="abstained",
            reason=scored.abstained,
            criteria=criteria,
            flags=flags,
            feedback=verdict.feedback,
            **common,
        )
    return Record(
        status="verdict",
        score=scored.score,
        exact=scored.exact,
        scale=scored.scale,
        criteria=criteria,
        flags=flags,
        feedback=verdict.feedback,
        **common,
    )


def _add_votes(criterion: Any, votes: Mapping[str, Mapping[str, int]]) -> None:
    """How the members of a panel voted, beside each check or level."""
    for check in criterion.get("checks", ()):
        check["votes"] = votes[check["id"]]
    if "level" in votes and "checks" not in criterion:
        criterion["votes"] = votes["level"]


def _criterion(found: CriterionVerdict, scored: Any) -> dict[str, Any]:
    """One criterion: its score first, then what the score rests on."""
    entry: dict[str, Any] = {
        "id": found.id,
        "weight": scored.weight,
        "score": scored.score,
        "exact": scored.exact,
        "scale": scored.scale,
    }
    if scored.arithmetic is not None:
        entry["arithmetic"] = scored.arithmetic
        entry["items"] = [evidence_entry(item) for item in found.items]
    if found.checks:
        entry["checks"] = [_check(check) for check in found.checks]
    if found.level is not None:
        entry["level"] = found.level
    if found.rating is not None:
        entry["rating"] = found.rating
    if found.label is not None:
        entry["label"] = found.label
    if found.reason is not None:
        entry["reason"] = found.reason
    if found.quote is not None:
        entry.update(quote=found.quote, quote_status=found.quote_status, span=found.span)
        if found.gap is not None:
            entry["gap"] = found.gap
        if found.sentences is not None:
            entry["sentences"] = found.sentences
        if found.place is not None:
            entry["place"] = found.place
    if found.own is not None:
        entry["own"] = _own(found.own)
    if found.orders:
        entry["orders"] = [{"first": one.first, "better": one.better, "reason": one.reason} for one in found.orders]
    return entry


def _own(own: OwnAnswer) -> dict[str, Any]:
    """What the judge committed to: the answer it stands by first, then how the candidate compares, then all of them."""
    stands = None if own.stands is None else own.commitments[own.stands]
    entry: dict[str, Any] = {
        "mode": own.mode,
        "answer": None if stands is None else stands.answer,
        "key": None if stands is None else stands.key,
        "hash": None if stands is None else stands.hash,
        "match": own.match,
        "how": own.how,
        "compared_by": own.compared_by,
        "asked": own.asked,
        "stands": own.stands,
        "lost": list(own.lost),
        "commitments": [
            {"answer": one.answer, "key": one.key, "hash": one.hash, "agrees": one.agrees} for one in own.commitments
        ],
    }
    return entry if own.comparison_key is None else {**entry, "comparison_key": own.comparison_key}


def _check(check: CheckResult) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": check.id,
        "passed": check.passed,
        "quote": check.quote,
        "quote_status": check.quote_status,
        "span": check.span,
        "counted": check.counted,
    }
    if check.gap is not None:
        entry["gap"] = check.gap
    if check.sentences is not None:
        entry["sentences"] = check.sentences
    if check.probability is not None:
        entry["probability"] = check.probability
        entry["mass"] = check.mass
    if check.place is not None:
        entry["place"] = check.place
    return entry


def evidence_entry(item: Evidence) -> dict[str, Any]:
    """An evidence item as records hold it; what is not set is left out."""
    entry: dict[str, Any] = {
        "claim": item.claim,
        "quote": item.quote,
        "impact": item.impact,
        "criterion": item.criterion,
        "perspective": item.perspective,
        "quote_status": item.quote_status,
        "span": item.span,
        "counted": item.counted,
    }
    if item.gap is not None:
        entry["gap"] = item.gap
    if item.sentences is not None:
        entry["sentences"] = item.sentences
    if item.catalog_id is not None:
        entry["catalog_id"] = item.catalog_id
    if item.pass_name is not None:
        entry["pass"] = item.pass_name
    for name in ("source", "detector", "merged", "dropped", "review", "bucket", "note", "place"):
        if value := getattr(item, name):
            entry[name] = value
    return entry

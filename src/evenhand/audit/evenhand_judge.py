"""Facts for C1 from an evenhand judge file and its records: the protocol says how, the records that it was so."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.audit.config import JudgeConfig
from evenhand.audit.items import AuditItem
from evenhand.audit.judge_seen import JudgeSeen
from evenhand.audit.match_rules import Matchers, Matching, rule_words
from evenhand.integrity.judge_independence import JudgeFacts
from evenhand.integrity.solving import Judged
from evenhand.matching.rules import MatchRule
from evenhand.store.judge_files import read_judge
from evenhand.store.records import read_records
from evenhand.terms import JudgeSpec, Record
from evenhand.wording import plural

__all__ = ["evenhand_judge"]

_COMMIT = "commit"
_ACCEPTED, _REJECTED = "accepted", "rejected"
_WITHOUT_CANDIDATE = frozenset({"blind"})


def evenhand_judge(judge: JudgeConfig, items: Sequence[AuditItem], matchers: Matchers) -> JudgeSeen:
    """Read a judge file, and its records where `outcomes` names them.

    Raises:
        InvalidInput: judge or records cannot be read.
    """
    assert judge.path is not None
    spec = read_judge(judge.path)
    rule = judge.match or _own_rule(spec)
    match = None if rule is None else matchers.of(rule)
    records = [] if judge.outcomes is None else list(read_records(judge.outcomes))
    source = f"the judge file {judge.path.name} (protocol {spec.protocol})"
    if records:
        source += f" and {plural(len(records), 'record')}"
    if spec.protocol != _COMMIT:
        facts = JudgeFacts(kind="evenhand", source=source, has_candidate=True, commits=False, match=rule_words(rule),
                           details={"protocol": spec.protocol})  # fmt: skip
        return JudgeSeen(facts=facts, judged=_judged(items, records, match))
    return JudgeSeen(facts=_facts(spec, source, rule, match, items, records), judged=_judged(items, records, match))


def _own_rule(spec: JudgeSpec) -> MatchRule | None:
    """The match relation that the judge file states."""
    if spec.commit is None:
        return None
    from evenhand.matching.rule_fields import match_rule

    return match_rule(spec.commit.match, f"judge {spec.name}")


def _facts(
    spec: JudgeSpec, source: str, rule: MatchRule | None, match: Matching | None, items: Sequence[AuditItem],
    records: Sequence[Record],
) -> JudgeFacts:  # fmt: skip
    """A commit judge: its requests hold no candidate in blind mode, and code decides; the records are held to it."""
    candidates = {item.id: item.candidate for item in items}
    same, n_open = 0, 0
    different: list[str] = []
    without: list[str] = []
    unlinked: list[str] = []
    for record in records:
        accepted, own = _accepted(record), _own(record)
        if accepted is None:
            n_open += record.status == "failed"
            continue
        answer = _stands(own)
        if answer is None:
            without += [record.item] if accepted else []
        elif (word := _word(own, answer, candidates.get(record.item), match)) == "undecided":
            n_open += 1
        elif accepted is (word == "equal"):
            same += 1
        else:
            different.append(record.item)
        unlinked += [] if answer is None or _is_linked(record, own) else [record.item]
    recorded = {record.item for record in records}
    left_out = [
        item.id for item in items if item.id not in recorded
    ]  # what is left out could have been decided otherwise
    return JudgeFacts(
        kind="evenhand",
        source=source,
        has_candidate=spec.commit is None or spec.commit.mode not in _WITHOUT_CANDIDATE,
        commits=True,
        precedes=True,
        match=rule_words(rule),
        n_matched=same + len(different),
        disagreements=tuple(dict.fromkeys(different)),
        without_commitment=tuple(dict.fromkeys(without)),
        n_open=n_open + len(unlinked) + (len(left_out) if records else 0),
        details={
            "protocol": spec.protocol,
            "mode": None if spec.commit is None else spec.commit.mode,
            "n_records": len(records),
            "n_without_verdict": sum(_accepted(record) is None for record in records),
            "without_key_of_the_commitment": unlinked,
            "without_a_record": left_out,
        },
    )


def _criterion(record: Record) -> Mapping[str, Any]:
    return record.criteria[0] if record.criteria else {}


def _accepted(record: Record) -> bool | None:
    """By the record's label; None where the judge abstained or failed."""
    label = _criterion(record).get("label")
    return None if label not in (_ACCEPTED, _REJECTED) else label == _ACCEPTED


def _own(record: Record) -> Mapping[str, Any]:
    return _criterion(record).get("own") or {}


def _stands(own: Mapping[str, Any]) -> str | None:
    """The answer that the judge stands by."""
    place, commitments = own.get("stands"), own.get("commitments") or ()
    return None if place is None else str(commitments[place]["answer"])


def _word(own: Mapping[str, Any], answer: str, candidate: str | None, match: Matching | None) -> str:
    """The match, made again where code made it; the record's own word where a model was asked."""
    if candidate and match is not None and own.get("compared_by") != "model":
        return match(candidate, answer).verdict
    return str(own.get("match") or "undecided")


def _is_linked(record: Record, own: Mapping[str, Any]) -> bool:
    """Whether the commitment's call is among the record's, and a model's comparison has a call of its own."""
    keys = {one.get("key") for one in own.get("commitments") or ()}
    asked = own.get("compared_by") == "model"
    return keys <= set(record.keys) and (not asked or own.get("comparison_key") in record.keys)


def _judged(items: Sequence[AuditItem], records: Iterable[Record], match: Matching | None) -> tuple[Judged, ...]:
    """Figures by item: blind commitments are solves, the match with the gold is the truth, the first rerun decides."""
    of_item: dict[str, list[Record]] = {}
    for record in records:
        of_item.setdefault(record.item, []).append(record)
    return tuple(
        Judged(
            item=item.id,
            solves=tuple(found for record in of_item.get(item.id, []) for found in _solves(item, record, match))
            or _given_solves(item, match),
            wrong=_wrong(item, match),
            accepted=_accepted(of_item[item.id][0]) if item.id in of_item else None,
        )
        for item in items
    )


def _solves(item: AuditItem, record: Record, match: Matching | None) -> list[bool]:
    own = _own(record)
    if match is None or not item.gold or own.get("mode") != "blind":
        return []
    words = [match(str(one["answer"]), item.gold).verdict for one in own.get("commitments") or ()]
    return [word == "equal" for word in words if word != "undecided"]


def _given_solves(item: AuditItem, match: Matching | None) -> tuple[bool, ...]:
    """Blind solves that stand with the item (`solves`, a list of answers), for a judge that saw the candidate."""
    given = item.row.get("solves")
    if match is None or not item.gold or not isinstance(given, list):
        return ()
    words = [match(str(answer), item.gold).verdict for answer in given]
    return tuple(word == "equal" for word in words if word != "undecided")


def _wrong(item: AuditItem, match: Matching | None) -> bool | None:
    if match is None or not item.gold or not item.candidate:
        return None
    word = match(item.candidate, item.gold).verdict
    return None if word == "undecided" else word != "equal"

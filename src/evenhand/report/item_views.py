"""One item's records as a page shows them: findings beside their questions, quotations marked in the texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.judges.pairwise import SOURCE_B
from evenhand.report.caveats import flag_texts, tells_score
from evenhand.report.excerpts import Mark, pieces
from evenhand.report.model import CriterionView, Finding, ItemView, RecordView, Text
from evenhand.report.numbers import cost, number
from evenhand.report.own_answers import own_answers
from evenhand.report.tables import bucket_table
from evenhand.report.texts import Library
from evenhand.report.working import working
from evenhand.terms import CheckGroup, JudgeSpec, Record, Usage
from evenhand.wording import count, plural

__all__ = ["Shown", "cause_of", "item_view", "reason_of", "record_view", "who"]

MOST_FINDINGS = 40
"""Of one criterion in one record; strongest first for evidence, and the number left out is stated."""

_MOST_RAW = 4_000
_STANDING = {
    "exact": "in the text",
    "normalized": "in the text, but for spelling signs",
    "fuzzy": "nearly in the text",
    "elided": "in the text with words left out",
    "absent": "NOT in the text",
}
_KNOWN = {
    *("id", "weight", "score", "exact", "scale", "checks", "items", "arithmetic", "quote", "quote_status", "span"),
    *("gap", "votes", "level", "rating", "sentences", "level_texts", "orders"),
    "own",
}


class Shown:
    """How records are shown: where their texts are, and whether scores are left out."""

    def __init__(self, library: Library, *, hide_scores: bool) -> None:
        self.library = library
        self.hide_scores = hide_scores

    def score(self, value: float | None, digits: int = 2) -> str:
        """A score in words, or nothing where scores are hidden."""
        return "" if self.hide_scores or value is None else number(value, digits)


class _Marks:
    """Quotations of one item, numbered in their order of appearance; the same place in the same text is one."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._kinds: dict[int, str] = {}

    def add(self, source: str, span: Sequence[int] | None, kind: str) -> int | None:
        """The number of a place; a place that counts for one finding and not for another shows that it counts."""
        if span is None:
            return None
        place = source, span[0], span[1]
        mark = self._numbers.setdefault(place, len(self._numbers) + 1)
        if self._kinds.get(mark, "aside") == "aside":
            self._kinds[mark] = kind
        return mark

    def of(self, source: str) -> list[Mark]:
        """The marks of one text."""
        return [
            Mark(number=mark, start=start, end=end, kind=self._kinds[mark])
            for (name, start, end), mark in self._numbers.items()
            if name == source
        ]

    def sources(self) -> set[str]:
        """The texts that were quoted."""
        return {source for source, _, _ in self._numbers}


def who(record: Record) -> str:
    """Who judged: the model, or the panel."""
    return record.member or "panel"


def item_view(place: int, records: Sequence[Record], shown: Shown) -> ItemView:
    """One item with all its records, a panel's before its members'."""
    first, marks = records[0], _Marks()
    ordered = sorted(records, key=lambda record: (record.member is not None, record.rerun))
    views = tuple(record_view(record, shown, marks) for record in ordered)
    content, missing = shown.library.item(first.item_hash, first.item)
    facts = () if shown.hide_scores else tuple((str(name), _text(value)) for name, value in first.metadata.items())
    return ItemView(
        number=place,
        id=first.item,
        facts=facts,
        task=str((content or {}).get("task") or ""),
        texts=() if content is None else tuple(_texts(content, marks)),
        missing=missing,
        records=views,
    )


def _texts(content: Mapping[str, Any], marks: _Marks) -> Iterable[Text]:
    """The candidate, the second one of a pair, and each further text that was quoted."""
    texts = {"candidate": content.get("candidate"), "context": content.get("context"), **content.get("sources", {})}
    quoted = marks.sources()
    for name, text in texts.items():
        if isinstance(text, str) and (name in ("candidate", SOURCE_B) or name in quoted):
            yield Text(name=name, chars=len(text), pieces=pieces(text, marks.of(name)))


def record_view(record: Record, shown: Shown, marks: _Marks | None = None) -> RecordView:
    """One record."""
    spec = shown.library.judge(str(record.judge.get("hash")))
    raw, raw_note = _raw(record, shown)
    hide = shown.hide_scores
    return RecordView(
        who=who(record),
        rerun=record.rerun,
        status=record.status,
        score=shown.score(record.score),
        exact=shown.score(record.exact, 4),
        scale="" if hide or record.scale is None else f"{number(record.scale[0])} to {number(record.scale[1])}",
        flags=flag_texts(
            flag for flag in record.flags if not (hide and (tells_score(flag) or flag.startswith("capped_from")))
        ),
        criteria=tuple(_criterion(entry, record, spec, shown, marks or _Marks()) for entry in record.criteria),
        working=() if hide else working(record, spec),
        dissent=tuple(_dissent(entry, hide) for entry in (record.panel or {}).get("dissent") or ()),
        cause="" if record.cause is None else f"{record.cause.get('code')}: {cause_of(record, hide_scores=hide)}",
        reason=reason_of(record, hide_scores=hide),
        raw=raw,
        raw_note=raw_note,
        feedback=record.feedback or "",
        tables=tuple(made for entry in record.criteria if (made := bucket_table(entry, spec, hide_scores=hide))),
        usage=_usage(record.usage, len(record.keys)),
        cost=cost(record.cost_usd) if record.keys else "nothing was answered",
    )


def reason_of(record: Record, *, hide_scores: bool) -> str:
    """Why there is no verdict; where scores are hidden, without the count of what each member of a panel said."""
    reason = record.reason or ""
    return re.sub(r" \([^()]*\)", "", reason) if hide_scores and record.member is None else reason


def cause_of(record: Record, *, hide_scores: bool) -> str:
    """Why it failed; where scores are hidden, without what was wrong in a reply, which may name one."""
    cause = record.cause or {}
    if hide_scores and cause.get("code") == "unreadable":
        return "what was wrong with the reply is left out, since it may name a score"
    return str(cause.get("message"))


def _raw(record: Record, shown: Shown) -> tuple[str, str]:
    """(the model's words where there is no verdict, what is to be said of them)."""
    if record.status == "verdict":
        return "", ""
    if shown.hide_scores:
        return "", "the model's words are left out, since they may name a score"
    key = (record.cause or {}).get("raw_key")
    text = record.text if record.text else shown.library.raw(str(key)) if key else None
    if text is None:
        return "", "the reply is not in the store" if key else ""
    if len(text) > _MOST_RAW:
        return text[:_MOST_RAW], f"cut after {count(_MOST_RAW)} of {count(len(text))} characters"
    return text, ""


def _dissent(entry: Mapping[str, Any], hide: bool) -> str:
    """Who said what else, and on what."""
    said = entry.get("said")
    where = " ".join(f"on {entry[name]}" for name in ("criterion", "check") if entry.get(name))
    if hide and "check" not in entry:
        return f"{entry.get('member')} differs {where}".strip()
    said = number(said, 4) if isinstance(said, (int, float)) and not isinstance(said, bool) else said
    return f"{entry.get('member')} said {said} {where}".strip()


def _usage(usage: Usage, calls: int) -> str:
    if usage.input_tokens is None and usage.output_tokens is None:
        return f"tokens unknown, {plural(calls, 'call')}"
    cached = f" ({count(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return f"{count(usage.input_tokens)} tokens in{cached}, {count(usage.output_tokens)} out, {plural(calls, 'call')}"


def _criterion(
    entry: Mapping[str, Any], record: Record, spec: JudgeSpec | None, shown: Shown, marks: _Marks
) -> CriterionView:
    name = str(entry.get("id"))
    asks = _asks(spec, name)
    items = sorted(entry.get("items") or (), key=lambda item: (not item.get("counted", True), -abs(item["impact"])))
    findings = [_check(check, asks, marks) for check in entry.get("checks") or ()]
    findings += [_item(item, shown, marks) for item in items[:MOST_FINDINGS]]
    if entry.get("quote"):
        findings.append(_quotation(entry, marks))
    findings += [_order(order, shown) for order in entry.get("orders") or ()]
    findings += own_answers(entry.get("own"), hide_scores=shown.hide_scores)
    return CriterionView(
        id=name,
        ask=asks.get("", ""),
        weight=shown.score(entry.get("weight"), 4),
        score=shown.score(entry.get("score")),
        facts=tuple(_facts(entry, record, shown)),
        findings=tuple(findings),
        not_shown=max(0, len(items) - MOST_FINDINGS),
    )


def _asks(spec: JudgeSpec | None, name: str) -> dict[str, str]:
    """What a criterion (under an empty name) and its checks ask."""
    criterion = next((one for one in spec.criteria if one.id == name), None) if spec else None
    if criterion is None:
        return {}
    checks = [one for row in criterion.checks for one in (row.any_of if isinstance(row, CheckGroup) else (row,))]
    return {"": criterion.ask, **{check.id: check.ask for check in checks}}


def _facts(entry: Mapping[str, Any], record: Record, shown: Shown) -> Iterable[tuple[str, str]]:
    """What a protocol says besides findings: level, rating, reason, and whatever a later one adds."""
    if not shown.hide_scores:
        for name in ("level", "rating"):
            if entry.get(name) is not None:
                yield name, number(entry[name])
        if entry.get("votes"):
            yield "votes", _votes(entry["votes"])
    if (entry.get("arithmetic") or {}).get("taken_out"):
        went = "; its weight went to the other criteria" if record.score is not None else ""
        yield "taken out", f"too little evidence, or a source that it needs is missing{went}"
    for name, value in entry.items():
        # The word of a pair or a comparison is its score.
        hidden = shown.hide_scores and (name == "label" or not isinstance(value, str))
        if name not in _KNOWN and value not in (None, "", [], ()) and not hidden:
            yield name, _text(value)


def _check(check: Mapping[str, Any], asks: Mapping[str, str], marks: _Marks) -> Finding:
    passed, counted = check.get("passed"), check.get("counted", True)
    outcome = "does not apply" if passed is None else "yes" if passed else "no"
    kind = "for" if passed and counted else "aside"
    notes = []
    if passed and not counted:
        notes.append("does not count, since its quotation is not in the text")
    if check.get("probability") is not None:
        notes.append(f"probability of yes {number(check['probability'], 3)}")
    if check.get("votes"):
        notes.append(_votes(check["votes"]))
    return Finding(
        name=str(check.get("id")),
        ask=asks.get(str(check.get("id")), ""),
        outcome=outcome,
        kind=kind,
        notes=tuple(notes),
        **_quote(check, "candidate", kind, marks),
    )


def _item(item: Mapping[str, Any], shown: Shown, marks: _Marks) -> Finding:
    impact, counted = item["impact"], item.get("counted", True)
    sign = "for" if impact > 0 else "against"
    kind = sign if counted else "aside"
    source = str(item.get("source") or "candidate")
    words = "strength" if impact > 0 else "weakness"
    labels = ("perspective", "pass", "bucket", "detector", "catalog_id")
    notes = [f"{name.replace('_', ' ')} {item[name]}" for name in labels if item.get(name)]
    notes += [f"at {item['place']}"] if item.get("place") else []
    notes += [f"in the source {source}"] if source != "candidate" else []
    notes += [f"also found by {', '.join(map(str, item['merged']))}"] if item.get("merged") else []
    notes += [f"does not count: {str(item.get('dropped') or 'absent_quote').replace('_', ' ')}"] if not counted else []
    notes += ["a person should look at this"] if item.get("review") else []
    notes += [str(item["note"])] if item.get("note") else []
    return Finding(
        name=str(item.get("claim")),
        outcome=words if shown.hide_scores else f"{impact:+d}",
        kind=kind,
        notes=tuple(notes),
        **_quote(item, source, kind, marks),
    )


def _quotation(entry: Mapping[str, Any], marks: _Marks) -> Finding:
    """The quotation of an anchored level."""
    return Finding(name="quotation", outcome="", kind="aside", **_quote(entry, "candidate", "aside", marks))


def _order(order: Mapping[str, Any], shown: Shown) -> Finding:
    """What a pair's judge said where one of both stood first."""
    reason, first = order.get("reason"), str(order.get("first"))
    said = {"first": first, "second": {"a": "b", "b": "a"}.get(first, "")}.get(str(order.get("better")))
    return Finding(
        name=f"where {first} stood first",
        outcome="" if shown.hide_scores else f"{said} is better" if said else "tie",
        kind="aside",
        notes=(str(reason),) if reason else (),
    )


def _quote(part: Mapping[str, Any], source: str, kind: str, marks: _Marks) -> dict[str, Any]:
    """A quotation, whether it stands in the text, and its number there."""
    quote = str(part.get("quote") or "")
    if not quote.strip():
        return {}
    status = str(part.get("quote_status"))
    return {
        "quote": quote,
        "standing": _STANDING.get(status, status),
        "mark": marks.add(source, part.get("span"), kind),
    }


def _votes(votes: Mapping[str, int]) -> str:
    return "votes: " + ", ".join(f"{said} {n}" for said, n in votes.items())


def _text(value: Any) -> str:
    """A value of metadata in one line."""
    if isinstance(value, str):
        return value
    import msgspec

    return msgspec.json.encode(value).decode()

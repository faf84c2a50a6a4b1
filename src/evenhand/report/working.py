"""The arithmetic of one record, worked as a person would by hand; redone from the findings and compared.

What cannot be redone (the judge, which has the weights and settings, is not in the store) is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.report.numbers import number
from evenhand.scoring.arithmetic import lines
from evenhand.scoring.checklist import reachable, score_checks
from evenhand.scoring.evidence_pools import judge_settings
from evenhand.scoring.impact import score_items
from evenhand.scoring.scales import exact_number
from evenhand.terms import CheckGroup, CheckResult, Criterion, Evidence, JudgeSpec, Record
from evenhand.wording import count, plural

__all__ = ["working"]

NO_JUDGE = "weights and settings stand in the judge, which is not in the store: the steps below are as recorded"


def working(record: Record, spec: JudgeSpec | None) -> tuple[str, ...]:
    """The steps from findings to score, a line each; empty for a record without criteria."""
    made: list[str] = []
    if spec is None and any(entry.get("checks") or entry.get("items") for entry in record.criteria):
        made.append(NO_JUDGE)
    several = len(record.criteria) > 1
    for entry in () if _is_median(record) else record.criteria:
        if several:
            made.append(f"{entry.get('id')}")
        made += [f"  {line}" if several else line for line in _criterion(entry, record, spec)]
    if several and record.score is not None and not _is_median(record):
        made += _mean(record)
    if record.panel is not None:
        made += _panel(record.panel, record)
    made += _breakers(record)
    return tuple(made)


def _is_median(record: Record) -> bool:
    return (record.panel or {}).get("rule") == "median"


def _criterion(entry: Mapping[str, Any], record: Record, spec: JudgeSpec | None) -> Iterator[str]:
    """One criterion's steps."""
    try:
        if entry.get("arithmetic") is not None:
            yield from _evidence(entry, record, spec)
        elif entry.get("checks"):
            yield from _checks(entry, spec)
        elif entry.get("level") is not None:
            yield f"level        {entry['level']}"
        elif entry.get("rating") is not None:
            yield f"rating       {entry['rating']}"
        elif entry.get("score") is not None:
            yield f"score        {number(entry['score'], 4)}"
    except InvalidInput as error:
        yield f"not redone   {error}"


def _evidence(entry: Mapping[str, Any], record: Record, spec: JudgeSpec | None) -> Iterator[str]:
    """The formula, with its numbers put in."""
    steps = entry["arithmetic"]
    if spec is None or spec.protocol != "evidence":
        yield from _recorded(entry)
        return
    over = set(steps.get("over_cap") or ())
    kept = [_item(item) for place, item in enumerate(entry.get("items") or ()) if place not in over]
    breakdown = score_items(kept, judge_settings(spec))
    yield from lines(breakdown)
    if steps.get("taken_out"):
        why = "too little evidence or a source missing"
        yield f"taken out    {why}; its weight of {number(steps.get('weight'), 4)} went to the others"
    elif breakdown.score != entry.get("score"):
        yield f"DIFFERS      the record has {number(entry.get('score'), 4)}; recompute with `evenhand rescore --check`"


def _recorded(entry: Mapping[str, Any]) -> Iterator[str]:
    """The steps as the record has them."""
    for name, value in entry["arithmetic"].items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{name:<13}{number(value, 4)}"
        elif isinstance(value, str):
            yield f"{name:<13}{value}"
    yield f"score        {number(entry.get('score'), 4)}"


def _item(item: Mapping[str, Any]) -> Evidence:
    return Evidence(claim="", impact=item["impact"], counted=bool(item.get("counted", True)))


def _checks(entry: Mapping[str, Any], spec: JudgeSpec | None) -> Iterator[str]:
    """The passed weights, and what they come to."""
    criterion = next((one for one in spec.criteria if one.id == entry.get("id")), None) if spec else None
    counted = [str(check["id"]) for check in entry["checks"] if check.get("passed") and check.get("counted", True)]
    if criterion is None or criterion.levels is None:
        yield (
            f"counted      {count(len(counted))} of {plural(len(entry['checks']), 'check')}: "
            f"{', '.join(counted) or 'none'}"
        )
        yield f"score        {number(entry.get('score'), 4)}"
        return
    terms, passed, positive = _terms(criterion, entry["checks"])
    low, high = (number(float(bound), 4) for bound in criterion.levels)
    yield f"passed       {' + '.join(terms) or 'nothing'} = {_exact(passed)}"
    if criterion.map == "count":
        yield f"score        {_exact(passed)}, kept within {low} and {high}: {number(entry.get('exact'), 4)}"
    else:
        yield (
            f"score        {low} + ({high} - {low}) * {_exact(passed)} / {_exact(positive)} = "
            f"{number(entry.get('exact'), 4)}"
        )
    again = score_checks(criterion, [_result(check) for check in entry["checks"]]).exact
    if again is not None and entry.get("exact") is not None and float(again) != entry["exact"]:
        yield f"DIFFERS      redone it is {_exact(again)}; recompute with `evenhand rescore --check`"


def _terms(criterion: Criterion, checks: Sequence[Mapping[str, Any]]) -> tuple[list[str], Fraction, Fraction]:
    """(what counted with its weight, their sum, the positive weights that apply)."""
    found = {check["id"]: check for check in checks}
    terms: list[str] = []
    passed = positive = Fraction(0)
    for row in criterion.checks:
        options = row.any_of if isinstance(row, CheckGroup) else (row,)
        answers = [found[one.id] for one in options if one.id in found]
        weight = exact_number(row.weight)
        if any(answer["passed"] is not None for answer in answers):
            positive += max(weight, Fraction(0))
        names = [str(one["id"]) for one in answers if one.get("passed") and one.get("counted", True)]
        if names:
            passed += weight
            terms.append(f"{' or '.join(names)} {_exact(weight)}")
    assert reachable(criterion)[1] >= positive
    return terms, passed, positive


def _result(check: Mapping[str, Any]) -> CheckResult:
    return CheckResult(id=str(check["id"]), passed=check["passed"], counted=bool(check.get("counted", True)))


def _mean(record: Record) -> Iterator[str]:
    """The weighted mean over criteria: of the rounded finals for evidence, else of the unrounded ones."""
    is_evidence = any(entry.get("arithmetic") is not None for entry in record.criteria)
    name = "score" if is_evidence else "exact"
    kept = [entry for entry in record.criteria if entry.get(name) is not None and entry.get("weight") is not None]
    terms = [f"{number(entry['weight'], 4)} * {number(entry[name], 4)}" for entry in kept]
    total = sum(entry["weight"] * entry[name] for entry in kept)
    yield f"overall      {' + '.join(terms)} = {number(total, 4)}"
    yield f"score        {number(record.score, 4)}"


def _panel(panel: Mapping[str, Any], record: Record) -> Iterator[str]:
    """Who said what, and the rule."""
    rule, size = panel.get("rule"), panel.get("size")
    members = panel.get("members") or ()
    said = [
        f"{member.get('member')}: {member.get('status') if member.get('score') is None else _both(member)}"
        for member in members
    ]
    of = "median of the scores of" if rule == "median" else f"{rule} over"
    yield f"panel        {of} {size} declared members"
    yield from (f"             {line}" for line in said)
    made = "none" if record.score is None else _both({"score": record.score, "exact": record.exact})
    yield f"score        {made}"


def _both(entry: Mapping[str, Any]) -> str:
    """A score with its unrounded value, where that is another."""
    shown, exact = number(entry["score"], 4), entry.get("exact")
    return shown if exact is None or number(exact, 4) == shown else f"{shown} (unrounded {number(exact, 4)})"


def _breakers(record: Record) -> Iterator[str]:
    """What tripped, and what it did."""
    for flag in record.flags:
        name, _, more = flag.partition(":")
        if name == "breaker":
            yield f"breaker      {more} tripped"
        elif name == "capped_from":
            yield f"capped       from {more} to {number(record.score, 4)}"
        elif name == "fail":
            yield f"forced       to the lowest score, {number(record.score, 4)}"


def _exact(value: Fraction) -> str:
    return number(float(value), 4)

"""Yes/no questions, each yes shown by a quotation; code counts the answers.

Reply: {"checks": [{"id": ..., "quote": ..., "passed": true}]}

All checks of all criteria are asked in one call, so their ids are unique over the judge. A yes whose required quote is
not in the candidate does not count; for `quote: none` the quote is reported and changes nothing.

`cite: sentence` takes numbers of sentences for quotes (`citing.py`); `read: logprob` asks each check by itself and
reads one token of the reply (`token_checks.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInput, UnreadableReply
from evenhand.judges.asking import Read, ask
from evenhand.judges.citing import Field, NumberedText, Passage, Passages, QuotedPassages
from evenhand.judges.fit import checks_of, listed, refuse_repeated, refuse_unused, require_criteria
from evenhand.judges.prompts import Prompt, quoted
from evenhand.judges.protocol import Judging
from evenhand.judges.quotes import ABSENT, counts
from evenhand.judges.replies import by_id, kind, words
from evenhand.judges.token_checks import TokenChecks
from evenhand.terms import Check, CheckResult, Criterion, CriterionVerdict, Item, JudgeSpec, Verdict

__all__ = ["ChecklistJudge"]


class ChecklistJudge:
    """Checks of one or several criteria."""

    protocol = "checklist"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        require_criteria(spec)
        refuse_unused(spec)
        self._checks = [(criterion.id, checks_of(criterion)) for criterion in spec.criteria]
        every = [check for _, checks in self._checks for check in checks]
        self._ids = tuple(check.id for check in every)
        _refuse_unasked(spec, self._checks)
        refuse_repeated(self._ids, "checks", spec)
        self._by_token = TokenChecks(spec, templates, self._checks) if spec.read == "logprob" else None
        some_na = any(check.na for check in every)
        self._passages = Passages(spec.cite, lambda field: _schema(every, field))
        wording = self._passages.wording
        self._prompt = Prompt(
            spec,
            templates,
            values={
                "checks": "\n\n".join(_asked(spec.criteria, self._checks, wording["needs_none"])),
                "quote_field": wording["quote_field"],
                "quote_of_answer": wording["quote_of_answer"],
                "passed": "true or false, or null where that is allowed" if some_na else "true or false",
            },
            schema=self._passages.schema,
        )

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item."""
        if self._by_token is not None:
            return (yield from self._by_token.judge(item, model=model, rerun=rerun, first_attempt=first_attempt))
        passages = self._passages.of(item.candidate)
        call = self._passages.call(self._prompt, item, passages, model=model, rerun=rerun, attempt=first_attempt)
        found = yield from ask(call, lambda text: self._read(text, passages), self._prompt.repair)
        if isinstance(found, Read):
            return Verdict(criteria=found.value, keys=found.keys, usage=found.usage)
        return found

    def _read(self, text: str, passages: QuotedPassages | NumberedText) -> tuple[CriterionVerdict, ...]:
        named = by_id(text, "checks", self._ids)
        return tuple(
            [
                CriterionVerdict(id=name, checks=tuple([_result(check, named[check.id], passages) for check in checks]))
                for name, checks in self._checks
            ]
        )


def _result(check: Check, entry: dict[str, Any], passages: QuotedPassages | NumberedText) -> CheckResult:
    """One check's answer.

    Raises:
        UnreadableReply: `passed` is no boolean (or null, where the check may be not applicable), or a yes that needs a
            passage has no such field.
    """
    passed = entry.get("passed")
    if passed is not True and passed is not False and not (check.na and passed is None and "passed" in entry):
        expected = "true, false or null" if check.na else "true or false"
        raise UnreadableReply(f'check "{check.id}": "passed" is {kind(passed)}; expected {expected}')
    needed = passed is True and check.quote == "required"
    if not isinstance(passages, QuotedPassages):
        return _cited(check, passed, passages.passage(entry, f'check "{check.id}"'), needed=needed)
    quote = words(entry, "quote", f'check "{check.id}"')
    if quote is None and needed:
        raise _without("quote", check)
    place = passages.find(quote) if quote else ABSENT
    return CheckResult(
        id=check.id,
        passed=passed,
        quote=quote or "",
        quote_status=place.status,
        span=place.span,
        gap=place.gap,
        counted=not needed or counts(place.status),
    )


def _cited(check: Check, passed: bool | None, found: Passage | None, *, needed: bool) -> CheckResult:
    """The answer to a check whose passages are cited by number."""
    if found is None:
        if needed:
            raise _without("cite", check)
        return CheckResult(id=check.id, passed=passed)
    return CheckResult(
        id=check.id,
        passed=passed,
        quote=found.quote,
        quote_status=found.status,
        span=found.span,
        counted=not needed or counts(found.status),
        sentences=found.sentences,
    )


def _without(field: str, check: Check) -> UnreadableReply:
    return UnreadableReply(f'check "{check.id}": a yes needs the "{field}" that shows it, and none came')


def _refuse_unasked(spec: JudgeSpec, checks: Sequence[tuple[str, Sequence[Check]]]) -> None:
    """Every criterion has checks, and every check asks something."""
    for criterion, own in checks:
        if not own:
            raise InvalidInput(
                f"judge {spec.name}: criterion {criterion!r} has no checks; add `checks`, or use `protocol: number`"
            )
        for check in own:
            if not check.ask.strip():
                raise InvalidInput(
                    f"judge {spec.name}: check {check.id!r} asks nothing; write its question under `ask`"
                )


def _asked(
    criteria: Sequence[Criterion], checks: Sequence[tuple[str, Sequence[Check]]], needs_none: str
) -> Iterator[str]:
    """The questions, one a line; under their criterion where there are several, or where it says something."""
    for criterion, (_, own) in zip(criteria, checks, strict=True):
        lines = [_line(check, needs_none) for check in own]
        if criterion.ask or len(criteria) > 1:
            lines.insert(0, f"About {quoted(criterion.id)}{': ' if criterion.ask else ''}{criterion.ask}")
        yield "\n".join(lines)


def _line(check: Check, needs_none: str) -> str:
    """One question, and what is special about its answer."""
    no_quote = f" ({needs_none})" if check.quote == "none" else ""
    na = " (Answer null if the question does not apply to this candidate.)" if check.na else ""
    return f"- {quoted(check.id)}: {check.ask}{no_quote}{na}"


def _schema(checks: Sequence[Check], field: Field) -> dict[str, Any]:
    kinds = {na: [check.id for check in checks if check.na is na] for na in (False, True)}
    types = {False: "boolean", True: ["boolean", "null"]}
    return listed(
        "checks",
        [(ids, {**field, "passed": {"type": types[na]}}) for na, ids in kinds.items() if ids],
    )

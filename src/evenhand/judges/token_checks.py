"""Yes/no checks read from one token each: `read: logprob` of a checklist.

    probability = mass on yes / (mass on yes + mass on no)     among the alternatives of the reply's first token
    passed      = probability above .5; exactly .5 abstains

One call a check, and all checks of an item go out together. The rubric's static part comes first, then the item, then
the question: the checks of an item share all but their last lines, so that a prompt cache reads the item once.

No quote is asked for, so no yes rests on one: the verdict says so with the flag `quotes_not_asked`. Asking again would
bring the same probabilities, so that there is neither repair turn nor fresh ask.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.errors import InvalidInput
from evenhand.judges.asking import total_usage
from evenhand.judges.prompts import Fence, ItemPrompt, Template, fill, quoted, template_text
from evenhand.judges.protocol import Judging
from evenhand.judges.yes_no import LEAST_MASS, YesNo, yes_no
from evenhand.keys import bare, content_key
from evenhand.terms import (
    Abstention,
    Call,
    Check,
    CheckResult,
    Criterion,
    CriterionVerdict,
    Failure,
    FailureCode,
    Item,
    JudgeSpec,
    Message,
    Reply,
    Verdict,
)

__all__ = ["ALTERNATIVES", "NOT_ASKED", "TokenChecks"]

ALTERNATIVES = 20
"""Alternatives asked for: the most that common endpoints give."""

NOT_ASKED = "quotes_not_asked"
"""Flag of a verdict with checks whose yes would need a quote, had one been asked for."""

# The first token is all that is read. Reasoning cannot precede it: a model that must reason cannot be read this way.
_MAX_TOKENS = 1
_SHOWN = 40


class TokenChecks:
    """The checks of a judge, each asked by itself.

    Args:
        spec: the judge file.
        templates: file name to text of the prompt templates.
        checks: each criterion's id with its checks, in order.
    Raises:
        InvalidInput: a check with `na: true`, `cite: sentence`, or a template that cannot be filled.
    """

    def __init__(
        self, spec: JudgeSpec, templates: Mapping[str, str], checks: Sequence[tuple[str, Sequence[Check]]]
    ) -> None:
        _refuse_more_than_yes_no(spec, checks)
        material = fill(templates, "material.md", {})
        system = fill(templates, "yes_no.md", {"material": material})
        item, question = template_text(templates, "item.md"), template_text(templates, "question.md")
        static = {"protocol": spec.protocol, "read": spec.read, "system": system, "item": item, "question": question}
        self._system = Message(role="system", text=system)
        self._item = ItemPrompt(item, name="item.md", fence=Fence(bare(content_key(static))))
        ends = Template(question.strip("\n"), name="question.md", known=("question",))
        self._checks = checks
        self._questions = tuple("\n\n" + ends.fill({"question": asked}) for asked in _questions(spec.criteria, checks))
        self._temperature = spec.temperature
        every = [check for _, own in checks for check in own]
        self._flags = (NOT_ASKED,) if any(check.quote == "required" for check in every) else ()

    def judge(self, item: Item, *, model: str, rerun: int, first_attempt: int) -> Judging:
        """Judge one item."""
        text = self._item.text(item)
        replies = yield tuple(
            [
                self._call(text + question, model=model, rerun=rerun, attempt=first_attempt)
                for question in self._questions
            ]
        )
        keys, usage = tuple([reply.key for reply in replies if reply.key]), total_usage(replies)
        heard = iter(replies)
        criteria = []
        for name, checks in self._checks:
            results = []
            for check in checks:
                found = _result(check, next(heard))
                if not isinstance(found, CheckResult):
                    return replace(found, keys=keys, usage=usage)
                results.append(found)
            criteria.append(CriterionVerdict(id=name, checks=tuple(results)))
        return Verdict(criteria=tuple(criteria), keys=keys, usage=usage, flags=self._flags)

    def _call(self, text: str, *, model: str, rerun: int, attempt: int) -> Call:
        return Call(
            model=model,
            messages=(self._system, Message(role="user", text=text)),
            schema=None,
            schema_name="yes_no",
            temperature=self._temperature,
            max_tokens=_MAX_TOKENS,
            logprobs=ALTERNATIVES,
            member=model,
            rerun=rerun,
            attempt=attempt,
        )


def _result(check: Check, reply: Reply) -> CheckResult | Abstention | Failure:
    """One check's answer, or what its item ends with instead."""
    what = f'check "{check.id}"'
    if reply.finish == "filter":
        return _failure("filtered", "the endpoint withheld the reply: its content filter stopped it", reply)
    if reply.refusal:
        return Abstention(reason="refusal", text=reply.refusal.encode("utf-8", "replace").decode("utf-8"))
    if not reply.logprobs:
        if reply.text.strip():
            return _failure("unreadable", f"{what}: the endpoint returns no log probabilities; use `read: json`", reply)
        return _failure("empty", f"{what}: no first token came, {_WITHOUT}", reply)
    found = yes_no(reply.logprobs[0].alternatives)
    if not found.readable:
        return _failure("unreadable", f"{what}: {_scattered(found)}, {_WITHOUT}", reply)
    if found.probability == 0.5:
        return Abstention(reason=f"{what} is undecided: yes and no are equally probable")
    return CheckResult(id=check.id, passed=found.probability > 0.5, probability=found.probability, mass=found.mass)


_WITHOUT = "as where a model reasons or writes something else first; use `read: json`"


def _scattered(found: YesNo) -> str:
    """Where the first token's probability went instead."""
    most = ""
    if found.strongest is not None:
        token, probability = found.strongest
        most = f" ({quoted(token[:_SHOWN])} alone had {probability:.3f})"
    return (
        f"yes and no together had {found.mass:.3f} of the first token's probability{most}; at least {LEAST_MASS} is "
        "needed"
    )


def _failure(code: FailureCode, message: str, reply: Reply) -> Failure:
    return Failure(code=code, message=message, raw_key=reply.key or None)


def _questions(criteria: Sequence[Criterion], checks: Sequence[tuple[str, Sequence[Check]]]) -> Iterator[str]:
    """Each check's question, after what its criterion says."""
    for criterion, (_, own) in zip(criteria, checks, strict=True):
        for check in own:
            yield f"{criterion.ask}\n{check.ask}" if criterion.ask else check.ask


def _refuse_more_than_yes_no(spec: JudgeSpec, checks: Sequence[tuple[str, Sequence[Check]]]) -> None:
    """One token says yes or no, and nothing else."""
    if spec.cite != "quote":
        raise InvalidInput(
            f"judge {spec.name}: with `read: logprob` nothing is cited, and `cite: {spec.cite}` is set; take one out"
        )
    for _, own in checks:
        for check in own:
            if check.na:
                raise InvalidInput(
                    f"judge {spec.name}: check {check.id!r} may be not applicable (`na: true`), and `read: logprob` "
                    "reads yes or no only; use `read: json`, or ask without `na`"
                )

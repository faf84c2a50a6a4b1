"""The judge answers for itself first; then code matches the candidate with that answer.

    1  commitments   the task, and in `mode: visible` the candidate: {"work": ..., "answer": "18"}
    2  the answer    on which more than half of the commitments agree, by the match relation
    3  comparison    match(candidate, answer), outside of any model
    4  verdict       equal: accepted; unequal or no answer: rejected

In `mode: blind` (the default) nothing of the candidate is in the requests of step 1: no candidate moves them, and all
candidates of one question share them. Two short texts that are worded differently are shown to the model in
step 3 with the commitment's hash, and it says only whether they are the same answer; a score never comes back.

The judge abstains where no commitment can be read, where most do not agree on one answer, and where the comparison
cannot be decided. What was committed to stands in the record all the same.
"""

import copy
import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from evenhand.errors import InvalidInput
from evenhand.judges.asking import Read, ask, total_usage
from evenhand.judges.commit_answers import (
    LONGEST,
    commitment_of,
    ended,
    read_commitment,
    read_same,
    standing,
    why_lost,
)
from evenhand.judges.commit_prompts import SamePrompt, SolvePrompt
from evenhand.judges.fit import refuse_unused
from evenhand.judges.protocol import Given, Judging
from evenhand.judges.together import each, resting_on
from evenhand.matching.matches import match
from evenhand.matching.readings import Answer, Words, answer
from evenhand.matching.rule_fields import match_rule
from evenhand.matching.rules import Match, MatchRule
from evenhand.scoring.labels import ACCEPTED, NO_COMMITMENT, NO_MAJORITY, REJECTED, UNDECIDED, labelled_criterion
from evenhand.terms import (
    Abstention,
    Call,
    Commitment,
    CriterionVerdict,
    Failure,
    Item,
    JudgeSpec,
    OwnAnswer,
    Reply,
    Verdict,
)

__all__ = ["LOST", "MISSING_TASK", "NO_ANSWER", "CommitJudge", "rule_of"]

MISSING_TASK = "missing_task"
"""The reason of an abstention: there is nothing to solve. Nothing is asked then."""

LOST = "commitments_lost"
"""The flag, with their number, of a verdict some of whose commitments could not be read."""

NO_ANSWER = "candidate_without_answer"
"""The flag of a rejected candidate that gives no answer, or more than one."""

T = TypeVar("T")
Ended = Abstention | Failure
Steps = Generator[tuple[Call, ...], tuple[Reply, ...], T | Abstention | Failure]


class CommitJudge:
    """A judge that commits to an answer of its own."""

    protocol = "commit"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        refuse_unused(spec)
        criterion = labelled_criterion(spec)
        self.rule = rule_of(spec)
        assert spec.commit is not None
        self.settings = spec.commit
        self.id = criterion.id
        self.solve = SolvePrompt(spec, templates, self.rule, criterion.ask)
        self.same = SamePrompt(spec, templates)
        self.expressions = Given().expressions

    def given(self, given: Given) -> "CommitJudge":
        """The same judge with what compares expressions, which takes a process of its own."""
        judge = copy.copy(self)
        judge.expressions = given.expressions
        return judge

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item; one without a task abstains, and nothing is asked."""
        if not item.task or item.task.isspace():
            return Abstention(reason=MISSING_TASK)
        work = _Work(self, item, model, rerun, first_attempt)
        found = yield from work.steps()
        if not isinstance(found, Verdict):
            return resting_on(found, work.heard)
        return replace(found, keys=tuple([reply.key for reply in work.heard]), usage=total_usage(work.heard))


def rule_of(spec: JudgeSpec) -> MatchRule:
    """What counts as the same answer to a `commit` judge.

    Raises:
        InvalidInput: the judge file says nothing of it, or what cannot be.
    """
    if spec.commit is None or "kind" not in spec.commit.match:
        raise InvalidInput(f"judge {spec.name}: `answer` is missing; `protocol: commit` needs the kind of answer")
    return match_rule(spec.commit.match, f"judge {spec.name}")


class _Work:
    """One item on its way; every reply is kept in the order of the calls."""

    def __init__(self, judge: CommitJudge, item: Item, model: str, rerun: int, attempt: int) -> None:
        self.heard: list[Reply] = []
        self._judge = judge
        self._item = item
        self._model = model
        self._rerun = rerun
        self._attempt = attempt

    def steps(self) -> Steps[Verdict]:
        """Commit, agree, compare."""
        own = yield from self._commitments()
        if not isinstance(own, OwnAnswer):
            return own
        if not own.commitments:
            return self._verdict(NO_COMMITMENT, own, f"no commitment could be read: {', '.join(own.lost)}")
        same = yield from self._agreement(own.commitments)
        if not isinstance(same, list):
            return same
        own = standing(own, same)
        if own.stands is None:
            most, n = max(map(sum, same)), len(own.commitments)
            reason = f"at most {most} of {n} commitments agree on one answer; expected more than half"
            return self._verdict(NO_MAJORITY, own, reason)
        found = yield from self._compared([(self._item.candidate, own.commitments[own.stands])])
        return found if not isinstance(found, list) else self._decided(own, *found[0])

    def _commitments(self) -> Steps[OwnAnswer]:
        """Every commitment, asked for at once; a lost one costs the others nothing."""
        judge, n = self._judge, self._judge.settings.commitments
        first = self._rerun * n  # so that no two commitments share a reply, of whatever rerun
        calls = [
            judge.solve.call(self._item, model=self._model, rerun=first + number, attempt=self._attempt)
            for number in range(n)
        ]
        found = yield from each([ask(call, self._read, judge.solve.repair) for call in calls], self.heard)
        kept = [one for one in found if isinstance(one, Read) and one.value]
        if not kept and (end := ended(found)) is not None:
            return end
        return OwnAnswer(
            mode=judge.settings.mode,
            asked=n,
            commitments=tuple(map(commitment_of, kept)),
            lost=tuple([why_lost(one) for one in found if one not in kept]),
        )

    def _read(self, text: str) -> str:
        return read_commitment(text, self._judge.rule)

    def _agreement(self, commitments: Sequence[Commitment]) -> Steps[list[list[bool]]]:
        """Which commitments are the same answer; nothing is compared with one alone."""
        same = [[row is column for column in commitments] for row in commitments]
        pairs = list(itertools.combinations(range(len(commitments)), 2))
        found = yield from self._compared([(commitments[one].answer, commitments[other]) for one, other in pairs])
        if not isinstance(found, list):
            return found
        for (one, other), (made, _) in zip(pairs, found, strict=True):
            same[one][other] = same[other][one] = made.verdict == "equal"
        return same

    def _compared(self, pairs: Sequence[tuple[str, Commitment]]) -> Steps[list[tuple[Match, str | None]]]:
        """How each text matches a commitment; and the key of the model's call, where two short texts needed one."""
        judge, rule = self._judge, self._judge.rule
        found: list[tuple[Match, str | None]] = [
            (match(text, own.answer, rule, expressions=judge.expressions), None) for text, own in pairs
        ]
        if rule.kind != "short_text":
            return found
        left = {n: _words(pairs[n][0], rule) for n, (made, _) in enumerate(found) if made.verdict == "undecided"}
        for n, text in left.items():
            if len(text) > LONGEST:
                found[n] = _too_long(text), None
        asked = [n for n, text in left.items() if len(text) <= LONGEST]
        calls = [self._asked(left[n], pairs[n][1]) for n in asked]
        said = yield from each([ask(call, read_same, judge.same.repair) for call in calls], self.heard)
        for n, one in zip(asked, said, strict=True):
            if not isinstance(one, Read):
                return one
            found[n] = _said(one.value), one.keys[-1]
        return found

    def _asked(self, text: str, own: Commitment) -> Call:
        """The call that asks whether two short texts are the same answer."""
        return self._judge.same.call(
            self._item.task or "", own.hash, own.answer, text,
            model=self._model, rerun=self._rerun, attempt=self._attempt,
        )  # fmt: skip

    def _decided(self, own: OwnAnswer, made: Match, key: str | None) -> Verdict:
        """The comparison as a verdict."""
        own = replace(
            own,
            match=made.verdict,
            how=made.how,
            compared_by="code" if key is None else "model",
            comparison_key=key,
        )
        label = {"equal": ACCEPTED, "undecided": UNDECIDED}.get(made.verdict, REJECTED)
        reason = made.reason.replace("the gold answer", "the judge's answer")
        return self._verdict(label, own, reason, (NO_ANSWER,) if made.verdict == "no_answer" else ())

    def _verdict(self, label: str, own: OwnAnswer, reason: str, flags: tuple[str, ...] = ()) -> Verdict:
        found = CriterionVerdict(id=self._judge.id, label=label, reason=reason, own=own)
        lost = (f"{LOST}:{len(own.lost)}",) if own.lost and own.commitments else ()
        return Verdict(criteria=(found,), flags=(*lost, *flags))


def _words(text: str, rule: MatchRule) -> str:
    """The answer that a text gives, without what leads to it."""
    found = answer(text, rule)
    return found.value.text if isinstance(found, Answer) and isinstance(found.value, Words) else text


def _too_long(text: str) -> Match:
    reason = f"the candidate's answer has {len(text)} characters; a short text has {LONGEST} at most"
    return Match(verdict="no_answer", how="short_text: too long", reason=reason)


def _said(same: bool) -> Match:
    """What a model said of two short texts, as a match."""
    word = "the same answer" if same else "different answers"
    return Match(verdict="equal" if same else "unequal", how="model asked", reason=f"the model says: {word}")

"""The calls of an item as steps: what each was shown, what it demands, and what its reply commits to or judges."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.integrity.commitments import Commitment, commitments_in, score_in, verdict_in
from evenhand.integrity.demands import Form, answer_marks, asks_to_judge, asks_to_solve, demanded_forms
from evenhand.integrity.placing import ItemTexts, PlacedCall, normalised, occurrences
from evenhand.integrity.sightings import InView, Shown, in_view
from evenhand.integrity.trace_evidence import MatchWord
from evenhand.terms import Item, TracedCall

__all__ = [
    "Step",
    "commitment_of",
    "earlier_verdict",
    "heeded_templates",
    "holds",
    "is_making",
    "judgement",
    "steps_of",
    "without_retried",
]

_BARE = 80  # code points up to which a whole reply may be an answer and nothing else
_FEW = 0.5  # share of replies with an answer, below which a demand for one counts as not heeded
_LONG_CANDIDATE = 40  # a reply that repeats so long a text word for word is the candidate's own making


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of one item, read.

    Args:
        demanded: forms of an answer that the prompt names.
        solve: whether it asks to solve the task first.
        judge: whether it asks for a judgement.
        candidate: the item's, normalised.
    """

    placed: PlacedCall
    view: InView
    reply: str
    demanded: frozenset[Form]
    solve: bool
    judge: bool = True
    candidate: str = ""

    @property
    def call(self) -> TracedCall:
        """The call itself."""
        return self.placed.call

    def commitment(self) -> Commitment | None:
        """The answer that the reply commits to before any verdict, else the first that stands after one."""
        found = [
            one for one in commitments_in(self.reply) if one.form in self.demanded and not self._is_candidates(one)
        ]
        if not found:
            return self._bare()
        judged = self.judged_at()
        before = [one for one in found if judged is None or one.at < judged]
        return before[-1] if before else found[0]

    def judged_at(self) -> int | None:
        """Where the reply first says how it judges."""
        places = [said.at for said in (verdict_in(self.reply), score_in(self.reply)) if said is not None]
        return min(places, default=None)

    def _is_candidates(self, one: Commitment) -> bool:
        """Whether an answer in the reply is the candidate's, which the judge only repeats.

        So it is where the reply repeats the candidate from its beginning up to there, or quotes a line of it.
        """
        text = normalised(one.text)
        if self.view.candidate is False or not text or text not in self.candidate:
            return False
        if self.reply[one.at :].lstrip(" \t*_#-").startswith(">"):
            return True
        head = normalised(self.reply[: self.reply.find(one.text, one.at) + len(one.text)])
        at = self.candidate.find(text)
        while at >= 0:
            repeated = self.candidate[: at + len(text)]
            if len(repeated) >= _LONG_CANDIDATE and head.endswith(repeated):
                return True
            at = self.candidate.find(text, at + 1)
        return False

    def _bare(self) -> Commitment | None:
        """A short reply to a request without the candidate is an answer as a whole."""
        text = self.reply.strip()
        alone = 0 < len(text) <= _BARE and "\n" not in text and not text.startswith("{")
        if alone and self.view.candidate is False and verdict_in(text) is None and score_in(text) is None:
            return Commitment(text=text, form="bare", at=0)
        return None


def steps_of(texts: Mapping[str, ItemTexts], found: Mapping[str, Sequence[PlacedCall]]) -> dict[str, list[Step]]:
    """The calls of each item in order, a step for each choice of a reply, with what was in view of each."""
    shown = [
        Shown(item=texts[item], placed=placed, told=_told(placed, own)) for item, own in found.items() for placed in own
    ]
    steps: dict[str, list[Step]] = defaultdict(list)
    for one, view in zip(shown, in_view(shown), strict=True):
        prompt = f"{_without_marks(one)}\n{one.placed.call.shape}"
        demanded, solve = demanded_forms(prompt), asks_to_solve(one.placed.rest)
        steps[one.item.id] += [
            Step(
                placed=one.placed,
                view=view,
                reply=reply,
                demanded=demanded,
                solve=solve,
                judge=asks_to_judge(prompt),
                candidate=one.item.texts["candidate"],
            )
            for reply in one.placed.call.replies
        ]
    return {item: sorted(own, key=lambda step: step.call.began) for item, own in steps.items()}


def _without_marks(one: Shown) -> str:
    """The template, without the marks of an answer that the item's own texts bring where they were not taken out.

    A candidate `My answer: 5`, or the end of one that the harness cut, is no demand for an answer.
    """
    rest = one.placed.rest
    for role, text in one.item.texts.items():
        if one.placed.sights[one.item.id][role].how != "whole":
            for mark in answer_marks(text):
                rest = rest.replace(mark, " ", 1)  # once: the template may hold the same words as its own demand
    return rest


def _told(placed: PlacedCall, own: Sequence[PlacedCall]) -> frozenset[str]:
    """What the judge had answered on an item before a call."""
    earlier = [reply for other in own if other.call.ended < placed.call.began for reply in other.call.replies]
    answers = [one.text for reply in earlier for one in commitments_in(reply)]
    return frozenset(normalised(text) for text in (*answers, *(reply for reply in earlier if len(reply) <= _BARE)))


def heeded_templates(steps: Mapping[str, Sequence[Step]]) -> frozenset[int]:
    """Templates whose demand for an answer is met; another may only happen to name such a form.

    Most replies must meet it; where no reply gives a verdict or a score instead, one of them shows that the answer is
    what is asked for, and a weak model may fail at all others.
    """
    all_replies, answered, judged = Counter[int](), Counter[int](), Counter[int]()
    for own in steps.values():
        for step in own:
            all_replies[step.view.template] += 1
            answered[step.view.template] += step.commitment() is not None
            judged[step.view.template] += step.judged_at() is not None
    return frozenset(
        number
        for number, n in all_replies.items()
        if answered[number] and (answered[number] >= _FEW * n or not judged[number])
    )


def without_retried(steps: Mapping[str, Sequence[Step]]) -> dict[str, list[Step]]:
    """The steps of each item without those whose reply was of no use, and which were asked again.

    A reply that is not whole is of no use; so is one without the answer that is demanded, where the harness asks on in
    the same conversation, or repeats the request for such items alone. Where all items are asked equally often, replies
    are drawn for a majority, and each counts.
    """
    often: dict[int, set[int]] = defaultdict(set)
    for own in steps.values():
        for template, n in Counter(step.view.template for step in own).items():
            often[template].add(n)
    drawn = {template for template, numbers in often.items() if min(numbers) > 1}
    return {
        item: [step for step in own if not _is_retried(step, own, drawn=step.view.template in drawn)]
        for item, own in steps.items()
    }


def _is_retried(step: Step, own: Sequence[Step], *, drawn: bool) -> bool:
    """Whether a later call asks a step's question again."""
    later = [other for other in own if other.call.began > step.call.ended]
    again = any(other.call.request_hash == step.call.request_hash for other in later)
    if again and step.call.fault:
        return True
    if not step.demanded or _form(step) not in (None, "bare"):
        return False
    answered = [other for other in later if other.view.template == step.view.template and _form(other) is not None]
    if _form(step) == "bare" and all(_form(other) == "bare" for other in answered):
        return False
    return (again and not drawn) or any(_repairs(step, other) for other in later)


def _form(step: Step) -> Form | None:
    """The form of a step's answer."""
    commitment = step.commitment()
    return None if commitment is None else commitment.form


def _repairs(step: Step, later: Step) -> bool:
    """Whether a later call of the same template goes on from a step's reply."""
    reply = normalised(step.reply)
    return later.view.template == step.view.template and any(
        role == "assistant" and normalised(text) == reply for role, text in later.call.messages
    )


def is_making(item: Item, step: Step) -> bool:
    """Whether a reply is the item's candidate itself: a harness may have it made on the same wire."""
    made = normalised(item.candidate)
    return len(made) >= _LONG_CANDIDATE and normalised(step.reply) == made and step.view.candidate is False


def commitment_of(steps: Sequence[Step], match: MatchWord | None) -> tuple[Step, Commitment | None]:
    """The commitment of an item: the first, or of several equal requests what most of them say; None without most."""
    first = next((step for step in steps if step.commitment() is not None), steps[0])
    same = [step for step in steps if step.view.template == first.view.template]
    answers = [(step, answer) for step in same if (answer := step.commitment()) is not None]
    if len(same) < 2 or not answers:
        return first, first.commitment()
    alike = match or (lambda a, b: "equal" if normalised(a) == normalised(b) else "unequal")
    for step, answer in answers:
        votes = sum(1 for _, other in answers if other is answer or alike(other.text, answer.text) == "equal")
        if votes * 2 > len(same):
            return step, answer
    return first, None


def earlier_verdict(steps: Sequence[Step], own: Step, commitment: Commitment | None) -> str:
    """Why the commitment does not come before the comparison; "" where it does."""
    judged = own.judged_at()
    if commitment is not None and judged is not None and judged < commitment.at:
        return f"in call {own.call.number} the answer stands after the verdict"
    for step in steps:
        if step is not own and step.view.candidate and step.call.began < own.call.began and (
            step.judged_at() is not None
        ):  # fmt: skip
            return f"call {step.call.number} gives a verdict before call {own.call.number} gives an answer"
    return ""


def judgement(steps: Sequence[Step], *, after: int) -> tuple[bool | None, float | None]:
    """The last verdict and the last score of these replies; of the first one only what stands behind a place."""
    said: bool | None = None
    score: float | None = None
    for number, step in enumerate(steps):
        verdict, scored = verdict_in(step.reply), score_in(step.reply)
        if verdict is not None and (number or verdict.at > after):
            said = bool(verdict.value)
        if scored is not None and (number or scored.at > after):
            score = scored.value
    return said, score


def holds(item: Item, comparison: Step, own: Step, commitment: Commitment) -> bool:
    """Whether a request holds the commitment: as the reply that gave it, or as a text of its own."""
    reply = normalised(own.reply)
    if any(role == "assistant" and reply in normalised(text) for role, text in comparison.call.messages):
        return True
    short = normalised(commitment.text)
    there = occurrences(short, comparison.placed.whole) + (len(reply) >= _BARE and reply in comparison.placed.whole)
    # Candidate and reference may be the same short text: theirs are not the commitment's. A call that compares shows
    # the candidate unless it is known not to.
    shown = ((item.candidate, comparison.view.candidate is not False), (item.reference, comparison.view.reference))
    others = sum(short == normalised(text or "") and bool(seen) for text, seen in shown)
    return there > others if there else False

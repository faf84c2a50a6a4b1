"""Which of two candidates is better, asked in both orders: what changes with the order is no finding.

Reply, for each order: {"reason": ..., "better": "first"}

    a first    b first     verdict
    first      second      a
    second     first       b
    tie        tie         tie
    anything else          tie, flagged `inconsistent_swap`

An item's candidate is `a`, its source `candidate_b` is `b` (docs/pairwise.md). Both calls go out together.
"""

from collections.abc import Mapping
from typing import Literal

from evenhand.errors import UnreadableReply
from evenhand.judges.asking import ask, total_usage
from evenhand.judges.fit import TEXT, entry, refuse_unused
from evenhand.judges.parse import reply_object
from evenhand.judges.prompts import Prompt
from evenhand.judges.protocol import Judging
from evenhand.judges.replies import kind, words
from evenhand.judges.together import resting_on, together
from evenhand.scoring.labels import PLACES, labelled_criterion, swap_label
from evenhand.terms import Abstention, Comparison, CriterionVerdict, Failure, Item, JudgeSpec, Reply, Verdict

__all__ = ["INCONSISTENT", "MISSING_B", "SOURCE_B", "PairwiseJudge"]

SOURCE_B = "candidate_b"
"""The item's source that is the second candidate."""

MISSING_B = "missing_candidate_b"
"""The reason of an abstention: the item has one candidate only. Nothing is asked then."""

INCONSISTENT = "inconsistent_swap"
"""The flag of a verdict whose two orders do not agree."""

_TOP = "better"


class PairwiseJudge:
    """The better of two candidates, in both orders."""

    protocol = "pairwise"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        refuse_unused(spec)
        criterion = labelled_criterion(spec)
        self._id = criterion.id
        asked = f"\nWhat decides, and nothing else: {criterion.ask}\n" if criterion.ask else ""
        self._prompt = Prompt(
            spec,
            templates,
            values={"ask": asked},
            schema=entry(reason=TEXT, better={"type": "string", "enum": list(PLACES)}),
            item_template="pair.md",
            others=("other",),
        )

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one pair; an item with one candidate abstains, and nothing is asked."""
        other = item.text_of(SOURCE_B)
        if other is None:
            return Abstention(reason=MISSING_B)
        # Candidate b in the place of the first, for the second order; what the prompt shows of the item stays.
        swapped = Item(id=item.id, candidate=other, task=item.task, reference=item.reference, context=item.context)
        calls = [
            self._prompt.call(item, other, model=model, rerun=rerun, attempt=first_attempt),
            self._prompt.call(swapped, item.candidate, model=model, rerun=rerun, attempt=first_attempt),
        ]
        heard: list[Reply] = []
        found = yield from together(
            [
                ask(calls[0], lambda text: _read(text, "a"), self._prompt.repair),
                ask(calls[1], lambda text: _read(text, "b"), self._prompt.repair),
            ],
            heard,
        )
        if isinstance(found, Abstention | Failure):
            return resting_on(found, heard)
        label, is_consistent = swap_label(*found)
        verdict = CriterionVerdict(id=self._id, label=label, orders=tuple(found))
        return Verdict(
            criteria=(verdict,),
            keys=tuple([reply.key for reply in heard]),
            usage=total_usage(heard),
            flags=() if is_consistent else (INCONSISTENT,),
        )


def _read(text: str, first: Literal["a", "b"]) -> Comparison:
    found = reply_object(text, _TOP)
    better = found[_TOP]
    if better not in PLACES:
        raise UnreadableReply(f'"{_TOP}" is {kind(better)}; expected one of {", ".join(PLACES)}')
    return Comparison(first=first, better=better, reason=words(found, "reason", "the reply"))

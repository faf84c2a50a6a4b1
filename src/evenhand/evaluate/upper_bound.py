"""What one judgement can ask at most: its first questions, what may follow them, and each of them asked again.

    one question    MOST_CALLS calls: the first with `max_tokens`, the others with up to LARGER times as many
    one token       a question answered in one token is asked once
    inventory       the candidate's passes once a feature, with the budget's tokens between them
    floor           every reading once more, behind what it said
    synthesis       one question with everything that was said
    feedback        the same, in the first rerun
    short text      own answers in other words compared in pairs, and then the candidate with one of them

Calls and tokens of replies are bounds. What later questions hold is not known before the replies are there: it is taken
to be as long as the longest replies, which it repeats.
"""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.judges import judge_for
from evenhand.judges.asking import LARGER, MOST_CALLS
from evenhand.judges.inventory import CHARACTERS_PER_TOKEN, MOST_FEATURES
from evenhand.judges.readings import readings
from evenhand.scoring.evidence_pools import judge_settings
from evenhand.scoring.pipeline import is_pipeline
from evenhand.store.packaged import templates
from evenhand.terms import Abstention, Call, Item, JudgeSpec

__all__ = ["Question", "input_tokens", "questions_at_most"]

# Tokens of the instructions of a later question, and of a repair turn: 4,000 characters of a reply, and what is wrong.
_INSTRUCTIONS = 1_500
_REPAIR = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, asked until its reply can be read.

    Args:
        input_tokens: of its first call, by `CHARACTERS_PER_TOKEN`.
        max_tokens: limit of its first reply.
        once: whether it is never asked again.
    """

    input_tokens: int
    max_tokens: int
    once: bool = False

    @property
    def calls(self) -> int:
        """Calls at most."""
        return 1 if self.once else MOST_CALLS

    @property
    def input_at_most(self) -> int:
        """Tokens of all its calls, of which two may hold a repair: twice the rule of thumb, which is for English."""
        return 2 * (self.input_tokens if self.once else MOST_CALLS * self.input_tokens + 2 * _REPAIR)

    @property
    def output_at_most(self) -> int:
        """Tokens of all its replies."""
        return self.max_tokens * (1 if self.once else 1 + (MOST_CALLS - 1) * LARGER)


def input_tokens(call: Call) -> int:
    """Tokens of a call's messages and schema, by their characters."""
    characters = sum(len(message.text) for message in call.messages)
    schema = 0 if call.schema is None else len(json.dumps(call.schema))
    return (characters + schema) // CHARACTERS_PER_TOKEN


def questions_at_most(spec: JudgeSpec, item: Item, first: Sequence[Call], *, rerun: int) -> list[Question]:
    """Everything that a judgement may ask, the first calls in their order before what may follow them."""
    asked = [_question(call) for call in first]
    if spec.commit is not None and spec.commit.match.get("kind") == "short_text":
        return [*asked, *_comparisons(spec, item, len(first))]
    if not first or not is_pipeline(spec):
        return asked
    inventory = first[0].schema_name == "inventory"
    reads = _of_features(spec, item) if inventory else asked
    reply = LARGER * spec.max_tokens
    more = [
        Question(input_tokens=one.input_tokens + reply + _INSTRUCTIONS, max_tokens=spec.max_tokens)
        for one in (reads if judge_settings(spec).item_floor else ())
    ]
    said = Question(input_tokens=(len(reads) + len(more)) * reply + _INSTRUCTIONS, max_tokens=spec.max_tokens)
    last = [said] * ((spec.synthesis is not None) + (spec.feedback and rerun == 0))
    return [*asked, *(reads if inventory else ()), *more, *last]


def _comparisons(spec: JudgeSpec, item: Item, n_commitments: int) -> list[Question]:
    """Every pair of the judge's own answers, then the candidate's answer with one of them."""
    task = len(item.task or "") // CHARACTERS_PER_TOKEN
    pair = Question(input_tokens=task + _INSTRUCTIONS, max_tokens=spec.max_tokens)
    return [pair] * (math.comb(n_commitments, 2) + bool(n_commitments))


def _question(call: Call) -> Question:
    return Question(input_tokens=input_tokens(call), max_tokens=call.max_tokens, once=call.logprobs is not None)


def _of_features(spec: JudgeSpec, item: Item) -> list[Question]:
    """The readings of a repository that is divided: the budget's tokens stand in the first one of each pass."""
    judge = judge_for(dataclasses.replace(spec, inventory=None), templates())
    calls = next(judge.judge(dataclasses.replace(item, candidate="-"), model="any/model"), ())
    found = readings(item, spec.passes)
    made: list[Question] = []
    for call, reading in zip(calls, () if isinstance(found, Abstention) else found[0], strict=True):
        one = _question(call)
        if reading.source is not None:
            made.append(one)
            continue
        whole = dataclasses.replace(one, input_tokens=one.input_tokens + (spec.inventory or 0))
        made += [whole, *[one] * (MOST_FEATURES - 1)]
    return made

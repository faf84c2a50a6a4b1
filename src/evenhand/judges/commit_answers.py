"""What a reply commits to, and which answer several commitments come to."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.errors import UnreadableReply
from evenhand.judges.asking import Read
from evenhand.judges.parse import reply_object
from evenhand.judges.replies import kind, words
from evenhand.keys import content_key
from evenhand.matching.matches import no_answer_in
from evenhand.matching.rules import MatchRule
from evenhand.terms import Abstention, Commitment, Failure, OwnAnswer

__all__ = [
    "LONGEST",
    "commitment_of",
    "ended",
    "read_commitment",
    "read_same",
    "read_verdict",
    "standing",
    "why_lost",
]

LONGEST = 2_000
"""Characters of an answer at most; what is longer is the work, and no answer."""

# A number or an option takes a few words at most: a longer text that holds one is prose about it.
_LONGEST_SHORT = 200

# LaTeX with single backslashes in JSON: `\frac` comes as a form feed and `rac`, `\boxed` as a backspace and `oxed`.
_MATHEMATICAL = ("number", "expression", "choice", "set")
_LATEX_ESCAPE = re.compile(r"[\x08\f]|[\t\r](?=[a-z])|\n(?=(?:eq|abla|otin)(?![a-z]))")
_ESCAPED = {"\b": "\\b", "\f": "\\f", "\t": "\\t", "\r": "\\r", "\n": "\\n"}

_TOP = "answer"
_SAME = "same"
_VERDICT = "verdict"
# How a commitment is lost that the judge could have given: nothing is broken that a setting or a retry would mend.
_UNREADABLE = frozenset({"unreadable", "empty"})


def read_commitment(text: str, rule: MatchRule) -> str:
    """The answer that a reply commits to; empty where the judge says that it found none.

    Raises:
        UnreadableReply: no object with an answer, an answer that is no text or number, that is longer than `LONGEST`,
            or in which no answer of this kind can be read.

    >>> read_commitment('{"work": "6 * 3", "answer": "$18"}', MatchRule(kind="number"))
    '$18'
    """
    answer = _text(reply_object(text, _TOP))
    if rule.kind in _MATHEMATICAL:
        answer = _LATEX_ESCAPE.sub(lambda found: _ESCAPED[found.group()], answer)
    answer = answer.strip()
    if not answer:
        return ""
    most = _LONGEST_SHORT if rule.kind in ("number", "choice") else LONGEST
    if len(answer) > most:
        raise UnreadableReply(f'"{_TOP}" has {len(answer)} characters; expected the answer alone, {most} at most')
    wrong = no_answer_in(answer, rule)
    if wrong is not None:
        raise UnreadableReply(f'"{_TOP}" is {kind(answer)}, which is no answer of the kind {rule.kind}: it {wrong}')
    return answer


def read_same(text: str) -> bool:
    """Whether two texts are said to be the same answer.

    Raises:
        UnreadableReply: neither yes nor no.
    """
    said = reply_object(text, _SAME)[_SAME]
    if said not in ("yes", "no"):
        raise UnreadableReply(f'"{_SAME}" is {kind(said)}; expected "yes" or "no"')
    return bool(said == "yes")


def read_verdict(text: str) -> tuple[bool, str | None]:
    """Whether the candidate is said to be correct, and why.

    Raises:
        UnreadableReply: neither word.
    """
    found = reply_object(text, _VERDICT)
    said = found[_VERDICT]
    if said not in ("correct", "incorrect"):
        raise UnreadableReply(f'"{_VERDICT}" is {kind(said)}; expected "correct" or "incorrect"')
    return said == "correct", words(found, "reason", "the reply")


def commitment_of(found: Read[str]) -> Commitment:
    """The commitment of a reply that was read; its hash names the call's key and the answer."""
    key = found.keys[-1]
    return Commitment(answer=found.value, key=key, hash=content_key({"answer": found.value, "key": key}))


def standing(own: OwnAnswer, same: Sequence[Sequence[bool]]) -> OwnAnswer:
    """The answer that more than half of the commitments agree with; none where there is no such answer.

    Args:
        own: with at least one commitment.
        same: (n, n) whether two commitments are the same answer; true on the diagonal.
    """
    n = len(own.commitments)
    place = next((place for place, row in enumerate(same) if 2 * sum(row) > n), None)
    if place is None:
        return replace(own, commitments=tuple([replace(one, agrees=False) for one in own.commitments]))
    agreeing = [replace(one, agrees=agrees) for one, agrees in zip(own.commitments, same[place], strict=True)]
    return replace(own, commitments=tuple(agreeing), stands=place)


def why_lost(outcome: Read[str] | Abstention | Failure) -> str:
    """Why a commitment could not be read, in one word."""
    if isinstance(outcome, Read):
        return "none_given"
    return outcome.code if isinstance(outcome, Failure) else outcome.reason


def ended(outcomes: Sequence[Read[str] | Abstention | Failure]) -> Abstention | Failure | None:
    """What an item without any commitment ends with, if it is more than that none could be read.

    A refusal of all, a withheld or a cut-off reply are told as with every other protocol.
    """
    broken = [one for one in outcomes if isinstance(one, Failure) and one.code not in _UNREADABLE]
    if broken:
        return broken[0]
    refused = [one for one in outcomes if isinstance(one, Abstention)]
    return refused[0] if len(refused) == len(outcomes) else None


def _text(found: dict[str, Any]) -> str:
    """The answer as text; a JSON number stands for its own digits."""
    answer = found[_TOP]
    if answer is None:
        return ""
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        return repr(answer)
    if not isinstance(answer, str):
        raise UnreadableReply(f'"{_TOP}" is {kind(answer)}; expected a string with the answer alone')
    return answer

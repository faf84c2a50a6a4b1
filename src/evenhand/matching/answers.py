"""Where one side's answer stands, before it is read as a number, an option or anything else."""

import re
from dataclasses import dataclass

from evenhand.matching.cleaning import cleaned, unmarked, unstruck, unwrapped_latex
from evenhand.matching.hedging import denied, is_refusal
from evenhand.matching.rules import MatchRule
from evenhand.matching.statements import boxes, statements

__all__ = ["NoAnswer", "Passage", "Unreadable", "asked", "first_sentence", "passages", "sentences", "taken_back"]

MOST_STATED = 100
LONGEST_SENTENCE = 2_000  # characters; what is longer is no sentence that gives one answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of text that holds an answer.

    Args:
        text: cleaned, without Markdown.
        where: where it was found, for the reader: `the last box`.
        stated: whether the text says that this is the answer; if not, it may be prose that only mentions it.
        after: the beginning of what follows a stated answer.
    """

    text: str
    where: str
    stated: bool
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing was answered, or more than one thing; `reason` is half a sentence."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Something was answered that is no answer of this kind, so it equals none; `reason` is half a sentence.

    Args:
        reason: half a sentence.
        same: the text by which it may still equal itself; empty where it equals nothing.
    """

    reason: str
    same: str = ""


def passages(text: str, rule: MatchRule) -> list[Passage] | NoAnswer:
    """The passages that state an answer under a rule, else the whole text; the caller sees whether they agree."""
    text = unmarked(unstruck(cleaned(text))).strip()
    if rule.read == "whole":
        return NoAnswer(reason="is a refusal, or empty") if is_refusal(text) else [_whole(text)]
    found = boxes(text) if rule.read == "boxed" else statements(text, lettered=rule.kind != "choice")
    if any(one.text is None for one in found):
        return NoAnswer(reason="has a box that is never closed")
    if any(one.form == "box" and denied(one.before) for one in found):
        return NoAnswer(reason="says what the answer is not, or might be")
    if found and taken_back(unwrapped_latex(found[-1].after)):
        return NoAnswer(reason="takes its answer back")
    found = list({(one.text, one.form): one for one in found}.values())  # the same box over again is one answer
    if len(found) > MOST_STATED:
        return NoAnswer(reason=f"states more than {MOST_STATED} answers")
    stated = [
        Passage(
            text=one.text,
            where="the box" if one.form == "box" else f"what follows '{one.form}'",
            stated=True,
            after=one.after,
        )
        for one in found
        if one.text is not None
    ]
    if stated:
        refused = all(is_refusal(one.text) for one in stated)
        return NoAnswer(reason="states a refusal, or nothing") if refused else stated
    if rule.read != "final":
        return NoAnswer(reason="has no box" if rule.read == "boxed" else "states no answer")
    return NoAnswer(reason="is a refusal, or empty") if is_refusal(text) else [_whole(text)]


def _whole(text: str) -> Passage:
    return Passage(text=text, where="the whole text", stated=False)


_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n|\u3002|\uff1f")


def sentences(text: str) -> list[str]:
    """The sentences of a text, split at line ends and at full stops before a space; empty ones left out.

    >>> sentences("It is 3.5. Is it 4? So")
    ['It is 3.5', 'Is it 4?', 'So']
    """
    found, at = [], 0
    for end in _SENTENCE_END.finditer(text):
        found.append(text[at : end.end() if end.group() in _ASKING else end.start()])
        at = end.end()
    return [piece for part in (*found, text[at:]) if (piece := part.strip())]


_ASKING = ("?", "\uff1f")


def asked(text: str) -> bool:
    """Whether the first sentence of a text asks rather than answers.

    >>> asked("5?"), asked("5. Is that right?")
    (True, False)
    """
    end = _SENTENCE_END.search(text, 1)
    return end is not None and end.group() in _ASKING


_TAKEN_BACK = re.compile(
    r"""[\s.!;,$)\]}\\"'-]*+\s*+(?:\?|\(?(?:but\s++)?(?:(?:maybe|perhaps|possibly|alternatively|actually|wait|hmm|oops|correction"""
    r"|scratch that|strike that|on second thoughts?|my mistake|i made an? (?:mistake|error)|hold on)(?![A-Za-z])"
    r"|or(?! (?:equivalently|as an?|in other words|written))(?![A-Za-z])"
    r"|(?:that|this|it|which)(?: i|')s (?:wrong|incorrect|not (?:right|correct|it))(?![A-Za-z])"
    r"|(?:is|was) (?:wrong|incorrect|not (?:right|correct))(?![A-Za-z])"
    r"|no(?:\s*+[,.!;:\u2014-]|\s++(?:wait|it|that)(?![A-Za-z]))))",
    re.IGNORECASE,
)


def taken_back(rest: str) -> bool:
    """Whether what follows an answer takes it back: `Or maybe 6.`, `Wait, B.`, `No, it is 6.`, `?`.

    >>> taken_back(". Actually, 6"), taken_back(" is wrong"), taken_back(". No other value will do")
    (True, True, False)
    """
    return _TAKEN_BACK.match(rest) is not None


_REASON = re.compile(r"[,;]?(?<!as well)\s(?:since|because|as(?! well)|weil|denn|da|car|porque)\s", re.IGNORECASE)


def first_sentence(text: str) -> str | None:
    """The first sentence of a stated answer, without the reason that follows; None if the next takes it back.

    >>> first_sentence("F, since I checked"), first_sentence("5. Or maybe 6."), first_sentence("3.5. That is all.")
    ('F', None, '3.5')
    """
    end = _SENTENCE_END.search(text, 1)
    first, rest = (text, "") if end is None else (text[: end.start()], text[end.end() :])
    if taken_back(rest):
        return None
    reason = _REASON.search(first)
    return (first[: reason.start()] if reason else first).strip()

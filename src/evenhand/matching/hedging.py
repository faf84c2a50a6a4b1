"""Texts that give no answer: refusals, answers to choose from, answers taken back."""

import re

__all__ = ["denied", "hedge", "is_refusal", "negated"]

_SAID = """
no answer|none given|unknown|n/a|na|not available|unsure|not sure|unanswerable|no idea|idk|not answered|no response
i don't know|i do not know|i am not sure|i'm not sure|cannot answer|can't answer|cannot say|skip|pass|?|??|???|-|--
not enough information|insufficient information
"""
_REFUSALS = frozenset(_SAID.strip().replace("\n", "|").split("|"))
_OPENINGS = (
    "i cannot", "i can't", "i can not", "i am unable", "i'm unable", "i am not able", "i'm not able", "i don't know",
    "i do not know", "i won't", "i will not", "i must decline", "i refuse", "i'm sorry", "i am sorry", "sorry",
    "as an ai", "as a language model", "unable to", "unfortunately, i", "unfortunately i", "we cannot determine",
    "i have no answer", "i have no idea", "there is not enough information", "there isn't enough information",
    "i am not sure", "i'm not sure",
)  # fmt: skip
_HEDGES = re.compile(
    r"(?<![A-Za-z])(?:or|either|maybe|perhaps|possibly|might|unsure|alternatively|could be|may be|not sure|and/or"
    r"|could also be|may also be|can also be|between|one of|oder|vielleicht|entweder|peut-être|ou)(?![A-Za-z])",
    re.IGNORECASE,
)
_NEGATIONS = re.compile(
    r"(?<![A-Za-z])(?:not|never|wrong|incorrect|false|isn't|wasn't|aren't|doesn't|don't|didn't|won't|wouldn't|can't|cannot|nicht|falsch)(?![A-Za-z])",
    re.IGNORECASE,
)
_EDGES = " \t\n.,;:!\"'()[]*_`"


def is_refusal(text: str) -> bool:
    """Whether a cleaned text declines to answer: `unknown`, `I cannot ...`, or nothing at all.

    `no solution`, `none` and `cannot be determined` are answers to many a question, and no refusals.

    >>> is_refusal("I cannot help with that."), is_refusal("N/A"), is_refusal("no solution"), is_refusal("")
    (True, True, False, True)
    """
    start = text[:200].strip(_EDGES).casefold()
    if len(text) < 100 and (start in _REFUSALS or not start):
        return True
    return not text.strip(_EDGES) or start.startswith(_OPENINGS)


def hedge(text: str) -> str | None:
    """The word by which a text leaves open which answer it gives, or None.

    >>> hedge("5 or 6"), hedge("Either way, 5"), hedge("The order is 5")
    ('or', 'Either', None)
    """
    found = _HEDGES.search(text)
    return None if found is None else found.group()


def negated(text: str) -> bool:
    """Whether a text says what the answer is not.

    >>> negated("not 5"), negated("five hundred is wrong"), negated("a note of 5")
    (True, True, False)
    """
    return _NEGATIONS.search(text) is not None


_DENIED = re.compile(
    r"(?:(?<![A-Za-z])(?:not|never|neither|either|maybe|perhaps|possibly|might|could|may|wrong|incorrect|false|nicht|falsch)"
    r"|n't)(?:\s(?:equals?|to|simply|just|the|answer|an?|is|be|value|result)(?![a-z])){0,4}+[\s:$*(=\[\\]*+$",
    re.IGNORECASE,
)


def denied(before: str) -> bool:
    """Whether the words before a box say that the answer is not, or only might be, what stands in it.

    >>> denied("so it is not "), denied("The wrong answer is $"), denied("It is not hard to see it is ")
    (True, True, False)
    """
    return _DENIED.search(before) is not None

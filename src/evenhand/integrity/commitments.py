r"""What a judge's reply says: an answer of its own, a verdict, a score.

An answer counts as a commitment only in a form that a program can read: a labelled line (`My answer: 42`), a sentence
(`The answer is 42.`), a field of a JSON object, `\boxed{42}`, `#### 42`, `<answer>42</answer>`. A word of judgement in
such a place (`"answer": "yes"`) is a verdict, not an answer, unless the label says that it is the judge's own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.integrity.demands import FIELDS, LABEL, OWN_FIELDS, OWN_WORD, TAG, Form
from evenhand.json_text import too_deep_at

__all__ = [
    "Commitment",
    "Said",
    "commitments_in",
    "score_in",
    "verdict_in",
]

_LINE = re.compile(
    rf"^[ \t>*_#-]*(?P<label>{LABEL})\b[ \t*_`]*(?:is)?[ \t]*[:=][ \t*_`]*(?P<text>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADED = re.compile(  # a heading that is a label, and the answer below it
    rf"^[ \t]*(?:#{{1,6}}[ \t]*\**|\*\*)(?P<label>{LABEL})[*: \t]*\n\s*(?P<text>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(
    r"\b(?P<label>(?:the|my)[ ]+(?:final[ ]+|correct[ ]+)?answer)[ ]+is[ \t]*:?[ \t]+(?P<text>[^\s:][^\n]*)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!](?=\s|$)")
_HASHES = re.compile(r"^[ \t]*####[ \t]*(?P<text>\S[^\n]*)", re.MULTILINE)
_TAG = re.compile(rf"<(?P<end>/?)(?P<tag>{TAG})>", re.IGNORECASE)
_LARGEST = 1.7976931348623157e308  # of floats
_BRACE = re.compile(r"[{}]")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")

_YES = frozenset(
    (
        "yes", "true", "correct", "right", "pass", "passed", "accept", "accepted", "equal", "same", "equivalent",
        "match", "matches", "c", "valid"
    )
)  # fmt: skip
_NO = frozenset(
    (
        "no", "false", "incorrect", "wrong", "fail", "failed", "reject", "rejected", "unequal", "different",
        "unequivalent", "mismatch", "i", "invalid", "not_equivalent", "not_equal", "not_correct", "not_same",
        "not_the_same"
    )
)  # fmt: skip
_VERDICT_FIELDS = frozenset(
    (
        "verdict", "correct", "is_correct", "accept", "accepted", "pass", "passed", "equal", "same", "equivalent",
        "match", "matches", "grade", "label", "decision", "judgment", "judgement", "answer", "result",
        "is_equivalent", "same_answer"
    )
)  # fmt: skip
_VERDICT_LINE = re.compile(
    r"\b(?:grade|verdict|decision|judge?ment|conclusion)\b[\"'`* ]*(?:is)?[ \t]*[:=][\"'`* \t]*(?P<word>[A-Za-z_]+)",
    re.IGNORECASE,
)
_SCORE_FIELDS = frozenset(
    (
        "score", "rating", "points", "reward", "probability", "confidence", "value"
    )
)  # fmt: skip
_NUMBER = r"(?P<number>[-+]?\d++(?:\.\d++)?+)(?![eE][-+]?\d)(?:[ \t]*/[ \t]*\d+)?"
_SCORE_LINE = re.compile(rf"\b(?:score|rating|points|reward)\b[\"'`* ]*(?:is)?[ \t]*[:=][\"'`*\[ \t]*{_NUMBER}", re.I)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_ANSWER = frozenset(("not", "in", "as", "that", "given", "stated", "provided", "because", "consistent", "supported"))
_TRIES = 1000  # braces that open no object, after which none is looked for: a text of braces alone takes no time
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """An answer that a reply commits to.

    Args:
        text: the answer as written.
        form: how it is marked.
        at: where in the reply it begins, in code points.
        own: the mark itself says whose answer it is.
    """

    text: str
    form: Form
    at: int
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A verdict (`value` 1 or 0) or a score in a reply, and where it stands."""

    value: float
    at: int


def commitments_in(reply: str) -> tuple[Commitment, ...]:
    r"""Every answer that a reply commits to, in the order in which they stand.

    >>> [(one.text, one.form) for one in commitments_in("I get 6*7.\nMy answer: 42\nVerdict: no")]
    [('42', 'line')]
    >>> commitments_in('{"reasoning": "6*7", "answer": "yes"}'), commitments_in("The answer given is right.")
    ((), ())
    """
    found = [*_from_fields(reply), *_from_lines(reply), *_from_boxes(reply)]
    found += [Commitment(text=hit["text"].strip(), form="hashes", at=hit.start()) for hit in _HASHES.finditer(reply)]
    found += [*_from_tags(reply), *_from_sentences(reply)]
    kept = [one for one in found if one.text and (one.own or _word(one.text) is None)]
    return tuple(sorted(kept, key=lambda one: one.at))


def verdict_in(reply: str) -> Said | None:
    """The last verdict that a reply gives, 1 for accepted, 0 for not; None where it gives none.

    >>> verdict_in("GRADE: I").value, verdict_in('{"correct": true}').value, verdict_in("Yes."), verdict_in("42")
    (0.0, 1.0, Said(value=1.0, at=0), None)
    """
    found = []
    for name, value, at in _fields(reply):
        word = value if isinstance(value, bool) else _word(value) if isinstance(value, str) else None
        if name in _VERDICT_FIELDS and word is not None:
            found.append(Said(value=float(word), at=at))
    for hit in _VERDICT_LINE.finditer(reply):
        word = _word(hit["word"])
        if word is not None:
            found.append(Said(value=float(word), at=hit.start()))
    bare = _word(reply)
    if not found and bare is not None:
        found.append(Said(value=float(bare), at=0))
    return max(found, key=lambda one: one.at, default=None)


def score_in(reply: str) -> Said | None:
    """The last score that a reply gives; None where it gives none.

    >>> score_in("Score: 7/10").value, score_in('{"score": 0.4}').value, score_in("My answer: 42")
    (7.0, 0.4, None)
    """
    found = [
        Said(value=float(value), at=at)
        for name, value, at in _fields(reply)
        if name in _SCORE_FIELDS and isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value)
    ]
    lines = [(float(hit["number"]), hit.start()) for hit in _SCORE_LINE.finditer(reply)]
    found += [Said(value=value, at=at) for value, at in lines if _finite(value)]
    return max(found, key=lambda one: one.at, default=None)


def _finite(value: float) -> bool:
    """Whether a number of a reply, which may have any number of digits, is one that can be compared as a float."""
    return -_LARGEST <= value <= _LARGEST


def _word(text: str) -> bool | None:
    """Whether a text is a word of acceptance or of rejection and nothing else."""
    word = re.sub(r"[\s-]+", "_", text.strip().strip("\"'`*.!() ").casefold())
    return True if word in _YES else False if word in _NO else None


def _from_lines(reply: str) -> Iterator[Commitment]:
    for pattern in (_LINE, _HEADED):
        for hit in pattern.finditer(reply):
            text = hit["text"].strip().rstrip("*_`").strip()
            yield Commitment(text=text, form="line", at=hit.start(), own=OWN_WORD.search(hit["label"]) is not None)


def _from_sentences(reply: str) -> Iterator[Commitment]:
    """What stands behind `the answer is`, up to the end of the sentence; a judgement of an answer is none."""
    for hit in _SENTENCE.finditer(reply):
        text = _SENTENCE_END.split(hit["text"], maxsplit=1)[0].strip(" \t*_`$\"'")
        if text and _word(text.split()[0].strip(",;:")) is None and text.split()[0].casefold() not in _NO_ANSWER:
            yield Commitment(text=text, form="sentence", at=hit.start())


def _from_fields(reply: str) -> Iterator[Commitment]:
    for name, value, at in _fields(reply):
        if name in FIELDS and isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield Commitment(text=str(value).strip(), form="field", at=at, own=name in OWN_FIELDS)


def _from_boxes(reply: str) -> Iterator[Commitment]:
    """The contents of boxes, whose braces may nest; one pass, however many of them are never closed."""
    if not _BOXED.search(reply):
        return
    closing: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(reply):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.start()
    for hit in _BOXED.finditer(reply):
        end = closing.get(hit.end() - 1)
        if end is not None:
            yield Commitment(text=reply[hit.end() : end].strip(), form="boxed", at=hit.start())


def _from_tags(reply: str) -> Iterator[Commitment]:
    """What stands between a tag and the next end of the same."""
    opened: dict[str, re.Match[str]] = {}
    for hit in _TAG.finditer(reply):
        tag = hit["tag"].casefold()
        if not hit["end"]:
            opened.setdefault(tag, hit)
        elif tag in opened:
            start = opened.pop(tag)
            yield Commitment(
                text=reply[start.end() : hit.start()].strip(), form="tag", at=start.start(), own="answer" in tag
            )


def _fields(reply: str) -> Iterator[tuple[str, Any, int]]:
    """(name in lower case, value, place) of the fields of the JSON objects in a reply, those inside of others too."""
    for text, offset in _objects(reply):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        at = 0
        for name, inner in _walked(value):
            at = max(text.find(json.dumps(name)[1:-1], at), at)
            yield re.sub(r"[\s-]+", "_", _HUMP.sub("_", name.strip()).casefold()), inner, offset + at


def _walked(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field, in the order in which they stand."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name, inner
            yield from _walked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walked(inner)


def _objects(reply: str) -> Iterator[tuple[str, int]]:
    """The texts that may be JSON objects, with their places: each line, each fence, or all from the first brace."""
    if "{" not in reply or too_deep_at(reply) is not None:
        return
    stripped = reply.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        try:
            json.loads(stripped)
        except ValueError:
            pass
        else:
            yield stripped, reply.find(stripped)
            return
    fenced = [(hit[1], hit.start(1)) for hit in _FENCE.finditer(reply) if "{" in hit[1]]
    if fenced:
        yield from fenced
        return
    decoder, at = json.JSONDecoder(), reply.find("{")
    tries = _TRIES
    while at != -1 and tries:
        try:
            _, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            at, tries = reply.find("{", at + 1), tries - 1
            continue
        yield reply[at:end], at
        at = reply.find("{", end)

"""From the text of a reply to the one JSON object that carries the verdict, strictly. docs/replies.md tells it in full.

Nothing is guessed: cut JSON is not completed, wrong types are not converted, numbers are not rounded or rescaled. What
cannot be read raises `UnreadableReply`, whose message the model is told in a repair turn.

There is one way of reading, whatever surrounds the object: reasoning is set aside, prose and code fences are passed
over, and complete top-level objects are looked for, aware of strings, in linear time.
"""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NoReturn

from evenhand.errors import UnreadableReply
from evenhand.json_text import broken_at, too_deep_at

__all__ = ["MAX_CHARS", "is_refusal", "objects", "prose", "reply_object"]

# A reply of 32,000 tokens of reasoning has about 130,000 characters; what is longer by far is a runaway.
MAX_CHARS = 1_000_000

# How many objects may be begun and not ended before the search stops; each costs one pass over the rest.
_MAX_UNFINISHED = 4

# How many marks that end reasoning are tried, from the last one backwards; each costs one pass over the rest.
_MAX_MARKS = 4

_MAX_DIGITS = 20

_BRACE_FIRST = re.compile(r"\s*\{")
_START = re.compile(r'\{\s*["}]')
_INSIDE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}"]', re.DOTALL)

_TAG = r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning|reflection)"
_ENDS = re.compile(
    rf"</{_TAG}>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\b[^{{}}]{{0,40}}?<\|message\|>|<channel\|>", re.IGNORECASE
)
_BEGINS = re.compile(
    rf"<{_TAG}>|\[THINK\]|◁think▷|<\|channel\|>\s*(?:analysis|commentary)\b|<\|channel>", re.IGNORECASE
)
# Channel names left over where the special tokens around them were stripped: `analysisWe must ...assistantfinal{...}`.
_GLUED_BEGIN = re.compile(r"\s*analysis(?=[A-Z\"'{(])")
_GLUED_END = re.compile(r"assistant\s?final(?![a-z])")

_SURROGATE = re.compile("[\ud800-\udfff]")

# Possessive where runs could be shared out between two parts: a model that runs away into white space would else take
# hours to read.
_REFUSAL = re.compile(
    r"""\W*+(?:(?:i'm|i\ am)\ (?:very\ |really\ |so\ )?sorry|sorry|i\ apologi[sz]e|unfortunately)?[\s,.;:]*+(?:but\ )?
    (?:i'm\ afraid\ (?:that\ )?)?
    (?:i|we)\ ?(?:cannot|can't|can\ not|won't|will\ not|(?:am|'m)\ (?:unable|not\ able)\ to|must\ decline\ to)\ (?:
        help|assist|comply|fulfil|participate|engage
        |(?:evaluate|judge|rate|grade|score|assess|review)\ (?:this|that|such)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def reply_object(text: str, top: str) -> dict[str, Any]:
    """The one object of a reply that has the key `top`.

    Args:
        text: the reply; may hold reasoning, prose and code fences around the object.
        top: the key that the object must have.
    Raises:
        UnreadableReply: there is none, two differ, one is cut or malformed after the last, a key stands twice in an
            object, a number is not finite or is negative zero, a string holds a lone surrogate, or the text is longer
            than `MAX_CHARS`.

    >>> reply_object('<think>{"checks": [1]}?</think> Here it is: {"checks": []} Done.', "checks")
    {'checks': []}
    """
    if len(text) > MAX_CHARS:
        raise UnreadableReply(f"the reply is {len(text)} characters long; at most {MAX_CHARS} are read")
    found, trouble = _decoded(text) if _BRACE_FIRST.match(text) else (None, None)
    if found is None:  # otherwise the whole text is one object: marks of reasoning can only stand in its strings
        found = _searched(text, top, trouble)
    if top not in found or _is_schema(found[top]):
        raise _without_key(found, top)
    if _has_surrogate(text, found):
        raise UnreadableReply("a string of the reply holds half of a surrogate pair, which is no character")
    return found


def objects(text: str) -> Iterator[tuple[int, int | None]]:
    """Start and end of each top-level `{...}` that begins like a JSON object, in order; None where it never ends.

    Braces and code fences inside strings do not count. After an unfinished object the search goes on behind its first
    brace, a few times only, so that the whole takes linear time.

    >>> list(objects('{x} {"a": "}"} {"b'))
    [(4, 14), (15, None)]
    """
    place, unfinished = 0, 0
    while unfinished < _MAX_UNFINISHED and (begin := _START.search(text, place)):
        start = begin.start()
        end = _end(text, start)
        yield start, end
        unfinished += end is None
        place = start + 1 if end is None else end


def is_refusal(text: str) -> bool:
    """Whether prose without any JSON declines the task in its first words.

    Deliberately narrow, since whatever it misses is asked again and then fails as unreadable, while a wrong hit would
    turn a clumsy reply into an abstention. A text with an object in it is never a refusal, whatever it quotes.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal('{"quote": "I cannot help with that"}')
    (True, False)
    """
    return not _START.search(text) and _REFUSAL.match(_after_last_mark(text).replace("’", "'")) is not None


def prose(text: str) -> str:
    """A reply that is to be plain text, without the reasoning in front of it.

    Raises:
        UnreadableReply: reasoning that never ends, half a surrogate pair, a refusal, or a runaway's length.

    >>> prose("<think>Be kind.</think> Keep the clear purpose.")
    'Keep the clear purpose.'
    """
    if len(text) > MAX_CHARS:
        raise UnreadableReply(f"the reply is {len(text)} characters long; at most {MAX_CHARS} are read")
    said = _after_last_mark(text).strip()
    if _BEGINS.match(said):
        raise UnreadableReply("the reply is reasoning that never ends; expected plain prose behind it")
    if _SURROGATE.search(said):
        raise UnreadableReply("the reply holds half of a surrogate pair, which is no character")
    if is_refusal(said):
        raise UnreadableReply("the reply declines the task; expected plain prose")
    return said


# --- finding the object ---------------------------------------------------------------------------------------------


def _searched(text: str, top: str, trouble_at_first: str | None) -> dict[str, Any]:
    """The last object outside the reasoning that has the key; or, where none has it, some other object.

    Args:
        trouble_at_first: what was wrong with the text as a whole, where it began like an object.
    """
    trouble: str | None = None
    chosen: dict[str, Any] | None = None
    other: dict[str, Any] | None = None
    for piece in _answer(text, top):
        for start, end in _outside_reasoning(piece):
            found, wrong = (None, "the JSON is cut off") if end is None else _decoded(piece[start:end])
            if found is None:
                # A malformed draft before the verdict says nothing; a malformed correction after it does.
                trouble = wrong if f'"{top}"' in piece[start:end] else trouble
            elif top not in found:
                other = found
            elif chosen is not None and _canonical(found) != _canonical(chosen):
                raise UnreadableReply("the reply holds two different verdicts; give one")
            else:
                chosen, trouble = found, None
    if trouble is not None:
        raise UnreadableReply(trouble)
    if chosen is None and other is None:
        raise UnreadableReply(trouble_at_first or f'the reply holds no JSON object; expected one with the key "{top}"')
    return chosen or other or {}


def _answer(text: str, top: str) -> tuple[str, ...]:
    """The text outside the reasoning: what stands before it, if it says where it begins, and what follows it.

    The answer follows the last mark that ends reasoning, save where that mark stands inside a verdict, since a
    candidate may hold such a mark and a quote repeat it.
    """
    marks = _end_marks(text)
    if not marks:
        return (text,)
    inside: list[int] = []
    for start, end in reversed(marks[-_MAX_MARKS:]):
        if _holds(text, end, top, inside):
            return _before(text, start), text[end:]
        inside.append(start)
    if len(marks) <= _MAX_MARKS and _holds(text, 0, top, inside):
        return (text,)
    return (text[marks[-1][1] :],)


def _holds(text: str, begin: int, top: str, inside: list[int]) -> bool:
    """Whether a verdict follows `begin`, with each of the places inside some object."""
    spans = [(start + begin, end + begin) for start, end in objects(text[begin:]) if end is not None]
    return any(f'"{top}"' in text[start:end] for start, end in spans) and all(
        any(start < place < end for start, end in spans) for place in inside
    )


def _before(text: str, end: int) -> str:
    """What precedes reasoning that ends at `end`; nothing where no mark begins it."""
    begin = _BEGINS.search(text, 0, end)
    return text[: begin.start()] if begin else ""


def _outside_reasoning(piece: str) -> Iterator[tuple[int, int | None]]:
    """The objects of a piece, up to reasoning that begins there and never ends."""
    if _GLUED_BEGIN.match(piece):
        return
    begins = deque(found.start() for found in _BEGINS.finditer(piece))
    for start, end in objects(piece):
        while begins and begins[0] < (end or start):
            if begins.popleft() < start:
                return
        yield start, end


def _after_last_mark(text: str) -> str:
    marks = _end_marks(text)
    return text[marks[-1][1] :] if marks else text


def _end_marks(text: str) -> list[tuple[int, int]]:
    """Where marks that end reasoning stand, in order."""
    marks = [found.span() for found in _ENDS.finditer(text)]
    if _GLUED_BEGIN.match(text):
        marks = sorted(marks + [found.span() for found in _GLUED_END.finditer(text)])
    return marks


def _end(text: str, start: int) -> int | None:
    """Where the object that begins at `start` ends, or None."""
    depth = 0
    for token in _INSIDE.finditer(text, start):
        what = token.group()
        if what == "{":
            depth += 1
        elif what == "}":
            depth -= 1
            if not depth:
                return token.end()
        elif what == '"':  # a string that never ends
            return None
    return None


# --- decoding it ----------------------------------------------------------------------------------------------------


def _has_surrogate(text: str, found: dict[str, Any]) -> bool:
    """Whether the text, or a string escaped in it, holds half of a surrogate pair, which UTF-8 cannot carry."""
    if not text.isascii() and _SURROGATE.search(text):
        return True
    return "\\u" in text and _SURROGATE.search(json.dumps(found, ensure_ascii=False)) is not None


class _Refused(ValueError):
    """JSON that some decoders take and others do not, or that says two things at once."""


def _decoded(text: str) -> tuple[dict[str, Any] | None, str | None]:
    """An object, or what is wrong with it."""
    try:
        if too_deep_at(text) is not None:
            raise RecursionError
        found = _decode(text)
    except _Refused as error:
        return None, str(error)
    except json.JSONDecodeError as error:
        place, reason = broken_at(error)
        return None, f"the JSON is malformed: {reason} at character {place}{_hint(text, place)}"
    except RecursionError:
        return None, "the JSON is nested too deeply"
    assert isinstance(found, dict)
    return found, None


def _hint(text: str, place: int) -> str:
    """What to do about an escape that JSON does not have, the usual slip in quoted formulas and paths."""
    return "; write each backslash twice" if text[place : place + 1] == "\\" else ""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f'the key "{twice[:60]}" stands twice in one object')
    return found


def _integer(digits: str) -> int:
    if digits == "-0" or len(digits) > _MAX_DIGITS:
        _refuse_number(digits)
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value) or (value == 0 and digits.startswith("-")):
        _refuse_number(digits)
    return value


def _refuse_number(digits: str) -> NoReturn:
    raise _Refused(f"{digits[:_MAX_DIGITS]} is no number that can be used here")


# Line breaks inside strings are taken as they stand: they can mean nothing else, and models write them.
_decode = json.JSONDecoder(
    object_pairs_hook=_unrepeated,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_refuse_number,
    strict=False,
).decode


def _canonical(found: dict[str, Any]) -> str:
    return json.dumps(found, sort_keys=True)


def _is_schema(value: object) -> bool:
    """Whether a value is a piece of JSON Schema rather than an instance."""
    return isinstance(value, dict) and (
        isinstance(value.get("properties"), dict) or value.get("type") in ("object", "array")
    )


def _without_key(found: dict[str, Any], top: str) -> UnreadableReply:
    if _is_schema(found) or _is_schema(found.get(top)) or "$schema" in found:
        return UnreadableReply(
            "the reply is the JSON schema itself, not an answer in its shape; the model does not follow the schema: "
            "try another model, or another reply mode"
        )
    named = ", ".join(f'"{name[:60]}"' for name in list(found)[:5]) or "no keys"
    return UnreadableReply(f'the JSON object has {named}; expected the key "{top}" at its top level')

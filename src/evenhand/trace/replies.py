"""Scripted replies for a harness: a JSONL file, one reply a line.

    "My answer: 42"                                     a JSON string is the reply's text
    {"text": "My answer: 42", "when": ["6 times 7"]}    answers requests that hold all of these texts
    {"verdict": "yes"}                                  any other object is itself the reply's text

Lines with `when` are tried first, from the top, and may answer any number of requests: a harness that asks about
several items at once then gets the right reply for each. Lines without it are given in order, and the last one repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.terms import Call, Reply

__all__ = ["ScriptedReplies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    when: tuple[str, ...]


class ScriptedReplies:
    """Answers calls from a script.

    Args:
        path: the file.
    Raises:
        InvalidInput: no such file, no line in it, or a line that is no reply.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"replies of {path.name}"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInput(f"--replies {path}: cannot be read ({error.strerror}); name a JSONL file") from error
        lines = [
            _line(line, f"{path} line {number}") for number, line in enumerate(content.splitlines(), 1) if line.strip()
        ]
        if not lines:
            raise InvalidInput(f"--replies {path}: holds no reply; write one JSON string or object a line")
        self._chosen = [line for line in lines if line.when]
        self._in_turn = [line.text for line in lines if not line.when]
        self._given = 0

    async def __call__(self, call: Call) -> Reply:
        """The reply of a call.

        Raises:
            InvalidInput: no line answers it.
        """
        asked = "\n".join(message.text for message in call.messages)
        text = next((line.text for line in self._chosen if all(part in asked for part in line.when)), None)
        if text is None:
            if not self._in_turn:
                raise InvalidInput(f"no line of the {self.name} has a 'when' that this request holds")
            text = self._in_turn[min(self._given, len(self._in_turn) - 1)]
            self._given += 1
        return Reply(text=text)


def _line(line: bytes, where: str) -> _Line:
    """One line of a script."""
    try:
        value: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{where}: no JSON ({error}); write a JSON string, or an object") from error
    if isinstance(value, str):
        return _Line(text=value, when=())
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: {type(value).__name__} is no reply; write a JSON string, or an object")
    if "text" not in value and "when" not in value:
        return _Line(text=line.strip().decode(), when=())
    unknown = sorted(set(value) - {"text", "when"})
    if unknown or "text" not in value:
        what = f"unknown field {unknown[0]!r}" if unknown else "a line with 'when' but without 'text'"
        raise InvalidInput(f"{where}: {what}; a reply has 'text', and 'when' where it answers certain requests")
    text = value["text"]
    return _Line(text=text if isinstance(text, str) else msgspec.json.encode(text).decode(), when=_when(value, where))


def _when(value: dict[str, Any], where: str) -> tuple[str, ...]:
    """The texts that a request must hold."""
    given = value.get("when", ())
    texts: Sequence[Any] = (given,) if isinstance(given, str) else given
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) and text for text in texts):
        raise InvalidInput(f"{where}: 'when' is {given!r}; expected a text, or a list of texts")
    return tuple(texts)

"""A rule's text cut into tokens, and the message that points at a character of it."""

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NoReturn

from evenhand.errors import InvalidInput

__all__ = ["Token", "refuse", "tokens_of"]

Kind = Literal["number", "name", "quoted", "text", "operator", "end"]

MAX_LENGTH = 20_000
"""Characters of a rule: far more than a person writes, and few enough to be read at once."""

_WINDOW = 72  # characters of a long line that a message shows
_SAME = {"**": "^", "−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "∗": "*"}
_TOKEN = re.compile(
    r"""(?P<blank>[^\S\n]+|\#[^\n]*)
      | (?P<number>(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[^\W\d]\w*)
      | `(?P<quoted>(?:[^`]|``)*)`
      | "(?P<text>(?:[^"]|"")*)" | '(?P<text_>(?:[^']|'')*)'
      | (?P<operator>\*\*|<=|>=|==|!=|[-+*/^(),:;=<>\n−–×·÷≤≥≠∗])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token: what kind, its text (a name without backticks), and where it begins and ends in the rule."""

    kind: Kind
    text: str
    at: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """The tokens of a rule, ended by one of kind `end`; comments (`# ...`) and blanks are gone.

    Line breaks end a statement (`;`), unless they stand in parentheses or the next line goes on with an operator.

    Raises:
        InvalidInput: a character, number or quotation that begins no token; a rule that is too long.
    """
    if len(text) > MAX_LENGTH:
        raise InvalidInput(f"rule: {len(text):,} characters came; a rule has at most {MAX_LENGTH:,}")
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _refuse_character(text, at)
        token = _token(text, match)
        if token is not None:
            found.append(token)
        at = match.end()
    return [*_statements(found), Token("end", "", len(text), len(text))]


def refuse(text: str, at: int, what: str) -> NoReturn:
    """Raise InvalidInput: where in the rule, what is wrong, the line itself, and a caret below the character.

    >>> try:
    ...     refuse("mean(a, b", 9, "`)` is missing")
    ... except InvalidInput as error:
    ...     print(error)
    rule, character 10: `)` is missing
        mean(a, b
                 ^
    """
    at = min(at, len(text))
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at)
    line, column = text[start : stop if stop >= 0 else len(text)], at - start
    cut = max(0, column - _WINDOW // 2) if len(line) > _WINDOW else 0
    line, column = line[cut : cut + _WINDOW], column - cut
    visible = "".join(character if character.isprintable() else "?" for character in line)
    ahead = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in visible[:column] if not _combines(c))
    number = f"line {text.count(chr(10), 0, at) + 1}, " if "\n" in text.strip() else ""
    raise InvalidInput(f"rule, {number}character {at - start + 1}: {what}\n    {visible.rstrip()}\n    {' ' * ahead}^")


def _combines(character: str) -> bool:
    """Whether a character takes no column of its own."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def _token(text: str, match: re.Match[str]) -> Token | None:
    """The token of a match, or None for a blank."""
    kind, at, end = str(match.lastgroup), match.start(), match.end()
    found = match[kind]
    if kind == "blank":
        return None
    if kind == "number":
        digits = found.replace("_", "")
        if not math.isfinite(float(digits)):
            refuse(text, at, "a number too large to compute with")
        return Token("number", digits, at, end)
    if kind == "quoted":
        return Token("quoted", found.replace("``", "`"), at, end)
    if kind in ("text", "text_"):
        quote = text[at]
        return Token("text", found.replace(2 * quote, quote), at, end)
    return Token("name" if kind == "name" else "operator", _SAME.get(found, found), at, end)


def _refuse_character(text: str, at: int) -> NoReturn:
    """Say what is wrong with a character that begins no token."""
    character = text[at]
    if character in "`\"'":
        refuse(text, at, f"this {character} is never closed")
    if character == "%":
        refuse(text, at, "`%` is no operator; write 0.3 for 30 %")
    if character in "|&!":
        refuse(text, at, "write `and`, `or`, `not`, and abs(x) for the absolute value")
    if character in "[]{}":
        refuse(text, at, "only round brackets group")
    shown = f"`{character}`" if character.isprintable() else f"character U+{ord(character):04X}"
    refuse(text, at, f"{shown} has no meaning in a rule; a column of that name stands in backticks")


def _statements(tokens: list[Token]) -> list[Token]:
    """Line breaks as `;` where they end a statement, dropped where the rule goes on."""
    kept: list[Token] = []
    depth = 0
    for number, token in enumerate(tokens):
        if token.text == "\n" and token.kind == "operator":
            before = kept[-1].text if kept and kept[-1].kind == "operator" else ")" if kept else ";"
            after = next((t for t in tokens[number + 1 :] if t.text != "\n"), None)
            goes_on = after is None or (after.kind == "operator" and after.text in "+-*/^),:<=>===!=")
            if depth == 0 and before == ")" and not goes_on:
                kept.append(Token("operator", ";", token.at, token.end))
            continue
        if token.kind == "operator":
            depth += (token.text == "(") - (token.text == ")")
        kept.append(token)
    return kept

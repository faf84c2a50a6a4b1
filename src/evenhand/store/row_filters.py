"""Which rows count: `--where 'year == 2016 and listing is number'`, parsed here and never evaluated as Python.

    COLUMN == VALUE     and != < <= > >= ; = is ==
    COLUMN in (A, B)    COLUMN contains TEXT
    COLUMN is missing   COLUMN is number     (and `is not`)
    and, or, not, ( )

A name or text with blanks or signs stands in backticks or quotes. An order holds of numbers only; a cell that holds
none fails it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.store.ranked.columns import RankedColumn
from evenhand.store.text_files import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["rows_where"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<sign>==|!=|<=|>=|<>|[=<>(),])|`(?P<name>[^`]*)`|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|(?P<word>[^\s()<>=!,"'`]+))"""
)
_SIGNS = {"=": "==", "<>": "!="}
_DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    kind: str
    text: str
    at: int


def rows_where(text: str, columns: Mapping[str, RankedColumn], find: Callable[[str], str]) -> "Mask":
    """(n_rows,) whether each row meets a condition.

    Args:
        text: the condition.
        columns: by name; at least one.
        find: a column's own name for a name as the user writes it; raises InvalidInput for none.
    Raises:
        InvalidInput: a broken condition, with the character, or an unknown column.
    """
    return _Parser(text=text, tokens=_tokens(text), columns=columns, find=find).whole()


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            place = at + len(text[at:]) - len(text[at:].lstrip())
            raise _refusal(text, place, f"{quoted(text[place])} belongs to nothing")
        kind = token.lastgroup or ""
        found.append(
            _Token(kind="text" if kind in ("double", "single") else kind, text=token[kind], at=token.start(kind))
        )
        at = token.end()
    return found


def _refusal(text: str, at: int, what: str) -> InvalidInput:
    return InvalidInput(
        f"--where {quoted(text, 120)}: at character {at + 1}: {what}; expected a condition such as `year == 2016` or "
        "`listing is number`"
    )


@dataclass(slots=True, kw_only=True)
class _Parser:
    """Reads tokens from left to right, and computes as it reads."""

    text: str
    tokens: list[_Token]
    columns: Mapping[str, RankedColumn]
    find: Callable[[str], str]
    place: int = 0
    depth: int = 0

    def whole(self) -> "Mask":
        found = self._either()
        if self.place < len(self.tokens):
            raise self._wrong("follows a condition that is complete")
        return found

    def _either(self) -> "Mask":
        found = self._both()
        while self._word("or"):
            found = found | self._both()
        return found

    def _both(self) -> "Mask":
        found = self._one()
        while self._word("and"):
            found = found & self._one()
        return found

    def _one(self) -> "Mask":
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong(f"nests deeper than {_DEEPEST}")
        if self._word("not"):
            found = ~self._one()
        elif self._sign("("):
            found = self._either()
            if not self._sign(")"):
                raise self._wrong("stands where `)` should")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> "Mask":
        column = self.columns[self.find(self._taken("word", "name", "text").text)]
        if self._word("is"):
            wants = not self._word("not")
            found = _is(column, self._state())
            return found if wants else ~found
        if self._word("in"):
            return self._among(column)
        if self._word("contains"):
            part = self._taken("word", "text").text.casefold()
            return _mask(part in text.casefold() for text in column.texts)
        sign = self._taken("sign")
        operator = _SIGNS.get(sign.text, sign.text)
        if operator in ("(", ")", ","):
            self.place -= 1
            raise self._wrong("is no comparison")
        return self._compared(column, operator, self._taken("word", "name", "text"))

    def _state(self) -> str:
        word = self._taken("word")
        if word.text not in ("missing", "number"):
            self.place -= 1
            raise self._wrong("is neither `missing` nor `number`")
        return word.text

    def _among(self, column: RankedColumn) -> "Mask":
        if not self._sign("("):
            raise self._wrong("stands where `(` should")
        found = _equal(column, self._taken("word", "text"))
        while self._sign(","):
            found = found | _equal(column, self._taken("word", "text"))
        if not self._sign(")"):
            raise self._wrong("stands where `)` should")
        return found

    def _compared(self, column: RankedColumn, operator: str, value: _Token) -> "Mask":
        import numpy as np

        if operator == "==":
            return _equal(column, value)
        if operator == "!=":
            return ~_equal(column, value) & ~column.missing
        number = _number(value)
        if number is None:
            self.place -= 1
            raise self._wrong("is no number, which an order needs")
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[operator]
        found: Mask = compare(np.nan_to_num(column.values, nan=0.0, posinf=np.inf, neginf=-np.inf), number)
        return found & ~np.isnan(column.values)

    def _word(self, text: str) -> bool:
        if self.place < len(self.tokens) and (now := self.tokens[self.place]).kind == "word" and now.text == text:
            self.place += 1
            return True
        return False

    def _sign(self, text: str) -> bool:
        if self.place < len(self.tokens) and (now := self.tokens[self.place]).kind == "sign" and now.text == text:
            self.place += 1
            return True
        return False

    def _taken(self, *kinds: str) -> _Token:
        if self.place >= len(self.tokens) or self.tokens[self.place].kind not in kinds:
            raise self._wrong("is not what belongs here")
        self.place += 1
        return self.tokens[self.place - 1]

    def _wrong(self, what: str) -> InvalidInput:
        if self.place >= len(self.tokens):
            return _refusal(self.text, len(self.text), "the condition ends too early")
        now = self.tokens[self.place]
        return _refusal(self.text, now.at, f"{quoted(now.text)} {what}")


def _number(token: _Token) -> float | None:
    try:
        number = float(token.text) if token.kind == "word" else None
    except ValueError:
        return None
    return number if number is not None and number == number else None


def _equal(column: RankedColumn, value: _Token) -> "Mask":
    """Whether the cells are a number, or have a text."""
    number = _number(value)
    as_text = _mask(text.strip() == value.text for text in column.texts)
    return as_text if number is None else as_text | (column.values == number)


def _is(column: RankedColumn, state: str) -> "Mask":
    import numpy as np

    return column.missing if state == "missing" else ~np.isnan(column.values)


def _mask(found: Iterable[bool]) -> "Mask":
    import numpy as np

    return np.fromiter(found, np.bool_)

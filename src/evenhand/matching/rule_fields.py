"""A rule out of a judge file or an audit file."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast, get_args

from evenhand.errors import InvalidInput
from evenhand.matching.rules import ANSWER_KINDS, AnswerKind, MatchRule, Percent, Reading, Tolerance

__all__ = ["match_rule"]

_FLAGS = ("decimal_comma", "repeats", "positive", "refusal_is_answer")
_FIELDS = ("kind", "read", "tolerance", "choices", "percent", *_FLAGS)
_BOUNDS = ("absolute", "relative", "decimals", "significant")


def match_rule(mapping: Mapping[str, Any], where: str) -> MatchRule:
    """The rule that a mapping declares.

    Args:
        mapping: `kind` and any of `read`, `tolerance`, `choices`, `percent`, `decimal_comma`, `repeats`, `positive`,
            `refusal_is_answer`. A tolerance is a number (absolute or relative) or a mapping of `absolute`, `relative`,
            `decimals`, `significant`; choices are text of one letter each (`ABCD`), a list, or a mapping of label to
            text.
        where: file and field, for the message.
    Raises:
        InvalidInput: a field is unknown, or its value is none that it may have.

        >>> match_rule({"kind": "choice", "choices": "ABC"}, "judge.yaml: match").choices
        ('A', 'B', 'C')
    """
    if not isinstance(mapping, Mapping):
        raise InvalidInput(f"{where}: is {_shown(mapping)}; expected fields such as kind: number")
    unknown = next((key for key in mapping if key not in _FIELDS), None)
    if unknown is not None:
        raise InvalidInput(f"{where}: has the field {_shown(unknown)}; expected {', '.join(_FIELDS)}")
    kind = _one_of(mapping.get("kind"), ANSWER_KINDS, f"{where}.kind")
    choices, texts = _choices(mapping.get("choices"), f"{where}.choices")
    flags = {name: _flag(mapping.get(name, False), f"{where}.{name}") for name in _FLAGS}
    read = _one_of(mapping.get("read", "final"), get_args(Reading), f"{where}.read")
    percent = _one_of(mapping.get("percent", "hundredth"), get_args(Percent), f"{where}.percent")
    tolerance = _tolerance(mapping.get("tolerance"), f"{where}.tolerance")
    try:
        return MatchRule(
            kind=cast(AnswerKind, kind), read=cast(Reading, read), tolerance=tolerance, choices=choices,
            choice_texts=texts, percent=cast(Percent, percent), **flags,
        )  # fmt: skip
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_of(value: object, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        came = "is missing" if value is None else f"is {_shown(value)}"
        raise InvalidInput(f"{where}: {came}; expected one of {', '.join(allowed)}")
    return str(value)


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{where}: is {_shown(value)}; expected true or false")
    return value


def _choices(value: object, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels, and what they stand for where that is told."""
    if value is None:
        return (), ()
    if isinstance(value, Mapping):
        labels, texts = list(value), [str(text) for text in value.values()]
    else:
        labels, texts = (list(value) if isinstance(value, str | list | tuple) else [value]), []
    if not labels or not all(isinstance(label, str) and label.strip() for label in labels):
        raise InvalidInput(f"{where}: is {_shown(value)}; expected labels as text, such as ABCD or [A, B], in quotes")
    return tuple(label.strip() for label in labels), tuple(texts)


def _tolerance(value: object, where: str) -> Tolerance | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        bound = _number(value, where)
        if not 0 <= bound < 1:
            raise InvalidInput(
                f"{where}: is {_shown(value)}; expected a number from 0 to below 1, or absolute: {value}"
            )
        return Tolerance(absolute=bound, relative=bound)
    unknown = next((key for key in value if key not in _BOUNDS), None)
    if unknown is not None or not value:
        raise InvalidInput(f"{where}: has {_shown(unknown)}; expected any of {', '.join(_BOUNDS)}")
    exact = {name: _number(value[name], f"{where}.{name}") for name in ("absolute", "relative") if name in value}
    places = {name: _whole(value[name], f"{where}.{name}") for name in ("decimals", "significant") if name in value}
    try:
        return Tolerance(**exact, **places)  # type: ignore[arg-type]  # the names were checked above
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _number(value: object, where: str) -> Fraction:
    """The decimal that was written, not the binary number nearest to it."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 40:
            raise ValueError
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"{where}: is {_shown(value)}; expected a number such as 0.001") from None


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{where}: is {_shown(value)}; expected a whole number")
    return value

"""From the texts of a column to numbers and times: each distinct text is read once, and what is none is kept apart."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["INFINITE", "MISSING", "NUMBER", "TEXT", "failure_kinds", "read_numbers", "read_times"]

NUMBER, MISSING, TEXT, INFINITE = 0, 1, 2, 3
"""What a text of a number column is; INFINITE also beyond 1e15, where neighbouring whole numbers run together."""

_LARGEST = 1e15

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_PLAIN_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.(?P<fraction>[0-9]{1,6}))?Z?")
_BLANK = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "--", "#n/a", "<na>", "nil"})
_INFINITE = frozenset({"inf", "infinity"})
_PAIRS = tuple(map(frozenset, ({"true", "false"}, {"pass", "fail"}, {"yes", "no"})))
_HIGH = frozenset({"true", "pass", "yes"})
_OK = frozenset(
    {"", "ok", "success", "succeeded", "scored", "verdict", "done", "complete", "completed", "valid", "200"}
)
_NO_ERROR = _OK | _BLANK | {"false", "0", "no"}
_BROKEN = re.compile(r"error|fail|time.?out|exception|truncat|unreadable|invalid|filtered|broken|missing")
_ABSTAINED = re.compile(r"abstain|refus|declin")


def read_numbers(
    texts: Sequence[str], *, decimal_comma: bool = False
) -> "tuple[NDArray[np.float64], NDArray[np.int8]]":
    """Numbers, and for each text whether it is one.

    Args:
        texts: distinct texts of one column. `true`/`false`, `pass`/`fail` and `yes`/`no` are 1 and 0 where the column
            holds nothing else.
        decimal_comma: whether `7,5` is seven and a half.
    Returns:
        (n,) numbers, nan where there is none; (n,) NUMBER, MISSING, TEXT or INFINITE.

    >>> numbers, kinds = read_numbers(["7", " 8.5", "", "n.a.", "-inf", "1_0"])
    >>> numbers.tolist(), kinds.tolist()
    ([7.0, 8.5, nan, nan, nan, nan], [0, 0, 1, 2, 3, 2])
    """
    import numpy as np

    pair = _pair(texts)
    numbers, kinds = np.full(len(texts), np.nan), np.full(len(texts), TEXT, np.int8)
    for place, text in enumerate(texts):
        plain = text.strip()
        if pair and plain.casefold() in pair:
            numbers[place], kinds[place] = float(plain.casefold() in _HIGH), NUMBER
            continue
        if decimal_comma and _DECIMAL_COMMA.fullmatch(plain):
            plain = plain.replace(",", ".")
        if _NUMBER.fullmatch(plain):
            number = float(plain)
            finite = abs(number) <= _LARGEST
            numbers[place], kinds[place] = (number, NUMBER) if finite else (np.nan, INFINITE)
        elif plain.casefold() in _BLANK:
            kinds[place] = MISSING
        elif plain.casefold().lstrip("+-") in _INFINITE:
            kinds[place] = INFINITE
    return numbers, kinds


def _pair(texts: Sequence[str]) -> frozenset[str] | None:
    """The pair of words that a column consists of, or None."""
    words = {word for text in texts[:50] if (word := text.strip().casefold()) not in _BLANK}
    return next((pair for pair in _PAIRS if words and words <= pair and len(texts) <= 50), None)


def failure_kinds(texts: Sequence[str], *, is_error: bool) -> tuple[list[str], list[str]]:
    """What the words of a status or error column say: `scored`, `failed` or `abstained`.

    Args:
        is_error: whether any text is an error, save those that say there was none.
    Returns:
        One of the three for each text, and the words that were not understood (taken as `scored`).

    >>> failure_kinds(["", "parse_error"], is_error=True)
    (['scored', 'failed'], [])
    """
    plain = [text.strip().casefold() for text in texts]
    if is_error:
        return ["scored" if text in _NO_ERROR else "failed" for text in plain], []
    if {"pass", "fail"} & set(plain) or {"passed", "failed"} <= set(plain):
        return ["scored"] * len(plain), []  # the outcome of a check, not the state of a call
    kinds, unknown = [], []
    for text in plain:
        if _ABSTAINED.search(text):
            kinds.append("abstained")
        elif _BROKEN.search(text):
            kinds.append("failed")
        else:
            kinds.append("scored")
            if text not in _OK | _BLANK:
                unknown.append(text)
    return kinds, unknown


def read_times(texts: Sequence[str]) -> "NDArray[np.datetime64]":
    """Times in UTC, to the microsecond; NaT where a text is none.

    Args:
        texts: ISO 8601 (a text without a zone is taken as UTC), or seconds, milliseconds, microseconds or nanoseconds
            since 1970, told apart by their size.

    >>> times = read_times(["2026-02-07T13:07:53", "2026-02-07 14:07:53+01:00", "1770469673", "soon"])
    >>> [str(time)[:19] for time in times]
    ['2026-02-07T13:07:53', '2026-02-07T13:07:53', '2026-02-07T13:07:53', 'NaT']
    """
    import numpy as np

    fast = _plain_iso(texts)
    if fast is not None:
        return fast
    return np.array([_time(text.strip()) for text in texts], dtype="datetime64[us]")


def _plain_iso(texts: Sequence[str]) -> "NDArray[np.datetime64] | None":
    """Times written `YYYY-MM-DDTHH:MM:SS[.f][Z]`, all alike: read digit by digit for all rows at once, else None."""
    import numpy as np

    if not texts or (form := _PLAIN_ISO.fullmatch(texts[0])) is None or set(map(len, texts)) != {len(texts[0])}:
        return None
    joined = "".join(texts)
    if not joined.isascii():
        return None
    table = np.frombuffer(joined.encode(), np.uint8).reshape(len(texts), -1)
    marks = np.array([not character.isdigit() for character in texts[0]])
    digits = table[:, ~marks]
    if (table[:, marks] != table[0, marks]).any() or (digits < 48).any() or (digits > 57).any():
        return None
    fraction = len(form["fraction"] or "")
    year, month, day, hour, minute, second, part = _numbers(digits, (4, 2, 2, 2, 2, 2, fraction))
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    in_range = (month >= 1) & (month <= 12) & (days.astype("datetime64[M]") == months) & (year >= 1)
    if not (in_range & (hour < 24) & (minute < 60) & (second < 60)).all():
        return None
    micro = ((hour * 60 + minute) * 60 + second) * 1_000_000 + part * 10 ** (6 - fraction)
    found: NDArray[np.datetime64] = days.astype("datetime64[us]") + micro.astype("timedelta64[us]")
    return found


def _numbers(digits: "NDArray[np.uint8]", widths: Sequence[int]) -> "list[NDArray[np.int64]]":
    """The numbers that stand side by side in columns of digits."""
    import numpy as np

    found, start = [], 0
    for width in widths:
        number = np.zeros(len(digits), np.int64)
        for place in range(start, start + width):
            number = number * 10 + (digits[:, place].astype(np.int64) - 48)
        found.append(number)
        start += width
    return found


def _time(text: str) -> datetime | None:
    """One time, or None."""
    if _NUMBER.fullmatch(text) and (found := _since_1970(float(text))) is not None:
        return found
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _since_1970(number: float) -> datetime | None:
    """A count of s, ms, us or ns since 1970; small numbers are no times."""
    for unit in (1.0, 1e3, 1e6, 1e9):
        if 1e8 <= number / unit < 1e10:
            return datetime.fromtimestamp(number / unit, UTC).replace(tzinfo=None)
    return None

"""One run of a probe, read strictly: exactly as many whole numbers as items, each on the scale, or no run at all.

Twenty items and nineteen numbers: by position every later item would get its neighbour's rating. So nothing is shifted,
padded or clipped, and no number is made of a string; a run that cannot be read is counted by its cause.

    parse_failed    whoever made the run says so          not_a_number    a null, a string, true, a list
    no_scores       no list of scores                     not_whole       7.5; 7.0 is 7
    too_few         fewer numbers than items              off_scale       an 11 on a scale to 10
    too_many        more numbers than items
    empty, truncated, filtered, refused, unreadable       of a model's reply
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import UnreadableReply
from evenhand.json_text import too_deep_at
from evenhand.judges.parse import is_refusal, reply_object
from evenhand.judges.replies import kind
from evenhand.terms import Reply

__all__ = ["KEY", "RunFailure", "ratings_of", "read_run", "run_of_document"]

KEY = "scores"
"""The key of a run's list, in replies and in files."""

_FENCED = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_LONGEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailure:
    """Why a run gives no ratings.

    Args:
        cause: one of the words in the module's table, or a failure's code (`provider`, `deadline`).
        message: the cause with its place.
    """

    cause: str
    message: str


def ratings_of(values: Sequence[object], n: int, low: int, high: int) -> tuple[int, ...] | RunFailure:
    """The ratings of a list, or why they are none.

    >>> ratings_of([7, 8.0, 9], 3, 1, 10), ratings_of([7, 8], 3, 1, 10).cause, ratings_of([7, "8", 9], 3, 1, 10).cause
    ((7, 8, 9), 'too_few', 'not_a_number')
    """
    if len(values) != n:
        cause = "too_few" if len(values) < n else "too_many"
        return RunFailure(cause=cause, message=f"{len(values)} numbers for {n} items")
    ratings = []
    for place, value in enumerate(values, start=1):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return RunFailure(cause="not_a_number", message=f"number {place} is {kind(value)}")
        if isinstance(value, float) and not math.isfinite(value):  # an int can be too large for a float
            return RunFailure(cause="not_a_number", message=f"number {place} is not finite")
        if not low <= value <= high:
            return RunFailure(
                cause="off_scale", message=f"number {place} is {kind(value)}; the scale runs from {low} to {high}"
            )
        if value != int(value):
            return RunFailure(cause="not_whole", message=f"number {place} is {kind(value)}; ratings are whole numbers")
        ratings.append(int(value))
    return tuple(ratings)


def run_of_document(document: object, n: int, low: int, high: int) -> tuple[int, ...] | RunFailure:
    """The ratings of a run file's document: `{"scores": [...]}`, or `{"parse_failed": true}`.

    >>> run_of_document({"parse_failed": True}, 20, 1, 10).cause
    'parse_failed'
    """
    if not isinstance(document, dict):
        return RunFailure(cause="no_scores", message=f'the file holds {kind(document)}; expected {{"{KEY}": [...]}}')
    if document.get("parse_failed") not in (None, False):
        return RunFailure(cause="parse_failed", message="the file says that the reply could not be parsed")
    return _listed(document, n, low, high)


def read_run(reply: Reply, n: int, low: int, high: int) -> tuple[int, ...] | RunFailure:
    """The ratings of a model's reply: an object with the key, or a list that is the whole reply.

    >>> read_run(Reply(text='{"scores": [3, 4]}'), 2, 1, 10), read_run(Reply(text="[3, 4, 5]"), 2, 1, 10).cause
    ((3, 4), 'too_many')
    """
    if reply.finish == "filter":
        return RunFailure(cause="filtered", message="the endpoint withheld the reply")
    if reply.refusal or is_refusal(reply.text):
        return RunFailure(cause="refused", message="the model declines")
    if reply.finish == "length":
        return RunFailure(cause="truncated", message="the reply was cut off at its limit; raise --max-tokens")
    if not reply.text.strip():
        return RunFailure(cause="empty", message="the reply is empty")
    alone = _whole_list(reply.text)
    if alone is not None:
        return ratings_of(alone, n, low, high)
    try:
        return _listed(reply_object(reply.text, KEY), n, low, high)
    except UnreadableReply as error:
        return RunFailure(cause="unreadable", message=str(error))


def _listed(document: dict[str, Any], n: int, low: int, high: int) -> tuple[int, ...] | RunFailure:
    values = document.get(KEY)
    if not isinstance(values, list):
        return RunFailure(cause="no_scores", message=f'"{KEY}" is {kind(values)}; expected a list of {n} numbers')
    return ratings_of(values, n, low, high)


def _whole_list(text: str) -> list[Any] | None:
    """The list that a reply consists of, with or without a code fence around it; None where it is something else."""
    fenced = _FENCED.fullmatch(text)
    inner = (fenced[1] if fenced else text).strip()
    if not inner.startswith("[") or len(inner) > _LONGEST or too_deep_at(inner) is not None:
        return None
    try:
        found = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None

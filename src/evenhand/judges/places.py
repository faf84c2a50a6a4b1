"""Where a quotation stands, in words a person can follow: `path:line` in a repository, a time in a transcript.

A place is computed from the span of a quotation that was found, never taken from a model. So it exists, and the quoted
words stand there.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from evenhand.repository_text import RepositoryText, text_flags
from evenhand.terms import CheckResult, CriterionVerdict, Evidence, Item, Outcome, Verdict

__all__ = ["TIME", "files_of", "item_flags", "place_of", "placed"]

TIME = re.compile(r"(?<![\d:.])\d{1,2}(?::[0-5]\d){1,2}(?![\d:])")
"""A time of a transcript: `00:10`, `1:02:33`."""

Place = Callable[[tuple[int, int] | None, str | None], str | None]


def files_of(item: Item) -> RepositoryText | None:
    """The files of a candidate that was read as a repository; a text that only looks like one has none."""
    return RepositoryText.of(item.candidate) if item.repository else None


def item_flags(item: Item) -> tuple[str, ...]:
    """What a repository says about itself, of `ITEM_FLAGS`; nothing for a text that only looks like one."""
    return text_flags(item.candidate) if item.repository else ()


def placed(outcome: Outcome, item: Item) -> Outcome:
    """The outcome with the place of each quotation; itself where the item has neither files nor a timed transcript."""
    if not isinstance(outcome, Verdict):
        return outcome
    if not item.repository and not item.sources:
        return outcome
    return replace(outcome, criteria=tuple(_criterion(found, item) for found in outcome.criteria))


def place_of(item: Item, span: tuple[int, int] | None, source: str | None = None) -> str | None:
    """Where a span of one of the item's texts stands; None where there are no places.

    Args:
        item: what is judged.
        span: of the quotation; None where there is none.
        source: which text; None is the candidate.

    >>> talk = Item(id="a", candidate="x", sources={"demo": "00:10 It starts. 00:20 It crashes."})
    >>> place_of(talk, (23, 33), "demo")
    'demo 00:20'
    """
    if span is None:
        return None
    if source is None:
        files = files_of(item)
        return None if files is None else files.place(span)
    text = item.sources.get(source)
    time = None if text is None else _time(text, span)
    return None if time is None else f"{source} {time}"


def _time(text: str, span: tuple[int, int]) -> str | None:
    """The time that begins a quotation, or else the last one before it."""
    times = _times(text)
    began = [time for at, time in times if at <= span[0]]
    inside = next((time for at, time in times if span[0] <= at < span[1]), None)
    if inside is not None and not text[span[0] : span[1]].partition(inside)[0].strip(" [(\n"):
        return inside
    return began[-1] if began else None


@lru_cache(maxsize=8)
def _times(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((found.start(), found[0]) for found in TIME.finditer(text))


def _criterion(found: CriterionVerdict, item: Item) -> CriterionVerdict:
    return replace(
        found,
        items=tuple(_evidence(one, item) for one in found.items),
        checks=tuple(_check(one, item) for one in found.checks),
        place=place_of(item, found.span),
    )


def _evidence(one: Evidence, item: Item) -> Evidence:
    return replace(one, place=place_of(item, one.span, one.source))


def _check(one: CheckResult, item: Item) -> CheckResult:
    return replace(one, place=place_of(item, one.span))

"""What became of each item by the harness's own account: JSONL with `id` and what is known of it.

    {"id": "q1", "accepted": true, "commitment": "18", "wrong": true, "solves": ["18", "20"]}

`accepted` is true, false or null (the judge gave no verdict). Optional: `commitment`, the judge's own answer; `wrong`
or `correct`, whether the candidate is wrong; `solves`, answers of separate blind solves by the same model and settings;
`solved`, true or false, or a list of them, where those have been marked already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = ["Outcome", "read_outcomes"]

_KNOWN = ("id", "accepted", "commitment", "wrong", "correct", "solves", "solved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One item's outcome; None or empty is not known.

    Args:
        accepted: whether the judge accepted the candidate.
        commitment: the judge's own answer.
        wrong: whether the candidate is wrong.
        solves: answers of blind solves.
        solved: whether blind solves were right.
    """

    accepted: bool | None = None
    commitment: str | None = None
    wrong: bool | None = None
    solves: tuple[str, ...] = ()
    solved: tuple[bool, ...] = ()


def read_outcomes(path: Path) -> dict[str, Outcome]:
    """Outcomes by item.

    Raises:
        InvalidInput: no id, an id twice, or a field of another form, with its place.
    """
    rows = open_rated(path, known=_KNOWN)
    found: dict[str, Outcome] = {}
    for place, row in rows:
        item = id_text(row.get("id", row.get("item")), place, "id")
        if item in found:
            raise InvalidInput(f"{place}: the id {quoted(item)} stands twice; give one outcome an item")
        found[item] = _outcome(row, place)
    return found


def _outcome(row: Mapping[str, Any], place: str) -> Outcome:
    wrong, correct = _truth(row, "wrong", place), _truth(row, "correct", place)
    if wrong is not None and correct is not None and wrong == correct:
        raise InvalidInput(f"{place}: both correct and wrong are {str(wrong).lower()}; leave one out")
    commitment = row.get("commitment")
    solves = row.get("solves")
    if solves is not None and not isinstance(solves, list):
        raise InvalidInput(f"{place}: solves is {quoted(solves)}; expected a list of answers")
    return Outcome(
        accepted=_truth(row, "accepted", place),
        commitment=None if commitment is None else str(commitment),
        wrong=wrong if correct is None else not correct,
        solves=tuple(str(one) for one in solves or ()),
        solved=_solved(row.get("solved"), place),
    )


def _truth(row: Mapping[str, Any], name: str, place: str) -> bool | None:
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise InvalidInput(f"{place}: {name} is {quoted(value)}; expected true, false or null")


def _solved(value: Any, place: str) -> tuple[bool, ...]:
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    if not all(isinstance(one, bool) for one in given):
        raise InvalidInput(f"{place}: solved is {quoted(value)}; expected true or false, or a list of them")
    return tuple(given)

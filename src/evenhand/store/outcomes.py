"""What became of each item by the harness's own account: a row an item, in any format that tables are read from.

    {"id": "q1", "accepted": true, "commitment": "18", "wrong": true, "solves": ["18", "20"]}

`accepted` is true, false or null (the judge gave no verdict), and stands in every row. Optional: `commitment`, the
judge's own answer; `wrong` or `correct`, whether the candidate is wrong; `solves`, answers of separate blind solves by
the same model and settings; `solved`, true or false, or a list of them, where those have been marked already. Other
fields are passed over, since harnesses write their own beside it. A file of another ending is read as JSONL.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = ["Outcome", "Outcomes", "read_outcomes"]

_KNOWN = ("id", "item", "accepted", "commitment", "wrong", "correct", "solves", "solved")
_WORDS = {"true": True, "false": False, "": None}  # cells of a table that has no types


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One item's outcome; None or empty is not known.

    Args:
        accepted: whether the judge accepted the candidate; None where it gave no verdict.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Outcomes by item.

    Args:
        name: of the file, for messages.
        items: item to outcome, in the order of the file.
    """

    name: str
    items: Mapping[str, Outcome]

    @property
    def accepted(self) -> dict[str, bool | None]:
        """Acceptance by item; None where there was no verdict."""
        return {item: one.accepted for item, one in self.items.items()}


def read_outcomes(path: Path) -> Outcomes:
    """Read a file of outcomes.

    Raises:
        InvalidInput: no such file or no row, a row without `id` or `accepted`, an id twice, or a field of another form.
    """
    rows = open_rated(path, known=_KNOWN, others_as_lines=True, constants=False)
    untyped = path.suffix.casefold() in (".csv", ".tsv")
    found: dict[str, Outcome] = {}
    places: dict[str, str] = {}
    for place, row in rows:
        item = id_text(row.get("id", row.get("item")), place, "id")
        if item in found:
            raise InvalidInput(f"{place}: the id {quoted(item)} stands in {places[item]} already; one outcome an item")
        if "accepted" not in row:
            raise InvalidInput(f"{place}: has no field 'accepted'; write true, false, or null for no verdict")
        found[item], places[item] = _outcome(_typed(row) if untyped else row, place), place
    return Outcomes(name=rows.name, items=found)


def _typed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of text cells with its truths as such; what is none stays text, and is refused where one is expected."""
    truths = {name: row[name] for name in ("accepted", "wrong", "correct", "solved") if isinstance(row.get(name), str)}
    return {**row, **{name: _WORDS.get(text.strip().casefold(), text) for name, text in truths.items()}}


def _outcome(row: Mapping[str, Any], place: str) -> Outcome:
    wrong, correct = _truth(row, "wrong", place), _truth(row, "correct", place)
    if wrong is not None and correct is not None and wrong == correct:
        raise InvalidInput(f"{place}: both correct and wrong are {str(wrong).lower()}; leave one out")
    commitment = row.get("commitment")
    return Outcome(
        accepted=_truth(row, "accepted", place, ": apply the harness's own cut, since a score is no acceptance"),
        commitment=None if commitment is None else str(commitment),
        wrong=wrong if correct is None else not correct,
        solves=_solves(row.get("solves"), place),
        solved=_solved(row.get("solved"), place),
    )


def _truth(row: Mapping[str, Any], name: str, place: str, way_out: str = "") -> bool | None:
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise InvalidInput(f"{place}: {name} is {quoted(value)}; expected true, false or null{way_out}")


def _solves(value: Any, place: str) -> tuple[str, ...]:
    if value is not None and not isinstance(value, list):
        raise InvalidInput(f"{place}: solves is {quoted(value)}; expected a list of answers")
    return tuple(str(one) for one in value or ())


def _solved(value: Any, place: str) -> tuple[bool, ...]:
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    if not all(isinstance(one, bool) for one in given):
        raise InvalidInput(f"{place}: solved is {quoted(value)}; expected true or false, or a list of them")
    return tuple(given)

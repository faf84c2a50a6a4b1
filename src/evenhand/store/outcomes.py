"""What a harness accepted: JSONL, an item a line, `{"id": "q1", "accepted": true}`.

`accepted` is true, false, or null where the harness gave no verdict. Other fields are passed over, since harnesses
write their own beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.store.item_rows import JsonLines
from evenhand.store.text_files import quoted, read_text_file

__all__ = ["Outcomes", "read_outcomes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Acceptance by item.

    Args:
        name: of the file, for messages.
        accepted: item to acceptance, in the order of the file; None where there was no verdict.
    """

    name: str
    accepted: Mapping[str, bool | None]


def read_outcomes(path: Path) -> Outcomes:
    """Read a file of outcomes.

    Raises:
        InvalidInput: no such file, nothing in it, a line without `id` or `accepted`, or the same id twice.
    """
    rows = JsonLines(read_text_file(path, has_option=False))
    found: dict[str, bool | None] = {}
    lines: dict[str, int] = {}
    for line, row in rows.rows(check=True, label=lambda row: quoted(row.get("id", "?"))):
        where = f"{rows.name} line {line}"
        name = row.get("id")
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"{where}: 'id' is {quoted(row.get('id'))}; expected the id of an item")
        if "accepted" not in row:
            raise InvalidInput(f"{where}: has no field 'accepted'; write true, false, or null for no verdict")
        accepted = row["accepted"]
        if accepted is not None and not isinstance(accepted, bool):
            raise InvalidInput(
                f"{where}: 'accepted' is {quoted(accepted)}; expected true, false, or null: apply the harness's own "
                "cut, since a score is no acceptance"
            )
        name = name.strip()
        if name in found:
            raise InvalidInput(f"{where}: the id {quoted(name)} stands in line {lines[name]} already; name it once")
        found[name], lines[name] = accepted, line
    if not found:
        raise InvalidInput(f'{rows.name}: holds no outcome; write {{"id": ..., "accepted": true}} a line')
    return Outcomes(name=rows.name, accepted=found)

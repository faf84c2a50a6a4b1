"""Further texts of one candidate: `sources` as an object of name to text, or a column `source:NAME` each.

A `sources` that is no object (a list of addresses, a word) is what other tools mean by it, and stays metadata. A blank
source is none, and is counted, since a judge whose pass reads it will say that it is missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.item_files.values import field_text, is_blank
from evenhand.store.text_files import quoted
from evenhand.wording import plural

__all__ = ["SOURCES", "SourceColumns", "Sources", "named_column", "source_name"]

SOURCES = "sources"
_PREFIX = "source:"
_TAKEN = ("id", "task", "candidate", "reference", "context", "system", SOURCES)
_NAMES_COUNTED = 1000
_NAMES_SHOWN = 12


def named_column(column: str) -> str | None:
    """The source that a column `source:NAME` holds, or None."""
    return column[len(_PREFIX) :].strip() or None if column.startswith(_PREFIX) else None


def source_name(name: str, where: str) -> str:
    """A name that a source can have, without spaces around it.

    Args:
        name: as it is written.
        where: what holds it, for the message.
    Raises:
        InvalidInput: it is blank, an item's own field, or does not print.
    """
    stripped = name.strip()
    if stripped in _TAKEN:
        raise InvalidInput(f"{where}: {quoted(stripped)} is a field of the item itself; give the source another name")
    if is_blank(stripped) or not stripped.isprintable():
        raise InvalidInput(f"{where}: {quoted(name)} is no name for a source; use a word, such as demo")
    return stripped


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """Where the sources of rows with one set of columns stand.

    Args:
        whole: the column with an object of name to text, or None.
        named: (source, column) for each column with one source.
        is_mapped: whether `--map` named the whole one, which then must be an object.
    """

    whole: str | None = None
    named: tuple[tuple[str, str], ...] = ()
    is_mapped: bool = False

    @classmethod
    def among(cls, columns: tuple[str, ...], mapping: Mapping[str, str]) -> "SourceColumns":
        """The columns that hold sources; what `--map` says goes before the columns' own names."""
        taken = set(mapping.values())
        mapped = mapping.get(SOURCES)
        own = SOURCES if SOURCES in columns and SOURCES not in taken else None
        named: dict[str, str] = {}
        for column in columns:
            name = named_column(column) if column not in taken else None
            if name is not None:
                named[source_name(name, repr(column))] = column
        for target, column in mapping.items():
            name = named_column(target)
            if name is not None and column in columns:
                named[name] = column
        return cls(
            whole=(mapped if mapped in columns else None) if mapped else own,
            named=tuple(named.items()),
            is_mapped=mapped is not None,
        )


@dataclass(slots=True)
class Sources:
    """Collects the sources of items, and counts the blank ones.

    Args:
        blank: source to the number of items in which it shows nothing.
        kept: whether a `sources` was no object and stayed metadata.
    """

    blank: dict[str, int] = field(default_factory=dict)
    kept: bool = False

    def of_row(self, row: Mapping[str, Any], where: SourceColumns, metadata: dict[str, Any]) -> dict[str, str]:
        """The sources of a row; what served as one leaves the metadata.

        Raises:
            InvalidInput: a name no source can have, one twice, or a value that is no text.
        """
        found: dict[str, str] = {}
        for name, value, place in self._values(row, where, metadata):
            if name in found:
                raise InvalidInput(f"the source {quoted(name)} stands here twice ({place}); leave one of them out")
            found[name] = field_text(value, place, "a source")
        return self.shown(found)

    def shown(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Those that show something; the others are counted."""
        for name, text in texts.items():
            if is_blank(text) and (name in self.blank or len(self.blank) < _NAMES_COUNTED):
                self.blank[name] = self.blank.get(name, 0) + 1
        return {name: text for name, text in texts.items() if not is_blank(text)}

    def notes(self) -> list[str]:
        """What a user should know."""
        notes = [f"{SOURCES!r} is kept as metadata where it is no object of name to text"] if self.kept else []
        if self.blank:
            shown = [f"{quoted(name)} in {plural(n, 'item')}" for name, n in self.blank.items()]
            more = f" and {len(shown) - _NAMES_SHOWN} more" if len(shown) > _NAMES_SHOWN else ""
            notes.append(f"blank sources are left out: {', '.join(shown[:_NAMES_SHOWN])}{more}")
        return notes

    def _values(
        self, row: Mapping[str, Any], where: SourceColumns, metadata: dict[str, Any]
    ) -> Iterator[tuple[str, Any, str]]:
        """(source, value, place) for each that is there."""
        if where.whole is not None:
            whole = row[where.whole]
            if isinstance(whole, dict):
                for name, value in whole.items():
                    if value is not None:
                        yield source_name(name, repr(where.whole)), value, f"{where.whole}.{name}"
            elif where.is_mapped and whole is not None:
                raise InvalidInput(f"{where.whole!r} ({SOURCES}) is no object of name to text, as --map says it is")
            self.kept |= whole is not None and not isinstance(whole, dict)
            if whole is None or isinstance(whole, dict):
                metadata.pop(where.whole, None)
        for name, column in where.named:
            metadata.pop(column, None)
            if row[column] is not None:
                yield name, row[column], column

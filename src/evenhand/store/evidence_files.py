"""Evidence that someone already has: JSON, JSONL and YAML files to items, strictly.

    [{"impact": 3, "claim": ..., "criterion": ..., "perspective": ..., "pass": ..., "quote": ...}, ...]
    {"items": [...], "weights": {"craft": 0.4, "depth": 0.6}}
    {"working": [{"value": 3, "text": ...}], "not_working": [...], "missing": [...], "confusing": [...]}
    {"evidence": any of the above, ...}      of what stands beside `evidence` only `weights` is read

JSONL holds one item a line, and may hold one line `{"weights": {...}}`. Values in buckets bear their sign: what does
not work is -3, not 3. A boolean is no number, nor is a string. Items out of a record may keep their `counted`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.evidence_values import Object, described, parse_json, parse_yaml, split_json
from evenhand.store.text_files import quoted, read_text_file
from evenhand.terms import IMPACTS, Evidence

__all__ = ["BUCKETS", "EvidenceFile", "parse_evidence", "read_evidence"]

BUCKETS: Mapping[str, tuple[int, ...]] = {
    "working": (5, 3, 2, 1),
    "not_working": (-1, -2, -3, -5),
    "missing": (-1, -2, -3, -5),
    "confusing": (-1, -2, -3),
}
"""The four buckets of a draft's readiness, and the values each may hold."""

_ITEM = ("impact", "claim", "criterion", "perspective", "pass", "quote", "counted")
_ENTRY = ("value", "text", "criterion", "perspective", "pass", "quote", "counted")
_OF_RECORDS = ("quote_status", "span", "gap", "catalog_id")
_LEAST_WEIGHT = Decimal("1e-9")
_JSON = (".json", ".jsonl", ".ndjson")
_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFile:
    """What an evidence file holds.

    Args:
        name: the file, as messages name it.
        items: in file order; buckets in the order working, not_working, missing, confusing.
        places: where each item stands, such as `items[3]` or `line 4`.
        weights: criterion to weight, or None where none are stated.
        notes: sentences on what was not read.
    """

    name: str
    items: tuple[Evidence, ...]
    places: tuple[str, ...]
    weights: Mapping[str, Decimal] | None = None
    notes: tuple[str, ...] = ()


def read_evidence(path: str | Path, *, encoding: str | None = None) -> EvidenceFile:
    """Read an evidence file, or standard input for `-`.

    The suffix says the format (.json, .jsonl, .ndjson, .yaml, .yml). Without one of these, text that begins with a
    bracket or brace is JSON or JSONL, and anything else YAML.

    Raises:
        InvalidInput: whatever cannot be read as evidence, with file, item and field.
    """
    file = read_text_file(path, encoding=encoding)
    suffix = "" if str(path) == "-" else Path(path).suffix.lower()
    return parse_evidence(file.text(), name=file.name, suffix=suffix)


def parse_evidence(text: str, *, name: str, suffix: str = "") -> EvidenceFile:
    """The same from text already read.

    >>> found = parse_evidence('{"missing": [{"value": -2, "text": "no example"}]}', name="draft.json")
    >>> found.items[0].impact, found.places
    (-2, ('missing[0]',))
    """
    if not text.strip():
        raise InvalidInput(f'{name}: is empty; expected evidence items, such as [{{"impact": 3, "claim": "..."}}]')
    if suffix not in (*_JSON, *_YAML) and text.lstrip()[0] not in "[{":
        return _Reader(name).document(_guessed(text, name, suffix))
    if suffix in _YAML:
        return _Reader(name).document(parse_yaml(text, name))
    if suffix in (".jsonl", ".ndjson") or (suffix != ".json" and split_json(text)):
        return _Reader(name).lines(text)
    if suffix == ".json" and split_json(text):
        raise InvalidInput(f"{name}: holds more than one JSON value; for one item a line name it .jsonl")
    return _Reader(name).document(parse_json(text, name))


def _guessed(text: str, name: str, suffix: str) -> object:
    """The YAML that a text of no known ending may be; where it is none, the endings that are read are named."""
    endings = f"{', '.join((*_JSON, *_YAML[:-1]))} or {_YAML[-1]}"
    way_out = f"; evidence is read from files that end in {endings}" if suffix else ""
    try:
        document = parse_yaml(text, name)
    except InvalidInput as error:
        raise InvalidInput(f"{error}{way_out}") from error
    if way_out and isinstance(document, str):
        raise InvalidInput(f"{name}: holds no list of items and no object with `items`{way_out}")
    return document


class _Reader:
    """One file being read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._items: list[Evidence] = []
        self._places: list[str] = []
        self._weights: Mapping[str, Decimal] | None = None
        self._unread: dict[str, None] = {}

    def document(self, value: object) -> EvidenceFile:
        """A whole JSON or YAML document."""
        self._holder(value, "")
        return self._made()

    def lines(self, text: str) -> EvidenceFile:
        """One item a line; a single line may hold a whole document."""
        rows = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        values = [(f"line {number}", parse_json(line, f"{self._name} line {number}")) for number, line in rows]
        if len(values) == 1 and (isinstance(values[0][1], list) or _is_holder(values[0][1])):
            return self.document(values[0][1])
        for where, value in values:
            if isinstance(value, Object) and value.keys() == {"weights"}:
                self._set_weights(self._object(value, where)["weights"], f"{where}: weights")
            else:
                self._item(value, where)
        return self._made()

    def _made(self) -> EvidenceFile:
        """What was read, with a note on fields that were not."""
        unread = ", ".join(quoted(key) for key in self._unread)
        return EvidenceFile(
            name=self._name,
            items=tuple(self._items),
            places=tuple(self._places),
            weights=self._weights,
            notes=(f"{self._name}: not read: {unread}",) if unread else (),
        )

    def _holder(self, value: object, prefix: str) -> None:
        """A list of items, `items`, buckets, or any of these under `evidence`."""
        if isinstance(value, list):
            self._list(value, prefix.removesuffix("."))
            return
        if not isinstance(value, dict):
            raise self._wrong(prefix.removesuffix("."), value, "expected a list of items, or an object with `items`")
        held = self._object(value, prefix.removesuffix("."))
        if "weights" in held:
            self._set_weights(held["weights"], f"{prefix}weights")
        if "evidence" in held and not prefix:
            self._beside_evidence(held)
            self._holder(held["evidence"], "evidence.")
        elif "items" in held:
            self._refuse_others(held, ("items", "weights"), prefix)
            if not isinstance(held["items"], list):
                raise self._wrong(f"{prefix}items", held["items"], "expected a list of items")
            self._list(held["items"], f"{prefix}items")
        else:
            self._buckets(held, prefix)

    def _beside_evidence(self, held: Object) -> None:
        """Evidence must not stand in two places; other fields are noted."""
        for key in held:
            if key in ("items", *BUCKETS):
                raise InvalidInput(f"{self._name}: {key} stands beside `evidence`; keep one of the two")
            if key not in ("evidence", "weights"):
                self._unread[key] = None

    def _buckets(self, held: Object, prefix: str) -> None:
        """The four buckets, in their own order."""
        if not held.keys() & BUCKETS.keys():
            came = ", ".join(quoted(key) for key in list(held)[:5]) or "nothing"
            raise InvalidInput(
                f"{self._name}: {prefix.removesuffix('.') or 'the document'} holds {came}; "
                f"expected `items`, or the buckets {', '.join(BUCKETS)}"
            )
        self._refuse_others(held, (*BUCKETS, "weights"), prefix)
        for bucket in BUCKETS:
            entries = held.get(bucket, [])
            if not isinstance(entries, list):
                raise self._wrong(f"{prefix}{bucket}", entries, "expected a list of entries")
            for position, entry in enumerate(entries):
                self._item(entry, f"{prefix}{bucket}[{position}]", bucket)

    def _refuse_others(self, held: Object, known: tuple[str, ...], prefix: str) -> None:
        """No key beside the known ones: it could be evidence that would silently not count."""
        for key in held:
            if key not in known:
                kind = "the bucket" if "working" in known else "the key"
                raise InvalidInput(
                    f"{self._name}: {kind} {prefix}{quoted(key)[1:-1]} is unknown; {_way_out(key, known)}"
                    " (metadata can stand outside, with the rest under `evidence`)"
                )

    def _list(self, values: list[Any], prefix: str) -> None:
        """Items in a list."""
        for position, value in enumerate(values):
            self._item(value, f"{prefix}[{position}]")

    def _item(self, value: object, where: str, bucket: str | None = None) -> None:
        """One item or bucket entry."""
        number, text, known = ("impact", "claim", _ITEM) if bucket is None else ("value", "text", _ENTRY)
        if not isinstance(value, dict):
            raise self._wrong(where, value, f"expected an object with `{number}`")
        held = self._object(value, where)
        for key in held:
            if key not in known and key not in _OF_RECORDS:
                if number in held and get_close_matches(key, known, n=1, cutoff=0.8):
                    raise InvalidInput(f"{self._name}: {where}: the field {key!r} is unknown; {_way_out(key, known)}")
                self._unread[key] = None
        if number not in held:
            raise InvalidInput(
                f"{self._name}: {where} has no `{number}`; it has {', '.join(map(quoted, held)) or 'nothing'}"
            )
        permitted = IMPACTS if bucket is None else BUCKETS[bucket]
        self._items.append(
            Evidence(
                claim=self._text(held, text, where) or "",
                impact=self._impact(held[number], f"{where}.{number}", permitted),
                quote=self._text(held, "quote", where) or "",
                criterion=self._name_field(held, "criterion", where),
                perspective=self._name_field(held, "perspective", where),
                pass_name=self._name_field(held, "pass", where),
                counted=self._counted(held, where),
            )
        )
        self._places.append(where)

    def _impact(self, value: object, where: str, permitted: tuple[int, ...]) -> int:
        """A whole number of the permitted ones; 3.0 is 3."""
        if not isinstance(value, bool) and isinstance(value, (int, Decimal)):
            for impact in permitted:
                if value == impact:
                    return impact
        stated = ", ".join(f"{impact:+d}" for impact in permitted)
        hint = ""
        if isinstance(value, str):
            hint = " as a number, without quotation marks"
        elif isinstance(value, int) and not isinstance(value, bool) and -value in permitted:
            hint = " (the sign is written)"
        raise self._wrong(where, value, f"expected one of {stated}{hint}")

    def _text(self, held: Object, key: str, where: str) -> str | None:
        """A text field that may be missing or null."""
        value = held.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(f"{where}.{key}", value, "expected text")
        if any(0xD800 <= ord(character) <= 0xDFFF for character in value):
            raise self._wrong(f"{where}.{key}", value, "expected text without lone surrogates")
        return value

    def _name_field(self, held: Object, key: str, where: str) -> str | None:
        """A name: text that is not blank; a whole number, as passes are often numbered, is taken as its digits."""
        value = held.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return described(value)
        name = self._text(held, key, where)
        if name is not None and not name.strip():
            raise self._wrong(f"{where}.{key}", name, "expected a name, or leave the field out")
        return name

    def _counted(self, held: Object, where: str) -> bool:
        """Whether the item counts: true unless it says otherwise."""
        value = held.get("counted", True)
        if not isinstance(value, bool):
            raise self._wrong(f"{where}.counted", value, "expected true or false")
        return value

    def _set_weights(self, value: object, where: str) -> None:
        """Criterion to weight, as decimals."""
        if self._weights is not None:
            raise InvalidInput(f"{self._name}: {where} states weights a second time; keep one")
        if not isinstance(value, dict) or not value:
            raise self._wrong(where, value, "expected an object of criterion to weight")
        held = self._object(value, where)
        made = {}
        for criterion in held:
            weight = held[criterion]
            if not self._text(Object([("name", criterion)]), "name", where) or not criterion.strip():
                raise self._wrong(where, criterion, "expected the name of a criterion")
            if isinstance(weight, bool) or not isinstance(weight, (int, Decimal)):
                raise self._wrong(f"{where}.{_key(criterion)}", weight, "expected a number above 0 and at most 1")
            if not (Decimal(weight).is_finite() and _LEAST_WEIGHT <= weight <= 1):
                raise self._wrong(f"{where}.{_key(criterion)}", weight, "expected a number above 0 and at most 1")
            made[criterion] = Decimal(weight)
        self._weights = made

    def _object(self, value: Any, where: str) -> Object:
        """The object, if none of its keys stands twice."""
        assert isinstance(value, Object)
        if value.twice is not None:
            at = f"{where}: " if where else ""
            raise InvalidInput(f"{self._name}: {at}the key {quoted(value.twice)} stands twice; keep one of the two")
        return value

    def _wrong(self, where: str, value: object, expected: str) -> InvalidInput:
        """One sentence on a value that cannot be used."""
        return InvalidInput(f"{self._name}: {where or 'the document'} is {described(value)}; {expected}")


def _is_holder(value: object) -> bool:
    """Whether an object is a whole document rather than an item."""
    return isinstance(value, dict) and bool(value.keys() & {"items", "evidence", *BUCKETS})


def _key(name: str) -> str:
    """A key as it stands in a path."""
    return quoted(name)[1:-1]


def _way_out(key: str, known: tuple[str, ...]) -> str:
    """The name it looks like, or all."""
    close = get_close_matches(key, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected {', '.join(known)}"

"""Files of a probe: its items, those that ship among them, and runs that were made elsewhere.

Items are a JSON (or YAML) file with `name`, `scale_min`, `scale_max` and `items`, a list of texts. Runs are a folder of
`run-001.json`, `run-002.json`, ..., each with `{"scores": [...]}` or `{"parse_failed": true}`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.json_text import broken_at, too_deep_at
from evenhand.store.documents import Value, plain_document, read_document
from evenhand.store.packaged import templates
from evenhand.store.text_files import place, quoted, read_text_file
from evenhand.terms import ProbeItems
from evenhand.wording import plural

__all__ = ["RunFile", "probe_domain", "probe_domains", "read_probe_items", "read_runs"]

_KEYS = ("name", "scale_min", "scale_max", "items")
_MOST_ITEMS = 1000
_LONGEST_NAME = 120
_LARGEST_RUN = 1 << 20
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """One run as its file holds it.

    Args:
        name: of the file.
        document: its JSON value; None where it could not be read.
        problem: why it could not be read; empty where it could.
    """

    name: str
    document: Any
    problem: str = ""


def probe_domains() -> tuple[str, ...]:
    """The names of the items that ship.

    >>> probe_domains()
    ('business-idea', 'code-readability', 'headline', 'prose')
    """
    return tuple(name.removesuffix(".json") for name in templates("data/probe"))


def probe_domain(name: str) -> ProbeItems:
    """The items of one domain that ships.

    Raises:
        InvalidInput: there is no such domain.
    """
    texts = templates("data/probe")
    text = texts.get(f"{name}.json")
    if text is None:
        raise InvalidInput(
            f"--domain {quoted(name)}: no items of this domain ship; there are {', '.join(probe_domains())}, and "
            "--items FILE takes your own"
        )
    return _items(plain_document(json.loads(text), f"{name}.json"))


def read_probe_items(path: str | Path) -> ProbeItems:
    """The items of a file.

    Raises:
        InvalidInput: it cannot be read, has another key, no scale, fewer than two items, or one of them twice.
    """
    return _items(read_document(path))


def read_runs(folder: Path) -> tuple[RunFile, ...]:
    """The runs of a folder, in the order of their names; a broken file is one that could not be read, not an error.

    Raises:
        InvalidInput: no such folder, or no run in it.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.match("run-*.json"))
    except OSError as error:
        raise InvalidInput(
            f"--runs-dir {place(folder)}: cannot be read ({error.strerror}); name a folder with run-001.json, "
            "run-002.json and so on"
        ) from error
    if not paths:
        raise InvalidInput(
            f"--runs-dir {place(folder)}: holds no run; expected files run-001.json, run-002.json and so on, each with "
            '{"scores": [...]} or {"parse_failed": true}'
        )
    if len(paths) > _MOST_RUNS:
        raise InvalidInput(f"--runs-dir {place(folder)}: holds {len(paths)} runs; at most {_MOST_RUNS} are read")
    return tuple(map(_run, paths))


def _items(document: Value) -> ProbeItems:
    found = document.entries(_KEYS, {"title": "name", "min": "scale_min", "max": "scale_max", "texts": "items"})
    for key in _KEYS:
        if key not in found:
            document.refuse(f"missing; expected {', '.join(_KEYS)}", key)
    low, high = found["scale_min"].whole(), found["scale_max"].whole()
    if low >= high:
        found["scale_max"].refuse(f"the scale runs from {low} to {high}; expected a higher end")
    name = found["name"].text()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        found["name"].refuse(f"expected one line of at most {_LONGEST_NAME} characters, such as prose")
    entries = found["items"].items()
    texts: dict[str, Value] = {}
    for entry in entries:
        text = entry.text()
        if text in texts:
            entry.refuse(f"the same text as {texts[text].path}; each item has to be another")
        texts[text] = entry
    if not 2 <= len(texts) <= _MOST_ITEMS:
        found["items"].refuse(
            f"{plural(len(texts), 'item')}; expected 2 to {_MOST_ITEMS}, best 20 over the whole range of quality"
        )
    return ProbeItems(name=name, scale_min=low, scale_max=high, items=tuple(texts))


class _Twice(ValueError):
    """A key stands twice in one object."""


def _run(path: Path) -> RunFile:
    """One file."""
    try:
        if not path.is_file():
            return RunFile(name=path.name, document=None, problem="it is no file")
        if path.stat().st_size > _LARGEST_RUN:
            return RunFile(name=path.name, document=None, problem="it is larger than a run can be")
        text = read_text_file(path, has_option=False).text()
        if too_deep_at(text) is not None:
            return RunFile(name=path.name, document=None, problem="it is nested too deeply")
        return RunFile(name=path.name, document=json.loads(text, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        position, reason = broken_at(error)
        return RunFile(name=path.name, document=None, problem=f"it is no JSON: {reason} at character {position}")
    except (InvalidInput, OSError, ValueError) as error:
        return RunFile(name=path.name, document=None, problem=str(error))


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """An object without a key that stands twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice("a key stands twice in one object")
    return found

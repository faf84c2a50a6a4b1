"""Files that ship with the package: example judge files, prompt templates and the table of model families."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType

from evenhand.errors import InvalidInput

__all__ = ["example_judge", "example_judge_file", "example_judges", "families", "templates"]


def example_judges() -> Mapping[str, str]:
    """The example judge files: name (`checklist`, `evidence-matrix`, ...) to YAML text, in the order of the names.

    >>> "checklist" in example_judges()
    True
    """
    found = _texts(("data", "judges"))
    texts = {name.removesuffix(".yaml"): text for name, text in found.items() if name.endswith(".yaml")}
    return MappingProxyType(dict(sorted(texts.items())))


def example_judge(name: str) -> str:
    """The YAML text of one example judge file.

    Raises:
        InvalidInput: no example has this name.
    """
    examples = example_judges()
    if name not in examples:
        raise InvalidInput(f"{name!r}: no example judge has this name; there are {', '.join(examples)}")
    return examples[name]


def example_judge_file(name: str) -> AbstractContextManager[Path]:
    """One example judge as a file on disk, for as long as the context lasts.

    Raises:
        InvalidInput: no example has this name.
    """
    example_judge(name)
    return as_file(files("evenhand").joinpath("data", "judges", f"{name}.yaml"))


def templates(folder: str = "judges/templates") -> Mapping[str, str]:
    """The prompt templates: file name to text, in the order of the names; nothing of the package is imported.

    Args:
        folder: inside the package, with `/`.
    """
    return MappingProxyType(_texts(tuple(folder.split("/"))))


@cache
def families() -> Mapping[str, tuple[str, ...]]:
    """Model families: name to regular expressions over model names, as `judges.families` reads them."""
    table: dict[str, list[str]] = json.loads(files("evenhand").joinpath("data", "families.json").read_bytes())
    return MappingProxyType({family: tuple(patterns) for family, patterns in table.items()})


@cache
def _texts(parts: tuple[str, ...]) -> dict[str, str]:
    """The text files of one folder of the package."""
    folder = files("evenhand").joinpath(*parts)
    found = {entry.name: entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}

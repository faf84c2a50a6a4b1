"""A repository too large for one read: an inventory of its features first, then a read of each, within a token budget.

Reply of the first call: {"features": [{"name": ..., "files": [...]}]}, where every file is one of the list.

The inventory sees the files' paths, sizes and first lines, and no code. Each feature is then read as a small repository
of its own, with its files from their beginnings on; what no budget is left for is cut at a line's end, and said there.
A quotation is looked up in what was read and belongs to the place where that stands in the whole, so spans, places and
duplicates are those of the one candidate. A repository that fits the budget is read as a whole, without an inventory.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.errors import InvalidInput, UnreadableReply
from evenhand.judges.asking import Asking, ask
from evenhand.judges.fit import TEXT, entry, list_of
from evenhand.judges.places import files_of
from evenhand.judges.prompts import Fence, Template, fill, template_text
from evenhand.judges.replies import entries, kind, words
from evenhand.keys import bare, content_key
from evenhand.repository_text import RepositoryText
from evenhand.terms import Call, Evidence, Item, JudgeSpec, Message

__all__ = ["CHARACTERS_PER_TOKEN", "MOST_FEATURES", "Feature", "InventoryPrompt", "Part", "parts_of", "read_features"]

CHARACTERS_PER_TOKEN = 4
"""How budgets in tokens are held: a token is taken for so many characters, as in `--dry-run`."""

MOST_FEATURES = 12
_FIRST_LINE = 100
_LEAST = 1_000  # characters of a file, below which reading on is not worth it
_RESERVED = 200  # characters for the lines that say what is cut and left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature: its name, and the paths of the files to read for it."""

    name: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is read for one feature.

    Args:
        text: a repository of its own, made of pieces of the whole.
        pieces: (start in `text`, start in the whole, length), rising.
    """

    text: str
    pieces: tuple[tuple[int, int, int], ...]

    def in_whole(self, item: Evidence) -> Evidence:
        """An item with the span that its quotation has in the whole; one that spans two pieces does not count."""
        if item.span is None:
            return item
        start, end = item.span
        for at, whole, length in self.pieces:
            if at <= start and end <= at + length:
                return replace(item, span=(start - at + whole, end - at + whole))
        return replace(item, span=None, quote_status="absent", counted=False)


class InventoryPrompt:
    """What is asked about the files, and how the reply is read.

    Args:
        spec: the judge file, with an inventory.
        templates: prompt templates by file name.
    Raises:
        InvalidInput: a budget that no feature could be read with.
    """

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        if spec.inventory is not None and spec.inventory < _LEAST:
            raise InvalidInput(
                f"judge {spec.name}: inventory max_tokens is {spec.inventory}; expected at least {_LEAST}"
            )
        self._spec = spec
        self._system = Message(role="system", text=fill(templates, "inventory.md", {"features": str(MOST_FEATURES)}))
        self._repair = Template(template_text(templates, "repair.md").strip("\n"), name="repair.md", known=("problem",))
        files = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        self._schema = list_of("features", entry(name=TEXT, files=files), maxItems=MOST_FEATURES, minItems=1)
        self._fence = Fence(bare(content_key({"inventory": self._system.text})))

    def asking(self, files: RepositoryText, *, model: str, rerun: int, attempt: int) -> Asking[list[Feature]]:
        """Ask for the features of a repository."""
        lines = _listed(files, self._chars() // CHARACTERS_PER_TOKEN)
        paths = frozenset(json.loads(line)["path"] for line in lines if line.startswith("{"))
        mark = self._fence.mark(lines)
        fenced = "\n".join([f"{mark} FILES BEGIN", *lines, f"{mark} FILES END"])
        call = Call(
            model=model,
            messages=(self._system, Message(role="user", text=f"The mark of this message is {mark}.\n\n{fenced}")),
            schema=self._schema,
            schema_name="inventory",
            temperature=self._spec.temperature,
            max_tokens=self._spec.max_tokens,
            member=model,
            rerun=rerun,
            attempt=attempt,
        )
        return ask(call, lambda text: read_features(text, paths), lambda wrong: self._repair.fill({"problem": wrong}))

    def needed(self, item: Item) -> RepositoryText | None:
        """The repository's files, where it is one and too large to be read as a whole."""
        return files_of(item) if len(item.candidate) > self._chars() else None

    def parts(self, files: RepositoryText, features: Sequence[Feature]) -> list[Part]:
        """What is read for each feature, within the budget."""
        return parts_of(files, features, self._chars())

    def _chars(self) -> int:
        return (self._spec.inventory or 0) * CHARACTERS_PER_TOKEN


def read_features(text: str, paths: frozenset[str]) -> list[Feature]:
    """The features of a reply.

    Raises:
        UnreadableReply: another shape, no feature, too many, or a file that the list does not have.
    """
    features = [_feature(found, f"feature {place}", paths) for place, found in enumerate(entries(text, "features"), 1)]
    if not 1 <= len(features) <= MOST_FEATURES:
        raise UnreadableReply(f'"features" has {len(features)} entries; expected 1 to {MOST_FEATURES}')
    return features


def parts_of(files: RepositoryText, features: Sequence[Feature], chars: int) -> list[Part]:
    """What is read for each feature: an equal share of the characters; what one leaves goes to those behind it."""
    parts, left = [], chars
    for number, feature in enumerate(features):
        part = _part(files, feature, left // (len(features) - number))
        left -= len(part.text)
        parts.append(part)
    return parts


def _part(files: RepositoryText, feature: Feature, chars: int) -> Part:
    """The files of one feature from their beginnings on, as far as there is room; what has none is counted."""
    mark, shown = files.mark, list(dict.fromkeys(feature.files))
    text = f"--- {mark} repository: {len(shown)} file{'' if len(shown) == 1 else 's'} of a larger one\n"
    pieces: list[tuple[int, int, int]] = []
    left_out = 0
    for number, path in enumerate(shown):
        start, end = files.extent(path)
        whole, left = files.text[start:end], chars - len(text) - _RESERVED
        room = max(left // (len(shown) - number), min(left, _LEAST))
        if pieces and room < min(len(whole), _LEAST):
            left_out += 1
            continue
        kept = whole if len(whole) <= room else whole[: whole.rfind("\n", 0, max(room, 0)) + 1] or whole[: max(room, 1)]
        pieces.append((len(text), start, len(kept)))
        text += kept if kept.endswith("\n") else f"{kept}\n"
        if len(kept) < len(whole):
            text += f"--- {mark} cut: the file goes on, {len(whole) - len(kept):,} characters are not read here\n"
    if left_out:
        text += f"--- {mark} left out for size: {left_out} more files of this part\n"
    return Part(text=text, pieces=tuple(pieces))


def _listed(files: RepositoryText, chars: int) -> list[str]:
    """A line a file; where they are too many, without first lines, and then only the first so many, which is said."""
    full: list[dict[str, Any]] = []
    for path in files.paths:
        start, end = files.extent(path)
        body = files.text[files.text.index("\n", start) + 1 : end]
        first = next((line.strip() for line in body[:4_000].split("\n") if line.strip()), "")
        full.append({"path": path, "lines": body.count("\n"), "first": first[:_FIRST_LINE]})
    lines = [json.dumps(one, ensure_ascii=False) for one in full]
    if sum(map(len, lines)) > chars:
        lines = [json.dumps({"path": one["path"], "lines": one["lines"]}, ensure_ascii=False) for one in full]
    kept: list[str] = []
    left = chars
    for line in lines:
        left -= len(line) + 1
        if left < 0 and kept:
            return [*kept, f"and {len(lines) - len(kept)} more files, which are not listed"]
        kept.append(line)
    return kept


def _feature(found: dict[str, Any], what: str, paths: frozenset[str]) -> Feature:
    """One entry of the reply."""
    name, files = words(found, "name", what), found.get("files")
    if not name:
        raise UnreadableReply(f'{what}: "name" is missing; expected a few words')
    if not isinstance(files, list) or not files:
        raise UnreadableReply(f'{what}: "files" is {kind(files)}; expected a list with at least one path')
    for file in files:
        if not isinstance(file, str) or file not in paths:
            raise UnreadableReply(f'{what}: "files" names {kind(file)}, which is no path of the list')
    return Feature(name=name, files=tuple(dict.fromkeys(files)))

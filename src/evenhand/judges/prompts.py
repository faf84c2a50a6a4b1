"""Prompts: templates handed in as text, filled in one pass, with the material fenced.

A placeholder is `{{name}}` in a template. Values are never looked at: braces, `%s` or `${HOME}` in a candidate or a
question reach the model character for character. The system message of a judge is the same for every item, and the
item stands last in the user message, so that prompt caches hit.

Task, reference, context and candidate are material that others wrote. Each stands between two lines with a mark made
from the judge and all four texts, so that the mark is reproducible and no text can hold its own. The mark consists of
letters, because the prompts of a judge show no numbers but those of its rubric.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.keys import bare, content_key
from evenhand.terms import Call, Item, JudgeSpec, Message

__all__ = ["Fence", "FencedTexts", "ItemPrompt", "Prompt", "Template", "fill", "quoted", "template_text"]

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FIELDS = ("task", "reference", "context", "candidate")
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")
_MARK_LENGTH = 14
_QUOTING = {"quote": "quoting.md", "sentence": "citing.md"}


class Template:
    """A text with placeholders, taken apart once.

    Args:
        text: the template.
        name: its file name, for messages.
        known: the placeholders that can be filled.
    Raises:
        InvalidInput: a placeholder that nobody fills.

    >>> Template("Is {{a}} the same as {{b}}?", name="t.md", known=["a", "b"]).fill({"a": "{{b}}", "b": "%s"})
    'Is {{b}} the same as %s?'
    """

    def __init__(self, text: str, *, name: str, known: Sequence[str]) -> None:
        self._pieces = tuple(_PLACEHOLDER.split(text))
        self.names = self._pieces[1::2]
        for found in self.names:
            if found not in known:
                raise InvalidInput(
                    f"template {name}: the placeholder {{{{{found}}}}} is unknown; use {', '.join(known) or 'none'}"
                )

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with each placeholder replaced by its value, which is not looked at."""
        pieces = list(self._pieces)
        pieces[1::2] = [values[name] for name in self.names]
        return "".join(pieces)


class Fence:
    """Makes the mark that fences material.

    Args:
        seed: bytes that stand for everything static, so that two judges' marks differ.

    >>> mark = Fence(b"judge").mark(["a text", None])
    >>> (mark == Fence(b"judge").mark(["a text", None]), mark == Fence(b"other").mark(["a text", None]))
    (True, False)
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = hashlib.sha256(seed)

    def mark(self, texts: Sequence[str | None]) -> str:
        """Letters that occur in none of the texts; the same for the same texts."""
        digest = self._seed.copy()
        for text in texts:
            if text is None:
                digest.update(b"~")
            else:
                # A lone surrogate is refused where the request is written; here it must only not collide.
                encoded = text.encode("utf-8", "surrogatepass")
                digest.update(b"%d:" % len(encoded))
                digest.update(encoded)
        mark = _letters(digest)
        while any(text is not None and mark in text for text in texts):
            digest.update(b"!")
            mark = _letters(digest)
        return mark


class FencedTexts:
    """A user message: one block a text, fenced; a block whose text is absent is left out.

    Args:
        template: blocks parted by blank lines.
        name: the template's file name.
        fence: makes the marks.
        fields: the placeholders of the texts, in their order.
        needed: the placeholder that the template must have, beside the mark's.
    Raises:
        InvalidInput: an unknown placeholder, or a needed one is missing.
    """

    def __init__(self, template: str, *, name: str, fence: Fence, fields: tuple[str, ...], needed: str) -> None:
        self._fence = fence
        self._name = name
        self._fields = fields
        self._blocks = template.strip("\n").split("\n\n")
        self._templates: dict[tuple[bool, ...], Template] = {}
        if f"{{{{{needed}}}}}" not in template or "{{fence}}" not in template:
            raise InvalidInput(f"template {name}: {{{{{needed}}}}} or {{{{fence}}}} is missing; it needs both")
        self._template((True,) * len(fields))

    def text(self, *texts: str | None) -> str:
        """The message's text; the mark depends on these texts and on no other."""
        shape = tuple([text is not None for text in texts])
        template = self._templates.get(shape) or self._template(shape)
        values = {name: text or "" for name, text in zip(self._fields, texts, strict=True)}
        return template.fill({"fence": self._fence.mark(texts), **values})

    def _template(self, shape: tuple[bool, ...]) -> Template:
        """The template for items that have these of the fields."""
        absent = [f"{{{{{field}}}}}" for field, present in zip(self._fields, shape, strict=True) if not present]
        blocks = [block for block in self._blocks if not any(field in block for field in absent)]
        template = Template("\n\n".join(blocks), name=self._name, known=("fence", *self._fields))
        self._templates[shape] = template
        return template


class ItemPrompt:
    """The user message of an item; a block whose field the item lacks is left out.

    Args:
        template: blocks parted by blank lines.
        name: the template's file name.
        fence: makes the marks.
        fields: what the blocks may hold; every item has those behind the first three.
    Raises:
        InvalidInput: an unknown placeholder, or none for the candidate.
    """

    def __init__(self, template: str, *, name: str, fence: Fence, fields: tuple[str, ...] = _FIELDS) -> None:
        self._texts = FencedTexts(template, name=name, fence=fence, fields=fields, needed="candidate")

    def text(self, item: Item, *others: str) -> str:
        """The message's text; neither the item's id nor its system is in it.

        Args:
            others: the texts of the fields behind `candidate`, where there are more.
        """
        return self._texts.text(
            item.task or None, item.reference or None, item.context or None, item.candidate, *others
        )


class Prompt:
    """Everything a protocol sends: the static system message, the item's message, the repair turn.

    Args:
        spec: the judge file.
        templates: file name to text; the protocol's own is `<protocol>.md`.
        values: what the protocol's template is filled with.
        schema: JSON Schema of the reply; one object for all calls, since endpoints keep its rendering by identity.
        template: file name of the system message's template, where it is not the protocol's own.
        item_template: file name of the item's message's template.
        others: fields of the item's message behind `candidate`.
    Raises:
        InvalidInput: a template is missing or has an unknown placeholder.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        templates: Mapping[str, str],
        *,
        values: Mapping[str, str],
        schema: Mapping[str, Any],
        template: str | None = None,
        item_template: str = "item.md",
        others: tuple[str, ...] = (),
    ) -> None:
        shared = {"material": fill(templates, "material.md", {}), "quoting": fill(templates, _QUOTING[spec.cite], {})}
        system = fill(templates, template or f"{spec.protocol}.md", {**shared, **values})
        repair = template_text(templates, "repair.md")
        item = template_text(templates, item_template)
        static = {"protocol": spec.protocol, "system": system, "item": item, "schema": schema}
        self.schema = schema
        self.system = Message(role="system", text=system)
        fence = Fence(bare(content_key(static)))
        self._item = ItemPrompt(item, name=item_template, fence=fence, fields=(*_FIELDS, *others))
        self._repair = Template(repair.strip("\n"), name="repair.md", known=("problem",))
        self._name = spec.protocol
        self._temperature = spec.temperature
        self._max_tokens = spec.max_tokens

    def call(self, item: Item, *others: str, model: str, rerun: int, attempt: int) -> Call:
        """The first call about an item; `others` are the texts of further fields, where the prompt has any."""
        return Call(
            model=model,
            messages=(self.system, Message(role="user", text=self._item.text(item, *others))),
            schema=self.schema,
            schema_name=self._name,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            member=model,
            rerun=rerun,
            attempt=attempt,
        )

    def repair(self, problem: str) -> str:
        """What the model is told about a reply that cannot be read."""
        return self._repair.fill({"problem": problem})


def fill(templates: Mapping[str, str], name: str, values: Mapping[str, str]) -> str:
    """A static template filled in, without the line breaks at its ends.

    Raises:
        InvalidInput: the template is missing or has an unknown placeholder.
    """
    return Template(template_text(templates, name).strip("\n"), name=name, known=tuple(values)).fill(values)


def quoted(text: str) -> str:
    """An id as it stands in a reply: a JSON string.

    >>> print(quoted("situation"))
    "situation"
    """
    return json.dumps(text, ensure_ascii=False)


def template_text(templates: Mapping[str, str], name: str) -> str:
    """A template as it was handed in.

    Raises:
        InvalidInput: it is missing.
    """
    try:
        return templates[name]
    except KeyError:
        raise InvalidInput(
            f"the prompt template {name} is missing; the templates handed in are {', '.join(sorted(templates))}"
        ) from None


def _letters(digest: "hashlib._Hash") -> str:
    return digest.hexdigest()[:_MARK_LENGTH].translate(_LETTERS)

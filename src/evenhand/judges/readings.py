"""The passes of an evidence pipeline: which text of an item each one reads, and what it is told about that.

A pass sees one source only, in the place of the candidate: the candidate, the context, or a text of `Item.sources`.
Task and reference are no sources and stand in every pass. The context stands beside the candidate where no pass is
declared or none reads it; a pass over another source does not see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.errors import InvalidInput
from evenhand.judges.inventory import Part
from evenhand.judges.prompts import quoted
from evenhand.terms import Abstention, Item, JudgeSpec, Pass

__all__ = ["MISSING_SOURCE", "Reading", "readings", "refuse_passes", "told"]

MISSING_SOURCE = "missing_source"
"""The reason of an abstention: the item lacks a text that a pass must read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One pass over one item.

    Args:
        number: place of the pass in the judge file; 0 where none is declared.
        item: the item as this pass sees it, its source in the place of the candidate.
        pass_name: None where no pass is declared.
        source: None for the candidate.
        part: which part of a large repository it sees; None for the whole.
        feature: number of that part, from 1.
    """

    number: int
    item: Item
    pass_name: str | None
    source: str | None
    part: Part | None = None
    feature: int | None = None

    @property
    def name(self) -> str:
        """The pass and the feature in words; empty where the whole candidate is read at once."""
        named = [] if self.pass_name is None else [f"pass {self.pass_name}"]
        return ", ".join([*named, *([] if self.feature is None else [f"feature {self.feature}"])])


def readings(item: Item, passes: Sequence[Pass]) -> tuple[list[Reading], tuple[str, ...]] | Abstention:
    """What is to be read, and flags for optional passes that are left out.

    Returns:
        An Abstention where a pass that is not optional has no source, or where no pass is left.
    """
    if not passes:
        return [Reading(number=0, item=item, pass_name=None, source=None)], ()
    found, left_out = [], []
    beside = item.context if not any(one.source == "context" for one in passes) else None
    for number, one in enumerate(passes):
        text = item.text_of(one.source)
        if text is None and one.optional:
            left_out.append(one)
            continue
        if text is None:
            return _missing(one)
        candidate_only = one.source == "candidate"
        seen = replace(item, candidate=text, context=beside if candidate_only else None, sources={})
        source = None if candidate_only else one.source
        found.append(Reading(number=number, item=seen, pass_name=one.name, source=source))
    if not found:
        return _missing(left_out[0])
    return found, tuple(f"pass_left_out:{one.name}" for one in left_out)


def told(spec: JudgeSpec) -> list[str]:
    """What each pass is told of the source it reads; one empty text where no pass is declared."""
    if not spec.passes:
        return [""]
    return [
        "\nThe work has several sources, and you see one of them as the candidate: "
        f"{quoted(one.source)}. Say nothing of what other sources may show.{f' {one.ask}' if one.ask else ''}\n"
        for one in spec.passes
    ]


def refuse_passes(spec: JudgeSpec) -> None:
    """Passes that could not be told apart.

    Raises:
        InvalidInput: a name stands twice or is empty.
    """
    names = [one.name for one in spec.passes]
    for name in names:
        if not name or names.count(name) > 1:
            raise InvalidInput(f"judge {spec.name}: the pass name {name!r} is empty or stands twice; names must differ")


def _missing(one: Pass) -> Abstention:
    text = f"the pass {one.name!r} reads the source {one.source!r}, which this item does not have"
    return Abstention(reason=MISSING_SOURCE, text=text)

"""The mirror image of an attack: changes of what is judged, which a judge that reads cannot leave without effect.

    other_question    the rubric asks about something that no candidate is about
    other_candidate   the candidate of another item stands in its place, under the task as it was
    nothing_said      a neutral sentence stands in its place

All are deterministic. A judge whose score stays where it was under them does not read what it is given.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.scoring.labels import ACCEPTANCE_PROTOCOLS
from evenhand.terms import Check, CheckGroup, Criterion, Item, JudgeSpec

__all__ = [
    "CONTROLS",
    "NOTHING_SAID",
    "OTHER_CANDIDATE",
    "OTHER_QUESTION",
    "nothing_said",
    "other_candidates",
    "other_question",
    "other_reference",
    "other_task",
]

OTHER_QUESTION = "other_question"
OTHER_CANDIDATE = "other_candidate"
NOTHING_SAID = "nothing_said"

CONTROLS = {
    OTHER_QUESTION: "asks about bread instead",
    OTHER_CANDIDATE: "shows another item's candidate under the same task",
    NOTHING_SAID: "shows a neutral sentence instead of the candidate",
}
"""Every control with what it does, in the order of reports."""

NEUTRAL = "There is nothing that I wish to add here."

REFERENCE = "Bread dough made with baker's yeast rises best at 26 to 28 degrees Celsius."

TASK = (
    "A loaf of bread is made with 300 grams of water, which is 60 percent of the weight of its flour. How many grams "
    "of flour does it need?"
)

_ASK = "How good is it as a recipe for bread, with amounts, times and temperatures?"
_QUESTIONS = (
    "Does the text name the amount of flour that a loaf of bread needs, in grams?",
    "Does the text say how long bread dough must rest?",
    "Does the text name the temperature at which bread is baked?",
    "Does the text say how a baker can tell that a loaf is done?",
    "Does the text name the kind of yeast that bread dough is made with?",
)


def nothing_said(item: Item) -> Item:
    """The item with a sentence that says nothing; an empty candidate could not be judged."""
    return replace(item, candidate=NEUTRAL, repository=False)


def other_reference(item: Item) -> Item:
    """The item with a reference about bread, for a judge that compares."""
    return replace(item, reference=REFERENCE)


def other_task(item: Item) -> Item:
    """The item with a task about bread, for a judge that solves it or asks whether it is solved."""
    return replace(item, task=TASK)


def other_candidates(items: Sequence[Item]) -> list[Item | None]:
    """Each item with the candidate of another one: the next that has another text, and another task if any has.

    Returns:
        None where no item has another text.

    >>> made = other_candidates([Item(id="a", candidate="x"), Item(id="b", candidate="y")])
    >>> [item.candidate for item in made if item]
    ['y', 'x']
    """
    several = len({item.task for item in items}) > 1
    return [_with_another(items, place, several=several) for place in range(len(items))]


def other_question(spec: JudgeSpec) -> JudgeSpec | None:
    """The judge with a rubric about bread; ids, weights, levels and all settings stay.

    Returns:
        None where the judge asks nothing of its own that could be changed: no criterion and no catalogue, or a judge
        whose question is the item's reference (`other_reference`) or task (`other_task`).
    """
    if spec.protocol in ("reference", *ACCEPTANCE_PROTOCOLS) or not (spec.criteria or spec.catalog):
        return None
    questions = itertools.cycle(_QUESTIONS)
    catalog = tuple(replace(entry, claim=f"A yes to: {next(questions)}") for entry in spec.catalog)
    criteria = tuple(_criterion(criterion, questions) for criterion in spec.criteria)
    return replace(spec, criteria=criteria, catalog=catalog, examples=())


def _with_another(items: Sequence[Item], place: int, *, several: bool) -> Item | None:
    """One item with another's candidate."""
    item = items[place]
    following = (items[(place + step) % len(items)] for step in range(1, len(items)))
    others = (one for one in following if one.candidate != item.candidate)
    first = next(others, None)
    if first is not None and several and first.task == item.task:
        first = next((one for one in others if one.task != item.task), first)
    return None if first is None else replace(item, candidate=first.candidate, repository=first.repository)


def _criterion(criterion: Criterion, questions: Iterator[str]) -> Criterion:
    """The criterion about bread; a level's text says how much of the recipe there is."""
    levels = sorted(criterion.level_texts)
    texts = {level: f"{place} of {len(levels) - 1} parts of a recipe for bread." for place, level in enumerate(levels)}
    checks = tuple(_check(entry, questions) for entry in criterion.checks)
    return replace(criterion, ask="" if checks else _ASK, level_texts=texts, checks=checks)


def _check(entry: Check | CheckGroup, questions: Iterator[str]) -> Check | CheckGroup:
    if isinstance(entry, Check):
        return replace(entry, ask=next(questions))
    return replace(entry, any_of=tuple(replace(check, ask=next(questions)) for check in entry.any_of))

"""Who is related to whom: model families by name, panels whose members share one, judges that meet their own kin.

Models of one family share training data and habits, so that their agreement counts for less; a judge tends to favour
what its own family wrote. A name that the table does not know has no family: that is not said to be shared.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from evenhand.errors import InvalidInput
from evenhand.terms import ModelSpec

__all__ = ["Families", "Kinship", "family_of", "same_model"]

Families = Mapping[str, Sequence[str]]
"""Family to regular expressions, each of which matches where a word of the model's name begins."""


def family_of(model_name: str, table: Families) -> str | None:
    """The family of a model by its name; None where the table does not know it.

    The match that begins first in the name counts, and of two at one place the longer: a model distilled into another
    family's weights bears both names, and the first is that of its maker. What stands before the first `/` or `:`
    counts only where nothing behind it is known, since one provider serves many families.

    Args:
        model_name: `provider/model`, or a model's bare name.
        table: as `data/families.json` holds it.

    >>> table = {"gpt": ["gpt", "o[1-9]"], "llama": ["llama"]}
    >>> family_of("openai/gpt-5.4-mini", table), family_of("groq:meta-llama/llama-3.3-70b", table)
    ('gpt', 'llama')
    >>> family_of("team 12", table) is None
    True
    """
    name = model_name.casefold()
    behind = re.split("[/:]", name, maxsplit=1)[-1]
    for text in (behind, name):
        found = [
            (match.start(), -len(match.group()), family)
            for family, pattern in _patterns(_frozen(table))
            if (match := pattern.search(text))
        ]
        if found:
            return min(found)[2]
    return None


def same_model(judge: str, system: str) -> bool:
    """Whether a candidate's system names the very model that judges.

    Args:
        judge: `provider/model`.
        system: a model's name with a provider or without, or anything else.

    >>> same_model("openrouter/openai/gpt-5", "gpt-5"), same_model("ollama:qwen3:8b", "llama3:8b")
    (True, False)
    """
    full = re.sub("[/:]", "/", judge.casefold().strip(), count=1)
    behind = full.partition("/")[2] or full
    named = system.casefold().strip()
    forms = {named, re.sub("[/:]", "/", named, count=1), named.rpartition("/")[2]}
    return not forms.isdisjoint({full, behind, behind.rpartition("/")[2]} - {""})


class Kinship:
    """The families of a judge's members.

    Args:
        models: all that may judge; a `family` that a judge file states goes before the table.
        table: as `data/families.json` holds it.
    """

    def __init__(self, models: Sequence[ModelSpec], table: Families) -> None:
        self._table = table
        self.family: dict[str, str | None] = {
            model.model: model.family.casefold() if model.family else family_of(model.model, table) for model in models
        }
        self._systems: dict[str, str | None] = {}

    def shared(self, members: Sequence[str]) -> tuple[str, ...]:
        """Families to which more than one of these members belongs."""
        counts = Counter(family for member in members if (family := self.family.get(member)) is not None)
        return tuple(family for family, n in counts.items() if n > 1)

    def is_kin(self, member: str, system: str | None) -> bool:
        """Whether the candidate comes from the judge's own family."""
        family = self.family.get(member)
        if system is None or family is None:
            return False
        if system not in self._systems:
            self._systems[system] = family_of(system, self._table)
        return self._systems[system] == family or system.strip().casefold() == family


def _frozen(table: Families) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((family, tuple(patterns)) for family, patterns in table.items())


@lru_cache(maxsize=8)
def _patterns(table: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each family's patterns as one, at the beginning of a word."""
    made = []
    for family, patterns in table:
        try:
            made.append((family, re.compile(rf"(?<![a-z0-9])(?:{'|'.join(patterns)})")))
        except re.error as error:
            raise InvalidInput(f"families: {family!r} has a pattern that is none ({error}); correct it") from error
    return tuple(made)

"""What is said before a run about models that are kin: to each other in a panel, or to the candidates they judge."""

from collections import Counter
from collections.abc import Iterable

from evenhand.errors import InvalidInput
from evenhand.judges.families import Kinship, same_model
from evenhand.terms import Item, JudgeSpec
from evenhand.wording import count, plural

__all__ = ["kin_notes", "systems_of"]


def systems_of(item: Item) -> tuple[str, ...]:
    """Who gave the candidates of an item: one, or two in a pair, whose second stands in the metadata."""
    second = item.metadata.get("system_b") if "candidate_b" in item.sources else None
    return tuple(system for system in (item.system, second) if isinstance(system, str) and system)


def kin_notes(
    spec: JudgeSpec, items: Iterable[Item], kinship: Kinship, *, panel: bool, allow_self_judging: bool
) -> tuple[str, ...]:
    """Sentences for the user; every item's `system` is looked at, so that nothing is sent before it is known.

    Raises:
        InvalidInput: a model would judge its own candidate, and that was not allowed.
    """
    members = tuple(kinship.family)
    systems = Counter(system for item in items for system in systems_of(item))
    own = {member: [name for name in systems if same_model(member, name)] for member in members}
    if not allow_self_judging:
        _refuse_self(own, systems)
    notes = []
    deciding = [[model.model for model in spec.models]]
    if spec.escalate is not None:
        deciding.append([model.model for model in spec.escalate.to])
    for group in deciding if panel else []:
        notes += [_shared(family, group, kinship) for family in kinship.shared(group)]
    for member in members:
        n = sum(count for name, count in systems.items() if kinship.is_kin(member, name))
        if n:
            notes.append(
                f"{member} judges {count(n)} of {plural(systems.total(), 'candidate')} of its own "
                f"family ({kinship.family[member]}): "
                "judges tend to favour their kin; their records are flagged same_family"
            )
    return tuple(notes)


def _refuse_self(own: dict[str, list[str]], systems: Counter[str]) -> None:
    """Refuse a model that meets its own candidates."""
    for member, names in own.items():
        if names:
            raise InvalidInput(
                f"system: {plural(sum(systems[name] for name in names), 'candidate is', 'candidates are')} "
                f"by {names[0]!r}, which is the judge "
                f"{member} itself; judge them with another model, or use --allow-self-judging"
            )


def _shared(family: str, group: list[str], kinship: Kinship) -> str:
    names = [name for name in group if kinship.family.get(name) == family]
    return (
        f"{' and '.join(names)} are of one family ({family}): their agreement counts for less than that of strangers; "
        "set `family` in the judge file if that is not so"
    )

"""A rule's text to its tree; see docs/composites.md for the language."""

from collections.abc import Mapping, Sequence

from evenhand.composite.syntax import Rule

__all__ = ["parse_rule"]


def parse_rule(text: str, *, columns: Sequence[str] | None = None, aliases: Mapping[str, str] | None = None) -> Rule:
    """The rule that a text states.

    Args:
        columns: the table's; None leaves names unchecked.
        aliases: name in the rule to name of the column.
    Raises:
        InvalidInput: with the text, a caret below the character that is wrong, and what was expected.
    """
    raise NotImplementedError

"""The declared match relation of a configuration, and the comparison it stands for."""

from collections.abc import Callable
from typing import Any

from evenhand.matching.rules import ANSWER_KINDS, Match, MatchRule, Tolerance
from evenhand.store.documents import Value

__all__ = ["Matching", "match_rule", "matching", "rule_words"]

Matching = Callable[[str, str], Match]
"""(candidate, gold) to what the comparison gives."""

_BOUNDS = ("absolute", "relative", "decimals", "significant")


def match_rule(value: Value) -> MatchRule:
    """A match relation: the kind of answer as one word, or a mapping of the kind and its settings.

    Raises:
        InvalidInput: no such kind or setting, or one that does not belong to the kind.
    """
    from evenhand.matching.rule_fields import match_rule as of_mapping

    given = {"kind": value.choice(*ANSWER_KINDS)} if value.kind == "scalar" else _plain(value)
    line = "" if value.line is None else f" line {value.line}"
    return of_mapping(given, f"{value.file}{line}: {value.path}")


def matching(rule: MatchRule) -> Matching:
    """The comparison under a rule; expressions are left undecided where their comparer is not there."""
    from evenhand.matching.matches import match

    return lambda candidate, gold: match(candidate, gold, rule)


def rule_words(rule: MatchRule | None) -> str:
    """A rule in words for the report; "" where none is declared."""
    if rule is None:
        return ""
    bound = f", tolerance {_tolerance_words(rule.tolerance)}" if rule.tolerance else ""
    choices = f", choices {', '.join(rule.choices)}" if rule.choices else ""
    return f"{rule.kind}, read {rule.read}{bound}{choices}"


def _plain(value: Value) -> Any:
    """A value as plain data: numerals, true and false as such where they stood without quotation marks."""
    if value.kind == "mapping":
        return {key: _plain(inner) for key, inner in value.pairs}
    if value.kind == "list":
        return [_plain(element) for element in value.elements]
    if value.kind == "null":
        return None
    if value.is_number():
        return int(value.written) if value.written.lstrip("+-").isdigit() else value.written
    if not value.is_quoted and value.written.lower() in ("true", "false"):
        return value.written.lower() == "true"
    return value.written


def _tolerance_words(tolerance: Tolerance) -> str:
    found = ((name, getattr(tolerance, name)) for name in _BOUNDS)
    return ", ".join(f"{name} {bound}" for name, bound in found if bound is not None)

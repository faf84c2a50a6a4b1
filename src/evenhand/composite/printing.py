"""A rule printed back: normal form (parses to the same rule), LaTeX, and plain data for pages."""

from collections.abc import Mapping
from typing import Any

from evenhand.composite.syntax import Node, Rule

__all__ = ["latex", "printed", "tree"]


def printed(rule: "Rule | Node") -> str:
    """The normal form: `parse_rule(printed(rule)) == rule`."""
    raise NotImplementedError


def latex(rule: "Rule | Node") -> str:
    """The rule as LaTeX mathematics, without dollar signs; names are escaped."""
    raise NotImplementedError


def tree(rule: "Rule | Node") -> Mapping[str, Any]:
    """The rule as nested mappings with `kind`, for JSON and for pages that evaluate it."""
    raise NotImplementedError

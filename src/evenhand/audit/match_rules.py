"""The declared match relation of a configuration, and the comparison it stands for."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.matching.rules import ANSWER_KINDS, Expressions, Match, MatchRule, Tolerance
from evenhand.store.documents import Value

if TYPE_CHECKING:
    pass

__all__ = ["Matchers", "Matching", "match_rule", "rule_words"]

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


class Matchers:
    """The comparisons of an audit, with one process for formulas behind them all where math-verify is installed.

    Use it as a context manager. Without math-verify formulas are left undecided, and `without` says why.
    """

    def __init__(self) -> None:
        from evenhand.sandbox.math_worker import MathWorker

        self.without = ""
        self._worker: MathWorker | None = None
        try:
            self._worker = MathWorker()
        except InvalidInput as error:
            self.without = str(error)

    def of(self, rule: MatchRule) -> Matching:
        """The comparison under a rule."""
        from evenhand.matching.matches import match

        return lambda candidate, gold: match(candidate, gold, rule, expressions=self.same)

    @property
    def same(self) -> Expressions | None:
        """The comparer of formulas; None where there is none."""
        return None if self._worker is None else self._worker.same

    def __enter__(self) -> "Matchers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.close()


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

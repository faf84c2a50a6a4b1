"""The matchers' own controls, run with the audit and shown: pairs whose answer is known, for each declared kind."""

from collections.abc import Sequence
from typing import Any

from evenhand.audit.match_rules import Matchers, rule_words
from evenhand.integrity.shares import Share
from evenhand.matching.controls import ControlCount, ControlFailure, KindControls, run_controls
from evenhand.matching.rules import MatchRule

__all__ = ["matcher_controls"]

_SHOWN = 8


def matcher_controls(rules: Sequence[MatchRule], matchers: Matchers) -> dict[str, Any]:
    """How the matchers of the declared kinds treat their known pairs, as `--json` prints it."""
    kinds = list(dict.fromkeys(rule.kind for rule in rules))
    return {
        "declared": list(dict.fromkeys(rule_words(rule) for rule in rules)),
        "without_comparer": matchers.without or None,
        "kinds": [_document(found) for found in run_controls(kinds, expressions=matchers.same)],
    }


def _document(found: KindControls) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "equal_accepted": _share(found.equal),
        "unequal_accepted": _share(found.unequal),
        "no_answer_accepted": _share(found.no_answer),
        "undecided": found.equal.n_undecided + found.unequal.n_undecided + found.no_answer.n_undecided,
        "n_failures": len(found.failures),
        "failures": [_failure(one) for one in found.failures[:_SHOWN]],
    }


def _share(count: ControlCount) -> dict[str, Any]:
    return dict(Share(successes=count.n_accepted, n=count.n).document())


def _failure(one: ControlFailure) -> dict[str, str]:
    return {
        "candidate": one.pair.candidate,
        "gold": one.pair.gold,
        "expected": one.pair.expected,
        "got": one.found.verdict,
        "reason": one.found.reason,
    }

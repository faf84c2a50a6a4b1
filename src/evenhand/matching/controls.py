"""Checking a matcher with pairs whose answer is known, before anything is concluded from its verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.matching.control_pairs import EQUAL, NO_ANSWER, UNEQUAL, Pair
from evenhand.matching.matches import match
from evenhand.matching.rule_fields import match_rule
from evenhand.matching.rules import ANSWER_KINDS, AnswerKind, Expressions, Match, MatchRule, MatchVerdict

__all__ = ["ControlCount", "ControlFailure", "ControlPair", "KindControls", "control_pairs", "run_controls"]

_SORTS: Mapping[MatchVerdict, Mapping[AnswerKind, Sequence[Pair]]] = {
    "equal": EQUAL,
    "unequal": UNEQUAL,
    "no_answer": NO_ANSWER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPair:
    """One pair and what is known of it: `expected` is `equal`, `unequal` or `no_answer`."""

    candidate: str
    gold: str
    rule: MatchRule
    expected: MatchVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCount:
    """How one sort of control pairs came out.

    Args:
        n: pairs.
        n_accepted: of them matched as equal.
        n_undecided: of them left to a model or a comparer; they are not accepted.
    """

    n: int
    n_accepted: int
    n_undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFailure:
    """A pair that came out other than it should."""

    pair: ControlPair
    found: Match


@dataclass(frozen=True, slots=True, kw_only=True)
class KindControls:
    """The controls of one kind.

    Args:
        kind: of answers.
        equal: pairs that are the same answer; all should be accepted.
        unequal: pairs that are not; none should be.
        no_answer: pairs whose candidate answers nothing; none should be accepted.
        failures: equal pairs that were rejected or left undecided, others that were accepted, and answers that were
            found where there is none.
    """

    kind: AnswerKind
    equal: ControlCount
    unequal: ControlCount
    no_answer: ControlCount
    failures: tuple[ControlFailure, ...]


def control_pairs(kind: AnswerKind) -> tuple[ControlPair, ...]:
    """The known pairs of a kind: equal ones first, then unequal ones, then those without an answer."""
    return tuple(
        ControlPair(candidate=pair[0], gold=pair[1], rule=_rule(kind, pair), expected=expected)
        for expected, kinds in _SORTS.items()
        for pair in kinds[kind]
    )


def run_controls(
    kinds: Sequence[AnswerKind] = ANSWER_KINDS, *, expressions: Expressions | None = None
) -> tuple[KindControls, ...]:
    """How the matchers treat the known pairs, kind by kind; intervals are for the caller to add.

    Args:
        kinds: which matchers to check.
        expressions: the comparer of formulas; without one, pairs that need it are undecided, and said to be.

        >>> [count] = run_controls(["choice"])
        >>> (count.equal.n_accepted, count.equal.n), count.unequal.n_accepted, count.failures
        ((21, 21), 0, ())
    """
    return tuple(_checked(kind, expressions) for kind in kinds)


def _rule(kind: AnswerKind, pair: Pair) -> MatchRule:
    fields = pair[2] if len(pair) == 3 else {}
    return match_rule({"kind": kind, **fields}, "the control pairs")


def _checked(kind: AnswerKind, expressions: Expressions | None) -> KindControls:
    found = [
        (pair, match(pair.candidate, pair.gold, pair.rule, expressions=expressions)) for pair in control_pairs(kind)
    ]
    failures = tuple(ControlFailure(pair=pair, found=one) for pair, one in found if not _as_expected(pair, one))
    return KindControls(
        kind=kind,
        equal=_count(found, "equal"),
        unequal=_count(found, "unequal"),
        no_answer=_count(found, "no_answer"),
        failures=failures,
    )


def _as_expected(pair: ControlPair, found: Match) -> bool:
    """Short texts that differ may be left to a model; nothing else may be undecided."""
    if pair.rule.kind == "short_text" and pair.expected == "unequal":
        return found.verdict in ("unequal", "undecided")
    return found.verdict == pair.expected


def _count(found: Sequence[tuple[ControlPair, Match]], expected: MatchVerdict) -> ControlCount:
    of_sort = [one for pair, one in found if pair.expected == expected]
    return ControlCount(
        n=len(of_sort),
        n_accepted=sum(one.verdict == "equal" for one in of_sort),
        n_undecided=sum(one.verdict == "undecided" for one in of_sort),
    )

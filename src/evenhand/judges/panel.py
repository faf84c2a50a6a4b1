"""Several members' outcomes on one item and rerun, combined by rule into the panel's own.

    checklist, anchored   majority   a check or level stands if more than half of the declared members say so
    number, evidence      median     of the members' scores as shown; the mean where two stand in the middle
    evidence, `pool`      pool       the members' items in one pool, near-duplicates counted once

The size is the declared one: a member that failed or abstained counts in it and votes for nothing, so that losing a
member can cost a majority its verdict but never turn it. Where more than half agree on nothing, the panel abstains; it
never picks. An undecided check is passed over only where its criterion has the same score whichever way it falls.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evenhand.errors import InvalidInput
from evenhand.judges.medians import Median, is_far
from evenhand.scoring.checklist import Checklist
from evenhand.scoring.scored import Scored
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import (
    Check,
    CheckGroup,
    CheckResult,
    Criterion,
    CriterionVerdict,
    Evidence,
    JudgeSpec,
    Outcome,
    Verdict,
)

__all__ = ["DEFAULT_LIKENESS", "Combined", "Merge", "Panel", "Rule", "Seat", "panel_rule", "refuse_panel", "vote"]

Rule = Literal["majority", "median", "pool"]
Merge = Callable[[Sequence[Evidence], float], Sequence[Evidence]]

DEFAULT_LIKENESS = 0.9
"""Likeness from which two members' claims count once in a pool, where the judge file states none."""

_RULES: Mapping[str, Rule] = {
    "checklist": "majority",
    "anchored": "majority",
    "number": "median",
    "evidence": "median",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One declared member and what it came to; `scored` is its verdict's score, None without a verdict."""

    member: str
    outcome: Outcome
    scored: Scored | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """What a panel came to.

    Args:
        verdict: its findings; an undecided check has `passed` None, an undecided criterion no level.
        scored: their score, or why the panel abstains.
        dissent: who said what else: `member`, `criterion`, `check` where there is one, and `said`.
        votes: criterion to check (or, for levels, to "level") to how many said what.
    """

    verdict: Verdict
    scored: Scored
    dissent: tuple[Mapping[str, Any], ...] = ()
    votes: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)


def panel_rule(spec: JudgeSpec) -> Rule | None:
    """The rule by which members of this judge are combined; None for a protocol that has none.

    >>> panel_rule(JudgeSpec(name="j", protocol="checklist", models=()))
    'majority'
    """
    return "pool" if spec.protocol == "evidence" and spec.pool else _RULES.get(spec.protocol)


def refuse_panel(spec: JudgeSpec, n_members: int, *, where: str = "models") -> None:
    """Refuse two members that must decide by majority: neither can outvote the other.

    Args:
        where: the field that names the members.
    Raises:
        InvalidInput: two members, and the rule is a majority.
    """
    if n_members == 2 and panel_rule(spec) == "majority":
        raise InvalidInput(
            f"judge {spec.name}: {where} names two members, a panel of two, and {spec.protocol} decides by strict "
            "majority, so that every dissent is a tie; name one or three, ask a second one only where the first is "
            "unsure (`escalate`), or use --no-panel to judge with each apart"
        )


def vote(result: CheckResult) -> str:
    """How a check's answer counts: `yes`, `no` or `na`; a yes without its required quote is a no, as in every score.

    >>> vote(CheckResult(id="a", passed=True)), vote(CheckResult(id="a", passed=True, counted=False))
    ('yes', 'no')
    """
    if result.passed is None:
        return "na"
    return "yes" if result.passed and result.counted else "no"


class Panel:
    """The members of one judge, ready to be combined item by item.

    Args:
        spec: the judge.
        size: declared members.
        scorer: the judge's formulas.
        merge: for `pool`: items and likeness to the same items with near-duplicates counted once.
    Raises:
        InvalidInput: a protocol without a panel rule, or a pool without `merge`.
    """

    def __init__(self, spec: JudgeSpec, size: int, scorer: VerdictScorer, *, merge: Merge | None = None) -> None:
        rule = panel_rule(spec)
        if rule is None:
            raise InvalidInput(
                f"judge {spec.name}: {spec.protocol} has no panel rule; name one model, or use --no-panel"
            )
        if rule == "pool" and merge is None:
            raise InvalidInput("Panel: `pool` counts near-duplicates once; hand in `merge`")
        self.rule: Rule = rule
        self.size = size
        self._spec = spec
        self._scorer = scorer
        self._merge = merge
        self._median = Median(spec, size) if rule == "median" else None
        self._checklists = [Checklist(criterion) for criterion in spec.criteria] if spec.protocol == "checklist" else []

    def combine(self, seats: Sequence[Seat]) -> Combined:
        """The panel's outcome on one item and rerun.

        Args:
            seats: one for each declared member, in the declared order, on which only the choice of the quotation that
                is shown depends.
        """
        if len(seats) != self.size:
            raise InvalidInput(f"Panel: {len(seats)} outcomes came for {self.size} declared members; expected one each")
        verdicts = [(seat.member, seat.outcome) for seat in seats if isinstance(seat.outcome, Verdict)]
        if self._median is not None:
            return self._median_of(self._median, seats)
        if self.rule == "pool":
            return self._pool(verdicts)
        return self._majority(verdicts)

    # --- majority ------------------------------------------------------------------------------------------------

    def _majority(self, verdicts: Sequence[tuple[str, Verdict]]) -> Combined:
        """Each criterion decided by itself; the score of what stands, or what stayed undecided."""
        decide = self._checks if self._spec.protocol == "checklist" else self._level
        decided = [
            decide(place, criterion, [(member, verdict.criteria[place]) for member, verdict in verdicts])
            for place, criterion in enumerate(self._spec.criteria)
        ]
        scored = self._scorer.score(Verdict(criteria=tuple(part.filled for part in decided)))
        return Combined(
            verdict=Verdict(criteria=tuple(part.found for part in decided)),
            scored=_without_undecided(scored, decided, self._short(len(verdicts))),
            dissent=tuple(entry for part in decided for entry in part.dissent),
            votes={part.found.id: part.votes for part in decided},
        )

    def _checks(self, place: int, criterion: Criterion, found: Sequence[tuple[str, CriterionVerdict]]) -> "_Decided":
        """A criterion's checks, each by strict majority."""
        results: list[CheckResult] = []
        dissent: list[Mapping[str, Any]] = []
        votes: dict[str, Mapping[str, int]] = {}
        for number, (check, _) in enumerate(_weighted(criterion)):
            answers = [(member, own.checks[number]) for member, own in found]
            said = [(member, vote(answer)) for member, answer in answers]
            winner = _strict_majority((vote for _, vote in said), self.size)
            results.append(_result(check.id, winner, [answer for _, answer in answers]))
            votes[check.id] = _counts(said)
            dissent += _dissent(said, winner, criterion.id, check=check.id)
        undecided = [name for name in votes if _undecided(name, votes[name], self.size)]
        fills = [_filled(criterion, results, undecided, how) for how in ("lowest", "highest", "na")]
        scores = {self._checklists[place].score(fill).exact for fill in fills} if undecided else set()
        return _Decided(
            found=CriterionVerdict(id=criterion.id, checks=tuple(results)),
            filled=CriterionVerdict(id=criterion.id, checks=fills[0]),
            undecided=tuple(self._tie(name, votes[name]) for name in undecided) if len(scores) > 1 else (),
            dissent=tuple(dissent),
            votes=votes,
        )

    def _level(self, place: int, criterion: Criterion, found: Sequence[tuple[str, CriterionVerdict]]) -> "_Decided":
        """A criterion's level by strict majority, with the reason and quotation of its first member."""
        said = [(member, own.level) for member, own in found]
        winner = _strict_majority((level for _, level in said), self.size)
        first = next((own for _, own in found if own.level == winner), None)
        counts = _counts(said)
        return _Decided(
            found=CriterionVerdict(id=criterion.id) if first is None else first,
            filled=CriterionVerdict(id=criterion.id, level=min(criterion.level_texts)) if first is None else first,
            undecided=() if first is not None else (self._tie("level", counts),),
            dissent=tuple(_dissent(said, winner, criterion.id)),
            votes={"level": counts},
        )

    def _tie(self, name: str, counts: Mapping[str, int]) -> str:
        """What stayed undecided, and how it stood."""
        stood = [f"{n} {said}" for said, n in counts.items()]
        silent = self.size - sum(counts.values())
        return f"{name} ({', '.join([*stood, *([f'{silent} without a verdict'] if silent else [])])})"

    def _short(self, n: int) -> str | None:
        """Why so few verdicts decide nothing; None where they may."""
        if 2 * n > self.size:
            return None
        return f"short panel: {n} of {self.size} declared members gave a verdict, and more than half must"

    # --- median and pool -----------------------------------------------------------------------------------------

    def _median_of(self, median: Median, seats: Sequence[Seat]) -> Combined:
        """The members' median, without a score where too few have one; fatal findings hold either way."""
        verdicts = [seat.outcome for seat in seats if isinstance(seat.outcome, Verdict)]
        scored = [(seat.member, seat.scored) for seat in seats if seat.scored and seat.scored.exact is not None]
        short = self._short(len(scored))
        if short is not None:
            made = _nothing(short)
            return replace(made, scored=median.broken(made.scored, verdicts))
        middle = median.of([part for _, part in scored])
        return Combined(
            verdict=Verdict(criteria=tuple(CriterionVerdict(id=made.id) for made in middle.criteria)),
            scored=median.broken(middle, verdicts),
            dissent=tuple(_far(scored, middle)),
        )

    def _pool(self, verdicts: Sequence[tuple[str, Verdict]]) -> Combined:
        """All members' items in one pool a criterion; `pass_name` says whose they are."""
        short = self._short(len(verdicts))
        if short is not None or self._merge is None:
            return _nothing(short or "")
        likeness = DEFAULT_LIKENESS if self._spec.near_duplicate is None else self._spec.near_duplicate
        items = [_owned(item, member) for member, verdict in verdicts for own in verdict.criteria for item in own.items]
        names = [own.id for own in verdicts[0][1].criteria]
        merged = self._merge(items, likeness)
        pools = tuple(
            CriterionVerdict(id=name, items=tuple(item for item in merged if (item.criterion or name) == name))
            for name in names
        )
        verdict = Verdict(criteria=pools)
        return Combined(verdict=verdict, scored=self._scorer.score(verdict))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    """One criterion of a majority: as it stands, with gaps filled so that it can be scored, and what is open."""

    found: CriterionVerdict
    filled: CriterionVerdict
    undecided: tuple[str, ...]
    dissent: tuple[Mapping[str, Any], ...]
    votes: Mapping[str, Mapping[str, int]]


def _strict_majority(said: Iterable[Any], size: int) -> Any:
    """What more than half of the declared members say, or None."""
    return next((what for what, n in Counter(said).items() if 2 * n > size and what is not None), None)


def _undecided(name: str, counts: Mapping[str, int], size: int) -> bool:
    return not any(2 * n > size for n in counts.values())


def _counts(said: Iterable[tuple[str, Any]]) -> dict[str, int]:
    """How many said what, in one order whatever that of the members."""
    return {
        str(what): n for what, n in sorted(Counter(what for _, what in said).items(), key=lambda pair: str(pair[0]))
    }


def _dissent(said: Iterable[tuple[str, Any]], winner: Any, criterion: str, **check: str) -> Iterator[dict[str, Any]]:
    """Everyone who said something else; where nothing won, everyone."""
    for member, what in said:
        if what != winner:
            yield {"member": member, "criterion": criterion, **check, "said": what}


def _result(name: str, winner: str | None, answers: Sequence[CheckResult]) -> CheckResult:
    """The panel's answer to one check; a yes with the counted quotation of the first member that gave one."""
    if winner == "yes":
        return replace(next(answer for answer in answers if vote(answer) == "yes"), probability=None, mass=None)
    return CheckResult(id=name, passed=False if winner == "no" else None)


def _weighted(criterion: Criterion) -> list[tuple[Check, bool]]:
    """Every check, and whether passing it adds."""
    return [
        (check, entry.weight >= 0)
        for entry in criterion.checks
        for check in (entry.any_of if isinstance(entry, CheckGroup) else (entry,))
    ]


def _filled(
    criterion: Criterion, results: Sequence[CheckResult], undecided: Sequence[str], how: str
) -> tuple[CheckResult, ...]:
    """The results with the undecided ones such that the score is the lowest, or the highest, or as few as may apply.

    All other ways of falling give a score between the first two, or none where the third gives none.
    """
    made = []
    for (check, adds), result in zip(_weighted(criterion), results, strict=True):
        if result.id in undecided:
            passed = None if how == "na" and check.na else adds is (how == "highest")
            result = replace(result, passed=passed)
        made.append(result)
    return tuple(made)


def _without_undecided(scored: Scored, decided: Sequence[_Decided], short: str | None) -> Scored:
    """A score without the criteria that stayed undecided, which leave the panel without a verdict."""
    open_ = {part.found.id: part.undecided for part in decided if part.undecided}
    if not open_:
        return scored
    criteria = tuple(replace(own, score=None, exact=None) if own.id in open_ else own for own in scored.criteria)
    reasons = [f"criterion {name!r}: no strict majority on {', '.join(names)}" for name, names in open_.items()]
    return replace(scored, score=None, exact=None, criteria=criteria, abstained=short or "; ".join(reasons))


def _nothing(reason: str) -> Combined:
    """A panel that abstains without a finding."""
    return Combined(
        verdict=Verdict(criteria=()), scored=Scored(score=None, exact=None, scale=(0, 0), criteria=(), abstained=reason)
    )


def _far(scored: Iterable[tuple[str, Scored]], middle: Scored) -> Iterator[dict[str, Any]]:
    """The members whose score says something else than the median."""
    for member, part in scored:
        if part.score is not None and middle.score is not None and is_far(part.score, middle.score, middle.scale):
            yield {"member": member, "said": part.score}


def _owned(item: Evidence, member: str) -> Evidence:
    """An item that says which member found it, besides its pass."""
    return replace(item, pass_name=member if item.pass_name is None else f"{member}: {item.pass_name}")

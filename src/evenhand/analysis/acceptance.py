"""Judges that accept or reject, held against what is known to be right: false positives, and what would explain them.

    acceptance(runs, truth, gold, bootstrap)    one `Acceptance` a variant and member

A candidate counts as accepted if most reruns with a verdict accept it; a tie is no verdict. The judge's own solve
accuracy comes from blind commitments by the same model with the same settings, its own or another variant's: an answer
given with the candidate in view may have been anchored by it, and is no solve.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.analysis.best_of import BestOf, best_of
from evenhand.integrity.solving import Judged, SolveFigures, solve_figures
from evenhand.stats.estimates import Estimate
from evenhand.stats.resampling import Bootstrap, Units, draw
from evenhand.terms import JudgeSpec, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Acceptance", "Gold", "Run", "acceptance", "accepts_or_rejects"]

_LABELS = {"accepted": True, "rejected": False}
_NO_BLIND = "no blind solves by this model with these settings: add a variant with protocol: commit, mode: blind"
_NO_REFERENCE = "no item has a reference that code could hold the judge's own answers against"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One variant of a study: the judge and its records."""

    spec: JudgeSpec
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What one variant's verdicts are worth where the truth is known.

    Attributes:
        variant: its name, with the member's where there are several.
        protocol: of the judge.
        mode: `blind` or `visible` for a commit judge; "" for others.
        accepted_right: share accepted of right candidates.
        discrimination: that minus the false-positive rate, in [-1, 1]; 0 is no better than chance.
        solving: the false-positive rate, the judge's own solve accuracy, the bound it sets, and the excess over it.
        solves_from: the variant whose blind commitments they are; "" where there are none.
        own_accuracy: share of right commitments of this variant's own, whatever was in view.
        no_verdict: items with a known truth that have no verdict.
        unknown_truth: judged items whose truth is not known.
        best_of: what picking an accepted candidate of several gives; empty where no question has several.
    """

    variant: str
    protocol: str
    mode: str
    accepted_right: Estimate
    discrimination: Estimate
    solving: SolveFigures
    solves_from: str
    own_accuracy: Estimate
    no_verdict: int
    unknown_truth: int
    best_of: tuple[BestOf, ...] = ()

    def document(self) -> dict[str, Any]:
        """As `study --json` prints it."""
        return {
            "variant": self.variant,
            "protocol": self.protocol,
            "mode": self.mode or None,
            "accepted_right": self.accepted_right.document(),
            "discrimination": self.discrimination.document(),
            **self.solving.document(),
            "solves_from": self.solves_from or None,
            "own_accuracy": self.own_accuracy.document(),
            "no_verdict": self.no_verdict,
            "unknown_truth": self.unknown_truth,
            "best_of": [one.document() for one in self.best_of],
        }


Gold = Callable[[str, str], bool | None]
"""(item, answer) to whether the answer is right by the item's reference; None where there is none, or it is open."""


def accepts_or_rejects(records: Sequence[Record]) -> bool:
    """Whether a judge's verdicts are acceptances: all are 0 or 1 on the scale 0 to 1."""
    scored = [record for record in records if record.status == "verdict"]
    return bool(_own_entries(records)) or (
        bool(scored) and all(tuple(record.scale or ()) == (0, 1) and record.score in (0, 1) for record in scored)
    )


def acceptance(
    runs: Sequence[Run],
    truth: Mapping[str, bool],
    gold: Mapping[str, Gold],
    bootstrap: Bootstrap,
    questions: Mapping[str, str] | None = None,
) -> tuple[Acceptance, ...]:
    """Every variant that accepts or rejects, in order, each member by itself.

    Args:
        runs: the variants.
        truth: item to whether its candidate is right; what is not there is not known.
        gold: commit variant to what tells whether an answer of the judge's own is right.
        bootstrap: how intervals are drawn, over items.
        questions: item to the question that it answers, for the best of several candidates.
    """
    solves = {
        (run.spec.name, member): _solves(records, gold[run.spec.name])
        for run in runs
        if run.spec.name in gold
        for member, records in _members(run)
    }
    made = []
    for run in runs:
        if not accepts_or_rejects(run.records):
            continue
        members = list(_members(run))
        for member, records in members:
            name = run.spec.name if len(members) == 1 else f"{run.spec.name} by {member}"
            source = _solver(run, member, runs)
            own = gold.get(run.spec.name, _unknown)
            one = _one(name, run.spec, records, truth, solves.get((source, member), {}), source, own, bootstrap)
            made.append(replace(one, best_of=_best_of(records, truth, questions or {}, bootstrap)))
    return tuple(made)


def _unknown(item: str, answer: str) -> None:
    """No answer of the judge's own is known to be right."""


def _one(
    name: str, spec: JudgeSpec, records: Sequence[Record], truth: Mapping[str, bool],
    solves: Mapping[str, tuple[bool, ...]], source: str, gold: Gold, bootstrap: Bootstrap,
) -> Acceptance:  # fmt: skip
    accepted = _accepted(records)
    items = list(dict.fromkeys(record.item for record in records))
    known = [item for item in items if item in truth]
    decided = [(float(accepted[item] or 0), float(truth[item])) for item in known if accepted[item] is not None]
    right = [given for given, is_right in decided if is_right]
    judged = [
        Judged(
            item=item,
            solves=solves.get(item, ()),
            wrong=None if item not in truth else not truth[item],
            accepted=accepted[item],
        )
        for item in items
    ]
    own = {item: found for item, found in _solves(records, gold, any_mode=True).items() if found}
    figures = solve_figures(judged, bootstrap)
    return Acceptance(
        variant=name,
        protocol=spec.protocol,
        mode="" if spec.commit is None else spec.commit.mode,
        accepted_right=_mean(right, bootstrap, "no right candidate has a verdict"),
        discrimination=_discrimination(decided, bootstrap),
        solving=figures if any(solves.values()) else _without_solves(figures, source),
        solves_from=source if any(solves.values()) else "",
        own_accuracy=_mean([sum(found) / len(found) for found in own.values()], bootstrap, "it commits to no answer"),
        no_verdict=len(known) - len(decided),
        unknown_truth=len(items) - len(known),
    )


def _members(run: Run) -> Iterator[tuple[str, list[Record]]]:
    """Each member with its records; combined records rest on these and are left out."""
    of: dict[str, list[Record]] = defaultdict(list)
    for record in run.records:
        if record.member is not None:
            of[record.member].append(record)
    yield from of.items()


def _solver(run: Run, member: str, runs: Sequence[Run]) -> str:
    """The variant whose blind commitments are this judge's solves: itself, or the first with the same settings."""

    def fits(other: Run) -> bool:
        commit = other.spec.commit
        same = (other.spec.temperature, other.spec.max_tokens) == (run.spec.temperature, run.spec.max_tokens)
        asked = any(record.member == member for record in other.records)
        return commit is not None and commit.mode == "blind" and same and asked

    return next((other.spec.name for other in (run, *runs) if fits(other)), "")


def _accepted(records: Sequence[Record]) -> dict[str, bool | None]:
    """Item to what most of its verdicts say."""
    votes: dict[str, list[int]] = {}
    for record in records:
        of_item = votes.setdefault(record.item, [])
        if record.status == "verdict" and record.score in (0, 1):
            of_item.append(1 if record.score == 1 else -1)
    return {item: None if not sum(given) else sum(given) > 0 for item, given in votes.items()}


def _best_of(
    records: Sequence[Record], truth: Mapping[str, bool], questions: Mapping[str, str], bootstrap: Bootstrap
) -> tuple[BestOf, ...]:
    of: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for item, given in _accepted(records).items():
        if given is not None and item in truth and item in questions:
            of[questions[item]].append((given, truth[item]))
    return best_of(list(of.values()), bootstrap)


def _own_entries(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    return [own for record in records if record.criteria and (own := record.criteria[0].get("own"))]


def _solves(records: Sequence[Record], gold: Gold, *, any_mode: bool = False) -> dict[str, tuple[bool, ...]]:
    """Item to which of the judge's own answers were right; one that could not be read is not right."""
    found: dict[str, list[bool]] = {}
    for record in records:
        for own in _own_entries([record]):
            if not any_mode and own["mode"] != "blind":
                continue
            said = [gold(record.item, str(one["answer"])) for one in own["commitments"]]
            if any(one is None for one in said) or (not said and gold(record.item, "") is None):
                continue
            found.setdefault(record.item, []).extend([*(bool(one) for one in said), *([False] * len(own["lost"]))])
    return {item: tuple(solves) for item, solves in found.items()}


def _without_solves(figures: SolveFigures, source: str) -> SolveFigures:
    """The same with the reason that a study can mend."""
    nothing = Estimate.of_nothing(_NO_REFERENCE if source else _NO_BLIND, n=0)
    return replace(figures, solve_accuracy=nothing, solve_accuracy_on_wrong=nothing, bound=nothing, excess=nothing)


def _mean(values: Sequence[float], bootstrap: Bootstrap, undefined: str) -> Estimate:
    """A share over items, with Wilson's interval where every value is 0 or 1."""
    if not values:
        return Estimate.of_nothing(undefined, n=0)
    from evenhand.stats.pass_rates import share

    if all(value in (0, 1) for value in values):
        return share(int(sum(values)), len(values), undefined)
    import numpy as np

    data = np.array(values)[:, None]
    units = Units.of(data, bootstrap)
    column = data[units.rows, 0]
    return draw(lambda weights: weights @ column / weights.sum(axis=1), units, bootstrap).estimate(float(data.mean()))


def _discrimination(decided: Sequence[tuple[float, float]], bootstrap: Bootstrap) -> Estimate:
    """Acceptance of right minus acceptance of wrong candidates, items drawn together."""
    if len({is_right for _, is_right in decided}) < 2:
        which = "right" if not any(is_right for _, is_right in decided) else "wrong"
        return Estimate.of_nothing(f"no {which} candidate has a verdict", n=len(decided))
    import numpy as np

    data = np.array(decided)
    ends = [data[data[:, 1] == side, 0] for side in (1.0, 0.0)]
    if all(len(set(end)) == 1 for end in ends):
        return _of_constants(*[(int(end.sum()), len(end)) for end in ends])
    units = Units.of(data, bootstrap)
    given, right = data[units.rows, 0], data[units.rows, 1]

    def kernel(weights: "Floats") -> "Floats":
        n_right, n_wrong = weights @ right, weights @ (1.0 - right)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = weights @ (given * right) / n_right - weights @ (given * (1.0 - right)) / n_wrong
        return found

    value = data[data[:, 1] == 1, 0].mean() - data[data[:, 1] == 0, 0].mean()
    return draw(kernel, units, bootstrap).estimate(float(value))


def _of_constants(right: tuple[int, int], wrong: tuple[int, int]) -> Estimate:
    """The difference of two shares that are 0 or 1 each, of which no resample says how far they hold.

    Args:
        right: (accepted, n) of the right candidates.
        wrong: the same of the wrong ones.
    Source: Newcombe (1998), Statistics in Medicine 17, 873-890, method 10: Wilson's intervals, squared and added.
    """
    from evenhand.stats.intervals import wilson_interval

    (low, high), (wrong_low, wrong_high) = wilson_interval(*right), wilson_interval(*wrong)
    first, second = right[0] / right[1], wrong[0] / wrong[1]
    return Estimate(
        value=first - second,
        low=first - second - math.hypot(first - low, wrong_high - second),
        high=first - second + math.hypot(high - first, second - wrong_low),
        n=right[1] + wrong[1],
        method="Newcombe interval of two shares",
    )

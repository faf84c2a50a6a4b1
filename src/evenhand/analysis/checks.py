"""Which check is broken: each check of a checklist against the humans, and how often it alone explains a miss.

A check is right about an item where it passes one that the humans put in the upper part of their scale, or fails one
of the lower part. The first judgement of each item counts, so that n counts items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evenhand.analysis.graded import Graded
from evenhand.errors import InvalidInput
from evenhand.scoring.checklist import Checklist
from evenhand.stats.estimates import Estimate
from evenhand.stats.pass_rates import share
from evenhand.stats.rank import spearman
from evenhand.terms import Check, CheckResult, Criterion, JudgeSpec

__all__ = ["CheckAgreement", "check_agreement"]

_MISS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAgreement:
    """One check against the humans.

    Attributes:
        criterion: of which criterion.
        check: its id.
        n: items whose first judgement answered it.
        n_passed: passes that count.
        sensitivity: share of the items that the humans rate high which it passes.
        specificity: share of the others that it fails.
        rho: its rank correlation with the humans' grades.
        explains: of the misses of a level or more, the share that would be none had this check alone gone the other
            way.
    """

    criterion: str
    check: str
    n: int
    n_passed: int
    sensitivity: Estimate
    specificity: Estimate
    rho: Estimate
    explains: Estimate

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {
            "criterion": self.criterion,
            "check": self.check,
            "n": self.n,
            "n_passed": self.n_passed,
            **{name: getattr(self, name).document() for name in ("sensitivity", "specificity", "rho", "explains")},
        }


def check_agreement(
    graded: Graded, *, high_from: float, specs: Mapping[str, JudgeSpec] | None = None, criterion: str | None = None
) -> tuple[CheckAgreement, ...]:
    """Each check of the judge, in the judge's order; empty where it has none.

    Args:
        high_from: the human grade from which an item counts as high.
        specs: judges by hash, whose weights and groups are needed to say what one check would have changed. Without
            them equal weights are tried, and used only if they reproduce every score.
        criterion: only this criterion's.
    """
    rows = _rows(graded, criterion)
    if not rows:
        return ()
    order = dict.fromkeys((one, check["id"]) for _, found in rows for one, entry in found for check in entry["checks"])
    flipped = _Flipped(graded, rows, specs or {})
    return tuple(_one(graded, rows, one, str(check), high_from, flipped) for one, check in order)


_Row = tuple[int, list[tuple[str, Mapping[str, Any]]]]


def _rows(graded: Graded, criterion: str | None) -> list[_Row]:
    """(place of the item, its criteria that have checks), for each item with a record."""
    found = []
    for place, item in enumerate(graded.items):
        records = graded.judge.records.get(item)
        entries = [] if not records else [
            (str(one["id"]), one)
            for one in records[0].criteria
            if one.get("checks") and criterion in (None, one.get("id"))
        ]  # fmt: skip
        if entries:
            found.append((place, entries))
    return found


def _one(
    graded: Graded, rows: Sequence[_Row], criterion: str, check: str, high_from: float, flipped: "_Flipped"
) -> CheckAgreement:
    """One check."""
    human = graded.human_mean
    answers = [
        (place, bool(result["passed"]) and bool(result.get("counted", True)))
        for place, entries in rows
        for name, entry in entries
        for result in entry["checks"]
        if name == criterion and result["id"] == check and result.get("passed") is not None
    ]
    high = [passed for place, passed in answers if human[place] >= high_from]
    low = [passed for place, passed in answers if human[place] < high_from]
    rho = spearman(
        [float(passed) for _, passed in answers],
        [human[place] for place, _ in answers],
        names=("the check", "the humans"),
    )
    return CheckAgreement(
        criterion=criterion,
        check=check,
        n=len(answers),
        n_passed=sum(passed for _, passed in answers),
        sensitivity=share(sum(high), len(high), f"no item is graded {high_from:g} or more"),
        specificity=share(len(low) - sum(low), len(low), f"no item is graded below {high_from:g}"),
        rho=rho,
        explains=flipped.explained(criterion, check),
    )


class _Flipped:
    """What each item's score would be had one check gone the other way."""

    def __init__(self, graded: Graded, rows: Sequence[_Row], specs: Mapping[str, JudgeSpec]) -> None:
        self._graded = graded
        self._rows = rows
        self._scorers: dict[tuple[str, str], Checklist] = {}
        self._why = self._prepare(specs)

    def explained(self, criterion: str, check: str) -> Estimate:
        """The share of misses that this check alone explains."""
        if self._why is not None:
            return Estimate.of_nothing(self._why, n=0)
        misses = explained = 0
        human = self._graded.human_mean
        for place, entries in self._rows:
            record = self._graded.judge.records[self._graded.items[place]][0]
            score = record.exact if record.exact is not None else float(record.score or 0)
            entry = next((found for name, found in entries if name == criterion), None)
            if entry is None or abs(self._moved(score) - human[place]) < _MISS:
                continue
            misses += 1
            changed = self._rescored(criterion, check, entry, record.judge.get("hash"))
            if changed is not None:
                explained += abs(self._moved(changed) - human[place]) < _MISS
        return share(explained, misses, "no miss of a level or more")

    def _prepare(self, specs: Mapping[str, JudgeSpec]) -> str | None:
        """Bind a scorer to each criterion; why that cannot be done, or None."""
        if not self._graded.scales.movable:
            return "the humans' scale is not known; state it with --scale"
        if any(len(entries) > 1 for _, entries in self._rows) or self._mixed():
            return "several criteria make the score; choose one with --criterion"
        for place, entries in self._rows:
            record = self._graded.judge.records[self._graded.items[place]][0]
            for name, entry in entries:
                key = (str(record.judge.get("hash")), name)
                if key not in self._scorers:
                    scorer = _scorer(specs.get(key[0]), name, entry)
                    if scorer is None:
                        return _NO_WEIGHTS
                    self._scorers[key] = scorer
                found = self._scorers[key].score(_results(entry) or [])
                if found.exact is None or abs(float(found.exact) - float(entry["exact"])) > 1e-9:
                    return _NO_WEIGHTS
        return None

    def _mixed(self) -> bool:
        """Whether a record has criteria besides the one with checks, and its score is not that one's."""
        for place, entries in self._rows:
            record = self._graded.judge.records[self._graded.items[place]][0]
            used = self._graded.scores[place, 0]
            if abs(float(entries[0][1]["exact"]) - used) > 1e-9 and len(record.criteria) > 1:
                return True
        return False

    def _rescored(self, criterion: str, check: str, entry: Mapping[str, Any], judge: Any) -> float | None:
        """The score with one check the other way; None where it was not answered."""
        results = _results(entry, flipped=check)
        if results is None:
            return None
        found = self._scorers[str(judge), criterion].score(results)
        return None if found.exact is None else float(found.exact)

    def _moved(self, score: float) -> float:
        import numpy as np

        moved = self._graded.on_human_scale(np.array([score]))
        assert moved is not None
        return float(moved[0])


_NO_WEIGHTS = "the judge's weights are not at hand; name the store that it judged with: --store"


def _scorer(spec: JudgeSpec | None, criterion: str, entry: Mapping[str, Any]) -> Checklist | None:
    """The criterion's formula: the judge's own, or that of equal weights."""
    if spec is not None:
        own = next((one for one in spec.criteria if one.id == criterion), None)
        return None if own is None else Checklist(own)
    checks = tuple(Check(id=str(one["id"]), ask="?", na=True) for one in entry["checks"])
    low, high = (Decimal(str(bound)) for bound in entry["scale"])
    try:
        return Checklist(Criterion(id=criterion, levels=(low, high), checks=checks))
    except InvalidInput:
        return None


def _results(entry: Mapping[str, Any], *, flipped: str | None = None) -> list[CheckResult] | None:
    """The answers of an entry, one of them turned round."""
    found = []
    turned = flipped is None
    for one in entry["checks"]:
        passed, counted = one.get("passed"), bool(one.get("counted", True))
        if one["id"] == flipped and passed is not None:
            passed, counted, turned = not (passed and counted), True, True
        found.append(CheckResult(id=str(one["id"]), passed=passed, counted=counted))
    return found if turned else None

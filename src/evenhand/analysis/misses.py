"""The items on which judge and humans are furthest apart, with the judge's own evidence: what a person acts on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.graded import Graded
from evenhand.terms import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Miss", "brief_but_strong", "evidence_words", "judge_evidence", "worst_misses"]

_BRIEF = 0.25
_STRONG = 0.75
_A_LEVEL = 1.0
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One item on which judge and humans part.

    Attributes:
        judge: mean score over reruns, on the judge's scale.
        human: mean grade, on the humans'.
        grades: each rater's.
        gap: how far apart: in SDs of both where the scales are not one, else in points of the humans' scale; above 0
            the judge is too kind.
        gap_z: z(judge) - z(human); None where one of them gave one value.
        length: characters; None where unknown.
        rerun_spread: largest less smallest score over reruns.
        evidence: what the judge gave as its reasons in its first judgement.
    """

    item: str
    judge: float
    human: float
    grades: Mapping[str, float]
    gap: float
    gap_z: float | None
    length: int | None
    rerun_spread: float
    evidence: tuple[Mapping[str, Any], ...]
    item_hash: str | None = None

    def document(self, text: str | None = None) -> Mapping[str, Any]:
        """As `--json` prints it, with the text where it is at hand."""
        return {
            "item": self.item,
            "judge": self.judge,
            "human": self.human,
            "grades": dict(self.grades),
            "gap": self.gap,
            "gap_z": self.gap_z,
            "length": self.length,
            "rerun_spread": self.rerun_spread,
            "text": text,
            "evidence": list(self.evidence),
        }


def worst_misses(graded: Graded, *, most: int = 10) -> tuple[Miss, ...]:
    """The largest |z(judge) - z(human)| first; by points of a common scale where one of them gave one value.

    Standardised, since a judge may be too strict throughout and yet order rightly: leniency is told elsewhere. Where
    judge and humans gave the same point of one scale there is no miss.
    """
    import numpy as np

    gaps, standard = _gaps(graded)
    by = gaps if standard is None else standard
    order = np.lexsort((np.arange(graded.n), -np.abs(by)))
    apart = [int(place) for place in order if min(abs(by[place]), abs(gaps[place])) > _EQUAL]
    return tuple(_miss(graded, place, gaps, standard) for place in apart[:most])


def brief_but_strong(graded: Graded) -> tuple[Miss, ...]:
    """Short texts that the humans rate high and the judge does not: the usual victims of a taste for length.

    Brief: the shortest quarter. Strong: the upper quarter of the humans' scale (of their grades, where it is unknown).
    Missed: a level or more below the humans on a common scale, or an SD where there is none, and further than the
    judge's own strictness explains. Worst first.
    """
    import numpy as np

    known = np.isfinite(graded.lengths)
    if known.sum() < 4:
        return ()
    gaps, standard = _gaps(graded)
    human = graded.human_mean
    low, high = graded.scales.human or (float(human.min()), float(human.max()))
    short = graded.lengths <= np.quantile(graded.lengths[known], _BRIEF)
    worse = gaps <= -_A_LEVEL if standard is None else (gaps <= -_A_LEVEL) & (standard < 0)
    found = np.flatnonzero(known & short & (human >= low + _STRONG * (high - low)) & worse)
    return tuple(_miss(graded, int(place), gaps, standard) for place in sorted(found, key=lambda at: (gaps[at], at)))


def judge_evidence(record: Record) -> tuple[Mapping[str, Any], ...]:
    """What a record's judge gave as reasons: checks, evidence items, levels and ratings with their quotations."""
    found: list[Mapping[str, Any]] = []
    for criterion in record.criteria:
        name = criterion.get("id")
        found.extend(
            {"criterion": name, "check": check["id"], "passed": check.get("passed"), **_quote(check)}
            for check in criterion.get("checks", ())
        )
        found.extend(
            {"criterion": name, "claim": item["claim"], "impact": item["impact"], **_quote(item)}
            for item in criterion.get("items", ())
        )
        rest = {key: criterion[key] for key in ("level", "rating", "label", "reason") if criterion.get(key) is not None}
        if rest:
            found.append({"criterion": name, **rest, **_quote(criterion)})
    return tuple(found)


def _quote(part: Mapping[str, Any]) -> dict[str, Any]:
    """The quotation of a part, where it has one."""
    if not part.get("quote"):
        return {}
    counted = {} if "counted" not in part else {"counted": part["counted"]}
    return {"quote": part["quote"], "quote_status": part.get("quote_status"), **counted}


def _gaps(graded: Graded) -> "tuple[Floats, Floats | None]":
    """Judge less human in points, or in SDs where there is no common scale; and always in SDs, where defined."""
    import numpy as np

    judge, human = graded.judge_mean, graded.human_mean
    moved = graded.on_human_scale(judge)
    standard = None
    if graded.n > 1 and judge.std() > 0 and human.std() > 0:
        standard = (judge - judge.mean()) / judge.std(ddof=1) - (human - human.mean()) / human.std(ddof=1)
    if moved is not None:
        return moved - human, standard
    return (np.zeros(graded.n) if standard is None else standard), standard


def _miss(graded: Graded, place: int, gaps: "Floats", standard: "Floats | None") -> Miss:
    """One item."""
    import numpy as np

    item = graded.items[place]
    scores = graded.scores[place][~np.isnan(graded.scores[place])]
    grades = {
        rater: float(grade)
        for rater, grade in zip(graded.raters, graded.grades[place], strict=True)
        if not np.isnan(grade)
    }
    records = graded.judge.records.get(item, ())
    length = graded.lengths[place]
    return Miss(
        item=item,
        judge=float(graded.judge_mean[place]),
        human=float(graded.human_mean[place]),
        grades=grades,
        gap=float(gaps[place]),
        gap_z=None if standard is None else float(standard[place]),
        length=None if np.isnan(length) else int(length),
        rerun_spread=float(scores.max() - scores.min()),
        evidence=judge_evidence(records[0]) if records else (),
        item_hash=records[0].item_hash if records else None,
    )


def evidence_words(one: Mapping[str, Any], cut: Callable[[str, int], str] = lambda text, _: text) -> str:
    """One piece of a judge's evidence in words.

    Args:
        one: as `judge_evidence` gives it.
        cut: makes strangers' text safe for where it goes, and no longer than so many characters.

    >>> evidence_words({"check": "cites a source", "passed": True, "quote": "see p. 3", "quote_status": "found"})
    'pass: cites a source "see p. 3" (found)'
    """
    quote = f' "{cut(str(one["quote"]), 120)}" ({one.get("quote_status")})' if one.get("quote") else ""
    if "check" in one:
        word = {True: "pass", False: "fail", None: "not applicable"}[one["passed"]]
        lost = ", not counted" if one.get("counted") is False and one["passed"] else ""
        return f"{word}: {cut(str(one['check']), 60)}{quote}{lost}"
    if "claim" in one:
        return f"{one['impact']:+d}: {cut(str(one['claim']), 160)}{quote}"
    what = " ".join(cut(str(one[key]), 40) for key in ("level", "rating", "label") if key in one)
    return f"gave {what} {cut(str(one.get('reason', '')), 200)}{quote}".strip()

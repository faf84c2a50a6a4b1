"""Does a model pile its ratings up on a quality, or on a digit? The same items on three scales tell.

plain      lowest to highest, the highest is best      (1 to 10)
shorter    one point less, the highest is best         (1 to 9): a "10" cut to its first digit becomes a 1
turned     lowest to highest, the lowest is best       (1 to 10): a quality moves to the other end, a digit stays

A grammar, or a tokenizer that parts digits, can turn the wish to say 10 into a 1 and the other way round. A small model
under a grammar gave 10 to nearly everything on 1 to 10, and 1 to nearly everything on 1 to 9.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.errors import InvalidInput

__all__ = ["PILE", "DigitControl", "PileUp", "digit_control", "pile_up"]

PILE = 0.5
"""Share of all ratings on one number from which ratings count as piled up."""

Verdict = Literal["digit", "quality", "no_pile_up", "cannot_tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PileUp:
    """The most frequent rating.

    Attributes:
        mode: None where nothing was rated; the smallest of equally frequent ones.
        share: of all ratings, in [0, 1]; None where nothing was rated.
        n: ratings.
    """

    mode: int | None
    share: float | None
    n: int

    @property
    def piled(self) -> bool:
        """Whether the share is at least `PILE`."""
        return self.share is not None and self.share >= PILE


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitControl:
    """What the three scales say together.

    Attributes:
        verdict: `digit`, `quality`, `no_pile_up` (there is nothing to explain) or `cannot_tell`.
        sentence: the verdict with its figures, in words.
        plain, shorter, turned: the pile-up on each scale.
        shares: what was looked for (`shorter_first_digit`, `shorter_same_place`, `turned_same_number`,
            `turned_other_end`) to its share of that scale's ratings; None where two of them would be one number, or
            nothing was rated.
        n_failed: control runs that were not parsed, by scale.
    """

    verdict: Verdict
    sentence: str
    plain: PileUp
    shorter: PileUp
    turned: PileUp
    shares: Mapping[str, float | None]
    n_failed: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            **{
                name: {"mode": found.mode, "share": found.share, "n": found.n, "failed": self.n_failed.get(name, 0)}
                for name, found in (("plain", self.plain), ("shorter", self.shorter), ("turned", self.turned))
            },
            "shares": dict(self.shares),
        }


def pile_up(ratings: Sequence[Sequence[int]]) -> PileUp:
    """The most frequent of all ratings of all runs.

    >>> pile_up([[7, 7, 8], [7, 9, 7]]).share
    0.6666666666666666
    """
    counts = Counter(rating for run in ratings for rating in run)
    if not counts:
        return PileUp(mode=None, share=None, n=0)
    most = max(counts.values())
    return PileUp(mode=min(k for k, n in counts.items() if n == most), share=most / counts.total(), n=counts.total())


def digit_control(
    plain: Sequence[Sequence[int]],
    shorter: Sequence[Sequence[int]],
    turned: Sequence[Sequence[int]],
    low: int,
    high: int,
    *,
    n_failed: Mapping[str, int] | None = None,
) -> DigitControl:
    """Name what the ratings pile up on.

    Args:
        plain: (n_runs, n_items) on low to high, the highest best.
        shorter: the same items on low to high - 1.
        turned: the same items on low to high, the lowest best.
        low, high: ends of the plain scale; at least three points.
        n_failed: runs of each control that were not parsed.
    Returns:
        `digit` where at least half of the ratings stay on the number although the scale was turned, or follow the first
        digit of a two-digit number onto the shorter scale; `quality` where they move to the other end of the turned
        scale. A single digit cannot be told apart on the shorter scale.
    Raises:
        InvalidInput: fewer than three points.

    >>> ten, one = [[10] * 20] * 5, [[1] * 20] * 5
    >>> digit_control(ten, one, ten, 1, 10).verdict, digit_control(ten, [[9] * 20] * 5, one, 1, 10).verdict
    ('digit', 'quality')
    """
    if high - low < 2:
        raise InvalidInput(f"digit_control: the scale runs from {low} to {high}; expected at least three points")
    found, short, turn = pile_up(plain), pile_up(shorter), pile_up(turned)
    shares: dict[str, float | None] = dict.fromkeys(
        ("shorter_first_digit", "shorter_same_place", "turned_same_number", "turned_other_end")
    )
    if found.mode is not None:
        mode = found.mode
        first = int(str(abs(mode))[0])
        places = _same_place(mode, low, high)
        if first != mode and first not in places:
            shares["shorter_first_digit"] = _share(shorter, {first})
            shares["shorter_same_place"] = _share(shorter, places)
        if low + high - mode != mode:
            shares["turned_same_number"] = _share(turned, {mode})
            shares["turned_other_end"] = _share(turned, {low + high - mode})
    verdict, sentence = _verdict(found, shares, low, high)
    if verdict == "no_pile_up":
        sentence += _elsewhere(short, turn, low, high)
    return DigitControl(
        verdict=verdict,
        sentence=sentence,
        plain=found,
        shorter=short,
        turned=turn,
        shares=shares,
        n_failed=dict(n_failed or {}),
    )


def _verdict(found: PileUp, shares: Mapping[str, float | None], low: int, high: int) -> tuple[Verdict, str]:
    """The verdict with its figures; a first digit is looked for first, as a 1 is also the other end of a 10."""
    if found.mode is None:
        return "cannot_tell", "nothing was rated on the plain scale, so there is nothing to compare"
    if not found.piled:
        return "no_pile_up", f"no rating has half of all ({found.mode} has {found.share:.0%}), so nothing is explained"
    mode = found.mode
    head = f"{found.share:.0%} of the ratings are {mode}"
    first = shares["shorter_first_digit"] or 0.0
    if first >= PILE:
        return "digit", (
            f"{head}, and on {low} to {high - 1} {first:.0%} are {str(abs(mode))[0]}: the model piles up on the first "
            "digit, not on a quality"
        )
    stays = shares["turned_same_number"] or 0.0
    if stays >= PILE:
        return "digit", (
            f"{head}, and {stays:.0%} still are where {low} is best: the model piles up on the number, whatever the "
            "number means"
        )
    moved = shares["turned_other_end"] or 0.0
    if moved >= PILE:
        return "quality", (
            f"{head}, and {moved:.0%} are {low + high - mode} where {low} is best: the model means the quality, and "
            "gives it to nearly everything"
        )
    return "cannot_tell", f"{head}; where {low} is best they neither stay nor move to the other end"


def _elsewhere(short: PileUp, turn: PileUp, low: int, high: int) -> str:
    """Pile-ups that only another scale brings about."""
    named = ((f"on {low} to {high - 1}", short), (f"where {low} is best", turn))
    piled = [f"{where} {found.share:.0%} are {found.mode}" for where, found in named if found.piled]
    return f"; but {' and '.join(piled)}: how it rates depends on the scale's numbers" if piled else ""


def _same_place(mode: int, low: int, high: int) -> set[int]:
    """Where a rating lies on a scale with one point less, in proportion: one number, or two between which it lies."""
    numerator, width = (mode - low) * (high - low - 1), high - low
    below = low + numerator // width
    return {below} if numerator % width == 0 else {below, below + 1}


def _share(ratings: Sequence[Sequence[int]], wanted: set[int]) -> float | None:
    values = [rating for run in ratings for rating in run]
    return sum(value in wanted for value in values) / len(values) if values else None

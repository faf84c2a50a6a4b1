"""Has a log of scores collapsed: how the scores are spread over the levels, and what that spread allows.

    spread_of(levels, counts)     every figure of one group of scores
    goodman_interval(count, n, k) the interval that allows for the mode having been picked from the data

All figures are of levels and counts, so that a million rows cost what ten levels cost.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.intervals import wilson_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Heaping",
    "Spread",
    "entropy_nats",
    "goodman_interval",
    "heaping",
    "level_codes",
    "level_counts",
    "level_sd",
    "merged_levels",
    "spread_of",
]

_FEW = 2000
_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How scores are spread over levels.

    Attributes:
        n: how many scores.
        levels: the distinct scores, rising.
        counts: how often each came.
        mode: the commonest score (the lowest of several); None without scores.
        mode_share: its share with Wilson's interval.
        simultaneous: Goodman's interval of the same share, wider since the mode was picked from the data.
        top_two_share: share of the two commonest.
        entropy: Shannon's, in nats.
        effective_levels: exp(entropy), 1 to the number of levels used.
        inverse_simpson: 1 over the summed squared shares; the same question, asked of the commonest levels.
        tied_pairs: share of pairs of scores that are equal.
        rho_ceiling: the largest Spearman rho that these ties allow with untied grades.
        tau_ceiling: the largest Kendall tau-b.
        mean, sd: of the scores (n - 1); None where there are none, and fewer than two.
    """

    n: int
    levels: tuple[float, ...]
    counts: tuple[int, ...]
    mode: float | None
    mode_share: Estimate
    simultaneous: tuple[float, float] | None
    top_two_share: float | None
    entropy: float | None
    effective_levels: float | None
    inverse_simpson: float | None
    tied_pairs: float | None
    rho_ceiling: float | None
    tau_ceiling: float | None
    mean: float | None
    sd: float | None

    @property
    def levels_used(self) -> int:
        """How many different scores were given."""
        return len(self.levels)

    def document(self) -> Mapping[str, Any]:
        """The figures as `--json` prints them."""
        share = self.mode_share
        interval = None if share.low is None else [share.low, share.high]
        return {
            "n": self.n, "mode": self.mode, "mode_share": share.value, "mode_share_interval": interval,
            "mode_share_simultaneous": self.simultaneous, "undefined": share.undefined,
            "top_two_share": self.top_two_share, "levels_used": self.levels_used, "entropy_nats": self.entropy,
            "effective_levels": self.effective_levels, "inverse_simpson": self.inverse_simpson,
            "tied_pairs": self.tied_pairs, "rho_ceiling": self.rho_ceiling, "tau_b_ceiling": self.tau_ceiling,
            "mean": self.mean, "sd": self.sd,
        }  # fmt: skip


def level_counts(scores: "NDArray[np.float64]") -> "tuple[NDArray[np.float64], NDArray[np.int64]]":
    """Distinct scores, rising, and how often each came; nan is left out."""
    import numpy as np

    levels, codes = level_codes(scores[~np.isnan(scores)])
    return levels, np.bincount(codes, minlength=len(levels))


def level_codes(scores: "NDArray[np.float64]") -> "tuple[NDArray[np.float64], NDArray[np.int64]]":
    """Distinct scores, rising, and (n,) the place of each score among them; as `numpy.unique` with its inverse.

    Scores on a grid (whole numbers, halves, hundredths) are counted rather than sorted: a tenth of the time.

    Args:
        scores: (n,) without nan.
    """
    import numpy as np

    for per_one in (1, 2, 100) if len(scores) > _FEW else ():
        steps = np.rint((scores - scores.min()) * per_one)
        if steps.max() > _MOST_STEPS:
            break
        codes = steps.astype(np.int64)
        first = np.full(int(codes.max()) + 1, np.nan)
        first[codes] = scores
        if (first[codes] == scores).all():
            used = ~np.isnan(first)
            return first[used], (np.cumsum(used) - 1)[codes]
    levels, inverse = np.unique(scores, return_inverse=True)
    return levels, inverse.astype(np.int64)


def merged_levels(
    levels: "NDArray[np.float64]", counts: "NDArray[np.int64]"
) -> "tuple[NDArray[np.float64], NDArray[np.int64]]":
    """Levels of which some are equal (after rounding), each once and rising, with their counts added."""
    import numpy as np

    distinct, inverse = np.unique(levels, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, inverse, counts)
    return distinct, total


def entropy_nats(counts: "NDArray[np.int64]") -> float:
    """Shannon entropy of counts, in nats; nan without any.

    >>> import numpy as np
    >>> round(entropy_nats(np.array([37, 14, 6, 2, 1])), 7)
    1.049551
    """
    import numpy as np

    given = counts[counts > 0]
    n = float(given.sum())
    if n == 0:
        return math.nan
    shares = given / n
    return max(0.0, -float(np.dot(shares, np.log(shares))))


def level_sd(levels: "NDArray[np.float64]", counts: "NDArray[np.int64]") -> float:
    """SD with n - 1 of scores given as levels and counts; nan for fewer than two."""
    import numpy as np

    n = int(counts.sum())
    if n < 2:
        return math.nan
    mean = float(np.dot(levels, counts)) / n
    return math.sqrt(max(0.0, float(np.dot(counts, (levels - mean) ** 2))) / (n - 1))


def goodman_interval(count: int, n: int, n_levels: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Goodman's simultaneous interval of one share out of `n_levels`: Wilson's at confidence 1 - alpha / n_levels.

    Args:
        count: how often the level came, 0 to n.
        n: how many scores.
        n_levels: how many levels the share was picked from, at least 1.
    Returns:
        (low, high) in [0, 1]; (nan, nan) without scores.
    Raises:
        InvalidInput: no level, or counts that no sample can have.
    Source: Goodman (1965), Technometrics 7, 247-254, with chi-square at 1 degree of freedom; the same as
        statsmodels `multinomial_proportions_confint(method="goodman")`, which needs all counts and gives all intervals.

    >>> tuple(round(bound, 7) for bound in goodman_interval(37, 60, 5))
    (0.4511917, 0.7589084)
    """
    if n_levels < 1:
        raise InvalidInput(f"goodman_interval: {n_levels} levels; expected at least 1")
    return wilson_interval(count, n, confidence=1.0 - (1.0 - confidence) / n_levels)


def spread_of(levels: "NDArray[np.float64]", counts: "NDArray[np.int64]") -> Spread:
    """Every figure of one group of scores.

    Args:
        levels: (k,) distinct scores, rising.
        counts: (k,) how often each came; a level that never came is left out.
    Returns:
        The figures; without scores all are None, and `mode_share` says why. `tied_pairs` and the ceilings need two
        scores, and the ceilings two different ones: a constant judge has no rank correlation at all (scipy gives nan).
    Source: entropy as exp(H), Hill (1973), Ecology 54, 427-432. The ceilings are those of mid-ranks against untied
        ranks: sqrt(1 - sum(t^3 - t) / (n^3 - n)), and sqrt(1 - tied pairs).

    >>> import numpy as np
    >>> log = spread_of(np.array([5., 6, 7, 8, 9]), np.array([1, 6, 37, 14, 2]))
    >>> log.mode, round(log.mode_share.value, 4), round(log.effective_levels, 4), round(log.rho_ceiling, 7)
    (7.0, 0.6167, 2.8564, 0.8671556)
    """
    import numpy as np

    given = counts > 0
    levels, counts = levels[given], counts[given]
    n = int(counts.sum())
    if n == 0:
        return _nothing()
    top = int(np.argmax(counts))
    low, high = wilson_interval(int(counts[top]), n)
    entropy = entropy_nats(counts)
    exact = [int(count) for count in counts]
    sd = level_sd(levels, counts)
    tied = sum(t * (t - 1) for t in exact) / (n * (n - 1)) if n > 1 else None
    several = len(exact) > 1
    return Spread(
        n=n, levels=tuple(levels.tolist()), counts=tuple(exact), mode=float(levels[top]),
        mode_share=Estimate(value=exact[top] / n, low=low, high=high, n=n, method="Wilson score", unit="scores"),
        simultaneous=goodman_interval(exact[top], n, len(exact)),
        top_two_share=sum(sorted(exact)[-2:]) / n, entropy=entropy, effective_levels=math.exp(entropy),
        inverse_simpson=n * n / sum(t * t for t in exact), tied_pairs=tied,
        rho_ceiling=math.sqrt(1 - sum(t**3 - t for t in exact) / (n**3 - n)) if several else None,
        tau_ceiling=math.sqrt(1 - tied) if several and tied is not None else None,
        mean=float(np.dot(levels, counts)) / n, sd=None if math.isnan(sd) else sd,
    )  # fmt: skip


def _nothing() -> Spread:
    """No scores: every figure is undefined."""
    return Spread(
        n=0, levels=(), counts=(), mode=None, mode_share=Estimate.of_nothing("no scores", n=0, unit="scores"),
        simultaneous=None, top_two_share=None, entropy=None, effective_levels=None, inverse_simpson=None,
        tied_pairs=None, rho_ceiling=None, tau_ceiling=None, mean=None, sd=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Heaping:
    """How many scores stand on round numbers.

    Attributes:
        step: what the round numbers are multiples of.
        share: of the scores that are, with Wilson's interval.
        expected: the share that would be, were every number of the scale as likely.
    """

    step: float
    share: Estimate
    expected: float

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        return {"step": self.step, "share": self.share.document(), "expected": self.expected}


def heaping(levels: "NDArray[np.float64]", counts: "NDArray[np.int64]", low: float, high: float) -> tuple[Heaping, ...]:
    """Scores on multiples of 10 and 5 (scales of 20 points and more), and on whole numbers where scores have decimals.

    Args:
        levels, counts: the scores on the scale.
        low, high: its ends.
    Returns:
        Nothing where the scale has no round numbers, and without scores. Decimals are read to the third.

    >>> import numpy as np
    >>> tens, fives = heaping(np.array([60., 70, 75, 81]), np.array([10, 20, 15, 5]), 0, 100)
    >>> tens.step, round(tens.share.value, 2), round(tens.expected, 3), round(fives.share.value, 2)
    (10.0, 0.6, 0.109, 0.9)
    """
    import numpy as np

    if len(levels) == 0:
        return ()
    digits = next((d for d in range(4) if np.allclose(levels, np.round(levels, d), atol=1e-9)), 3)
    grain = 10.0**-digits
    steps = ([10.0, 5.0] if high - low >= 20 else []) + ([1.0] if digits and high - low >= 2 else [])
    n = int(counts.sum())
    found = []
    for step in steps:
        on = int(counts[np.abs(levels / step - np.round(levels / step)) * step < grain / 2 - 1e-9].sum())
        bounds = wilson_interval(on, n)
        multiples = math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1
        share = Estimate(value=on / n, low=bounds[0], high=bounds[1], n=n, method="Wilson score", unit="scores")
        found.append(Heaping(step=step, share=share, expected=multiples / (round((high - low) / grain) + 1)))
    return tuple(found)

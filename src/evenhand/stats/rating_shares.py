"""Rating distributions read from log probabilities: runs simulated from them, and whether sampled ratings agree."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InvalidInput

__all__ = ["ItemAgreement", "SampleAgreement", "mean_of", "sample_agreement", "sd_of", "simulated_runs"]

Shares = Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAgreement:
    """One item: its distribution against the ratings that were sampled.

    Attributes:
        n: sampled ratings that could be read.
        mean: of the sampled ones; None without one.
        expected_mean: of the distribution.
        variation: total variation distance between sampled shares and the distribution, in [0, 1]; None without one.
        by_chance: the mean of the same distance for samples of this size drawn from the distribution itself.
    """

    n: int
    mean: float | None
    expected_mean: float
    variation: float | None
    by_chance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAgreement:
    """Whether sampled single-item ratings could have come from the distributions.

    Attributes:
        items: in order.
        n: sampled ratings over all items.
        n_failed: samples that could not be read, and are not among them.
        p_value: Monte Carlo p of the summed log likelihood ratio over all items; None where it is undefined.
        undefined: why it is.
        n_draws: data sets drawn under the hypothesis that they agree.
        mean_difference: mean over items of sampled mean minus expected mean, in points.
    """

    items: tuple[ItemAgreement, ...]
    n: int
    n_failed: int
    p_value: float | None
    undefined: str | None
    n_draws: int
    seed: int
    mean_difference: float | None

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        measured = [(item.variation, item.by_chance) for item in self.items if item.variation is not None]
        n = len(measured)
        return {
            "n": self.n,
            "failed": self.n_failed,
            "p_value": self.p_value,
            "undefined": self.undefined,
            "draws": self.n_draws,
            "seed": self.seed,
            "mean_difference": self.mean_difference,
            "variation": math.fsum(found for found, _ in measured) / n if n else None,
            "variation_by_chance": math.fsum(chance or 0.0 for _, chance in measured) / n if n else None,
            "items": [
                {
                    "n": item.n,
                    "mean": item.mean,
                    "expected_mean": item.expected_mean,
                    "variation": item.variation,
                    "by_chance": item.by_chance,
                }
                for item in self.items
            ],
        }


def mean_of(shares: Shares) -> float:
    """The mean of a distribution whose shares sum to 1."""
    return math.fsum(level * share for level, share in shares.items())


def sd_of(shares: Shares) -> float:
    """The SD of a distribution whose shares sum to 1.

    >>> sd_of({1: 0.5, 10: 0.5})
    4.5
    """
    mean = mean_of(shares)
    return math.sqrt(max(0.0, math.fsum(share * (level - mean) ** 2 for level, share in shares.items())))


def simulated_runs(distributions: Sequence[Shares], n_runs: int, *, seed: int) -> list[list[int]]:
    """Runs drawn from the items' distributions, each item and run by itself.

    A model that rates all items in one call sees what it wrote before; that dependence is not in these runs.

    Args:
        distributions: one an item; level to share, summing to 1.
        n_runs: how many.
        seed: of the generator.
    Returns:
        (n_runs, n_items) levels.
    Raises:
        InvalidInput: a distribution without a level.

    >>> simulated_runs([{10: 1.0}, {1: 1.0}], 2, seed=0)
    [[10, 1], [10, 1]]
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    columns = []
    for place, shares in enumerate(distributions):
        if not shares:
            raise InvalidInput(f"simulated_runs: the distribution of item {place} has no level")
        levels, chances = _arrays(shares)
        columns.append(rng.choice(levels, size=n_runs, p=chances))
    return [[int(rating) for rating in run] for run in zip(*columns, strict=True)]


def sample_agreement(
    distributions: Sequence[Shares],
    sampled: Sequence[Sequence[int]],
    *,
    n_failed: int = 0,
    seed: int = 0,
    n_draws: int = 2000,
) -> SampleAgreement:
    """Test sampled ratings against the distributions that log probabilities promised.

    The statistic is the summed G = 2 sum(observed * log(observed / expected)) of all items; its null distribution is
    drawn, since with a handful of samples an item no chi-square holds. A rating that a distribution gives no share at
    all makes it infinite, and p the smallest that the draws allow.

    Args:
        distributions: one an item; level to share, summing to 1.
        sampled: the readable ratings of each item, in any number.
        n_failed: samples that could not be read.
        seed: of the draws.
        n_draws: how many data sets.
    Raises:
        InvalidInput: as many distributions as items are needed.

    >>> even = {1: 0.5, 2: 0.5}
    >>> sample_agreement([even], [[1, 2, 1, 2]]).p_value, sample_agreement([even], [[1] * 40]).p_value < 0.01
    (1.0, True)
    """
    import numpy as np

    if len(distributions) != len(sampled):
        raise InvalidInput(f"sample_agreement: {len(distributions)} distributions and {len(sampled)} items")
    rng = np.random.default_rng(seed)
    items = []
    observed, drawn = 0.0, np.zeros(n_draws)
    for shares, ratings in zip(distributions, sampled, strict=True):
        found, own, own_drawn = _item(shares, ratings, rng, n_draws)
        items.append(found)
        observed += own
        drawn += own_drawn
    n = sum(item.n for item in items)
    differences = [item.mean - item.expected_mean for item in items if item.mean is not None]
    # The tolerance: equal counts can sum to statistics that differ in the last digit.
    extreme = int((drawn >= observed - 1e-9 * max(1.0, abs(observed) if math.isfinite(observed) else 1.0)).sum())
    return SampleAgreement(
        items=tuple(items),
        n=n,
        n_failed=n_failed,
        p_value=(extreme + 1) / (n_draws + 1) if n else None,
        undefined=None if n else "no sampled rating could be read",
        n_draws=n_draws,
        seed=seed,
        mean_difference=math.fsum(differences) / len(differences) if differences else None,
    )


def _item(shares: Shares, ratings: Sequence[int], rng: Any, n_draws: int) -> tuple[ItemAgreement, float, Any]:
    """One item's figures, its statistic, and the statistics of data sets drawn from its distribution."""
    import numpy as np

    levels, chances = _arrays(shares)
    n = len(ratings)
    if not n:
        nothing = ItemAgreement(n=0, mean=None, expected_mean=mean_of(shares), variation=None, by_chance=None)
        return nothing, 0.0, np.zeros(n_draws)
    counts = Counter(ratings)
    seen = np.array([counts.get(int(level), 0) for level in levels], dtype=float)
    elsewhere = n - float(seen.sum())
    draws = rng.multinomial(n, chances, size=n_draws)
    variation = (np.abs(seen / n - chances).sum() + elsewhere / n) / 2.0
    item = ItemAgreement(
        n=n,
        mean=math.fsum(ratings) / n,
        expected_mean=mean_of(shares),
        variation=float(variation),
        by_chance=float(np.abs(draws / n - chances).sum(axis=1).mean() / 2.0),
    )
    return item, math.inf if elsewhere else float(_likelihood_ratio(seen, chances)), _likelihood_ratio(draws, chances)


def _likelihood_ratio(counts: Any, chances: Any) -> Any:
    """G of each row of counts."""
    import numpy as np

    expected = np.sum(counts, axis=-1, keepdims=True) * chances
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts / expected), 0.0)
    return 2.0 * terms.sum(axis=-1)


def _arrays(shares: Shares) -> tuple[Any, Any]:
    """Levels with a share above 0, rising, and their shares, which sum to 1 exactly enough for a generator."""
    import numpy as np

    levels = sorted(level for level, share in shares.items() if share > 0.0)
    chances = np.array([shares[level] for level in levels], dtype=float)
    return np.array(levels), chances / chances.sum()

"""A share of yes-or-no outcomes with its exact interval and what failed beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InvalidInput

__all__ = ["Share", "exact_interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Successes of n, those that could not be graded apart.

    Attributes:
        successes: 0 to n.
        n: how many were graded.
        failed: how many could not be.
    """

    successes: int
    n: int
    failed: int = 0

    @property
    def value(self) -> float | None:
        """The share; None without any that was graded."""
        return self.successes / self.n if self.n else None

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it: value, n, failures and exact 95 % interval."""
        low, high = exact_interval(self.successes, self.n) if self.n else (None, None)
        found = {"value": self.value, "successes": self.successes, "n": self.n, "failed": self.failed}
        undefined = None if self.n else "none was graded"
        return {**found, "low": low, "high": high, "undefined": undefined}


def exact_interval(successes: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a binomial share: never covers less often than it says.

    Args:
        successes: how many of `n`.
        n: trials, at least 1.
        confidence: in (0, 1).
    Returns:
        (lower, upper) in [0, 1]. 0 of n has the lower end 0, n of n the upper end 1.
    Raises:
        InvalidInput: no trials, or more successes than trials.
    Source: Clopper and Pearson (1934), Biometrika 26, 404-413. Example: 0 of 20 has the upper end 1 - .025^(1/20).

    >>> tuple(round(end, 4) for end in exact_interval(0, 20))
    (0.0, 0.1684)
    """
    if n < 1 or not 0 <= successes <= n:
        raise InvalidInput(f"exact_interval: {successes} of {n} is no share; expected 0 <= successes <= n, n >= 1")
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    lower = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    upper = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1.0 - tail))
    return lower, upper

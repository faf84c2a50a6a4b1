"""A figure with everything that has to stand beside it: interval, n, and the reason where there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Estimate", "left_out"]

_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One estimate. Undefined is said, never shown as 0 or NaN.

    Attributes:
        value: the estimate; None where it is undefined.
        low: lower end of the interval; None where there is no interval.
        high: upper end of the interval; None where there is no interval.
        n: how many units (items, unless `unit` says otherwise) it rests on.
        undefined: why `value` is None; None where it is defined.
        left_out: of a mean over raters or pairs of them: who has no figure to enter it, and why; None where all have.
        no_interval: why a defined value has no interval; None where it has one or is undefined itself.
        method: how the interval was made ("percentile bootstrap over items"); "" without one.
        confidence: nominal coverage of the interval.
        unit: what n counts.
        n_resamples: resamples drawn; 0 where none were.
        n_degenerate: resamples on which the statistic was undefined, and which were left out.
        seed: of the generator that drew them; None where none were drawn.

    >>> Estimate.of_nothing("the judge gave one value", n=7).document()["undefined"]
    'the judge gave one value'
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    undefined: str | None = None
    left_out: str | None = None
    no_interval: str | None = None
    method: str = ""
    confidence: float = 0.95
    unit: str = "items"
    n_resamples: int = 0
    n_degenerate: int = 0
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "n"):
            found = getattr(self, name)
            if hasattr(found, "item"):  # a number of numpy's, which no JSON writer takes
                object.__setattr__(self, name, found.item())

    @classmethod
    def of_nothing(cls, reason: str, *, n: int, unit: str = "items") -> "Estimate":
        """An estimate that cannot be made, with the reason."""
        return cls(value=None, n=n, undefined=reason, unit=unit)

    def document(self) -> Mapping[str, Any]:
        """The estimate as `--json` prints it; `value`, `low`, `high`, `n` and `undefined` are always there."""
        found: dict[str, Any] = {
            "value": self.value, "low": self.low, "high": self.high, "n": self.n, "undefined": self.undefined,
        }  # fmt: skip
        if self.left_out is not None:
            found["left_out"] = self.left_out
        if self.no_interval is not None:
            found["no_interval"] = self.no_interval
        if self.method:
            found["interval"] = {"method": self.method, "confidence": self.confidence}
        if self.n_resamples:
            found["resamples"] = {"n": self.n_resamples, "degenerate": self.n_degenerate, "seed": self.seed}
        if self.unit != "items":
            found["unit"] = self.unit
        return found


def left_out(reasons: Sequence[str | None], what: str) -> str | None:
    """What to say of a mean that not all could enter.

    Args:
        reasons: for each of them why it has no figure, or None.
        what: they are.
    Returns:
        None where all entered.

    >>> left_out([None, "ben gave one value", None], "raters")
    'over 2 of 3 raters; left out: ben gave one value'
    """
    given = [reason for reason in reasons if reason is not None]
    if not given:
        return None
    distinct = list(dict.fromkeys(given))
    more = f"; and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    return f"over {len(reasons) - len(given)} of {len(reasons)} {what}; left out: {'; '.join(distinct[:_NAMED])}{more}"

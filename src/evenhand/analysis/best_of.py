"""Best of n: of several candidates of one question a judge picks one that it accepts. How good is what it picks?

    gap@k = share of picks that the judge accepts - share of picks that are right

The more candidates a lenient judge may choose from, the surer it finds one that it accepts, and the gap grows. Of
several accepted candidates each is as likely to be picked, and of several rejected ones where none is accepted; so no
draw is needed. Candidates count in the order of the items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.stats.estimates import Estimate
from evenhand.stats.resampling import Bootstrap, Units, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["BestOf", "Graded", "best_of"]

Graded = tuple[bool, bool]
"""(accepted, right) of one candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """What picking one of the first k candidates of each question gives.

    Attributes:
        k: candidates to pick from.
        accepted: share of picks that the judge accepts.
        right: share of picks that are right.
        gap: the first minus the second, in [-1, 1].
    """

    k: int
    accepted: Estimate
    right: Estimate
    gap: Estimate

    def document(self) -> Mapping[str, Any]:
        """As `study --json` prints it."""
        figures = {name: getattr(self, name).document() for name in ("accepted", "right", "gap")}
        return {"k": self.k, **figures}


def best_of(questions: Sequence[Sequence[Graded]], bootstrap: Bootstrap) -> tuple[BestOf, ...]:
    """The figures for every k from 1 to the most that each of the questions has.

    Args:
        questions: one entry a question: its candidates in order, each with a verdict and a known truth.
        bootstrap: how intervals are drawn, over questions.
    Returns:
        Empty where no question has two candidates; otherwise the questions with fewer than two are left out, and all k
        rest on the same questions.

    >>> lenient = [[(True, False), (True, True)]] * 3
    >>> [(one.k, one.gap.value) for one in best_of(lenient, Bootstrap(n_resamples=100, seed=1))]
    [(1, 1.0), (2, 0.5)]
    """
    several = [candidates for candidates in questions if len(candidates) > 1]
    most = min(map(len, several), default=0)
    return tuple(_at([_pick(candidates[:k]) for candidates in several], k, bootstrap) for k in range(1, most + 1))


def _pick(candidates: Sequence[Graded]) -> tuple[float, float]:
    """(is the pick accepted, chance that it is right)."""
    accepted = [right for is_accepted, right in candidates if is_accepted]
    chosen = accepted or [right for _, right in candidates]
    return float(bool(accepted)), sum(chosen) / len(chosen)


def _at(picks: Sequence[tuple[float, float]], k: int, bootstrap: Bootstrap) -> BestOf:
    import numpy as np

    data = np.array(picks)
    units = Units.of(data, bootstrap)
    columns = np.column_stack([data[units.rows], data[units.rows, 0] - data[units.rows, 1]])

    def kernel(weights: "Floats") -> "Floats":
        found: Floats = weights @ columns / weights.sum(axis=1, keepdims=True)
        return found

    draws = draw(kernel, units, bootstrap)
    means = [float(data[:, 0].mean()), float(data[:, 1].mean())]
    accepted, right, gap = (draws.estimate(value, place) for place, value in enumerate([*means, means[0] - means[1]]))
    shares = [_share(data[:, place], drawn) for place, drawn in enumerate((accepted, right))]
    return BestOf(k=k, accepted=_of(shares[0]), right=_of(shares[1]), gap=_of(gap))


def _share(values: "Floats", drawn: Estimate) -> Estimate:
    """Wilson's interval where every question gives 0, or every one 1, of which resamples say nothing."""
    from evenhand.stats.pass_rates import share

    constant = values[0] in (0.0, 1.0) and bool((values == values[0]).all())
    return share(int(values.sum()), len(values), "no questions") if constant else drawn


def _of(figure: Estimate) -> Estimate:
    return replace(figure, unit="questions", method=figure.method.replace("over items", "over questions"))

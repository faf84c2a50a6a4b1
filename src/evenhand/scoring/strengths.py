"""Bradley-Terry strengths of systems from games, fitted by choix, with bootstrap intervals.

Strengths are maximum likelihood estimates without any prior. They exist only if every system can be reached from every
other along games won or drawn (Ford 1957); where that is not so they are undefined, and it is said which systems part.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.scoring.preference import TIES, Game, points

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Strength", "Strengths", "bradley_terry", "has_choix"]

# Beyond this share of resamples without strengths, the ends of an interval would rest on those that have some.
_MOST_UNDEFINED = 0.025
_MAX_ITERATIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """One system's strength.

    Args:
        value: natural log scale, mean 0 over the systems: the odds that one beats another are exp of the difference.
        interval: percentile bootstrap at 95 %; None where it is not defined.
    """

    system: str
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strengths:
    """Bradley-Terry strengths of all systems, or why there are none.

    Args:
        strengths: strongest first; empty if undefined.
        undefined: the reason; None where there are strengths.
        n_units: what was resampled: items, or single games.
        n_resamples: bootstrap resamples drawn.
        n_undefined: resamples in which the strengths are undefined; intervals rest on the others, and above one in
            forty there are none.
    """

    strengths: tuple[Strength, ...]
    undefined: str | None
    n_games: int
    n_units: int
    n_resamples: int = 0
    n_undefined: int = 0


def has_choix() -> bool:
    """Whether the library that fits strengths is installed."""
    from importlib.util import find_spec

    return find_spec("choix") is not None


def bradley_terry(
    games: Sequence[Game],
    *,
    units: Sequence[Hashable] | None = None,
    ties: Sequence[str] = TIES,
    rng: "np.random.Generator | None" = None,
    n_resamples: int = 1000,
) -> Strengths:
    """Bradley-Terry strengths with bootstrap intervals; ties are half a win for each.

    Args:
        games: (a, b, winner), at least one.
        units: (n_games,) what each game belongs to, such as its item, so that games of one item are drawn together;
            None draws each game by itself.
        ties: declared labels of a tie.
        rng: for the bootstrap; None gives no intervals.
        n_resamples: how many.
    Returns:
        Strengths on the log scale; undefined, with the reason, where no maximum of the likelihood exists.
    Raises:
        InvalidInput: no games, as `points`, units of another length, or choix is not installed.
    Source: Bradley and Terry (1952), Biometrika 39, 324-345; existence: Ford (1957), Am. Math. Mon. 64(8), 28-33; fit:
        Maystre and Grossglauser (2015), by choix.
    """
    if not has_choix():
        raise InvalidInput("bradley_terry: needs the library choix; pip install 'evenhand[stats]'")
    if not games:
        raise InvalidInput("bradley_terry: no games were given; expected at least one")
    if units is not None and len(units) != len(games):
        raise InvalidInput(f"bradley_terry: {len(units)} units for {len(games)} games; expected one for each")
    table = _Table(games, units, ties)
    reason = table.parted()
    values = None if reason else table.fitted(table.weights())
    if values is None:
        reason = reason or "the fit did not converge"
        return Strengths(strengths=(), undefined=reason, n_games=len(games), n_units=table.n_units)
    drawn = [] if rng is None else table.resampled(rng, n_resamples)
    defined = [one for one in drawn if one is not None]
    ends = _intervals(defined) if drawn and len(drawn) - len(defined) <= _MOST_UNDEFINED * len(drawn) else None
    made = [
        Strength(system=name, value=float(values[place]), interval=None if ends is None else ends[place])
        for place, name in enumerate(table.names)
    ]
    return Strengths(
        strengths=tuple(sorted(made, key=lambda one: -one.value)),
        undefined=None,
        n_games=len(games),
        n_units=table.n_units,
        n_resamples=len(drawn),
        n_undefined=len(drawn) - len(defined),
    )


class _Table:
    """The points of games as a matrix, whole or of a resample."""

    def __init__(self, games: Sequence[Game], units: Sequence[Hashable] | None, ties: Sequence[str]) -> None:
        import numpy as np

        self.names = list(dict.fromkeys(name for game in games for name in game[:2]))
        place = {name: number for number, name in enumerate(self.names)}
        number_of: dict[Hashable, int] = {}
        rows = []
        for number, game in enumerate(games):
            unit = number_of.setdefault(number if units is None else units[number], len(number_of))
            share, one, other = points(game, ties, number=number), place[game[0]], place[game[1]]
            rows += [(unit, one * len(place) + other, share), (unit, other * len(place) + one, 1.0 - share)]
        self.n_units = len(number_of)
        self._unit = np.array([row[0] for row in rows])
        self._cell = np.array([row[1] for row in rows])
        self._points = np.array([row[2] for row in rows])

    def weights(self, counts: Any = None) -> Any:
        """(n_systems, n_systems) points of each row's system against each column's; units counted so many times."""
        import numpy as np

        n = len(self.names)
        weighted = self._points if counts is None else self._points * counts[self._unit]
        return np.bincount(self._cell, weights=weighted, minlength=n * n).reshape(n, n)

    def parted(self) -> str | None:
        """Why no strengths exist: systems that no chain of wins or draws leads to; None where they do."""
        reach = _reachable(self.weights())
        if reach.all():
            return None
        met = _reachable(self.weights() + self.weights().T)
        apart = [name for name, is_met in zip(self.names, met[0], strict=True) if not is_met]
        if apart:
            return (
                f"no games connect {_listed(apart)} with {self.names[0]}: nothing compares them, so that strengths "
                "are undefined"
            )
        first = next(row for row in range(len(self.names)) if not reach[row].all())
        above = [name for name, is_in in zip(self.names, reach[first], strict=True) if not is_in]
        below = [name for name, is_in in zip(self.names, reach[first], strict=True) if is_in]
        return (
            f"{_listed(below)} never won or drew against {_listed(above)}: the strengths would be infinite, so that "
            "they are undefined; more games are needed"
        )

    def fitted(self, weights: Any) -> Any:
        """(n_systems,) strengths, or None where the fit does not converge."""
        import choix

        try:
            return choix.ilsr_pairwise_dense(weights, alpha=0.0, max_iter=_MAX_ITERATIONS)
        except RuntimeError:  # choix's word for no convergence
            return None

    def resampled(self, rng: "np.random.Generator", n_resamples: int) -> list[Any]:
        """Strengths of each resample of the units, None where they are undefined."""
        import numpy as np

        found = []
        for _ in range(n_resamples):
            drawn = rng.integers(0, self.n_units, size=self.n_units)
            weights = self.weights(np.bincount(drawn, minlength=self.n_units))
            found.append(self.fitted(weights) if _reachable(weights).all() else None)
        return found


def _reachable(weights: Any) -> Any:
    """(n, n) whether a chain of points leads from each row's system to each column's."""
    import numpy as np

    reach = (weights > 0) | np.eye(len(weights), dtype=bool)
    for _ in range(max(1, len(weights).bit_length())):
        reach = reach @ reach
    return reach


def _intervals(drawn: Sequence[Any]) -> list[tuple[float, float]]:
    """The 2.5 and 97.5 percentiles of each system's strengths."""
    import numpy as np

    low, high = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
    return [(float(one), float(other)) for one, other in zip(low, high, strict=True)]


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more

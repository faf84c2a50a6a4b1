"""Pairwise preferences to win rates; `scoring.strengths` fits Bradley-Terry strengths to the same games.

A game is (a, b, winner): two systems, and the name of the better one or a declared label of a tie. A tie is half a
point for both, whatever its label says of the reasons. A pair that never met has no win rate: not one half, but none.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand.errors import InvalidInput

__all__ = ["TIES", "Game", "HeadToHead", "points", "win_rate", "win_rates"]

Game = tuple[str, str, str]
TIES = ("tie", "tie (bothbad)")
"""Labels of a tie where none are declared: the usual ones of public collections of games."""


def points(game: Game, ties: Sequence[str] = TIES, *, number: int = 0) -> float:
    """What the first system of a game gets: 1, 0.5 or 0; the second gets the rest.

    Args:
        game: (a, b, winner).
        ties: declared labels of a tie.
        number: of the game, for messages.
    Raises:
        InvalidInput: a system that plays itself, a label that names neither system nor a tie, or a system whose name is
            a tie's.

    >>> points(("x", "y", "x")), points(("x", "y", "tie")), points(("x", "y", "y"))
    (1.0, 0.5, 0.0)
    """
    first, second, winner = game
    if first == second:
        raise InvalidInput(f"games[{number}]: {first!r} plays against itself; a game has two systems")
    if first in ties or second in ties:
        raise InvalidInput(f"games[{number}]: a system is called as a tie is ({', '.join(ties)}); rename one of them")
    if winner in ties:
        return 0.5
    if winner not in (first, second):
        raise InvalidInput(
            f"games[{number}]: the label {winner!r} is unknown; expected {first!r}, {second!r}, or a declared tie "
            f"({', '.join(map(repr, ties))})"
        )
    return 1.0 if winner == first else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadToHead:
    """What one system won against another.

    Args:
        points: wins, and half the ties.
        games: how often they met.
    """

    system: str
    against: str
    points: float
    games: int
    ties: int

    @property
    def rate(self) -> float:
        """Share of the points, in [0, 1]; nan for systems that never met."""
        return self.points / self.games if self.games else math.nan


def win_rates(
    games: Iterable[Game], *, systems: Sequence[str] = (), ties: Sequence[str] = TIES
) -> tuple[HeadToHead, ...]:
    """Each system's record against each other one, in both directions.

    Args:
        games: (a, b, winner).
        systems: those to report, in order; those of the games, in order of appearance, if none are named.
        ties: declared labels of a tie.
    Returns:
        One record for each ordered pair; one that never met has no games, and its rate is nan.
    Raises:
        InvalidInput: as `points`, or a game of a system that is not among those named.

    >>> made = win_rates([("x", "y", "x"), ("x", "y", "tie")], systems=["x", "y", "z"])
    >>> [(one.system, one.against, one.rate) for one in made[:2]]
    [('x', 'y', 0.75), ('x', 'z', nan)]
    """
    won: dict[tuple[str, str], list[float]] = {}
    names = dict.fromkeys(systems)
    for number, game in enumerate(games):
        share = points(game, ties, number=number)
        for name in game[:2]:
            if systems and name not in names:
                raise InvalidInput(f"games[{number}]: {name!r} is none of the systems {', '.join(map(repr, systems))}")
            names.setdefault(name)
        won.setdefault((game[0], game[1]), []).append(share)
        won.setdefault((game[1], game[0]), []).append(1.0 - share)
    return tuple(_record(one, other, won.get((one, other), [])) for one in names for other in names if one != other)


def win_rate(games: Iterable[Game], system: str, against: str, *, ties: Sequence[str] = TIES) -> float:
    """One system's share of the points against another, in [0, 1]; nan if they never met.

    Raises:
        InvalidInput: as `points`.
    """
    both = {system, against}
    shares = [
        share if game[0] == system else 1.0 - share
        for number, game in enumerate(games)
        if (share := points(game, ties, number=number)) is not None and {game[0], game[1]} == both
    ]
    return _record(system, against, shares).rate


def _record(system: str, against: str, shares: Sequence[float]) -> HeadToHead:
    """The record of one system's shares of points."""
    return HeadToHead(
        system=system,
        against=against,
        points=math.fsum(shares),
        games=len(shares),
        ties=sum(share == 0.5 for share in shares),
    )

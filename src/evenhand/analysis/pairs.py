"""What pairwise verdicts come to: how often the order decided, who won against whom, and how strong each system is.

An inconsistent swap is a verdict whose two orders disagree, and counts as a tie. Where the judge said `first` in both
orders, or `second` in both, the place decided: the share of `first` among these is its position preference.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from evenhand.scoring.preference import Game, points
from evenhand.scoring.strengths import Strengths, bradley_terry, has_choix
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record

__all__ = ["SEED", "Pairs", "is_pair"]

SEED = 20250101
"""Of the bootstrap; printed with its intervals, so that equal records give equal figures."""

N_RESAMPLES = 500

_TIE = "\0"  # a label that no system of a file can have


def is_pair(record: Record) -> bool:
    """Whether a record is a pairwise verdict."""
    return bool(record.criteria) and "orders" in record.criteria[0]


class Pairs:
    """Pairwise verdicts of one judge, built record by record."""

    def __init__(self) -> None:
        self._labels: Counter[str] = Counter()
        self._swaps: Counter[str] = Counter()
        self._games: list[tuple[str, Game]] = []
        self._itself = 0

    def add(self, record: Record) -> None:
        """Count one verdict; two systems play a game if both are named, and differ."""
        criterion = record.criteria[0]
        self._labels[criterion["label"]] += 1
        self._swaps[_swap([order["better"] for order in criterion["orders"]])] += 1
        one, other = record.metadata.get("system"), record.metadata.get("system_b")
        if not (isinstance(one, str) and isinstance(other, str) and one and other):
            return
        if one == other:
            self._itself += 1
            return
        winner = {"a": one, "b": other}.get(criterion["label"], _TIE)
        self._games.append((record.item, (one, other, winner)))

    def __add__(self, other: "Pairs") -> "Pairs":
        """Both together."""
        total = Pairs()
        total._labels = self._labels + other._labels
        total._swaps = self._swaps + other._swaps
        total._games = self._games + other._games
        total._itself = self._itself + other._itself
        return total

    def places(self) -> tuple[int, int]:
        """Verdicts that named the first in both orders, and the second in both: the place alone decided."""
        return self._swaps["first_twice"], self._swaps["second_twice"]

    def document(self) -> dict[str, Any]:
        """The figures as `--json` prints them; null where nothing defines one."""
        n = self._labels.total()
        flips = {name: self._swaps[name] for name in ("first_twice", "second_twice", "one_tie")}
        twice = flips["first_twice"] + flips["second_twice"]
        inconsistent = sum(flips.values())
        document: dict[str, Any] = {
            "n": n,
            **{label: self._labels[label] for label in ("a", "b", "tie")},
            "inconsistent": inconsistent,
            "inconsistent_share": inconsistent / n,
            "inconsistent_interval": wilson_interval(inconsistent, n),
            **flips,
            "position_preference": flips["first_twice"] / twice if twice else None,
            "position_interval": wilson_interval(flips["first_twice"], twice) if twice else None,
        }
        if self._games:
            document.update(games=len(self._games), win_rates=self._win_rates(), strengths=self._strengths())
        if self._itself:
            document["system_against_itself"] = self._itself
        return document

    def _win_rates(self) -> list[dict[str, Any]]:
        """Each pair of systems once; reruns of an item are its mean, so that they do not feign more items."""
        made = []
        names = list(dict.fromkeys(name for _, game in self._games for name in game[:2]))
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                by_item: dict[str, list[float]] = {}
                for item, game in self._games:
                    if {game[0], game[1]} == {one, other}:
                        share = points(game, (_TIE,))
                        by_item.setdefault(item, []).append(share if game[0] == one else 1.0 - share)
                made.append(_against(one, other, list(by_item.values())))
        return made

    def _strengths(self) -> dict[str, Any]:
        """Bradley-Terry strengths, or why there are none."""
        if not has_choix():
            return {"systems": [], "undefined": "choix is not installed: pip install 'evenhand[stats]'"}
        import numpy as np

        games = [game for _, game in self._games]
        made = bradley_terry(
            games,
            units=[item for item, _ in self._games],
            ties=(_TIE,),
            rng=np.random.default_rng(SEED),
            n_resamples=N_RESAMPLES,
        )
        return _strengths_document(made)


def _strengths_document(made: Strengths) -> dict[str, Any]:
    return {
        "systems": [{"system": one.system, "strength": one.value, "interval": one.interval} for one in made.strengths],
        "undefined": made.undefined,
        "n_items": made.n_units,
        "resamples": made.n_resamples,
        "resamples_undefined": made.n_undefined,
        "seed": SEED,
    }


def _against(one: str, other: str, shares: Sequence[Sequence[float]]) -> dict[str, Any]:
    """One system's win rate against another, from the shares of each item's reruns; null if they never met."""
    n = len(shares)
    won = math.fsum(math.fsum(reruns) / len(reruns) for reruns in shares)
    return {
        "system": one,
        "against": other,
        "items": n,
        "win_rate": won / n if n else None,
        "interval": wilson_interval(won, n) if n else None,
    }


def _swap(better: Sequence[str]) -> str:
    """How the two orders of one verdict stand to each other."""
    first, second = better
    if first == second:
        return "consistent" if first == "tie" else f"{first}_twice"
    return "one_tie" if "tie" in better else "consistent"

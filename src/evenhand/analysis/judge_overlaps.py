"""What two judges gave to the items that both scored, for every pair of judges.

    judge_overlaps(...).of(judge)     beside each other judge: items in common, own and the other's scores there

Two ways to the same counts: a table of all pairs where judges are few, as they mostly are, and sparse matrices where
they are many, since a table would not fit.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Counts = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

__all__ = ["JudgeOverlaps", "PairTable", "SparseOverlaps", "judge_overlaps"]

_MOST_PAIRS = 2_000_000
_MOST_PLACES = 50_000_000


class JudgeOverlaps(Protocol):
    """Counts for one judge beside each of the others."""

    def of(self, judge: int) -> "Counts":
        """(J,) items in common; there, by level, (J, k) the judge's own scores and (J, k) the other's."""
        ...


def judge_overlaps(
    cells: "Integers", items: "Integers", judges: "Integers", levels: "Integers", shape: tuple[int, int]
) -> JudgeOverlaps:
    """The counts of every pair of judges.

    Args:
        cells: (n,) number of each score's item and criterion together, from 0.
        items: (n,) number of its item alone, from 0.
        judges: (n,) number of its judge, from 0 to J - 1.
        levels: (n,) number of its level, from 0 to k - 1.
        shape: J and k.
    """
    n_judges, k = shape
    places = n_judges * max(len(cells), int(cells.max(initial=-1)) + 1, int(items.max(initial=-1)) + 1)
    small = n_judges * n_judges * k <= _MOST_PAIRS and places <= _MOST_PLACES
    return (PairTable if small else SparseOverlaps).of_scores(cells, items, judges, levels, shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable:
    """All pairs at once.

    Attributes:
        shared: (J, J) items that both scored.
        given: (J, J, k) at [i, j] the scores of j, by level, where i scored too.
    """

    shared: "Integers"
    given: "Integers"

    @classmethod
    def of_scores(
        cls, cells: "Integers", items: "Integers", judges: "Integers", levels: "Integers", shape: tuple[int, int]
    ) -> "PairTable":
        """Count them; see `judge_overlaps`."""
        import numpy as np

        n_judges, k = shape
        cell_of, item_of = _presence(cells, judges, n_judges), _presence(items, judges, n_judges)
        pair = judges * k + levels
        given = [np.bincount(pair[present[cells]], minlength=n_judges * k) for present in cell_of]
        shared = [[np.count_nonzero(one & other) for other in item_of] for one in item_of]
        return cls(
            shared=np.array(shared, np.int64).reshape(n_judges, n_judges),
            given=np.array(given, np.int64).reshape(n_judges, n_judges, k),
        )

    def of(self, judge: int) -> "Counts":
        """See `JudgeOverlaps`."""
        return self.shared[judge], self.given[:, judge], self.given[judge]


def _presence(places: "Integers", judges: "Integers", n_judges: int) -> "NDArray[np.bool_]":
    """(J, n_places) whether a judge scored there."""
    import numpy as np

    found = np.zeros((n_judges, int(places.max(initial=-1)) + 1), bool)
    found[judges, places] = True
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseOverlaps:
    """Pair by pair, from sparse matrices.

    Attributes:
        given: (n_cells, J * k) how often a judge gave a level there.
        cells: (J, n_cells) whether a judge scored there.
        items: (J, n_items) the same for whole items.
        shape: J and k.
    """

    given: Any
    cells: Any
    items: Any
    shape: tuple[int, int]

    @classmethod
    def of_scores(
        cls, cells: "Integers", items: "Integers", judges: "Integers", levels: "Integers", shape: tuple[int, int]
    ) -> "SparseOverlaps":
        """Place them; see `judge_overlaps`."""
        import numpy as np
        from scipy.sparse import csr_matrix

        (n_judges, k), ones = shape, np.ones(len(cells), np.int64)
        n_cells, n_items = int(cells.max(initial=-1)) + 1, int(items.max(initial=-1)) + 1
        return cls(
            given=csr_matrix((ones, (cells, judges * k + levels)), shape=(n_cells, n_judges * k)),
            cells=csr_matrix((ones, (judges, cells)), shape=(n_judges, n_cells)).sign(),
            items=csr_matrix((ones, (judges, items)), shape=(n_judges, n_items)).sign(),
            shape=shape,
        )

    def of(self, judge: int) -> "Counts":
        """See `JudgeOverlaps`."""
        import numpy as np

        n_judges, k = self.shape
        shared = np.asarray((self.items @ self.items[judge].T).todense()).ravel()
        own = np.asarray((self.cells @ self.given[:, judge * k : (judge + 1) * k]).todense())
        theirs = np.asarray((self.cells[judge] @ self.given).todense()).reshape(n_judges, k)
        return shared, own, theirs

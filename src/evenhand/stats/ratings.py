"""Ratings as arrays: missing is nan, everything else a finite number, and what is missing is counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

_LARGEST = 1e100  # squares of larger ones would be infinite

__all__ = ["Pairs", "complete_pairs", "one_value", "rating_matrix", "rating_vector"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """The items that both sides rated.

    Attributes:
        a: (n,) ratings of the first side, without missing ones.
        b: (n,) ratings of the second side, in the same item order.
        kept: (n_items,) which of the items these are.
        n_missing_a: items that the first side did not rate.
        n_missing_b: items that the second side did not rate.
    """

    a: "Floats"
    b: "Floats"
    kept: "Booleans"
    n_missing_a: int
    n_missing_b: int

    @property
    def n(self) -> int:
        """How many items both sides rated."""
        return len(self.a)


def rating_vector(ratings: "ArrayLike | Sequence[float | None]", *, name: str) -> "Floats":
    """One rater's ratings, nan where missing.

    Args:
        ratings: (n_items,) numbers; None or nan where missing.
        name: of the argument, for the message.
    Raises:
        InvalidInput: not one-dimensional, not numbers, or beyond 1e100.
    """
    found = _floats(ratings, name)
    if found.ndim != 1:
        raise InvalidInput(f"{name}: an array of shape {found.shape} came; expected one rating an item")
    return found


def rating_matrix(ratings: "ArrayLike | Sequence[Sequence[float | None]]", *, name: str) -> "Floats":
    """Several raters' ratings, nan where missing.

    Args:
        ratings: (n_items, n_raters) numbers; None or nan where missing.
        name: of the argument, for the message.
    Raises:
        InvalidInput: not two-dimensional, not numbers, or beyond 1e100.
    """
    found = _floats(ratings, name)
    if found.ndim != 2:
        raise InvalidInput(f"{name}: an array of shape {found.shape} came; expected (items, raters)")
    return found


def complete_pairs(ratings_a: "ArrayLike", ratings_b: "ArrayLike") -> Pairs:
    """The items that both sides rated, and how many each left out.

    Raises:
        InvalidInput: the lengths differ, or as `rating_vector`.

    >>> pairs = complete_pairs([1, None, 3], [2, 2, None])
    >>> pairs.n, pairs.n_missing_a, pairs.n_missing_b
    (1, 1, 1)
    """
    import numpy as np

    a, b = rating_vector(ratings_a, name="ratings_a"), rating_vector(ratings_b, name="ratings_b")
    if len(a) != len(b):
        raise InvalidInput(
            f"complete_pairs: {len(a)} ratings beside {len(b)}; expected the same items in the same order"
        )
    has_a, has_b = ~np.isnan(a), ~np.isnan(b)
    kept = has_a & has_b
    return Pairs(
        a=a[kept], b=b[kept], kept=kept, n_missing_a=int((~has_a).sum()), n_missing_b=int((~has_b).sum())
    )  # fmt: skip


def one_value(ratings: "Floats") -> bool:
    """Whether all ratings are the same number."""
    return bool(len(ratings)) and bool((ratings == ratings[0]).all())


def _floats(ratings: object, name: str) -> "Floats":
    """Numbers as floats; None becomes nan."""
    import numpy as np

    try:
        found = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{name}: something that is not a number came; expected numbers, or None where missing"
        ) from error
    if (np.abs(found) > _LARGEST).any():
        raise InvalidInput(f"{name}: a rating beyond {_LARGEST:g} came; expected finite numbers, or None where missing")
    return found

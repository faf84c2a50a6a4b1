"""Spearman's rho and Kendall's tau-b under weights, many resamples at once; equal to scipy's to 1e-12."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.stats.resampling import Kernel
from evenhand.stats.weights import level_weights, weighted_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["kendall_kernel", "spearman_kernel"]

_MANY_ROWS = 400  # from here on the table of a pair is summed first, if it is this much smaller:
_FEWER = 8
_MOST_ROWS = 2048  # signs of all pairs of rows: 32 MB
_MOST_CELLS = 1 << 19
_CACHED = 1 << 16  # cells worked on at once


def spearman_kernel(columns: "Floats", pairs: Sequence[tuple[int, int]] = ((0, 1),)) -> Kernel:
    """Spearman's rho of pairs of columns (n_rows, n_columns), under weights; nan where one column has one value.

    Returns:
        (n_batch, n_pairs) in [-1, 1].
    """
    import numpy as np

    if len(columns) > _MANY_ROWS:
        tables = [_cells(columns[:, [i, j]]) for i, j in pairs]
        if all(len(cells) * _FEWER <= len(columns) for cells, _ in tables):
            return _of_tables(tables)
    levels = [_levels(column) for column in columns.T]

    def rho(weights: "Floats") -> "Floats":
        ranks = [_centred(weights, *found) for found in levels]
        made = np.empty((len(weights), len(pairs)))
        for k, (i, j) in enumerate(pairs):
            (a, ss_a), (b, ss_b) = ranks[i], ranks[j]
            made[:, k] = _quotient(np.einsum("ij,ij,ij->i", weights, a, b), ss_a, ss_b)
        return np.clip(made, -1.0, 1.0)

    return rho


def kendall_kernel(a: "Floats", b: "Floats") -> Kernel | None:
    """Kendall's tau-b of two columns (n_rows,), under weights; nan where one column has one value.

    None where both the pairs of rows and the table of levels are too many to hold at once.
    """
    levels_a, levels_b = _levels(a), _levels(b)
    n_cells = levels_a[1] * levels_b[1]
    if len(a) <= _MOST_ROWS and len(a) ** 2 <= 8 * n_cells:
        return _tau(_surplus_of_pairs(a, b), levels_a, levels_b)
    if n_cells <= _MOST_CELLS:
        return _tau(_surplus_of_table(levels_a, levels_b), levels_a, levels_b)
    return None


def _cells(columns: "Floats") -> "tuple[Floats, Integers]":
    """The distinct rows of two columns, and which of them each row is."""
    import numpy as np

    (codes_a, _), (codes_b, n_b) = _levels(columns[:, 0]), _levels(columns[:, 1])
    _, first, codes = np.unique(codes_a * n_b + codes_b, return_index=True, return_inverse=True)
    return columns[first], codes


def _of_tables(tables: "Sequence[tuple[Floats, Integers]]") -> Kernel:
    """Spearman's rho of pairs with few distinct rows: the weights are summed over each, and the table is correlated."""
    import numpy as np

    of_cells = [spearman_kernel(cells) for cells, _ in tables]
    return lambda weights: np.concatenate(
        [
            kernel(level_weights(weights, codes, len(cells)))
            for kernel, (cells, codes) in zip(of_cells, tables, strict=True)
        ],
        axis=1,
    )


def _levels(column: "Floats") -> "tuple[Integers, int]":
    """The level of each row, from 0 for the lowest, and how many levels there are."""
    import numpy as np

    found, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.intp, copy=False), len(found)


def _centred(weights: "Floats", codes: "Integers", n_levels: int) -> "tuple[Floats, Floats]":
    """Mid-ranks less their mean, (n_batch, n_rows), and their weighted sum of squares, (n_batch,).

    A level's mid-rank is the weight below it plus half its own, up to a constant; the weighted mean of that is half
    the whole weight. All are halves of whole numbers, hence exact, and a column of one value gives exactly 0.
    """
    import numpy as np

    held = level_weights(weights, codes, n_levels)
    above = np.cumsum(held, axis=1)
    ranks = above - 0.5 * held - 0.5 * above[:, -1:]
    return ranks[:, codes], np.einsum("ij,ij,ij->i", held, ranks, ranks)


def _quotient(products: "Floats", squares_a: "Floats", squares_b: "Floats") -> "Floats":
    """products / sqrt(squares_a squares_b), nan where a sum of squares is 0."""
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((squares_a > 0) & (squares_b > 0), products / (np.sqrt(squares_a) * np.sqrt(squares_b)), np.nan)


def _tau(surplus: Kernel, levels_a: "tuple[Integers, int]", levels_b: "tuple[Integers, int]") -> Kernel:
    """tau-b = (concordant - discordant) / sqrt((pairs - tied in a)(pairs - tied in b))."""
    import numpy as np

    def tau_b(weights: "Floats") -> "Floats":
        n = weights.sum(axis=1)
        untied = []
        for codes, n_levels in (levels_a, levels_b):
            held = level_weights(weights, codes, n_levels)
            untied.append((n * n - np.einsum("ij,ij->i", held, held)) / 2.0)
        return np.clip(_quotient(surplus(weights), *untied), -1.0, 1.0)

    return tau_b


def _surplus_of_pairs(a: "Floats", b: "Floats") -> Kernel:
    """Concordant less discordant pairs, from the signs of all pairs of rows."""
    import numpy as np

    signs = np.sign(a[:, None] - a[None, :]) * np.sign(b[:, None] - b[None, :])
    return lambda weights: np.einsum("ij,ij->i", weighted_sums(weights, signs), weights) / 2.0


def _surplus_of_table(levels_a: "tuple[Integers, int]", levels_b: "tuple[Integers, int]") -> Kernel:
    """Concordant less discordant pairs, from the table of levels: what lies below in a, less or more in b."""
    import numpy as np

    (codes_a, n_a), (codes_b, n_b) = levels_a, levels_b
    cells, cell_of_row = np.unique(codes_a * n_b + codes_b, return_inverse=True)

    def of_few(weights: "Floats") -> "Floats":
        flat = np.zeros((len(weights), n_a * n_b))
        flat[:, cells] = level_weights(weights, cell_of_row, len(cells))
        table = flat.reshape(len(weights), n_a, n_b)
        below = np.cumsum(table, axis=1) - table
        less = np.cumsum(below, axis=2) - below
        more = below.sum(axis=2, keepdims=True) - less - below
        found: Floats = np.einsum("ijk,ijk->i", table, less - more)
        return found

    def surplus(weights: "Floats") -> "Floats":
        size = max(1, _CACHED // (n_a * n_b))
        return np.concatenate([of_few(weights[start : start + size]) for start in range(0, len(weights), size)])

    return surplus

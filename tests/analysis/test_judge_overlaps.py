"""Scores of two judges on the items that both have: both ways of counting, against a count by hand."""

import numpy as np
import pytest

from evenhand.analysis.judge_overlaps import PairTable, SparseOverlaps, judge_overlaps

WAYS = [PairTable, SparseOverlaps]


@pytest.mark.parametrize("way", WAYS)
def test_only_scores_on_common_items_are_counted(way: type[PairTable] | type[SparseOverlaps]) -> None:
    # judge 0 scores items 0, 1, 1 (a rerun) with levels 0, 1, 1; judge 1 items 1, 2 with levels 0, 2; judge 2 nothing
    cells = np.array([0, 1, 1, 1, 2])
    pairs = way.of_scores(cells, cells, np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 2]), (3, 3))
    shared, own, theirs = pairs.of(0)
    assert shared.tolist() == [2, 1, 0]
    assert own.tolist() == [[1, 2, 0], [0, 2, 0], [0, 0, 0]]
    assert theirs.tolist() == [[1, 2, 0], [1, 0, 0], [0, 0, 0]]


def test_both_ways_count_the_same() -> None:
    rng = np.random.default_rng(7)
    n, shape = 3_000, (7, 5)
    items, criteria = rng.integers(0, 200, n), rng.integers(0, 3, n)
    judges, levels = rng.integers(0, 6, n), rng.integers(0, 5, n)  # the last judge scored nothing
    given = (items * 3 + criteria, items, judges, levels, shape)
    table, sparse = PairTable.of_scores(*given), SparseOverlaps.of_scores(*given)
    for judge in range(7):
        for one, other in zip(table.of(judge), sparse.of(judge), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_table_that_would_not_fit_is_left_to_sparse_matrices() -> None:
    few = np.array([0, 1])
    assert isinstance(judge_overlaps(few, few, few, few, (2, 2)), PairTable)
    assert isinstance(judge_overlaps(few, few, few, few, (2_000, 2)), SparseOverlaps)


def test_no_scores_have_no_overlap() -> None:
    none = np.zeros(0, np.int64)
    shared, own, theirs = judge_overlaps(none, none, none, none, (2, 1)).of(0)
    assert not shared.any()
    assert not own.any()
    assert not theirs.any()

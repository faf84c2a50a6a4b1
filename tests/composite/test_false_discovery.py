"""A few of the tables of benchmarks/false_discovery.py, which runs 200 of each kind."""

import importlib.util
import sys

import numpy as np
import pytest

from evenhand.composite.recover import recover


@pytest.fixture(scope="module")
def tables(root):
    """The benchmark's makers of tables."""
    spec = importlib.util.spec_from_file_location("false_discovery", root / "benchmarks" / "false_discovery.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(6))
def test_scores_that_come_from_no_rule_are_not_called_unique(tables, number):
    table, _ = tables.null_table(np.random.default_rng([9, 1, number]))
    assert recover(table, "score").verdict != "unique"


@pytest.mark.parametrize("number", range(10))
def test_the_rule_that_made_a_table_survives_or_differs_by_untested_clauses(tables, number):
    truth = tables.true_table(np.random.default_rng([9, 2, number]))
    assert tables.holds_truth(truth, recover(truth.table, "score")) in ("survivor", "untested")

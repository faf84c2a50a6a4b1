"""What clustered items are worth: by hand, and against the bootstrap over clusters."""

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.stats.design_effect import design_effect, rho_influence, worth
from evenhand.stats.rank import spearman
from evenhand.stats.resampling import Bootstrap


def test_copies_of_an_item_are_worth_one() -> None:
    # g / (g - 1) * (k^2 sum u^2) / (n / (n - 1) * k sum u^2) = (20 / 19) * 5 * (99 / 100)
    values = np.random.default_rng(7).normal(size=20)
    found = worth(np.repeat(values, 5), np.repeat(np.arange(20), 5).tolist())
    assert found is not None
    assert found.effect == pytest.approx(20 / 19 * 5 * 99 / 100)
    assert (found.n, found.n_clusters) == (100, 20)
    assert found.items == pytest.approx(100 / found.effect)


def test_a_cluster_an_item_changes_nothing() -> None:
    assert design_effect(np.random.default_rng(7).normal(size=50), range(50)) == pytest.approx(1.0)


def test_sources_whose_items_offset_each_other_are_not_worth_more_than_their_items() -> None:
    assert design_effect([1.0, -1.0, 2.0, -2.0], ["a", "a", "b", "b"]) == 1.0


def test_without_two_sources_or_any_pull_there_is_no_design_effect() -> None:
    assert design_effect([1.0, 2.0], ["a", "a"]) is None
    assert design_effect([1.0, 1.0], ["a", "b"]) is None
    assert worth(rho_influence([7, 7, 7], [1, 2, 3]), ["a", "a", "b"]) is None
    assert worth([], []) is None


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(InvalidInput, match="expected one an item"):
        design_effect([1.0], ["a", "b"])
    with pytest.raises(InvalidInput, match="expected the same ones"):
        rho_influence([1.0], [1.0, 2.0])


def test_the_effect_on_rho_is_the_bootstraps() -> None:
    rng = np.random.default_rng(7)
    sources = np.repeat(np.arange(40), 10)
    kind = rng.choice([-1.0, 1.0], 40)[sources]  # in some sources the judge is right, in others it is upside down
    human = rng.normal(size=400)
    judge = np.round(1.5 * kind * human + human + rng.normal(size=400))
    effect = design_effect(rho_influence(judge, human), sources.tolist())
    over = [
        spearman(judge, human, bootstrap=Bootstrap(n_resamples=999, seed=7, clusters=clusters))
        for clusters in (None, tuple(sources.tolist()))
    ]
    alone, together = (one.high - one.low for one in over if one.low is not None and one.high is not None)
    assert effect is not None
    assert effect > 3.0
    assert (together / alone) ** 2 == pytest.approx(effect, rel=0.2)

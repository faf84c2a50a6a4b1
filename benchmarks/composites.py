"""Weight draws, rank acceptability and exact answers about leaders, beside pymcdm and scikit-criteria.

Processor seconds on random tables. Neither library has a sampler: each is timed over a few draws, and its time a draw
is scaled to as many as ours, which the line says. The comparison comes first, the small table before the large one.
Run: python benchmarks/composites.py [--draws 100000]        (pip install --group bench for the ratios)
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from evenhand.composite.reweight import reweight
from evenhand.composite.reweighting.draws import acceptability, leader_counts
from evenhand.composite.reweighting.form import WeightedForm, weighted_form
from evenhand.composite.reweighting.leaders import nearest_flips, possible_leaders
from evenhand.composite.reweighting.region import weight_region
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.table import Table

SIZES = ((41, 4), (500, 20))
TARGETS = {(41, 4): (0.1, 0.25), (500, 20): (2.0, None)}
CHUNK_CELLS = 2_000_000
SCALED_DRAWS = {(41, 4): 200, (500, 20): 40}
LONG_ENOUGH = 2.0  # seconds after which a call is not repeated


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument(
        "--memory", action="store_true", help="one re-weighting of the large table, and the peak memory"
    )
    options = parser.parse_args()
    if options.memory:
        print(f"{peak_memory(options.draws):,.0f}")
        return
    draws = options.draws
    print(f"{draws:,} weight draws, processor seconds, best of 5 or of as many as take {LONG_ENOUGH:g} s")
    for n, m in SIZES:
        print(f"{n} systems, {m} components", flush=True)
        compare(n, m, draws)
        measure(n, m, draws)
    own = [sys.executable, __file__, "--memory", "--draws", str(draws)]
    peak = subprocess.run(own, check=True, capture_output=True, text=True).stdout.strip()
    print(f"peak memory of `rank reweight` on the large table, in a process of its own: {peak} MB (target 500 MB)")


def peak_memory(draws: int) -> float:
    """MB at the most, numpy and scipy included."""
    table, rule = tabled(drawn(*SIZES[-1]))
    reweight(parse_rule(rule), table, n_draws=draws)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n: int, m: int, draws: int) -> None:
    """Ours."""
    table, rule = tabled(drawn(n, m))
    form = weighted_form(parse_rule(rule), table)
    region = weight_region(form.labels)
    leaders, ranks = TARGETS[n, m]
    show("leader of every draw", lambda: leader_counts(form, vectors(form, draws, n)), leaders)
    show(
        "rank acceptability and pairs",
        lambda: acceptability(form, region, rng=np.random.default_rng(0), n_draws=draws), ranks,
    )  # fmt: skip
    led = [int(own) for own in np.flatnonzero(leader_counts(form, vectors(form, draws, n)))]
    show("possible leaders", lambda: possible_leaders(form, region, led))
    show("nearest flips to all rivals", lambda: nearest_flips(form, region, form.weights))
    show("everything `rank reweight` gives", lambda: reweight(parse_rule(rule), table, n_draws=draws))


def compare(n: int, m: int, draws: int) -> None:
    """The same weighted product by the libraries, in the same run as ours."""
    form = weighted_form(parse_rule(tabled(drawn(n, m))[1]), tabled(drawn(n, m))[0])
    ours = seconds(lambda: leader_counts(form, vectors(form, draws, n)))
    print(f"  {'weighted product, ours':<34} {ours:9.3f} s", flush=True)
    few = SCALED_DRAWS[n, m]
    for name, each in others(drawn(n, m), few):
        print(
            f"  {name:<34} {each * draws:9.1f} s   {each * draws / ours:7,.0f} times ours "
            f"({each * 1e3:.2f} ms a draw over {few} draws, scaled)", flush=True,
        )  # fmt: skip


def show(name: str, call: Callable[[], object], target: float | None = None) -> None:
    """One line."""
    print(f"  {name:<34} {seconds(call):9.3f} s" + ("" if target is None else f"   (target {target} s)"), flush=True)


def drawn(n: int, m: int) -> "np.ndarray[Any, Any]":
    """The components."""
    return np.random.default_rng(20261129).uniform(1, 100, (n, m))


def tabled(values: "np.ndarray[Any, Any]") -> tuple[Table, str]:
    """The values as a table, and the geometric mean of all columns."""
    columns = {f"c{at}": [f"{one:.4f}" for one in values[:, at]] for at in range(values.shape[1])}
    return Table.of_texts(columns), f"geomean({', '.join(columns)})"


def vectors(form: WeightedForm, draws: int, n: int) -> "Iterator[np.ndarray[Any, Any]]":
    """Weight vectors in chunks."""
    return weight_region(form.labels).draws(np.random.default_rng(0), draws, CHUNK_CELLS // n)


def others(values: "np.ndarray[Any, Any]", few: int) -> Iterator[tuple[str, float]]:
    """Seconds a draw for the weighted product of each library that is installed."""
    weights = np.random.default_rng(1).dirichlet(np.ones(values.shape[1]), few)
    m = values.shape[1]
    if find_spec("pymcdm") is None:
        print("  pymcdm is not installed; pip install --group bench")
    else:
        method = import_module("pymcdm.methods").WPM()
        each = seconds(lambda: [method(values, one, np.ones(m)) for one in weights], 2) / few
        yield f"pymcdm {version('pymcdm')} WPM", each
    if find_spec("skcriteria") is None:
        print("  scikit-criteria is not installed; pip install --group bench")
    else:
        matrix, model = import_module("skcriteria").mkdm, import_module("skcriteria.agg.simple").WeightedProductModel()
        calls = [{"matrix": values, "objectives": [max] * m, "weights": one} for one in weights]
        each = seconds(lambda: [model.evaluate(matrix(**call)) for call in calls], 2) / few
        yield f"scikit-criteria {version('scikit-criteria')} WPM", each


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Processor seconds of the fastest of several calls, fewer of a long one; the machine may be shared."""
    best, spent = float("inf"), 0.0
    for _ in range(repeats):
        before = time.process_time()
        call()
        best = min(best, took := time.process_time() - before)
        spent += took
        if spent > LONG_ENOUGH:
            break
    return best


if __name__ == "__main__":
    main()

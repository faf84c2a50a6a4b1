"""How often the percentile interval of Spearman's rho holds the true rho, at 60 items: six scenarios.

A latent grade and a latent rating are normal with correlation r. The human gives five levels of equal probability; the
judge ten of equal probability, or four with shares 10, 62, 24 and 4 % (collapsed). The true rho is computed from the
cells' probabilities. Each set of 60 items goes through `evenhand.stats.rank.spearman` as a user's would.

Why 4,000 sets: a coverage of 95 % then has a Monte-Carlo standard error of sqrt(.95 * .05 / 4000) = 0.34 points, so
that two of them, 0.7 points, are small beside the two points by which it may miss (93 to 97 %); 1,000 sets would leave
1.4 points. 999 resamples and not 9,999: the ends then move by chance, which widens nothing on average.

Run: python benchmarks/coverage.py [--sets 4000] [--resamples 999] [--seed 1]
"""

import argparse
import time
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal, norm

from evenhand.stats.rank import bonett_wright_interval, spearman
from evenhand.stats.rank_kernels import spearman_kernel
from evenhand.stats.resampling import Bootstrap

N_ITEMS = 60
HUMAN = (0.2,) * 5
JUDGES = {"10 levels": (0.1,) * 10, "collapsed": (0.10, 0.62, 0.24, 0.04)}
LATENT = (0.3, 0.6, 0.85)

Array = np.ndarray[Any, np.dtype[np.float64]]


def main() -> None:
    """Print one line a scenario."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"{chosen.sets:,} sets of {N_ITEMS} items, {chosen.resamples:,} resamples, seed {chosen.seed}, nominal 95 %")
    print(
        "judge       latent  true rho  percentile (SE)  below  above  width   Bonett-Wright (SE)  width   refused    s"
    )
    streams = np.random.SeedSequence(chosen.seed).spawn(len(JUDGES) * len(LATENT))
    scenarios = [(name, latent) for name in JUDGES for latent in LATENT]
    for (name, latent), stream in zip(scenarios, streams, strict=True):
        print(line(name, latent, chosen.sets, chosen.resamples, np.random.default_rng(stream)), flush=True)


def line(name: str, latent: float, n_sets: int, n_resamples: int, rng: np.random.Generator) -> str:
    """Coverage of one scenario."""
    start = time.perf_counter()
    truth = true_rho(JUDGES[name], latent)
    ends, cross = np.full((n_sets, 2), np.nan), np.full((n_sets, 2), np.nan)
    for k, seed in enumerate(rng.integers(0, 2**31, n_sets).tolist()):
        judge, human = sample(JUDGES[name], latent, rng)
        found = spearman(judge, human, bootstrap=Bootstrap(n_resamples=n_resamples, seed=seed))
        if found.value is not None and found.low is not None and found.high is not None:
            ends[k] = found.low, found.high
            cross[k] = bonett_wright_interval(found.value, N_ITEMS)
    given = ~np.isnan(ends).any(axis=1)
    share, error = covered(ends[given], truth)
    other, other_error = covered(cross[given], truth)
    below, above = (ends[given, 1] < truth).mean(), (ends[given, 0] > truth).mean()
    widths = [float(np.diff(found[given], axis=1).mean()) for found in (ends, cross)]
    return (
        f"{name:<11} {latent:5.2f}  {truth:8.3f}   {100 * share:6.2f} ({100 * error:.2f})   {100 * below:5.2f}  "
        f"{100 * above:5.2f}  {widths[0]:.3f}        {100 * other:6.2f} ({100 * other_error:.2f})  {widths[1]:.3f}  "
        f"{int((~given).sum()):7d}  {time.perf_counter() - start:5.1f}"
    )


def covered(ends: Array, truth: float) -> tuple[float, float]:
    """Share of intervals that hold the truth, and its Monte-Carlo standard error."""
    share = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    return share, float(np.sqrt(share * (1.0 - share) / len(ends)))


def sample(judge: tuple[float, ...], latent: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """One set of items: ratings and grades."""
    first = rng.standard_normal(N_ITEMS)
    second = latent * first + np.sqrt(1.0 - latent**2) * rng.standard_normal(N_ITEMS)
    return np.searchsorted(cuts(judge), first).astype(float), np.searchsorted(cuts(HUMAN), second).astype(float)


def cuts(shares: tuple[float, ...]) -> Array:
    """Where the normal distribution is cut so that its pieces have these shares."""
    return np.asarray(norm.ppf(np.cumsum(shares)[:-1]))


def true_rho(judge: tuple[float, ...], latent: float) -> float:
    """rho of the population: the kernel, weighted by the probabilities of the cells instead of counts."""
    joint = multivariate_normal(cov=[[1.0, latent], [latent, 1.0]])
    edges = [np.concatenate([[-12.0], cuts(shares), [12.0]]) for shares in (judge, HUMAN)]
    below = np.array([[joint.cdf([a, b]) for b in edges[1]] for a in edges[0]])
    cells = np.diff(np.diff(below, axis=0), axis=1)
    levels = np.indices(cells.shape).reshape(2, -1).T.astype(float)
    return float(spearman_kernel(levels)(cells.reshape(1, -1))[0, 0])


if __name__ == "__main__":
    main()

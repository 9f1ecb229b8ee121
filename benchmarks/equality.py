"""Simulate how often systems are called equal or not inferior, wrongly and rightly.

    python benchmarks/equality.py [simulations]

Wrongly: the true mean difference is exactly -margin (.01). In populations of losses a share of all
queries loses a lot; the others gain as much as brings the mean to -margin. Where only two
differences occur, the rates are exact sums of binomial probabilities; others are simulated.
Rightly: the true mean difference is 0. With BEIR_EVAL_REALDATA=folder, differences of real runs are
shifted to a mean of -margin and resampled.
"""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_differences
from scipy import stats

from beir_eval.significance.equivalence import margin_tests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats

SIMULATIONS, MARGIN, ALPHA = 4_000, 0.01, 0.05
#: Numbers of queries; a margin of .01 can be shown from 299 queries on.
GRID = (10, 25, 50, 100, 150, 200, 250, *range(265, 301), 325, 350, 400, 475, 500, 600, 750, 1000)
#: (standard deviation, number of queries, the share of "equivalent" that is required) if there is
#: no difference.
POWER_CASES = (
    (0.02, 300, None),
    (0.02, 500, 0.95),
    (0.05, 300, None),
    (0.05, 500, 0.70),
    (0.05, 1000, 0.95),
    (0.1, 500, None),
    (0.1, 1000, 0.65),
    (0.1, 3000, 0.95),
)
REAL_SIZES = (50, 300, 1000)
HIGHEST_PAIRS = 12


class Population(NamedTuple):
    """Differences with mean -MARGIN: a share of queries loses, the others gain, plus noise."""

    name: str
    share: float
    loss: float
    noise: float = 0.0

    @property
    def gain(self) -> float:
        """The mean difference of the queries that do not lose."""
        return (self.share * self.loss - MARGIN) / (1 - self.share)

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Return differences f8[shape], with noise on the queries that do not lose."""
        others = np.clip(rng.normal(self.gain, self.noise, shape), -1, 1)
        return np.where(rng.random(shape) < self.share, -self.loss, others)


POPULATIONS = (
    Population("normal, sd .02", 0.0, 0.0, 0.02),
    Population("10% lose .1", 0.10, 0.1),
    Population("5% lose .2", 0.05, 0.2),
    Population("2% lose .5", 0.02, 0.5),
    Population("1% lose 1", 0.01, 1.0),
    Population("5% lose 1", 0.05, 1.0),
    Population("2% lose 1, noise of sd .01", 0.02, 1.0, 0.01),
)


def rates(differences: Floats, score_range: float | None = 1.0) -> tuple[float, float]:
    """Return the shares of the rows f8[S, Q] that are called equal, and not inferior."""
    tests = margin_tests(differences, delta=MARGIN, score_range=score_range)
    return float((tests.p_equal <= ALPHA).mean()), float((tests.p_worse <= ALPHA).mean())


def exact_rates(
    population: Population, num_queries: int, score_range: float | None = 1.0
) -> tuple[float, float]:
    """Return the probabilities of "equivalent" and "not inferior" for two possible differences."""
    counts = np.arange(num_queries + 1)
    probabilities = stats.binom.pmf(counts, num_queries, population.share)
    counts = counts[probabilities > 1e-9]
    values = np.where(np.arange(num_queries) < counts[:, None], -population.loss, population.gain)
    tests = margin_tests(values, delta=MARGIN, score_range=score_range)
    weights = probabilities[counts]
    return (
        float(weights @ (tests.p_equal <= ALPHA)),
        float(weights @ (tests.p_worse <= ALPHA)),
    )


def print_wrong_verdicts(simulations: int) -> None:
    """Print the error rates of each population: of this test, and of t tests alone."""
    print(
        f"True loss {MARGIN:g}: how often it is called equal or not inferior, at level {ALPHA:g}. "
        "The highest rate\nover the numbers of queries, that number in brackets. Simulated rates "
        f"({simulations:,} each) have a standard\nerror of at most "
        f"{math.sqrt(ALPHA * (1 - ALPHA) / simulations):.4f}; the others are exact."
    )
    print("| differences | equal | not inferior | t tests alone: not inferior at 50, 300, 1000 |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(0)
    for population in POPULATIONS:
        by_size, by_t = {}, []
        for num_queries in GRID:
            if population.noise:
                by_size[num_queries] = rates(population.draw((simulations, num_queries), rng))
            else:
                by_size[num_queries] = exact_rates(population, num_queries)
        for num_queries in (50, 300, 1000):
            if population.noise:
                draws = population.draw((simulations, num_queries), rng)
                by_t.append(rates(draws, None)[1])
            else:
                by_t.append(exact_rates(population, num_queries, None)[1])
        highest = [
            max((pair[verdict], num_queries) for num_queries, pair in by_size.items())
            for verdict in (0, 1)
        ]
        cells = [f"{rate:.4f} ({num_queries})" for rate, num_queries in highest]
        kind = ", simulated" if population.noise else ""
        t_cells = ", ".join(f"{rate:.3f}" for rate in by_t)
        print(f"| {population.name}{kind} | {' | '.join(cells)} | {t_cells} |", flush=True)


def print_power(simulations: int) -> None:
    """Print how often equal systems with normal differences are called equal."""
    print(f"\nTrue difference 0, margin {MARGIN:g}: how often systems are called equal.")
    print("| sd | queries | required | equal | standard error | t tests alone |")
    print("|---|---|---|---|---|---|")
    for deviation, num_queries, required in POWER_CASES:
        rng = np.random.default_rng(num_queries)
        differences = np.clip(rng.normal(0, deviation, (simulations, num_queries)), -1, 1)
        equal, equal_by_t = rates(differences)[0], rates(differences, None)[0]
        error = math.sqrt(equal * (1 - equal) / simulations)
        bar = "" if required is None else f"{required:.2f}"
        print(
            f"| {deviation:g} | {num_queries} | {bar} | {equal:.3f} | {error:.3f} | "
            f"{equal_by_t:.3f} |",
            flush=True,
        )


def shifted_differences() -> Iterator[Floats]:
    """Yield the differences f8[Q] of pairs of real runs, shifted to -MARGIN, that stay above -1."""
    for differences in real_differences().values():
        shifted = differences - differences.mean() - MARGIN
        if differences.any() and np.abs(shifted).max() <= 1:
            yield shifted


def print_real_verdicts(simulations: int) -> None:
    """Print error rates for resampled differences of real runs: the mean and highest of pairs.

    The highest of many simulated rates is too high by chance: it is that of new samples, ten times
    as many, of the pairs with the highest rates.
    """
    pairs = list(shifted_differences())
    print(f"\n{len(pairs)} pairs of real runs and measures, {simulations:,} samples of each.")
    print("| queries | not inferior: mean | highest | t tests alone: mean | highest |")
    print("|---|---|---|---|---|")
    for num_queries in REAL_SIZES:
        rng = np.random.default_rng(num_queries)
        cells = []
        for score_range in (1.0, None):
            by_pair = [
                rates(rng.choice(shifted, (simulations, num_queries)), score_range)[1]
                for shifted in pairs
            ]
            highest = max(
                rates(rng.choice(pairs[index], (10 * simulations, num_queries)), score_range)[1]
                for index in np.argsort(by_pair)[-HIGHEST_PAIRS:]
            )
            cells += [f"{np.mean(by_pair):.4f}", f"{highest:.4f}"]
        print(f"| {num_queries} | {' | '.join(cells)} |", flush=True)


def main(simulations: int = SIMULATIONS) -> None:
    """Print all tables."""
    print_wrong_verdicts(simulations)
    print_power(simulations // 2)
    if os.environ.get("BEIR_EVAL_REALDATA"):
        print_real_verdicts(simulations // 40)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

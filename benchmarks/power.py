"""Compare the power that is claimed from a sample with the true power of the sign-flip test.

    BEIR_EVAL_REALDATA=folder python benchmarks/power.py [samples]

A population consists of the differences of two real runs by query: those that are not 0 are
centred, and shifted so that the mean is a true difference. From each sample, with a true difference
of 0, the difference that 80% of such experiments detect is estimated, by the t formula and by
``estimate_power``. Its true power is that of sign-flip tests of samples from the population with
this true difference, for the direction with the lower power.

The kurtosis of all pairs of runs, of their differences that are not 0, is the ground of the usual
one in ``deviation_factors``.

The second table is for queries that are won, lost or tied, where ``estimate_win_power`` counts wins
among those that differ. It is computed, not simulated: all numbers of differing queries and of wins
are weighted with their probabilities.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_differences, skewness
from scipy.stats import binom

from beir_eval.significance.power import (
    estimate_power,
    estimate_win_power,
    minimum_detectable_difference,
)
from beir_eval.significance.sign_flip import sign_flip_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats

SAMPLES, TRUE_SAMPLES, DRAWS, POWER, ALPHA = 300, 2_000, 999, 0.8, 0.05
SIZES = (10, 25, 50, 300)
MEASURES = ("nDCG@10", "MAP@1000")
USUAL_KURTOSIS, FEWEST_FOR_KURTOSIS = 10, 20
#: Populations differ on more than this share of the queries; some are skewed at least this much.
MOSTLY, SKEWED = 0.4, 1.5
#: Numbers of queries, and shares that are won or lost; and levels.
WIN_CASES = ((30, 0.4), (50, 0.3), (50, 0.5), (100, 0.15), (300, 0.06), (300, 0.2), (1000, 0.03))
WIN_LEVELS = (0.05, 0.05 / 9)


class Population(NamedTuple):
    """Centred differences that are not 0, f8[m], and the share of queries that they make up."""

    name: str
    differing: Floats
    share: float

    def draw(self, shape: tuple[int, int], difference: float, rng: np.random.Generator) -> Floats:
        """Return samples f8[shape] whose true mean is ``difference``."""
        values = rng.choice(self.differing, shape) + difference / self.share
        return np.where(rng.random(shape) < self.share, values, 0.0)

    @property
    def deviation(self) -> float:
        """The standard deviation of all differences, without a true difference."""
        return float(np.sqrt(self.share * np.mean(self.differing**2)))


def populations() -> Iterator[Population]:
    """Yield six populations: symmetric, skewed, and with many ties."""
    pairs = real_differences()
    candidates = {
        label: differences[differences != 0]
        for label, differences in pairs.items()
        if np.mean(differences != 0) > MOSTLY and label.split()[1] in MEASURES
    }
    shares = {label: len(differing) / len(pairs[label]) for label, differing in candidates.items()}
    by_skewness = sorted(candidates, key=lambda label: abs(skewness(candidates[label])))
    skewed = next(label for label in by_skewness if abs(skewness(candidates[label])) > SKEWED)
    chosen = {
        "symmetric": next(label for label in by_skewness if "nDCG" in label),
        "symmetric AP": next(label for label in by_skewness if "MAP" in label),
        "skewed": skewed,
        "most skewed": by_skewness[-1],
        "symmetric, 90% ties": next(label for label in by_skewness if "nDCG" in label),
        "skewed, 90% ties": skewed,
    }
    for name, label in chosen.items():
        share = 0.1 if "ties" in name else shares[label]
        kind = f"skewness {skewness(candidates[label]):+.1f}, {1 - share:.0%} ties"
        centred = candidates[label] - candidates[label].mean()
        yield Population(f"{name} ({label.split()[1]}, {kind})", centred, share)


def power_curve(population: Population, num_queries: int) -> tuple[Floats, Floats]:
    """Return true differences, and the true power against each, both f8[G]."""
    unit = 2.8 * population.deviation / math.sqrt(num_queries)
    differences = unit * np.geomspace(0.2, 8, 22)
    powers = []
    for difference in differences:
        detected = []
        for direction in (1, -1):
            rng = np.random.default_rng(num_queries)
            samples = population.draw((TRUE_SAMPLES, num_queries), direction * difference, rng)
            tests = sign_flip_many(samples, draws=DRAWS, rng=1)
            significant = (tests.p <= ALPHA) & (np.sign(tests.differences) == direction)
            detected.append(float(np.mean(significant)))
        powers.append(min(detected))
    return differences, np.maximum.accumulate(powers)


def print_row(population: Population, num_queries: int, samples: int) -> None:
    """Print the claims from samples of one size against the truth."""
    differences, powers = power_curve(population, num_queries)
    reachable = powers[-1] >= POWER
    truth = float(np.interp(POWER, powers, differences)) if reachable else math.inf
    rng = np.random.default_rng(num_queries + 1)
    by_t, ours, covered, queries_covered = [], [], [], []
    for sample in population.draw((samples, num_queries), 0.0, rng):
        deviation = float(sample.std(ddof=1))
        claimed = minimum_detectable_difference(deviation, num_queries) if deviation else 0.0
        by_t.append(float(np.interp(claimed, differences, powers, left=0.0)))
        estimate = estimate_power(sample, delta=truth if reachable else 1.0)
        if estimate.detectable is None:
            continue
        low, high = estimate.detectable_low or 0.0, estimate.detectable_high or 0.0
        ours.append(float(np.interp(estimate.detectable, differences, powers, left=0.0)))
        covered.append(low <= truth <= high)
        queries = (estimate.queries_low or 0, estimate.queries_high or math.inf)
        queries_covered.append(queries[0] <= num_queries <= queries[1])
    cells = [f"{np.mean(by_t):.2f}", f"{len(ours) / samples:.2f}"]
    cells += [
        f"{np.mean(values):.2f}" if len(values) >= samples / 20 else ""
        for values in (ours, covered, queries_covered)
    ]
    shown = f"{truth:.3f}" if reachable else "none"
    print(f"| {population.name} | {num_queries} | {shown} | {' | '.join(cells)} |", flush=True)


def win_power(difference: float, share: float, num_queries: int, level: float) -> float:
    """Return the power of the sign-flip test if this share of queries is won or lost."""
    differing = np.arange(num_queries + 1)
    fewest_wins = binom.isf(level / 2, differing, 0.5) + 1
    detected = binom.sf(fewest_wins - 1, differing, (1 + difference / share) / 2)
    return float((binom.pmf(differing, num_queries, share) * detected).sum())


def print_win_row(num_queries: int, share: float, level: float) -> None:
    """Print the claims from all samples in which this share is won or lost against the truth."""
    grid = share * np.linspace(0.002, 1, 500)
    powers = np.maximum.accumulate(
        [win_power(difference, share, num_queries, level) for difference in grid]
    )
    truth = float(grid[np.searchsorted(powers, POWER)]) if powers[-1] >= POWER else math.inf
    given = power = held = 0.0
    for num_differing in range(2, num_queries + 1):
        probability = float(binom.pmf(num_differing, num_queries, share))
        sample = np.zeros(num_queries)
        sample[:num_differing] = 1
        sample[: num_differing // 2] = -1
        estimate = estimate_win_power(sample, alpha=level)
        if estimate.detectable is None:
            continue
        low, high = estimate.detectable_low or 0.0, estimate.detectable_high or 0.0
        given += probability
        power += probability * float(np.interp(estimate.detectable, grid, powers))
        held += probability * (low <= truth <= high)
    shown = f"{truth:.3f}" if math.isfinite(truth) else "none"
    cells = [f"{given:.3f}", f"{power / given:.2f}", f"{held / given:.2f}", f"{given - held:.3f}"]
    print(f"| {num_queries} | {share:.0%} | {level:.2g} | {shown} | {' | '.join(cells)} |")


def print_wins() -> None:
    """Print a row for each share of won and lost queries, number of queries and level."""
    print(
        "| queries | won or lost | level | truly detectable | estimate given | its true power | "
        "its range holds the truth | given, and its range does not |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for level in WIN_LEVELS:
        for num_queries, share in WIN_CASES:
            print_win_row(num_queries, share, level)


def print_kurtosis() -> None:
    """Print the kurtosis that half, and nine of ten, of the pairs of real runs stay below."""
    kurtosis = []
    for differences in real_differences().values():
        differing = differences[differences != 0]
        if len(differing) >= FEWEST_FOR_KURTOSIS:
            centred = differing - differing.mean()
            kurtosis.append(np.mean(centred**4) / np.mean(centred**2) ** 2)
    half, most = np.percentile(kurtosis, (50, 90))
    below = np.mean(np.array(kurtosis) < USUAL_KURTOSIS)
    print(
        f"Kurtosis of {len(kurtosis)} pairs: median {half:.1f}, 90% below {most:.1f}; "
        f"{below:.0%} are below {USUAL_KURTOSIS}.\n"
    )


def main(samples: int = SAMPLES) -> None:
    """Print the kurtosis of all pairs, then a row for each population and number of queries."""
    print_kurtosis()
    print(
        f"{samples} samples each: standard error of a share at most "
        f"{math.sqrt(0.25 / samples):.3f}; of the true power {math.sqrt(0.16 / TRUE_SAMPLES):.3f}."
        "\nTrue power: the mean over samples of the true power against the claimed difference "
        f"(nominal {POWER:.0%})."
    )
    print(
        "| differences | queries | truly detectable | true power, t formula | estimate given | its "
        "true power | its range holds the truth | range of queries holds the number |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for population in populations():
        for num_queries in SIZES:
            print_row(population, num_queries, samples)
    print()
    print_wins()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

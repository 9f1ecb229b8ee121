"""Simulate the gate: how often it fails equal systems, and how often it misses a loss.

    BEIR_EVAL_REALDATA=folder python benchmarks/gate.py [samples]

The first table draws differences of two real runs by query, centred and shifted by a true loss, as
``power.py`` does. The second table resamples the queries of TREC-DL 2019: the scores of up to ten
real systems are shifted so that all means are equal, except that one candidate truly loses 0.05.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from power import ALPHA, DRAWS, POWER, Population, populations
from real_differences import real_scores

from beir_eval.significance.multiple_comparisons import max_t_p
from beir_eval.significance.power import estimate_power
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_flip import sign_flip_many
from beir_eval.significance.sign_vectors import SignVectors, position_keys

SAMPLES, CLAIMS, TRUE_SAMPLES = 2_000, 200, 2_000
SIZES = (10, 25, 50, 100)
NUM_CANDIDATES = (1, 2, 4, 9)
MEASURE, QUERIES, LOSS = "nDCG@10", 50, 0.05


def failed(population: Population, num_queries: int, loss: float, samples: int, seed: int) -> float:
    """Return the share of samples with a true loss in which the gate fails the system."""
    rng = np.random.default_rng(seed)
    differences = population.draw((samples, num_queries), -loss, rng)
    tests = sign_flip_many(differences, alternative="less", draws=DRAWS, rng=1)
    return float(np.mean(tests.p <= ALPHA))


def missed_at_the_claims(population: Population, num_queries: int) -> tuple[float, float]:
    """Return how often a loss is stated, and how often such a loss is truly missed."""
    unit = 2.5 * population.deviation / math.sqrt(num_queries)
    losses = unit * np.geomspace(0.2, 8, 16)
    missed = np.minimum.accumulate(
        [1 - failed(population, num_queries, loss, TRUE_SAMPLES, 3) for loss in losses]
    )
    rng = np.random.default_rng(num_queries)
    stated = []
    for sample in population.draw((CLAIMS, num_queries), 0.0, rng):
        estimate = estimate_power(sample, power=POWER, alternative="less")
        if estimate.detectable is not None:
            stated.append(float(np.interp(estimate.detectable, losses, missed, left=1.0)))
    return len(stated) / CLAIMS, float(np.mean(stated)) if stated else math.nan


def print_single_candidates(samples: int) -> None:
    """Print the rates of a candidate by itself."""
    print(
        f"{samples:,} samples each: standard error at most {math.sqrt(0.25 / samples):.3f} "
        f"({math.sqrt(ALPHA * (1 - ALPHA) / samples):.4f} at 5%); losses stated in {CLAIMS} samples"
    )
    print(
        "| differences | queries | fails, equal | fails, loss of 0.05 | loss stated | "
        "missed at that loss (nominal 20%) |"
    )
    print("|---|---|---|---|---|---|")
    for population in populations():
        for num_queries in SIZES:
            equal = failed(population, num_queries, 0.0, samples, 1)
            lost = failed(population, num_queries, LOSS, samples, 2)
            share, missed = missed_at_the_claims(population, num_queries)
            print(
                f"| {population.name} | {num_queries} | {equal:.3f} | {lost:.3f} | {share:.2f} | "
                f"{'' if math.isnan(missed) else f'{missed:.2f}'} |",
                flush=True,
            )


def print_several_candidates(samples: int) -> None:
    """Print the chance that a worse candidate fails, alone and among others."""
    _, scores = real_scores("dl19")[MEASURE]
    scores = scores[np.unique(scores.mean(axis=1), return_index=True)[1]]
    differences = scores[1:] - scores[0]
    differences -= differences.mean(axis=1, keepdims=True)
    print(
        f"\n{MEASURE} of TREC-DL 2019, {QUERIES} queries resampled, {samples:,} samples: standard "
        f"error at most {math.sqrt(0.25 / samples):.3f}"
    )
    print(
        "| candidates | gate fails the one that loses 0.05 | corrected verdict is worse | gate "
        "fails any of as many equal ones |"
    )
    print("|---|---|---|---|")
    for count in NUM_CANDIDATES:
        rng = np.random.default_rng(5)
        caught, verdicts, false_alarms = [], [], []
        for _ in range(samples):
            queries = rng.integers(0, differences.shape[1], QUERIES)
            candidates = differences[:count, queries].copy()
            equal = sign_flip_many(candidates, alternative="less", draws=DRAWS, rng=1)
            false_alarms.append(bool((equal.p <= ALPHA).any()))
            candidates[0] -= LOSS
            alone = sign_flip_many(candidates[:1], alternative="less", draws=DRAWS, rng=1)
            caught.append(bool(alone.p[0] <= ALPHA))
            family = Family(candidates, position_keys(QUERIES), np.arange(count))
            signs = SignVectors.choose(QUERIES, DRAWS, 1)
            [flipped] = randomise([family], signs, largest="family")
            verdicts.append(bool(max_t_p(flipped)[0] <= ALPHA and candidates[0].mean() < 0))
        rates = (np.mean(rates) for rates in (caught, verdicts, false_alarms))
        print(f"| {count} | {' | '.join(f'{rate:.3f}' for rate in rates)} |", flush=True)


def main(samples: int = SAMPLES) -> None:
    """Print both tables."""
    print_single_candidates(samples)
    print_several_candidates(samples)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

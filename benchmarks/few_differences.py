"""Simulate what is printed where few queries differ: the interval, and the loss not excluded.

    BEIR_EVAL_REALDATA=folder python benchmarks/few_differences.py [samples]

Scores of 0 or 1: a query is won or lost with fixed probabilities. Differences of real runs: those
that are not 0 are drawn with their sign, and the others are 0. Of the samples in which fewer than
ten queries differ, the share in which the 95% interval of the sign-flip test holds the true
difference, and in which the true loss is at most the loss that is "not excluded"; and of all
samples, the share that prints a loss which the true one exceeds.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from real_differences import real_differences, skewness

from beir_eval.significance.equivalence import lower_bound
from beir_eval.significance.power import FEWEST_DIFFERING
from beir_eval.significance.sign_flip import sign_flip_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats

SAMPLES, ALPHA = 2_000, 0.05
SIZES = (10, 30, 50, 100, 300)
#: (probability of a gain, of a loss), each of 1.
SHARES = ((0.02, 0.05), (0.01, 0.03), (0.005, 0.015), (0.0, 0.03), (0.03, 0.03))


def populations() -> Iterator[tuple[str, Floats, Floats]]:
    """Yield (name, values, their probabilities); the last value is a tie."""
    for wins, losses in SHARES:
        yield (
            f"0 or 1, gains {wins:.1%}, losses {losses:.1%}",
            np.array([1.0, -1.0, 0.0]),
            np.array([wins, losses, 1 - wins - losses]),
        )
    pairs = {
        label: differences[differences != 0]
        for label, differences in real_differences().items()
        if label.split()[1] in ("nDCG@10", "MAP@1000") and np.mean(differences != 0) > 0.4
    }
    by_skewness = sorted(pairs, key=lambda label: skewness(pairs[label]))
    for label in (by_skewness[0], by_skewness[len(by_skewness) // 2], by_skewness[-1]):
        centred = pairs[label] - pairs[label].mean()
        values = np.clip(centred - centred.std(), -1, 1)  # a loss of one standard deviation
        name = f"{label.split()[1]}, skewness {skewness(values):+.1f}, 5% differ"
        yield (
            name,
            np.append(values, 0.0),
            np.append(np.full(len(values), 0.05 / len(values)), 0.95),
        )


def print_row(name: str, values: Floats, shares: Floats, num_queries: int, samples: int) -> None:
    """Print the coverage for one population and number of queries."""
    rng = np.random.default_rng(num_queries)
    truth = float(values @ shares)
    drawn = rng.choice(values, (samples, num_queries), p=shares)
    few = drawn[np.count_nonzero(drawn, axis=1) < FEWEST_DIFFERING]
    if len(few) < samples / 10:
        return
    intervals = sign_flip_intervals(few, confidence=1 - ALPHA, draws=9_999)
    inside = (intervals.low <= truth + 1e-9) & (truth - 1e-9 <= intervals.high)
    bounds: dict[bytes, float] = {}
    holds = []
    for row, low in zip(np.sort(few, axis=1), intervals.low, strict=True):
        key = row.tobytes()
        if key not in bounds:
            bounds[key] = lower_bound(row, alpha=ALPHA / 2)
        # What is printed is not inside the interval.
        printed = bounds[key] if math.isinf(low) else min(bounds[key], low)
        holds.append(min(printed, 0.0) <= truth)
    false = (len(few) - sum(holds)) / samples
    print(
        f"| {name} | {truth:+.4f} | {num_queries} | {len(few) / samples:.1%} | "
        f"{inside.mean():.1%} | {np.mean(holds):.1%} | {false:.1%} |",
        flush=True,
    )


def main(samples: int = SAMPLES) -> None:
    """Print a row for each population and number of queries."""
    print(
        f"{samples} samples: if all count, the standard error is {math.sqrt(0.0475 / samples):.2%}"
    )
    print(
        "| differences | true | queries | fewer than 10 differ | 95% interval holds | loss not "
        "excluded holds | a false loss is printed, of all samples |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, values, shares in populations():
        for num_queries in SIZES:
            print_row(name, values, shares, num_queries, samples)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

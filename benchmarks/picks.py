"""Simulate the comparison of the best of K candidates with a baseline: errors and power.

    BEIR_EVAL_REALDATA=folder python benchmarks/picks.py [table …] [simulations]

The candidate with the highest mean is chosen on the queries on which it is then compared with the
baseline, two-sided at .05. Each system has on each query the score of a random run on DL 2019.
"alike": a candidate has with probability .8 the same run as the candidate before it, as the
checkpoints of one training. Numbers after ± are Monte Carlo standard errors. The columns:

- "p alone": the sign-flip test of the chosen one, as if it were the only candidate.
- "K·p": that p times the number of candidates, for when nothing else is known of the others.
- "max-T": the p of the chosen one, corrected by max-T over all candidates against the baseline.

The tables: ``errors``, candidates and baseline are equal; ``power``, one candidate or all have the
best score of a query with some probability.

Results of 2,000 simulations a row with 50 and with 300 queries (22 November 2026), in percent,
with standard errors of at most 1.1. Errors are about half of 5, because the best of several
candidates is hardly ever called worse than an equal baseline.

| errors | p alone | K·p | max-T |
|---|--:|--:|--:|
| K = 5 | 8.6, 9.7 | 2.2, 1.7 | 2.4, 2.4 |
| K = 10 | 13.7, 13.2 | 1.9, 2.0 | 2.4, 2.7 |
| K = 20 | 21.3, 24.1 | 1.8, 1.6 | 2.5, 2.5 |
| K = 5, alike | 6.1, 6.6 | 1.7, 1.2 | 2.5, 2.5 |
| K = 10, alike | 9.4, 8.5 | 1.1, 0.9 | 2.6, 2.1 |
| K = 20, alike | 14.1, 15.2 | 1.0, 1.6 | 2.5, 3.3 |

| power, one candidate is better | p alone | K·p | max-T |
|---|--:|--:|--:|
| K = 5 | 77.2, 76.2 | 54.8, 53.2 | 57.9, 55.5 |
| K = 10 | 74.7, 76.2 | 43.0, 43.0 | 46.6, 46.5 |
| K = 20 | 76.6, 76.9 | 36.8, 36.6 | 40.7, 41.9 |
| K = 5, alike | 75.8, 75.4 | 53.3, 53.5 | 61.4, 62.4 |
| K = 10, alike | 74.2, 75.5 | 43.0, 41.5 | 52.6, 53.8 |
| K = 20, alike | 76.0, 77.0 | 37.1, 35.7 | 47.1, 47.4 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from real_differences import distinct_scores, share_text
from table_arguments import table_arguments

from beir_eval.significance.multiple_comparisons import max_t_tests
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.arrays import Floats, Mask

ALPHA, ALIKE, DRAWS, BATCH = 0.05, 0.8, 1_999, 25
CANDIDATES, QUERIES = (5, 10, 20), (50, 300)
#: {name: the probability of the best score, by candidate, times √queries}; the last one of "one".
GAINS = {"one better": 3.5, "all better": 2.5}


def draw(
    scores: Floats, gains: Floats, size: int, rng: np.random.Generator, *, alike: bool
) -> Floats:
    """Return the scores of a baseline and of candidates, f8[1 + K, n].

    Args:
        scores: of real runs, f8[S, Q].
        gains: the probability of the best score of a query, by candidate, f8[K].
        size: n, the number of queries.
        rng: the generator.
        alike: whether neighbouring candidates mostly have the same run on a query.
    """
    count = len(gains)
    queries = rng.integers(0, scores.shape[1], size)
    runs = rng.integers(0, len(scores), (1 + count, size))
    if alike:
        for candidate in range(2, 1 + count):
            is_same = rng.random(size) < ALIKE
            runs[candidate] = np.where(is_same, runs[candidate - 1], runs[candidate])
    values = scores[runs, queries]
    # Alike candidates get the best score on the same queries.
    uniform = rng.random((1 if alike else count, size))
    is_best = uniform < gains[:, None]
    values[1:] = np.where(is_best, scores[:, queries].max(axis=0), values[1:])
    return np.asarray(values)


def outcomes(samples: Iterator[Floats], simulations: int) -> dict[str, tuple[int, int]]:
    """Return {method: how often it calls the chosen candidate better, and worse}."""
    counts = {name: np.zeros(2, dtype=np.int64) for name in ("p alone", "K·p", "max-T")}
    for seed in range(simulations // BATCH):
        batch = [next(samples) for _ in range(BATCH)]
        num_systems, size = batch[0].shape
        candidates = np.arange(1, num_systems)
        baseline = np.zeros(num_systems - 1, dtype=np.int64)
        families = [Family(values, position_keys(size), candidates, baseline) for values in batch]
        signs = SignVectors.choose(size, DRAWS, seed)
        for family in randomise(families, signs, level=ALPHA, largest="family"):
            chosen = int(family.means.argmax())
            p = float(family.p()[chosen])
            values_of_p = {
                "p alone": p,
                "K·p": len(candidates) * p,
                "max-T": float(max_t_tests(family, ALPHA).p_corrected[chosen]),
            }
            is_better = np.array([family.means[chosen] > 0, family.means[chosen] < 0])
            for name, value in values_of_p.items():
                counts[name] += is_better & (value <= ALPHA)
    return {name: (int(better), int(worse)) for name, (better, worse) in counts.items()}


def print_table(gains_of: dict[str, float], simulations: int) -> None:
    """Print how often each method calls the chosen candidate better; worse if all are equal."""
    print("| candidates | K | queries | p alone | K·p | max-T |\n|---|--:|--:|--:|--:|--:|")
    scores = distinct_scores("dl19", "nDCG@10")
    for name, weight in gains_of.items():
        for alike in (False, True):
            for count in CANDIDATES:
                for size in QUERIES:
                    has_gain: Mask = np.ones(count, dtype=bool)
                    if name == "one better":
                        has_gain[:-1] = False
                    gains = np.where(has_gain, weight / np.sqrt(size), 0.0)
                    rng = np.random.default_rng((count, size))
                    samples = (
                        draw(scores, gains, size, rng, alike=alike) for _ in range(simulations)
                    )
                    counted = outcomes(samples, simulations)
                    # An error is a verdict in either direction; power is "better" alone.
                    cells = [
                        share_text(better + (0 if weight else worse), simulations)
                        for better, worse in counted.values()
                    ]
                    text = f"{name}{', alike' if alike else ''}"
                    print(f"| {text} | {count} | {size} | {' | '.join(cells)} |", flush=True)


TABLES = {"errors": {"equal": 0.0}, "power": GAINS}


def main(names: Sequence[str], simulations: int) -> None:
    """Print the tables with these names."""
    for name in names:
        print(f"\n{name}: {simulations:,} simulations a row; level .05; percent")
        print_table(TABLES[name], simulations)


if __name__ == "__main__":
    tables, number = table_arguments(TABLES)
    main(tables, number or 2_000)

"""Simulate errors and coverage of comparisons whose queries come in clusters.

    BEIR_EVAL_REALDATA=folder python benchmarks/clusters.py [simulations]

A query's difference is the sum of an effect of its cluster and one of its own. Both are drawn,
with replacement, from the differences of two real runs, minus their mean, and scaled so that the
first has the given share of the variance (the intraclass correlation, ICC). "error" is how often
two equal systems differ at .05 if the signs of whole clusters are flipped, "queries only" if those
of queries are. "covered" is how often the 95% interval of whole clusters contains a true difference
of one standard deviation, so that the sums of large clusters differ most. Sizes of clusters: all
equal, or drawn evenly from a range. Numbers after ± are Monte Carlo standard errors, in percent.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from real_differences import real_scores, share_text, skewness

from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats

ALPHA, DRAWS = 0.05, 1999
#: {name: data set, measure, the two runs}
SOURCES = {
    "nDCG": ("dl19", "nDCG@10", "tas-b", "ada2"),
    "MAP": ("dl19", "MAP@1000", "rep-llama_ties", "bm25"),
    "MRR": ("scifact", "MRR@10", "kirl_rerank_tabs", "kl_hybrid"),
    "repeats": ("dl19", "nDCG@10", "bm25+gpt35-repeat1", "bm25+gpt35-repeat2"),
}
#: The sizes of clusters: the smallest and the largest.
SIZES = ((2, 2), (5, 5), (10, 10), (1, 10))


def differences_of(source: str) -> Floats:
    """Return the differences of two real runs, minus their mean, with a deviation of 1, f8[Q]."""
    dataset, measure, first, second = SOURCES[source]
    systems, scores = real_scores(dataset)[measure]
    values = scores[systems.index(first)] - scores[systems.index(second)]
    values = values[np.isfinite(values)] - np.nanmean(values)
    return np.asarray(values / values.std())


def family(values: Floats, number: np.ndarray, num_clusters: int) -> Family:
    """Return the comparison by whole clusters, as ``compare`` makes it."""
    scale = num_clusters / len(number)
    sizes = np.bincount(number, minlength=num_clusters).astype(np.float64) * scale
    sums = np.bincount(number, weights=values, minlength=num_clusters).astype(np.float64) * scale
    return Family(sums[None], position_keys(num_clusters), np.zeros(1, dtype=np.int64), None, sizes)


def rows(simulations: int) -> Iterator[str]:
    """Yield the rows of the table."""
    yield "source   skew  clusters  sizes    ICC         error  queries only       covered"
    for source in SOURCES:
        pool = differences_of(source)
        for num_clusters in (10, 30):
            for sizes in SIZES:
                for correlation in (0.0, 0.5):
                    yield row(source, pool, num_clusters, sizes, correlation, simulations)


def row(  # noqa: PLR0913, PLR0917 - the columns
    source: str,
    pool: Floats,
    num_clusters: int,
    sizes: tuple[int, int],
    correlation: float,
    simulations: int,
) -> str:
    """Return the row of one case."""
    rng = np.random.default_rng([num_clusters, *sizes, int(10 * correlation)])
    errors = of_queries = covered = 0
    for number_of_simulation in range(simulations):
        signs = SignVectors(DRAWS, number_of_simulation % 40)
        drawn_sizes = rng.integers(sizes[0], sizes[1] + 1, num_clusters)
        number = np.repeat(np.arange(num_clusters), drawn_sizes)
        values = np.sqrt(correlation) * rng.choice(pool, num_clusters)[number] + np.sqrt(
            1 - correlation
        ) * rng.choice(pool, len(number))
        [null] = randomise([family(values, number, num_clusters)], signs, level=ALPHA)
        errors += bool(null.p()[0] <= ALPHA)
        [shifted] = randomise([family(values + 1.0, number, num_clusters)], signs, level=ALPHA)
        low, high = shifted.intervals(np.array([ALPHA]))
        covered += bool(low[0] <= 1.0 <= high[0])
        alone = Family(values[None], position_keys(len(number)), np.zeros(1, dtype=np.int64))
        of_queries += bool(randomise([alone], signs)[0].p()[0] <= ALPHA)
    shares = "  ".join(
        f"{share_text(count, simulations):>12}" for count in (errors, of_queries, covered)
    )
    return (
        f"{source:7}  {skewness(pool):4.1f}  {num_clusters:8}  {sizes!s:7}  {correlation:3g}  "
        f"{shares}"
    )


def main() -> None:
    """Print the table."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    print(f"{simulations:,} simulations", flush=True)
    for text in rows(simulations):
        print(text, flush=True)


if __name__ == "__main__":
    main()

"""Simulate what is said about checkpoints: the settled step.

    BEIR_EVAL_REALDATA=folder python benchmarks/checkpoints.py [table …] [number]

Checkpoints are simulated from scores of real runs: a population of 200,000 queries is drawn from
the queries of a collection, and for each of them a checkpoint has the score of a randomly chosen
run of that collection. With probability .8 it is the run that the checkpoint before it has on this
query, since neighbouring checkpoints are alike. A checkpoint gets its true mean by having the best
(or worst) score of all runs on further random queries. Each simulation draws N queries of the
population. Numbers after ± are Monte Carlo standard errors. The tables are ``settled`` and
``limits``.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval import evaluate, read_qrels, read_run
from beir_eval.comparison.alignment import align_scores, repeats_by_system
from beir_eval.comparison.checkpoints.checkpoint_curve import find_settling
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.significance.power import queries_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.arrays import Floats

RERANKERS = (
    "bm25+vicuna-7b-step800",
    "bm25+vicuna-7b-v2",
    "bm25+vicuna-7b-v2-aug",
    *(f"bm25+gpt35-repeat{number}" for number in range(1, 6)),
)
POPULATION, ALIKE = 200_000, 0.8
MARGIN, ALPHA = 0.01, 0.05
Z_95, MANY_QUERIES = 1.645, 1_000
#: Sign vectors of a test. Few, since there are many simulations.
DRAWS = 999


class Collection(NamedTuple):
    """Real runs with their judgements."""

    folder: str
    qrels: str
    runs: tuple[str, ...]


DL19 = Collection("dl19", "qrels/dl19-passage.trec", RERANKERS)
SCIFACT = Collection("scifact", "scifact/qrels/test.tsv", ("deng_base", "deng_sbert", "deng_e5"))
COVID = Collection("trec-covid", "qrels/trec-covid.trec", ("bm25", "splade-pp"))
#: {name: (collection, measure)}
SOURCES = {
    "DL19 re-rankers, nDCG@10": (DL19, "nDCG@10"),
    "DL19 re-rankers, MRR@10": (DL19, "MRR@10"),
    "SciFact, nDCG@10": (SCIFACT, "nDCG@10"),
    "SciFact, Recall@10": (SCIFACT, "Recall@10"),
    "TREC-COVID, nDCG@10": (COVID, "nDCG@10"),
}
#: {name: how far the true mean of each step is below that of the last}
CURVES = {
    "rises, then level": (0.06, 0.035, 0.02, 0.012, 0.004, 0, 0, 0),
    "rises slowly": (0.028, 0.024, 0.02, 0.016, 0.012, 0.008, 0.004, 0),
    "level, last step +0.01": (0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0),
}


def real_scores(source: str) -> Floats:
    """Return the scores f8[S, Q] of the runs of a source on the queries that all have."""
    collection, measure = SOURCES[source]
    data = Path(os.environ["BEIR_EVAL_REALDATA"])
    qrels = read_qrels(data / collection.qrels)
    results = [
        evaluate(
            qrels,
            read_run(data / "runs" / collection.folder / f"{run}.trec"),
            measure,
            name=run,
            duplicates="first",
            missing="skip",
        )
        for run in collection.runs
    ]
    aligned = align_scores(repeats_by_system(results), None, "intersection")
    return aligned.by_measure[0].where_defined().scores


def population(scores: Floats, gains: Floats, rng: np.random.Generator) -> Floats:
    """Return the scores of K checkpoints on the queries of a population, f8[K, POPULATION].

    Args:
        scores: of real runs, f8[S, Q].
        gains: how far the mean of each checkpoint is above the mean of all runs, f8[K].
        rng: the generator.
    """
    num_runs, num_queries = scores.shape
    queries = rng.integers(0, num_queries, POPULATION)
    best, worst = scores.max(axis=0)[queries], scores.min(axis=0)[queries]
    runs = rng.integers(0, num_runs, POPULATION)
    rows = []
    for gain in gains.tolist():
        row = scores[runs, queries]
        missing = float(scores.mean() + gain - row.mean()) * POPULATION
        extreme = best if missing > 0 else worst
        order = rng.permutation(POPULATION)
        moved = np.abs(np.cumsum((extreme - row)[order]))
        changed = order[: np.searchsorted(moved, abs(missing))]
        row[changed] = extreme[changed]
        rows.append(row)
        others = rng.integers(0, num_runs, POPULATION)
        runs = np.where(rng.random(POPULATION) < ALIKE, runs, others)
    return np.array(rows)


def samples(values: Floats, size: int, count: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the scores of ``size`` random queries of a population, ``count`` times."""
    for _ in range(count):
        yield values[:, rng.integers(0, values.shape[1], size)]


def rate(count: int, total: int) -> str:
    """Return a share and its standard error in percent as text."""
    share = count / total
    return f"{share:.1%} ±{math.sqrt(share * (1 - share) / total):.1%}"


# The settled step


class Settled(NamedTuple):
    """What came out for one sample of a training curve.

    Attributes:
        is_early: whether a later step than the unbeaten one is truly better by the margin.
        is_settled: whether the run is said to have settled.
        is_powerful: whether the detectable gain is at most the margin, one of its conditions.
        is_bounded: whether each later step's gain is significantly below the margin, the other.
        detectable: the detectable gain; NaN if it is not known.
    """

    is_early: bool
    is_settled: bool
    is_powerful: bool
    is_bounded: bool
    detectable: float


def settle(sample: Floats, true_means: Floats, settings: ComparisonSettings) -> Settled:
    """Return where a training curve is said to have settled, and whether this is too early."""
    result = find_settling(sample, settings)
    later = true_means[result.unbeaten :]
    gains = sample[result.unbeaten + 1 :] - sample[result.unbeaten]
    error = gains.std(axis=1, ddof=1) / math.sqrt(sample.shape[1])
    return Settled(
        # A hundredth of the margin is the error of the population's means.
        is_early=bool(later.max() - later[0] > 0.99 * MARGIN),
        is_settled=result.settled,
        is_powerful=result.detectable is not None and result.detectable <= MARGIN,
        is_bounded=bool(len(gains) and (gains.mean(axis=1) + Z_95 * error < MARGIN).all()),
        detectable=math.nan if result.detectable is None else result.detectable,
    )


HEADER = (
    "\n| source | curve | N | median detectable gain | too early: before | by power alone "
    "| by t tests alone | now | settled: by power alone | now |\n|---|---|--:|" + "--:|" * 7
)


def settled_row(
    label: str, values: Floats, size: int, simulations: int, rng: np.random.Generator
) -> str:
    """Return a row of the table of settled steps: ``simulations`` samples of one training curve.

    Args:
        label: the first cells.
        values: the population of the curve, f8[K, POPULATION].
        size: the number of queries of a sample.
        simulations: the number of samples; half as many are drawn if there are many queries.
        rng: the generator.
    """
    settings = ComparisonSettings(alpha=ALPHA, margin=MARGIN, draws=DRAWS)
    true_means = values.mean(axis=1)
    count = simulations if size < MANY_QUERIES else simulations // 2
    outcomes = [
        settle(sample, true_means, settings) for sample in samples(values, size, count, rng)
    ]
    early, settled, powerful, bounded, detectable = np.array(outcomes).T
    known = detectable[~np.isnan(detectable)]
    columns = (early, early * powerful, early * bounded, early * settled, powerful, settled)
    rates = [rate(int(column.sum()), count) for column in columns]
    median = f"{np.median(known):.4f}" if len(known) else ""
    cells = (label, f"{size:,}", median, *rates)
    return f"| {' | '.join(cells)} |"


def print_settled(simulations: int) -> None:
    """Print how often a step is called settled that a later one beats by the margin or more."""
    print(
        f"\n{simulations:,} simulations each, half as many from 1,000 queries on; margin {MARGIN}"
    )
    print(HEADER)
    rng = np.random.default_rng(0)
    for source in SOURCES:
        scores = real_scores(source)
        for curve, deficits in CURVES.items():
            values = population(scores, -np.array(deficits), rng)
            for size in (50, 300, 600, 1000, 2000, 5000):
                label = f"{source} | {curve}"
                print(settled_row(label, values, size, simulations, rng), flush=True)


def print_limits(simulations: int) -> None:
    """Print the same for the hardest case: the last step of a level curve gains the margin.

    Its numbers of queries are those for which the detectable gain is about the margin: fewer are
    withheld, more detect the gain.
    """
    print(
        f"\n{simulations:,} simulations each, half as many from 1,000 queries on; margin {MARGIN}"
    )
    print(HEADER)
    rng = np.random.default_rng(0)
    for source in SOURCES:
        for curve, later in (("one later step +0.01", 1), ("last of 7 later steps +0.01", 7)):
            deficits = np.full(later + 1, MARGIN)
            deficits[-1] = 0
            values = population(real_scores(source), -deficits, rng)
            spread = float((values[1:] - values[0]).std(axis=1).max())
            needed = queries_needed(MARGIN, spread, alpha=2 * ALPHA / later)
            for factor in (0.8, 1.0, 1.1, 1.25, 1.5):
                label = f"{source} | {curve}"
                size = round(factor * needed)
                print(settled_row(label, values, size, simulations, rng), flush=True)


TABLES = {
    "settled": print_settled,
    "limits": print_limits,
}


def main(names: Sequence[str], simulations: int) -> None:
    """Print the tables with these names."""
    for name in names:
        TABLES[name](simulations)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    main([name for name in arguments if name in TABLES] or list(TABLES), *(numbers or [1_000]))

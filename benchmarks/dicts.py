"""Evaluate dicts: this package against pytrec_eval, in one process, alternating.

Run it with ``make bench``. Each side gets the same dicts and returns the 24 means of nDCG, MAP,
Recall and Precision at 1, 3, 5, 10, 100 and 1000; first the per-query values are checked to be
equal to the last bit. Times are medians over the repetitions; the ratio is the median of the
ratios of neighbouring runs, which share whatever else the machine was doing. The table goes to
``benchmarks/RESULTS.md``.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import random
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytrec_eval

import beir_eval
from beir_eval.measures import spelled

if TYPE_CHECKING:
    from collections.abc import Callable

CUTOFFS = (1, 3, 5, 10, 100, 1000)
OURS = [
    measure @ cutoff
    for measure in (beir_eval.nDCG, beir_eval.MAP, beir_eval.Recall, beir_eval.Precision)
    for cutoff in CUTOFFS
]
THEIRS = {
    f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("ndcg_cut", "map_cut", "recall", "P")
}
RESULTS = Path(__file__).parent / "RESULTS.md"


class Shape(NamedTuple):
    """How many queries, documents for each, and judgements for each."""

    queries: int
    documents: int
    judged: int


SHAPES = (Shape(6980, 1000, 1), Shape(100_000, 10, 1), Shape(50, 1000, 600))


def make(shape: Shape) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and a run: random ids and scores, about 60 % of the judged retrieved."""
    rng = random.Random(0)  # noqa: S311 - test data
    collection = [str(number) for number in rng.sample(range(8_841_823), 500_000)]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(shape.queries):
        retrieved = rng.sample(collection, shape.documents)
        hits = rng.sample(retrieved, min(len(retrieved), round(0.6 * shape.judged)))
        if shape.judged == 1:
            hits = [rng.choice(retrieved)] if rng.random() < 0.6 else []
        judged = hits + rng.sample(collection, shape.judged - len(hits))
        grades = (1,) if shape.judged == 1 else (0, 1, 2)
        qrels[f"q{number}"] = {doc: rng.choice(grades) for doc in judged}
        run[f"q{number}"] = {doc: rng.random() * 30 for doc in retrieved}
    return qrels, run


def theirs(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return pytrec_eval's values and their means."""
    values = pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)
    names = next(iter(values.values()))
    means = {
        name: sum(of_query[name] for of_query in values.values()) / len(values) for name in names
    }
    return values, means


def ours(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> tuple[beir_eval.EvaluationResult, dict[str, float]]:
    """Return our values and their means."""
    result = beir_eval.evaluate(qrels, run, OURS, ties="trec_eval9")
    return result, result.aggregate


def read_scores(run: dict[str, dict[str, float]]) -> None:
    """Read every score once, and do nothing with it."""
    for ranked in run.values():
        np.fromiter(ranked.values(), np.float64, len(ranked))


def check_equal(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
    """Exit unless every value of every query is the same on both sides."""
    expected, _ = theirs(qrels, run)
    result, _ = ours(qrels, run)
    for measure in result.measures:
        name = spelled(beir_eval.parse(measure), "trec_eval")
        for query, score in zip(result.query_ids, result.scores(measure).tolist(), strict=True):
            if expected[query][name] != score:
                sys.exit(f"{measure} of {query}: {score!r}, pytrec_eval {expected[query][name]!r}")


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes; garbage is collected before, not during."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    work()
    taken = time.perf_counter() - start
    gc.enable()
    return taken


def measure(shape: Shape, repetitions: int) -> str:
    """Return one row of the table."""
    qrels, run = make(shape)
    check_equal(qrels, run)
    taken: dict[str, list[float]] = {"theirs": [], "ours": [], "reading": []}
    for _ in range(repetitions):
        taken["theirs"].append(seconds(lambda: theirs(qrels, run)))
        taken["ours"].append(seconds(lambda: ours(qrels, run)))
        taken["reading"].append(seconds(lambda: read_scores(run)))
    ratios = [a / b for a, b in zip(taken["theirs"], taken["ours"], strict=True)]
    medians = {side: statistics.median(times) for side, times in taken.items()}
    return (
        f"| {shape.queries:,} × {shape.documents:,}, {shape.judged:,} judged "
        f"| {medians['theirs']:.3f} s | {medians['ours']:.3f} s | {medians['reading']:.3f} s "
        f"| **{statistics.median(ratios):.1f}** ({min(ratios):.1f}-{max(ratios):.1f}) |"
    )


def main() -> None:
    """Measure every shape and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=7)
    repetitions = parser.parse_args().repetitions
    lines = [
        "# Measured speed",
        "",
        (
            "Made by `make bench`. 24 numbers (nDCG, MAP, Recall, Precision at 1, 3, 5, 10, 100, "
            "1000) from dicts, means included, one process, the two sides taking turns; every "
            "per-query value was first checked to be equal to the last bit. The ratio is the "
            f"median of the ratios of neighbouring runs (smallest-largest) of {repetitions}. "
            "Reading is `np.fromiter` over all scores and nothing else."
        ),
        "",
        (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}, numpy {version('numpy')}, pytrec_eval-terrier "
            f"{version('pytrec_eval-terrier')}, beir-eval {beir_eval.__version__}"
        ),
        "",
        "| queries × documents | pytrec_eval | beir-eval | reading the scores | times faster |",
        "|---|---|---|---|---|",
    ]
    for shape in SHAPES:
        row = measure(shape, repetitions)
        print(row, flush=True)
        lines.append(row)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

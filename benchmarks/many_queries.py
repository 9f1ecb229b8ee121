"""Time and memory of comparisons of two systems over very many queries.

    python benchmarks/many_queries.py [queries …]

The scores are made: nDCG@10 with 1 to 5 relevant documents, equal on half of the queries. Inputs
are two results with the same query ids; their memory is counted from their parts. Each size is
compared in a process of its own, with the default settings. The peak is that of the whole process:
Python, the packages and the inputs are in it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from measuring import put_section

from beir_eval import EvaluationResult, compare
from beir_eval.evaluation.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

QUERIES = (100_000, 1_000_000, 10_000_000)
MEASURE, CUTOFF, MOST_RELEVANT = "nDCG@10", 10, 5
#: The share of queries on which the systems agree, and the chance that a rank is the next relevant.
SHARE_EQUAL, CHANCE = 0.5, 0.15
_MIB = 2**20
_CAPTION = (
    "`compare` of two systems on one measure with its defaults: 20,000 sign vectors. The systems "
    "differ on half of the queries. The peak is that of the process, with Python and the inputs."
)


def ndcg(rng: np.random.Generator, num_queries: int) -> Floats:
    """Return made scores, f8[Q]."""
    discounts = 1 / np.log2(np.arange(2, CUTOFF + 2))
    num_relevant = rng.integers(1, MOST_RELEVANT + 1, num_queries)
    gains, ideal = np.zeros(num_queries), np.zeros(num_queries)
    for index in range(MOST_RELEVANT):
        is_relevant = index < num_relevant
        rank = rng.geometric(CHANCE, num_queries)
        is_gained = is_relevant & (rank <= CUTOFF)
        gains += np.where(is_gained, discounts[np.minimum(rank, CUTOFF) - 1], 0.0)
        ideal += np.where(is_relevant, discounts[index], 0.0)
    return np.minimum(gains / ideal, 1.0)


def results_of(num_queries: int) -> list[EvaluationResult]:
    """Return the results of two systems on queries in random order."""
    rng = np.random.default_rng(0)
    query_ids = tuple(f"q{number:08}" for number in rng.permutation(num_queries))
    first = ndcg(rng, num_queries)
    second = np.where(rng.random(num_queries) < SHARE_EQUAL, first, ndcg(rng, num_queries))
    empty = EvaluationResult.from_scores("", {MEASURE: {"q": 0.0}})
    return [
        empty.model_copy(
            update={
                "name": name,
                "query_ids": query_ids,
                "values": ScoreMatrix.from_owned_array(scores[None]),
            }
        )
        for name, scores in (("first", first), ("second", second))
    ]


def measure(num_queries: int) -> dict[str, float | str]:
    """Compare, and return seconds, mebibytes and the verdict."""
    results = results_of(num_queries)
    id_bytes = sum(map(sys.getsizeof, results[0].query_ids)) + sys.getsizeof(results[0].query_ids)
    inputs = id_bytes + sum(result.values.array.nbytes for result in results)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    (difference,) = compare(results).differences
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - begin_cpu,
        "inputs": inputs / _MIB,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "p": difference.p,
        "verdict": difference.verdict,
    }


def main(sizes: list[int]) -> None:
    """Measure every size, and write the section Very many queries of RESULTS.md."""
    lines = [
        f"Made by `python benchmarks/many_queries.py` on {os.cpu_count()} processors. {_CAPTION}",
        "",
        "| queries | seconds | processor seconds | MiB of inputs | peak MiB | p |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for size in sizes:
        printed = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], check=True, capture_output=True
        ).stdout
        row = json.loads(printed)
        lines.append(
            f"| {size:,} | {row['seconds']:.1f} | {row['cpu']:.1f} | {row['inputs']:,.0f} | "
            f"{row['peak']:,.0f} | {row['p']:.4f} |"
        )
        print(lines[-1], flush=True)
    put_section("Very many queries", lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main(list(map(int, sys.argv[1:])) or list(QUERIES))

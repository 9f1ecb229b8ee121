"""Sign flips of all pairs of ten systems on six measures against scipy, and whole comparisons.

    python benchmarks/significance.py [draws]

scipy takes one pair of one measure at a time: a part of its draws is timed and scaled to all draws
and pairs, which is in its favour, since its set-up is not counted. Both p-values come from the same
number of draws, so they have the same precision. A whole comparison is a call of ``compare``, with
its default number of draws and with 100,000. It is timed in turns with its largest unavoidable
part: drawing 100,000 sign vectors and multiplying them with the 60 columns of scores.
"""

from __future__ import annotations

import math
import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from measuring import put_section
from scipy import stats

from beir_eval import EvaluationResult, compare, evaluate
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats

SYSTEMS, MEASURES, QUERIES = 10, 6, 6980
MEASURE_NAMES = ("nDCG@10", "MAP@100", "Recall@100", "Precision@10", "MRR@10", "R_cap@100")
DRAWS = 100_000
#: The number of draws that scipy is timed for, and their batch size, which limits its memory.
TIMED_DRAWS, BATCH = 2_000, 250
#: Sign vectors that are multiplied together, and how often each side is timed.
BLOCK, REPETITIONS = 1_000, 5


def peak_mebibytes() -> int:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def results_of(scores: Floats) -> list[EvaluationResult]:
    """Return results with these scores f8[M, S, Q]."""
    query_ids = [f"q{number:05}" for number in range(scores.shape[-1])]
    judged = {query_id: {"a": 1} for query_id in query_ids}
    ranked = {query_id: {"a": 1.0} for query_id in query_ids}
    evaluated = evaluate(judged, ranked, MEASURE_NAMES)
    return [
        evaluated.model_copy(
            update={"name": f"system {system}", "values": ScoreMatrix(scores[:, system])}
        )
        for system in range(scores.shape[1])
    ]


def multiply_signs(columns: Floats, draws: int) -> float:
    """Draw sign vectors, multiply them with columns f8[Q, C], and return the largest sum."""
    rng, largest = np.random.default_rng(0), 0.0
    num_queries = len(columns)
    for _ in range(draws // BLOCK):
        packed = np.frombuffer(rng.bytes(BLOCK * -(-num_queries // 8)), dtype=np.uint8)
        bits = np.unpackbits(packed.reshape(BLOCK, -1), axis=1, count=num_queries)
        signs = bits.astype(np.float64)
        signs *= 2
        signs -= 1
        largest = max(largest, float((signs @ columns).max()))
    return largest


def seconds_in_turns(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return {side: the median of its seconds}; the first turn is not counted."""
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(REPETITIONS + 1):
        for side, call in sides.items():
            begin = time.perf_counter()
            call()
            seconds[side].append(time.perf_counter() - begin)
    return {side: statistics.median(values[1:]) for side, values in seconds.items()}


def whole_comparisons(scores: Floats, draws: int) -> list[str]:
    """Return the rows of a table of whole comparisons of scores f8[M, S, Q]."""
    columns = np.ascontiguousarray(scores.reshape(-1, scores.shape[-1]).T)
    results = results_of(scores)
    product = f"{draws:,} sign vectors × {columns.shape[1]} columns"
    seconds = seconds_in_turns(
        {
            product: lambda: multiply_signs(columns, draws),
            "`compare`, two systems": lambda: compare(results[:2]),
            f"`compare`, two systems, {draws:,} draws": lambda: compare(results[:2], draws=draws),
            "`compare`, all pairs of ten systems": lambda: compare(results),
            f"`compare`, all pairs of ten systems, {draws:,} draws": lambda: compare(
                results, draws=draws
            ),
        }
    )
    return [
        f"| six measures, {scores.shape[-1]:,} queries | seconds | times the product |",
        "|---|---|---|",
        *(
            f"| {side} | {time:.2f} | {time / seconds[product]:.2f} |"
            for side, time in seconds.items()
        ),
    ]


def main(draws: int = DRAWS) -> None:
    """Time both, compare one p-value, and write the section Significance of RESULTS.md."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0.0, 0.01, SYSTEMS)[None, :, None]
    shared = rng.random((MEASURES, 1, QUERIES))
    scores = np.clip(shared + quality + rng.normal(0, 0.2, (MEASURES, SYSTEMS, QUERIES)), 0, 1)
    before = peak_mebibytes()
    begin = time.perf_counter()
    keys, both = position_keys(QUERIES), np.triu_indices(SYSTEMS, 1)
    families = [Family(of_measure, keys, *both) for of_measure in scores]
    flipped = randomise(families, SignVectors.choose(QUERIES, draws, 0))
    seconds = time.perf_counter() - begin
    pairs = MEASURES * math.comb(SYSTEMS, 2)
    flips = (
        f"{draws:,} sign flips × {pairs} pairs × {QUERIES:,} queries: {seconds:.1f} s, peak "
        f"{peak_mebibytes()} MiB ({before} MiB before)."
    )
    differences = scores[0, 0] - scores[0, 4]
    begin = time.perf_counter()
    theirs = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=TIMED_DRAWS,
        batch=BATCH,
        rng=np.random.default_rng(0),
    )
    timed = time.perf_counter() - begin
    scaled = timed * draws / TIMED_DRAWS * pairs
    p = float(flipped[0].p()[3])
    error = math.sqrt(theirs.pvalue * (1 - theirs.pvalue) / TIMED_DRAWS)
    against = (
        f"scipy's permutation_test: {TIMED_DRAWS:,} draws of one pair {timed:.2f} s, scaled to all "
        f"{scaled:,.0f} s: {scaled / seconds:,.0f} times ours. p of that pair: ours {p:.4f}, "
        f"scipy's {theirs.pvalue:.4f} (standard error {error:.4f})."
    )
    made = "Made by `python benchmarks/significance.py`. " + " ".join(
        str(__doc__).split("\n\n")[2].split()
    )
    lines = [made, "", f"- {flips}", f"- {against}", "", *whole_comparisons(scores, DRAWS)]
    put_section("Significance", lines)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

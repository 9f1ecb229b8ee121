"""Time the steps of one evaluation: ``python benchmarks/stages.py``.

Each step runs 15 times by itself, on inputs that are made before, and the medians are printed.
48 MiB are written before each run so that the processor's cache is cold.
"""

from __future__ import annotations

import gc
import math
import statistics
import sys
import time
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import cases
import numpy as np

import beir_eval as b
from beir_eval.core import relate
from beir_eval.core.arrays import read_floats
from beir_eval.core.ranking import EvaluationSettings, drop_documents, rank_hits

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = [
    measure @ k for measure in (b.nDCG, b.MAP, b.Recall, b.Precision) for k in cases.CUTOFFS
]
RULES = EvaluationSettings(ties="trec_eval9")
#: Written before each run, to displace the data from the processor's cache.
_CACHE_FILLER = np.zeros(48 << 20, dtype=np.uint8)


def median_milliseconds(step: Callable[[], object]) -> float:
    """Return the median time of a step in milliseconds."""
    times = []
    for _ in range(15):
        _CACHE_FILLER[::64] += 1
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def steps(qrels: Any, make_run: Callable[[], b.Run]) -> dict[str, Callable[[], object]]:
    """Return {label: step} of an evaluation; a step includes the steps indented below it."""
    judged, run = b.Qrels(qrels), make_run()
    evaluator = b.Evaluator(judged, MEASURES, ties="trec_eval9")
    blocks = list(run.blocks(judged))
    matrix, _ = relate(judged, run, RULES)
    parts = matrix.query_ids, matrix.num_retrieved, matrix.max_grade, matrix.cells

    def evaluate() -> b.EvaluationResult:
        return b.Evaluator(qrels, MEASURES, ties="trec_eval9").evaluate(make_run())

    result = evaluate()
    return {
        "all, means included": lambda: evaluate().aggregate,
        "- Qrels": lambda: b.Qrels(qrels),
        "- Run": make_run,
        "- cells of the matrix": lambda: relate(judged, run, RULES),
        "  - reading, finding the judged": lambda: list(run.blocks(judged)),
        "  - ranks": lambda: [
            rank_hits(drop_documents(block, judged, RULES), judged, RULES) for block in blocks
        ],
        "- 24 measures": lambda: [
            measure.scores(fresh)
            for fresh in [b.RelevanceMatrix(*parts, matrix.judgements)]
            for measure in MEASURES
        ],
        "- evaluation without Qrels and Run": lambda: evaluator.evaluate(run),
        "- means": lambda: b.EvaluationResult.model_construct(**dict(result)).aggregate,
    }


def look_up_step(qrels: Any, run: Any) -> Callable[[], object]:
    """Return a step that only looks up all judged documents in their rankings."""
    docs, rankings = [list(judged) for judged in qrels.values()], list(run.values())

    def step() -> object:
        owners = chain.from_iterable(map(repeat, rankings, map(len, docs)))
        scores = map(dict.get, owners, chain.from_iterable(docs), repeat(math.nan))
        return read_floats(scores, sum(map(len, docs)))

    return step


def print_times(name: str, shape_steps: dict[str, Callable[[], object]]) -> None:
    """Print the median time of each step of one shape."""
    sys.stdout.write(f"{name}\n")
    for label, step in shape_steps.items():
        sys.stdout.write(f"  {label:36} {median_milliseconds(step):8.2f} ms\n")
    sys.stdout.flush()


def print_dicts(shape: cases.Shape) -> None:
    """Print the times of dicts, and of what no tool can do without: a look at each object."""
    qrels, run = cases.make_dicts(shape)
    dict_steps = steps(qrels, lambda: b.Run(run))
    dict_steps["scores alone"] = lambda: cases.read_scores(qrels, run)
    dict_steps["look-ups alone"] = look_up_step(qrels, run)
    print_times(f"dicts, {shape}, own ids", dict_steps)


def print_arrays(queries: int) -> None:
    """Print the times of top-k arrays, and of one look at each id and score."""
    judged, ids, scores, query_ids = cases.make_arrays(queries, 100)
    array_steps = steps(judged, lambda: b.Run.from_arrays(ids, scores, query_ids=query_ids))
    qrels = b.Qrels(judged)
    array_steps["Run, with the query ids of the Qrels"] = lambda: b.Run.from_arrays(
        ids, scores, query_ids=qrels.query_ids
    )
    array_steps["one pass over both arrays"] = lambda: (ids.max(), scores.max())
    print_times(f"top-k arrays, {queries:,} × 100", array_steps)


def main() -> None:
    """Print the times of the steps for each shape that stays behind its goal."""
    gc.disable()
    for shape in (
        cases.Shape(50, 1000, 600),
        cases.Shape(100_000, 100, 1),
        cases.Shape(300_000, 10, 1),
    ):
        print_dicts(shape)
    for queries in (100_000, 1_000_000):
        print_arrays(queries)


if __name__ == "__main__":
    main()

"""Where the time of one evaluation goes, step by step: ``python benchmarks/stages.py``.

Every step runs 15 times by itself, after 48 MiB were written so that the processor's cache is cold;
the medians are printed. What a step needs is made beforehand.
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

MEASURES = [one @ k for one in (b.nDCG, b.MAP, b.Recall, b.Precision) for k in cases.CUTOFFS]
RULES = EvaluationSettings(ties="trec_eval9")
_COLD = np.zeros(48 << 20, dtype=np.uint8)


def median(step: Callable[[], object]) -> float:
    """Return milliseconds."""
    times = []
    for _ in range(15):
        _COLD[::64] += 1
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def steps(qrels: Any, make_run: Callable[[], b.Run]) -> dict[str, Callable[[], object]]:
    """Return the steps of an evaluation; each contains those that are indented below it."""
    judged, run = b.Qrels(qrels), make_run()
    evaluator = b.Evaluator(judged, MEASURES, ties="trec_eval9")
    blocks = list(run.blocks(judged))
    matrix, _ = relate(judged, run, RULES)
    parts = matrix.query_ids, matrix.num_retrieved, matrix.max_grade, matrix.cells

    def whole() -> b.EvaluationResult:
        return b.Evaluator(qrels, MEASURES, ties="trec_eval9").evaluate(make_run())

    result = whole()
    return {
        "all, means included": lambda: whole().aggregate,
        "- Qrels": lambda: b.Qrels(qrels),
        "- Run": make_run,
        "- cells of the matrix": lambda: relate(judged, run, RULES),
        "  - reading, finding the judged": lambda: list(run.blocks(judged)),
        "  - ranks": lambda: [
            rank_hits(drop_documents(block, judged, RULES), judged, RULES) for block in blocks
        ],
        "- 24 measures": lambda: [
            one.scores(fresh)
            for fresh in [b.RelevanceMatrix(*parts, matrix.judgements)]
            for one in MEASURES
        ],
        "- evaluation without Qrels and Run": lambda: evaluator.evaluate(run),
        "- means": lambda: b.EvaluationResult.model_construct(**dict(result)).aggregate,
    }


def look_ups(qrels: Any, run: Any) -> Callable[[], object]:
    """Return the look-ups of all judged documents in their rankings, and nothing else."""
    docs, rankings = [list(judged) for judged in qrels.values()], list(run.values())

    def step() -> object:
        owners = chain.from_iterable(map(repeat, rankings, map(len, docs)))
        found = map(dict.get, owners, chain.from_iterable(docs), repeat(math.nan))
        return read_floats(found, sum(map(len, docs)))

    return step


def main() -> None:
    """Print the steps of the two shapes that stay behind their aims."""
    gc.disable()
    shape = cases.Shape(50, 1000, 600)
    qrels, run = cases.make_dicts(shape)
    shown = {f"dicts, {shape}": steps(qrels, lambda: b.Run(run))}
    shown[f"dicts, {shape}"]["look-ups alone"] = look_ups(qrels, run)
    judged, ids, scores, queries = cases.make_arrays(100_000, 100)
    shown["top-k arrays, 100,000 × 100"] = steps(
        judged, lambda: b.Run.from_arrays(ids, scores, query_ids=queries)
    )
    for name, of_shape in shown.items():
        sys.stdout.write(f"{name}\n")
        for step, work in of_shape.items():
            sys.stdout.write(f"  {step:36} {median(work):8.2f} ms\n")


if __name__ == "__main__":
    main()

"""What looking for mistakes costs: processor time of ``evaluate`` with it over without it.

    BEIR_EVAL_REALDATA=../shared/data python benchmarks/inspection_cost.py

Each ratio is of the best of 15 calls of both, which take turns; printed are the median and the
range of six ratios in one process. Judgements and run are dicts, as a program passes them, and the
judgements are read in each call.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from cases import Shape, make_dicts

from beir_eval import BeirEvalWarning, Evaluator, read_qrels, read_run
from beir_eval.evaluation import evaluator as module

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = ["nDCG@10", "MAP@100", "Recall@100", "Precision@10"]
SHAPES = (Shape(50, 1000, 100), Shape(300, 100, 5), Shape(1000, 100, 5), Shape(1000, 1000, 5))
CALLS, RATIOS = 15, 6


class NoInspector:
    """Takes the place of ``Inspector`` and looks at nothing."""

    def __init__(self, *_arguments: Any) -> None:
        """Look at nothing."""

    def sampler(self, _run: Any) -> None:
        """Look at no ranking."""


def seconds(call: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def ratios_of(qrels: Any, run: Any) -> tuple[list[float], float]:
    """Return the ratios, and the least seconds of a call without looking for mistakes."""

    def evaluate() -> object:
        return Evaluator(qrels, MEASURES).evaluate(run)

    ratios, least = [], float("inf")
    evaluate()
    for _ in range(RATIOS):
        with_it, without = [], []
        for _ in range(CALLS):
            with_it.append(seconds(evaluate))
            with mock.patch.object(module, "Inspector", NoInspector):
                without.append(seconds(evaluate))
        ratios.append(min(with_it) / min(without))
        least = min(least, *without)
    return ratios, least


def main() -> None:
    """Print a row for each shape."""
    cases: dict[str, tuple[Any, Any]] = {
        f"{shape.queries:,} × {shape.documents:,}": make_dicts(shape) for shape in SHAPES
    }
    folder = os.environ.get("BEIR_EVAL_REALDATA")
    if folder:
        qrels = read_qrels(Path(folder) / "qrels" / "dl19-passage.trec").as_dict()
        (path,) = (Path(folder) / "runs" / "dl19").glob("tas-b*")
        cases["DL 2019, tas-b"] = qrels, read_run(path).as_dict()
    print("| judgements and run | with over without | without |\n|---|---|---|")
    gc.collect()
    gc.freeze()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        for name, (qrels, run) in cases.items():
            ratios, least = ratios_of(qrels, run)
            middle = statistics.median(ratios)
            spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
            print(f"| {name} | **{middle:.2f}** ({spread}) | {1000 * least:.1f} ms |")


if __name__ == "__main__":
    main()

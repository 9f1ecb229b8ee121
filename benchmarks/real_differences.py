"""Differences of real runs by query, from which simulations draw their queries.

The runs and qrels are in the folder that ``BEIR_EVAL_REALDATA`` names.
"""

from __future__ import annotations

import math
import os
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beir_eval import evaluate, read_qrels, read_run

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

MEASURES = ("nDCG@10", "MAP@1000", "Recall@100", "Precision@10", "MRR@10")
#: {data set: (judgements, runs)} in the folder of real data.
DATASETS = {
    "dl19": ("qrels/dl19-passage.trec", "runs/dl19"),
    "trec-covid": ("qrels/trec-covid.trec", "runs/trec-covid"),
    "scifact": ("scifact", "runs/scifact"),
}


def real_data() -> Path:
    """Return the folder of real data.

    Raises:
        SystemExit: the environment does not name it.
    """
    folder = os.environ.get("BEIR_EVAL_REALDATA")
    if not folder:
        raise SystemExit("set BEIR_EVAL_REALDATA to the folder of real runs and judgements")
    return Path(folder)


@cache
def real_scores(dataset: str) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Return {measure: (systems, scores f8[S, Q])} of the runs that have every query."""
    judgements, folder = DATASETS[dataset]
    qrels = read_qrels(real_data() / judgements)
    names, results = [], []
    for path in sorted((real_data() / folder).iterdir()):
        run = read_run(path)
        if len(set(run.query_ids) & set(qrels.query_ids)) < 0.95 * len(qrels):
            continue
        results.append(evaluate(qrels, run, MEASURES, duplicates="first"))
        names.append(path.stem)
    return {
        measure: (tuple(names), np.array([result.scores(measure) for result in results]))
        for measure in MEASURES
    }


def real_differences() -> dict[str, Floats]:
    """Return {"data set measure first − second": differences f8[Q]} of all pairs of runs."""
    differences = {}
    for dataset in DATASETS:
        for measure, (systems, scores) in real_scores(dataset).items():
            for first, second in combinations(range(len(systems)), 2):
                label = f"{dataset} {measure} {systems[first]} − {systems[second]}"
                differences[label] = scores[first] - scores[second]
    return differences


def distinct_scores(dataset: str, measure: str) -> Floats:
    """Return the scores f8[S, Q] of the runs that are not repeats of one system."""
    systems, scores = real_scores(dataset)[measure]
    return scores[["repeat" not in system for system in systems]]


def skewness(values: Floats) -> float:
    """Return the skewness of values f8[N]."""
    deviations = values - values.mean()
    return float((deviations**3).mean() / (deviations**2).mean() ** 1.5)


def share_text(count: int, total: int) -> str:
    """Return a share in percent with its standard error."""
    share = count / total
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / total):.1f}"

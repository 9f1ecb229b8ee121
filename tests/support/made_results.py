"""Results with the scores that a test needs."""

import numpy as np

from beir_eval import EvaluationResult, evaluate
from beir_eval.evaluation.score_matrix import ScoreMatrix

MEASURE = "nDCG@10"


def made(scores, name="made", measures=(MEASURE,), prefix="q"):
    """Return a result with these scores, f8[Q] or f8[M, Q], for the queries q0000, q0001, …"""
    values = np.atleast_2d(np.array(scores, dtype=np.float64))
    qrels = {f"{prefix}{number:04}": {"a": 1} for number in range(values.shape[1])}
    run = {query_id: {"a": 1.0} for query_id in qrels}
    result = evaluate(qrels, run, list(measures), name=name)
    return result.model_copy(update={"values": ScoreMatrix(values)})


def given(rows, measure=MEASURE, **scale):
    """Return results of scores from elsewhere, a row for each system, as ``from_scores`` does."""
    return [
        EvaluationResult.from_scores(
            name,
            {measure: {f"q{index:02}": float(score) for index, score in enumerate(row)}},
            **scale,
        )
        for name, row in rows.items()
    ]


def scores_apart(gap, spread=0.05, num_queries=800):
    """Return the scores of two systems, f8[Q] each, whose means differ by about ``gap``."""
    rng = np.random.default_rng(1)
    baseline_scores = rng.uniform(0.2, 0.6, num_queries)
    return baseline_scores, baseline_scores + gap + rng.normal(0, spread, num_queries)

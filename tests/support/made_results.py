"""Results that hold just the scores a test wants."""

import numpy as np

from beir_eval import evaluate
from beir_eval.evaluation.score_matrix import ScoreMatrix

MEASURE = "nDCG@10"


def made(scores, name="made", measures=(MEASURE,)):
    """A result with these scores, f8[Q] or f8[M, Q], for the queries q0000, q0001, …"""
    values = np.atleast_2d(np.array(scores, dtype=np.float64))
    qrels = {f"q{place:04}": {"a": 1} for place in range(values.shape[1])}
    run = {query_id: {"a": 1.0} for query_id in qrels}
    result = evaluate(qrels, run, list(measures), name=name)
    return result.model_copy(update={"values": ScoreMatrix(values)})

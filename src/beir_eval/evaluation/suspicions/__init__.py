"""Suspicions: signs of mistakes in judgements and runs that change scores without an error.

Arrays in, findings out: ``suspicions_of_qrels`` looks at the judgements once, ``suspicions_of_run``
at a sample of a run's rankings, at the ranks of the judged documents, and at the ranks that its
file states. Every evaluation does so; ``validate`` passes whole runs to the same functions.

Inside: ``suspicion`` (``Suspicion``, its codes and remedies); ``judgements``; ``run``, which calls
``scores`` (and the ranks beside them), ``relative_ranks`` (of judged documents), ``ids`` and
``rankings``; ``thresholds``.

Public: ``Suspicion``, ``SuspicionCode``, ``REMEDIES``, ``suspicions_of_parts``,
``suspicions_of_qrels``, ``suspicions_of_run``, ``suspicions_of_rankings``,
``suspicions_of_scores``, ``relative_ranks``, ``inverted_grades``.
"""

from beir_eval.evaluation.suspicions.judgements import suspicions_of_qrels
from beir_eval.evaluation.suspicions.relative_ranks import inverted_grades, relative_ranks
from beir_eval.evaluation.suspicions.run import suspicions_of_rankings, suspicions_of_run
from beir_eval.evaluation.suspicions.scores import suspicions_of_scores
from beir_eval.evaluation.suspicions.suspicion import (
    REMEDIES,
    Suspicion,
    SuspicionCode,
    suspicions_of_parts,
)

__all__ = [
    "REMEDIES",
    "Suspicion",
    "SuspicionCode",
    "inverted_grades",
    "relative_ranks",
    "suspicions_of_parts",
    "suspicions_of_qrels",
    "suspicions_of_rankings",
    "suspicions_of_run",
    "suspicions_of_scores",
]

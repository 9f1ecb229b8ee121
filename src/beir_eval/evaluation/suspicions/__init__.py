"""Suspicions: signs of mistakes in judgements and runs that change scores without an error.

Arrays in, findings out: ``suspicions_of_qrels`` looks at the judgements once, ``suspicions_of_run``
at a sample of a run's rankings, at the ranks of the judged documents, and at the ranks that its
file states. Every evaluation does so; ``validate`` passes whole runs to the same functions.

Inside: ``suspicion`` (``Suspicion``, its codes and thresholds); ``judgements``;
``rankings``, which calls ``scores`` (and the ranks beside them) and ``ids``.

Public: nothing; ``beir_eval.evaluation`` exports the record, ``Suspicion``.
"""

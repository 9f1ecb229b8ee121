"""Evaluation of runs: ``evaluate``, ``Evaluator``, ``EvaluationResult``.

Inside: ``evaluator``; ``inputs`` (qrels and runs in every form that callers pass); ``result``
(``EvaluationResult``) with its ``records`` (counts, provenance, times) and its ``score_matrix``;
``query_scores`` (scores and counts of each query); ``given_scores`` (scores that were computed
elsewhere or loaded from a file, checked); ``notes`` (sentences about the counts); ``coverage``
(warnings on missing queries and unmatched ids); ``depths`` (how deep rankings are, and how much of
them is judged); ``tables`` (results side by side: their means as text and LaTeX, and what they
share); ``answers`` (generated answers against gold answers).

Public: ``evaluate``, ``Evaluator``, ``EvaluationResult``, its records ``Counted``, ``MeasureMean``,
``Provenance``, ``Retrieval``, ``Reused``, ``ScoreScale`` and ``TopDocuments`` (its settings are
``core.EvaluationSettings``); ``answer_scores``, ``normalize_answer``, ``read_gold_answers``,
``token_f1``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports
from beir_eval.core.relevance_matrix import TopDocuments
from beir_eval.evaluation.evaluator import Evaluator, evaluate
from beir_eval.evaluation.records import (
    Conventions,
    Counted,
    MeasureMean,
    Provenance,
    Retrieval,
    Reused,
)
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures.scales import ScoreScale

if TYPE_CHECKING:
    from beir_eval.evaluation.answers import (
        answer_scores,
        normalize_answer,
        read_gold_answers,
        token_f1,
    )

__all__ = [
    "Conventions",
    "Counted",
    "EvaluationResult",
    "Evaluator",
    "MeasureMean",
    "Provenance",
    "Retrieval",
    "Reused",
    "ScoreScale",
    "TopDocuments",
    "answer_scores",
    "evaluate",
    "normalize_answer",
    "read_gold_answers",
    "token_f1",
]

lazy_exports(
    __name__,
    {
        "beir_eval.evaluation.answers": (
            "answer_scores normalize_answer read_gold_answers token_f1"
        ),
    },
)

"""Evaluators for the trainers of sentence-transformers, computed by this package.

Each evaluator has the name of the one in sentence-transformers whose place it takes, and takes its
arguments. With ``compatible=True`` those of retrieval have the keys and numbers of that evaluator,
otherwise the measures of this package. Each evaluation saves an ``EvaluationResult`` that is named
after its step.

Inside: ``retrieval`` (bi-encoders, sparse and multi-vector encoders: their relevant documents and
the ranking, and the saved results of steps), ``nano_beir``.

Public: the names in ``__all__``; they need the extra ``sentence-transformers`` (MissingExtraError
without it).
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.sentence_transformers.nano_beir import NanoBEIREvaluator
    from beir_eval.integrations.sentence_transformers.retrieval import (
        InformationRetrievalEvaluator,
        MultiVectorInformationRetrievalEvaluator,
        SparseInformationRetrievalEvaluator,
    )

__all__ = [
    "InformationRetrievalEvaluator",
    "MultiVectorInformationRetrievalEvaluator",
    "NanoBEIREvaluator",
    "SparseInformationRetrievalEvaluator",
]

lazy_exports(
    __name__,
    {
        "beir_eval.integrations.sentence_transformers.nano_beir": "NanoBEIREvaluator",
        "beir_eval.integrations.sentence_transformers.retrieval": (
            "InformationRetrievalEvaluator MultiVectorInformationRetrievalEvaluator "
            "SparseInformationRetrievalEvaluator"
        ),
    },
    extra=(
        "sentence-transformers",
        "sentence-transformers",
        "an evaluator for its trainers",
    ),
)

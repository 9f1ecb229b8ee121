"""The evaluator of cross-encoders, which rank the documents of each query again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderRerankingEvaluator as _HostEvaluator,
)

from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import check_flag
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.integrations.sentence_transformers.step_results import (
    StepResults,
    results_folder,
    step_name,
)
from beir_eval.measures import MAP, MRR, nDCG, parse_all

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure


class _RecordedScores:
    """A cross-encoder that keeps the scores of its last prediction.

    Args:
        model: the cross-encoder.
    """

    def __init__(self, model: Any) -> None:
        self._model, self.scores = model, np.empty(0)

    def predict(self, pairs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the scores of the pairs."""
        self.scores = self._model.predict(pairs, *args, **kwargs)
        return self.scores

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model."""
        return getattr(self._model, name)


class CrossEncoderRerankingEvaluator(_HostEvaluator):
    """Evaluates how a CrossEncoder ranks the documents of each query again.

    It takes the place and the arguments of sentence-transformers' own
    ``CrossEncoderRerankingEvaluator``, which also calls the model. Each evaluation saves an
    ``EvaluationResult``, named after its step, in ``<output_dir>/eval/beir_eval/<name>/reranked``.

    Args:
        samples: as of sentence-transformers: [{"query", "positive", and "documents" or
            "negative"}]. A query is the sample with this number, from 0: "0", "1", ….
        args: further arguments of sentence-transformers' evaluator.
        compatible: whether documents with equal scores share their gains, as in
            sentence-transformers. By default they are in the order of trec_eval: by the number of
            the document in its list, descending as text; so are saved results in both cases.
            Without equal scores the numbers are the same. Keys are those of sentence-transformers
            in both cases.
        kwargs: further keywords of sentence-transformers' evaluator.

    Attributes:
        main_result: the result of the last evaluation; None before.

    Raises:
        ValueError: a sample lacks a key; raised by sentence-transformers in an evaluation.
        RunError: in an evaluation: a score is not a finite number.
        MissingExtraError: sentence-transformers is not installed.
    """

    main_result: EvaluationResult | None

    def __init__(self, samples: Any, *args: Any, compatible: bool = False, **kwargs: Any) -> None:
        check_flag("compatible", compatible)
        super().__init__(samples, *args, **kwargs)
        self._compatible = compatible
        self._step_results = StepResults()
        self.main_result = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the saved results: nDCG@k, MRR@k and MAP."""
        return tuple(parse_all([nDCG @ self.at_k, MRR @ self.at_k, MAP]))

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Evaluate a model, and save the result if there is a folder for it.

        Args:
            model: the cross-encoder.
            output_path: the folder for the CSV file and the results; None writes nothing.
            epoch: the epoch, a fraction in a trainer; -1 outside of training.
            steps: the global step, -1 outside of training.

        Returns:
            The means: "map", "mrr@k", "ndcg@k", the same with "base_" of the lists of documents,
            all after the name of the evaluator.

        Raises:
            ValueError: a sample lacks a key; raised by sentence-transformers.
            RunError: a score is not a finite number.
            OSError: a file cannot be written.
        """
        recorded: Any = _RecordedScores(model)
        metrics: dict[str, float] = super().__call__(recorded, output_path, epoch, steps)
        self.main_result = self._result(recorded.scores, step_name(epoch, steps))
        if output_path is not None:
            self._step_results.save(self.main_result, self.results_folder(output_path))
        return metrics

    def results_folder(self, output_path: str | Path) -> Path:
        """Return the folder of the saved results.

        Args:
            output_path: the folder passed to the evaluator: ``<output_dir>/eval`` in a trainer.
        """
        return results_folder(output_path, self.name or "reranking", "reranked")

    def compute_metrics(self, y_true: Any, y_pred: Any) -> tuple[float, float, float]:
        """Return MRR@k, nDCG@k and MAP of one query.

        Args:
            y_true: 1 for a positive document, else 0. [N]
            y_pred: the scores. [N]
        """
        if self._compatible:
            reciprocal_rank, ndcg, precision = super().compute_metrics(y_true, y_pred)
            return float(reciprocal_rank), float(ndcg), float(precision)
        result = self._evaluate({"0": list(y_true)}, {"0": list(y_pred)}, "query")
        return result[MRR @ self.at_k], result[nDCG @ self.at_k], result[MAP]

    def _result(self, scores: Any, name: str) -> EvaluationResult:
        """Return the result of all samples.

        Args:
            scores: the scores of the documents of every sample that has a relevant one, one sample
                after the other, f8[N].
            name: the name of the result.
        """
        relevance, scores_of = {}, {}
        first = 0
        for number, sample in enumerate(self.samples):
            is_relevant = self._relevance(sample)
            last = first + (len(is_relevant) if any(is_relevant) else 0)
            relevance[str(number)] = is_relevant
            scores_of[str(number)] = np.asarray(scores[first:last], dtype=np.float64).tolist()
            first = last
        return self._evaluate(relevance, scores_of, name)

    def _evaluate(
        self, relevance: dict[str, list[int]], scores: dict[str, list[float]], name: str
    ) -> EvaluationResult:
        """Return the result of queries whose documents have their number in the list as id."""
        qrels = Qrels({query: _numbered(grades) for query, grades in relevance.items()})
        run = Run({query: _numbered(values) for query, values in scores.items()})
        return Evaluator(qrels, self.measures, fingerprint=name != "query").evaluate(run, name=name)

    def _relevance(self, sample: Any) -> list[int]:
        """Return which documents of a sample are positive, in the order of the prediction."""
        positive, documents = sample["positive"], sample.get("documents")
        positive = [positive] if isinstance(positive, str) else positive
        if documents and not self.always_rerank_positives:
            return [int(document in positive) for document in documents]
        others = (
            [document for document in documents if document not in positive]
            if documents
            else sample["negative"]
        )
        return [1] * len(positive) + [0] * len(others)


def _numbered(values: Any) -> dict[str, float]:
    """Return {number in the list: value}."""
    return {str(number): float(value) for number, value in enumerate(values)}

"""Evaluators of the NanoBEIR data sets, from the hub or from files in its layout."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderNanoBEIREvaluator as _HostCrossEncoderEvaluator,
)
from sentence_transformers.multi_vector_encoder.evaluation import (
    MultiVectorNanoBEIREvaluator as _HostMultiVectorEvaluator,
)
from sentence_transformers.sentence_transformer.evaluation import (
    NanoBEIREvaluator as _HostEvaluator,
)
from sentence_transformers.sparse_encoder.evaluation import (
    SparseNanoBEIREvaluator as _HostSparseEvaluator,
)

from beir_eval.core.files import as_path
from beir_eval.errors import check_flag
from beir_eval.integrations.sentence_transformers.reranking import CrossEncoderRerankingEvaluator
from beir_eval.integrations.sentence_transformers.retrieval import (
    InformationRetrievalEvaluator,
    MultiVectorInformationRetrievalEvaluator,
    SparseInformationRetrievalEvaluator,
    append_row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.measures import MeasureLike

logger = logging.getLogger(__name__)


class _AggregatedHere(_HostEvaluator):
    """The evaluator of sentence-transformers, for any measures.

    As in ``retrieval``, it comes after the classes of sparse and multi-vector encoders.
    """

    _compatible: bool
    csv_file: str
    evaluators: list[Any]

    def _append_csv_headers(self, score_function_names: Iterable[str]) -> None:
        if self._compatible:
            super()._append_csv_headers(score_function_names)
            return
        measures = self.evaluators[0].measures
        for name in score_function_names:
            self.csv_headers += [f"{name}-{measure}" for measure in measures]

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, float]:
        """Evaluate a model on every data set; arguments and errors are those of the evaluators.

        Returns:
            {name of the data set, of the score function and of the measure: mean}, and with the
            name of this evaluator in place of the data set, the aggregates over data sets.
        """
        if self._compatible:
            metrics: dict[str, float] = super().__call__(
                model,
                output_path,
                epoch,
                steps,
                *args,
                **kwargs,
            )
            return metrics
        by_measure: dict[str, list[float]] = {}
        by_dataset: dict[str, float] = {}
        for evaluator in self.evaluators:
            logger.info("Evaluating %s", evaluator.name)
            metrics = evaluator(model, output_path, epoch, steps)
            by_dataset |= metrics
            for key, value in metrics.items():
                by_measure.setdefault(key.removeprefix(f"{evaluator.name}_"), []).append(value)
        aggregates = {
            measure: float(self.aggregate_fn(values)) for measure, values in by_measure.items()
        }
        names = self.evaluators[0].score_function_names
        if self.score_function_names != names:
            self.score_function_names, self.primary_metric = names, None
            self.csv_headers = ["epoch", "steps"]
            self._append_csv_headers(names)
        if output_path is not None and self.write_csv:
            row = [epoch, steps, *(aggregates[key.replace("-", "_", 1)] for key in self._columns())]
            append_row(as_path(output_path) / self.csv_file, self.csv_headers, row)
        if not self.primary_metric:
            first = str(self.evaluators[0].measures[0])
            main = (
                self.main_score_function.value
                if self.main_score_function
                else max(names, key=lambda name: aggregates[f"{name}_{first}"])
            )
            self.primary_metric = f"{main}_{first}"
        aggregates = self.prefix_name_to_metrics(aggregates, self.name)
        self.store_metrics_in_model_card_data(model, aggregates, epoch, steps)
        return by_dataset | aggregates

    def _columns(self) -> list[str]:
        """Return the columns of the CSV file that hold measures."""
        num_measures = len(self.evaluators[0].measures) * len(self.score_function_names)
        return self.csv_headers[2 : 2 + num_measures]


class _Evaluator:
    """The arguments that sentence-transformers' evaluators do not have."""

    csv_file: str

    def __init__(
        self,
        *args: Any,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        compatible: bool = False,
        **kwargs: Any,
    ) -> None:
        check_flag("compatible", compatible)
        self._compatible, self._given_measures = compatible, measures
        super().__init__(*args, **kwargs)
        if not compatible:
            self.csv_file = f"beir_eval_{self.csv_file}"

    def _load_dataset(self, dataset_name: str, **settings: Any) -> Any:
        settings |= {"compatible": self._compatible, "measures": self._given_measures}
        return super()._load_dataset(dataset_name, **settings)  # type: ignore[misc]


class NanoBEIREvaluator(_Evaluator, _AggregatedHere):
    """Evaluates a SentenceTransformer on the data sets of NanoBEIR, and aggregates the means.

    It takes the place and the arguments of sentence-transformers' own ``NanoBEIREvaluator`` and
    loads the data sets with it. Each data set is evaluated by an ``InformationRetrievalEvaluator``
    of this package, which saves its results.

    Args:
        args: the arguments of sentence-transformers' evaluator. ``dataset_id`` may be a folder with
            a copy of the repository: its README.md, which names the files of each split, and these
            files.
        measures: as of ``InformationRetrievalEvaluator``.
        compatible: whether keys and numbers are those of sentence-transformers.
        kwargs: further keywords of sentence-transformers' evaluator.

    Raises:
        ValueError: a data set does not exist or cannot be loaded; raised by sentence-transformers.
        MeasureError: a measure does not exist, or a cutoff is impossible.
        MissingExtraError: sentence-transformers is not installed.
    """

    information_retrieval_class = InformationRetrievalEvaluator


class SparseNanoBEIREvaluator(_Evaluator, _HostSparseEvaluator, _AggregatedHere):
    """Evaluates a SparseEncoder on the data sets of NanoBEIR; as ``NanoBEIREvaluator``."""

    information_retrieval_class = SparseInformationRetrievalEvaluator


class MultiVectorNanoBEIREvaluator(_Evaluator, _HostMultiVectorEvaluator, _AggregatedHere):
    """Evaluates a MultiVectorEncoder on the data sets of NanoBEIR; as ``NanoBEIREvaluator``."""

    information_retrieval_class = MultiVectorInformationRetrievalEvaluator


class CrossEncoderNanoBEIREvaluator(_HostCrossEncoderEvaluator):
    """Evaluates a CrossEncoder on the data sets of NanoBEIR, and aggregates the means.

    It takes the place and the arguments of sentence-transformers' own
    ``CrossEncoderNanoBEIREvaluator`` and loads the data sets with it: queries, qrels, and the lists
    of BM25 that are ranked again. Each data set is evaluated by a
    ``CrossEncoderRerankingEvaluator`` of this package, which saves its results with the ids of the
    queries.

    Args:
        args: the arguments of sentence-transformers' evaluator. ``dataset_id`` may be a folder, as
            for ``NanoBEIREvaluator``, with the subset "bm25" too.
        compatible: whether documents with equal scores share their gains, as in
            sentence-transformers; see ``CrossEncoderRerankingEvaluator``.
        kwargs: further keywords of sentence-transformers' evaluator.

    Raises:
        ValueError: a data set does not exist or cannot be loaded; raised by sentence-transformers.
        MissingExtraError: sentence-transformers is not installed.
    """

    def __init__(self, *args: Any, compatible: bool = False, **kwargs: Any) -> None:
        check_flag("compatible", compatible)
        self._compatible = compatible
        super().__init__(*args, **kwargs)

    def _load_dataset(self, dataset_name: str, **settings: Any) -> Any:
        loaded = super()._load_dataset(dataset_name, **settings)
        samples = [
            {
                "query_id": sample["query-id"],
                "query": sample["query"],
                # The host reads them from a set, whose order differs from process to process.
                "positive": sample["positive"] if self._compatible else sorted(sample["positive"]),
                "documents": sample["documents"],
            }
            for sample in loaded.samples
        ]
        return CrossEncoderRerankingEvaluator(
            samples, name=loaded.name, compatible=self._compatible, **settings
        )

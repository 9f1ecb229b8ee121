"""The evaluator of the NanoBEIR data sets, from the hub or from files in its layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sentence_transformers.sentence_transformer.evaluation import (
    NanoBEIREvaluator as _HostEvaluator,
)

from beir_eval.integrations.sentence_transformers.retrieval import InformationRetrievalEvaluator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.measures import MeasureLike


class NanoBEIREvaluator(_HostEvaluator):
    """Evaluates a SentenceTransformer on the data sets of NanoBEIR, and aggregates the means.

    It takes the place and the arguments of sentence-transformers' own ``NanoBEIREvaluator`` and
    loads the data sets with it. Each data set is evaluated by an ``InformationRetrievalEvaluator``
    of this package, which saves its results and writes its CSV file. The primary metric is that of
    the first data set.

    Args:
        args: the arguments of sentence-transformers' evaluator. ``dataset_id`` may be a folder with
            a copy of the repository: its README.md, which names the files of each split, and these
            files.
        measures: as of ``InformationRetrievalEvaluator``.
        kwargs: further keywords of sentence-transformers' evaluator.

    Raises:
        ValueError: a data set does not exist or cannot be loaded; raised by sentence-transformers.
        MeasureError: a measure does not exist, or a cutoff is impossible.
        MissingExtraError: sentence-transformers is not installed.
    """

    information_retrieval_class = InformationRetrievalEvaluator

    def __init__(
        self,
        *args: Any,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        **kwargs: Any,
    ) -> None:
        self._given_measures = measures
        super().__init__(*args, **kwargs)

    def _load_dataset(self, dataset_name: str, **settings: Any) -> Any:
        return super()._load_dataset(dataset_name, measures=self._given_measures, **settings)

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,  # noqa: ARG002 - the signature of sentence-transformers
        **kwargs: Any,  # noqa: ARG002 - likewise
    ) -> dict[str, float]:
        """Evaluate a model on every data set; arguments and errors are those of the evaluators.

        Returns:
            {name of the data set, of the score function and of the measure: mean}, and with the
            name of this evaluator in place of the data set, the aggregates over data sets.
        """
        by_dataset: dict[str, float] = {}
        by_measure: dict[str, list[float]] = {}
        for evaluator in self.evaluators:
            metrics = evaluator(model, output_path, epoch, steps)
            by_dataset |= metrics
            for key, value in metrics.items():
                by_measure.setdefault(key.removeprefix(f"{evaluator.name}_"), []).append(value)
        first = self.evaluators[0]
        self.primary_metric = str(first.primary_metric).removeprefix(f"{first.name}_")
        means = {measure: float(self.aggregate_fn(v)) for measure, v in by_measure.items()}
        aggregates = self.prefix_name_to_metrics(means, self.name)
        self.store_metrics_in_model_card_data(model, aggregates, epoch, steps)
        return by_dataset | aggregates

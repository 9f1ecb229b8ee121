"""A measure with graded judgements for LlamaIndex's ``RetrieverEvaluator``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.metrics_base import (
    BaseRetrievalMetric,
    RetrievalMetricResult,
)
from pydantic import PrivateAttr

from beir_eval.core.ids import distinct_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, first_few, shown
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.qrels import QrelsMapping


class QrelsMetric(BaseRetrievalMetric):  # type: ignore[misc]  # LlamaIndex has no types here
    """A measure of this package as a metric of LlamaIndex, computed with graded judgements.

    LlamaIndex passes a metric the text of the query and the ids of the retrieved nodes, and no
    grades. So this metric holds the judgements and the texts of all queries, and is passed as an
    instance: ``RetrieverEvaluator(metrics=[QrelsMetric("nDCG@10", qrels, queries)], …)``.
    ``expected_ids`` are not used. The judged ids must be ids of nodes.

    Args:
        measure: the measure, such as "nDCG@10".
        qrels: the judgements.
        queries: {query_id: text}.
        drop_identical_ids: whether a retrieved node with the id of its query is left out, as BEIR
            does for ArguAna and Quora.

    Attributes:
        metric_name: the name of the measure, which is its key in LlamaIndex's results.

    Raises:
        MeasureError: there is no such measure.
        InputError: two judged queries have the same text, a text is no text, or no query is judged.
    """

    _measure: Measure = PrivateAttr()
    _evaluators: dict[str, Evaluator] = PrivateAttr()
    _query_id_of: dict[str, str] = PrivateAttr()
    _qrels: Qrels = PrivateAttr()
    _drop_identical_ids: bool = PrivateAttr()

    def __init__(
        self,
        measure: str | Measure,
        qrels: Qrels | QrelsMapping,
        queries: Mapping[str, str],
        *,
        drop_identical_ids: bool = False,
    ) -> None:
        """Look up the judged queries by their texts."""
        super().__init__()
        self._measure = parse(measure)
        self._qrels = qrels if isinstance(qrels, Qrels) else Qrels(qrels)
        self._drop_identical_ids = drop_identical_ids
        query_ids = distinct_ids(queries, "ids of queries", InputError)
        judged = set(self._qrels.query_ids)
        self._query_id_of = {}
        for query_id, text in zip(query_ids, queries.values(), strict=True):
            if query_id not in judged:
                continue
            other = self._query_id_of.setdefault(text, query_id)
            if other != query_id:
                msg = (
                    f"queries {shown(other)} and {shown(query_id)} have the same text "
                    f"{shown(text)}, and LlamaIndex passes a metric the text only; leave one out, "
                    "or use evaluate_retriever, which knows the ids"
                )
                raise InputError(msg)
        if not self._query_id_of:
            msg = (
                f"no query is judged: the ids of the queries are {first_few(query_ids)}, those of "
                f"the judgements {first_few(self._qrels.query_ids)}"
            )
            raise InputError(msg)
        self._evaluators = {}

    @property
    def metric_name(self) -> str:
        """The name of the measure, such as "nDCG@10"."""
        return str(self._measure)

    def compute(
        self,
        query: str | None = None,
        expected_ids: Sequence[str] | None = None,  # noqa: ARG002 - the judgements are held here
        retrieved_ids: Sequence[str] | None = None,
        expected_texts: Sequence[str] | None = None,  # noqa: ARG002
        retrieved_texts: Sequence[str] | None = None,  # noqa: ARG002
        **_kwargs: Any,
    ) -> RetrievalMetricResult:
        """Return the score of one query, and its id as metadata.

        Args:
            query: the text of the query.
            expected_ids: not used.
            retrieved_ids: the ids of the retrieved nodes, best first; they may be empty.
            expected_texts: not used.
            retrieved_texts: not used.

        Raises:
            InputError: no judged query has this text, or a node is listed twice.
        """
        query_id = self._query_id_of.get(query or "")
        if query_id is None:
            msg = f"no judged query has the text {shown(query)}; pass it in queries, and judge it"
            raise InputError(msg)
        if query_id not in self._evaluators:
            self._evaluators[query_id] = Evaluator(
                self._qrels.select([query_id]),
                self._measure,
                drop_identical_ids=self._drop_identical_ids,
            )
        run = Run.from_rankings({query_id: list(retrieved_ids or ())})
        result = evaluate_without_warning(self._evaluators[query_id], run)
        score = float(result.values.array[0, 0])
        return RetrievalMetricResult(score=score, metadata={"query_id": query_id})

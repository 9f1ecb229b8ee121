"""Evaluating a retriever of LlamaIndex on a data set."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore

from beir_eval.errors import InputError, SettingError
from beir_eval.integrations.retrieval.documents import (
    DocumentNames,
    RetrievedDocument,
    answer_from_documents,
    parents_in,
)
from beir_eval.integrations.retrieval.evaluate_dataset import dataset_first, evaluate_dataset
from beir_eval.integrations.retrieval.origin import origin_of_retriever
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED, QueryCall, RunnerSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.retrieval.documents import Answer
    from beir_eval.integrations.retrieval.origin import Origin
    from beir_eval.integrations.retrieval.run_queries import AnswerFunction
    from beir_eval.measures import MeasureLike

_SOURCE = "ref_doc_id"


def evaluate_retriever(  # noqa: PLR0913 - one keyword a setting
    dataset: Dataset | str | Path,
    retriever: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    name: str = "retriever",
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 0,
    limit: int | None = None,
    save_run: str | Path | None = None,
    fresh: bool = False,
    check_saved: int = DEFAULT_CHECKED,
    on_error: str = "stop",
    document_comparison_field: str | Sequence[str] = "id",
    progress: bool = True,
    keep_top: int = 10,
    fingerprint: bool = False,
) -> EvaluationResult:
    """Run a retriever for every judged query of a data set, and evaluate its rankings.

    The order of the returned nodes is the ranking. Two kinds of queries count as an empty ranking:
    queries with judgements and without a text (unless ``limit`` is set), and queries that failed
    with ``on_error="missing"``.

    Args:
        dataset: a ``Dataset``, or its folder.
        retriever: a ``BaseRetriever`` of LlamaIndex over an index that holds the corpus.
        measures: what to compute; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3,
            5, 10, 100 and 1000. The retriever determines the depth of the rankings.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        name: the name of the run in tables and reports.
        concurrency: how many queries run at a time.
        timeout: the seconds after which an attempt to answer a query fails; None for no limit. A
            retriever without an asynchronous method of its own runs in threads, which are left
            behind when the time is over.
        retries: how often an attempt that failed is repeated, after 1, 2, 4, … seconds.
        limit: evaluate only this many queries, the first that have a text; None for all.
        save_run: a run file to write, such as "bm25.trec". Each answer is saved in
            ``<save_run>.progress.jsonl`` at once, and a later call with the same file runs only the
            queries that have no saved answer. Answers of a retriever of another class, with other
            settings or other code of your own are refused; the content of its index is compared
            only by the queries that are run again.
        fresh: whether the answers that an earlier call has saved are replaced instead of being
            reused.
        check_saved: how many queries with saved answers are run again; if one is ranked otherwise
            than before, the saved answers are refused. 0 for none.
        on_error: "stop" raises the first failure; "missing" counts a query that fails as an empty
            ranking.
        document_comparison_field: the field that identifies a document in the judgements: "id"
            (that of the node), "ref_doc_id" (that of the document that the node is a part of),
            "content" or "meta.a.b" (metadata), or several as a composite key. Of nodes with the
            same name the first counts; further ones are left out.
        progress: whether to show a progress bar, on a terminal or in a notebook.
        keep_top: how many of the best documents of each query the result keeps, which a report
            shows; 0 for none.
        fingerprint: whether the result has the SHA-256 hashes of judgements and run.

    Returns:
        The result; ``result.retrieval`` has the time that each query took, the failures, and the
        number of attempts that were repeated.

    Raises:
        RetrievalError: the retriever failed for a query, with ``on_error="stop"``.
        RunError: the retriever failed for every query.
        SettingError: this is not a retriever, a setting has no such value, or the saved answers
            were made by another retriever.
        MeasureError: a measure or a cutoff that does not exist.
        InputError: no judged query has a text, the folder of ``save_run`` does not exist, or an id
            cannot be written to it.
        FileFormatError, OSError: the data set or the saved answers cannot be read, or the run
            cannot be written.

    Warns:
        BeirEvalWarning: no retrieved document is judged for its query, or hardly any, and the ids
            of retrieved and judged documents differ.
    """
    dataset, retriever = dataset_first(dataset, retriever)
    if not isinstance(retriever, BaseRetriever):
        msg = (
            f"a retriever of LlamaIndex was expected, not {type(retriever).__name__}; "
            "index.as_retriever() returns one"
        )
        raise SettingError(msg)
    by_source = document_comparison_field == _SOURCE
    names = DocumentNames.from_fields("id" if by_source else document_comparison_field)
    call = _RetrieverCall(retriever, names, by_source)
    settings = RunnerSettings(
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        on_error=on_error,
        save_run=save_run,
        fresh=fresh,
        check_saved=check_saved,
        progress=progress,
    )
    _, result = evaluate_dataset(
        call,
        dataset,
        measures,
        settings,
        run_name=name,
        rel=rel,
        limit=limit,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    return result


@dataclass(frozen=True)
class _RetrieverCall(QueryCall):
    """A retriever of LlamaIndex.

    Attributes:
        retriever: the retriever.
        names: the fields that identify a node, after ``by_source`` has set its id.
        by_source: whether a node has the id of the document that it is a part of.
    """

    retriever: Any
    names: DocumentNames
    by_source: bool

    def made_by(self) -> Origin:
        """Return what makes the answers."""
        documents_go_by = _SOURCE if self.by_source else " + ".join(self.names.fields)
        return origin_of_retriever(self.retriever, documents_go_by)

    def start(self, concurrency: int) -> AnswerFunction:  # noqa: ARG002 - of the protocol
        """Return the function that answers a query."""
        # The default of ``_aretrieve`` calls ``_retrieve`` and would stop all other queries.
        has_own_async = type(self.retriever)._aretrieve is not BaseRetriever._aretrieve  # noqa: SLF001
        return self.run_async if has_own_async else self.run

    def run(self, query_id: str, text: str) -> Answer:
        """Retrieve for one query."""
        start = time.perf_counter()
        nodes = self.retriever.retrieve(text)
        return self._answer_from_nodes(query_id, nodes, time.perf_counter() - start)

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Retrieve for one query, in the event loop."""
        start = time.perf_counter()
        nodes = await self.retriever.aretrieve(text)
        return self._answer_from_nodes(query_id, nodes, time.perf_counter() - start)

    def _answer_from_nodes(self, query_id: str, nodes: Any, seconds: float) -> Answer:
        if not isinstance(nodes, list) or not all(
            isinstance(node, NodeWithScore) for node in nodes
        ):
            msg = f"the answer to query {query_id!r} must be a list of NodeWithScore: {nodes!r:.60}"
            raise InputError(msg)
        documents = [
            RetrievedDocument(
                node.node.ref_doc_id if self.by_source else node.node.node_id,
                node.node.get_content() if "content" in self.names.fields else None,
                node.node.metadata,
                node.score,
            )
            for node in nodes
        ]
        sources = {node.node.ref_doc_id for node in nodes} - {None}
        parents = parents_in(documents) | ({_SOURCE: frozenset(sources)} if sources else {})
        return answer_from_documents(query_id, documents, self.names, seconds, parents=parents)

"""``evaluate_retriever``: any function from a query to documents, run on a data set."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import id_text
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.integrations.retrieval.documents import (
    DocumentNames,
    RetrievedDocument,
    answer_from_documents,
    parents_in,
)
from beir_eval.integrations.retrieval.evaluate_dataset import dataset_first, evaluate_dataset
from beir_eval.integrations.retrieval.origin import origin_of_search
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED, QueryCall, RunnerSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.retrieval.documents import Answer
    from beir_eval.integrations.retrieval.origin import Origin
    from beir_eval.integrations.retrieval.run_queries import AnswerFunction
    from beir_eval.measures import MeasureLike

_PAIR = 2


def evaluate_retriever(  # noqa: PLR0913 - one keyword a setting
    dataset: Dataset | str | Path,
    search: Callable[[str], Any],
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
    """Call a function for every judged query of a data set, and evaluate its rankings.

    The order of what it returns is the ranking. Two kinds of queries count as an empty ranking:
    queries with judgements and without a text (unless ``limit`` is set), and queries that failed
    with ``on_error="missing"``.

    Args:
        dataset: a ``Dataset``, or its folder.
        search: a function, or a coroutine function, that takes the text of a query and returns what
            it retrieved, best first: ids, (id, score) pairs, or documents of Haystack, LangChain or
            LlamaIndex, with a score or without.
        measures: what to compute; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3,
            5, 10, 100 and 1000. ``search`` determines the depth of the rankings.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        name: the name of the run in tables and reports.
        concurrency: how many queries run at a time; a function that is no coroutine function runs
            in threads.
        timeout: the seconds after which an attempt to answer a query fails; None for no limit. A
            thread cannot be ended: it is left behind.
        retries: how often an attempt that failed is repeated, after 1, 2, 4, … seconds.
        limit: evaluate only this many queries, the first that have a text; None for all.
        save_run: a run file to write, such as "bm25.trec". Each answer is saved in
            ``<save_run>.progress.jsonl`` at once, and a later call with the same file runs only the
            queries that have no saved answer. Answers of another function, with other settings or
            other code of your own are refused; the content of an index is compared only by the
            queries that are run again.
        fresh: whether the answers that an earlier call has saved are replaced instead of being
            reused.
        check_saved: how many queries with saved answers are run again; if one is ranked otherwise
            than before, the saved answers are refused. 0 for none.
        on_error: "stop" raises the first failure; "missing" counts a query that fails as an empty
            ranking.
        document_comparison_field: the field of documents that identifies them in the judgements:
            "id", "content" or "meta.a.b" (metadata; of LlamaIndex also "meta.ref_doc_id"), or
            several as a composite key. Of documents with the same name the first counts; further
            ones are left out.
        progress: whether to show a progress bar, on a terminal or in a notebook.
        keep_top: how many of the best documents of each query the result keeps, which a report
            shows; 0 for none.
        fingerprint: whether the result has the SHA-256 hashes of judgements and run.

    Returns:
        The result; ``result.retrieval`` has the time that each query took, the failures, and the
        number of attempts that were repeated.

    Raises:
        RetrievalError: the function failed for a query, with ``on_error="stop"``.
        RunError: the function failed for every query.
        SettingError: ``search`` cannot be called, a setting has no such value, or the saved answers
            were made by another function.
        MeasureError: a measure or a cutoff that does not exist.
        InputError: no judged query has a text, the folder of ``save_run`` does not exist, or an id
            cannot be written to it.
        FileFormatError, OSError: the data set or the saved answers cannot be read, or the run
            cannot be written.

    Warns:
        BeirEvalWarning: no retrieved document is judged for its query, or hardly any, and the ids
            of retrieved and judged documents differ.

    >>> from beir_eval.datasets import demo
    >>> result = evaluate_retriever(demo.FOLDER, lambda text: ["season-01"], "MRR@10", limit=5)
    >>> len(result.retrieval.seconds)
    5
    """
    dataset, search = dataset_first(dataset, search)
    if not callable(search):
        msg = (
            "search must be a function from the text of a query to ids or documents, not "
            f"{shown(search)}; of a retriever pass a method, such as retriever.invoke (LangChain) "
            "or retriever.retrieve (LlamaIndex)"
        )
        raise SettingError(msg)
    _, result = evaluate_dataset(
        _SearchCall(search, DocumentNames.from_fields(document_comparison_field)),
        dataset,
        measures,
        RunnerSettings(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            on_error=on_error,
            save_run=save_run,
            fresh=fresh,
            check_saved=check_saved,
            progress=progress,
        ),
        run_name=name,
        rel=rel,
        limit=limit,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    return result


@dataclass(frozen=True)
class _SearchCall(QueryCall):
    """A function that retrieves.

    Attributes:
        search: the function.
        names: the fields that identify a document.
    """

    search: Callable[[str], Any]
    names: DocumentNames

    def made_by(self) -> Origin:
        """Return what makes the answers."""
        return origin_of_search(self.search, self.names.label)

    def start(self, concurrency: int) -> AnswerFunction:  # noqa: ARG002 - of the protocol
        """Return the function that answers a query."""
        functions = (self.search, type(self.search).__call__)
        return self.run_async if any(map(inspect.iscoroutinefunction, functions)) else self.run

    def run(self, query_id: str, text: str) -> Answer:
        """Retrieve for one query; InputError if the answer has another shape."""
        start = time.perf_counter()
        retrieved = self.search(text)
        if inspect.iscoroutine(retrieved):
            retrieved.close()
            msg = "search returned a coroutine; define it with async def, and await inside"
            raise InputError(msg)
        return self._answer(query_id, retrieved, time.perf_counter() - start)

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Retrieve for one query, in the event loop; InputError as ``run``."""
        start = time.perf_counter()
        retrieved = await self.search(text)
        return self._answer(query_id, retrieved, time.perf_counter() - start)

    def _answer(self, query_id: str, retrieved: Any, seconds: float) -> Answer:
        documents = _documents(query_id, retrieved)
        parents = parents_in(documents)
        return answer_from_documents(query_id, documents, self.names, seconds, parents=parents)


def _documents(query_id: str, retrieved: Any) -> list[RetrievedDocument]:
    """Return what was retrieved for a query as documents.

    Raises:
        InputError: it is not a list, an id is neither text nor an integer, or the scores of pairs
            are not sorted.
    """
    if not is_iterable(retrieved) or isinstance(retrieved, (str, bytes, Mapping)):
        msg = (
            f"the answer to query {shown(query_id)} must be a list of ids, (id, score) pairs or "
            f"documents, best first, not {shown(retrieved)}"
        )
        raise InputError(msg)
    documents, scores = [], []
    for rank, item in enumerate(retrieved, start=1):
        document, score = item, None
        if isinstance(item, (tuple, list)) and len(item) == _PAIR:
            document, score = item
            scores.append(score)
        try:
            documents.append(_document(document, score))
        except (TypeError, ValueError) as error:
            msg = f"item {rank} of the answer to query {shown(query_id)}: {error}"
            raise InputError(msg) from error
    # Ascending scores are distances. Other orders are no ranking, such as the items of a dict.
    if not any(
        all(sign * after <= sign * before for before, after in pairwise(scores)) for sign in (1, -1)
    ):
        msg = (
            f"the pairs of the answer to query {shown(query_id)} are not sorted by their scores; "
            "return the best first"
        )
        raise InputError(msg)
    return documents


def _document(item: Any, score: float | None) -> RetrievedDocument:
    """Return a document of Haystack, LangChain or LlamaIndex, or one of an id.

    Raises:
        TypeError, ValueError: it is none of these.
    """
    if hasattr(item, "page_content"):  # LangChain
        return RetrievedDocument(item.id, item.page_content, item.metadata, score)
    if hasattr(item, "node"):  # LlamaIndex
        node = item.node
        meta = {"ref_doc_id": node.ref_doc_id} if node.ref_doc_id else {}
        meta |= node.metadata
        return RetrievedDocument(node.node_id, node.get_content(), meta, item.score)
    if hasattr(item, "meta"):  # Haystack
        own_score = item.score if score is None else score
        return RetrievedDocument(item.id, item.content, item.meta, own_score)
    return RetrievedDocument(id_text(item), score=score)

"""Evaluating a retriever of LangChain on a data set."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

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

    The order of the returned documents is the ranking; LangChain returns no scores. Two kinds of
    queries count as an empty ranking: queries with judgements and without a text (unless ``limit``
    is set), and queries that failed with ``on_error="missing"``.

    Args:
        dataset: a ``Dataset``, or its folder.
        retriever: a retriever of LangChain, or any other ``Runnable`` that returns a list of
            Documents for a text, over a store that holds the corpus.
        measures: what to compute; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3,
            5, 10, 100 and 1000. The retriever determines the depth of the rankings.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        name: the name of the run in tables and reports.
        concurrency: how many queries run at a time.
        timeout: the seconds after which an attempt to answer a query fails; None for no limit. A
            retriever without an asynchronous method of its own runs in threads, which cannot be
            ended: the program waits for them.
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
        document_comparison_field: the field that identifies a document in the judgements: "id",
            "content" (``page_content``) or "meta.a.b" (metadata), or several as a composite key.
            Of documents with the same name the first counts; further ones are left out.
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
    if not isinstance(retriever, Runnable):
        msg = (
            f"a retriever of LangChain was expected, not {type(retriever).__name__}; "
            "store.as_retriever() returns one"
        )
        raise SettingError(msg)
    names = DocumentNames.from_fields(document_comparison_field)
    call = _RetrieverCall(retriever, names)
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
    """A retriever of LangChain.

    Attributes:
        retriever: the retriever.
        names: the fields that identify a document.
    """

    retriever: Any
    names: DocumentNames

    def made_by(self) -> Origin:
        """Return what makes the answers."""
        return origin_of_retriever(self.retriever, " + ".join(self.names.fields))

    def start(self, concurrency: int) -> AnswerFunction:  # noqa: ARG002 - of the protocol
        """Return the function that answers a query."""
        return self.run_async

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Retrieve for one query, in the event loop."""
        start = time.perf_counter()
        retrieved = await self.retriever.ainvoke(text)
        seconds = time.perf_counter() - start
        if not isinstance(retrieved, list) or not all(
            isinstance(item, Document) for item in retrieved
        ):
            msg = f"the answer to query {query_id!r} must be a list of Documents: {retrieved!r:.60}"
            raise InputError(msg)
        documents = [
            RetrievedDocument(document.id, document.page_content, document.metadata)
            for document in retrieved
        ]
        parents = parents_in(documents)
        return answer_from_documents(query_id, documents, self.names, seconds, parents=parents)

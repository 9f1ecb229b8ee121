"""Retrieving for the judged queries of a data set, and evaluating the rankings.

On judged spans of text, what retrievers return are chunks, placed in the corpus.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import InputError, SettingError, check_count, check_name, shown, warn_caller
from beir_eval.evaluation.coverage import warn_of_content
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.inspection.unmatched_ids import UNMATCHED
from beir_eval.integrations.retrieval.documents import (
    BEIR_DOC_ID,
    parent_advice,
    with_unmatched_names,
)
from beir_eval.integrations.retrieval.run_queries import retrieve_all
from beir_eval.spans import Chunk, Chunks, Spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.inspection.finding import Finding
    from beir_eval.integrations.retrieval.run_queries import QueryCall, Retrieved, RunnerSettings
    from beir_eval.measures import MeasureLike
    from beir_eval.spans import SpanView

#: The fields that name a chunk: its document and its text. Offsets in metadata are not among them,
#: since cleaners and second splitters leave wrong ones; a text is looked for in its document.
CHUNK_FIELDS = (f"meta.{BEIR_DOC_ID}", "content")


def dataset_first(dataset: Any, retriever: Any) -> tuple[Any, Any]:
    """Return a data set and what is run on it, whichever of the two comes first in a call.

    Other tools name the pipeline first, and the types tell the two apart.
    """
    kinds = (Dataset, str, Path)
    if isinstance(retriever, kinds) and not isinstance(dataset, kinds):
        return retriever, dataset
    return dataset, retriever


def evaluate_dataset(  # noqa: PLR0913 - one keyword a setting
    call: QueryCall,
    dataset: Dataset | str | Path,
    measures: Iterable[MeasureLike] | MeasureLike | None,
    settings: RunnerSettings,
    *,
    run_name: str,
    limit: int | None,
    keep_top: int,
    fingerprint: bool,
    rel: float | None = None,
    view: SpanView | None = None,
) -> tuple[Retrieved, EvaluationResult]:
    """Retrieve for every judged query of a data set; return the rankings and their scores.

    Args:
        call: the retriever.
        dataset: a ``Dataset``, or its folder.
        measures: what to compute; None for the default measures.
        settings: how the queries are run.
        run_name: the name of the run.
        limit: how many queries, the first that have a text; None for all.
        keep_top: how many of the best documents of each query the result keeps.
        fingerprint: whether the result has the SHA-256 hashes of judgements and run.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it.
        view: the judged spans, if the retriever names chunks by ``CHUNK_FIELDS``; else None.

    Raises:
        RetrievalError, RunError, FileFormatError, OSError: as ``retrieve_all``.
        SettingError: likewise; ``dataset`` is no data set, or a setting has no such value.
        InputError: as ``retrieve_all``; or no judged query has a text.
    """
    if not isinstance(dataset, (Dataset, str, Path)):
        msg = f"a data set is a Dataset or its folder, not {type(dataset).__name__}"
        raise SettingError(msg)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    check_name("name", run_name)
    queries = first_queries(data, limit, call.label)
    qrels = evaluated_judgements(data, limit, call.label)
    evaluator = Evaluator(
        qrels,
        measures,
        rel=rel,
        drop_identical_ids=data.info is not None and data.info.drop_identical_ids,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    before = [] if view is not None else call.look_ahead(qrels.select(queries))
    _warn_of(before, run_name)
    retrieved = retrieve_all(call, queries, settings)
    if view is not None:
        check_chunks(retrieved.run, retrieved.retrieval.unnamed)
        retrieved = retrieved._replace(run=run_of_chunks(retrieved.run, view))
    run, retrieval = retrieved.run, retrieved.retrieval
    after = list(retrieval.findings)
    result = evaluate_without_warning(evaluator, run, run_name)
    if run.text_counts is None:  # else the ids are those of chunks
        result = with_unmatched_names(
            result,
            run,
            qrels,
            if_empty=call.if_empty,
            advice=lambda: parent_advice(retrieved.parents, qrels, call.if_chunks),
        )
    counted = result.counted
    codes = {finding.code for finding in (*before, *(counted.findings if counted else ()))}
    # Documents that are not there, or have other ids, are no random ones.
    if view is None and codes.isdisjoint({UNMATCHED, "judged-documents-not-stored"}):
        after += call.look_back(qrels, run)
    _warn_of(after, run_name)
    warn_of_content(result, run_name)
    update = {"beyond_limit": len(data.qrels) - len(qrels), "findings": (*before, *after)}
    retrieval = retrieval.model_copy(update=update)
    return retrieved, result.model_copy(update={"retrieval": retrieval})


def _warn_of(findings: Iterable[Finding], name: str) -> None:
    for finding in findings:
        warn_caller(f"{name}: {finding.sentence}")


def evaluated_judgements(data: Dataset, limit: int | None, label: str) -> Qrels:
    """Return the judgements of the queries that are evaluated: of all, or of ``first_queries``.

    Args:
        data: the data set.
        limit: how many queries; None for all.
        label: what the message calls the retriever, such as "the pipeline".

    Raises:
        SettingError, InputError: as ``first_queries``.
    """
    return data.qrels if limit is None else data.qrels.select(first_queries(data, limit, label))


def first_queries(data: Dataset, limit: int | None, label: str) -> dict[str, str]:
    """Return {query_id: text} of the first judged queries with a text, or of all of them.

    Args:
        data: the data set.
        limit: how many; None for all.
        label: what the message calls the retriever, such as "the pipeline".

    Raises:
        SettingError: ``limit`` is not a positive integer.
        InputError: no judged query has a text.
    """
    if limit is not None:
        check_count("limit", limit)
    queries = dict(islice(data.queries.items(), limit))
    if not queries:
        msg = f"{data.name}: no judged query has a text, so there is nothing to ask {label}"
        raise InputError(msg)
    return queries


def judged_by_spans(
    dataset: Dataset | str | Path, spans: Any, ranks: str, overlap: float | None
) -> tuple[Dataset, SpanView]:
    """Return a data set whose judgements are spans of its documents, and their view.

    Args:
        dataset: a ``Dataset``, or a folder with corpus and queries; its qrels are not read.
        spans: ``Spans``, or the path of their file.
        ranks: as of ``Spans.view``.
        overlap: likewise.

    Raises:
        FileFormatError, OSError: a file is missing or malformed.
        QrelsError: a span does not fit the corpus.
        SettingError: ``ranks`` or ``overlap`` has no such value.
    """
    if isinstance(spans, (str, Path)):
        spans = Spans.from_jsonl(spans, dataset)
    view = spans.view(ranks, overlap=overlap)
    if not isinstance(dataset, Dataset):
        return view.dataset(dataset), view
    return replace(dataset, qrels=view.qrels), view


def check_chunks(run: Run, unnamed: int) -> None:
    """Raise InputError if no retrieved document says what it is a chunk of, and warn of some.

    Args:
        run: the rankings of those that do.
        unnamed: the number of those that do not.
    """
    if not unnamed:
        return
    named = sum(len(names) for _, names, _ in run.rankings())
    fields = " and ".join(CHUNK_FIELDS)
    of_all = f"{unnamed:,} of {named + unnamed:,} retrieved documents"
    problem = f"{of_all} have no {fields}, which index writes"
    if not named:
        msg = f"{problem}: write the corpus to the store with it, so that chunks can be placed"
        raise InputError(msg)
    warn_caller(f"{problem}: they are left out")


def run_of_chunks(run: Run, view: SpanView) -> Run:
    """Return rankings of chunks, named by ``CHUNK_FIELDS``, as a run on judged spans.

    Args:
        run: the rankings.
        view: the spans.

    Raises:
        InputError: a name is another one.
    """
    by_query = {query_id: list(map(_chunk, names)) for query_id, names, _ in run.rankings()}
    return view.run(Chunks(by_query, view.texts))


def _chunk(name: str) -> Chunk:
    try:
        doc_id, text = json.loads(name)
    except ValueError as error:
        msg = (
            f"a chunk is named by {' and '.join(CHUNK_FIELDS)}, which index writes; "
            f"{shown(name)} is not: was the corpus written by index?"
        )
        raise InputError(msg) from error
    return Chunk(doc_id, text=text)

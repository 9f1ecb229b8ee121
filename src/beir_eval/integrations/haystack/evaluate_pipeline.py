"""Evaluating a Haystack pipeline on a data set: runs every query and scores the rankings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack.evaluation import EvaluationRunResult

from beir_eval.core.files import plain_name
from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import SettingError
from beir_eval.evaluation.answers import answer_scores, read_gold_answers
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.integrations.haystack.retriever import PipelineRetriever
from beir_eval.integrations.retrieval.documents import AUTO
from beir_eval.integrations.retrieval.evaluate_dataset import (
    CHUNK_FIELDS,
    dataset_first,
    evaluate_dataset,
    judged_by_spans,
)
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.integrations.haystack.retriever import Inputs
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import MeasureLike
    from beir_eval.spans import Spans

    #: {query_id: a right answer, or several}, or the path of a file of them.
    GoldAnswers = Mapping[str, str | Iterable[str]] | str | Path


def evaluate_pipeline(  # noqa: PLR0913 - one keyword a setting
    dataset: Dataset | str | Path,
    pipeline: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    inputs: Inputs | None = None,
    documents_from: str | None = None,
    name: str = "pipeline",
    concurrency: int = 1,
    limit: int | None = None,
    save_run: str | Path | None = None,
    fresh: bool = False,
    check_saved: int = DEFAULT_CHECKED,
    on_error: str = "stop",
    document_comparison_field: str | Sequence[str] = "id",
    collapse: str | None = AUTO,
    progress: bool = True,
    keep_top: int = 10,
    fingerprint: bool = False,
    answers_from: str | None = None,
    gold_answers: GoldAnswers | None = None,
    spans: Spans | str | Path | None = None,
    ranks: str = "characters",
    overlap: float | None = None,
) -> EvaluationResult:
    """Run a pipeline for every judged query of a data set, and evaluate its rankings.

    The order of the returned documents is the ranking. Two kinds of queries count as an empty
    ranking: queries with judgements and without a text (unless ``limit`` is set), and queries that
    failed with ``on_error="missing"``.

    Args:
        dataset: a ``Dataset``, or its folder.
        pipeline: a pipeline over a document store that holds the corpus (see ``index``).
        measures: what to compute; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3,
            5, 10, 100 and 1000. The pipeline's ``top_k`` determines the depth of the rankings.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        inputs: the inputs that take the query, as "component.input" or several of them; or a
            function (query_id, text) that returns the inputs of the pipeline, {component: {input:
            value}}. By default, the query goes to the one required input of text, or to several
            named "query", "question" or "text"; and to optional ones named "query" or "question".
            Inputs named "query_ids", such as those of an evaluator, get the id, unless this is a
            function.
        documents_from: the output with the ranked documents, as "component.output". By default,
            the one list of Documents from which the pipeline makes no other list of Documents.
        name: the name of the run in tables and reports.
        concurrency: how many queries run at a time. More than 1 needs a pipeline with
            ``run_async``: any pipeline of Haystack 3, an AsyncPipeline of Haystack 2.
        limit: evaluate only this many queries, the first that have a text; None for all.
        save_run: a run file to write, such as "bm25.trec". Each answer is saved in
            ``<save_run>.progress.jsonl`` at once, and a later call with the same file runs only the
            queries that have no saved answer. The file has the documents' scores if these do not
            increase along the ranking; equal scores are made to differ in the last digit of a
            float32. Otherwise it has n, n-1, …, 1.
        fresh: whether the answers that an earlier call has saved are replaced instead of being
            reused.
        check_saved: how many queries with saved answers are run again; if one is ranked otherwise
            than before, the saved answers are refused. 0 for none.
        on_error: "stop" raises the first failure; "missing" counts a query that fails as an empty
            ranking.
        document_comparison_field: the field that identifies a document in the judgements: "id",
            "content" or "meta.a.b", or several as a composite key.
        collapse: the field with the name of the document that a chunk is a part of, such as
            "meta.source_id". All chunks of a document then count as that document. A document
            without this field counts as a document of its own; a warning counts these. By default
            ("auto") a document that ``index`` has written, or a chunk of it, counts as the document
            in ``meta.beir_doc_id`` if documents are identified by their id. None: each chunk counts
            as a document.
        progress: whether to show a progress bar, on a terminal or in a notebook.
        keep_top: how many of the best documents of each query the result keeps, which a report
            shows; 0 for none.
        fingerprint: whether the result has the SHA-256 hashes of judgements and run.
        answers_from: the output with the generated answers, as "component.output": the answers of
            an AnswerBuilder, or the replies of a generator. Their measures ("EM", "token F1" and
            "contains", of ``answer_scores``) stand beside those of the documents. None evaluates
            documents only.
        gold_answers: {query_id: a right answer, or several}, or the path of a file that
            ``read_gold_answers`` reads; by default the answers in the metadata of the data set's
            queries.jsonl. A query without a gold answer has no score on the answers' measures; one
            without an answer, and one that failed, scores as an empty answer.
        spans: judged spans of the documents' text, in place of the qrels of the data set:
            ``Spans``, or the path of their file. The retrieved chunks are found in the text of
            their documents, which ``index`` has named in ``meta.beir_doc_id``; the data set needs
            no qrels. ``document_comparison_field`` and ``collapse`` are then not used.
        ranks: with ``spans``, what has a rank: "characters" or "chunks" (see ``Spans.view``).
        overlap: with ``spans``, the share of a span that must be read; None: each character counts.

    Returns:
        The result; ``result.retrieval`` has the time that each query took, and the failures.

    Raises:
        RetrievalError: the pipeline failed for a query, with ``on_error="stop"``.
        RunError: the pipeline failed for every query.
        SettingError: a setting has no such value, the inputs or the output do not exist or are
            ambiguous, or the saved answers were made by another pipeline.
        MeasureError: a measure or a cutoff that does not exist, or ``rel`` is not a finite number
            above 0.
        InputError: no judged query has a text, the folder of ``save_run`` does not exist, or an id
            cannot be written to it.
        FileFormatError, OSError: the data set or the saved answers cannot be read, or the run
            cannot be written.

    Warns:
        BeirEvalWarning: no retrieved document is judged for its query, or hardly any, and the ids
            of retrieved and judged documents differ; or documents lack the field ``collapse``.
    """
    dataset, pipeline = dataset_first(dataset, pipeline)
    view = None
    if spans is not None:
        dataset, view = judged_by_spans(dataset, spans, ranks, overlap)
        document_comparison_field, collapse = CHUNK_FIELDS, None
    retriever = PipelineRetriever(
        pipeline,
        inputs=inputs,
        documents_from=documents_from,
        document_comparison_field=document_comparison_field,
        collapse=collapse,
        concurrency=concurrency,
        check_saved=check_saved,
        progress=progress,
        answers_from=answers_from,
    )
    if answers_from is not None and not isinstance(dataset, Dataset):
        dataset = load_dataset(dataset)
    gold = gold_of(dataset, answers_from, gold_answers)
    retrieved, result = retrieve_and_evaluate(
        retriever,
        dataset,
        measures,
        on_error=on_error,
        save_run=save_run,
        fresh=fresh,
        run_name=name,
        rel=rel,
        limit=limit,
        keep_top=keep_top,
        fingerprint=fingerprint,
        view=view,
    )
    return with_answers(result, retrieved, gold)


def gold_of(
    dataset: Dataset | str | Path, answers_from: str | None, gold_answers: GoldAnswers | None
) -> Mapping[str, str | Iterable[str]] | None:
    """Return the gold answers; None if answers are not evaluated.

    Args:
        dataset: as in ``evaluate_pipeline``.
        answers_from: likewise.
        gold_answers: likewise.

    Raises:
        SettingError: gold answers without ``answers_from``, or the data set has none.
        FileFormatError, OSError: a file cannot be read.
    """
    if answers_from is None:
        if gold_answers is not None:
            raise SettingError("gold_answers are for answers_from='component.output'; add it")
        return None
    if isinstance(gold_answers, (str, Path)):
        return read_gold_answers(gold_answers)
    if gold_answers is not None:
        return gold_answers
    gold: dict[str, list[str]] = {}
    for file in dataset.query_files if isinstance(dataset, Dataset) else ():
        if plain_name(file).endswith(".jsonl"):
            gold |= read_gold_answers(file)
    if not gold:
        msg = (
            'no query of the data set has "answers" in its metadata: pass gold_answers=, '
            "{query_id: answers} or a file of them"
        )
        raise SettingError(msg)
    return gold


def with_answers(
    result: EvaluationResult,
    retrieved: Retrieved,
    gold: Mapping[str, str | Iterable[str]] | None,
) -> EvaluationResult:
    """Return a result with the scores of the answers beside those of the documents.

    Args:
        result: that of the documents.
        retrieved: the answers of the pipeline.
        gold: the gold answers; None leaves the result as it is.

    Raises:
        InputError: no query that was run has a gold answer.
    """
    if gold is None:
        return result
    evaluated = {*result.query_ids}
    predictions = {
        query_id: list(answer.texts or ()) for query_id, answer in retrieved.answers.items()
    }
    of_evaluated = {query: answers for query, answers in gold.items() if query in evaluated}
    scores = answer_scores(predictions, of_evaluated)
    return result.beside(
        EvaluationResult.from_scores(result.name, scores, bounds=(0, 1), higher_is_better=True)
    )


def retrieve_and_evaluate(  # noqa: PLR0913 - what evaluate_pipeline passes on
    retriever: PipelineRetriever,
    dataset: Dataset | str | Path,
    measures: Iterable[MeasureLike] | MeasureLike | None,
    *,
    on_error: str,
    save_run: str | Path | None,
    fresh: bool = False,
    rankings_vary: bool = False,
    **evaluation: Any,
) -> tuple[Retrieved, EvaluationResult]:
    """Return what a pipeline retrieves for a data set, and its result as ``evaluate_pipeline``.

    Args:
        retriever: the pipeline.
        dataset: as in ``evaluate_pipeline``.
        measures: likewise.
        on_error: likewise.
        save_run: likewise.
        fresh: likewise.
        rankings_vary: whether rankings vary from run to run, as ``PipelineRetriever.retrieve``.
        evaluation: further keywords of ``evaluate_dataset``.
    """
    with retriever.opened(
        on_error=on_error, save_run=save_run, fresh=fresh, rankings_vary=rankings_vary
    ) as (call, settings):
        return evaluate_dataset(call, dataset, measures, settings, **evaluation)


def to_evaluation_run_result(
    result: EvaluationResult,
    *,
    run_name: str | None = None,
    queries: Mapping[str, str] | None = None,
) -> EvaluationRunResult:
    """Return a result as Haystack's EvaluationRunResult, for Haystack's reports.

    Args:
        result: the result of ``evaluate_pipeline`` or ``evaluate``, or the component's output
            ``result``.
        run_name: the name of the run; by default that of the result. To compare two results,
            Haystack needs different names.
        queries: {query_id: text}, for a column with the texts of the queries; None for ids only.
    """
    inputs = {"query_id": list(result.query_ids)}
    if queries is not None:
        inputs["query"] = [queries.get(query_id, "") for query_id in result.query_ids]
    results = {
        measure: {"score": result[measure], "individual_scores": scores}
        for measure, scores in zip(result.measures, result.values.array.tolist(), strict=True)
    }
    return EvaluationRunResult(run_name or result.name, inputs, results)

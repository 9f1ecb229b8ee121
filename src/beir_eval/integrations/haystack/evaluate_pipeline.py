"""Run every query of a data set through a pipeline, and evaluate the rankings."""

from __future__ import annotations

import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack.evaluation import EvaluationRunResult

from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import (
    BeirEvalWarning,
    InputError,
    SettingError,
    check_count,
)
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.integrations.haystack.documents import nothing_in_common
from beir_eval.integrations.haystack.retriever import PipelineRetriever

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import Inputs
    from beir_eval.measures import MeasureLike


def evaluate_pipeline(  # noqa: PLR0913 - one keyword a setting
    pipeline: Any,
    dataset: Dataset | str | Path,
    *,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    inputs: Inputs | None = None,
    documents_from: str | None = None,
    run_name: str = "pipeline",
    concurrency: int = 1,
    limit: int | None = None,
    save_run: str | Path | None = None,
    on_error: str = "stop",
    document_comparison_field: str | Sequence[str] = "id",
    collapse: str | None = None,
    progress: bool = True,
    keep_top: int = 0,
    fingerprint: bool = False,
) -> EvaluationResult:
    """Run a pipeline for every judged query of a data set, and evaluate its rankings.

    The order in which the documents come out is the ranking. A query that has judgements and no
    text, and one that failed with ``on_error="missing"``, counts as an empty ranking.

    Args:
        pipeline: a pipeline over a document store that holds the corpus (see ``index``).
        dataset: a ``Dataset``, or its folder.
        measures: what to compute; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3,
            5, 10, 100 and 1000. How deep rankings are is the pipeline's affair: its ``top_k``.
        inputs: the inputs that take the query, as "component.input"; or a function (query_id,
            text) that returns what the pipeline is run with. See ``PipelineRetriever``.
        documents_from: the output of the ranking, as "component.output".
        run_name: what made the run, for tables and reports.
        concurrency: how many queries are under way at a time.
        limit: only the first queries, and their judgements.
        save_run: a run file to write, such as "bm25.trec". An interrupted evaluation goes on from
            what is saved, and a finished one is evaluated again without running a query. Each
            document has its score where the scores alone tell the order; equal ones differ in
            the last digit.
        on_error: a query that fails is raised ("stop"), or counts as "missing".
        document_comparison_field: what a document goes by in the judgements.
        collapse: a field that names the document that a chunk is a part of, as "meta.source_id".
        progress: whether a progress bar is shown, on a terminal or in a notebook.
        keep_top: as ``Evaluator``: how many of the best documents of each query the result keeps.
        fingerprint: as ``Evaluator``: keep the hashes of judgements and run.

    Returns:
        The result; ``result.retrieval`` has what each query took, and the failures.

    Raises:
        RetrievalError: the pipeline failed for a query, which is named.
        SettingError: inputs or output cannot be told; a saved run was made by another pipeline.
        InputError: no judged query has a text.
        FileFormatError, OSError: the data set cannot be read, the run cannot be written.
    """
    if not isinstance(dataset, (Dataset, str, Path)):
        msg = f"a data set is a Dataset or its folder, not {type(dataset).__name__}"
        raise SettingError(msg)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    if limit is not None:
        check_count("limit", limit)
    queries = dict(islice(data.queries.items(), limit))
    if not queries:
        msg = f"{data.name}: no judged query has a text, so there is nothing to ask the pipeline"
        raise InputError(msg)
    qrels = data.qrels if limit is None else data.qrels.select(queries)
    evaluator = Evaluator(
        qrels,
        measures,
        drop_identical_ids=data.info is not None and data.info.drop_identical_ids,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    retriever = PipelineRetriever(
        pipeline,
        inputs=inputs,
        documents_from=documents_from,
        document_comparison_field=document_comparison_field,
        collapse=collapse,
        concurrency=concurrency,
        progress=progress,
    )
    run, retrieval = retriever.retrieve(queries, on_error=on_error, save_run=save_run)
    problem = nothing_in_common(run, qrels)
    if problem is not None:
        warnings.warn(problem, BeirEvalWarning, stacklevel=2)
    result = evaluator.evaluate(run, name=run_name)
    return result.model_copy(update={"retrieval": retrieval})


def to_evaluation_run_result(
    result: EvaluationResult,
    *,
    run_name: str | None = None,
    queries: Mapping[str, str] | None = None,
) -> EvaluationRunResult:
    """Return a result as Haystack's reports take it: a row a measure, a score a query.

    Args:
        result: what ``evaluate_pipeline``, ``evaluate`` or the component gave.
        run_name: by default the name of the result. Haystack compares two results by their names,
            which must differ.
        queries: {query_id: text}, for a column of texts beside that of ids.
    """
    inputs = {"query_id": list(result.query_ids)}
    if queries is not None:
        inputs["query"] = [queries.get(query_id, "") for query_id in result.query_ids]
    results = {
        measure: {"score": result[measure], "individual_scores": scores}
        for measure, scores in zip(result.measures, result.values.array.tolist(), strict=True)
    }
    return EvaluationRunResult(run_name or result.name, inputs, results)

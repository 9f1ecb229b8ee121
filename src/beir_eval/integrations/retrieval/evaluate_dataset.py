"""Retrieving for the judged queries of a data set, and evaluating the rankings."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import InputError, SettingError, check_count, check_name, warn_caller
from beir_eval.evaluation.coverage import warn_of_content
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.integrations.retrieval.documents import field_with_judged, no_overlap_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.records import RetrievalProblem
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.retrieval.retrieve_all import Retrieved
    from beir_eval.measures import MeasureLike


def dataset_first(dataset: Any, retriever: Any) -> tuple[Any, Any]:
    """Return a data set and what is run on it, whichever of the two comes first in a call.

    Other tools name the pipeline first, and the types tell the two apart.
    """
    kinds = (Dataset, str, Path)
    if isinstance(retriever, kinds) and not isinstance(dataset, kinds):
        return retriever, dataset
    return dataset, retriever


def evaluate_dataset(  # noqa: PLR0913 - one keyword a setting
    retrieve: Callable[[Mapping[str, str]], Retrieved],
    dataset: Dataset | str | Path,
    measures: Iterable[MeasureLike] | MeasureLike | None,
    *,
    what: str,
    name: str,
    limit: int | None,
    keep_top: int,
    fingerprint: bool,
    if_empty: str,
    parent_option: str,
    rel: float | None = None,
    look_ahead: Callable[[Qrels], Sequence[RetrievalProblem]] | None = None,
) -> EvaluationResult:
    """Retrieve for every judged query of a data set, and return the scores of the rankings.

    Args:
        retrieve: returns the rankings of {query_id: text}.
        dataset: a ``Dataset``, or its folder.
        measures: what to compute; None for the default measures.
        what: what messages call the retriever, such as "pipeline".
        name: the name of the run.
        limit: how many queries, the first that have a text; None for all.
        keep_top: how many of the best documents of each query the result keeps.
        fingerprint: whether the result has the SHA-256 hashes of judgements and run.
        if_empty: what to do if no document was retrieved, for the warning.
        parent_option: the keyword that names the field with the document that a chunk is a part of,
            for the warning that the ids of documents differ.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it.
        look_ahead: returns what the retriever cannot find, before it retrieves.

    Raises:
        SettingError: ``dataset`` is no data set, or a setting has no such value.
        InputError: no judged query has a text.
    """
    if not isinstance(dataset, (Dataset, str, Path)):
        msg = f"a data set is a Dataset or its folder, not {type(dataset).__name__}"
        raise SettingError(msg)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    check_name("name", name)
    queries = first_queries(data, limit, what)
    qrels = evaluated_judgements(data, limit, what)
    evaluator = Evaluator(
        qrels,
        measures,
        rel=rel,
        drop_identical_ids=data.info is not None and data.info.drop_identical_ids,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    problems = () if look_ahead is None else tuple(look_ahead(qrels.select(queries)))
    _warn_of(problems, name)
    retrieved = retrieve(queries)
    run, retrieval = retrieved.run, retrieved.retrieval
    _warn_of(retrieval.problems, name)
    problems += retrieval.problems
    result = evaluate_without_warning(evaluator, run, name)
    problem = None
    if run.text_counts is None:  # else the ids are those of chunks
        problem = no_overlap_message(
            run,
            qrels,
            result,
            if_empty=if_empty,
            advice=lambda: parent_advice(retrieved.parents, qrels, parent_option),
        )
    if problem is not None:
        warn_caller(problem)
    else:
        warn_of_content(result, name)
    update = {"beyond_limit": len(data.qrels) - len(qrels), "problems": problems}
    retrieval = retrieval.model_copy(update=update)
    return result.model_copy(update={"retrieval": retrieval})


def _warn_of(problems: Iterable[RetrievalProblem], name: str) -> None:
    for problem in problems:
        warn_caller(f"{name}: {problem.sentence}")


def parent_advice(
    parents: Mapping[str, Mapping[str, frozenset[str]]], qrels: Qrels, option: str
) -> str:
    """Return what to do if retrieved documents are chunks whose ids are not those of documents.

    A field is named only if its values are judged documents.

    Args:
        parents: {query_id: {field: its values in the retrieved documents}}.
        qrels: the judgements.
        option: the keyword that names the field.
    """
    field = field_with_judged(parents, qrels)
    if field is None:
        return ""
    return (
        f"The field {field} of the retrieved documents names judged documents: {option}={field!r} "
        "counts these."
    )


def evaluated_judgements(data: Dataset, limit: int | None, what: str) -> Qrels:
    """Return the judgements of the queries that are evaluated: of all, or of ``first_queries``.

    Args:
        data: the data set.
        limit: how many queries; None for all.
        what: what the message calls the retriever.

    Raises:
        SettingError, InputError: as ``first_queries``.
    """
    return data.qrels if limit is None else data.qrels.select(first_queries(data, limit, what))


def first_queries(data: Dataset, limit: int | None, what: str) -> dict[str, str]:
    """Return {query_id: text} of the first judged queries with a text, or of all of them.

    Args:
        data: the data set.
        limit: how many; None for all.
        what: what the message calls the retriever.

    Raises:
        SettingError: ``limit`` is not a positive integer.
        InputError: no judged query has a text.
    """
    if limit is not None:
        check_count("limit", limit)
    queries = dict(islice(data.queries.items(), limit))
    if not queries:
        msg = f"{data.name}: no judged query has a text, so there is nothing to ask the {what}"
        raise InputError(msg)
    return queries

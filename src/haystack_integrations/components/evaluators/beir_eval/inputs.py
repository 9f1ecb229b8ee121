"""The inputs of a component as a run and qrels of the same queries."""

from itertools import islice

from haystack import Document, logging

from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, some
from beir_eval.integrations.haystack.documents import (
    DocumentNames,
    Ranking,
    check_lists,
    distinct_ids,
    field_of,
    judgements_of,
    nothing_in_common,
    run_from_rankings,
)
from beir_eval.measures import Measure

logger = logging.getLogger(__name__)

UNJUDGED = ("error", "skip", "zero")

#: Where Haystack's DocumentSplitter says what a chunk is a part of.
SOURCE_ID = "meta.source_id"
#: How a query that is judged without a document is written: it has nothing relevant.
_NOTHING = {"\0nothing": 0.0}
_CHUNKS = 10


def with_rel(measure: Measure, rel: float | None) -> Measure:
    """Return the measure with this threshold, where it takes one and has none of its own."""
    takes_rel = "rel" in measure.definition.defaults
    if rel is None or not takes_rel or "rel" in dict(measure.parameters):
        return measure
    return measure(rel=rel)


def query_ids_of(
    retrieved: list[list[Document]] | Run,
    truth: list[list[Document]] | None,
    query_ids: list[str] | None,
) -> list[str]:
    """Return the ids of the queries, numbers where nothing names them.

    Raises:
        InputError: there is no query, lists of different lengths, an id twice or none.
    """
    lengths: dict[str, int] = {}
    if truth is not None:
        check_lists("ground_truth_documents", truth)
        lengths["ground_truth_documents"] = len(truth)
    if not isinstance(retrieved, Run):
        check_lists("retrieved_documents", retrieved)
        lengths["retrieved_documents"] = len(retrieved)
    if query_ids is not None:
        if isinstance(query_ids, str):
            msg = f"query_ids must be a list of ids, not the text {query_ids!r}"
            raise InputError(msg)
        queries = distinct_ids("query_ids", query_ids)
    elif isinstance(retrieved, Run):
        queries = list(retrieved.query_ids)
    elif truth is None:
        msg = "query_ids are needed with qrels: one for each list of retrieved documents"
        raise InputError(msg)
    else:
        queries = [str(place) for place in range(len(retrieved))]
    if not queries or any(length != len(queries) for length in lengths.values()):
        lengths["query_ids"] = len(queries)
        found = ", ".join(f"{what}: {length}" for what, length in lengths.items())
        msg = f"one entry for each query was expected everywhere, but there are {found}"
        raise InputError(msg)
    return queries


def run_of(
    queries: list[str],
    retrieved: list[list[Document]] | Run,
    names: DocumentNames,
    *,
    scored: bool,
) -> Run:
    """Return the rankings; a ``Run`` is taken as it is."""
    if isinstance(retrieved, Run):
        return retrieved
    rankings = {
        query_id: Ranking.from_documents(query_id, documents, names, scored=scored)
        for query_id, documents in zip(queries, retrieved, strict=True)
    }
    unnamed = sum(ranking.unnamed for ranking in rankings.values())
    _warn_of_unnamed("retrieved", unnamed, names)
    return run_from_rankings(rankings)


def judged_by_documents(
    queries: list[str], truth: list[list[Document]], names: DocumentNames, unjudged: str
) -> Qrels:
    """Return ground-truth documents as qrels of these queries, as ``unjudged`` has it.

    Raises:
        InputError: a query has none, and that is an error; none has any.
    """
    judgements = judgements_of(queries, truth, names)
    _warn_of_unnamed("ground-truth", judgements.unnamed, names)
    known = {query_id for query_id, grades in judgements.grades.items() if grades}
    _check_judged(queries, known, unjudged)
    fill = _NOTHING if unjudged == "zero" else {}
    return Qrels({query_id: judgements.grades[query_id] or fill for query_id in queries})


def judged_by_qrels(queries: list[str], qrels: Qrels, unjudged: str) -> Qrels:
    """Return the judgements of these queries, as ``unjudged`` has it.

    Raises:
        InputError: a query has none, and that is an error; none has any.
    """
    known = set(qrels.query_ids)
    lacking = _check_judged(queries, known, unjudged)
    if lacking and unjudged == "zero":
        grades = qrels.as_dict()
        filled = Qrels({query_id: grades.get(query_id, _NOTHING) for query_id in queries})
        filled.max_grade = qrels.max_grade
        return filled
    return qrels.select([query_id for query_id in queries if query_id in known])


def _check_judged(queries: list[str], known: set[str], unjudged: str) -> list[str]:
    """Return the queries without judgements, unless that is an error."""
    lacking = [query_id for query_id in queries if query_id not in known]
    if lacking and unjudged == "error":
        msg = (
            f"{len(lacking)} of {len(queries)} queries have no judgements: {some(lacking)}. Judge "
            "them, or set unjudged='skip' (left out of the means) or 'zero'"
        )
        raise InputError(msg)
    if len(lacking) == len(queries) and unjudged == "skip":
        msg = f"none of the {len(queries)} queries has a judgement: {some(queries)}"
        raise InputError(msg)
    return lacking


def warn_if_nothing_is_shared(
    run: Run, qrels: Qrels, names: DocumentNames, retrieved: list[list[Document]] | Run
) -> None:
    """Log a warning where no judged document was retrieved for any query."""
    problem = nothing_in_common(run, qrels)
    if problem is not None:
        logger.warning(
            "{problem} Documents go by {field}: see document_comparison_field.{hint}",
            problem=problem,
            field=" + ".join(names.fields),
            hint=_hint(names, retrieved),
        )


def _hint(names: DocumentNames, retrieved: list[list[Document]] | Run) -> str:
    if names.collapse is not None or isinstance(retrieved, Run):
        return ""
    documents = (one for listed in retrieved for one in listed)
    if all(field_of(one, SOURCE_ID) is None for one in islice(documents, _CHUNKS)):
        return ""
    return f" The documents are chunks: collapse='{SOURCE_ID}' counts what they are parts of."


def _warn_of_unnamed(what: str, number: int, names: DocumentNames) -> None:
    if number:
        logger.warning(
            "{number} {what} documents have no {field}: they match nothing.",
            number=number,
            what=what,
            field=" + ".join(names.fields),
        )

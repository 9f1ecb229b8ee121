"""The relevant documents that an evaluator is given, as judgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beir_eval.core.ids import id_text
from beir_eval.errors import InputError, first_few, warn_caller
from beir_eval.evaluation.inputs import as_qrels

if TYPE_CHECKING:
    from beir_eval.core.qrels import Qrels


def judged_queries(
    queries: Mapping[Any, Any], relevant_docs: Any, *, only_relevant: bool
) -> dict[Any, dict[Any, float]]:
    """Return {query_id: {doc_id: grade}} of those queries that have judgements, in their order.

    Args:
        queries: {query_id: text}; the ids may be text or integers.
        relevant_docs: {query_id: set of relevant documents}, {query_id: {doc_id: grade}}, or any
            other judgements that ``Evaluator`` takes.
        only_relevant: whether only documents with a grade above 0 are kept, with the grade 1, and
            only queries that have some; queries that are left out are then no problem.

    Raises:
        InputError: no query is judged.
        QrelsError: the judgements are not usable.

    Warns:
        BeirEvalWarning: judged queries have no text, unless ``only_relevant``.
    """
    by_query = _by_query(relevant_docs)
    if only_relevant:
        by_query = {
            query_id: {doc_id: 1.0 for doc_id, grade in grades.items() if grade > 0}
            for query_id, grades in by_query.items()
        }
    judged = {
        query_id: grades for query_id in queries if (grades := by_query.get(id_text(query_id)))
    }
    if not judged:
        msg = (
            f"no query has judgements: queries are {first_few(queries) or 'empty'}; judged are "
            f"{first_few(by_query) or 'none'}. Pass the ids of the judgements as keys of queries"
        )
        raise InputError(msg)
    known = set(map(id_text, judged))
    without_text = [query for query, grades in by_query.items() if grades and query not in known]
    if without_text and not only_relevant:
        warn_caller(
            f"{len(without_text):,} of {len(known) + len(without_text):,} judged queries have no "
            f"text in queries and are left out of every mean: {first_few(without_text)}"
        )
    return judged


def _by_query(relevant_docs: Any) -> dict[str, dict[Any, float]]:
    """Return {query_id: {doc_id: grade}}; the query ids are text."""
    if not isinstance(relevant_docs, Mapping):
        qrels: Qrels = as_qrels(relevant_docs)
        return {query_id: dict(grades) for query_id, grades in qrels.as_dict().items()}
    by_query: dict[str, dict[Any, float]] = {}
    for query_id, documents in relevant_docs.items():
        if isinstance(documents, str):
            msg = (
                f"relevant_docs of query {query_id!r} must be a set of document ids or "
                f"{{doc_id: grade}}, not the text {documents!r}; write {{{documents!r}}}"
            )
            raise InputError(msg)
        grades = documents if isinstance(documents, Mapping) else dict.fromkeys(documents, 1.0)
        by_query[id_text(query_id)] = dict(grades)
    return by_query

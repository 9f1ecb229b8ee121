"""Answers of search engines and vector databases, as runs: ``run_from_responses``.

The shape of an answer says where its hits are: a parsed JSON answer of Qdrant, Elasticsearch,
OpenSearch, Weaviate or Milvus, the objects of their Python clients, or rows of pgvector. No client
is imported. ``rank_eval_request`` returns judgements for Elasticsearch's own evaluation.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from beir_eval.core.column_names import DOC_NAMES, SCORE_NAMES, matching_names
from beir_eval.core.ids import checked_ids, checked_query_ids, distinct_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import InputError, check_choice, check_name, first_few, shown

if TYPE_CHECKING:
    from beir_eval.core.qrels import QrelsMapping

#: What ``scores`` may be.
SCORES = ("auto", "higher_is_better", "lower_is_better", "ignore")
#: Names of a hit's score, the first one that has a value counts.
_SCORE_FIELDS = ("_score", *SCORE_NAMES, "certainty", "distance")
#: Names of a hit's id.
_ID_FIELDS = ("_id", "id", "uuid")
_PAIR = 2


class _Hit(NamedTuple):
    """A retrieved document: its id as the system has it, and its score; None without one."""

    doc_id: Any
    score: float | None


def run_from_responses(
    responses: Any,
    *,
    query_ids: Iterable[Any] | None = None,
    doc_id: str | None = None,
    scores: str = "auto",
) -> Run:
    """Return the answers of a search engine or a vector database as a run.

    An answer is parsed JSON or an object of the system's Python client:

    - Elasticsearch, OpenSearch: the answer of ``_search``; of ``_msearch`` with ``query_ids``. Also
      the answer of ``_rank_eval`` alone, which names its queries.
    - Qdrant: the answer of ``points/query`` or ``points/search``, or a list of scored points; of
      their batch forms with ``query_ids``.
    - Weaviate: what a query of a collection returns, or the answer of GraphQL's ``Get``.
    - Milvus: the hits of one query; what ``search`` returns with ``query_ids``.
    - pgvector and others: rows of (id, score or distance), or mappings with these names.

    A document that is listed twice stays so; ``evaluate`` decides about it (``duplicates=``).

    Args:
        responses: {query_id: answer}; or with ``query_ids`` the answer to a batch of queries, or a
            list of answers; or the answer of ``_rank_eval``.
        query_ids: the queries of a batch, in its order.
        doc_id: where a hit has the document's id, such as "_source.doc_id" (Elasticsearch),
            "payload.doc_id" (Qdrant), "properties.doc_id" (Weaviate) or "entity.doc_id" (Milvus);
            by default the id that the system gave it.
        scores: "higher_is_better" or "lower_is_better" (distances, which the run has negated);
            "auto" takes that one of the two in which the hits of every answer are sorted;
            "ignore" makes the order of the hits the ranking.

    Raises:
        InputError: an answer reports an error, is partial (timed out, or shards failed) or has
            another shape; a hit has no id, or has no score where others have one; an id is empty
            or neither text, an integer nor a UUID; hits are not sorted by their scores (with
            "auto"); the numbers of answers and queries differ; or a query is named twice.
        SettingError: ``scores`` has another value, or ``doc_id`` is not text.

    >>> answer = {"hits": {"hits": [{"_id": "d7", "_score": 1.5}, {"_id": "d2", "_score": 0.5}]}}
    >>> run_from_responses({"q1": answer}).as_dict()
    {'q1': {'d7': 1.5, 'd2': 0.5}}
    >>> distances = [[{"id": 7, "distance": 0.1}, {"id": 2, "distance": 0.4}]]
    >>> run_from_responses(distances, query_ids=["q1"]).as_dict()
    {'q1': {'7': -0.1, '2': -0.4}}
    """
    check_choice("scores", scores, SCORES)
    if doc_id is not None:
        check_name("doc_id", doc_id)
    answers = _answers_by_query(responses, query_ids)
    hits_of = {
        query_id: [
            _read_hit(query_id, rank, hit, doc_id)
            for rank, hit in enumerate(_hits_of(query_id, _plain(answer)), start=1)
        ]
        for query_id, answer in answers.items()
    }
    sign = _sign_of_scores(hits_of, scores)
    rankings = [
        checked_ids(
            (hit.doc_id for hit in hits), f"the answer to query {shown(query_id)}", InputError
        )
        for query_id, hits in hits_of.items()
    ]
    values = None
    if sign:
        flat = [hit.score for hit in chain.from_iterable(hits_of.values())]
        values = sign * np.array(flat, dtype=np.float64) + 0.0  # not -0.0
    return Run.from_source(source_from_lists(list(hits_of), rankings, values))


# Answers


def _answers_by_query(responses: Any, query_ids: Iterable[Any] | None) -> dict[str, Any]:
    """Return {query_id: answer} of what the caller passed."""
    if query_ids is not None:
        queries = distinct_ids(query_ids, "query_ids", InputError)
        answers = _batch_of(_plain(responses))
        if len(answers) != len(queries):
            msg = f"there are {len(answers)} answers for {len(queries)} query_ids"
            raise InputError(msg)
        return dict(zip(queries, answers, strict=True))
    if not isinstance(responses, Mapping):
        msg = (
            f"responses must be {{query_id: answer}}, not {type(responses).__name__}; for the "
            "answers to a batch of queries, pass query_ids=[…] too"
        )
        raise InputError(msg)
    if is_rank_eval(responses):
        return _hits_of_rank_eval(responses)
    if any(key in responses for key in ("hits", "responses", "result", "points", "data")):
        msg = (
            "responses looks like one answer; pass {query_id: answer}, or query_ids=[…] too if it "
            "answers a batch of queries"
        )
        raise InputError(msg)
    texts = checked_query_ids(responses, "responses", InputError)
    return dict(zip(texts, responses.values(), strict=True))


def _batch_of(answer: Any) -> list[Any]:
    """Return the answers to the queries of a batch."""
    if isinstance(answer, Mapping):
        _refuse_failure("the answer to the batch", answer)
        if "topks" in answer:
            return _split_hits(answer)
        answer = next((answer[key] for key in ("responses", "result") if key in answer), answer)
    if isinstance(answer, Mapping) or not _is_list(answer):
        msg = (
            "the answer to a batch of queries was expected: a list of answers, or an object with "
            f"'responses', 'result' or 'topks', not {_described(answer)}"
        )
        raise InputError(msg)
    return list(answer)


def _split_hits(answer: Mapping[Any, Any]) -> list[Any]:
    """Return the hits of each query; Milvus' REST API lists those of all queries in a row."""
    numbers, hits = answer["topks"], answer.get("data")
    are_numbers = _is_list(numbers) and all(type(number) is int for number in numbers)
    if not are_numbers or not _is_list(hits) or sum(numbers) != len(hits):  # type: ignore[arg-type]
        msg = "'topks' must be the number of hits of each query, and 'data' must have as many hits"
        raise InputError(msg)
    remaining = iter(hits)  # type: ignore[arg-type]
    return [list(islice(remaining, number)) for number in numbers]


def _plain(answer: Any) -> Any:
    """Return the JSON or the list of an object of a client; other answers as they are."""
    for name in ("body", "points", "objects"):
        if not isinstance(answer, (Mapping, list, tuple)) and hasattr(answer, name):
            return getattr(answer, name)
    return answer


def _hits_of(query_id: str, answer: Any) -> list[Any]:
    """Return the hits of an answer, best first, or raise InputError."""
    if _is_list(answer):
        return list(answer)
    if not isinstance(answer, Mapping):
        _refuse_shape(query_id, answer)
    _refuse_failure(f"the answer to query {shown(query_id)}", answer)
    if isinstance(hits := answer.get("hits"), Mapping):
        _refuse_partial(query_id, answer)
        return list(hits.get("hits", ()))
    content = next((answer[key] for key in ("result", "data", "points") if key in answer), None)
    if isinstance(content, Mapping):
        content = content.get("points", content.get("Get"))
    if isinstance(content, Mapping):  # Weaviate's collections, by name
        if len(content) != 1:
            msg = (
                f"the answer to query {shown(query_id)} has the hits of {len(content)} collections "
                f"({first_few(content)}); pass those of one of them"
            )
            raise InputError(msg)
        content = next(iter(content.values()))
    if content is None or not _is_list(content):
        _refuse_shape(query_id, answer)
    return list(content)


def _refuse_failure(label: str, answer: Mapping[Any, Any]) -> None:
    """Raise InputError if an answer reports an error; ``label`` is what the message calls it."""
    status = answer.get("status")
    problem = answer.get("error") or answer.get("errors")
    if not problem and isinstance(status, Mapping):
        problem = status.get("error")
    if not problem and answer.get("code", 0) not in (0, 200):
        problem = answer.get("message") or answer["code"]
    if problem:
        msg = f"{label} is an error: {shown(problem)}; ask again"
        raise InputError(msg)


def _refuse_partial(query_id: str, answer: Mapping[Any, Any]) -> None:
    """Raise InputError if an answer of ``_search`` lacks the hits of some shards."""
    shards = answer.get("_shards")
    failed = shards.get("failed", 0) if isinstance(shards, Mapping) else 0
    if failed or answer.get("timed_out"):
        cause = f"{failed} shards failed" if failed else "it timed out"
        msg = (
            f"the answer to query {shown(query_id)} is partial: {cause}, so documents may be "
            "missing; ask again"
        )
        raise InputError(msg)


def _refuse_shape(query_id: str, answer: Any) -> NoReturn:
    msg = (
        f"the answer to query {shown(query_id)} is {_described(answer)}; expected was an answer of "
        "Elasticsearch, OpenSearch, Qdrant, Weaviate or Milvus, or a list of hits, such as "
        "[(doc_id, score), …]"
    )
    raise InputError(msg)


def _described(answer: Any) -> str:
    if isinstance(answer, Mapping):
        return f"an object with the keys {first_few(map(str, answer)) or '(none)'}"
    return f"an object of type {type(answer).__name__}"


def _is_list(value: Any) -> bool:
    """Return whether a value is a sequence of hits; classes of clients need not be registered."""
    is_sequence = isinstance(value, Sequence) or (
        hasattr(value, "__getitem__") and hasattr(value, "__len__")
    )
    return is_sequence and not isinstance(value, (str, bytes, Mapping))


# Hits


def _read_hit(query_id: str, rank: int, hit: Any, path: str | None) -> _Hit:
    """Return id and score of a hit.

    Args:
        query_id: the query, for messages.
        rank: the 1-based position of the hit, for messages.
        hit: the hit.
        path: where the hit has the document's id; None for the system's own id.

    Raises:
        InputError: there is no id, or the score is not a finite number.
    """
    where = f"hit {rank} of query {shown(query_id)}"
    document = _at_path(hit, path) if path is not None else _own_id(hit)
    if document is None and path is None and isinstance(hit, (tuple, list)) and len(hit) == _PAIR:
        return _Hit(_id_of(hit[0]), _score_of(where, hit[1]))
    if document is None:
        field = f"the field {shown(path)}" if path is not None else "an id"
        msg = (
            f"{where} does not have {field}; its fields are "
            f"{first_few(map(str, _fields_of(hit))) or 'none'}. doc_id= names the field, such as "
            "'payload.doc_id'; a row without names must be (doc_id, score)"
        )
        raise InputError(msg)
    details = (_value(hit, name) for name in ("_additional", "metadata"))
    holders = [hit, *(holder for holder in details if holder is not None)]
    values = (_value(holder, name) for holder in holders for name in _SCORE_FIELDS)
    score = next((value for value in values if value is not None), None)
    return _Hit(_id_of(document), _score_of(where, score))


def _own_id(hit: Any) -> Any:
    """Return the id that the system gave a hit; None without one."""
    for holder in (hit, _value(hit, "_additional")):
        for name in _ID_FIELDS:
            if (doc_id := _value(holder, name)) is not None:
                return doc_id
    names = matching_names(map(str, _fields_of(hit)), DOC_NAMES)
    return _value(hit, names[0]) if len(names) == 1 else None


def _at_path(hit: Any, path: str) -> Any:
    """Return the value at a path such as "payload.doc_id"; None if there is none."""
    value = hit
    for name in path.split("."):
        value = _value(value, name)
    return value


def _value(holder: Any, name: str) -> Any:
    """Return the value of a key or an attribute; None without one."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    value = getattr(holder, name, None)
    return None if callable(value) else value


def _fields_of(hit: Any) -> list[Any]:
    """Return the names of a hit's fields, for messages and for rows."""
    if isinstance(hit, Mapping):
        return list(hit)
    fields = getattr(hit, "_fields", None) or getattr(hit, "__dict__", None)
    return list(fields or ())


def _id_of(value: Any) -> Any:
    """Return an id; a UUID as text."""
    return str(value) if isinstance(value, uuid.UUID) else value


def _score_of(where: str, value: Any) -> float | None:
    """Return a score as a float; Weaviate's GraphQL has some as text."""
    if value is None:
        return None
    number = value
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
    if isinstance(number, bool) or not is_finite_number(number):
        msg = f"the score of {where} is {shown(value)}; a finite number was expected"
        raise InputError(msg)
    return float(number)


def _sign_of_scores(hits_of: Mapping[str, Sequence[_Hit]], scores: str) -> int:
    """Return the factor that makes higher scores better: 1, -1, or 0 for a run without scores."""
    if scores == "ignore":
        return 0
    missing = {hit.score is None for hit in chain.from_iterable(hits_of.values())}
    if missing == {True, False}:
        query_id = next(
            query_id for query_id, hits in hits_of.items() if any(hit.score is None for hit in hits)
        )
        msg = (
            f"some hits have a score, but not all of query {shown(query_id)}; with scores='ignore' "
            "the order of the hits is the ranking"
        )
        raise InputError(msg)
    if missing == {True}:
        return 0
    if scores != "auto":
        return 1 if scores == "higher_is_better" else -1
    for sign in (1, -1):
        if all(_never_increase(hits, sign) for hits in hits_of.values()):
            return sign
    unsorted = [
        query_id
        for query_id, hits in hits_of.items()
        if not _never_increase(hits, 1) and not _never_increase(hits, -1)
    ]
    problem = (
        f"the hits of query {shown(unsorted[0])} are not sorted by their scores"
        if unsorted
        else "the scores of some answers decrease, and those of others increase"
    )
    msg = (
        f"{problem}. If their order is the ranking, set scores='ignore'; otherwise set "
        "'higher_is_better' or 'lower_is_better'"
    )
    raise InputError(msg)


def _never_increase(hits: Sequence[_Hit], sign: int) -> bool:
    values = [sign * (hit.score or 0.0) for hit in hits]
    return all(after <= before for before, after in pairwise(values))


# Elasticsearch's evaluation


def is_rank_eval(answer: object) -> bool:
    """Return whether parsed JSON is an answer of ``_rank_eval``."""
    return isinstance(answer, Mapping) and answer.keys() >= {"metric_score", "details"}


def _hits_of_rank_eval(answer: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """Return {query_id: its hits} of an answer of ``_rank_eval``.

    Raises:
        InputError: queries failed, so that their documents are missing, or the answer has another
            shape.
    """
    if failures := answer.get("failures"):
        query_id = next(iter(failures))
        reason = failures[query_id] if isinstance(failures, Mapping) else query_id
        msg = (
            f"the answer of _rank_eval has {len(failures)} failed queries, {first_few(failures)}, "
            f"which would count as without a document; the first failed with {shown(reason)}. Ask "
            "again, or remove them from 'failures' if they are to count so"
        )
        raise InputError(msg)
    details = answer["details"]
    if not isinstance(details, Mapping):
        msg = f"the details of an answer of _rank_eval must be by query, not {shown(details)}"
        raise InputError(msg)
    queries = checked_query_ids(details, "details", InputError)
    return {
        query_id: _rated_hits(query_id, detail)
        for query_id, detail in zip(queries, details.values(), strict=True)
    }


def _rated_hits(query_id: str, detail: Any) -> list[Any]:
    """Return the hits of one query, each without its rating."""
    listed: Any = _value(detail, "hits")
    hits = [_value(rated, "hit") for rated in listed] if _is_list(listed) else [None]
    if not all(isinstance(hit, Mapping) for hit in hits):
        msg = (
            f"the details of query {shown(query_id)} in an answer of _rank_eval must have 'hits', "
            f"a list of {{'hit': …, 'rating': …}}, not {shown(detail)}"
        )
        raise InputError(msg)
    return hits


def rank_eval_request(
    qrels: Qrels | QrelsMapping,
    requests: Mapping[Any, Any],
    *,
    index: str,
    metric: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the body of a request to ``_rank_eval`` of Elasticsearch or OpenSearch.

    Its metrics follow other rules than ours: docs/faq.md lists the differences.

    Args:
        qrels: the judgements. Documents with a negative grade are left out: they are not judged.
        requests: {query_id: the body of the search}, for each judged query.
        index: the index of the documents.
        metric: the metric, such as {"dcg": {"k": 10, "normalize": True}}.

    Raises:
        InputError: a judged query has no request, a grade is a fraction, which a rating cannot be,
            or ``requests`` or ``metric`` is not a mapping.
        SettingError: ``index`` is not text.
        QrelsError: the judgements are not valid.

    >>> request = rank_eval_request(
    ...     {"q1": {"d1": 2}},
    ...     {"q1": {"query": {"match": {"text": "amsterdam"}}}},
    ...     index="hotels",
    ...     metric={"dcg": {"k": 10, "normalize": True}},
    ... )
    >>> request["requests"][0]["ratings"]
    [{'_index': 'hotels', '_id': 'd1', 'rating': 2}]
    """
    judgements = Qrels.coerce(qrels)
    check_name("index", index)
    for name, value in (("requests", requests), ("metric", metric)):
        if not isinstance(value, Mapping):
            msg = f"{name} must be an object of JSON, not {shown(value)}"
            raise InputError(msg)
    by_query = dict(
        zip(checked_query_ids(requests, "requests", InputError), requests.values(), strict=True)
    )
    missing = [query_id for query_id in judgements.query_ids if query_id not in by_query]
    if missing:
        msg = f"{len(missing)} judged queries have no request: {first_few(missing)}"
        raise InputError(msg)
    if judgements.has_fractional_grades:
        msg = "a rating is a whole number, but some grades are fractions; round or scale them first"
        raise InputError(msg)
    rated = [
        {
            "id": query_id,
            "request": by_query[query_id],
            "ratings": [
                {"_index": index, "_id": doc_id, "rating": int(grade)}
                for doc_id, grade in judged.items()
                if grade >= 0
            ],
        }
        for query_id, judged in judgements.as_dict().items()
    ]
    return {"requests": rated, "metric": dict(metric)}

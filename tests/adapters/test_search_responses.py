"""Answers of search engines and vector databases become the run that they list."""

import json
import uuid
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import Qrels, evaluate, read_run
from beir_eval.adapters import rank_eval_request, run_from_responses
from beir_eval.errors import FileFormatError, InputError, QrelsError, SettingError

ID = uuid.UUID("936da01f-9abd-4d9d-80c7-02af85c822a8")


def elastic(*hits, **more):
    listed = [{"_index": "i", "_id": doc, "_score": score} for doc, score in hits]
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": {"hits": listed}} | more


def point(doc, score):
    return {"id": doc, "version": 3, "score": score, "payload": {"doc_id": f"p{doc}"}}


def weaviate_object(**metadata):
    defaults = {"distance": None, "certainty": None, "score": None}
    return SimpleNamespace(
        uuid=ID, properties={"doc_id": "w1"}, metadata=SimpleNamespace(**defaults | metadata)
    )


class Row(NamedTuple):
    passage_id: str
    distance: float


#: Answers to one query, and the documents and scores that they list, higher is better.
ANSWERS = {
    "elasticsearch": (elastic(("a", 2.5), ("b", 1.0)), {"a": 2.5, "b": 1.0}),
    "elasticsearch's client": (
        SimpleNamespace(body=elastic(("a", 2.5), ("b", 2.5))),
        {"a": 2.5, "b": 2.5},
    ),
    "sorted by a field": (elastic(("a", None), ("b", None)), {"a": 2.0, "b": 1.0}),
    "qdrant query": ({"result": {"points": [point(7, 0.9)]}, "status": "ok"}, {"7": 0.9}),
    "qdrant search": ({"result": [point(7, 0.9), point(8, 0.1)]}, {"7": 0.9, "8": 0.1}),
    "qdrant's client": (
        SimpleNamespace(points=[SimpleNamespace(id=7, score=0.9, payload={})]),
        {"7": 0.9},
    ),
    "scored points": (
        [SimpleNamespace(id=str(ID), score=0.1), SimpleNamespace(id="x", score=0.4)],
        {str(ID): -0.1, "x": -0.4},
    ),
    "weaviate's client": (
        SimpleNamespace(objects=[weaviate_object(distance=0.25)]),
        {str(ID): 0.25},
    ),
    "weaviate's GraphQL": (
        {
            "data": {
                "Get": {"Article": [{"title": "t", "_additional": {"id": "w", "score": "0.5"}}]}
            }
        },
        {"w": 0.5},
    ),
    "milvus' REST": (
        {"code": 0, "data": [{"id": 1, "distance": 0.1}, {"id": 2, "distance": 0.2}]},
        {"1": -0.1, "2": -0.2},
    ),
    "milvus' hits": ([{"id": 1, "distance": 0.9, "entity": {"doc_id": "m"}}], {"1": 0.9}),
    "rows": ([("a", 0.1), ("b", 0.1), ("c", 0.3)], {"a": -0.1, "b": -0.1, "c": -0.3}),
    "named rows": ([Row("a", 0.1), Row("b", 0.2)], {"a": -0.1, "b": -0.2}),
    "rows as mappings": ([{"docno": "a", "Similarity": 1, "score": 0.5}], {"a": 0.5}),
    "nothing": (elastic(), {}),
}


@pytest.mark.parametrize("system", ANSWERS)
def test_an_answer_becomes_the_ranking_that_it_lists(system):
    answer, expected = ANSWERS[system]
    run = run_from_responses({"q": answer})
    assert run.as_dict() == {"q": expected}
    assert list(run.as_dict()["q"]) == list(expected)


#: Answers to the queries "q" and "r".
BATCHES = {
    "elasticsearch": {"took": 1, "responses": [elastic(("a", 1.0)), elastic(("b", 2.0))]},
    "qdrant query": {"result": [{"points": [point("a", 1.0)]}, {"points": [point("b", 2.0)]}]},
    "qdrant search": {"result": [[point("a", 1.0)], [point("b", 2.0)]]},
    "qdrant's client": [SimpleNamespace(points=[SimpleNamespace(id=doc, score=score)])
                        for doc, score in (("a", 1.0), ("b", 2.0))],
    "milvus": [[{"id": "a", "distance": 1.0}], [{"id": "b", "distance": 2.0}]],
    "milvus' REST": {"code": 0, "topks": [1, 1], "data": [{"id": "a", "distance": 1.0},
                                                          {"id": "b", "distance": 2.0}]},
    "a list": [elastic(("a", 1.0)), elastic(("b", 2.0))],
}  # fmt: skip


@pytest.mark.parametrize("system", BATCHES)
def test_the_answer_to_a_batch_belongs_to_its_queries_in_their_order(system):
    run = run_from_responses(BATCHES[system], query_ids=["q", 7])
    assert run.as_dict() == {"q": {"a": 1.0}, "7": {"b": 2.0}}


@pytest.mark.parametrize(
    ("hit", "path", "expected"),
    [
        ({"_id": "1", "_score": 1.0, "_source": {"doc_id": "d1"}}, "_source.doc_id", "d1"),
        (point(7, 1.0), "payload.doc_id", "p7"),
        (weaviate_object(score=1.0), "properties.doc_id", "w1"),
        ({"id": 3, "distance": 1.0, "entity": {"meta": {"doc": 12}}}, "entity.meta.doc", "12"),
        ({"my_key": "k", "distance": 1.0}, "my_key", "k"),
    ],
)
def test_the_id_of_a_document_may_be_in_any_field(hit, path, expected):
    run = run_from_responses({"q": [hit]}, doc_id=path)
    assert run.as_dict() == {"q": {expected: 1.0}}


def test_chunks_of_a_document_are_duplicates_about_which_evaluate_decides():
    hits = [{"id": number, "score": 1 / number, "payload": {"doc": "d"}} for number in (1, 2)]
    run = run_from_responses({"q": hits}, doc_id="payload.doc")
    result = evaluate({"q": {"d": 1}}, run, ["MRR"], duplicates="first")
    assert (result["MRR"], result.counted.duplicates) == (1.0, 1)


# Scores


@given(st.lists(st.integers(-5, 5), max_size=5), st.sampled_from([1, -1]))
def test_scores_are_taken_in_the_direction_in_which_hits_are_sorted(values, direction):
    values = sorted(values, reverse=direction == 1)
    rows = [(f"d{rank}", value) for rank, value in enumerate(values)]
    other = {"r": [("x", 2 * direction), ("y", direction)]}  # the direction of all answers
    run = run_from_responses({"q": rows} | other).as_dict()
    assert run["q"] == {doc: direction * value for doc, value in rows}
    assert sorted(run["q"].values(), reverse=True) == list(run["q"].values())


def test_the_direction_of_scores_can_be_set():
    answers = {"q": [("a", 1.0), ("b", 2.0)]}
    assert run_from_responses(answers).as_dict() == {"q": {"a": -1.0, "b": -2.0}}
    higher = run_from_responses(answers, scores="higher_is_better")
    assert higher.as_dict() == {"q": {"a": 1.0, "b": 2.0}}
    assert evaluate({"q": {"b": 1}}, higher, ["MRR"])["MRR"] == 1.0
    ignored = run_from_responses(answers, scores="ignore")
    assert evaluate({"q": {"b": 1}}, ignored, ["MRR"])["MRR"] == 1 / 2


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({"q": [("a", 1.0), ("b", 3.0), ("c", 2.0)]}, "query 'q' are not sorted by their scores"),
        ({"q": [("a", 1), ("b", 2)], "r": [("a", 2), ("b", 1)]}, "decrease, and those of others"),
    ],
)
def test_hits_in_another_order_than_their_scores_are_refused_with_the_remedy(answers, problem):
    with pytest.raises(InputError, match=rf"{problem}.*scores='ignore'"):
        run_from_responses(answers)
    assert len(run_from_responses(answers, scores="ignore")) == len(answers)
    with pytest.raises(SettingError, match="scores"):
        run_from_responses(answers, scores="up")


# What is refused


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"error": {"reason": "no such index"}, "status": 404}, "is an error: .*no such index"),
        ({"errors": [{"message": "no such class"}]}, "is an error: .*no such class"),
        ({"status": {"error": "Not found"}, "time": 0.1}, "is an error: 'Not found'"),
        ({"code": 1100, "message": "bad vector", "data": []}, "is an error: 'bad vector'"),
        (elastic(("a", 1.0), timed_out=True), "is partial: it timed out"),
        (elastic(("a", 1.0), _shards={"failed": 2}), "is partial: 2 shards failed"),
        ({"data": {"Get": {"A": [], "B": []}}}, "hits of 2 collections"),
        ({"took": 3}, "is an object with the keys 'took'; expected was"),
        ({}, r"the keys \(none\)"),
        (None, "is an object of type NoneType"),
        ([{"score": 1.0}], r"hit 1 of query 'q' does not have an id; its fields are 'score'"),
        ([7], "hit 1 of query 'q' does not have an id; its fields are none"),
        ([("a", 1.0, 3)], r"does not have an id.*a row without names must be \(doc_id, score\)"),
        ([("a", "high")], "the score of hit 1 of query 'q' is 'high'"),
        ([("a", float("nan"))], "the score of hit 1 of query 'q' is nan"),
        ([("a", True)], "the score of hit 1 of query 'q' is True"),
        ([("a", 1.0), {"id": "b"}], "some hits have a score, but not all of query 'q'"),
        ([("", 1.0)], "the answer to query 'q': an id is empty"),
        ([(1.5, 1.0)], "the answer to query 'q': an id must be text or an integer"),
    ],
)
def test_an_answer_that_is_no_ranking_is_refused_with_the_query(answer, problem):
    with pytest.raises(InputError, match=problem):
        run_from_responses({"q": answer})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"responses": [elastic()]}, r"must be \{query_id: answer\}, not list; .* query_ids"),
        ({"responses": elastic()}, "looks like one answer"),
        ({"responses": [[]], "query_ids": ["q", "r"]}, "1 answers for 2 query_ids"),
        ({"responses": [[], []], "query_ids": ["q", "q"]}, "must be distinct, but 'q' are listed"),
        ({"responses": [[], []], "query_ids": "qr"}, "must be a list of ids, not the text"),
        ({"responses": {"took": 1}, "query_ids": ["q"]}, "the answer to a batch of queries was"),
        ({"responses": 7, "query_ids": ["q"]}, "not an object of type int"),
        (
            {"responses": {"error": {"reason": "busy"}, "status": 503}, "query_ids": ["q"]},
            "the answer to the batch is an error: .*busy",
        ),
        ({"responses": {"code": 0, "topks": [2], "data": []}, "query_ids": ["q"]}, "as many hits"),
        ({"responses": {"topks": [1]}, "query_ids": ["q"]}, "as many hits"),
        ({"responses": {"q": [point(7, 1.0)]}, "doc_id": "payload.doc"}, "field 'payload.doc'"),
        ({"responses": {"q": [("a", 1.0)]}, "doc_id": "payload.doc"}, "field 'payload.doc'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, problem):
    with pytest.raises(InputError, match=problem):
        run_from_responses(**arguments)


def test_a_query_without_hits_needs_no_field_of_a_document_id():
    assert run_from_responses({"q": []}, doc_id="payload.doc").as_dict() == {"q": {}}


# Elasticsearch's evaluation

REQUESTS = {"q": {"query": {"match_all": {}}}, "r": {"query": {"match_all": {}}}}
DCG = {"dcg": {"k": 10, "normalize": True}}


def test_a_request_of_rank_eval_has_the_ratings_of_each_judged_query():
    qrels = Qrels({"q": {"a": 2, "b": 0, "c": -1}, "r": {"d": 1}})
    body = rank_eval_request(qrels, REQUESTS | {"other": {}}, index="i", metric=DCG)
    assert body == {
        "requests": [
            {
                "id": "q",
                "request": REQUESTS["q"],
                "ratings": [
                    {"_index": "i", "_id": "a", "rating": 2},
                    {"_index": "i", "_id": "b", "rating": 0},
                ],
            },
            {
                "id": "r",
                "request": REQUESTS["r"],
                "ratings": [{"_index": "i", "_id": "d", "rating": 1}],
            },
        ],
        "metric": DCG,
    }


def test_a_query_without_a_request_and_a_rating_that_is_a_fraction_are_refused():
    with pytest.raises(InputError, match="1 judged queries have no request: 's'"):
        rank_eval_request({"q": {"a": 1}, "s": {"a": 1}}, REQUESTS, index="i", metric=DCG)
    with pytest.raises(InputError, match="a rating is a whole number"):
        rank_eval_request({"q": {"a": 0.5}}, REQUESTS, index="i", metric=DCG)
    with pytest.raises(QrelsError, match="empty"):
        rank_eval_request({}, REQUESTS, index="i", metric=DCG)


def rank_eval_answer(**changes):
    def hit(doc_id, score, rating):
        return {"hit": {"_index": "hotels", "_id": doc_id, "_score": score}, "rating": rating}

    return {
        "metric_score": 0.5,
        "details": {
            "q1": {
                "metric_score": 1.0,
                "unrated_docs": [{"_index": "hotels", "_id": "d2"}],
                "hits": [hit("d1", 2.5, 1), hit("d2", 1.5, None)],
                "metric_details": {"dcg": {"dcg": 1.0}},
            },
            "q2": {"metric_score": 0.0, "unrated_docs": [], "hits": []},
        },
        "failures": {},
        **changes,
    }


@pytest.mark.parametrize("indent", [None, 1])
def test_an_answer_of_rank_eval_is_a_run_in_memory_and_as_a_file(tmp_path, indent):
    expected = {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {}}
    assert run_from_responses(rank_eval_answer()).as_dict() == expected
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(rank_eval_answer(), indent=indent), encoding="utf-8")
    assert read_run(path).as_dict() == expected


def test_an_answer_of_rank_eval_with_failed_queries_is_refused_with_their_names(tmp_path):
    failures = {"q3": {"error": {"reason": "no such index"}}, "q4": {"error": {}}}
    answer = rank_eval_answer(failures=failures)
    with pytest.raises(InputError, match=r"2 failed queries, 'q3', 'q4', .*no such index"):
        run_from_responses(answer)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"answer\.json: .* failed queries, 'q3', 'q4'"):
        read_run(path)


@pytest.mark.parametrize("detail", [None, {}, {"hits": {}}, {"hits": [{"_id": "d1"}]}, ["d1"]])
def test_an_answer_of_rank_eval_of_another_shape_is_refused(detail):
    with pytest.raises(InputError, match=r"the details of query 'q1' .* must have 'hits'"):
        run_from_responses(rank_eval_answer(details={"q1": detail}))

"""Lists of relevant ids are judgements of grade 1; what may hold grades is no such list."""

import json

import pytest

from beir_eval import EvaluationResult, Qrels, read_qrels
from beir_eval.errors import FileFormatError
from written_files import write_file

LISTED = {"q1": ["d1", "d3"], "q2": ["d2"]}
GRADED = {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d2": 1.0}}


FILES = {
    "JSON": json.dumps(LISTED),
    "JSON with an object among lists": json.dumps({**LISTED, "q2": {"d2": 1}}),
    "JSON lines": "".join(json.dumps({"query_id": q, "docs": d}) + "\n" for q, d in LISTED.items()),
    "JSON lines, doc_ids": "".join(
        json.dumps({"qid": q, "query": "text", "doc_ids": d}) + "\n" for q, d in LISTED.items()
    ),
    "CSV": "query_id,doc_id\nq1,d1\nq1,d3\nq2,d2\n",
    "CSV with an iteration and texts": (
        "qid,query,iteration,docno,title\nq1,x,0,d1,y\nq1,x,0,d3,y\nq2,x,0,d2,\n"
    ),
    "a document listed twice": json.dumps({**LISTED, "q2": ["d2", "d2"]}),
    "a query without documents": json.dumps({**LISTED, "q3": []}),
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_the_documents_of_a_list_of_ids_have_grade_1(tmp_path, content):
    assert read_qrels(write_file(tmp_path, content, "qrels")).as_dict() == GRADED


def test_the_order_of_a_set_of_ids_is_always_the_same():
    assert Qrels({"q": {"d3", "d1", "d2"}}).doc_ids == ("d1", "d2", "d3")


def test_repetitions_in_a_list_are_counted():
    assert Qrels({"q": ["d1", "d1", "d2"], "r": {"d1": 1}}).repeated_judgements == 1


REFUSED = {
    "pairs": ('{"q": [["d1", 2]]}', "with grades, write {doc_id: grade}"),
    "columns": ('{\n"query_id": ["q"], "doc_id": ["d"], "grade": [2]}', "columns of a table"),
    "a text": ('{"q": "d1"}', "found text for 'q'"),
    "null": ('{"q": ["d1", null]}', "null|None"),
    "a grade beside": ('{"query_id": "q", "docs": ["a"], "grade": 2}\n' * 2, "line 1: .* no doc"),
    "a run": ('{"query_id": "q", "docs": {"a": 2.5}}\n' * 2, "line 1: .* a list of relevant ids"),
    "an unknown column": (
        "query_id,doc_id,usefulness\nq,a,0\n",
        "that is recognisably grade",
    ),
}


@pytest.mark.parametrize(("content", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_may_be_more_than_lists_of_ids_is_refused(tmp_path, content, problem):
    with pytest.raises(FileFormatError, match=problem):
        read_qrels(write_file(tmp_path, content, "qrels"))


def test_a_saved_result_is_not_read_as_lists_of_ids(tmp_path):
    scores = {"nDCG@10": {"q1": 0.5, "q2": 0.25}}
    EvaluationResult.from_scores("s", scores).save(tmp_path / "result.json")
    with pytest.raises(FileFormatError, match="this is a saved result"):
        read_qrels(tmp_path / "result.json")

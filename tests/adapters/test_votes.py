"""Votes become judgements, and the number of votes per judgement is returned."""

import polars as pl
import pytest

from beir_eval.adapters import qrels_from_votes
from beir_eval.errors import InputError, QrelsError, SettingError

ROWS = [
    ("q1", "a", "up"),
    ("q1", "a", "up"),
    ("q1", "a", "down"),
    ("q1", "b", "down"),
    ("q1", "b", "up"),
    ("q2", "c", "down"),
]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("mean", {"q1": {"a": 2 / 3, "b": 1 / 2}, "q2": {"c": 0.0}}),
        ("majority", {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 0.0}}),
        ("any", {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 0.0}}),
    ],
)
def test_the_rules_turn_votes_into_grades(rule, expected):
    judged = qrels_from_votes(ROWS, rule=rule)
    assert judged.qrels.as_dict() == expected
    assert judged.votes == {"q1": {"a": 3, "b": 2}, "q2": {"c": 1}}
    assert judged.left_out == {}


def test_documents_with_too_few_votes_are_left_out_and_listed():
    judged = qrels_from_votes(ROWS, min_votes=2)
    assert judged.qrels.query_ids == ("q1",)
    assert judged.left_out == {"q2": {"c": 1}}
    with pytest.raises(QrelsError, match="no document has 4 votes"):
        qrels_from_votes(ROWS, min_votes=4)


def test_a_threshold_makes_grades_binary():
    judged = qrels_from_votes(ROWS, threshold=0.6)
    assert judged.qrels.as_dict() == {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 0.0}}
    stars = [("q", "a", 4), ("q", "a", 5), ("q", "a", 1), ("q", "b", 3)]
    assert qrels_from_votes(stars).qrels.as_dict() == {"q": {"a": 10 / 3, "b": 3.0}}
    majority = qrels_from_votes(stars, rule="majority", threshold=4)
    assert majority.qrels.as_dict() == {"q": {"a": 1.0, "b": 0.0}}
    assert qrels_from_votes(stars, rule="any", threshold=5).qrels.as_dict() == {
        "q": {"a": 1.0, "b": 0.0}
    }


def test_a_negative_mean_is_grade_0_and_not_unjudged():
    judged = qrels_from_votes([("q", "a", -1), ("q", "b", 1)])
    assert judged.qrels.as_dict() == {"q": {"b": 1.0, "a": 0.0}}


@pytest.mark.parametrize("vote", ["up", "UP ", True, 1, 1.0, "yes"])
def test_an_upvote_may_be_written_in_several_ways(vote):
    assert qrels_from_votes([("q", "a", vote)]).qrels.as_dict() == {"q": {"a": 1.0}}


def test_rows_may_name_their_columns_and_ids_may_be_integers():
    rows = [{"qid": 1, "docid": 7, "vote": 1}, {"qid": "1", "docid": "7", "vote": 0}]
    assert qrels_from_votes(rows).votes == {"1": {"7": 2}}
    frame = pl.DataFrame({"query_id": ["q"], "document": ["a"], "rating": [3], "user": ["x"]})
    assert qrels_from_votes(frame.iter_rows(named=True)).qrels.as_dict() == {"q": {"a": 3.0}}


def test_a_row_may_also_hold_the_text_of_the_query():
    row = {"query_id": "q", "query": "what is it", "doc_id": "d", "vote": 1}
    assert qrels_from_votes([row]).votes == {"q": {"d": 1}}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("q", "a"), "row 0 is .*; it must be"),
        (("q", "a", "maybe"), "the vote of row 0 is 'maybe'"),
        (("q", "a", 10**400), "the vote of row 0 is 1000"),
        (("q", "a", 1e308), "the vote of row 0 is 1e"),
        (("q", "a", float("nan")), "the vote of row 0 is nan"),
        ((None, "a", 1), "row 0: an id must be text"),
        (("q", "", 1), "row 0: an id is empty"),
        ({"qid": "q", "vote": 1}, "row 0 has no doc_id; it has 'qid', 'vote'"),
        (
            {"qid": "q", "doc_id": "a", "docno": "b", "vote": 1},
            "row 0 has two fields for the same value, and they differ: doc_id='a', docno='b'",
        ),
    ],
)
def test_a_row_of_another_shape_is_refused(row, problem):
    with pytest.raises(InputError, match=problem):
        qrels_from_votes([row])


@pytest.mark.parametrize(
    "wrong",
    [{"rule": "median"}, {"min_votes": 0}, {"min_votes": 1.5}, {"threshold": float("nan")}],
)
def test_a_setting_that_does_not_exist_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        qrels_from_votes(ROWS, **wrong)


def test_no_votes_at_all_are_refused():
    with pytest.raises(QrelsError, match="nothing is judged"):
        qrels_from_votes([])
    with pytest.raises(InputError, match="must be rows"):
        qrels_from_votes(None)

"""Judgements are kept exactly, or refused with an error that names them."""

import re
import struct
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import Qrels, evaluate
from beir_eval.errors import QrelsError
from strategies import qrels as some_qrels


@given(some_qrels(grade=st.one_of(st.integers(-3, 5), st.floats(-1e6, 1e6))))
def test_every_judgement_is_kept_exactly_and_the_best_grade_comes_first(judgements):
    stored = Qrels(judgements).as_dict()
    assert stored == judgements
    assert list(stored) == list(judgements)
    for judged in stored.values():
        assert list(judged.values()) == sorted(judged.values(), reverse=True)


@given(some_qrels(), st.randoms(use_true_random=False))
def test_columns_in_any_order_are_the_same_judgements(judgements, rng):
    rows = [
        (query, doc, grade) for query, judged in judgements.items() for doc, grade in judged.items()
    ]
    rng.shuffle(rows)
    columns = Qrels.from_columns(*zip(*rows, strict=True))
    assert columns.as_dict() == judgements
    assert columns.fingerprint() == Qrels(judgements).fingerprint()


def textbook_hash(query, document, grade):
    """Return the hash of a judgement as ``Qrels.query_hashes`` defines it, in whole numbers."""

    def polynomial(text):
        codes = [ord(character) for character in text.replace("\n", "\\n") + "\n"]
        base = 6364136223846793005
        return sum(code * base ** (position + 1) for position, code in enumerate(codes))

    [bits] = struct.unpack("<Q", struct.pack("<d", grade + 0.0))
    mixed = (polynomial(query) * 0x9E3779B97F4A7C15 + polynomial(document) + bits) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


IDS = st.text(st.characters(), min_size=1, max_size=5)


@given(
    st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-1, 3), min_size=1), min_size=1),
    st.sampled_from([1, 2, 20_000]),
)
def test_the_hash_is_the_sum_over_judgements_however_many_ids_are_read_at_a_time(judged, size):
    with mock.patch("beir_eval.core.ids._JOINED_AT_ONCE", size):
        hashes = Qrels(judged).query_hashes
    expected = [
        sum(textbook_hash(query, document, grade) for document, grade in of_query.items()) % 2**64
        for query, of_query in judged.items()
    ]
    assert hashes.tolist() == expected


@given(some_qrels(), st.randoms(use_true_random=False))
def test_the_hashes_of_parts_in_any_order_add_up_to_that_of_all(judgements, rng):
    qrels, queries = Qrels(judgements), list(judgements)
    rng.shuffle(queries)
    parts = [qrels.select([query]).query_hashes for query in queries]
    assert np.concatenate(parts).sum() == qrels.query_hashes.sum()


def test_ids_of_more_than_200_characters_have_hashes_of_their_own():
    hashes = {int(Qrels({"q": {"d" * length: 1}}).query_hashes[0]) for length in (200, 201, 202)}
    assert len(hashes) == 3


class Scalar:
    """Looks like a 0-d tensor: a number only through ``__float__`` and ``__index__``."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def __index__(self):
        return int(self.value)


@pytest.mark.parametrize(
    "grade", [2, 2.0, True + 1, np.int64(2), np.int8(2), np.float32(2), np.float64(2), Scalar(2)]
)
def test_a_grade_may_be_any_kind_of_number(grade):
    assert Qrels({"q": {"a": grade}}).as_dict() == {"q": {"a": 2.0}}


@pytest.mark.parametrize("doc_id", [7, np.int64(7), np.uint8(7), Scalar(7), "7"])
def test_an_integer_id_equals_its_decimal_text(doc_id):
    result = evaluate({doc_id: {doc_id: 1}}, {"7": {"7": 1.0}}, ["P@1"])
    assert result.per_query == {"7": {"Precision@1": 1.0}}
    assert evaluate({"7": {"7": 1}}, {doc_id: {doc_id: 1.0}}, ["P@1"])["P@1"] == 1


@pytest.mark.parametrize("grade", ["high", "2", None, float("nan"), float("inf"), [1], 10**400])
def test_a_grade_that_is_not_a_finite_number_is_named(grade):
    with pytest.raises(QrelsError, match=r"grade of document 'b' for query 'r' is .*finite number"):
        Qrels({"q": {"a": 1}, "r": {"b": grade}})


@pytest.mark.parametrize("empty", [{}, {"q": {}}])
def test_empty_qrels_are_refused(empty):
    with pytest.raises(QrelsError, match="the qrels are empty"):
        Qrels(empty)


def test_a_query_without_judgements_is_left_out_and_counted():
    result = evaluate({"q": {"a": 1}, "r": {}}, {"q": {"a": 1.0}}, ["P@1"])
    assert result.query_ids == ("q",)
    assert result.counted.queries_without_judgements == 1
    assert any("1 query of the qrels with no judgement" in note for note in result.notes())


@pytest.mark.parametrize("wrong", [None, 7, [("q", "a", 1)], {"q": "a"}, {"q": 1}, "file.tsv"])
def test_qrels_of_another_shape_are_refused(wrong):
    with pytest.raises(QrelsError, match=r"must be \{"):
        Qrels(wrong)


@pytest.mark.parametrize("bad_id", [None, 1.5, True, b"a", ("a",), ""])
def test_an_id_that_is_neither_text_nor_an_integer_is_refused(bad_id):
    problem = re.escape(
        f"an id must be text or an integer, not {bad_id!r}" if bad_id != "" else "an id is empty"
    )
    with pytest.raises(QrelsError, match=f"^qrels: {problem}"):
        Qrels({"q": {bad_id: 1}})
    with pytest.raises(QrelsError, match=f"^qrels: {problem}"):
        Qrels({bad_id: {"a": 1}})


def test_an_integer_id_and_a_text_id_must_not_name_the_same_query_or_document():
    with pytest.raises(QrelsError, match="query 'q' judges '7' twice"):
        Qrels({"q": {7: 1, "7": 1}})
    with pytest.raises(QrelsError, match="same query"):
        Qrels({7: {"a": 1}, "7": {"b": 1}})


def test_a_judgement_given_twice_counts_once_and_a_contradiction_is_refused():
    qrels = Qrels.from_columns([*"qqq"], [*"aba"], [1, 0, 1])
    assert qrels.as_dict() == {"q": {"a": 1.0, "b": 0.0}}
    assert qrels.repeated_judgements == 1
    with pytest.raises(QrelsError, match="'a' is judged twice for query 'q', as 1 and as 2"):
        Qrels.from_columns([*"qq"], [*"aa"], [1, 2])
    with pytest.raises(QrelsError, match="there are 1 query_ids, 2 doc_ids and 1 grades"):
        Qrels.from_columns([*"q"], [*"aa"], [1])
    with pytest.raises(QrelsError, match="qrels: three columns were expected"):
        Qrels.from_columns([*"q"], 7, [1])


def test_grades_that_are_too_large_are_refused():
    with pytest.raises(QrelsError, match=r"at most 1e\+100"):
        Qrels({"q": {"a": 1e101}})


def test_later_changes_to_the_mapping_do_not_change_the_qrels():
    judgements = {"q": {"a": 1}}
    qrels = Qrels(judgements)
    judgements["q"]["b"] = 2
    assert qrels.as_dict() == {"q": {"a": 1.0}}
    with pytest.raises(ValueError, match="read-only"):
        qrels.grades[0] = 5


def test_the_fingerprint_depends_only_on_the_content():
    qrels = Qrels({"q": {"a": 1, "b": 0}, "r": {"c": 1}})
    assert qrels.fingerprint() == Qrels({"r": {"c": 1.0}, "q": {"b": 0, "a": 1}}).fingerprint()
    assert qrels.fingerprint() != Qrels({"r": {"c": 2.0}, "q": {"b": 0, "a": 1}}).fingerprint()
    assert len(qrels.fingerprint()) == 64


def test_judgements_are_listed_as_a_dataframe_best_first():
    frame = Qrels({"q": {"a": 0, "b": 2}, "r": {"c": 1}}).to_dataframe()
    assert frame.rows() == [("q", "b", 2.0), ("q", "a", 0.0), ("r", "c", 1.0)]
    assert frame.columns == ["query_id", "doc_id", "grade"]


def test_a_run_in_place_of_qrels_is_named():
    with pytest.raises(QrelsError, match=r"dicts in place of grades, as in {name: run}"):
        Qrels({"system": {"q": {"a": 0.5}}})


def test_repr_is_short():
    assert repr(Qrels({"q": {"a": 1}})) == "Qrels(1 queries, 1 judgements)"
    assert len(Qrels({"q": {"a": 1}})) == 1


def test_queries_and_their_judgements_are_found_in_any_order():
    qrels = Qrels({"q1": {"a": 1}, "q2": {"b": 0, "c": 2}, "q3": {"a": 1}})
    assert qrels.find_rows(["q3", "q", "q1"]).tolist() == [2, -1, 0]
    assert qrels.find_rows(["q1", "q2", "q3"]).tolist() == [0, 1, 2]
    judgement, owner = qrels.judgements_of(np.array([2, 1]))
    assert (judgement.tolist(), owner.tolist()) == ([3, 1, 2], [0, 1, 1])


def test_a_selection_of_queries_has_their_order_and_the_highest_grade_of_all_queries():
    qrels = Qrels({1: {"a": 1, "b": 0}, "2": {"c": 3}, "3": {"d": 2}})
    selected = qrels.select(["3", 1])
    assert selected.query_ids == ("3", "1")
    assert selected.as_dict() == {"3": {"d": 2.0}, "1": {"a": 1.0, "b": 0.0}}
    assert selected.max_grade == 3
    assert qrels.select([1], max_grade=5).max_grade == 5


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        (["4"], "each once, but '4' are not"),
        (["1", 1], "each once, but '1' are named twice"),
        ([], "no query was selected"),
        ([None], "an id must be text or an integer, not None"),
        ("12", "each once, but '12' are not"),
    ],
)
def test_only_judged_queries_can_be_selected_each_once(chosen, problem):
    with pytest.raises(QrelsError, match=problem):
        Qrels({1: {"a": 1}, "2": {"c": 3}}).select(chosen)


def test_fractions_above_zero_are_fractional_grades():
    assert Qrels({"q": {"a": 1, "b": 0.5}}).has_fractional_grades
    assert not Qrels({"q": {"a": 2, "b": -0.5, "c": 0}}).has_fractional_grades


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_lists_and_sets_of_ids_are_documents_of_grade_1(kind):
    listed = {"q1": kind(["b", "a", "a"]), "q2": kind("c")}
    assert Qrels(listed).as_dict() == {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 1.0}}
    assert Qrels({"q1": ["a"], "q2": {"b": 3}}).as_dict() == {"q1": {"a": 1.0}, "q2": {"b": 3.0}}


def test_columns_of_a_table_and_lists_of_pairs_are_no_judgements():
    with pytest.raises(QrelsError, match=r"columns of a table.*Qrels\.from_columns takes"):
        Qrels({"query_id": ["q1"], "doc_id": ["d1"]})
    with pytest.raises(QrelsError, match=r"write \{doc_id: grade\}"):
        Qrels({"q1": [("d1", 2)]})

"""Parts, joins and other forms of the relevance matrix, against written-out ones."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import beir_eval
from beir_eval import Qrels, Run
from beir_eval.core import EvaluationSettings, relate
from beir_eval.core.relevance_matrix import TopDocuments
from beir_eval.errors import QrelsError, ResultError, RunError, SettingError

QRELS = {"q1": {"a": 2, "b": 0, "c": -1}, "q2": {"a": 1}, "q3": {"d": 1}}
RUN = {
    "q1": {"x": 5.0, "a": 4.0, "c": 3.0, "b": 2.0},
    "q2": {"b": 1.0},
    "q3": {"d": 2.0, "a": 1.0},
}
NAN = math.nan


def matrix(qrels=QRELS, run=RUN):
    return relate(Qrels(qrels), Run(run), EvaluationSettings())[0]


def test_a_dense_matrix_has_the_grade_at_each_rank():
    expected = [[NAN, 2.0, -1.0], [NAN, NAN, NAN], [1.0, NAN, NAN]]
    assert matrix().to_dense(3) == pytest.approx(np.array(expected), nan_ok=True)


def test_a_condensed_matrix_has_judged_documents_only():
    condensed = matrix().condensed
    assert condensed.num_retrieved.tolist() == [2, 0, 1]
    expected = [[2.0, 0.0], [NAN, NAN], [1.0, NAN]]
    assert condensed.to_dense(2) == pytest.approx(np.array(expected), nan_ok=True)


def test_selected_queries_are_those_of_a_smaller_run():
    selected = matrix().select(np.array([0, 2]))
    smaller = matrix({"q1": QRELS["q1"], "q3": QRELS["q3"]}, RUN)
    assert selected.query_ids == smaller.query_ids == ("q1", "q3")
    assert selected.to_dense(4) == pytest.approx(smaller.to_dense(4), nan_ok=True)
    assert selected.num_retrieved.tolist() == smaller.num_retrieved.tolist()
    assert selected.num_relevant(None).tolist() == smaller.num_relevant(None).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_parts_of_a_matrix_join_to_the_whole(size):
    whole = matrix()
    ranges, parts = zip(*whole.parts(size), strict=True)
    assert [index for part in ranges for index in range(3)[part]] == [0, 1, 2]
    assert max(part.num_queries for part in parts) == min(size, 3)
    joined = type(whole).concatenate(parts)
    assert joined.query_ids == whole.query_ids
    assert joined.num_retrieved.tolist() == whole.num_retrieved.tolist()
    assert joined.max_grade == whole.max_grade
    for actual, expected in ((joined.cells, whole.cells), (joined.judgements, whole.judgements)):
        assert all(map(np.array_equal, actual, expected))


def test_matrices_that_share_queries_or_have_other_highest_grades_are_not_joined():
    whole = matrix()
    with pytest.raises(ResultError, match="disjoint queries were expected, but they share 'q1'"):
        type(whole).concatenate([whole, whole.select(np.array([0]))])
    other = matrix({"q9": {"a": 7}}, RUN)
    with pytest.raises(ResultError, match="their highest grades are"):
        type(whole).concatenate([whole, other])
    with pytest.raises(ResultError, match="highest grades"):
        type(whole).concatenate([])


def test_the_running_count_restarts_with_every_query():
    cells = matrix().cells
    counted = matrix().running_count(cells.grade >= 0)
    by_query = dict.fromkeys(range(3), 0)
    for row, grade, count in zip(cells.row, cells.grade, counted, strict=True):
        by_query[row] += grade >= 0
        assert count == by_query[row]


def test_qrels_and_runs_never_change_so_a_copy_is_the_object_itself():
    for made, size in (
        (Qrels(QRELS), {"queries": 3, "judgements": 5}),
        (Run(RUN), {"queries": 3}),
    ):
        assert copy.deepcopy(made) is made
        assert made._to_trace_dict() == size


def test_a_highest_grade_below_the_grades_is_refused():
    with pytest.raises(QrelsError, match="max_grade must be a number of at least 2"):
        Qrels(QRELS).select(["q1"], max_grade=1)


def test_ids_of_digits_beyond_64_bits_are_ids_like_others():
    numbers = np.array([[3, 5]])
    ids = ["9" * 30, "8" * 30, "3", "5", "1", "2"]
    run = Run.from_arrays(numbers, np.array([[2.0, 1.0]]), query_ids=["q1"], doc_ids=ids)
    related = relate(Qrels({"q1": {ids[3]: 1}}), run, EvaluationSettings())[0]
    assert related.to_dense(1).tolist() == [[1.0]]


def test_packages_import_what_they_export_when_it_is_used():
    assert "compare" in dir(beir_eval)
    assert pickle.loads(pickle.dumps(beir_eval)) is beir_eval  # noqa: S301
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = beir_eval.no_such_name


class _Characters:
    """A source whose ranks are characters; its entries are named by the source itself."""

    checks_all_documents, ranks, query_ids = True, "characters", ("q1",)

    def blocks(self, qrels):
        for block in Run.from_rankings({"q1": ["x", "a"]}).blocks(qrels):
            yield replace(
                block, top_of=lambda _index, k: TopDocuments(("chunk",)[:k], None, (2.0,))
            )

    def rankings(self):
        yield "q1", ["x", "a"], None


def test_ranks_of_characters_and_of_documents_are_not_related():
    run = Run.from_source(_Characters())
    with pytest.raises(RunError, match="of documents and the run ranks characters"):
        relate(Qrels({"q1": {"a": 2}}), run, EvaluationSettings())


def test_a_share_of_overlap_is_above_0_and_at_most_1():
    for overlap in (0, 1.5, "half"):
        with pytest.raises(SettingError, match="overlap is a share above 0 and at most 1"):
            EvaluationSettings(ranks="chunks", overlap=overlap)


def test_a_source_names_the_entries_of_its_top():
    qrels = Qrels({"q1": {"a": 2}})
    qrels.ranks = "characters"
    settings = EvaluationSettings(ranks="characters")
    _, summary = relate(qrels, Run.from_source(_Characters()), settings, keep_top=3)
    assert summary.top["q1"].doc_ids == ("chunk",)


def test_rankings_that_are_no_mapping_are_refused():
    with pytest.raises(RunError, match="rankings must be"):
        Run.from_rankings(["a", "b"])

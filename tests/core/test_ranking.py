"""Every order, tie and duplicate rule puts every judged document where a full sort puts it."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textbook
from beir_eval import Qrels, Run, evaluate
from beir_eval.core import rank_counting, relate
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import DuplicateDocumentError, SettingError
from strategies import qrels_and_rows, qrels_and_run

MEASURES = ["P@1", "P@3", "P@10", "R@5", "AP@10", "RR@10", "nDCG@3", "nDCG@10", "bpref"]
CHOICES = EvaluationSettings.CHOICES
rules = st.builds(
    EvaluationSettings,
    order=st.sampled_from(CHOICES["order"]),
    ties=st.sampled_from(CHOICES["ties"]),
)


def grades_at_ranks(qrels, run, chosen):
    """Return {query: {rank: grade}} of the judged documents, as the matrix has them."""
    matrix = relate(Qrels.coerce(qrels), Run.coerce(run), chosen)[0]
    found = {query: {} for query in matrix.query_ids}
    for row, rank, grade in zip(*(column.tolist() for column in matrix.cells), strict=True):
        found[matrix.query_ids[row]][rank] = grade
    return found


def expected_grades_at_ranks(qrels, rows_by_query, chosen):
    expected = {}
    for query, judged in qrels.items():
        ids = textbook.rank_documents(
            rows_by_query.get(query, []), judged, chosen.order, chosen.ties, chosen.duplicates
        )
        grades = textbook.grades_by_rank(ids, judged)
        expected[query] = {
            rank: grade for rank, grade in enumerate(grades, start=1) if grade is not None
        }
    return expected


@pytest.fixture(params=["as measured", "always sort", "always compare"])
def counting(request, monkeypatch):
    """Whichever way ranks are counted, they are the same."""
    if request.param == "always sort":
        monkeypatch.setattr(rank_counting, "_SORT_RANKING_NS", -(10**12))
    elif request.param == "always compare":
        monkeypatch.setattr(rank_counting, "_SORT_RANKING_NS", 10**12)


@pytest.mark.usefixtures("counting")
def test_a_mapping_is_ranked_as_a_full_sort_ranks_it():
    @given(qrels_and_run(), rules)
    @settings(max_examples=300)
    def check(case, chosen):
        qrels, run = case
        rows = {query: list(ranked.items()) for query, ranked in run.items()}
        found = grades_at_ranks(qrels, run, chosen)
        expected = expected_grades_at_ranks(qrels, rows, chosen)
        if chosen.ties in ("best", "worst") and chosen.order == "score":
            # Equal grades in one tie may change places; the grade at each rank may not.
            found, expected = _positive(found), _positive(expected)
        assert found == expected

    check()


def _positive(by_query):
    return {
        query: {rank: grade for rank, grade in ranks.items() if grade > 0}
        for query, ranks in by_query.items()
    }


@pytest.mark.usefixtures("counting")
def test_rows_with_repeated_documents_are_ranked_as_a_full_sort_ranks_them():
    @given(qrels_and_rows(), rules, st.sampled_from(["first", "keep"]))
    @settings(max_examples=300)
    def check(case, drawn, duplicates):
        qrels, rows = case
        chosen = EvaluationSettings(order=drawn.order, ties=drawn.ties, duplicates=duplicates)
        by_query = {}
        for query, doc, score in rows:
            by_query.setdefault(query, []).append((doc, score))
        found = grades_at_ranks(qrels, Run.from_columns(*zip(*rows, strict=True)), chosen)
        expected = expected_grades_at_ranks(qrels, by_query, chosen)
        if chosen.ties in ("best", "worst") and chosen.order == "score":
            found, expected = _positive(found), _positive(expected)
        assert found == expected

    check()


@given(qrels_and_rows(), st.sampled_from(CHOICES["duplicates"]))
def test_rankings_without_scores_keep_their_order_whatever_the_rules(case, duplicates):
    qrels, rows = case
    lists = {}
    for query, doc, _ in rows:
        lists.setdefault(query, []).append(doc)
    repeats = any(len(set(lists[query])) < len(lists[query]) for query in qrels)
    chosen = EvaluationSettings(duplicates=duplicates)
    if repeats and duplicates == "error":
        with pytest.raises(DuplicateDocumentError):
            grades_at_ranks(qrels, Run.from_rankings(lists), chosen)
        return
    given_order = EvaluationSettings(order="given", duplicates=duplicates)
    by_query = {query: [(doc, 0.0) for doc in docs] for query, docs in lists.items()}
    found = grades_at_ranks(qrels, Run.from_rankings(lists), chosen)
    assert found == expected_grades_at_ranks(qrels, by_query, given_order)


@given(qrels_and_run(min_size=1, complete=True), st.sampled_from(["trec_eval", "input"]))
def test_no_tie_rule_leaves_the_interval_from_worst_to_best(case, ties):
    qrels, run = case
    scores = {rule: evaluate(qrels, run, MEASURES, ties=rule) for rule in ("worst", ties, "best")}
    for name in MEASURES:
        low, middle, high = (scores[rule].scores(name) for rule in ("worst", ties, "best"))
        assert (low <= middle + 1e-12).all(), name
        assert (middle <= high + 1e-12).all(), name


def test_equal_scores_are_ordered_by_id_descending():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert evaluate({"q": {"c": 1}}, run, ["RR"])["RR"] == 1
    assert evaluate({"q": {"a": 1}}, run, ["RR"])["RR"] == 1 / 3


def test_scores_that_differ_beyond_float32_tie_only_under_trec_eval_9():
    run = {"q": {"a": 0.12345678912, "b": 0.12345678911}}
    assert evaluate({"q": {"a": 1}}, run, ["RR"], ties="trec_eval")["RR"] == 1
    assert evaluate({"q": {"a": 1}}, run, ["RR"], ties="trec_eval9")["RR"] == 1 / 2


def test_scores_beyond_the_range_of_float32_tie_under_trec_eval_9():
    run = {"q": {"a": 1e300, "b": 1e200}}
    assert evaluate({"q": {"a": 1}}, run, ["RR"], ties="trec_eval9")["RR"] == 1 / 2
    assert evaluate({"q": {"a": 1}}, run, ["RR"])["RR"] == 1


def test_ids_tie_in_the_byte_order_of_utf_8():
    run = {"q": {"z": 1.0, "é": 1.0, "\U0001f600": 1.0, "\uffff": 1.0}}
    positions = {doc: evaluate({"q": {doc: 1}}, run, ["RR"])["RR"] for doc in run["q"]}
    by_bytes = sorted(run["q"], key=str.encode, reverse=True)
    assert positions == {doc: 1 / rank for rank, doc in enumerate(by_bytes, start=1)}


def test_integer_ids_tie_as_their_decimal_text():
    # As text "9" stands above "10"; as numbers 10 would.
    assert evaluate({"q": {9: 1}}, {"q": {9: 1.0, 10: 1.0}}, ["RR"])["RR"] == 1
    assert evaluate({"q": {"10": 1}}, {"q": {9: 1.0, 10: 1.0}}, ["RR"])["RR"] == 1 / 2


def test_negative_zero_and_zero_tie():
    assert evaluate({"q": {"a": 1}}, {"q": {"b": 0.0, "a": -0.0}}, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"b": 1}}, {"q": {"b": -0.0, "a": 0.0}}, ["RR"])["RR"] == 1


def test_documents_with_the_id_of_their_query_are_counted_and_dropped_on_request():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"q": 3.0, "a": 2.0}, "r": {"b": 1.0}}
    kept = evaluate(qrels, run, ["RR"])
    assert (kept.per_query["q"]["MRR"], kept.counted.identical_ids) == (1 / 2, 1)
    for form in (
        run,
        Run.from_rankings({query: list(ranked) for query, ranked in run.items()}),
        Run.from_columns("qqr", "qab", [3, 2, 1]),
    ):
        dropped = evaluate(qrels, form, ["RR", "num_ret"], drop_identical_ids=True, keep_top=5)
        assert dropped.per_query["q"] == {"MRR": 1.0, "num_ret": 1.0}
        assert dropped.counted.identical_ids == 1
        assert dropped.top["q"].doc_ids == ("a",)


def test_dropping_identical_ids_agrees_with_deleting_them_beforehand():
    @given(qrels_and_run(min_size=1, complete=True), rules)
    def check(case, chosen):
        qrels, run = case
        # Queries go by names that documents have.
        names = dict(zip(sorted(qrels), ["d0", "d1", "d2", "d3", "d4"], strict=False))
        qrels = {names[query]: judged for query, judged in qrels.items()}
        run = {names[query]: ranked for query, ranked in run.items() if query in names}
        without = {
            query: {doc: score for doc, score in ranked.items() if doc != query}
            for query, ranked in run.items()
        }
        dropping = EvaluationSettings(order=chosen.order, ties=chosen.ties, drop_identical_ids=True)
        assert grades_at_ranks(qrels, run, dropping) == grades_at_ranks(qrels, without, chosen)

    check()


@given(qrels_and_run(min_size=1), rules, st.integers(1, 20))
def test_the_top_list_is_the_ranking_that_was_measured(case, chosen, k):
    qrels, run = case
    result = evaluate(qrels, run, ["P@1"], keep_top=k, order=chosen.order, ties=chosen.ties)
    matrix = relate(Qrels(qrels), Run(run), chosen)[0]
    dense = matrix.to_dense(k)
    for row, query in enumerate(matrix.query_ids):
        if query not in run:
            assert query not in result.top
            continue
        top = result.top[query]
        assert len(top.doc_ids) == min(k, len(run[query])) == len(set(top.doc_ids))
        assert [run[query][doc] for doc in top.doc_ids] == list(top.scores)
        assert list(top.grades) == [qrels[query].get(doc) for doc in top.doc_ids]
        if chosen.ties not in ("best", "worst"):
            shown = [None if np.isnan(grade) else grade for grade in dense[row].tolist()]
            assert shown[: len(top.grades)] == list(top.grades)


@given(qrels_and_run())
def test_nothing_that_is_handed_over_changes(case):
    qrels, run = case
    before = copy.deepcopy((qrels, run))
    evaluate(qrels, run, keep_top=3, drop_identical_ids=True, fingerprint=True)
    assert (qrels, run) == before
    assert [list(ranked) for ranked in run.values()] == [list(one) for one in before[1].values()]


@pytest.mark.parametrize(
    "wrong",
    [{"order": "rank"}, {"ties": "random"}, {"duplicates": "last"}, {"drop_identical_ids": "yes"}],
)
def test_a_rule_that_does_not_exist_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, **wrong)


def test_duplicates_are_named_in_the_error():
    run = Run.from_columns(["q", "q", "q", "q"], ["a", "b", "a", "b"], [3, 2, 1, 0])
    with pytest.raises(DuplicateDocumentError, match=r"query 'q' repeats 'a', 'b' \(2 repeated"):
        evaluate({"q": {"a": 1}}, run)


def test_a_kept_duplicate_takes_up_a_rank_and_gains_nothing():
    run = Run.from_columns(["q"] * 4, ["a", "a", "b", "c"], [4, 3, 2, 1])
    qrels = {"q": {"a": 1, "b": 1}}
    kept = evaluate(qrels, run, ["MAP", "num_ret"], duplicates="keep")
    assert kept["MAP"] == (1 / 1 + 2 / 3) / 2
    assert (kept["num_ret"], kept.counted.duplicates) == (4, 1)
    first = evaluate(qrels, run, ["MAP", "num_ret"], duplicates="first")
    assert first["MAP"] == (1 / 1 + 2 / 2) / 2
    assert (first["num_ret"], first.counted.duplicates) == (3, 1)


@pytest.mark.parametrize("duplicates", ["first", "keep"])
def test_of_copies_with_equal_scores_the_first_given_counts(duplicates):
    run = Run.from_columns(["q"] * 4, ["x", "d", "y", "d"], [0.9, 0.5, 0.5, 0.5])
    result = evaluate({"q": {"d": 1}}, run, ["MRR"], duplicates=duplicates, ties="input")
    assert result["MRR"] == 1 / 2


def test_duplicates_of_a_query_that_is_not_judged_do_not_matter():
    run = Run.from_columns(["q", "x", "x"], ["a", "b", "b"], [1, 1, 1])
    assert evaluate({"q": {"a": 1}}, run, ["P@1"])["P@1"] == 1


@given(qrels_and_rows(), rules, st.sampled_from(["first", "keep"]), st.integers(1, 20))
def test_the_top_list_of_rows_with_repeated_documents_is_the_ranking_that_was_measured(
    case, drawn, duplicates, k
):
    qrels, rows = case
    run = Run.from_columns(*zip(*rows, strict=True))
    settings_of = {"order": drawn.order, "ties": drawn.ties, "duplicates": duplicates}
    result = evaluate(qrels, run, ["P@1"], keep_top=k, **settings_of)
    dense = relate(Qrels(qrels), run, EvaluationSettings(**settings_of))[0].to_dense(k)
    for row, query in enumerate(result.query_ids):
        measured = [None if np.isnan(grade) else grade for grade in dense[row].tolist()]
        credited = []
        seen = set()
        for doc in result.top[query].doc_ids:
            credited.append(None if doc in seen else qrels[query].get(doc))
            seen.add(doc)
        if drawn.order == "given" or drawn.ties not in ("best", "worst"):
            assert measured[: len(credited)] == credited

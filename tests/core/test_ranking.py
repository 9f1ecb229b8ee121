"""Every order, tie and duplicate rule gives each judged document the rank of a full sort."""

import copy
from dataclasses import FrozenInstanceError, asdict
from itertools import product

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


def grades_at_ranks(qrels, run, rule):
    """Return {query: {rank: grade}} of the judged documents in the relevance matrix.

    The grade at each rank is fixed by every rule. With ties="best" and "worst", documents of equal
    grade may swap ranks within a tie, so ids are not compared.
    """
    matrix = relate(Qrels.coerce(qrels), Run.coerce(run), rule)[0]
    grades_by_rank = {query: {} for query in matrix.query_ids}
    for row, rank, grade in zip(*(column.tolist() for column in matrix.cells), strict=True):
        grades_by_rank[matrix.query_ids[row]][rank] = grade
    return grades_by_rank


def expected_grades_at_ranks(qrels, rows_by_query, rule):
    expected = {}
    for query, judged in qrels.items():
        ids = textbook.rank_documents(
            rows_by_query.get(query, []), judged, rule.order, rule.ties, rule.duplicates
        )
        grades = textbook.grades_by_rank(ids, judged)
        expected[query] = {
            rank: grade for rank, grade in enumerate(grades, start=1) if grade is not None
        }
    return expected


@pytest.fixture(params=["as measured", "always sort", "always compare"])
def counting(request, monkeypatch):
    """Count ranks in each of the possible ways: the ranks must be the same."""
    if request.param == "always sort":
        monkeypatch.setattr(rank_counting, "_SORT_RANKING_NS", -(10**12))
    elif request.param == "always compare":
        monkeypatch.setattr(rank_counting, "_SORT_RANKING_NS", 10**12)


@pytest.mark.hypothesis
@pytest.mark.usefixtures("counting")
def test_a_mapping_is_ranked_as_a_full_sort_ranks_it():
    @given(qrels_and_run(), rules)
    @settings(max_examples=2 * settings.default.max_examples)
    def check(case, rule):
        qrels, run = case
        rows = {query: list(ranked.items()) for query, ranked in run.items()}
        grades = grades_at_ranks(qrels, run, rule)
        assert grades == expected_grades_at_ranks(qrels, rows, rule)

    check()


@pytest.mark.hypothesis
@pytest.mark.usefixtures("counting")
def test_rows_with_repeated_documents_are_ranked_as_a_full_sort_ranks_them():
    @given(qrels_and_rows(), rules, st.sampled_from(["first", "keep"]))
    @settings(max_examples=2 * settings.default.max_examples)
    def check(case, order_and_ties, duplicates):
        qrels, rows = case
        rule = EvaluationSettings(
            order=order_and_ties.order, ties=order_and_ties.ties, duplicates=duplicates
        )
        by_query = {}
        for query, doc, score in rows:
            by_query.setdefault(query, []).append((doc, score))
        grades = grades_at_ranks(qrels, Run.from_columns(*zip(*rows, strict=True)), rule)
        assert grades == expected_grades_at_ranks(qrels, by_query, rule)

    check()


@given(qrels_and_rows(), st.sampled_from(CHOICES["duplicates"]))
def test_rankings_without_scores_keep_their_order_whatever_the_rules(case, duplicates):
    qrels, rows = case
    lists = {}
    for query, doc, _ in rows:
        lists.setdefault(query, []).append(doc)
    repeats = any(len(set(lists[query])) < len(lists[query]) for query in qrels)
    rule = EvaluationSettings(duplicates=duplicates)
    if repeats and duplicates == "error":
        with pytest.raises(DuplicateDocumentError):
            grades_at_ranks(qrels, Run.from_rankings(lists), rule)
        return
    given_order = EvaluationSettings(order="given", duplicates=duplicates)
    by_query = {query: [(doc, 0.0) for doc in docs] for query, docs in lists.items()}
    grades = grades_at_ranks(qrels, Run.from_rankings(lists), rule)
    assert grades == expected_grades_at_ranks(qrels, by_query, given_order)


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")  # made runs look like mistakes
@given(
    qrels_and_run(min_size=1, complete=True),
    st.sampled_from(["trec_eval9", "trec_eval10", "input"]),
)
def test_every_tie_rule_scores_between_worst_and_best(case, ties):
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


@pytest.mark.parametrize(("high", "low"), [(0.12345678912, 0.12345678911), (1e300, 1e200)])
def test_scores_that_are_equal_or_infinite_as_float32_tie_as_in_trec_eval_9(high, low):
    run = {"q": {"a": high, "b": low}}
    assert evaluate({"q": {"a": 1}}, run, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"a": 1}}, run, ["RR"], ties="trec_eval10")["RR"] == 1


def test_tied_ids_are_ordered_by_their_utf_8_bytes():
    run = {"q": {"z": 1.0, "é": 1.0, "\U0001f600": 1.0, "\uffff": 1.0}}
    reciprocal_ranks = {doc: evaluate({"q": {doc: 1}}, run, ["RR"])["RR"] for doc in run["q"]}
    by_bytes = sorted(run["q"], key=str.encode, reverse=True)
    assert reciprocal_ranks == {doc: 1 / rank for rank, doc in enumerate(by_bytes, start=1)}


def test_tied_integer_ids_are_ordered_as_decimal_text():
    # As text, "9" ranks above "10"; as a number, 10 would rank above 9.
    assert evaluate({"q": {9: 1}}, {"q": {9: 1.0, 10: 1.0}}, ["RR"])["RR"] == 1
    assert evaluate({"q": {"10": 1}}, {"q": {9: 1.0, 10: 1.0}}, ["RR"])["RR"] == 1 / 2


def test_negative_zero_and_zero_tie():
    assert evaluate({"q": {"a": 1}}, {"q": {"b": 0.0, "a": -0.0}}, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"b": 1}}, {"q": {"b": -0.0, "a": 0.0}}, ["RR"])["RR"] == 1


def test_documents_with_the_id_of_their_query_are_counted_and_dropped_on_request():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"q": 3.0, "a": 2.0}, "r": {"b": 1.0}}
    undropped = evaluate(qrels, run, ["RR"])
    assert (undropped.per_query["q"]["MRR"], undropped.counted.identical_ids) == (1 / 2, 1)
    for form in (
        run,
        Run.from_rankings({query: list(ranked) for query, ranked in run.items()}),
        Run.from_columns([*"qqr"], [*"qab"], [3, 2, 1]),
    ):
        dropped = evaluate(qrels, form, ["RR", "num_ret"], drop_identical_ids=True, keep_top=5)
        assert dropped.per_query["q"] == {"MRR": 1.0, "num_ret": 1.0}
        assert dropped.counted.identical_ids == 1
        assert dropped.top["q"].doc_ids == ("a",)


@pytest.mark.hypothesis
def test_dropping_identical_ids_agrees_with_deleting_them_beforehand():
    @given(qrels_and_run(min_size=1, complete=True), rules)
    def check(case, rule):
        qrels, run = case
        # Queries get the names of documents.
        names = dict(zip(sorted(qrels), ["d0", "d1", "d2", "d3", "d4"], strict=False))
        qrels = {names[query]: judged for query, judged in qrels.items()}
        run = {names[query]: ranked for query, ranked in run.items() if query in names}
        without = {
            query: {doc: score for doc, score in ranked.items() if doc != query}
            for query, ranked in run.items()
        }
        dropping = EvaluationSettings(order=rule.order, ties=rule.ties, drop_identical_ids=True)
        assert grades_at_ranks(qrels, run, dropping) == grades_at_ranks(qrels, without, rule)

    check()


@given(qrels_and_run(min_size=1), rules, st.integers(1, 20))
def test_the_top_list_is_the_ranking_that_was_measured(case, rule, k):
    qrels, run = case
    result = evaluate(qrels, run, ["P@1"], keep_top=k, order=rule.order, ties=rule.ties)
    matrix = relate(Qrels(qrels), Run(run), rule)[0]
    dense = matrix.to_dense(k)
    for row, query in enumerate(matrix.query_ids):
        if query not in run:
            assert query not in result.top
            continue
        top = result.top[query]
        assert len(top.doc_ids) == min(k, len(run[query])) == len(set(top.doc_ids))
        assert [run[query][doc] for doc in top.doc_ids] == list(top.scores)
        assert list(top.grades) == [qrels[query].get(doc) for doc in top.doc_ids]
        measured = [None if np.isnan(grade) else grade for grade in dense[row].tolist()]
        assert measured[: len(top.grades)] == list(top.grades)


@given(qrels_and_run())
def test_evaluate_changes_neither_the_qrels_nor_the_run(case):
    qrels, run = case
    before = copy.deepcopy((qrels, run))
    evaluate(qrels, run, keep_top=3, drop_identical_ids=True, fingerprint=True)
    assert (qrels, run) == before
    assert [list(ranked) for ranked in run.values()] == [
        list(ranked) for ranked in before[1].values()
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"order": "rank"}, {"ties": "random"}, {"duplicates": "last"}, {"drop_identical_ids": "yes"}],
)
def test_a_rule_that_does_not_exist_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, **wrong)


def test_settings_are_those_of_trec_eval_given_by_name_and_never_change():
    rule = EvaluationSettings()
    assert asdict(rule) == {
        "order": "score",
        "ties": "trec_eval9",
        "missing": "zero",
        "no_relevant": "zero",
        "duplicates": "error",
        "drop_identical_ids": False,
        "ranks": "documents",
        "overlap": None,
        "copies": "any",
        "repeated": "kept",
    }
    with pytest.raises(FrozenInstanceError):
        rule.ties = "input"
    with pytest.raises(TypeError):
        EvaluationSettings("given")
    assert not hasattr(rule, "__dict__")


def test_a_kept_duplicate_takes_up_a_rank_and_gains_nothing():
    run = Run.from_columns(["q"] * 4, ["a", "a", "b", "c"], [4, 3, 2, 1])
    qrels = {"q": {"a": 1, "b": 1}}
    with_copies = evaluate(qrels, run, ["MAP", "num_ret"], duplicates="keep")
    assert with_copies["MAP"] == (1 / 1 + 2 / 3) / 2
    assert (with_copies["num_ret"], with_copies.counted.duplicates) == (4, 1)
    without_copies = evaluate(qrels, run, ["MAP", "num_ret"], duplicates="first")
    assert without_copies["MAP"] == (1 / 1 + 2 / 2) / 2
    assert (without_copies["num_ret"], without_copies.counted.duplicates) == (3, 1)


@pytest.mark.parametrize("duplicates", ["first", "keep"])
def test_the_first_of_several_copies_with_equal_scores_counts(duplicates):
    run = Run.from_columns(["q"] * 4, ["x", "d", "y", "d"], [0.9, 0.5, 0.5, 0.5])
    result = evaluate({"q": {"d": 1}}, run, ["MRR"], duplicates=duplicates, ties="input")
    assert result["MRR"] == 1 / 2


def test_duplicates_of_a_query_that_is_not_judged_do_not_matter():
    run = Run.from_columns(["q", "x", "x"], ["a", "b", "b"], [1, 1, 1])
    assert evaluate({"q": {"a": 1}}, run, ["P@1"])["P@1"] == 1


@pytest.mark.filterwarnings("ignore::beir_eval.errors.BeirEvalWarning")
@given(qrels_and_rows(), rules, st.sampled_from(["first", "keep"]), st.integers(1, 20))
def test_the_top_list_of_rows_with_repeated_documents_is_the_ranking_that_was_measured(
    case, order_and_ties, duplicates, k
):
    qrels, rows = case
    run = Run.from_columns(*zip(*rows, strict=True))
    options = {"order": order_and_ties.order, "ties": order_and_ties.ties, "duplicates": duplicates}
    every = len(rows)
    result = evaluate(qrels, run, ["P@1"], keep_top=every, **options)
    best = evaluate(qrels, run, ["P@1"], keep_top=k, **options)
    dense = relate(Qrels(qrels), run, EvaluationSettings(**options))[0].to_dense(every)
    for row, query in enumerate(result.query_ids):
        top = result.top[query]
        assert best.top[query].doc_ids == top.doc_ids[:k]
        measured = [None if np.isnan(grade) else grade for grade in dense[row].tolist()]
        expected = [None] * every
        for doc in set(top.doc_ids):
            ranks = [rank for rank, other in enumerate(top.doc_ids) if other == doc]
            grade = qrels[query].get(doc)
            last_with = "worst" if grade is not None and grade > 0 else "best"
            if grade is not None and options["ties"] == last_with and options["order"] == "score":
                # Further copies count as unjudged documents, which this rule puts before it.
                scores = np.float32(top.scores)
                ranks = [rank for rank in ranks if scores[rank] == scores[ranks[0]]][-1:]
            expected[ranks[0]] = grade
        assert measured == expected


def test_judged_documents_with_a_tied_score_are_counted():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 2.0}, "r": {"a": 1.0, "b": 1.0}, "s": {"a": 1.0}}
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1}, "s": {"a": 1}}
    counted = evaluate(qrels, run, ["MRR"]).counted
    assert (counted.tied_documents, counted.tied_queries) == (3, 2)


@pytest.mark.parametrize(
    ("ties", "top"),
    [
        ("best", ("two", "half", "new", "zero", "low")),
        ("worst", ("low", "zero", "new", "half", "two")),
        ("trec_eval9", ("zero", "two", "new", "low", "half")),
        ("input", ("zero", "new", "low", "half", "two")),
    ],
)
def test_a_top_list_orders_tied_documents_by_the_tie_rule(ties, top):
    run = dict.fromkeys(["zero", "new", "low", "half", "two"], 1.0)
    qrels = {"q": {"low": -0.5, "zero": 0, "half": 0.5, "two": 2}}
    for k in (2, 5, 20):
        result = evaluate(qrels, {"q": run}, ["nDCG"], ties=ties, keep_top=k)
        assert result.top["q"].doc_ids == top[:k]


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("ties", CHOICES["ties"])
def test_every_small_ranking_is_ranked_as_a_full_sort_ranks_it(ties):
    rule = EvaluationSettings(ties=ties)
    grade_choices = [(2, None, 0, 1), (1, -1, None, 2), (0, 0, 1, None)]
    cases = list(product(grade_choices, product((1.0, 2.0), repeat=4)))
    docs = ["b", "d", "a", "c"]
    qrels, rows = {}, {}
    for number, (grades, scores) in enumerate(cases):
        judged = zip(docs, grades, strict=True)
        qrels[f"q{number}"] = {doc: grade for doc, grade in judged if grade is not None}
        rows[f"q{number}"] = list(zip(docs, scores, strict=True))
    expected = expected_grades_at_ranks(qrels, rows, rule)
    columns = zip(*((query, *row) for query, listed in rows.items() for row in listed), strict=True)
    for run in (
        {query: dict(listed) for query, listed in rows.items()},
        Run.from_columns(*columns),
    ):
        assert grades_at_ranks(qrels, run, rule) == expected

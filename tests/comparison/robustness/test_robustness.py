"""How unjudged documents and ties could change a comparison, and which documents to judge."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Comparison, Run, compare, compare_runs, evaluate, read_qrels, read_run
from beir_eval.comparison import likeness
from beir_eval.errors import NotEvaluatedError, SettingError
from strategies import DOC_IDS, QUERY_IDS, judged, ranking

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

EXACT = [
    "nDCG@3",
    'nDCG(gain="exp")@4',
    "DCG@3",
    "CG@2",
    "Precision@3",
    "Precision(rel=2)@3",
    "Recall@3",
    "R_cap@3",
    "F1@3",
    "RBP@3",
]
TRIED = ["MAP@3", "MRR@3", "Success@2", "ERR@3", "Rprec", "bpref@3", "nDCG(judged_only=True)@3"]

rankings = st.lists(st.sampled_from(DOC_IDS[:9]), unique=True, max_size=6)


@st.composite
def two_systems(draw):
    """Draw qrels of two queries or more, and two systems, each of one run or of two repeats."""
    judgements = st.dictionaries(
        st.sampled_from(QUERY_IDS[:3]), judged(st.integers(-1, 3)), min_size=2, max_size=3
    )
    qrels = draw(judgements)
    runs = [
        [
            {query: draw(rankings) for query in qrels}
            for _ in range(draw(st.sampled_from([1, 1, 1, 2])))
        ]
        for _ in "ab"
    ]
    return qrels, runs


def as_runs(systems):
    return {
        name: [Run.from_rankings(repeat) for repeat in repeats]
        for name, repeats in zip("ab", systems, strict=True)
    }


def brute_force(qrels, systems, measure, k, grade):
    """Return the extremes of b − a over all choices of relevant documents among the unjudged."""
    lows, highs = [], []
    for query, grades in qrels.items():
        retrieved = {doc for repeats in systems for run in repeats for doc in run[query][:k]}
        unjudged = sorted(retrieved - set(grades))
        choices = chain.from_iterable(combinations(unjudged, n) for n in range(len(unjudged) + 1))
        assigned = {
            str(number): grades | dict.fromkeys(choice, grade)
            for number, choice in enumerate(choices)
        }
        # The highest grade is that of all queries.
        assigned["highest"] = {"elsewhere": max(grade, *chain(*map(dict.values, qrels.values())))}
        scores = [
            np.mean(
                [
                    evaluate(
                        assigned,
                        Run.from_rankings(dict.fromkeys(assigned, run[query])),
                        measure,
                    ).scores(measure)
                    for run in repeats
                ],
                axis=0,
            )[:-1]
            for repeats in systems
        ]
        difference = scores[1] - scores[0]
        lows.append(difference.min())
        highs.append(difference.max())
    return np.mean(lows), np.mean(highs)


def highest_grade(qrels):
    grade = max(chain(*map(dict.values, qrels.values())))
    return grade if grade > 0 else 1


def compare_pair(qrels, systems, measure):
    comparison = compare_runs(qrels, as_runs(systems), measure, draws=100, likeness_k=None)
    [pair] = comparison.trust
    return pair, comparison


@given(two_systems(), st.sampled_from(EXACT))
def test_bounds_of_sums_are_the_extremes_over_all_choices_of_relevant_documents(case, measure):
    qrels, systems = case
    pair, _ = compare_pair(qrels, systems, measure)
    grade = max(highest_grade(qrels), 2) if "rel=2" in measure else highest_grade(qrels)
    low, high = brute_force(qrels, systems, measure, pair.depth, grade)
    assert pair.exact
    assert (pair.low, pair.high) == pytest.approx((low, high), abs=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(two_systems(), st.sampled_from(TRIED))
def test_other_bounds_lie_within_the_extremes_and_include_the_observed_difference(case, measure):
    qrels, systems = case
    pair, comparison = compare_pair(qrels, systems, measure)
    low, high = brute_force(qrels, systems, measure, pair.depth, highest_grade(qrels))
    assert not pair.exact or pair.low == pair.high
    observed = comparison.differences[0].difference
    assert low - 1e-12 <= pair.low <= observed + 1e-12
    assert observed - 1e-12 <= pair.high <= high + 1e-12


def bounds(qrels, a, b, measure, **settings):
    pair = compare_runs(qrels, {"a": a, "b": b}, measure, **settings).trust[0]
    return pair.low, pair.high


def test_one_document_has_one_grade_in_both_systems():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    same = Run.from_rankings({"q1": ["x", "r"], "q2": ["r"]})
    assert bounds(qrels, same, same, "Precision@2") == (0, 0)


def test_an_unjudged_document_that_is_relevant_adds_to_the_number_of_relevant_documents():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["x"], "q2": ["r"]})
    # With x relevant a recalls 1/2 and b 1/2; as judged a recalls 1 and b 0.
    assert bounds(qrels, a, b, "Recall@1") == (-1 / 2, 0)


def test_without_a_cutoff_documents_of_the_whole_rankings_count():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    tail = [f"t{n}" for n in range(12)]
    a = Run.from_rankings({"q1": ["r", *tail[:10], "x"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["r", "x"], "q2": ["r"]})
    pair = compare_runs(qrels, {"a": a, "b": b}, "Recall").trust[0]
    assert pair.depth is None
    # t0 to t9 are in a only; x is in both: no gain for b.
    assert (pair.low, pair.high) == pytest.approx(((1 / 11 - 1) / 2, 0))
    assert pair.unjudged == 11


def test_documents_with_negative_grades_count_as_judged():
    qrels = {"q1": {"r": 1, "x": -1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["x"], "q2": ["r"]})
    pair = compare_runs(qrels, {"a": a, "b": b}, "Recall@1").trust[0]
    assert (pair.low, pair.high, pair.unjudged) == (-1 / 2, -1 / 2, 0)
    assert (pair.judged, pair.judged_against) == (1 / 2, 1)


@pytest.mark.parametrize(
    ("policies", "unjudged"),
    [
        ({"duplicates": "first"}, 3),
        ({"duplicates": "keep"}, 2),
        ({"duplicates": "first", "drop_identical_ids": True}, 3),
    ],
)
def test_the_policies_of_the_evaluation_decide_which_documents_are_in_the_top(policies, unjudged):
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": ["q1", "x", "x", "y", "z"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    pair = compare_runs(qrels, {"a": a, "b": b}, "Precision@3", **policies).trust[0]
    assert pair.unjudged == unjudged
    # b has r at rank 1; at worst, all unjudged documents in the first three of a are relevant.
    assert pair.low == pytest.approx((1 / 3 - unjudged / 3) / 2)


def test_judged_and_infap_have_no_bounds():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": ["x", "r"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["r", "x"], "q2": ["r"]})
    comparison = compare_runs(qrels, {"a": a, "b": b}, ["Judged@2", "infAP"])
    assert {
        (pair.low, pair.high, pair.verdict_flip, pair.condensed) for pair in comparison.trust
    } == {(None, None, "not known", None)}
    assert comparison.documents_to_judge(measure="infAP") == []


def test_many_unjudged_documents_are_tried_in_steps_and_the_bounds_are_not_exact(monkeypatch):
    monkeypatch.setattr("beir_eval.comparison.robustness.bounds._WORK", 0)
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": [f"x{n}" for n in range(9)], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    pair = compare_runs(qrels, {"a": a, "b": b}, "MAP@10").trust[0]
    assert not pair.exact
    assert pair.low == pytest.approx((1 / 10 - 9 / 10) / 2)


# Verdicts


def run_with_ranking(count, ranking):
    return Run.from_rankings({f"q{n:02}": ranking for n in range(count)})


def test_a_verdict_can_flip_if_the_bounds_reach_zero():
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    base, better = run_with_ranking(12, ["x", "r"]), run_with_ranking(12, ["r", "x"])
    comparison = compare_runs(qrels, {"base": base, "better": better}, "MRR@2", baseline="base")
    [pair] = comparison.trust
    assert comparison.differences[0].verdict == "better"
    assert (pair.low, pair.high, pair.verdict_flip) == (0, 1 / 2, "could")
    assert "but unjudged documents could reverse or undo this" in comparison.to_markdown()
    judged_qrels = {query: {"r": 1, "x": 0} for query in qrels}
    comparison = compare_runs(
        judged_qrels, {"base": base, "better": better}, "MRR@2", baseline="base"
    )
    [pair] = comparison.trust
    assert (pair.low, pair.high, pair.verdict_flip) == (1 / 2, 1 / 2, "could not")
    assert (pair.unjudged, pair.judged) == (0, 1)
    assert "unjudged documents could not change the verdict" in comparison.to_markdown()


@pytest.mark.parametrize(
    ("measure", "depth", "limit"),
    [("nDCG", None, None), ("nDCG@120", 120, None), ("MAP", 100, 100), ("MAP@20", 20, None)],
)
def test_unjudged_documents_are_looked_at_down_to_the_measures_depth_or_a_note_says_so(
    measure, depth, limit
):
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    long = run_with_ranking(12, ["r", *(f"x{n}" for n in range(149))])
    comparison = compare_runs(qrels, {"a": run_with_ranking(12, ["r"]), "b": long}, measure)
    [pair] = comparison.trust
    assert pair.depth == depth
    assert pair.unjudged == 12 * ((depth or 150) - 1)
    notes = [note for note in comparison.notes() if "down to rank" in note]
    assert len(notes) == (1 if limit else 0)
    for note in notes:
        for words in (f"{measure}: unjudged documents", f"rank {limit},", "not known"):
            assert words in note
    assert limit is None or pair.verdict_flip != "could not"


@pytest.mark.parametrize(("num_unjudged", "flip"), [(3, "could not"), (12, "could")])
def test_equality_can_flip_if_unjudged_documents_could_make_systems_differ(num_unjudged, flip):
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    longer = {f"q{n:02}": ["r", "x"] if n < num_unjudged else ["r"] for n in range(12)}
    runs = {"a": run_with_ranking(12, ["r"]), "b": Run.from_rankings(longer)}
    comparison = compare_runs(qrels, runs, "Precision@2", margin=0.6)
    assert comparison.differences[0].verdict == "equal"
    assert comparison.trust[0].verdict_flip == flip


def test_likeness_is_known_from_results_that_keep_their_rankings():
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    runs = {"a": run_with_ranking(12, ["r", "x"]), "b": run_with_ranking(12, ["x", "r"])}
    with_rankings = [
        evaluate(qrels, run, "MRR", name=name, keep_top=10) for name, run in runs.items()
    ]
    [pair] = compare(with_rankings).likeness
    assert (pair.system, pair.against, pair.overlap, pair.kendall_distance) == ("b", "a", 1, 1)
    assert [pair] == list(compare_runs(qrels, runs, "MRR").likeness)
    assert (
        compare([evaluate(qrels, run, "MRR", name=name) for name, run in runs.items()]).likeness
        is None
    )


def test_a_verdict_can_flip_if_its_significance_could_be_lost():
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    better = {f"q{n:02}": ["r", "x"] if n < 9 else ["x", "r"] for n in range(12)}
    # In four queries the base ranks an unjudged h first: if h is relevant, both succeed there.
    base = {f"q{n:02}": ["h", "r"] if n < 4 else ["x", "r"] for n in range(12)}
    runs = {"base": Run.from_rankings(base), "new": Run.from_rankings(better)}
    qrels_with_x = {query: grades | {"x": 0} for query, grades in qrels.items()}
    comparison = compare_runs(qrels_with_x, runs, "Success@1", baseline="base")
    [pair], [difference] = comparison.trust, comparison.differences
    assert difference.verdict == "better"
    assert pair.low > 0
    qrels_with_h = {query: grades | {"h": 1} for query, grades in qrels_with_x.items()}
    [difference_with_h] = compare_runs(qrels_with_h, runs, "Success@1", baseline="base").differences
    assert difference_with_h.verdict == "undecided"
    assert pair.verdict_flip == "could"


# Condensed lists and ties


CONDENSED = {
    "nDCG@3": "nDCG(judged_only=True)@3",
    "MAP@2": "MAP(judged_only=True)@2",
    "Precision(rel=2)@3": "Precision(judged_only=True, rel=2)@3",
    "bpref": "bpref(judged_only=True)",
}


@settings(max_examples=settings.default.max_examples // 5)
@given(two_systems(), st.sampled_from(list(CONDENSED.items())))
def test_condensed_means_equal_those_of_the_judged_only_measure(case, measures):
    qrels, systems = case
    measure, condensed = measures
    pair, _ = compare_pair(qrels, systems, measure)
    means = [
        np.mean([evaluate(qrels, run, condensed)[condensed] for run in repeats])
        for repeats in as_runs(systems).values()
    ]
    assert (pair.condensed_against, pair.condensed) == pytest.approx(means)
    assert pair.condensed_difference == pytest.approx(means[1] - means[0])


def test_the_tie_interval_goes_from_the_worst_to_the_best_order():
    qrels = {"q1": {"r": 1, "n": 0}, "q2": {"r": 1}}
    tied = {"q1": {"r": 1.0, "x": 1.0, "n": 1.0}, "q2": {"r": 1.0}}
    plain = {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"plain": plain, "tied": tied}, ["MRR", "Judged@2"])
    [mrr, share] = comparison.trust
    assert mrr.ties == ((1 / 3 + 1) / 2, 1)
    assert mrr.ties_against == (1, 1)
    assert share.ties is None
    for ties in ("worst", "best"):
        assert evaluate(qrels, tied, "MRR", ties=ties)["MRR"] in mrr.ties


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_tied_unjudged_documents_have_the_same_order_in_dicts_columns_and_arrays(ties):
    qrels = {f"q{number}": {"1": 1, "2": 0} for number in range(6)}
    tied = {query: {"30": 0.5, "20": 0.5, "10": 0.5, "1": 0.4} for query in qrels}
    rows = [(query, *entry) for query, docs in tied.items() for entry in docs.items()]
    ids = np.array([[int(doc) for doc in docs] for docs in tied.values()])
    scores = np.array([list(docs.values()) for docs in tied.values()])
    runs = {
        "dict": Run(tied),
        "columns": Run.from_columns(*zip(*rows, strict=True)),
        "arrays": Run.from_arrays(ids, scores, query_ids=list(tied)),
    }
    other_run = {query: {"1": 0.9, "10": 0.5, "20": 0.4} for query in qrels}
    comparisons = [
        compare_runs(qrels, {"a": run, "b": other_run}, ["nDCG@2"], draws=100, ties=ties)
        for run in runs.values()
    ]
    for comparison in comparisons:
        assert comparison.to_judge == comparisons[0].to_judge
        assert comparison.trust == comparisons[0].trust


@pytest.mark.parametrize("policies", [{"ties": "trec_eval9"}, {"order": "given"}])
def test_there_is_no_tie_interval_with_trec_eval9_or_the_given_order(policies):
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    tied = {"q1": {"r": 1.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"a": tied, "b": tied}, "MRR", **policies)
    assert comparison.trust[0].ties is None


def test_rankings_without_scores_have_no_tie_interval():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    assert compare_runs(qrels, {"a": run, "b": run}, "MRR").trust[0].ties is None


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.dictionaries(st.sampled_from(QUERY_IDS[:3]), judged(), min_size=2, max_size=3),
    st.data(),
    st.sampled_from(["trec_eval", "trec_eval9", "input", "best", "worst"]),
    st.sampled_from(["score", "given"]),
    st.sampled_from(["nDCG@3", "MRR", "MAP@4", "Rprec"]),
)
def test_bounds_and_ranks_fit_the_evaluation_under_every_policy(qrels, data, ties, order, measure):
    policies = {"ties": ties, "order": order}
    runs = {name: {query: data.draw(ranking()) for query in qrels} for name in "ab"}
    comparison = compare_runs(qrels, runs, measure, draws=100, likeness_k=None, **policies)
    [pair] = comparison.trust
    observed = comparison.differences[0].difference
    assert pair.low - 1e-12 <= observed <= pair.high + 1e-12
    if pair.unjudged == 0:
        assert (pair.low, pair.high) == pytest.approx((observed, observed), abs=1e-12)
    if pair.ties is not None:
        extremes = [
            evaluate(qrels, runs["b"], measure, ties=extreme)[measure]
            for extreme in ("worst", "best")
        ]
        assert pair.ties == pytest.approx(extremes, abs=1e-12)
    for document in comparison.documents_to_judge(3):
        for name, rank in document.ranks.items():
            top = evaluate(qrels, runs[name], measure, keep_top=20, **policies).top
            if ties not in ("best", "worst"):
                assert top[document.query_id].doc_ids[rank - 1] == document.doc_id


# Documents to judge


def test_the_documents_that_would_change_most_come_first():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = Run.from_rankings({"q1": ["r", "x", "z"], "q2": ["r"]})
    b = Run.from_rankings({"q1": ["y", "x", "r", "z"], "q2": ["r"]})
    c = Run.from_rankings({"q1": ["y"], "q2": ["r"]})
    runs = {"a": a, "b": b, "c": c}
    comparison = compare_runs(qrels, runs, ["Precision@2", "DCG@2"], baseline="a")
    first, second = comparison.documents_to_judge()
    assert (first.query_id, first.doc_id, first.ranks) == ("q1", "y", {"b": 1, "c": 1})
    assert first.changes == {"b": {"a": 1 / 4}, "c": {"a": 1 / 4}}
    assert first.total == 1 / 2
    assert (second.doc_id, second.changes) == ("x", {"c": {"a": -1 / 4}})
    assert second.ranks == {"a": 2, "b": 2}
    assert comparison.documents_to_judge(1) == [first]
    by_gain = comparison.documents_to_judge(measure="DCG@2")
    assert by_gain[0].changes["b"]["a"] == pytest.approx(1 / 2)
    with pytest.raises(NotEvaluatedError, match="MRR was not compared"):
        comparison.documents_to_judge(measure="MRR")


@settings(max_examples=settings.default.max_examples // 5)
@given(two_systems(), st.sampled_from(["nDCG@3", "MAP@3", "Recall@2", "MRR(judged_only=True)"]))
def test_a_change_equals_the_shift_of_the_difference_if_the_document_is_relevant(case, measure):
    qrels, systems = case
    _, comparison = compare_pair(qrels, systems, measure)
    runs = as_runs(systems)
    for document in comparison.documents_to_judge(2):
        qrels_with_document = qrels | {
            document.query_id: qrels[document.query_id] | {document.doc_id: highest_grade(qrels)}
        }
        means = [
            np.mean([evaluate(qrels_with_document, run, measure)[measure] for run in repeats])
            for repeats in runs.values()
        ]
        change = means[1] - means[0] - comparison.differences[0].difference
        assert document.changes.get("b", {}).get("a", 0) == pytest.approx(change, abs=1e-12)
        assert document.total == pytest.approx(abs(change), abs=1e-12)


# Saved results, and comparisons without trust


def results():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    runs = {"a": {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}, "b": {"q1": {"x": 1.0}}}
    return [evaluate(qrels, run, ["MRR@2", "MAP"], name=name) for name, run in runs.items()]


def test_saved_results_give_judged_shares_only_and_a_note_points_to_compare_runs():
    comparison = compare(results())
    at_two, no_cutoff = comparison.trust
    assert (at_two.judged, at_two.judged_against) == (0, 2 / 3)
    assert (at_two.low, at_two.verdict_flip, at_two.unjudged) == (None, "not known", None)
    assert (no_cutoff.judged, no_cutoff.depth) == (None, None)
    [note] = [note for note in comparison.notes() if "compare_runs(qrels, runs)" in note]
    assert note in comparison.to_markdown()
    assert comparison.likeness is None
    with pytest.raises(NotEvaluatedError, match="known to compare_runs"):
        comparison.documents_to_judge()


def test_trust_is_left_out_on_request():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = {"q1": {"r": 1.0, "x": 0.5}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"a": run, "b": run}, "MRR", trust=False, likeness_k=None)
    assert (comparison.trust, comparison.to_judge, comparison.likeness) == (None, None, None)
    assert "###" not in comparison.to_markdown()


def test_trust_is_left_out_for_all_pairs_of_more_than_ten_systems():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    runs = {f"s{n:02}": {"q1": {"r": 1.0}, "q2": {"r": 1.0}} for n in range(11)}
    comparison = compare_runs(qrels, runs, "MRR", draws=100)
    assert (comparison.trust, comparison.likeness) == (None, None)
    assert "all pairs of at most 10 systems: name a baseline" in comparison.to_markdown()
    comparison = compare_runs(qrels, runs, "MRR", draws=100, baseline="s00")
    assert len(comparison.trust) == len(comparison.likeness) == 10


# Likeness


@pytest.mark.parametrize(("limit", "most"), [("MOST_PAIRS", 3), ("MOST_RANKING_PAIRS", 3 * 2)])
def test_likeness_is_left_out_beyond_a_number_of_pairs_and_rankings(monkeypatch, limit, most):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {name: {query: {"a": 1.0, name: 2.0} for query in qrels} for name in "xyz"}
    monkeypatch.setattr(likeness, limit, most)
    assert len(compare_runs(qrels, runs, "MRR").likeness) == 3
    monkeypatch.setattr(likeness, limit, most - 1)
    comparison = compare_runs(qrels, runs, "MRR")
    assert comparison.likeness is None
    assert any("pairs times queries: name a baseline" in note for note in comparison.notes())


def test_likeness_compares_the_first_documents_of_each_query():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}, "q3": {"r": 1}}
    a = {"q1": {"r": 3.0, "x": 2.0}, "q2": {"r": 3.0, "x": 2.0}, "q3": {}}
    b = {"q1": {"r": 3.0, "x": 2.0}, "q2": {"x": 3.0, "r": 2.0, "z": 1.0}}
    comparison = compare_runs(qrels, {"a": a, "b": b}, "MRR", likeness_k=2)
    [pair] = comparison.likeness
    assert (pair.system, pair.against, pair.k) == ("b", "a", 2)
    assert (pair.overlap, pair.kendall_distance) == (1, 1 / 2)
    assert pair.rbo_lowest <= pair.rbo <= pair.rbo_highest
    per_query = comparison.likeness_per_query()
    assert per_query["q1"]["kendall_distance"] == 0
    assert per_query["q2"] == pytest.approx({"rbo": 0.9, "overlap": 1, "kendall_distance": 1})
    assert np.isnan(list(per_query["q3"].values())).all()
    assert comparison.likeness_per_query("a", "b").keys() == per_query.keys()
    with pytest.raises(NotEvaluatedError, match="'a' and 'b' rank is not known"):
        compare(results()).likeness_per_query("a")


def test_systems_without_a_query_in_common_have_no_likeness():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    runs = {"a": {"q1": {"r": 1.0}}, "b": {"q2": {"r": 1.0}}}
    comparison = compare_runs(qrels, runs, "MRR")
    assert (comparison.likeness[0].rbo, comparison.likeness[0].overlap) == (None, None)
    assert "| b      |       a |   ? |" in comparison.to_markdown()


@pytest.mark.parametrize("depth", [0, -1, 1.5, True])
def test_an_invalid_depth_of_likeness_is_refused(depth):
    with pytest.raises(SettingError, match="likeness_k must be a whole number above 0"):
        compare_runs({"q": {"r": 1}}, {}, likeness_k=depth)


# Files


def test_trust_and_likeness_are_equal_after_saving_and_loading(tmp_path):
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    runs = {
        "a": run_with_ranking(12, ["x", "r"]),
        "b": [run_with_ranking(12, ["r", "x"]), run_with_ranking(12, ["r", "y"])],
    }
    comparison = compare_runs(qrels, runs, ["nDCG@2", "Judged@2"])
    assert "of a system's repeats, the first is taken" in comparison.to_markdown()
    comparison.save(tmp_path / "found.json")
    assert Comparison.load(tmp_path / "found.json") == comparison


def test_comparisons_saved_without_trust_still_load():
    content = compare(results()).model_dump(mode="json")
    for name in ("trust", "to_judge", "likeness"):
        del content[name]
    loaded = Comparison.model_validate(content)
    assert (loaded.trust, loaded.to_judge, loaded.likeness) == (None, None, None)
    assert loaded.to_markdown()


# Real runs


@pytest.fixture
def dl19(realdata):
    def read_runs(*names):
        folder = realdata / "runs" / "dl19"
        return {name: read_run(folder / f"{name}.trec") for name in names}

    return read_qrels(realdata / "qrels" / "dl19-passage.trec"), read_runs


def test_unjudged_documents_cannot_reverse_that_dense_retrieval_is_better_than_bm25_at_10(dl19):
    qrels, read_runs = dl19
    comparison = compare_runs(
        qrels, read_runs("bm25", "ada2"), ["nDCG@10", "MAP@100"], baseline="bm25"
    )
    ndcg, average_precision = comparison.trust
    assert (ndcg.verdict_flip, ndcg.exact) == ("could not", True)
    assert (
        0.19 < ndcg.low <= comparison.difference("nDCG@10", "ada2").difference <= ndcg.high < 0.29
    )
    assert (ndcg.judged_against, round(ndcg.judged, 3)) == (1.0, 0.914)
    # Below rank 10 half of what bm25 and ada2 retrieve was never judged.
    assert average_precision.verdict_flip == "could"
    assert average_precision.judged < 0.55
    first = comparison.documents_to_judge(1)[0]
    assert first.ranks["ada2"] <= 10
    assert "MAP@100: ada2 is better than bm25, but unjudged documents" in comparison.to_markdown()


@pytest.mark.slow
def test_repeats_of_a_re_ranker_are_alike_and_unjudged_documents_could_change_verdicts(dl19):
    qrels, read_runs = dl19
    runs = read_runs(*(f"bm25+gpt35-repeat{number}" for number in range(1, 6)))
    comparison = compare_runs(qrels, runs, "nDCG@10", duplicates="first")
    assert len(comparison.trust) == len(comparison.likeness) == 10
    assert all(pair.exact and pair.high - pair.low > 0.01 for pair in comparison.trust)
    assert any(pair.verdict_flip == "could" for pair in comparison.trust)
    assert all(pair.rbo > 0.85 and pair.overlap > 0.8 for pair in comparison.likeness)
    assert "are undecided, but unjudged documents could change this" in comparison.to_markdown()

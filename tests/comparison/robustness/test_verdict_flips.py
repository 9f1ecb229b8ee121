"""Whether unjudged documents could change a verdict: could, could not, not known."""

from itertools import chain, combinations

import numpy as np
import pytest

from beir_eval import Run, compare, compare_runs, evaluate
from beir_eval.comparison.robustness import certificates, flips
from beir_eval.comparison.robustness.certificates import EqualityTest
from beir_eval.significance.equivalence import margin_tests
from beir_eval.significance.multiple_comparisons import max_t_p
from beir_eval.significance.randomisation import randomise
from small_families import SmallFamily

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

CORRECTIONS = ["max-t", "holm", "bonferroni", "benjamini-hochberg", "none", "max-t-step-down"]


def comparison_with(qrels, rankings, measure, **settings):
    runs = {name: Run.from_rankings(ranking) for name, ranking in rankings.items()}
    return compare_runs(qrels, runs, measure, **settings)


def flip_of(qrels, rankings, measure, **settings):
    """Return verdict and answer of the only pair."""
    comparison = comparison_with(qrels, rankings, measure, **settings)
    return comparison.differences[0].verdict, comparison.trust[0].verdict_flip


def verdicts_of_all_choices(qrels, rankings, measure, unjudged, **settings):
    """Return the verdicts of the only pair if any choice of documents is relevant.

    Args:
        unjudged: pairs of query and document.
    """
    verdicts = set()
    for choice in chain.from_iterable(
        combinations(unjudged, size) for size in range(len(unjudged) + 1)
    ):
        completed = {query: dict(grades) for query, grades in qrels.items()}
        for query, document in choice:
            completed[query][document] = 1
        comparison = comparison_with(completed, rankings, measure, trust=False, **settings)
        verdicts.add(comparison.differences[0].verdict)
    return verdicts


# What was once answered with a false "could not"


def test_with_a_t_test_a_choice_between_the_extremes_could_change_the_verdict():
    qrels = {f"q{n}": {"r": 1, "s": 1, "x": 0, "y": 0} for n in range(1, 6)}
    # Precision@2: b has 0 0 0 0 .5; a has .5 .5 0 0 .5 and an unjudged h in q2, q3 and q4.
    b = {f"q{n}": ["x", "y"] for n in range(1, 5)} | {"q5": ["r", "x"]}
    a = {
        "q1": ["r", "x"],
        "q2": ["r", "h"],
        "q3": ["x", "h"],
        "q4": ["x", "h"],
        "q5": ["r", "x"],
    }
    unjudged = [("q2", "h"), ("q3", "h"), ("q4", "h")]
    rankings = {"b": b, "a": a}
    verdicts = verdicts_of_all_choices(qrels, rankings, "Precision@2", unjudged, test="t")
    assert verdicts == {"undecided", "better"}
    assert flip_of(qrels, rankings, "Precision@2", test="t") == ("undecided", "could")


def test_documents_below_rank_10_could_change_a_verdict_on_average_precision():
    qrels = {f"q{n}": {"r": 1} for n in range(10)}
    tail = [f"j{n}" for n in range(10)]
    qrels = {query: grades | dict.fromkeys([*tail, "j"], 0) for query, grades in qrels.items()}
    better = {query: ["r", *tail, "j"] for query in qrels}
    worse = {query: ["j", "r", *tail[:9], *(f"h{n}" for n in range(20))] for query in qrels}
    verdict, flip = flip_of(qrels, {"worse": worse, "better": better}, "MAP")
    assert (verdict, flip) == ("better", "could")


def test_equal_systems_could_differ_more_though_their_mean_stays_within_the_margin():
    # Four unjudged documents: two of each system, in different queries.
    qrels = {f"q{n:02}": {"r": 1, "x": 0} for n in range(14)}
    a = {query: ["r", "x"] for query in qrels} | {"q00": ["r", "h"], "q01": ["r", "h"]}
    b = {query: ["r", "x"] for query in qrels} | {"q02": ["r", "h"], "q03": ["r", "h"]}
    rankings = {"a": a, "b": b}
    unjudged = [(f"q0{n}", "h") for n in range(4)]
    for margin in (0.25, 0.3):
        verdicts = verdicts_of_all_choices(qrels, rankings, "Precision@2", unjudged, margin=margin)
        flip = "could" if len(verdicts) > 1 else "could not"
        answer = flip_of(qrels, rankings, "Precision@2", margin=margin)
        assert answer == ("equal", flip)
    assert flip_of(qrels, rankings, "Precision@2", margin=0.25) == ("equal", "could")


@pytest.mark.parametrize("seed", [110, 148, 361])
def test_a_choice_between_the_extremes_could_change_a_verdict_of_max_t(monkeypatch, seed):
    monkeypatch.setattr(flips, "_FEW_COMPLETIONS", 0)
    family = SmallFamily(np.random.default_rng([seed, 15]), "max-t")
    verdicts = family.verdicts
    only_between = []
    for index, pair in enumerate(family.observed.pairs.listed):
        bounds = family.bounds.pair_bounds(*pair)
        ends = [
            number
            for number, completion in enumerate(family.completions)
            if (completion == bounds.lowest).all() or (completion == bounds.highest).all()
        ]
        is_changed = verdicts[:, index] != verdicts[0, index]
        only_between.append(is_changed.any() and not is_changed[ends].any())
    assert any(only_between)
    answers = np.array(family.flips())
    assert set(answers[only_between]) == {"could"}


@pytest.mark.parametrize("seed", [58, 164, 365])
def test_p_of_max_t_could_grow_by_more_than_the_uncorrected_p(monkeypatch, seed):
    monkeypatch.setattr(flips, "_FEW_COMPLETIONS", 0)
    family = SmallFamily(np.random.default_rng([seed, 15]), "max-t")
    observed = family.observed
    [flipped] = randomise(
        [observed.pairs.family(observed.scores)], observed.signs, largest="family"
    )
    factor = max_t_p(flipped, step_down=False) / flipped.p()
    ranges = observed.ranges([family.bounds.pair_bounds(*pair) for pair in observed.pairs.listed])
    ends = certificates.tests_at_ends(ranges, observed.signs)
    is_better = family.verdicts[0] == "better"
    at_worst = np.where(is_better, ends.p_low, ends.p_high)
    is_decided = is_better & ranges.is_above_0
    is_decided |= (family.verdicts[0] == "worse") & ranges.is_below_0
    seems_safe = is_decided & (factor == 1) & (at_worst * factor <= observed.settings.alpha)
    is_changed = seems_safe & ~family.is_stable
    assert is_changed.any()
    assert set(np.array(family.flips())[is_changed]) == {"could"}


# Certificates


@pytest.mark.parametrize(
    "correction",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name != "none" else [])
        for name in CORRECTIONS
    ],
)
def test_no_choice_of_documents_changes_a_verdict_that_is_certified(monkeypatch, correction):
    monkeypatch.setattr(flips, "_FEW_COMPLETIONS", 0)
    for seed in range(40):
        family = SmallFamily(np.random.default_rng([seed, 7]), correction)
        answers = np.array(family.flips())
        assert family.is_stable[answers == "could not"].all(), seed
        assert not family.is_stable[answers == "could"].any(), seed


@pytest.mark.slow
def test_most_verdicts_of_max_t_that_no_choice_changes_are_certified(monkeypatch):
    monkeypatch.setattr(flips, "_FEW_COMPLETIONS", 0)
    is_certified = {"undecided": [], "better": [], "worse": []}
    for seed in range(60):
        family = SmallFamily(np.random.default_rng([seed, 15]), "max-t")
        for verdict, is_stable, answer in zip(
            family.verdicts[0], family.is_stable, family.flips(), strict=True
        ):
            if is_stable and verdict != "equal":
                is_certified[verdict].append(answer == "could not")
    assert np.mean(is_certified["undecided"]) > 0.75
    assert np.mean(is_certified["better"] + is_certified["worse"]) > 0.5


def test_all_choices_are_tried_if_there_are_few():
    for seed in range(25):
        family = SmallFamily(np.random.default_rng([seed, 3]), "max-t")
        if len(family.completions) * len(family.observed.pairs.listed) <= 512:
            expected = np.where(family.is_stable, "could not", "could")
            assert family.flips() == expected.tolist()


@pytest.mark.parametrize("score_range", [1.0, None])
def test_the_p_of_equality_stays_within_its_bounds_for_all_differences_in_the_ranges(score_range):
    rng = np.random.default_rng(5)
    for _ in range(40):
        low = rng.normal(0, 0.1, (1, 12)).clip(-1, 1)
        high = (low + rng.random((1, 12)) * rng.choice([0, 0.02, 0.3])).clip(-1, 1)
        test = EqualityTest(float(rng.choice([0.05, 0.3])), score_range)
        rows = low + rng.random((30, 12)).round(int(rng.integers(0, 3))) * (high - low)
        p = margin_tests(rows, delta=test.margin, score_range=score_range).p_equal
        assert test.lowest_p(low, high)[0] <= p.min() * (1 + 1e-6)
        assert p.max() <= test.highest_p(low, high)[0] * (1 + 1e-6)


def test_without_unjudged_documents_no_verdict_could_change_whatever_the_test():
    qrels = {f"q{n}": {"r": 1, "x": 0} for n in range(8)}
    rankings = {
        "a": {query: ["r", "x"] for query in qrels},
        "b": {query: ["x", "r"] for query in qrels},
    }
    for test in ("sign_flip", "t", "wilcoxon", "sign"):
        for measure in ("MAP", "MRR@2", "nDCG@1"):
            assert flip_of(qrels, rankings, measure, test=test)[1] == "could not"


def test_with_other_tests_nothing_is_certain_if_there_are_many_choices():
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    rankings = {
        "a": {query: ["x", *"jklmn"] for query in qrels},
        "b": {query: ["r", "x"] for query in qrels},
    }
    qrels = {query: grades | dict.fromkeys("jklmn", 0) for query, grades in qrels.items()}
    comparison = comparison_with(qrels, rankings, "DCG@2", test="t")
    assert comparison.trust[0].verdict_flip in ("could", "not known")


def test_a_query_that_a_relevant_document_would_add_leaves_the_answer_open():
    qrels = {f"q{n}": {"r": 1, "x": 0} for n in range(8)} | {"q8": {"x": 0}}
    rankings = {
        "a": {query: ["x", "r"] for query in qrels},
        "b": {query: ["r", "x"] for query in qrels} | {"q8": ["h"]},
    }
    assert flip_of(qrels, rankings, "nDCG@2", no_relevant="skip")[1] == "not known"
    assert flip_of(qrels, rankings, "nDCG@2")[1] == "could not"


# The expected case


def test_unjudged_documents_are_expected_to_be_relevant_as_often_as_judged_ones_at_their_rank():
    # At rank 1 every second judged document is relevant; b has an unjudged one there in 20 queries.
    qrels = {f"q{n:02}": {"r": 1, "n": 0} for n in range(40)}
    b = {query: ["h"] if n < 20 else ["r", "n"][n % 2 : n % 2 + 1] for n, query in enumerate(qrels)}
    a = {query: ["r", "n"][n % 2 : n % 2 + 1] for n, query in enumerate(qrels)}
    comparison = comparison_with(qrels, {"a": a, "b": b}, "Success@1")
    [pair], [difference] = comparison.trust, comparison.differences
    assert difference.difference == pytest.approx(-10 / 40)
    assert pair.low == pytest.approx(-10 / 40)
    # Expected: 10 of the 20 are relevant, so nothing differs; the standard deviation of their
    # number is about √(20/4 + 20²·(½·½)/60).
    deviation = (5 + 400 / 4 / 60) ** 0.5 / 40
    assert abs(pair.expected) < 4 * deviation / 50**0.5
    assert (pair.expected_high - pair.expected_low) / 2 == pytest.approx(1.96 * deviation, rel=0.25)
    assert "expected difference" in comparison.to_markdown()


def test_nothing_is_expected_where_nothing_retrieved_is_judged():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    rankings = {name: {query: ["h", name] for query in qrels} for name in "ab"}
    comparison = comparison_with(qrels, rankings, "nDCG@2")
    assert comparison.trust[0].expected is None


def test_nothing_is_expected_where_judgements_list_relevant_documents_only():
    qrels = {f"q{n}": {"r": 1} for n in range(8)}
    rankings = {
        "a": {query: ["r", "h"] for query in qrels},
        "b": {query: ["h", "r"] for query in qrels},
    }
    comparison = comparison_with(qrels, rankings, "nDCG@2")
    assert comparison.trust[0].unjudged
    assert comparison.trust[0].expected is None
    assert any("expected difference: not known" in note for note in comparison.notes())


def test_without_unjudged_documents_the_difference_is_expected_as_it_is():
    qrels = {f"q{n}": {"r": 2, "x": 0} for n in range(8)}
    rankings = {
        "a": {query: ["x", "r"] for query in qrels},
        "b": {query: ["r", "x"] for query in qrels},
    }
    comparison = comparison_with(qrels, rankings, "nDCG@2")
    [pair], [difference] = comparison.trust, comparison.differences
    expected = pytest.approx(difference.difference)
    assert (pair.expected, pair.expected_low, pair.expected_high) == (expected,) * 3


# Judged shares and likeness of results


def test_a_judged_share_is_not_known_if_a_repeat_did_not_count_at_that_cutoff():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 2.0, "x": 1.0} for query in qrels}
    narrow = evaluate(qrels, run, ["MRR@2", "nDCG@1"])
    wide = narrow.model_copy(
        update={
            "counted": narrow.counted.model_copy(
                update={"judged_in_top": {1: narrow.counted.judged_in_top[1]}}
            )
        }
    )
    for repeats in ([narrow, wide], [wide, narrow]):
        comparison = compare({"a": repeats, "b": [narrow, narrow]}, measures=["MRR@2", "nDCG@1"])
        at_two, at_one = comparison.trust
        assert (at_two.judged_against, at_two.judged) == (None, 1 / 2)
        assert (at_one.judged_against, at_one.judged) == (1, 1)


def test_likeness_states_how_many_documents_the_results_have_kept():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 9.0} | {f"x{n}": 8.0 - n for n in range(8)} for query in qrels}
    kept = [evaluate(qrels, run, "MRR", name=name, keep_top=k) for name, k in (("a", 5), ("b", 3))]
    [pair] = compare(kept).likeness
    assert (pair.k, pair.overlap) == (3, 1)
    whole = [evaluate(qrels, run, "MRR", name=name, keep_top=20) for name in "ab"]
    assert compare(whole).likeness[0].k == 10


def test_likeness_is_left_out_on_request_though_the_results_keep_their_rankings():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 2.0, "x": 1.0} for query in qrels}
    comparison = compare_runs(qrels, {"a": run, "b": run}, "MRR", likeness_k=None, keep_top=5)
    assert comparison.likeness is None
    assert len(comparison.results["a"][0].top["q0"].doc_ids) == 2


def test_the_results_keep_no_more_top_documents_than_before():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 900.0} | {f"x{n}": 800.0 - n for n in range(200)} for query in qrels}
    comparison = compare_runs(qrels, {"a": run, "b": run}, ["Recall@150", "MAP"])
    assert {len(top.doc_ids) for top in comparison.results["a"][0].top.values()} == {100}
    assert [pair.depth for pair in comparison.trust] == [150, 100]


def test_the_note_explains_a_condensed_difference_outside_the_bounds():
    qrels = {f"q{n}": {"r": 1, "n": 0} for n in range(6)}
    rankings = {
        "a": {query: [*(f"h{n}" for n in range(9)), "r"] for query in qrels},
        "b": {query: ["n", "r"] for query in qrels},
    }
    comparison = comparison_with(qrels, rankings, "nDCG@10")
    [pair] = comparison.trust
    is_outside = not pair.low <= pair.condensed_difference <= pair.high
    has_note = any("may lie outside the bounds" in note for note in comparison.notes())
    assert has_note == is_outside


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_tied_unjudged_documents_have_the_ranks_of_the_top_lists(ties):
    qrels = {f"q{number}": {"1": 1, "2": 0} for number in range(6)}
    tied = {query: {"30": 0.5, "10": 0.5, "1": 0.5, "20": 0.5, "2": 0.5} for query in qrels}
    other = {query: {"1": 0.9, "10": 0.5, "20": 0.4} for query in qrels}
    comparison = compare_runs(qrels, {"a": tied, "b": other}, ["nDCG@5"], draws=100, ties=ties)
    top = evaluate(qrels, tied, "nDCG@5", ties=ties, keep_top=5).top["q0"].doc_ids
    for document in comparison.to_judge:
        assert top[document.ranks["a"] - 1] == document.doc_id

"""Comparisons: which queries are joined, which verdicts follow, and how they are reported."""

import html
import math
import re
from itertools import islice

import numpy as np
import pytest

from beir_eval import (
    BeirEvalWarning,
    Comparison,
    Qrels,
    Run,
    assert_no_regression,
    check_gate,
    checkpoint_curve,
    compare,
    compare_benchmark,
    compare_runs,
    compare_slices,
    evaluate,
    evaluate_stages,
    write_report,
)
from beir_eval.comparison.differences import possible_sizes, verdict_of
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.verdict_sentences import evidence_notes, not_excluded_text
from beir_eval.display.tables import latex_text
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
)
from beir_eval.evaluation.records import Provenance, Retrieval
from beir_eval.significance import paired_t, sign_flip, smallest_margin
from beir_eval.significance.corrections import correct
from beir_eval.significance.equivalence import lower_bound
from families import max_t_of_pairs
from made_results import given


def ranked(ranks):
    """Return a run with the relevant document at this rank for each query (None: not retrieved)."""
    return Run.from_rankings(
        {
            f"q{query:02}": [f"x{position}" for position in range(1, (rank or 20))]
            + (["a"] if rank else [])
            for query, rank in enumerate(ranks)
        }
    )


def qrels_for(count):
    return {f"q{query:02}": {"a": 1} for query in range(count)}


RNG = np.random.default_rng(0)
BASE = RNG.integers(3, 10, 30).tolist()
BETTER = [rank - 2 for rank in BASE]
NOISY = RNG.permutation(BASE).tolist()


def compare_three(**settings):
    runs = {"base": ranked(BASE), "better": ranked(BETTER), "noisy": ranked(NOISY)}
    return compare_runs(qrels_for(30), runs, ["MRR", "nDCG@10"], **settings)


def results(**runs):
    qrels = qrels_for(len(next(iter(runs.values()))))
    return {
        name: evaluate(qrels, ranked(run), ["MRR", "nDCG@10"], name=name)
        for name, run in runs.items()
    }


# Numbers and verdicts


def test_every_number_equals_that_of_the_named_test():
    comparison = compare_three(baseline="base", correction="holm", draws=5_000)
    scores = {
        name: comparison.scores["MRR"].array[row] for row, name in enumerate(comparison.systems)
    }
    raw = []
    for system in ("better", "noisy"):
        difference = comparison.difference("MRR", system)
        differences = scores[system] - scores["base"]
        assert math.isclose(difference.difference, differences.mean(), abs_tol=1e-15)
        assert difference.p == sign_flip(differences, draws=5_000).p
        assert difference.p_t == paired_t(differences).p
        counts = difference.losses, difference.ties, difference.wins
        assert counts == tuple((np.sign(differences) == sign).sum() for sign in (-1, 0, 1))
        assert difference.low <= difference.difference <= difference.high
        raw.append(difference.p)
    corrected = correct(raw, "holm")
    assert [
        comparison.difference("MRR", system).p_corrected for system in ("better", "noisy")
    ] == list(corrected)


def test_an_undecided_difference_states_the_detectable_difference_and_the_queries_needed():
    difference = compare_three(baseline="base", margin=0.02).difference("MRR", "noisy")
    assert difference.verdict == "undecided"
    assert difference.detectable_low < difference.detectable < difference.detectable_high
    assert difference.detectable > 0.02
    assert 30 < difference.queries_low < difference.queries_high
    [note] = evidence_notes([difference], 0.02)
    assert note.startswith("30 queries are too few to show that systems are equivalent within 0.02")


def test_no_detectable_difference_is_larger_than_the_measure_allows():
    """The scores of few queries, of which some differ by nearly all that they can."""
    base = {f"q{number}": {"a": 2.0, "x": 1.0} for number in range(10)}
    other = {query: {"x": 2.0, "a": 1.0} for query in base}
    low = {query: {"x": 2.0, "y": 1.0} for query in base}
    first = {query: (base, low)[number % 2][query] for number, query in enumerate(base)}
    second = {query: (low, other)[number % 2][query] for number, query in enumerate(base)}
    qrels = {query: {"a": 1} for query in base}
    [difference] = compare_runs(qrels, {"a": first, "b": second}, "MRR").differences
    assert difference.verdict == "undecided"
    assert difference.detectable <= difference.detectable_high == 1.0
    assert possible_sizes([0.5, 0.3, 2.0], 1.0) == [0.5, 0.3, 1.0]
    assert possible_sizes([3.0, 1.0, 4.0], 1.0) is None
    assert possible_sizes([3.0, 1.0, 4.0], None) == [3.0, 1.0, 4.0]


def test_power_is_stated_for_the_level_of_the_correction():
    alone = compare(results(a=BASE, b=NOISY), margin=0.02).difference("MRR", "b")
    among = compare_three(baseline="base", margin=0.02).difference("MRR", "noisy")
    assert alone.detectable < among.detectable
    assert alone.p == among.p


def test_a_significant_difference_states_no_power():
    difference = compare_three(baseline="base").difference("MRR", "better")
    assert difference.detectable is difference.queries_low is None
    assert difference.power_note == ""
    assert not list(evidence_notes([difference], 0.01))


def test_systems_that_differ_by_less_than_the_margin_are_equal_within_it():
    many = BASE * 11  # 330 queries: 299 are the fewest that can show equality within .01
    nearly = [*many[:-1], many[-1] + 1]
    difference = compare(results(a=many, b=nearly), baseline="a", margin=0.01).difference(
        "MRR", "b"
    )
    assert difference.verdict == "equivalent"
    assert difference.p_equal <= 0.05
    assert 0 < abs(difference.difference) < 0.01


def test_all_pairs_are_compared_without_a_baseline():
    comparison = compare_three(draws=5_000)
    assert comparison.settings.correction == "max-t"
    assert [
        (difference.system, difference.against)
        for difference in comparison.differences
        if difference.measure == "MRR"
    ] == [("better", "base"), ("noisy", "base"), ("noisy", "better")]
    p_matrix = max_t_of_pairs(comparison.scores["MRR"].array, draws=5_000)
    difference = comparison.difference("MRR", "noisy", "base")
    assert difference.p_corrected == pytest.approx(p_matrix[2, 0], abs=0.04)
    assert comparison.difference("MRR", "base", "better").verdict == "worse"


def test_another_test_is_used_on_request_and_its_note_is_kept():
    comparison = compare_three(baseline="base", test="t")
    scores = comparison.scores["MRR"].array
    difference = comparison.difference("MRR", "noisy")
    assert difference.p == paired_t(scores[2] - scores[0]).p
    assert difference.note == paired_t(scores[2] - scores[0]).note


def test_a_single_comparison_needs_no_correction_with_or_without_a_baseline():
    evaluated = results(a=BASE, b=NOISY)
    pairs = [compare(evaluated, baseline=baseline).differences[0] for baseline in (None, "a")]
    assert [pair.p_corrected for pair in pairs] == [pair.p for pair in pairs]
    assert pairs[0].verdict == pairs[1].verdict


def test_systems_that_differ_by_rounding_alone_do_not_differ():
    qrels, run = qrels_for(12), ranked([10] * 12)
    copy = evaluate(qrels, run, ["MRR"], name="one")
    assert (0.1 + 0.1 + 0.1) / 3 != 0.1
    for settings in ({}, {"baseline": "A"}, {"test": "t"}):
        difference = compare({"A": copy, "B": [copy, copy, copy]}, **settings).differences[0]
        assert (difference.p, difference.difference, difference.ties) == (1.0, 0.0, 12)
        assert (difference.verdict, difference.power_note) == ("identical", "no query differs")
    repeats = [evaluate(qrels_for(30), ranked(NOISY), ["MRR", "nDCG@10"], name="n")] * 7
    comparison = compare({"A": repeats[0], "B": repeats}, baseline="A")
    assert {difference.p for difference in comparison.differences} == {1.0}
    assert comparison.improvements("MRR") == comparison.regressions("MRR") == []


# Queries and results that are joined


def test_different_queries_are_an_error_that_names_them_or_an_intersection():
    qrels = qrels_for(12)
    first_run, second_run = ranked(BASE[:10]), ranked(BETTER[:12])
    first = evaluate(qrels, first_run, "MRR", missing="skip", name="one")
    second = evaluate(qrels, second_run, "MRR", missing="skip", name="two")
    with pytest.raises(QueryMismatchError, match=r"two: 'q10', 'q11'.*on='intersection'"):
        compare([first, second])
    fewer = evaluate(qrels_for(10), first_run, "MRR", name="one")
    with pytest.raises(QueryMismatchError, match="those of the same qrels, or compare with"):
        compare([fewer, evaluate(qrels, second_run, "MRR", name="two")])
    comparison = compare([first, second], on="intersection")
    assert len(comparison.query_ids) == 10
    assert comparison.left_out == {"two": 2}
    assert "two: 2 queries left out" in comparison.to_markdown()


def test_queries_are_joined_by_id_and_not_by_position():
    qrels = qrels_for(6)
    reversed_qrels = dict(reversed(qrels.items()))
    first = evaluate(qrels, ranked([1, 2, 3, 4, 5, 6]), "MRR", name="one")
    second = evaluate(reversed_qrels, ranked([1, 2, 3, 4, 5, 6]), "MRR", name="two")
    comparison = compare([first, second])
    assert comparison.difference("MRR", "two").ties == 6


def test_no_query_in_common_is_an_error():
    first = evaluate({"a": {"d": 1}}, {"a": {"d": 1.0}}, "MRR", name="one")
    second = evaluate({"b": {"d": 1}}, {"b": {"d": 1.0}}, "MRR", name="two")
    with pytest.raises(QueryMismatchError, match="no query in common"):
        compare([first, second], on="intersection")


def test_two_queries_in_common_are_compared_and_a_single_one_is_an_error():
    first, second = results(a=[1, 2], b=[2, 1]).values()
    [difference] = compare([first, second], measures="MRR").differences
    assert difference.difference == 0
    with pytest.raises(InputError, match="two or more"):
        compare([evaluate(qrels_for(1), ranked([rank]), "MRR", name=str(rank)) for rank in (1, 2)])


def test_repeats_are_averaged_for_each_query_and_their_spread_is_shown():
    qrels = qrels_for(30)
    repeats = [evaluate(qrels, ranked(ranks), "MRR", name="r") for ranks in (BETTER, NOISY)]
    base = evaluate(qrels, ranked(BASE), "MRR", name="base")
    comparison = compare({"base": base, "twice": repeats}, baseline="base")
    mean = comparison.mean("MRR", "twice")
    means = [repeat["MRR"] for repeat in repeats]
    assert mean.repeats == 2
    assert math.isclose(mean.mean, sum(means) / 2)
    assert math.isclose(mean.spread, float(np.std(means, ddof=1)))
    assert (mean.lowest, mean.highest) == pytest.approx((min(means), max(means)))
    assert comparison.scores["MRR"].array[1].tolist() == [
        (first + second) / 2
        for first, second in zip(
            *(repeat.scores("MRR").tolist() for repeat in repeats), strict=True
        )
    ]
    assert "the mean of 2 repeats" in comparison.to_markdown()


def test_a_query_is_left_out_of_measures_that_are_undefined_for_a_system():
    runs = {
        "a": {f"q{n:02}": {"a": 1.0} for n in range(6)},
        "b": {f"q{n:02}": ({"a": 1.0} if n else {}) for n in range(6)},
    }
    comparison = compare_runs(qrels_for(6), runs, ["Judged@5", "MRR"])
    assert comparison.difference("Judged@5", "b").num_queries == 5
    assert comparison.difference("MRR", "b").num_queries == 6
    assert math.isnan(comparison.scores["Judged@5"].array[1, 0])


@pytest.mark.parametrize(
    ("select", "error", "message"),
    [
        (lambda r: {"a": r["a"]}, ResultError, "two systems or more"),
        (lambda _: {}, ResultError, "two systems or more"),
        (lambda r: [r["a"], r["a"]], ResultError, "different names"),
        (lambda r: {"a": r["a"], "b": []}, ResultError, "'b' must be an EvaluationResult"),
        (lambda r: {"a": r["a"], "b": {"q": {}}}, ResultError, "'b' must be"),
        (lambda r: r["a"], ResultError, "two systems or more"),
    ],
)
def test_input_other_than_two_named_systems_is_refused(select, error, message):
    with pytest.raises(error, match=message):
        compare(select(results(a=BASE, b=NOISY)))


def test_results_of_different_settings_or_qrels_are_refused():
    qrels, run = qrels_for(3), ranked([1, 2, 3])
    first = evaluate(qrels, run, "MRR", name="one")
    second = evaluate(qrels, run, "MRR", name="two", ties="trec_eval10")
    with pytest.raises(ResultError, match="ties='trec_eval9' and 'trec_eval10'"):
        compare([first, second])


#: Judgements of the same queries that differ from ``qrels_for`` in q01 alone.
OTHER_JUDGEMENTS = {
    "another document": {"x1": 1},
    "another grade": {"a": 2},
    "one more": {"a": 1, "z": 0},
    "one that is pooled": {"a": 1, "z": -1},
}


def judged_otherwise(judged=OTHER_JUDGEMENTS["another document"]):
    """Return the results "one" and "two" of one run on eight queries, of which one is judged so."""
    qrels, run = qrels_for(8), ranked([1, 2, 3, 1, 2, 3, 1, 2])
    other = qrels | {"q01": judged}
    return [
        evaluate(*pair, "MRR", name=name)
        for name, pair in (("one", (qrels, run)), ("two", (other, run)))
    ]


@pytest.mark.parametrize("judged", OTHER_JUDGEMENTS.values(), ids=OTHER_JUDGEMENTS)
def test_results_of_other_judgements_are_refused_wherever_they_meet(judged):
    results = judged_otherwise(judged)
    message = "were evaluated on different qrels.*on='any-judgements'"
    for meet in (
        compare,
        lambda both: compare(both, on="intersection"),
        lambda both: assert_no_regression(both[1], both[0], "MRR"),
        lambda both: compare_slices(both, {"q00": "x", "q01": "x"}),
        lambda both: checkpoint_curve(both, ["one", "two"]),
        lambda both: compare_benchmark({r.name: {"d": r} for r in both}, "MRR"),
        lambda both: compare({"one": both, "third": both[0]}),
    ):
        with pytest.raises(ResultError, match=message):
            meet(results)


def test_results_of_other_judgements_are_compared_with_a_warning_in_every_output_if_allowed():
    results = judged_otherwise()
    comparison = compare(results, on="any-judgements")
    warning = "two: evaluated on other judgements than one: a difference may come from the"
    for text in (str(comparison), comparison.to_markdown(), comparison.to_csv()):
        assert warning in text
    [check] = check_gate(compare(results, baseline="one", on="any-judgements"))
    assert check.warnings[0].startswith(warning)
    across = compare_benchmark({r.name: {"d": r} for r in results}, "MRR", on="any-judgements")
    assert "two, d: evaluated on other judgements than one" in across.to_markdown()


def test_results_on_other_queries_are_compared_on_their_intersection_with_a_warning():
    run = ranked([1, 2, 3, 1])
    first = evaluate(qrels_for(3), run, "MRR", name="one")
    second = evaluate(qrels_for(4), run, "MRR", name="two")
    assert "two: evaluated on other judgements than one: a difference may come" in str(
        compare([first, second], on="intersection")
    )
    skipped = evaluate(qrels_for(4), ranked([1, 2, 3]), "MRR", name="two", missing="skip")
    whole = evaluate(qrels_for(4), run, "MRR", name="one", missing="skip")
    assert compare([whole, skipped], on="intersection").coverage[0].warnings[0].startswith("two: 1")


def test_a_result_without_a_hash_is_compared_with_a_note():
    known, other = judged_otherwise()
    unknown = other.model_copy(update={"provenance": Provenance(package_version="1")})
    notes = " ".join(compare([known, unknown]).notes())
    assert "the scores of two were computed elsewhere" in notes


def test_a_measure_of_the_highest_grade_of_the_qrels_is_compared_at_one_of_them_only():
    qrels, run = Qrels(qrels_for(8)), ranked([1, 2, 3, 1, 2, 3, 1, 2])
    two_grades = qrels.select(qrels.query_ids, max_grade=2)
    results = [
        evaluate(judged, run, ["ERR", "MRR"], name=name)
        for name, judged in (("one", qrels), ("two", two_grades))
    ]
    with pytest.raises(ResultError, match="ERR depends on the highest grade"):
        compare(results, "ERR")
    assert compare(results, "MRR").difference("MRR", "two").verdict == "identical"


# Settings that exclude an answer


def test_a_margin_of_half_the_range_is_refused_and_one_above_a_tenth_is_warned_of():
    qrels, runs = qrels_for(8), {"a": ranked([1] * 8), "b": ranked([2] * 8)}
    for margin in (0.5, 1, 5):
        with pytest.raises(
            SettingError, match=f"{margin:.0%} of the range.*did you mean {max(margin, 1) / 100}"
        ):
            compare_runs(qrels, runs, "MRR", margin=margin)
    with pytest.warns(BeirEvalWarning, match="margin of 0.11 is 11% of the range.*mean 0.01?"):
        compare_runs(qrels, runs, "MRR", margin=0.11)
    compare_runs(qrels, runs, "MRR", margin=0.1)
    rows = {"a": np.arange(1.0, 9.0), "b": np.arange(2.0, 10.0)}
    percent, unbounded = (
        given(rows, "quality", bounds=bounds, higher_is_better=True) for bounds in ((0, 100), None)
    )
    compare(percent, margin=10)
    compare(unbounded, margin=1000)
    with pytest.raises(SettingError, match="did you mean 1"):
        compare(percent, margin=50)


def test_a_margin_of_half_the_range_is_refused_wherever_one_is_stated():
    qrels, runs = qrels_for(8), {"m-1": ranked([1, 2] * 4), "m-2": ranked([2, 1] * 4)}
    evaluated = [
        evaluate(qrels, run, "MRR", name=name, fingerprint=True) for name, run in runs.items()
    ]
    for door in (
        lambda margin: compare(evaluated, margin=margin),
        lambda margin: compare_slices(evaluated, dict.fromkeys(qrels, "x"), margin=margin),
        lambda margin: checkpoint_curve(evaluated, margin=margin),
        lambda margin: evaluate_stages(qrels, runs, "MRR", margin=margin),
        lambda margin: assert_no_regression(*evaluated[::-1], "MRR", margin=margin),
    ):
        with pytest.raises(
            SettingError, match=r"a margin of 0\.5 is 50% of the range of the measure"
        ):
            door(0.5)
        with pytest.warns(BeirEvalWarning, match=r"a margin of 0\.4 is 40%"):
            door(0.4)


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, 19),  # 1 / (19 + 1) = .05
        ({"alpha": 0.01}, 99),
        ({"correction": "holm"}, 59),  # .05 / 3 pairs
        ({"correction": "bonferroni", "baseline": "base"}, 39),  # 2 pairs
    ],
)
def test_draws_are_refused_if_no_p_could_reach_the_corrected_level(settings, needed):
    compare_three(draws=needed, **settings)
    message = f"{needed - 1} sign vectors are too few.*it takes {needed} draws or more"
    with pytest.raises(SettingError, match=message):
        compare_three(draws=needed - 1, **settings)


def test_draws_do_not_matter_to_tests_without_any():
    assert compare_three(test="t", draws=1).settings.draws == 1


def test_measures_are_those_that_all_results_have_and_that_have_a_mean():
    qrels, run = qrels_for(3), ranked([1, 2, 3])
    first = evaluate(qrels, run, ["MRR", "num_ret", "MAP"], name="one")
    second = evaluate(qrels, run, ["num_ret", "MRR"], name="two")
    assert compare([first, second]).measures == ("MRR",)
    with pytest.raises(NotEvaluatedError, match="MAP was not evaluated for 'two'"):
        compare([first, second], measures="MAP")
    with pytest.raises(MeasureError, match="no mean over queries"):
        compare([first, second], measures="num_ret")
    with pytest.raises(MeasureError, match="no mean over queries"):
        compare_runs(qrels, {"a": run, "b": run}, ["num_ret", "MRR"])
    with pytest.raises(MeasureError, match="how much is unjudged, not how good"):
        compare_runs(qrels, {"a": run, "b": run}, "Hole@10")
    third = evaluate(qrels, run, ["Hole@10", "MRR"], name="three")
    assert compare([third, first]).measures == ("MRR",)
    with pytest.raises(MeasureError, match="no measure in common"):
        compare([first.model_copy(), evaluate(qrels, run, ["num_ret"], name="two")])


# Odd cases


def test_a_system_and_its_copy_are_identical_whatever_the_number_of_queries():
    many = BASE * 10
    pair = compare(results(a=many, b=many), baseline="a").difference("MRR", "b")
    assert (pair.difference, pair.p, pair.p_t, pair.verdict) == (0.0, 1.0, 1.0, "identical")
    assert (pair.low, pair.high, pair.effect) == (0.0, 0.0, 0.0)
    assert (pair.detectable, pair.ties) == (None, 300)
    few = compare(results(a=BASE[:3], b=BASE[:3]), baseline="a").difference("MRR", "b")
    assert (few.verdict, few.low, few.high) == ("identical", -math.inf, math.inf)
    text = "a loss or gain of up to 0.708 on other queries is not excluded"
    assert not_excluded_text(few) == text


@pytest.mark.parametrize(
    ("interval", "p_equal", "verdict"),
    [
        ((-0.009, 0.004), 0.05, "equivalent"),
        ((-0.009, 0.004), 0.051, "undecided"),
        ((-0.01, 0.004), 0.03, "undecided"),
        ((-0.004, math.inf), 0.03, "undecided"),
    ],
)
def test_systems_are_equivalent_only_if_the_interval_lies_inside_the_margin_too(
    interval, p_equal, verdict
):
    settings = ComparisonSettings(margin=0.01)
    assert verdict_of(-0.002, interval, p_equal, settings, is_shown=False) == verdict


def test_the_differences_on_a_measure_are_found_by_its_name():
    comparison = compare(results(a=BASE, b=NOISY, c=BASE))
    assert comparison["mrr"] == tuple(p for p in comparison.differences if p.measure == "MRR")
    with pytest.raises(NotEvaluatedError, match="MAP was not compared"):
        comparison["MAP"]


def test_an_unbounded_interval_is_null_in_json_and_comes_back():
    comparison = compare(results(a=BASE[:3], b=NOISY[:3]), baseline="a")
    text = comparison.model_dump_json()
    assert '"low":null,"high":null' in text
    assert Comparison.model_validate_json(text) == comparison
    assert "unbounded" in comparison.to_markdown()


def test_a_constant_difference_has_no_effect_size_and_an_exact_p():
    difference = compare(results(a=[2] * 8, b=[1] * 8), baseline="a").difference("MRR", "b")
    assert difference.difference == 0.5
    assert difference.low == difference.high == 0.5
    assert difference.effect is None
    assert difference.p == difference.p_t == 2 / 2**8
    assert difference.verdict == "better"


def test_a_thousand_systems_are_not_compared_in_pairs():
    [result] = results(a=BASE).values()
    with pytest.raises(SettingError, match=r"1000 systems are 499500 pairs; name a baseline"):
        compare({f"s{number}": result for number in range(1000)})


def test_a_margin_that_needs_too_many_queries_is_reported():
    comparison = compare(results(a=BASE, b=NOISY), margin=1e-12)
    assert comparison.difference("MRR", "b").queries_low is None
    assert "more than 10^15" in comparison.to_markdown()


def test_queries_that_any_repeat_lacks_are_left_out():
    qrels = qrels_for(6)
    runs = [
        {f"q{n:02}": {"a": 1.0} for n in range(6) if n not in missing} for missing in ((0, 1), (5,))
    ]
    repeats = [evaluate(qrels, run, "MRR", missing="skip") for run in runs]
    base = evaluate(qrels, ranked([1] * 6), "MRR", missing="skip", name="a")
    comparison = compare({"a": base, "b": repeats}, on="intersection")
    assert len(comparison.query_ids) == 3
    assert comparison.left_out == {"a": 3, "b": 3}


# Queries, means and differences of a comparison


def test_the_queries_that_lost_and_gained_most_come_first():
    comparison = compare_three(baseline="base")
    losses = comparison.regressions("MRR", 3, system="noisy")
    assert len(losses) == 3
    assert [query.difference for query in losses] == sorted(query.difference for query in losses)
    assert losses[0].difference < 0
    query = losses[0]
    scores = comparison.per_query("MRR")[query.query_id]
    assert (query.score, query.against) == (scores["noisy"], scores["base"])
    gains = comparison.improvements("MRR", 100, system="noisy")
    assert gains[0].difference == max(query.difference for query in gains)
    assert comparison.regressions("MRR", system="better") == []
    assert len(comparison.improvements("MRR", 100, system="better")) == 30


def test_systems_need_not_be_named_if_there_are_only_two():
    comparison = compare(results(a=BASE, b=BETTER))
    assert comparison.improvements("MRR", 1)[0].difference > 0
    assert comparison.difference("MRR", "b").against == "a"
    with pytest.raises(SettingError, match="name the system"):
        compare_three(baseline="base").regressions("MRR")
    with pytest.raises(SettingError, match="name what 'noisy' is compared with"):
        compare_three().difference("MRR", "noisy")


def test_a_measure_system_or_pair_that_was_not_compared_is_named_in_the_error():
    comparison = compare_three(baseline="base")
    with pytest.raises(NotEvaluatedError, match="MAP was not compared"):
        comparison.difference("MAP", "better")
    with pytest.raises(NotEvaluatedError, match="no system 'nobody'"):
        comparison.mean("MRR", "nobody")
    with pytest.raises(NotEvaluatedError, match="'better' was not compared with 'noisy'"):
        comparison.difference("MRR", "better", "noisy")


# Files, tables and text


def test_the_times_of_queries_are_added_to_the_results_of_a_copy(tmp_path):
    comparison = compare_three(baseline="base")
    comparison.save(tmp_path / "saved.json")
    comparison = Comparison.load(tmp_path / "saved.json")
    times = {name: [Retrieval(seconds={"q1": 0.5})] * len(of_it) for name, of_it in
             comparison.results.items()}  # fmt: skip
    timed = comparison.with_retrieval(times)
    assert timed == comparison
    for name, repeats in timed.results.items():
        assert [result.retrieval for result in repeats] == times[name]
        assert [result.values for result in repeats] == [
            result.values for result in comparison.results[name]
        ]
        assert all(result.retrieval is None for result in comparison.results[name])


def test_swapping_the_systems_of_a_difference_mirrors_its_numbers():
    comparison = compare_three(baseline="base")
    mirrored_verdicts = {"better": "worse", "undecided": "undecided"}
    assert {difference.verdict for difference in comparison.differences} == {*mirrored_verdicts}
    for difference in comparison.differences:
        mirrored = comparison.difference(difference.measure, difference.against, difference.system)
        assert (mirrored.system, mirrored.against) == (difference.against, difference.system)
        ends = -difference.high, -difference.low
        assert (mirrored.difference, mirrored.low, mirrored.high) == (-difference.difference, *ends)
        assert mirrored.low <= mirrored.difference <= mirrored.high
        counts = difference.losses, difference.ties, difference.wins
        assert (mirrored.wins, mirrored.ties, mirrored.losses) == counts
        assert mirrored.effect == -difference.effect
        assert mirrored.verdict == mirrored_verdicts[difference.verdict]
        for field in ("p", "p_corrected", "p_equal"):
            assert getattr(mirrored, field) == getattr(difference, field)
        assert mirrored.reversed() == difference


def test_ranks_mark_the_systems_that_a_system_is_better_than():
    comparison = compare_three()
    table = comparison.to_table()
    assert table.rows[0][0] == "1 better"  # the best mean first
    ranks = {row[0].partition(" ")[2]: row[0][0] for row in table.rows}
    mark = table.rows[0][1].mark
    assert ranks["base"] in mark
    assert f"$^{{{latex_text(mark)}}}" in comparison.to_latex()


def test_a_latex_row_that_begins_with_a_bracket_or_a_star_is_protected():
    runs = {"[b]": ranked(BASE), "*c*": ranked(NOISY)}
    latex = compare_runs(qrels_for(30), runs, "MRR", baseline="[b]").to_latex()
    assert "\n{}[b]" in latex
    assert "\n{}*c*" in latex


# Real runs


@pytest.mark.parametrize("num_systems", [2, 5, 10])
def test_no_pair_is_equal_within_less_than_the_smallest_margin_of_so_many_comparisons(num_systems):
    rows = {f"s{index}": [0.5] * 49 + [0.5 + 1e-9 * index] for index in range(num_systems)}
    results = given(rows, "nDCG@10")
    least = compare(results, baseline="s0").difference("nDCG@10", "s1").smallest_margin
    assert least == smallest_margin(50, alpha=0.05 / (num_systems - 1))
    for factor, verdict in ((0.999, "undecided"), (1.001, "equivalent")):
        pairs = compare(results, baseline="s0", margin=factor * least).differences
        assert {pair.verdict for pair in pairs} == {verdict}


def few_differing(num_wins, num_losses, num_queries=30, size=1.0, **settings):
    """Return the comparison of systems whose scores differ on few queries."""
    old = [0.0] * num_wins + [size] * num_losses
    ties = [0.0] * (num_queries - num_wins - num_losses)
    rows = {"old": old + ties, "new": [size - score for score in old] + ties}
    return compare(given(rows, "Success@1"), baseline="old", **settings)


def test_where_few_queries_differ_the_loss_that_is_not_excluded_follows_the_interval():
    comparison = few_differing(1, 0)
    [pair] = comparison.differences
    assert pair.loss_not_excluded == -lower_bound([1.0] + [0.0] * 29, alpha=0.025)
    assert pair.gain_not_excluded == -lower_bound([-1.0] + [0.0] * 29, alpha=0.025)
    assert pair.gain_not_excluded > pair.high
    assert "Few queries differ, so a loss of up to 0.0951 is not excluded" in str(comparison)
    mirrored = pair.reversed()
    assert mirrored.loss_not_excluded == pair.gain_not_excluded
    assert few_differing(5, 5).differences[0].loss_not_excluded is None


def test_a_verdict_on_few_queries_says_what_it_assumes():
    [pair] = few_differing(7, 0).differences
    assert pair.verdict == "better"
    assert pair.loss_not_excluded == 0
    assert not not_excluded_text(pair)
    [pair] = few_differing(6, 0, num_queries=100, size=0.1).differences
    assert pair.verdict == "better"
    for either, name in ((pair, "loss"), (pair.reversed(), "gain")):
        text = f"unless differences are symmetric, a {name} of up to"
        assert not_excluded_text(either).startswith(text)


@pytest.mark.parametrize("interval", ["test", "t"])
@pytest.mark.parametrize(("num_wins", "size"), [(0, 1.0), (1, 1.0), (1, 1e-5), (30, 1e-6)])
def test_no_output_has_an_interval_from_0_to_0(num_wins, size, interval, tmp_path):
    comparison = few_differing(num_wins, 0, size=size, interval=interval)
    write_report(tmp_path / "r.html", comparison)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    texts = [
        *(str(comparison), comparison.to_markdown(), comparison.to_latex()),
        *(comparison.differences_table().html(), re.sub(r"<[^>]+>", " ", html.unescape(shown))),
        *(check.reason for check in check_gate(comparison, floors={"Success@1": 0.0})),
        *(check.reason for check in check_gate(comparison, non_inferior=True)),
    ]
    for text in texts:
        assert not re.search(r"[+-]?0\.0000 (to|…) [+-]?0\.0000", text)
    [row] = comparison.plot().spec["datasets"]["rows"]
    assert (row["low"] is None) == (num_wins == 0)


def test_the_level_of_a_correction_is_not_printed():
    single = few_differing(3, 0).differences[0]
    assert single.power_note == "3 queries differ: too few for significance at 0.05"
    scores = np.zeros((5, 40))
    scores[1:, :7] = 1
    results = given({f"s{index}": row for index, row in enumerate(scores.tolist())}, "Success@1")
    [pair, *_] = compare(results, baseline="s0", correction="bonferroni", alpha=0.04).differences
    assert pair.power_note == (
        "7 queries differ: too few for significance after correction for 4 comparisons"
    )
    by_t = few_differing(3, 0, test="t").differences[0]
    assert by_t.power_note == "3 queries differ: too few to estimate power"


def test_power_is_estimated_of_at_most_45_pairs_or_against_a_baseline():
    rng = np.random.default_rng(0)
    names = [f"s{number}" for number in range(11)]
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    runs = {
        name: {query: {"a": rng.normal(), "x": 0.0, "y": -0.5} for query in qrels} for name in names
    }
    note = "power is estimated for at most 45 pairs: name a baseline"
    of_pairs = compare_runs(qrels, runs, "MRR")
    undecided = [pair for pair in of_pairs.differences if pair.verdict == "undecided"]
    assert len(of_pairs.differences) == 55
    assert {(pair.detectable, pair.power_note) for pair in undecided} == {(None, note)}
    assert of_pairs.document().markdown().count(note) == 1
    others = [
        compare_runs(qrels, dict(islice(runs.items(), 10)), "MRR"),
        compare_runs(qrels, runs, "MRR", baseline="s0"),
    ]
    for comparison in others:
        assert note not in {pair.power_note for pair in comparison.differences}


def test_a_figure_of_identical_systems_has_no_layer_of_intervals():
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    run = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    other = {query: {"x": 2.0, "a": 1.0} for query in qrels}
    marks = [
        [layer["mark"]["type"] for layer in figure.spec["layer"]]
        for figure in (
            compare_runs(qrels, {"a": run, "b": second}, "MRR").plot("forest")
            for second in (run, other)
        )
    ]
    assert [kinds.count("rule") for kinds in marks] == [1, 2]  # the other is the line at 0

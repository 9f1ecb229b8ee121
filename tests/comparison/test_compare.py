"""Comparisons: what is joined, what is concluded, and what is said about it."""

import csv
import json
import math

import numpy as np
import pytest

from beir_eval import Comparison, Run, compare, compare_runs, evaluate, read_qrels, read_run
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
)
from beir_eval.significance import (
    correct,
    max_t_pairs,
    paired_t,
    sign_flip,
    sign_test,
    wilcoxon,
)


def ranked(ranks):
    """A run whose relevant document stands at this rank for each query (None: not retrieved)."""
    return Run.from_rankings(
        {
            f"q{query:02}": [f"x{place}" for place in range(1, (rank or 20))]
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


def three(**settings):
    runs = {"base": ranked(BASE), "better": ranked(BETTER), "noisy": ranked(NOISY)}
    return compare_runs(qrels_for(30), runs, ["MRR", "nDCG@10"], **settings)


def results(**runs):
    qrels = qrels_for(len(next(iter(runs.values()))))
    return {
        name: evaluate(qrels, ranked(run), ["MRR", "nDCG@10"], name=name)
        for name, run in runs.items()
    }


# What is concluded


def test_every_number_is_that_of_the_tests_it_names():
    found = three(baseline="base", draws=5_000)
    scores = {name: found.scores["MRR"].array[place] for place, name in enumerate(found.systems)}
    raw = []
    for system in ("better", "noisy"):
        one = found.difference("MRR", system)
        difference = scores[system] - scores["base"]
        assert math.isclose(one.difference, difference.mean(), abs_tol=1e-15)
        assert one.p == sign_flip(difference, draws=5_000).p
        assert one.p_t == paired_t(difference).p
        assert (one.wins, one.ties, one.losses) == (
            (difference > 0).sum(),
            (difference == 0).sum(),
            (difference < 0).sum(),
        )
        assert one.low <= one.difference <= one.high
        raw.append(one.p)
    corrected = correct(raw, "holm")
    assert [found.difference("MRR", one).p_corrected for one in ("better", "noisy")] == list(
        corrected
    )


def test_a_system_that_wins_on_every_query_is_better_and_its_opponent_worse():
    found = three(baseline="base").difference("MRR", "better")
    assert (found.verdict, found.wins, found.losses) == ("better", 30, 0)
    back = three(baseline="better").difference("MRR", "base")
    assert back.verdict == "worse"
    assert back.difference == -found.difference
    assert back.p == found.p


def test_noise_is_undecided_and_says_what_would_settle_it():
    found = three(baseline="base", margin=0.02).difference("MRR", "noisy")
    assert found.verdict == "undecided"
    assert found.detectable > 0.02
    assert found.queries_needed > 30


def test_systems_that_differ_by_less_than_the_margin_are_equal_within_it():
    nearly = [*BASE[:-1], BASE[-1] + 1]
    found = compare(results(a=BASE, b=nearly), "a", margin=0.01).difference("MRR", "b")
    assert found.verdict == "equal"
    assert found.p_equal <= 0.05
    assert 0 < abs(found.difference) < 0.01


def test_all_pairs_are_compared_where_no_baseline_is_named():
    found = three(draws=5_000)
    assert found.settings.correction == "max-t"
    assert [(one.system, one.against) for one in found.differences if one.measure == "MRR"] == [
        ("better", "base"),
        ("noisy", "base"),
        ("noisy", "better"),
    ]
    matrix = max_t_pairs(found.scores["MRR"].array, draws=5_000).p
    one = found.difference("MRR", "better", "base")
    assert one.p_corrected == max(one.p, matrix[1, 0])
    assert found.difference("MRR", "base", "better").verdict == "worse"


@pytest.mark.parametrize(
    ("test", "function"), [("t", paired_t), ("wilcoxon", wilcoxon), ("sign", sign_test)]
)
def test_another_test_is_used_on_request_and_says_what_there_is_to_say(test, function):
    found = three(baseline="base", test=test)
    array = found.scores["MRR"].array
    one = found.difference("MRR", "noisy")
    assert one.p == function(array[2] - array[0]).p
    assert one.note == function(array[2] - array[0]).note


@pytest.mark.parametrize("correction", ["bonferroni", "benjamini-hochberg", "none", "max-t"])
def test_every_correction_goes_with_a_baseline(correction):
    found = three(baseline="base", correction=correction)
    assert found.difference("MRR", "better").verdict == "better"
    assert found.difference("MRR", "noisy").verdict == "undecided"
    assert found.settings.correction == correction


def test_tukey_goes_with_all_pairs():
    found = three(correction="tukey", draws=2_000)
    assert found.difference("MRR", "better", "base").verdict == "better"
    with pytest.raises(SettingError, match="for all pairs"):
        three(correction="tukey", baseline="base")


def test_two_calls_agree_and_the_order_of_queries_does_not_matter():
    qrels = qrels_for(30)
    runs = {
        name: {
            f"q{query:02}": {f"x{place}": -place for place in range(1, rank)} | {"a": -rank}
            for query, rank in enumerate(ranks)
        }
        for name, ranks in (("base", BASE), ("better", BETTER), ("noisy", NOISY))
    }
    turned = {name: dict(reversed(run.items())) for name, run in runs.items()}
    one = compare_runs(qrels, runs, ["MRR", "nDCG@10"], baseline="base")
    assert compare_runs(qrels, runs, ["MRR", "nDCG@10"], baseline="base") == one
    qrels = dict(reversed(qrels.items()))
    assert compare_runs(qrels, turned, ["MRR", "nDCG@10"], baseline="base") == one


def test_a_single_comparison_needs_no_correction_with_a_baseline_or_without():
    given = results(a=BASE, b=NOISY)
    alone, paired = compare(given).differences[0], compare(given, "a").differences[0]
    assert alone.p_corrected == alone.p
    assert paired.p_corrected == paired.p
    assert alone.verdict == paired.verdict


def test_what_differs_by_rounding_alone_is_equal():
    qrels, run = qrels_for(12), ranked([10] * 12)
    one = evaluate(qrels, run, ["MRR"], name="one")
    assert (0.1 + 0.1 + 0.1) / 3 != 0.1
    for settings in ({}, {"baseline": "A"}, {"test": "t"}):
        found = compare({"A": one, "B": [one, one, one]}, **settings).differences[0]
        assert (found.p, found.difference, found.ties) == (1.0, 0.0, 12)
        assert found.verdict == "equal"
    noisy = [evaluate(qrels_for(30), ranked(NOISY), ["MRR", "nDCG@10"], name="n")] * 7
    found = compare({"A": noisy[0], "B": noisy}, "A")
    assert {one.p for one in found.differences} == {1.0}
    assert found.improvements("MRR") == found.regressions("MRR") == []


# What is joined


def test_different_queries_are_an_error_that_names_them_or_an_intersection():
    qrels = qrels_for(12)
    some, others = ranked(BASE[:10]), ranked(BETTER[:12])
    one = evaluate(qrels, some, "MRR", missing="skip", name="one")
    two = evaluate(qrels, others, "MRR", missing="skip", name="two")
    with pytest.raises(QueryMismatchError, match=r"two: 'q10', 'q11'.*on='intersection'"):
        compare([one, two])
    found = compare([one, two], on="intersection")
    assert len(found.query_ids) == 10
    assert found.left_out == {"two": 2}
    assert "two: 2 queries left out" in found.to_markdown()


def test_queries_are_joined_by_id_and_not_by_position():
    qrels = qrels_for(6)
    turned = dict(reversed(qrels.items()))
    one = evaluate(qrels, ranked([1, 2, 3, 4, 5, 6]), "MRR", name="one")
    two = evaluate(turned, ranked([1, 2, 3, 4, 5, 6]), "MRR", name="two")
    found = compare([one, two])
    assert found.difference("MRR", "two").ties == 6


def test_no_query_in_common_is_an_error():
    one = evaluate({"a": {"d": 1}}, {"a": {"d": 1.0}}, "MRR", name="one")
    two = evaluate({"b": {"d": 1}}, {"b": {"d": 1.0}}, "MRR", name="two")
    with pytest.raises(QueryMismatchError, match="no query in common"):
        compare([one, two], on="intersection")


def test_repeats_are_averaged_for_each_query_and_their_spread_is_shown():
    qrels = qrels_for(30)
    repeats = [evaluate(qrels, ranked(one), "MRR", name="r") for one in (BETTER, NOISY)]
    base = evaluate(qrels, ranked(BASE), "MRR", name="base")
    found = compare({"base": base, "twice": repeats}, "base")
    mean = found.mean("MRR", "twice")
    each = [one["MRR"] for one in repeats]
    assert mean.repeats == 2
    assert math.isclose(mean.mean, sum(each) / 2)
    assert math.isclose(mean.spread, float(np.std(each, ddof=1)))
    assert (mean.lowest, mean.highest) == pytest.approx((min(each), max(each)))
    assert found.scores["MRR"].array[1].tolist() == [
        (one + two) / 2
        for one, two in zip(*(result.scores("MRR").tolist() for result in repeats), strict=True)
    ]
    assert "the mean of 2 repeats" in found.to_markdown()


def test_queries_where_a_measure_is_undefined_for_a_system_are_left_out_for_it():
    runs = {
        "a": {f"q{n:02}": {"a": 1.0} for n in range(6)},
        "b": {f"q{n:02}": ({"a": 1.0} if n else {}) for n in range(6)},
    }
    found = compare_runs(qrels_for(6), runs, ["Judged@5", "MRR"])
    assert found.difference("Judged@5", "b").num_queries == 5
    assert found.difference("MRR", "b").num_queries == 6
    assert math.isnan(found.scores["Judged@5"].array[1, 0])


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (lambda r: {"a": r["a"]}, ResultError, "two systems or more"),
        (lambda _: {}, ResultError, "two systems or more"),
        (lambda r: [r["a"], r["a"]], ResultError, "different names"),
        (lambda r: {"a": r["a"], "b": []}, ResultError, "'b' must be an EvaluationResult"),
        (lambda r: {"a": r["a"], "b": {"q": {}}}, ResultError, "'b' must be"),
        (lambda r: r["a"], ResultError, "two systems or more"),
    ],
)
def test_what_is_no_two_systems_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        compare(given(results(a=BASE, b=NOISY)))


def test_results_that_were_made_differently_are_refused():
    qrels, run = qrels_for(3), ranked([1, 2, 3])
    one = evaluate(qrels, run, "MRR", name="one")
    two = evaluate(qrels, run, "MRR", name="two", ties="trec_eval9")
    with pytest.raises(ResultError, match="ties='trec_eval' and 'trec_eval9'"):
        compare([one, two])
    one = evaluate(qrels, run, "MRR", name="one", fingerprint=True)
    two = evaluate(qrels_for(4), run, "MRR", name="two", fingerprint=True)
    with pytest.raises(ResultError, match="different qrels"):
        compare([one, two], on="intersection")


def test_measures_are_those_all_have_and_that_are_means():
    qrels, run = qrels_for(3), ranked([1, 2, 3])
    one = evaluate(qrels, run, ["MRR", "num_ret", "MAP"], name="one")
    two = evaluate(qrels, run, ["num_ret", "MRR"], name="two")
    assert compare([one, two]).measures == ("MRR",)
    with pytest.raises(NotEvaluatedError, match="MAP was not evaluated for 'two'"):
        compare([one, two], measures="MAP")
    with pytest.raises(MeasureError, match="no mean over queries"):
        compare([one, two], measures="num_ret")
    with pytest.raises(MeasureError, match="no mean over queries"):
        compare_runs(qrels, {"a": run, "b": run}, ["num_ret", "MRR"])
    with pytest.raises(MeasureError, match="how much is unjudged, not how good"):
        compare_runs(qrels, {"a": run, "b": run}, "Hole@10")
    three = evaluate(qrels, run, ["Hole@10", "MRR"], name="three")
    assert compare([three, one]).measures == ("MRR",)
    with pytest.raises(MeasureError, match="no measure in common"):
        compare([one.model_copy(), evaluate(qrels, run, ["num_ret"], name="two")])


# Odd cases


def test_one_query_is_an_error():
    with pytest.raises(InputError, match="1 query on which all systems have a score"):
        compare_runs(qrels_for(1), {"a": ranked([1]), "b": ranked([2])}, "MRR")


def test_a_system_and_its_copy_are_equal_given_five_queries():
    found = compare(results(a=BASE, b=BASE), "a").difference("MRR", "b")
    assert (found.difference, found.p, found.p_t, found.verdict) == (0.0, 1.0, 1.0, "equal")
    assert (found.effect, found.detectable, found.ties) == (0.0, 0.0, 30)
    few = compare(results(a=BASE[:3], b=BASE[:3]), "a").difference("MRR", "b")
    assert few.verdict == "undecided"


def test_a_constant_difference_has_no_variance_and_a_right_answer():
    found = compare(results(a=[2] * 8, b=[1] * 8), "a").difference("MRR", "b")
    assert found.difference == 0.5
    assert found.low == found.high == 0.5
    assert found.effect is None
    assert found.p == found.p_t == 2 / 2**8
    assert found.verdict == "better"


def test_a_thousand_systems_are_compared_with_a_baseline_and_not_in_pairs():
    qrels = qrels_for(10)
    rng = np.random.default_rng(1)
    named = {
        f"s{number:03}": evaluate(
            qrels, ranked(rng.integers(1, 9, 10).tolist()), "MRR", name=f"s{number:03}"
        )
        for number in range(1000)
    }
    found = compare(named, "s000", draws=2_000)
    assert len(found.differences) == 999
    with pytest.raises(SettingError, match=r"1000 systems are 499500 pairs; name a baseline"):
        compare(named)


def test_a_margin_that_would_take_countless_queries_says_so():
    found = compare(results(a=BASE, b=NOISY), margin=1e-12)
    assert found.difference("MRR", "b").queries_needed is None
    assert "more than 10^15" in found.to_markdown()


def test_runs_must_have_names():
    with pytest.raises(ResultError, match=r"\{name: run\}, not list"):
        compare_runs(qrels_for(3), [ranked([1, 2, 3])] * 2)


def test_what_repeats_lack_is_counted_over_all_of_them():
    qrels = qrels_for(6)
    base = evaluate(qrels, ranked([1] * 6), "MRR", name="a")
    runs = [{f"q{n:02}": {"a": 1.0} for n in range(6) if n not in gone} for gone in ((0, 1), (5,))]
    repeats = [evaluate(qrels, run, "MRR", missing="skip") for run in runs]
    base = evaluate(qrels, ranked([1] * 6), "MRR", missing="skip", name="a")
    found = compare({"a": base, "b": repeats}, on="intersection")
    assert len(found.query_ids) == 3
    assert found.left_out == {"a": 3, "b": 3}


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"draws": 10.5}, SettingError),
        ({"baseline": "nobody"}, SettingError),
        ({"test": "magic"}, SettingError),
        ({"correction": "magic"}, SettingError),
        ({"alpha": 0}, SettingError),
        ({"alpha": 0.6}, SettingError),
        ({"margin": 0}, SettingError),
        ({"on": "union"}, SettingError),
        ({"draws": 0}, SettingError),
        ({"rng": None}, SettingError),
        ({"test": "t", "correction": "max-t"}, SettingError),
    ],
)
def test_a_setting_that_does_not_exist_is_refused(settings, error):
    with pytest.raises(error):
        compare(results(a=BASE, b=NOISY), **settings)


# What is asked of it


def test_the_queries_that_lost_and_gained_most_come_first():
    found = three(baseline="base")
    worst = found.regressions("MRR", 3, system="noisy")
    assert len(worst) == 3
    assert [one.difference for one in worst] == sorted(one.difference for one in worst)
    assert worst[0].difference < 0
    one = worst[0]
    scores = found.per_query("MRR")[one.query_id]
    assert (one.score, one.against) == (scores["noisy"], scores["base"])
    best = found.improvements("MRR", 100, system="noisy")
    assert best[0].difference == max(item.difference for item in best)
    assert found.regressions("MRR", system="better") == []
    assert len(found.improvements("MRR", 100, system="better")) == 30


def test_the_other_one_of_two_systems_need_not_be_named():
    found = compare(results(a=BASE, b=BETTER))
    assert found.improvements("MRR", 1)[0].difference > 0
    assert found.difference("MRR", "b").against == "a"
    with pytest.raises(SettingError, match="name the system"):
        three(baseline="base").regressions("MRR")
    with pytest.raises(SettingError, match="name what 'noisy' is compared with"):
        three().difference("MRR", "noisy")


def test_what_was_not_compared_is_named():
    found = three(baseline="base")
    with pytest.raises(NotEvaluatedError, match="MAP was not compared"):
        found.difference("MAP", "better")
    with pytest.raises(NotEvaluatedError, match="no system 'nobody'"):
        found.mean("MRR", "nobody")
    with pytest.raises(NotEvaluatedError, match="'better' was not compared with 'noisy'"):
        found.difference("MRR", "better", "noisy")


# Other shapes


def test_it_survives_the_way_through_a_file(tmp_path):
    found = three(baseline="base")
    found.save(tmp_path / "found.json.gz")
    assert Comparison.load(tmp_path / "found.json.gz") == found
    constant = compare(results(a=[2] * 8, b=[1] * 8), "a")
    constant.save(tmp_path / "constant.json")
    assert Comparison.load(tmp_path / "constant.json") == constant
    for content, problem in {
        "[]": "a saved comparison of layout 1 was expected, found a list",
        "{}": "found schema_version None",
        "nonsense": "not a saved comparison",
        json.dumps({"schema_version": 9}): "found schema_version 9",
        json.dumps({"schema_version": 1}): "not a saved comparison",
    }.items():
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(ResultError, match=problem):
            Comparison.load(tmp_path / "bad.json")


def test_tables_show_means_marks_and_evidence():
    found = three(baseline="base")
    markdown = found.to_markdown()
    mean = found.mean("MRR", "better").mean
    assert f"{mean:.4f} ▲" in markdown
    assert "base (baseline)" in markdown
    assert "MRR: better is better than base, by +" in markdown
    assert "cannot be told apart" in markdown
    latex = found.to_latex()
    assert rf"\textbf{{{mean:.4f}}}$^{{\uparrow}}$" in latex
    assert latex.count(r"\\") == 4
    assert "<table>" in found._repr_html_()


def test_a_difference_from_the_other_side_is_the_mirror_image():
    found = three(baseline="base")
    for one in found.differences:
        other = found.difference(one.measure, one.against, one.system)
        assert (other.system, other.against) == (one.against, one.system)
        assert (other.difference, other.low, other.high) == (-one.difference, -one.high, -one.low)
        assert other.low <= other.difference <= other.high
        assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
        assert other.effect in (None, -(one.effect or 0))
        assert {one.verdict, other.verdict} in (*({"better", "worse"}, {"equal"}, {"undecided"}),)
        assert (other.p, other.p_corrected, other.p_equal) == (one.p, one.p_corrected, one.p_equal)
        assert other.reversed() == one


def test_letters_name_the_systems_that_one_is_better_than():
    found = three()
    [row] = [row for row in found.to_table().rows if row[0] == "b better"]
    assert row[1].mark in ("a", "ac")
    assert "$^{a" in found.to_latex()


def test_a_row_of_latex_never_begins_with_what_its_line_end_would_take():
    runs = {"[b]": ranked(BASE), "*c*": ranked(NOISY)}
    latex = compare_runs(qrels_for(30), runs, "MRR", baseline="[b]").to_latex()
    assert "\n{}[b]" in latex
    assert "\n{}*c*" in latex


def test_it_prints_as_its_size():
    assert repr(three()) == str(three()) == "Comparison(3 systems, 2 measures, 30 queries)"
    assert three().differences_table().header[0] == "measure"


def test_csv_holds_every_difference_with_all_its_fields():
    found = three(baseline="base")
    rows = list(csv.DictReader(found.to_csv().splitlines()))
    assert len(rows) == 4
    assert float(rows[0]["p"]) == found.differences[0].p
    assert {row["verdict"] for row in rows} <= {"better", "worse", "equal", "undecided"}


def test_names_from_outside_cannot_break_a_table():
    name = "a|b <img src=x onerror=alert(1)> & 100%_$"
    runs = {"base": ranked(BASE), name: ranked(BETTER)}
    found = compare_runs(qrels_for(30), runs, "MRR", baseline="base")
    assert "<img" not in found.to_markdown()
    assert "<img" not in found._repr_html_()
    assert r"\& 100\%\_\$" in found.to_latex()


# Real runs


def test_five_repeats_of_one_re_ranker_are_not_told_apart(realdata):
    folder = realdata / "runs" / "dl19"
    runs = {f"repeat{n}": read_run(folder / f"bm25+gpt35-repeat{n}.trec") for n in range(1, 6)}
    qrels = read_qrels(realdata / "qrels" / "dl19-passage.trec")
    found = compare_runs(qrels, runs, ["nDCG@10", "MAP@100"], duplicates="first")
    assert {one.verdict for one in found.differences} <= {"undecided", "equal"}


def test_dense_and_sparse_retrieval_are_better_than_bm25(realdata):
    folder = realdata / "runs" / "dl19"
    runs = {name: read_run(folder / f"{name}.trec") for name in ("bm25", "ada2", "splade-pp")}
    qrels = read_qrels(realdata / "qrels" / "dl19-passage.trec")
    found = compare_runs(qrels, runs, "nDCG@10", baseline="bm25")
    assert found.difference("nDCG@10", "ada2").verdict == "better"
    assert found.difference("nDCG@10", "splade-pp").verdict == "better"

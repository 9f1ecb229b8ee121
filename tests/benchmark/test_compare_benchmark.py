"""Several data sets: averages that pool no queries, their intervals, ranks, tests and groups."""

import itertools
import math

import numpy as np
import pytest

from beir_eval import compare
from beir_eval.benchmark import AcrossDatasets, BenchmarkResult, compare_benchmark
from beir_eval.benchmark.dataset_scores import groups_without_difference
from beir_eval.comparison.differences import Pair
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
    UnknownMeasureError,
)
from beir_eval.significance import sign_flip
from beir_eval.significance.corrections import holm
from beir_eval.significance.repeats import crossed_tests
from beir_eval.significance.stratified import balanced
from families import max_t, max_t_of_pairs
from made_results import MEASURE, made

SIZES = {"one": 12, "two": 30, "three": 7, "four": 20, "five": 9}


def random_scores(seed=0, systems=3, sizes=SIZES, gap=0.05):
    """Return {data set: f8[S, Q]}: each system is better than the previous by about ``gap``."""
    rng = np.random.default_rng(seed)
    return {
        name: np.clip(
            rng.random((1, size)) * 0.6
            + rng.normal(0, 0.1, (systems, size))
            + gap * np.arange(systems)[:, None],
            0,
            1,
        )
        for name, size in sizes.items()
    }


def results_of(scores):
    systems = len(next(iter(scores.values())))
    return {
        f"s{row}": {name: made(array[row], f"s{row}") for name, array in scores.items()}
        for row in range(systems)
    }


def plain_average(scores, row):
    return sum(sum(array[row]) / len(array[row]) for array in scores.values()) / len(scores)


# The average


def test_every_average_and_difference_equals_the_plain_definition():
    scores = random_scores()
    comparison = compare_benchmark(results_of(scores))
    for row in range(3):
        assert math.isclose(comparison.average(f"s{row}").average, plain_average(scores, row))
    difference = comparison.difference("s2", "s0")
    assert math.isclose(difference.difference, plain_average(scores, 2) - plain_average(scores, 0))
    assert comparison.systems == ("s2", "s1", "s0")
    means = {dataset.name: dataset.means for dataset in comparison.datasets}
    assert math.isclose(means["two"]["s1"], float(scores["two"][1].mean()))
    assert {dataset.name: dataset.num_queries for dataset in comparison.datasets} == SIZES


def test_the_forums_of_cqadupstack_count_as_one_data_set():
    rows = {"cqadupstack/android": 1.0, "cqadupstack/gis": 0.5, "scifact": 0.25}
    scores = {name: np.array([[value] * 4, [0.0] * 4]) for name, value in rows.items()}
    comparison = compare_benchmark(results_of(scores), baseline="s1")
    assert comparison.average("s0").average == ((1.0 + 0.5) / 2 + 0.25) / 2
    assert [(dataset.name, dataset.num_queries) for dataset in comparison.datasets] == [
        ("cqadupstack", 8),
        ("scifact", 4),
    ]
    assert comparison.difference("s0").better == 2
    [note] = [note for note in comparison.notes() if note.startswith("cqadupstack: ")]
    for words in ("mean of 2 parts", "one data set"):
        assert words in note


@pytest.mark.parametrize(
    ("hierarchical", "sample"), [(False, "queries of these data sets"), (True, "data sets")]
)
def test_a_printed_comparison_has_verdicts_averages_and_which_chance_is_in_p(hierarchical, sample):
    comparison = compare_benchmark(results_of(random_scores()), hierarchical=hierarchical)
    text = str(comparison)
    assert text.startswith(comparison.headline().text)
    assert comparison.to_table().markdown() in comparison.to_markdown()
    sentence = f"p accounts for the sampling of {sample}, not for noise of training or repeats"
    assert any(note.startswith(sentence) for note in comparison.notes())


def test_a_verdict_on_a_fixed_list_of_data_sets_is_about_these_data_sets():
    sizes = {f"d{number}": 9 for number in range(5)}
    fixed, sampled = (
        compare_benchmark(
            results_of(random_scores(sizes=sizes)), baseline="s0", hierarchical=hierarchical
        )
        for hierarchical in (False, True)
    )
    single = compare_benchmark(results_of(random_scores(sizes={"d0": 9})), baseline="s0")
    assert "This holds for these data sets." in str(fixed)
    assert "This is about other data sets like these." in str(sampled)
    assert "these data sets" not in str(single)


def test_the_screen_of_a_pair_has_a_row_for_each_data_set_and_says_on_how_many_it_is_shown():
    scores = {name: np.array([[0.9] * 20, [0.5] * 20]) for name in ("one", "two", "three")}
    scores["three"][0] = 0.5
    comparison = compare_benchmark(results_of(scores), baseline="s1")
    first, *_ = str(comparison).splitlines()
    assert first == "nDCG@10, 3 data sets: s0 is better than s1 on average, and on 2 of 3"
    rows = [line.split() for line in str(comparison).splitlines()]
    assert ["one", "20", "0.5000", "0.9000", "+0.4000", "≤0.0001", "better"] in rows
    assert ["three", "20", "0.5000", "0.5000", "0.0000", "1.0000", "identical"] in rows
    assert ["average", "0.5000", "0.7667", "+0.2667"] in [row[:4] for row in rows]
    scores["three"] = np.array([[0.5] * 20, [0.55] * 20])
    against = compare_benchmark(results_of(scores), baseline="s1").headline().text
    assert against.endswith("s0 is better than s1 on average, and on 2 of 3; worse on 1 of 3")
    row, baseline = comparison.document(by_system=True).tables[0].rows
    assert [*map(str, row[:5])] == ["s0", "0.9000 ▲", "0.9000 ▲", "0.5000 =", "0.7667"]
    assert str(baseline[-1]) == "baseline"


# Sign flips within the data sets


def test_several_pairs_are_corrected_by_max_t():
    scores = random_scores(gap=0.03)
    rows = balanced(list(scores.values()))
    with_baseline = compare_benchmark(results_of(scores), baseline="s0", draws=5_000)
    p = [sign_flip(rows[row] - rows[0], draws=5_000).p for row in (1, 2)]
    # The random signs are those of query ids here, of positions in sign_flip.
    assert [difference.p for difference in with_baseline.differences] == pytest.approx(p, abs=0.04)
    expected = max_t([rows[row] - rows[0] for row in (1, 2)], draws=5_000).p
    assert [pair.p_corrected for pair in with_baseline.differences] == pytest.approx(
        expected, abs=0.04
    )
    pairs = compare_benchmark(results_of(scores), draws=5_000)
    expected = max_t_of_pairs(rows, draws=5_000)
    assert pairs.difference("s2", "s0").p_corrected == pytest.approx(expected[2, 0], abs=0.04)


@pytest.mark.parametrize("hierarchical", [False, True])
def test_a_verdict_on_the_average_agrees_with_its_interval(hierarchical):
    verdicts = set()
    for seed, gap in itertools.product(range(2), (0.0, 0.02, 0.1, 0.3)):
        rng = np.random.default_rng(seed)
        scores = {
            f"d{number}": rng.random((1, size))
            + rng.normal(0, 0.2, (3, size))
            + gap * np.arange(3)[:, None]
            for number, size in enumerate((8, 15, 30, 5, 12, 9, 20))
        }
        result = compare_benchmark(
            results_of(scores), hierarchical=hierarchical, draws=2_000, rng=seed
        )
        for pair in result.differences:
            excludes_0 = pair.low > 0 or pair.high < 0
            assert excludes_0 == (pair.verdict in ("better", "worse"))
            assert pair.low <= pair.difference <= pair.high
            verdicts.add(pair.verdict)
    assert verdicts >= {"better", "undecided"}


def test_with_five_data_sets_nothing_is_shown_about_other_data_sets():
    scores = {f"d{number}": np.array([[0.1] * 9, [0.9] * 9]) for number in range(5)}
    [pair] = compare_benchmark(results_of(scores), baseline="s0", hierarchical=True).differences
    assert (pair.p, pair.verdict) == (2 / 2**5, "undecided")
    assert (pair.low, pair.high) == (-math.inf, math.inf)


# Intervals


def test_with_a_single_data_set_the_numbers_equal_those_of_compare():
    results = results_of({"only": random_scores()["two"]})
    comparison = compare_benchmark(results)
    single = compare({system: by_dataset["only"] for system, by_dataset in results.items()})
    for difference in comparison.differences:
        expected = single.difference(MEASURE, difference.system, difference.against)
        # The random signs depend on the data set too.
        assert difference.p == pytest.approx(expected.p, abs=0.01)
        assert difference.p_corrected == pytest.approx(expected.p_corrected, abs=0.01)
        assert (difference.low, difference.high) == pytest.approx(
            (expected.low, expected.high), abs=0.002
        )
    assert any(note.startswith("1 data set, 30 queries") for note in comparison.notes())


# Ranks


def test_a_copy_of_a_system_shares_its_rank_and_the_verdict_is_identical():
    scores = {name: array[[0, 1, 1]] for name, array in random_scores(gap=0.2).items()}
    comparison = compare_benchmark(results_of(scores))
    assert [average.rank for average in comparison.averages] == [1, 1, 3]
    assert comparison.average("s1").first == comparison.average("s2").first == 1
    pair = comparison.difference("s2", "s1")
    assert (pair.difference, pair.p, pair.verdict) == (0, 1, "identical")
    assert pair.better == pair.worse == 0
    assert {pair.verdict for pair in comparison.by_dataset if pair.against == "s1"} == {"identical"}
    alone = compare_benchmark({name: results_of(scores)[name] for name in ("s1", "s2")})
    assert str(alone).startswith(
        f"{MEASURE}, 5 data sets: s2 and s1 score the same on every query\n"
    )
    assert comparison.groups == (("s1", "s2"), ("s0",))
    assert [average.groups for average in comparison.averages] == ["a", "a", "b"]


def test_the_rank_interval_includes_the_rank_and_lies_within_the_number_of_systems():
    comparison = compare_benchmark(results_of(random_scores(systems=6, gap=0.01)))
    for average in comparison.averages:
        assert 1 <= average.rank_low <= average.rank <= average.rank_high <= 6
    assert sum(average.first for average in comparison.averages) == pytest.approx(1)


# Groups


@pytest.mark.parametrize(
    ("differ", "groups"),
    [
        ([], [[3, 2, 1, 0]]),
        ([(3, 0)], [[3, 2, 1], [2, 1, 0]]),
        ([(3, 2), (3, 1), (3, 0)], [[3], [2, 1, 0]]),
        ([(3, 2), (2, 1), (1, 0)], [[3], [2], [1], [0]]),
        ([(2, 1)], [[3, 2], [1, 0]]),
        (list(itertools.combinations(range(4), 2)), [[3], [2], [1], [0]]),
    ],
)
def test_groups_are_the_longest_sequences_without_a_significant_difference(differ, groups):
    pairs = [Pair(system, against) for system in range(4) for against in range(system)]
    different = {frozenset(pair) for pair in differ}
    is_significant = np.array([{pair.system, pair.against} in different for pair in pairs])
    assert groups_without_difference([3, 2, 1, 0], pairs, is_significant) == groups


def test_with_a_baseline_there_are_no_groups():
    comparison = compare_benchmark(results_of(random_scores()), baseline="s0")
    assert comparison.groups == ()
    assert {average.groups for average in comparison.averages} == {""}


# Results of each data set


def test_wins_are_counted_by_data_set_and_significant_ones_corrected_over_all():
    scores = random_scores(gap=0.0)
    scores["two"][1] = scores["two"][0] + 0.2
    scores["one"][1] = scores["one"][0] - 0.2
    scores["three"][1] = scores["three"][0]
    scores["four"][1] = scores["four"][0] + np.tile([0.11, -0.09], 10)
    scores["five"][1] = scores["five"][0] - 0.1
    results = results_of({name: array[:2] for name, array in scores.items()})
    comparison = compare_benchmark(results, baseline="s0")
    difference = comparison.difference("s1")
    assert (difference.better, difference.worse) == (2, 2)
    p = [sign_flip(scores[name][1] - scores[name][0]).p for name in SIZES]
    corrected = holm(p).tolist()
    assert [difference.p_corrected for difference in comparison.by_dataset] == pytest.approx(
        corrected
    )
    assert (difference.significantly_better, difference.significantly_worse) == (1, 2)
    mirrored = compare_benchmark(results, baseline="s1").difference("s0")
    assert (mirrored.better, mirrored.worse, mirrored.significantly_better) == (2, 2, 2)
    assert comparison.difference("s0", "s1").significantly_better == 2


# Data sets, queries and repeats that are compared


def test_a_data_set_that_a_system_lacks_is_named_or_left_out():
    results = results_of(random_scores())
    del results["s1"]["two"], results["s1"]["five"]
    with pytest.raises(ResultError, match=r"s1: 'two', 'five'.*on='intersection'"):
        compare_benchmark(results)
    comparison = compare_benchmark(results, on="intersection")
    assert [dataset.name for dataset in comparison.datasets] == ["one", "three", "four"]
    assert comparison.left_out == {"two": ("s1",), "five": ("s1",)}
    assert "two is not part of these averages: no result of s1" in str(comparison)
    with pytest.raises(ResultError, match="no data set that all of"):
        compare_benchmark({"a": {"x": results["s0"]["one"]}, "b": {}}, on="intersection")


def test_different_queries_are_named_with_their_data_set_or_left_out():
    results = results_of(random_scores())
    results["s1"]["two"] = made(np.zeros(28), "s1")
    with pytest.raises(QueryMismatchError, match=r"^two: .*'q0028'"):
        compare_benchmark(results)
    comparison = compare_benchmark(results, on="intersection")
    assert comparison.queries_left_out == {"two": 2}
    assert "two: 2 queries left out" in comparison.to_markdown()


def test_a_query_without_a_score_is_left_out_for_all_systems():
    scores = random_scores()
    scores["one"][1, 3] = math.nan
    comparison = compare_benchmark(results_of(scores))
    defined = np.delete(scores["one"], 3, axis=1)
    assert comparison.datasets[0].means["s0"] == pytest.approx(float(defined[0].mean()))
    assert comparison.queries_left_out == {"one": 1}
    scores["three"][1, 1:] = math.nan
    with pytest.raises(InputError, match=r"^three: nDCG@10: 1 query"):
        compare_benchmark(results_of(scores))


def test_a_benchmark_result_gives_the_same_comparison_as_its_results():
    results = results_of(random_scores())
    infos, splits = dict.fromkeys(SIZES), dict.fromkeys(SIZES, "test")
    benchmark = BenchmarkResult(results, {}, infos, splits)
    assert compare_benchmark(benchmark, baseline="s0") == compare_benchmark(results, baseline="s0")


@pytest.mark.parametrize(
    ("select", "settings", "error", "message"),
    [
        (lambda r: {"s0": r["s0"]}, {}, ResultError, "two systems or more"),
        (lambda r: {"s0": r["s0"]["one"]}, {}, ResultError, "BenchmarkResult or"),
        (lambda _: 3, {}, ResultError, "not int"),
        (lambda r: r, {"baseline": "nobody"}, SettingError, "no system 'nobody'"),
        (lambda r: r, {"measure": "nDGC@10"}, UnknownMeasureError, "nDGC"),
        (lambda r: r, {"measure": "MAP"}, NotEvaluatedError, "one: MAP was not evaluated"),
        (lambda r: r, {"measure": "num_ret"}, MeasureError, "no mean over queries"),
    ],
)
def test_invalid_results_and_settings_are_refused(select, settings, error, message):
    with pytest.raises(error, match=message):
        compare_benchmark(select(results_of(random_scores())), **settings)


def test_a_pair_or_system_that_was_not_compared_is_named_in_the_error():
    comparison = compare_benchmark(results_of(random_scores()), baseline="s0")
    with pytest.raises(NotEvaluatedError, match="'s1' was not compared with 's2'"):
        comparison.difference("s1", "s2")
    with pytest.raises(NotEvaluatedError, match="no system 'nobody'"):
        comparison.average("nobody")


def test_draws_are_refused_if_no_data_set_could_be_significant():
    rng = np.random.default_rng(0)
    scores = {name: rng.random((2, 40)) for name in ("one", "two")}
    with pytest.raises(SettingError, match="39 draws or more"):
        compare_benchmark(results_of(scores), draws=19)


def test_the_latex_table_states_queries_tests_and_corrections_and_its_marks_are_the_verdicts():
    results = results_of(random_scores(gap=0.2))
    comparison = compare_benchmark(results, baseline="s0")
    latex = comparison.to_latex()
    [caption] = [line for line in latex.splitlines() if line.startswith(r"\caption{")]
    for words in (
        "nDCG@10 on one (12 queries), two (30 queries), three (7 queries)",
        "two-sided sign flips of queries, Holm over 10 comparisons",
        "averages: flips within each data set, max-T over 2 comparisons; level 0.05",
        r"\ensuremath{\uparrow} better, \ensuremath{\downarrow} worse than s0",
    ):
        assert words in caption
    for system in ("s1", "s2"):
        [row] = [line for line in latex.splitlines() if line.startswith(f"{system} & ")]
        pairs = [pair for pair in comparison.by_dataset if pair.system == system]
        verdicts = [pair.verdict for pair in [*pairs, comparison.difference(system)]]
        assert [r"\uparrow" in cell for cell in row.split("&")[1:]] == [
            verdict == "better" for verdict in verdicts
        ]
    percent = comparison.to_latex(percent=True, digits=1)
    assert f"{100 * comparison.average('s2').average:.1f}" in percent
    assert "Measures from 0 to 1 are in percent." in percent
    assert "share a letter" in compare_benchmark(results).to_latex()


def test_a_system_that_lacks_a_data_set_has_gaps_and_no_average_beside_a_baseline():
    results = results_of(random_scores(gap=0.2))
    partial = {name: result for name, result in results["s2"].items() if name not in ("one", "two")}
    with_gaps = compare_benchmark(results | {"s2": partial}, baseline="s0")
    complete = compare_benchmark({name: results[name] for name in ("s0", "s1")}, baseline="s0")
    assert with_gaps.gaps == {"s2": ("one", "two")}
    assert with_gaps.averages == complete.averages
    assert with_gaps.differences == complete.differences
    of_partial = [pair for pair in with_gaps.by_dataset if pair.system == "s2"]
    assert [pair.dataset for pair in of_partial] == ["three", "four", "five"]
    whole = compare_benchmark(results, baseline="s0").by_dataset
    p_of = {(pair.dataset, pair.system): pair.p for pair in whole}
    assert all(pair.p == p_of[pair.dataset, "s2"] for pair in of_partial)
    p = np.array([pair.p for pair in with_gaps.by_dataset])
    assert [pair.p_corrected for pair in with_gaps.by_dataset] == holm(p).tolist()
    [row] = [row for row in with_gaps.document(by_system=True).tables[0].rows if row[0] == "s2"]
    assert [str(cell) for cell in row[1:3]] == ["\u2013", "\u2013"]
    assert str(row[6]) == "\u2013"
    assert "no result on one, two, so no average: s2." in str(with_gaps)
    latex = with_gaps.to_latex()
    assert "Holm over 8 comparisons; averages: flips within each data set;" in latex
    assert [line for line in latex.splitlines() if line.startswith("s2 & -- & -- & ")]


def test_gaps_need_a_baseline_with_all_data_sets_and_another_such_system():
    results = results_of(random_scores())
    gap = {name: result for name, result in results["s0"].items() if name != "one"}
    for baseline in (None, "s0"):
        with pytest.raises(ResultError, match="not every system has every data set"):
            compare_benchmark(results | {"s0": gap}, baseline=baseline)
    pair = {"s0": results["s0"], "s1": gap}
    with pytest.raises(ResultError, match="not every system has every data set"):
        compare_benchmark(pair, baseline="s0")


def test_of_several_systems_only_the_best_on_other_queries_is_a_row():
    scores = random_scores(gap=0.2)
    results, on_dev = results_of(scores), {}
    for name, row in {"s0": 0, "s1": 2, "s2": 1}.items():  # s1 is the best on dev
        on_dev[name] = {"other": made(scores["two"][row], name, prefix="dev")}
    chosen = compare_benchmark(results, baseline="s0", choose={"tuned": ["s1", "s2"]}, dev=on_dev)
    fixed = compare_benchmark({"s0": results["s0"], "tuned": results["s1"]}, baseline="s0")
    assert chosen.differences == fixed.differences
    assert chosen.by_dataset == fixed.by_dataset
    [row] = chosen.chosen.values()
    assert (row.system, row.of, row.datasets) == ("s1", 2, ("other",))
    sentence = "tuned: the best of 2 on other, s1."
    assert sentence in str(chosen)
    assert sentence in chosen.to_latex()


SETS = {"one": 40, "two": 90}


def repeated(seed_sd, num_repeats=3, gain=0.03, rng=0, sizes=SETS):
    """Return a baseline with one result, and a system with repeats of which each has its effect."""
    rng = np.random.default_rng(rng)
    results = {"base": {}, "noisy": {}}
    effects = rng.normal(0, seed_sd, num_repeats)
    for name, size in sizes.items():
        base = rng.uniform(0.3, 0.6, size)
        own = base + gain + rng.normal(0, 0.05, size)
        results["base"][name] = made(base, "base", prefix=name)
        results["noisy"][name] = [
            made(own + effect + rng.normal(0, 0.02, size), "noisy", prefix=name)
            for effect in effects - effects.mean()
        ]
    return results


@pytest.mark.parametrize("has_two", [False, True])
def test_p_of_a_data_set_with_repeats_is_that_of_compare(has_two):
    results = repeated(0.02)
    if has_two:
        results["base"] = {
            name: [of_set, of_set.model_copy(update={"values": of_set.values})]
            for name, of_set in results["base"].items()
        }
    across = compare_benchmark(results, baseline="base")
    for pair in across.by_dataset:
        expected = compare(
            {system: of_system[pair.dataset] for system, of_system in results.items()},
            "nDCG@10",
            baseline="base",
            repeats="random",
            correction="holm",
            deterministic=() if has_two else ("base",),
        ).differences[0]
        assert (pair.p, pair.difference) == (expected.p, pytest.approx(expected.difference))
        assert pair.p > expected.p_queries


def test_repeats_that_differ_much_make_a_difference_undecided_and_are_shown():
    quiet, loud = (compare_benchmark(repeated(sd), baseline="base") for sd in (0.0, 0.05))
    assert (quiet.difference("noisy").verdict, quiet.by_dataset[0].verdict) == ("better", "better")
    pair = loud.difference("noisy")
    assert (pair.verdict, {of_set.verdict for of_set in loud.by_dataset}) == (
        "undecided",
        {"undecided"},
    )
    assert pair.low < 0 < pair.difference == pytest.approx(quiet.difference("noisy").difference)
    means = [*loud.repeats["noisy"].values()]
    assert list(loud.repeats["noisy"]) == ["one", "two"]
    [row] = [row for row in loud.document().tables[0].rows if row[0] == "noisy"]
    for cell, repeats in zip(row[1:4], [*means, np.mean(means, axis=0)], strict=True):
        assert str(cell) == f"{np.mean(repeats):.4f} ± {np.std(repeats, ddof=1):.4f}"
    words = "repeats (3 of noisy); where it stands, the test is over queries and repeats, elsewhere"
    assert words in str(loud)
    assert words in loud.to_latex()
    assert AcrossDatasets.model_validate_json(loud.model_dump_json()) == loud


def test_p_of_the_average_is_over_queries_and_repeats_of_all_data_sets():
    results = repeated(0.02)
    pair = compare_benchmark(results, baseline="base").difference("noisy")
    rows = {
        system: balanced(
            [
                [result.scores("nDCG@10") for result in (of if isinstance(of, list) else [of])]
                for of in by_dataset.values()
            ]
        )
        for system, by_dataset in results.items()
    }
    weights = balanced([np.ones((1, size)) for size in SETS.values()])[0]
    crossed = crossed_tests(
        [rows["noisy"], rows["base"]], [(0, 1)], deterministic=[1], weights=weights
    )
    [[low], [high]] = crossed.intervals(np.array([0.05]))
    assert pair.p == pytest.approx(crossed.p()[0])
    assert (pair.low, pair.high) == pytest.approx((low, high))


def test_another_number_of_repeats_on_a_data_set_leaves_the_average_over_queries():
    results = repeated(0.05)
    results["noisy"]["two"] = results["noisy"]["two"][:2]
    across = compare_benchmark(results, baseline="base")
    assert across.difference("noisy").verdict == "better"
    assert [len(means) for means in across.repeats["noisy"].values()] == [3, 2]
    [row] = [row for row in across.document().tables[0].rows if row[0] == "noisy"]
    assert ["±" in str(cell) for cell in row[1:4]] == [True, True, False]
    assert "(2/3 of noisy)" in str(across)
    assert "repeats" not in compare_benchmark(results_of(random_scores())).model_dump()


def test_queries_of_repeats_are_seen_too():
    results = results_of(random_scores())
    repeats = {s: {n: [r, r] for n, r in sets.items()} for s, sets in results.items()}
    with pytest.raises(InputError, match="choose and are compared"):
        compare_benchmark(repeats, baseline="s0", choose={"x": ["s1", "s2"]}, dev=results)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"choose": {"x": ["s1", "s2"]}}, SettingError, "choose= and dev= belong together"),
        ({"choose": {"s1": ["s1", "s2"], "x": ["s1", "s0"]}, "dev": "other"}, SettingError, "'s1'"),
        ({"choose": {"x": "s1"}, "dev": "same"}, SettingError, "choose must be {name of a row"),
        ({"choose": ["s1", "s2"], "dev": "other"}, SettingError, "choose must be {name of a row"),
        ({"dev": {}}, SettingError, "choose= and dev= belong together"),
        ({"choose": {"x": ["s1", "z"]}, "dev": "same"}, SettingError, "is chosen from 'z'"),
        ({"choose": {"s0": ["s1", "s2"]}, "dev": "same"}, SettingError, "name of another system"),
        ({"choose": {"x": ["s1", "s2"]}, "dev": "same"}, InputError, "choose and are comp"),
        ({"choose": {"x": ["s1", "s2"]}, "dev": "copy"}, InputError, "78 queries choose and are"),
        ({"choose": {"x": ["s1", "s0"]}, "dev": "other"}, SettingError, "'s0': .* or the baseline"),
        ({"choose": {"x": ["s1", "s2"]}, "dev": "gap"}, ResultError, "^dev of x: .* s2: 'more'"),
        ({"choose": {"x": []}, "dev": "other"}, SettingError, "choose must be {name of a row"),
    ],
)
def test_a_row_is_chosen_on_other_queries_only(settings, error, message):
    results = results_of(random_scores())
    others = {name: {"other": made([0.5] * 9, name, prefix="dev")} for name in results}
    copies = {name: {f"{x}-2": y for x, y in sets.items()} for name, sets in results.items()}
    gap = others | {"s1": others["s1"] | {"more": made([0.5] * 9, prefix="more")}}
    by_name = {"same": results, "other": others, "copy": copies, "gap": gap}
    if settings.get("dev"):
        settings = settings | {"dev": by_name[settings["dev"]]}
    with pytest.raises(error, match=message):
        compare_benchmark(results, baseline="s0", **settings)

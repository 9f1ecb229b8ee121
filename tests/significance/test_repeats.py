"""Tests over queries and repeats, against their formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval.errors import InputError
from beir_eval.significance import paired_t
from beir_eval.significance.repeats import (
    critical_value,
    crossed_power,
    crossed_tests,
    noise_that_undoes,
)


def repeats_of(rng, counts=(3, 3), *, num_queries=40, seed_sd=0.02, noise=0.05, shift=0.0):
    """Return scores of two systems, f8[k, Q] each, with seeds that shift all queries."""
    base = rng.random(num_queries)
    return [
        base
        + index * shift
        + seed_sd * rng.normal(size=(count, 1))
        + noise * rng.normal(size=(count, num_queries))
        for index, count in enumerate(counts)
    ]


def written_out(first, second):
    """Return mean, V, t degrees and the two parts of V of equally many repeats, by loops."""
    (count, num_queries), means = first.shape, [first.mean(axis=0), second.mean(axis=0)]
    differences = means[0] - means[1]
    of_queries = differences.var(ddof=1) / num_queries
    between = residual = 0.0
    for array in (first, second):
        grand = array.mean()
        for row in array:
            between += (row.mean() - grand) ** 2
            for query in range(num_queries):
                residual += (row[query] - row.mean() - array[:, query].mean() + grand) ** 2
    freedom = 2 * (count - 1)
    of_repeats = between / freedom * 2 / count
    explained = residual / (freedom * (num_queries - 1)) * 2 / count / num_queries
    return differences.mean(), of_queries, max(0.0, of_repeats - explained), freedom


@pytest.mark.parametrize("seed", range(4))
def test_variances_and_interval_are_those_of_the_formula(seed):
    first, second = repeats_of(np.random.default_rng(seed), counts=(4, 4))
    mean, of_queries, of_repeats, freedom = written_out(first, second)
    tests = crossed_tests([first, second], [(0, 1)])
    assert tests.differences == pytest.approx([mean])
    assert tests.query_variances == pytest.approx([of_queries])
    assert tests.repeat_variances == pytest.approx([of_repeats])
    assert of_repeats > 0
    variance = of_queries + of_repeats
    critical = (
        of_queries * stats.t.isf(0.025, 39) + of_repeats * stats.t.isf(0.025, freedom)
    ) / variance
    low, high = tests.intervals(np.array([0.05]))
    assert (low[0], high[0]) == pytest.approx(
        (mean - critical * math.sqrt(variance), mean + critical * math.sqrt(variance))
    )


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    counts=st.tuples(st.integers(2, 4), st.integers(2, 4)),
    shift=st.sampled_from([0.0, 0.02, 0.1]),
    level=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_an_interval_excludes_0_exactly_if_p_is_below_its_level(seed, counts, shift, level):
    arrays = repeats_of(np.random.default_rng(seed), counts, num_queries=12, shift=shift)
    tests = crossed_tests(arrays, [(0, 1)])
    low, high = tests.intervals(np.array([level]))
    assert (low[0] > 0 or high[0] < 0) == (tests.p()[0] < level)
    assert tests.opposite().p() == pytest.approx(tests.p())
    # The two one-sided p of a limit add up to 1.
    one_sided = tests.p_below(0.0) + tests.opposite().p_below(0.0)
    assert one_sided == pytest.approx([1.0])


def test_repeats_that_are_equal_leave_the_t_test_over_queries():
    rng = np.random.default_rng(1)
    first, second = rng.random(30), rng.random(30)
    tests = crossed_tests([[first] * 3, [second] * 3], [(0, 1)])
    assert tests.repeat_variances.tolist() == [0.0]
    assert tests.p() == pytest.approx([paired_t(first, second).p])
    margins = tests.p_equal(0.5)
    _, p_above = stats.ttest_1samp(first - second + 0.5, 0.0, alternative="greater")
    _, p_below = stats.ttest_1samp(first - second - 0.5, 0.0, alternative="less")
    assert margins == pytest.approx([max(p_above, p_below)])


def test_a_deterministic_system_needs_one_run_and_adds_no_variance():
    rng = np.random.default_rng(2)
    noisy, fixed = repeats_of(rng, counts=(4, 1))
    tests = crossed_tests([noisy, fixed], [(0, 1)], deterministic=[1])
    alone = crossed_tests([noisy, fixed.repeat(4, axis=0)], [(0, 1)], deterministic=[1])
    assert tests.repeat_variances == pytest.approx(alone.repeat_variances)
    both = crossed_tests([noisy, noisy], [(0, 1)])
    assert tests.repeat_variances == pytest.approx(both.repeat_variances / 2)
    assert crossed_tests([fixed, fixed + 0.1], [(0, 1)], deterministic=[0, 1]).p()[0] < 1e-100


def test_effects_of_seeds_that_both_systems_share_leave_paired_repeats():
    rng = np.random.default_rng(3)
    first, second = repeats_of(rng, counts=(5, 5), seed_sd=0.0)
    shared = 0.05 * rng.normal(size=(5, 1))
    paired = crossed_tests([first + shared, second + shared], [(0, 1)], paired=True)
    assert paired.p() == pytest.approx(crossed_tests([first, second], [(0, 1)], paired=True).p())
    random = crossed_tests([first + shared, second + shared], [(0, 1)])
    assert random.repeat_variances[0] > paired.repeat_variances[0]
    assert paired.degrees_of_freedom.tolist() == [4.0]


def test_few_repeats_that_vary_much_are_not_hidden_by_many_that_do_not():
    rng = np.random.default_rng(4)
    calm = rng.random((10, 50))
    calm -= calm.mean(axis=1, keepdims=True)
    loud = rng.random((2, 50)) + np.array([[-0.2], [0.2]])
    tests = crossed_tests([loud, calm], [(0, 1)])
    own = loud.mean(axis=1).var(ddof=1) / 2
    assert tests.repeat_variances[0] == pytest.approx(own, rel=0.2)
    assert tests.degrees_of_freedom.tolist() == [2.0]


def test_the_noise_that_undoes_a_verdict_makes_its_interval_end_at_0():
    noise = noise_that_undoes(0.05, 0.0004, 100, 2, level=0.05)
    variance = 2 * noise**2
    critical = critical_value(0.0004, variance, 100, math.inf, 0.025)
    assert critical * math.sqrt(0.0004 + variance) == pytest.approx(0.05)
    assert noise_that_undoes(0.03, 0.0004, 100, 2, level=0.05) == 0.0
    # A system of twenty averaged runs varies so little that one run must vary more than the means
    # differ.
    assert noise_that_undoes(0.05, 0.0001, 100, 1 / 20, level=0.05) > 0.05


@pytest.mark.parametrize(("difference", "p"), [(0.0, 1.0), (0.25, math.exp(-345))])
def test_differences_without_any_variance_are_certain(difference, p):
    scores = np.array([[0.5, 0.75, 0.125]] * 2)
    assert crossed_tests([scores + difference, scores], [(0, 1)]).p().tolist() == [p]


def test_systems_that_are_deterministic_have_the_power_of_queries_only():
    scores = np.random.default_rng(0).random((2, 1, 50))
    tests = crossed_tests(list(scores), [(0, 1)], deterministic=(0, 1))
    power = crossed_power(tests, 0, (scores[0] - scores[1])[0], delta=0.1)
    expected = math.sqrt(float(tests.variances[0])) * (stats.t.isf(0.025, 49) + stats.norm.ppf(0.8))
    assert power.detectable == pytest.approx(expected)
    assert power.detectable_low < power.detectable < power.detectable_high


@pytest.mark.simulation
def test_a_true_difference_of_the_detectable_size_is_found_as_often_as_claimed():
    rng, num_significant = np.random.default_rng(5), 0
    arrays = repeats_of(rng, counts=(5, 5), num_queries=200, seed_sd=0.01, noise=0.1)
    tests = crossed_tests(arrays, [(0, 1)])
    power = crossed_power(tests, 0, arrays[0].mean(axis=0) - arrays[1].mean(axis=0), delta=0.02)
    assert power.detectable_low < power.detectable < power.detectable_high
    true = crossed_power(
        # The variances that the simulation has: .1²·2/5 over 200 queries, and .01²·2/5.
        type(tests)(
            np.zeros(1), np.array([2e-5]), np.array([4e-5]), 200, np.array([8.0]), np.array([0.01])
        ),
        0,
        np.random.default_rng(6).normal(size=200),
        delta=0.02,
    ).detectable
    for _ in range(400):
        drawn = repeats_of(rng, (5, 5), num_queries=200, seed_sd=0.01, noise=0.1, shift=true)
        num_significant += crossed_tests(drawn, [(0, 1)]).p()[0] <= 0.05
    assert 0.72 < num_significant / 400 < 0.88


def test_no_number_of_queries_outweighs_the_noise_of_repeats():
    rng = np.random.default_rng(7)
    arrays = repeats_of(rng, counts=(2, 2), seed_sd=0.1)
    tests = crossed_tests(arrays, [(0, 1)])
    differences = arrays[0].mean(axis=0) - arrays[1].mean(axis=0)
    assert crossed_power(tests, 0, differences, delta=0.001).queries_high is None
    enough = crossed_power(tests, 0, differences, delta=10.0)
    assert enough.queries_low is not None
    assert enough.queries_high >= enough.queries_low


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[[0.1, 0.2]], [[0.1, 0.2], [0.3, 0.4]]], [(0, 1)], {}), "system 0 has one repeat"),
        (([[[0.1, 0.2]] * 2, [[0.1, 0.2, 0.3]] * 2], [(0, 1)], {}), "the same queries"),
        (([[[0.1]] * 2, [[0.1]] * 2], [(0, 1)], {}), "cover 1 queries"),
        (
            ([[[0.1, 0.2]] * 2, [[0.1, 0.3]] * 3], [(0, 1)], {"paired": True}),
            "equally many, not 2 and 3",
        ),
    ],
)
def test_repeats_from_which_no_noise_can_be_estimated_are_refused(arguments, message):
    repeats, pairs, options = arguments
    with pytest.raises(InputError, match=message):
        crossed_tests(repeats, pairs, **options)

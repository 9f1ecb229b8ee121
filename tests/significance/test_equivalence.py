"""Equality and non-inferiority within a margin, and Gaffke's bound behind them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval.errors import InputError, SettingError
from beir_eval.significance import smallest_margin
from beir_eval.significance.bounded_mean import gaffke_p_values
from beir_eval.significance.equivalence import (
    detectable_equality,
    lower_bound,
    margin_tests,
    non_inferiority,
)
from families import p_equal

ALPHA = 0.05
DIFFERENCES = st.lists(st.integers(-50, 50).map(lambda value: value / 50), min_size=2, max_size=12)


def gaffke_p(values, mean, lowest=-1.0):
    return float(gaffke_p_values(np.array([values], dtype=float), mean, lowest=lowest)[0])


@pytest.mark.parametrize("queries", [2, 3, 10, 50, 299, 1000, 7000])
@pytest.mark.parametrize("mean", [-1e-6, -0.01, -0.3, -0.9])
def test_gaffkes_bound_of_losses_of_everything_is_the_exact_binomial_test(queries, mean):
    for losses in {0, 1, 2, queries // 100, queries // 10, queries}:
        values = np.zeros(queries)
        values[:losses] = -1.0
        expected = stats.binom.cdf(losses, queries, -mean)
        assert gaffke_p(values, mean) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    st.lists(st.fractions(-1, 1, max_denominator=1000), min_size=3, max_size=9, unique=True).filter(
        lambda values: min(values) < 0 < max(values) and 0 not in values
    )
)
def test_gaffkes_bound_is_the_exact_sum_of_partial_fractions(coefficients):
    # The values are the coefficients above the lowest; P(Σ a·E ≤ 0) = Σ over a < 0 of Π a/(a − b).
    lowest, *values = sorted(coefficients)
    expected = sum(
        math.prod((a / (a - b) for b in coefficients if b != a), start=Fraction(1))
        for a in coefficients
        if a < 0
    )
    p = gaffke_p([float(value) for value in values], 0.0, lowest=float(lowest))
    assert p == pytest.approx(float(expected), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_values_of_many_orders_of_magnitude_have_the_share_of_random_weights_too(seed):
    # Where many tiny values pull against a few large ones, a contour bent the wrong way diverges.
    rng, draws = np.random.default_rng(seed), 4_000
    values = rng.choice([-1, 1], 1000) * 10.0 ** rng.uniform(-300, 0, 1000)
    mean = -(10.0 ** rng.uniform(-5, -3))
    sums = rng.standard_exponential((draws, 1001)) @ (np.append(values, -1.0) - mean)
    assert gaffke_p(values, mean) == pytest.approx(np.mean(sums <= 0), abs=2.5 / math.sqrt(draws))
    assert gaffke_p(-values, mean) == pytest.approx(
        np.mean(rng.standard_exponential((draws, 1001)) @ (np.append(-values, -1.0) - mean) <= 0),
        abs=2.5 / math.sqrt(draws),
    )


@settings(max_examples=2 * settings.default.max_examples)
@given(DIFFERENCES, st.data())
def test_p_never_increases_with_a_difference(values, data):
    index = data.draw(st.integers(0, len(values) - 1))
    higher = list(values)
    higher[index] = data.draw(st.floats(values[index], 1.0))
    mean = data.draw(st.sampled_from([-0.3, -0.05, -0.01, 0.2]))
    assert gaffke_p(higher, mean) <= gaffke_p(values, mean) * (1 + 1e-9)


@given(st.lists(DIFFERENCES.filter(lambda row: len(row) >= 6).map(lambda row: row[:6]), min_size=1))
def test_a_row_has_the_same_p_alone_among_others_and_in_any_order(rows):
    tests = margin_tests(rows, delta=0.1)
    for index, row in enumerate(rows):
        alone = margin_tests([row[::-1]], delta=0.1)
        assert alone.p_worse[0] == tests.p_worse[index]
        assert alone.p_equal[0] == tests.p_equal[index]


@given(DIFFERENCES, st.floats(0.001, 0.9))
def test_swapping_the_systems_swaps_the_tests(values, delta):
    tests = margin_tests([values], delta=delta)
    swapped = margin_tests(-np.array([values]), delta=delta)
    assert tests.p_worse == pytest.approx(swapped.p_better, rel=1e-9)
    assert tests.p_equal == pytest.approx(swapped.p_equal, rel=1e-9)
    assert tests.p_equal[0] == max(tests.p_worse[0], tests.p_better[0])


@given(DIFFERENCES, st.floats(0.001, 0.9))
def test_no_p_is_below_that_of_the_t_tests(values, delta):
    assert (
        p_equal(values, delta=delta)
        >= p_equal(values, delta=delta, score_range=None)
        >= non_inferiority(values, delta=delta, score_range=None).p
    )


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("queries", [7, 50, 299, 1000])
def test_the_smallest_margin_is_where_ties_become_equal(queries, alpha):
    margin = smallest_margin(queries, alpha=alpha, score_range=2.0)
    assert (1 - margin / 2) ** queries == pytest.approx(alpha)
    for factor, expected in ((0.999, False), (1.001, True)):
        p = p_equal(np.zeros(queries), delta=margin * factor, score_range=2.0)
        assert (p <= alpha) == expected


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(st.floats(-1, 1), min_size=5, max_size=60))
def test_no_scores_are_equal_within_less_than_the_smallest_margin(values):
    assert p_equal(values, delta=0.999 * smallest_margin(len(values))) > ALPHA


def test_a_system_with_a_gain_on_every_query_is_not_inferior_but_not_equal():
    gains = np.full(300, 0.5)
    assert non_inferiority(gains, delta=0.01).non_inferior
    assert not non_inferiority(-gains, delta=0.01).non_inferior
    assert p_equal(gains, delta=0.01) > ALPHA


def test_the_result_names_its_method_and_the_end_of_its_interval():
    values = np.random.default_rng(0).normal(0.001, 0.02, 500)
    assert p_equal(values, delta=0.01) <= ALPHA
    result = non_inferiority(values, delta=0.01)
    assert result.method == "Gaffke's bound and t"
    half_width = stats.t.isf(0.05, 499) * values.std(ddof=1) / math.sqrt(500)
    assert result.low == pytest.approx(values.mean() - half_width)
    assert non_inferiority(values, delta=0.01, score_range=None).method == "t only"


def test_a_difference_beyond_the_range_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"difference of 3 exceeds score_range=1\.0.*or None"):
        non_inferiority([0.5, 3.0, 1.0], delta=0.1)
    assert non_inferiority([0.5, 3.0, 1.0], delta=0.1, score_range=3).p > 0
    assert non_inferiority([0.5, 1 + 1e-14], delta=0.1).p > 0  # a rounding error


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, "1", True])
def test_invalid_ranges_margins_and_numbers_of_queries_are_refused(wrong):
    with pytest.raises(SettingError, match="score_range"):
        margin_tests([[0.1, 0.2]], delta=0.1, score_range=wrong)
    with pytest.raises(SettingError, match="score_range"):
        smallest_margin(50, score_range=wrong)
    with pytest.raises(SettingError, match="delta"):
        non_inferiority([0.1, 0.2], delta=wrong)
    with pytest.raises(SettingError, match="num_queries"):
        smallest_margin(wrong)


def test_a_margin_beyond_the_range_is_shown_by_any_scores_unless_t_refuses():
    assert p_equal([0.0] * 10, delta=1.5) == 2**-10
    assert gaffke_p([-1.0, 1.0], -1.5) == np.finfo(float).tiny


# The margin that so many queries can show


@pytest.mark.parametrize("score_range", [1.0, None])
@pytest.mark.parametrize(("sd", "num_queries"), [(0.05, 500), (0.02, 100), (0.2, 60)])
def test_equal_systems_are_called_equal_at_the_detectable_margin_and_not_below(
    sd, num_queries, score_range
):
    margin = detectable_equality(sd, num_queries, score_range=score_range)
    normal = stats.norm.ppf((np.arange(num_queries) + 0.5) / num_queries)
    offset = stats.norm.ppf(0.9) / np.sqrt(num_queries)
    values = np.clip(sd * (normal / normal.std(ddof=1) + offset), -1, 1)
    for delta, is_equal in ((margin * 1.01, True), (margin * 0.99, False)):
        shown = margin_tests(values[None], delta=delta, score_range=score_range)
        assert (shown.p_better[0] <= 0.05) == is_equal
    if score_range is not None:
        assert margin >= smallest_margin(num_queries) * 0.99


def test_equal_scores_are_equal_within_any_margin_if_there_are_enough():
    assert detectable_equality(0, 50) == pytest.approx(smallest_margin(50), rel=1e-3)
    assert detectable_equality(0, 5, score_range=None) == 0.0
    assert detectable_equality(0, 4, score_range=None) == math.inf  # p is 2^-4 at least


def test_the_detectable_margin_is_at_most_the_range_of_the_scores():
    assert detectable_equality(0.9, 5) == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"sd": -1.0},
        {"sd": np.inf},
        {"power": 1.0},
        {"num_queries": 1},
        {"alpha": 0.5},
        {"score_range": -1.0},
    ],
)
def test_a_detectable_margin_of_settings_that_cannot_be_is_refused(wrong):
    with pytest.raises(SettingError):
        detectable_equality(**{"sd": 0.1, "num_queries": 50} | wrong)


# Clusters


def test_clusters_of_one_query_each_are_tested_as_queries_are():
    differences = np.random.default_rng(0).normal(0.01, 0.05, (3, 40))
    for score_range in (1.0, None):
        options = {"delta": 0.03, "score_range": score_range}
        alone = margin_tests(differences, **options)
        clustered = margin_tests(differences, weights=np.ones(40), **options)
        assert clustered.p_worse == pytest.approx(alone.p_worse)
        assert clustered.p_better == pytest.approx(alone.p_better)
        pair = non_inferiority(differences[0], **options)
        clusters = non_inferiority(differences[0], weights=np.ones(40), **options)
        assert clusters.low == pytest.approx(pair.low)


def test_clusters_of_unequal_sizes_need_a_larger_margin():
    even, uneven = np.ones(20), np.array([0.5, 1.5] * 10)
    of_queries = smallest_margin(20)
    assert smallest_margin(20, weights=even) == pytest.approx(of_queries, rel=2e-3)
    margin = smallest_margin(20, weights=uneven)
    assert margin > 1.01 * of_queries
    equal = np.zeros((1, 20))
    for factor, is_shown in ((0.99, False), (1.01, True)):
        tests = margin_tests(equal, delta=factor * margin, weights=uneven)
        assert (tests.p_equal[0] <= 0.05) == is_shown


@pytest.mark.parametrize(("queries", "alpha"), [(10, 0.05), (30, 0.01), (300, 0.05)])
def test_the_lower_bound_of_ties_is_the_share_of_queries_that_all_may_have_missed(queries, alpha):
    bound = lower_bound(np.zeros(queries), alpha=alpha, score_range=2.0)
    assert bound == pytest.approx(2 * (alpha ** (1 / queries) - 1), rel=1e-9)


@given(DIFFERENCES)
def test_the_lower_bound_is_where_the_test_of_a_margin_turns(listed):
    values = np.array(listed)
    bound = lower_bound(values, alpha=0.05)
    assert -1 <= bound <= values.mean() + 1e-12
    for factor, excluded in ((0.99, False), (1.01, True)):
        delta = -bound * factor
        if 0.001 < delta < 1:
            assert (gaffke_p(listed, -delta) <= 0.05) == excluded


def test_the_lower_bound_of_clusters_counts_the_largest():
    ties = np.zeros(20)
    of_queries = lower_bound(ties)
    assert lower_bound(ties, weights=np.ones(20)) == pytest.approx(of_queries, rel=2e-3)
    uneven = np.linspace(0.1, 1.9, 20)
    assert lower_bound(ties, weights=uneven) < of_queries
    assert -lower_bound(ties, weights=uneven) == pytest.approx(
        smallest_margin(20, weights=uneven), rel=3e-3
    )

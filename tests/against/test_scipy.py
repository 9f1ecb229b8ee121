"""Tests and intervals against scipy.stats, to the last digits where nothing is random."""

import inspect

import numpy as np
import pytest
from scipy import stats

from beir_eval.significance import paired_t, sign_flip
from beir_eval.significance.equivalence import margin_tests, non_inferiority
from beir_eval.significance.stratified import stratified_bootstrap

ALTERNATIVES = ["two-sided", "less", "greater"]
EXACT = {"rel": 1e-12, "abs": 1e-15}

#: The name of scipy's parameter for the generator, which changed in 1.15.
RNG = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"


def two_systems(seed, queries, gap=0.05):
    rng = np.random.default_rng(seed)
    first = rng.random(queries)
    return first + gap * rng.normal(size=queries) + gap / 3, first


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("queries", [2, 3, 10, 50, 6980])
def test_the_paired_t_test_is_that_of_scipy(queries, alternative):
    first, second = two_systems(queries, queries)
    expected = stats.ttest_rel(first, second, alternative=alternative)
    result = paired_t(first, second, alternative=alternative)
    assert result.statistic == pytest.approx(expected.statistic, **EXACT)
    assert result.p == pytest.approx(max(expected.pvalue, np.finfo(float).tiny), **EXACT)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("queries", [2, 5, 11])
def test_the_exact_sign_flip_test_is_that_of_scipy(queries, alternative):
    first, second = two_systems(queries, queries)
    expected = stats.permutation_test(
        (first - second,),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
        alternative=alternative,
    )
    result = sign_flip(first, second, alternative=alternative)
    assert result.exact
    assert result.p == pytest.approx(expected.pvalue, **EXACT)


@pytest.mark.parametrize(("queries", "confidence"), [(8, 0.9), (30, 0.95), (43, 0.99), (700, 0.95)])
def test_the_bootstrap_interval_of_one_data_set_is_scipys_on_the_same_resamples(
    queries, confidence
):
    rng = np.random.default_rng(queries)
    differences = rng.exponential(size=queries) - 0.7  # skewed, so that the acceleration matters
    if queries == 8:
        # Some resamples equal the sample; rounded to eighths, scipy counts them as ties too.
        differences = np.round(differences * 8) / 8
    expected = stats.bootstrap(
        (differences,),
        np.mean,
        n_resamples=2_000,
        confidence_level=confidence,
        method="BCa",
        **{RNG: np.random.default_rng(7)},
    ).confidence_interval
    drawn = stratified_bootstrap([differences[None, :]], draws=2_000, rng=7)
    assert drawn.interval(0, confidence=confidence) == pytest.approx(tuple(expected), **EXACT)


def test_equivalence_without_a_range_is_the_larger_p_of_scipys_two_one_sided_tests():
    first, second = two_systems(3, 80)
    delta = 0.03
    low = stats.ttest_1samp(first - second, -delta, alternative="greater")
    high = stats.ttest_1samp(first - second, delta, alternative="less")
    p = margin_tests([first - second], delta=delta, score_range=None).p_equal[0]
    assert p == pytest.approx(max(low.pvalue, high.pvalue), **EXACT)
    interval = stats.ttest_rel(first, second).confidence_interval(0.9)
    assert (p <= 0.05) == (interval.low > -delta and interval.high < delta)
    # The quantiles of scipy 1.14 have ten digits.
    result = non_inferiority(first, second, delta=delta, score_range=None)
    assert result.low == pytest.approx(interval.low, rel=1e-10)

"""Tails and quantiles by scipy.special equal those of scipy.stats; roots are exact."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from beir_eval.significance.distributions import (
    exceeded_with,
    increasing_root,
    negative_binomial_quantile,
    noncentral_t_upper_tail,
    upper_tail,
)


def test_the_t_distribution_is_that_of_scipy_to_ten_digits():
    statistics = np.array([0.0, 1e-200, 1e-3, 0.01, 0.7, 1.96, 3.0, 12.7, 40, 1e170, math.inf])
    statistics = np.array([*statistics, *-statistics])
    tails = np.array([0.9, 0.5, 0.4999, 0.3, 0.025, 0.001, 1e-6, 1e-12, 1e-100])
    for freedom in (1, 2, 3, 4.5, 9, 42, 99, 150, 299, 1_000, 6_979, 1e5, math.inf):
        expected = stats.t.sf(statistics, freedom)
        assert upper_tail(statistics, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-300)
        quantiles = stats.t.isf(tails, freedom)
        assert exceeded_with(tails, freedom) == pytest.approx(quantiles, rel=1e-10, abs=1e-12)
    assert math.isnan(upper_tail(math.nan, 9))
    assert upper_tail(2.5, 9) == upper_tail([2.5], 9)[0]


@given(st.floats(1e-100, 0.4999))
def test_the_quantiles_of_t_are_exact_where_they_have_a_closed_form(tail):
    assert exceeded_with(tail, 1) == pytest.approx(1 / math.tan(math.pi * tail), rel=1e-13)
    closed = (1 - 2 * tail) / math.sqrt(2 * tail * (1 - tail))
    assert exceeded_with(tail, 2) == pytest.approx(closed, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("freedom", [1, 2, 2.5, 9, 298, 6_979, 1e5])
@pytest.mark.parametrize("tail", [1 - 1e-10, 0.6, 0.5 - 1e-12, 0.025, 1e-9, 1e-120])
def test_the_quantile_of_t_is_exceeded_with_its_probability(freedom, tail):
    """Also where scipy's quantile is infinite, as for a tail of 1e-240 and 3 degrees of freedom."""
    assert upper_tail(exceeded_with(tail, freedom), freedom) == pytest.approx(tail, rel=1e-12)
    assert upper_tail(exceeded_with(1e-240, 3), 3) == pytest.approx(1e-240, rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 29, 59, 99, 999, 6_979, 100_000])
def test_the_tail_of_the_noncentral_t_distribution_is_that_of_scipy_stats(freedom):
    shifts = (-40, -20, -8, -3, -1, -0.1, 0, 0.1, 0.5, 1, 2, 2.8, 3, 5, 8, 15, 20, 30, 40)
    for shift, limit in product(shifts, (0.1, 0.5, 1, 1.96, 2.5, 3, 4.3, 12.7, 63)):
        expected = stats.nct.sf(limit, freedom, shift)
        tail = noncentral_t_upper_tail(limit, freedom, shift)
        assert tail == pytest.approx(expected, rel=1e-11, abs=1e-13), (limit, shift)


def test_the_quantile_of_the_negative_binomial_distribution_is_that_of_scipy_stats():
    probabilities, shares = (
        (0.1, 0.5, 0.8, 0.9, 0.95, 0.99),
        (1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.99, 1.0),
    )
    for probability, successes, share in product(probabilities, (1, 2, 5, 6, 10, 20, 50), shares):
        expected = stats.nbinom.ppf(probability, successes, share)
        assert negative_binomial_quantile(probability, successes, share) == expected


@given(st.floats(0.01, 100), st.integers(1, 5))
def test_a_root_is_exact_to_the_last_digit(root, degree):
    def function(x):
        return x**degree - root**degree

    high = increasing_root(function, 0.0, 200.0)
    assert function(high) >= 0 > function(math.nextafter(high, 0))
    assert high == pytest.approx(brentq(function, 0.0, 200.0, xtol=1e-14), rel=1e-12)

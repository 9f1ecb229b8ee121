"""Corrections, power and equivalence against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from beir_eval.significance.corrections import correct
from beir_eval.significance.power import (
    minimum_detectable_difference,
    queries_needed,
)

METHODS = ("holm", "bonferroni")
CASES = [(2, 0.5, 0.05), (10, 0.5, 0.05), (50, 0.2, 0.01), (1_000, 0.1, 0.05), (6_980, 0.03, 0.05)]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_corrections_are_those_of_statsmodels(method, size):
    p = np.random.default_rng(size).random(size) ** 3
    p[: size // 3] = np.round(p[: size // 3], 1)  # ties, zeros too
    expected = multipletests(p, method=method)[1]
    np.testing.assert_allclose(correct(p, method), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("queries", "effect", "alpha"), CASES[1:])
def test_detectable_differences_and_query_counts_have_the_requested_power(queries, effect, alpha):
    # The solver of statsmodels stops at five digits.
    difference = minimum_detectable_difference(0.3, queries, alpha=alpha)
    assert TTestPower().power(difference / 0.3, queries, alpha) == pytest.approx(0.8, rel=1e-12)
    queries_by_statsmodels = TTestPower().solve_power(effect, None, alpha, 0.8)
    assert queries_needed(effect * 0.3, 0.3, alpha=alpha) == int(
        np.ceil(np.squeeze(queries_by_statsmodels))
    )

"""Effect sizes: their definitions, and intervals that agree with those of the differences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.significance.effect_sizes import Spread, effect_of
from paired_scores import some_scores


def test_the_effect_of_a_pair_is_its_standardised_difference():
    first, second = some_scores(1, 2, 30)
    differences = first - second
    effect = effect_of(differences.mean(), -0.1, 0.2, Spread.from_differences(differences), 0.05)
    assert effect.size == pytest.approx(differences.mean() / differences.std(ddof=1))


def test_the_residual_effect_divides_by_the_residual_deviation_of_the_two_way_anova():
    scores = some_scores(2, 4, 25)
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    mean_square = (residuals**2).sum() / (3 * 24)
    assert Spread.from_scores(scores).deviation == pytest.approx(math.sqrt(mean_square))
    # Of two systems, the residual variance is half the variance of their differences.
    pair = Spread.from_scores(scores[:2]).deviation
    assert pair == pytest.approx((scores[0] - scores[1]).std(ddof=1) / math.sqrt(2))


finite = st.floats(-1, 1, allow_nan=False).map(lambda value: round(value, 6))


@given(finite, finite, finite, st.floats(0.01, 2), st.floats(0, 2))
def test_the_interval_of_an_effect_excludes_0_exactly_if_that_of_the_difference_does(
    first, second, third, deviation, log_error
):
    low, difference, high = sorted((first, second, third))
    effect = effect_of(difference, low, high, Spread(deviation, log_error), 0.05)
    assert effect.low <= effect.size <= effect.high
    assert (effect.low > 0) == (low > 0)
    assert (effect.high < 0) == (high < 0)
    # At least as wide as without the error of the deviation.
    assert effect.low <= low / deviation + 1e-12
    assert effect.high >= high / deviation - 1e-12


def test_effects_without_spread_or_bounds_are_infinite():
    constant = Spread.from_differences(np.full(8, 0.25))
    assert constant.deviation == 0
    assert effect_of(0.25, 0.25, 0.25, constant, 0.05).size == math.inf
    assert effect_of(0.0, 0.0, 0.0, constant, 0.05).size == 0
    unbounded = effect_of(0.1, -math.inf, math.inf, Spread(0.2, 0.1), 0.05)
    assert (unbounded.low, unbounded.size, unbounded.high) == (-math.inf, 0.5, math.inf)

"""Wealth from fair bets on a mean, and the bounds that it gives."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from beir_eval.significance.bounded_mean import Wealth, log_wealth, lower_confidence_bound

VALUES = st.lists(st.floats(-1, 1), min_size=1, max_size=30).map(np.array)
STAKES = [(2 * number + 1) / 40 for number in range(20)]


@given(VALUES, st.floats(-0.9, 0.9))
def test_the_wealth_is_the_mean_of_20_bettors_with_fixed_stakes(values, mean):
    bettors = [
        math.prod(1 - stake + stake * (value + 1) / (mean + 1) for value in values)
        for stake in STAKES
    ]
    path = log_wealth(values, mean, lowest=-1)
    assert math.exp(path[-1]) == pytest.approx(sum(bettors) / 20, rel=1e-9)
    wealth = Wealth(mean, lowest=-1)
    assert [wealth.add(value) for value in values] == pytest.approx(path.tolist(), abs=1e-9)


@given(VALUES, st.floats(-0.9, 0.8), st.floats(0.01, 0.1), st.randoms())
def test_the_wealth_falls_with_the_mean_and_does_not_depend_on_the_order(
    values, mean, step, random
):
    final = log_wealth(values, mean, lowest=-1)[-1]
    assert log_wealth(values, mean + step, lowest=-1)[-1] <= final + 1e-9
    shuffled = values.tolist()
    random.shuffle(shuffled)
    assert log_wealth(np.array(shuffled), mean, lowest=-1)[-1] == pytest.approx(final, abs=1e-9)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-0.2, 0.7), (-1.0, 0.1)])
@pytest.mark.parametrize("mean", [0.0, 0.05])
def test_the_expected_wealth_is_1_if_the_mean_is_true(low, high, mean):
    share = (mean - low) / (high - low)
    expected = 0.0
    for outcomes in itertools.product((low, high), repeat=7):
        probability = math.prod(share if value == high else 1 - share for value in outcomes)
        expected += probability * math.exp(log_wealth(np.array(outcomes), mean, lowest=-1)[-1])
    assert expected == pytest.approx(1)


def test_the_wealth_exceeds_1_over_alpha_ever_with_at_most_this_probability():
    # All sequences of 12 values ±1, with equal probability: the mean is 0.
    sequences = np.array(list(itertools.product((-1.0, 1.0), repeat=12)))
    reached = log_wealth(sequences, 0.0, lowest=-1).max(axis=1)
    for alpha in (0.5, 0.2, 0.05, 0.02):
        assert (reached >= -math.log(alpha)).mean() <= alpha


@given(VALUES, st.sampled_from([0.5, 0.1, 0.01]))
def test_the_lower_bound_is_the_highest_mean_that_was_ever_excluded(values, alpha):
    bound = lower_confidence_bound(values, lowest=-1, alpha=alpha)
    assert -1 <= bound <= values.max()
    assume(bound > -1 + 1e-6)
    assert log_wealth(values, bound, lowest=-1).max() >= -math.log(alpha)
    assert log_wealth(values, bound + 1e-6, lowest=-1).max() < -math.log(alpha) + 1e-9


def test_the_lower_bound_only_rises_and_of_the_lowest_values_it_is_the_lowest():
    values = np.random.default_rng(0).uniform(-0.2, 0.5, 60)
    bounds = [lower_confidence_bound(values[:end], lowest=-1, alpha=0.05) for end in range(1, 61)]
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(bounds))
    assert bounds[-1] > 0
    assert lower_confidence_bound(np.array([-1.0, -1.0]), lowest=-1, alpha=0.05) == -1

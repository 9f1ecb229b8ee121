"""The largest and smallest statistics of differences within ranges."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from beir_eval.comparison.robustness.extreme_statistics import (
    STATISTIC_TOLERANCE,
    largest_statistics,
    least_squares,
    smallest_squares,
    smallest_statistics,
)

VALUES = st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.0, 0.001, 0.1, 0.3, 1.0]) | st.floats(-1, 1)


@st.composite
def boxes(draw):
    """Draw the ends of the ranges of 2 to 7 differences, f8[Q] each."""
    num = draw(st.integers(2, 7))
    ends = draw(arrays(np.float64, (2, num), elements=VALUES))
    is_fixed = draw(arrays(np.bool_, num))
    return np.where(is_fixed, ends[0], ends.min(axis=0)), np.where(
        is_fixed, ends[0], ends.max(axis=0)
    )


def sign_vectors(num_queries, *, centred):
    signs = np.array(list(product([-1.0, 1.0], repeat=num_queries))).T
    return signs - signs.mean(axis=0) if centred else signs


def statistics(rows, weights, *, centred):
    """Return r of differences, f8[C, Q], for sign vectors: f8[C, b]."""
    if centred:
        rows = rows - rows.mean(axis=1, keepdims=True)
    norms = np.sqrt(rows.shape[1]) * np.linalg.norm(rows, axis=1)
    is_zero = norms < 1e-9
    return np.where(is_zero[:, None], 0.0, rows @ weights / np.where(is_zero, 1.0, norms)[:, None])


def least_norm(low, high, *, centred):
    squares = smallest_squares if centred else least_squares
    return float(np.sqrt(squares(low[None], high[None])[0]))


@pytest.mark.parametrize("centred", [False, True])
@given(box=boxes(), data=st.data())
def test_no_differences_within_the_ranges_have_a_larger_statistic(centred, box, data):
    low, high = box
    weights = sign_vectors(len(low), centred=centred)
    largest = largest_statistics(
        low, high, weights, least_norm(low, high, centred=centred), centred=centred
    )
    corners = np.array(list(product(*zip(low, high, strict=True))))
    shares = data.draw(arrays(np.float64, (20, len(low)), elements=st.floats(0, 1)))
    for rows in (corners, low + shares * (high - low)):
        assert (statistics(rows, weights, centred=centred) <= largest + 1e-9).all()


@pytest.mark.parametrize("centred", [False, True])
def test_the_largest_statistic_is_that_of_a_numerical_search(centred):
    rng = np.random.default_rng(3)
    for _ in range(15):
        num = int(rng.integers(5, 12))
        low = rng.normal(0.1, 0.3, num)
        high = low + rng.random(num) * rng.integers(0, 2, num) * 0.3
        weights = rng.choice([-1.0, 1.0], (num, 1))
        if centred:
            weights -= weights.mean()
        [bound] = largest_statistics(
            low, high, weights, least_norm(low, high, centred=centred), centred=centred
        )

        def negative(x, weights=weights):
            return -statistics(x[None], weights, centred=centred)[0, 0]

        searched = max(
            -minimize(
                negative, low + share * (high - low), bounds=list(zip(low, high, strict=True))
            ).fun
            for share in (0.1, 0.5, 0.9)
        )
        if searched > 0:
            assert bound == pytest.approx(searched, abs=1e-4)


@given(boxes())
def test_no_differences_within_the_ranges_have_a_smaller_statistic(box):
    low, high = box
    assume(low.sum() > 1e-6)
    smallest = smallest_statistics(low[None], high[None])[0]
    corners = np.array(list(product(*zip(low, high, strict=True))))
    everywhere = statistics(corners, np.ones((len(low), 1)), centred=False)
    assert smallest <= everywhere.min() + 1e-12


def test_the_smallest_statistic_of_many_queries_is_nearly_that_of_a_corner():
    rng = np.random.default_rng(4)
    for _ in range(20):
        low = rng.normal(0.3, 0.2, 12)
        high = low + rng.random(12) * 0.5
        [smallest] = smallest_statistics(low[None], high[None])
        corners = np.array(list(product(*zip(low, high, strict=True))))
        least = statistics(corners, np.ones((12, 1)), centred=False).min()
        assert least - 0.01 < smallest <= least


def test_fixed_differences_have_one_statistic():
    low = np.array([0.2, -0.1, 0.4, 0.0])
    expected = low.sum() / (2 * np.linalg.norm(low))
    assert smallest_statistics(low[None], low[None])[0] == pytest.approx(
        expected, abs=3 * STATISTIC_TOLERANCE
    )
    weights = sign_vectors(4, centred=True)
    largest = largest_statistics(
        low, low, weights, least_norm(low, low, centred=True), centred=True
    )
    expected = statistics(low[None], weights, centred=True)[0].clip(min=0)
    assert largest == pytest.approx(expected, abs=1e-6)


def test_differences_that_can_all_be_0_can_have_every_statistic():
    low, high = np.full(3, -0.1), np.full(3, 0.2)
    weights = sign_vectors(3, centred=False)
    assert (largest_statistics(low, high, weights, 0.0, centred=False) == 1).all()

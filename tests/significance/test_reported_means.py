"""Intervals and p-values from means alone."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beir_eval.errors import SettingError
from beir_eval.significance import bounded_mean_interval, proportion_interval, sign_flip
from beir_eval.significance.reported_means import p_range_of_counts


@given(st.integers(1, 200), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_exact_interval_is_scipys(queries, data, confidence):
    successes = data.draw(st.integers(0, queries))
    expected = stats.binomtest(successes, queries).proportion_ci(confidence, "exact")
    interval = proportion_interval(successes, queries, confidence=confidence)
    assert interval == pytest.approx(tuple(expected), abs=1e-9)


@given(st.integers(1, 60), st.data())
def test_the_interval_of_any_scores_contains_the_exact_one_of_scores_of_0_and_1(queries, data):
    successes = data.draw(st.integers(0, queries))
    low, high = bounded_mean_interval(successes / queries, queries)
    exact_low, exact_high = proportion_interval(successes, queries)
    assert low <= exact_low + 1e-9
    assert high >= exact_high - 1e-9


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_the_interval_ends_where_hoeffdings_bound_is_half_of_the_error(mean, queries):
    low, high = bounded_mean_interval(mean, queries)
    assert 0 <= low <= mean <= high <= 1
    for end in (low, high):
        if 1e-6 < end < 1 - 1e-6:
            divergence = stats.entropy([mean, 1 - mean], [end, 1 - end])
            assert math.exp(-queries * divergence) == pytest.approx(0.025, rel=1e-4)


@pytest.mark.parametrize("draw", ["beta", "two values", "rare"])
def test_the_interval_of_any_scores_covers_the_true_mean(draw):
    rng, queries = np.random.default_rng(0), 12
    scores = {
        "beta": rng.beta(0.3, 0.2, (2_000, queries)),
        "two values": rng.choice([0.4, 1.0], (2_000, queries)),
        "rare": (rng.random((2_000, queries)) < 0.02) * 0.9,
    }[draw]
    true_mean = {"beta": 0.6, "two values": 0.7, "rare": 0.018}[draw]
    intervals = [bounded_mean_interval(mean, queries) for mean in scores.mean(axis=1).tolist()]
    assert np.mean([low <= true_mean <= high for low, high in intervals]) >= 0.95


@pytest.mark.parametrize("queries", [1, 2, 5, 7])
def test_the_range_of_p_is_that_of_all_pairings(queries):
    vectors = [np.array(vector) for vector in itertools.product((0, 1), repeat=queries)]
    by_counts = {}
    for first in vectors:
        if first.tolist() != sorted(first.tolist()):
            continue  # a single order of the queries is enough
        for second in vectors:
            wins, losses = int((first > second).sum()), int((first < second).sum())
            p = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
            by_counts.setdefault((int(first.sum()), int(second.sum())), []).append(p)
    for (first_count, second_count), p_values in by_counts.items():
        smallest, largest = p_range_of_counts([first_count], [second_count], queries)
        assert smallest == pytest.approx(min(p_values))
        assert largest == pytest.approx(max(p_values))


def test_the_range_of_p_covers_all_counts_that_rounding_allows():
    assert p_range_of_counts([9, 10], [3, 4], 10)[0] == 2**-6  # 10 against 3
    largest = p_range_of_counts([9, 10], [3, 4], 10)[1]
    assert largest == p_range_of_counts([9], [4], 10)[1]  # 6 wins, 1 loss
    assert largest == sign_flip([1] * 6 + [-1] + [0] * 3).p


def test_invalid_counts_and_means_are_refused():
    for wrong in (-1, 11, 2.5, "3", None):
        with pytest.raises(SettingError, match="successes"):
            proportion_interval(wrong, 10)
    for wrong in (-0.1, 1.1, math.nan, "0.5"):
        with pytest.raises(SettingError, match="mean must be"):
            bounded_mean_interval(wrong, 10)
    for interval in (proportion_interval, bounded_mean_interval):
        with pytest.raises(SettingError, match="num_queries"):
            interval(0, 0)
        with pytest.raises(SettingError, match="confidence"):
            interval(0, 10, confidence=1)

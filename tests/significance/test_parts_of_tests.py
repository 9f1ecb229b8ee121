"""What comparisons use of this package beside its public tests."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from beir_eval.errors import SettingError
from beir_eval.significance import PAIRED_TESTS, sign_flip
from beir_eval.significance.bootstrap import bca_levels
from beir_eval.significance.corrections import corrected_tests
from beir_eval.significance.effect_sizes import Spread
from beir_eval.significance.paired_tests import t_intervals
from beir_eval.significance.power import estimate_power
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys
from beir_eval.significance.validation import check_draws_suffice, check_seed


def test_tests_that_are_corrected_together_are_split_as_they_were_joined():
    means, p = np.array([0.3, 0.2, 0.1]), np.array([0.01, 0.02, 0.9])

    def intervals(levels):
        return means - levels, means + levels

    together = corrected_tests(means, p, intervals, "holm", 0.05)
    first, second = together.split([2, 1])
    assert first.p_corrected.tolist() == together.p_corrected[:2].tolist()
    assert second.p_corrected.tolist() == together.p_corrected[2:].tolist()
    assert (len(first.low), len(second.high)) == (2, 1)


@pytest.mark.parametrize("name", list(PAIRED_TESTS))
def test_every_paired_test_takes_differences(name):
    differences = np.random.default_rng(0).normal(0.1, 0.2, 25)
    test = PAIRED_TESTS[name]
    by_differences = test.test_differences(differences, draws=500, rng=3)
    settings = {"draws": 500, "rng": 3} if test.takes_draws else {}
    assert by_differences.p == test.test(differences, **settings).p


def test_t_intervals_are_scipys():
    rows = np.random.default_rng(1).normal(0.1, 0.2, (3, 12))
    levels = np.array([0.05, 0.1, 0.01])
    low, high = t_intervals(rows.mean(axis=1), rows.std(axis=1, ddof=1), 12, levels)
    for row, level, ends in zip(rows, levels, zip(low, high, strict=True), strict=True):
        expected = stats.ttest_1samp(row, 0).confidence_interval(1 - level)
        assert ends == pytest.approx((expected.low, expected.high))


def test_systems_that_differ_by_a_constant_have_no_residual_spread():
    scores = np.random.default_rng(2).random((1, 9)) + np.array([[0.0], [0.1], [0.4]])
    assert Spread.from_scores(scores) == Spread(0.0, 0.0)


def test_levels_beyond_the_pole_of_bca_are_0_or_1():
    # Nearly all resamples lie below the mean, and the skewness is strong.
    deviations = np.array([1.0, *[-0.125] * 8])
    resampled = np.concatenate([np.full(9999, -1.0), [1.0]])
    assert bca_levels([0.001, 0.999999999], deviations, resampled)[1] == 1.0


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_the_simulated_power_of_a_one_sided_test_has_one_direction(alternative):
    # Gains on few queries: below 50 differing queries power is simulated.
    differences = np.zeros(60)
    differences[:14] = np.random.default_rng(3).normal(0, 0.2, 14)
    estimate = estimate_power(differences, alternative=alternative)
    both = estimate_power(differences)
    assert estimate.detectable < both.detectable


def test_a_weighted_comparison_has_the_means_of_weighted_subsets():
    rng = np.random.default_rng(4)
    values, weights = rng.normal(0.2, 0.3, (2, 8)), np.repeat([0.5, 1.5], 4)
    values[0, 2] = 0.0
    family = Family(values, position_keys(8), np.arange(2), weights=weights)
    [flipped] = randomise([family], SignVectors.choose(8, 1000, 0), level=0.2)
    assert flipped.exact.all()
    lows, highs = flipped.intervals(np.full(2, 0.2))
    subsets = np.array(list(product([0, 1], repeat=8))[1:])
    for row, low, high in zip(values, lows, highs, strict=True):
        means = np.sort(subsets @ row / (subsets @ weights))
        # The empty subset counts as infinite at both sides; ⌊.2 · 128⌋ = 25 are beyond each end.
        assert low == pytest.approx(means[24], abs=1e-12)
        assert high == pytest.approx(means[-25], abs=1e-12)


def test_too_few_draws_for_a_level_leave_the_interval_unbounded():
    row = np.random.default_rng(5).normal(0.1, 0.2, (1, 30))
    family = Family(row, position_keys(30), np.array([0]))
    [flipped] = randomise([family], SignVectors.choose(30, 10, 0), level=0.05)
    assert flipped.intervals(np.array([0.05])) == (-np.inf, np.inf)
    assert np.isinf(flipped.own_critical(0.05)).all()


def test_more_draws_than_any_machine_can_make_are_refused():
    with pytest.raises(SettingError, match=r"draws must be at most 1,000,000,000,000, not 10{13}$"):
        sign_flip(np.array([0.1, 0.2, 0.3]), draws=10**13)


def test_draws_that_cannot_reach_a_level_are_refused():
    check_draws_suffice(19, 0.05)
    with pytest.raises(SettingError, match=r"18 sign vectors are too few .*: it takes 19 draws"):
        check_draws_suffice(18, 0.05)


def test_a_generator_is_no_seed_to_store():
    check_seed(3)
    with pytest.raises(SettingError, match="must be a seed"):
        check_seed(np.random.default_rng(0))

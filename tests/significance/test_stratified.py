"""Averages over strata and units, their resamples, and ranks."""

import math

import numpy as np
import pytest

from beir_eval.errors import InputError, SettingError
from beir_eval.significance.stratified import balanced, resampled_ranks, stratified_bootstrap

STRATA = [[[0.1, 0.5, 0.6]], [[0.2, 0.4]], [[0.9, 0.8, 0.7, 0.9]]]


def average(strata, units):
    """Return the mean over units of the means of their strata, written out."""
    means = {}
    for unit, stratum in zip(units, strata, strict=True):
        means.setdefault(unit, []).append(np.mean(stratum))
    return np.mean([np.mean(values) for values in means.values()])


@pytest.mark.parametrize("units", [["a", "b", "c"], ["a", "a", "b"], ["a", "b", "a"]])
def test_the_average_is_that_of_the_units(units):
    expected = average(STRATA, units)
    assert balanced(STRATA, units=units).mean() == pytest.approx(expected)
    drawn = stratified_bootstrap(STRATA, units=units, draws=50)
    assert drawn.averages == pytest.approx([expected])


def test_the_spread_of_resampled_averages_is_that_of_the_formula():
    rng = np.random.default_rng(1)
    strata = [rng.random((1, size)) for size in (10, 20, 40)]
    drawn = stratified_bootstrap(strata, units=["a", "a", "b"], draws=20_000)
    weights = [1 / 4, 1 / 4, 1 / 2]
    variance = sum(
        weight**2 * stratum.var() / stratum.shape[1]
        for weight, stratum in zip(weights, strata, strict=True)
    )
    assert drawn.resampled.std() == pytest.approx(math.sqrt(variance), rel=0.03)
    width = np.subtract(*drawn.interval(0)[::-1])
    assert width == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.05)
    # Units that are resampled too add the spread between them.
    units = [rng.random((1, 15)) + number for number in range(5)]
    both = stratified_bootstrap(units, hierarchical=True, draws=20_000)
    means = np.array([unit.mean() for unit in units])
    within = sum(unit.var() / 15 for unit in units) / 25
    assert both.resampled.std() == pytest.approx(math.sqrt(means.var() / 5 + within), rel=0.03)
    low, high = both.interval(0)
    assert (low, high) == pytest.approx(np.quantile(both.resampled[0], [0.025, 0.975]).tolist())


def test_rows_that_do_not_differ_have_an_interval_without_width():
    scores = np.random.default_rng(2).random((1, 8))
    drawn = stratified_bootstrap([np.vstack([scores, scores])], draws=100)
    assert drawn.interval(0, 1) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("strata", "options", "error", "text"),
    [
        ([], {}, InputError, "same rows"),
        ([[[0.1, 0.2]], [[0.1, 0.2], [0.3, 0.4]]], {}, InputError, r"same rows, not \[1, 2\]"),
        ([[[0.1, 0.2]]], {"units": ["a", "b"]}, InputError, "each of 1 strata, not of 2"),
        ([[[0.1, 0.2]]] * 4, {"hierarchical": True}, SettingError, "5 or more; there are 4"),
    ],
)
def test_strata_and_units_that_do_not_fit_are_refused(strata, options, error, text):
    with pytest.raises(error, match=text):
        stratified_bootstrap(strata, **options)


def test_ranks_are_counted_from_the_higher_means_of_each_resample():
    rng = np.random.default_rng(2)
    resampled = rng.normal([[1.0], [0.5], [0.0], [0.0]], 0.4, (4, 2001))
    ranks = 1 + (resampled[None] > resampled[:, None]).sum(axis=1)
    computed = resampled_ranks(resampled, confidence=0.9)
    expected = np.quantile(ranks, [0.05, 0.95], axis=1, method="inverted_cdf")
    assert computed.low.tolist() == expected[0].tolist()
    assert computed.high.tolist() == expected[1].tolist()
    assert computed.first == pytest.approx((ranks == 1).mean(axis=1))


def test_a_confidence_that_is_no_share_is_refused():
    with pytest.raises(SettingError):
        resampled_ranks([[0.1, 0.2]], confidence=95)

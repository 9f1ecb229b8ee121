"""What so many queries can show, from the differences of a sample."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.errors import InputError, SettingError
from beir_eval.significance import sign_flip
from beir_eval.significance.power import (
    estimate_power,
    minimum_detectable_difference,
    queries_needed,
    smallest_p,
)
from beir_eval.significance.sign_flip import sign_flip_many

RNG = np.random.default_rng


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("differing", [1, 2, 5, 6, 12])
def test_the_smallest_p_is_that_of_differences_of_the_same_sign(differing, alternative):
    values = [0.1 * (1 + index) for index in range(differing)] + [0.0, 0.0]
    expected = sign_flip(values, alternative=alternative).p
    assert smallest_p(differing, alternative=alternative) == expected


def test_without_differing_queries_p_is_1():
    assert smallest_p(0) == smallest_p(0, alternative="less") == 1


@pytest.mark.parametrize(
    ("differing", "beginning"),
    [
        (0, "no query differs"),
        (1, "1 query differs: too few for significance at 0.05"),
        (5, "5 queries differ: too few for significance at 0.05"),
        (9, "9 queries differ: too few to estimate power"),
    ],
)
def test_nothing_is_estimated_below_ten_differing_queries(differing, beginning):
    values = np.zeros(100)
    values[:differing] = RNG(0).normal(0, 0.3, differing)
    estimate = estimate_power(values)
    assert re.match(beginning, estimate.note)
    assert estimate.could_be_significant is (differing >= 6)
    assert estimate.detectable is estimate.detectable_low is estimate.detectable_high is None
    assert estimate.queries_low is estimate.queries_high is None
    assert (estimate.num_differing, estimate.simulated) == (differing, False)


@pytest.mark.parametrize(("alternative", "smallest"), [("two-sided", 2**-8), ("less", 2**-9)])
def test_a_level_of_exactly_the_smallest_p_can_be_significant_and_a_lower_one_cannot(
    alternative, smallest
):
    values = RNG(0).normal(0, 0.3, 9)
    estimate = estimate_power(values, alpha=smallest, alternative=alternative)
    assert estimate.smallest_p == smallest
    assert estimate.could_be_significant
    assert estimate.note.startswith("9 queries differ: too few to estimate")
    below = estimate_power(values, alpha=np.nextafter(smallest, 0), alternative=alternative)
    assert not below.could_be_significant
    assert below.note.startswith("9 queries differ: too few for significance at")


def test_a_difference_is_detectable_where_exactly_the_fewest_queries_differ():
    # All of ten queries differ, and at this level no fewer than ten are significant.
    alpha = 1.9 * 2**-9
    assert smallest_p(10) == 2**-9 < alpha < smallest_p(9)
    assert estimate_power(RNG(0).normal(0, 0.3, 10), alpha=alpha).detectable is not None


def test_equal_differences_say_nothing_about_their_spread():
    estimate = estimate_power(np.full(50, 0.1))
    assert estimate.note == "all differences are equal: how much they vary is not known"
    assert estimate.detectable is None
    assert estimate.could_be_significant


def test_too_few_differing_queries_for_the_level_detect_nothing():
    values = np.append(RNG(0).normal(0, 0.1, 10), np.zeros(200))
    assert estimate_power(values).detectable > 0
    estimate = estimate_power(values, alpha=0.003, power=0.9)  # significant from 10 queries on
    assert estimate.could_be_significant
    assert estimate.detectable is None
    assert estimate.note.startswith("too few queries differ to estimate power")


@pytest.mark.parametrize("queries", [50, 300, 5000])
def test_many_differing_queries_have_the_detectable_difference_of_the_t_formula(queries):
    values = RNG(queries).normal(0.01, 0.2, queries)
    estimate = estimate_power(values)
    assert not estimate.simulated
    deviation = values.std(ddof=1)
    assert estimate.detectable == pytest.approx(minimum_detectable_difference(deviation, queries))
    one_sided = estimate_power(values, alternative="less")
    assert one_sided.detectable == pytest.approx(
        minimum_detectable_difference(deviation, queries, alpha=0.1)
    )
    factors = [estimate.detectable_low, estimate.detectable_high] / np.array(estimate.detectable)
    for needed, factor in zip((estimate.queries_low, estimate.queries_high), factors, strict=True):
        assert abs(needed - queries_needed(0.01, factor * deviation)) <= 1


def true_power(values, difference, *, direction, alternative="two-sided"):
    """Return the power of sign-flip tests of 2,000 samples of differences with this mean."""
    rng, queries = RNG(7), len(values)
    differing = values[values != 0]
    share = len(differing) / queries
    samples = rng.choice(differing - differing.mean(), (2_000, queries))
    samples += direction * difference / share
    samples *= rng.random(samples.shape) < share
    tests = sign_flip_many(samples, draws=999, alternative=alternative)
    return np.mean((tests.p <= 0.05) & (np.sign(tests.differences) == direction))


@pytest.mark.parametrize(("queries", "ties"), [(12, 0), (30, 0), (49, 20), (300, 265)])
def test_with_few_differing_queries_the_difference_is_detected_by_80_percent_of_tests(
    queries, ties
):
    values = RNG(queries).exponential(0.1, queries) - 0.1  # skewed
    values[:ties] = 0.0
    estimate = estimate_power(values)
    assert estimate.simulated
    powers = [true_power(values, estimate.detectable, direction=sign) for sign in (1, -1)]
    assert min(powers) == pytest.approx(0.8, abs=0.06)  # 3 standard errors of 400 samples
    loss = estimate_power(values, alternative="less").detectable
    power = true_power(values, loss, direction=-1, alternative="less")
    assert power == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("alternative", "fewest"), [("two-sided", 6), ("greater", 5)])
def test_the_queries_needed_are_enough_for_the_fewest_that_can_be_significant(alternative, fewest):
    values = np.append(RNG(2).normal(0, 0.001, 20), np.zeros(980))
    estimate = estimate_power(values, delta=0.01, alternative=alternative)
    assert estimate.queries_low >= fewest / 0.02
    rng = RNG(0)
    differing = rng.binomial(estimate.queries_low, 0.02, 20_000)
    assert np.mean(differing >= fewest) == pytest.approx(0.8, abs=0.02)


@pytest.mark.simulation
@given(st.integers(0, 1000))
def test_the_estimate_is_deterministic_and_scales_with_the_scores(seed):
    values = RNG(seed).normal(0, 0.1, 20)
    estimate = estimate_power(values)
    assert estimate == estimate_power(values)
    doubled = estimate_power(2 * values, delta=0.02)
    assert doubled.detectable == pytest.approx(2 * estimate.detectable, rel=1e-4)
    assert (doubled.queries_low, doubled.queries_high) == (
        estimate.queries_low,
        estimate.queries_high,
    )
    assert estimate.detectable_low < estimate.detectable < estimate.detectable_high
    assert estimate.queries_low < estimate.queries_high


def test_the_published_example_of_bonetts_interval():
    # Bonett 2006 gives the formula; these are its terms written out for ten numbers.
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 20.0])
    deviations, normal = values - 6.5, 1.959963984540054
    trimmed_mean = values[2:-2].mean()  # trimmed by 1 / (2·√6) = .204 at each end
    kurtosis = 10 * ((values - trimmed_mean) ** 4).sum() / (deviations**2).sum() ** 2
    kurtosis = (10 * kurtosis + 40 * 10) / (10 + 40)  # with a usual one for 40 queries
    correction = 10 / (10 - normal)
    error = correction * math.sqrt((kurtosis - 7 / 10) / 9)
    variance = values.var(ddof=1)
    ends = [
        math.sqrt(math.exp(math.log(correction * variance) + sign * normal * error))
        for sign in (-1, 1)
    ]
    estimate = estimate_power(values)
    factor = estimate.sd / estimate.detectable
    assert estimate.detectable_low * factor == pytest.approx(ends[0], rel=1e-12)
    assert estimate.detectable_high * factor == pytest.approx(ends[1], rel=1e-12)


def test_the_range_of_few_queries_does_not_rely_on_the_tail_they_show():
    rng, covered = RNG(1), []
    population = np.concatenate([rng.exponential(1, 2_000), -rng.exponential(0.3, 1_000)])
    population -= population.mean()
    for _ in range(300):
        estimate = estimate_power(rng.choice(population, 25))
        low, high = estimate.detectable_low, estimate.detectable_high
        scale = estimate.sd / estimate.detectable
        covered.append(low * scale <= population.std() <= high * scale)
    assert np.mean(covered) > 0.93


def test_a_margin_too_small_for_any_number_of_queries_has_no_number():
    estimate = estimate_power(RNG(0).normal(0, 1, 60), delta=1e-9)
    assert estimate.queries_low is estimate.queries_high is None
    assert estimate.detectable is not None


@pytest.mark.parametrize("wrong", [0, 1, -0.1, math.nan, "0.05", None])
def test_invalid_settings_are_refused(wrong):
    for setting in ("alpha", "power", "confidence"):
        with pytest.raises(SettingError, match=setting):
            estimate_power([0.1, 0.2], **{setting: wrong})
    with pytest.raises(SettingError, match="delta"):
        estimate_power([0.1, 0.2], delta=-1)
    with pytest.raises(SettingError, match="alternative"):
        estimate_power([0.1, 0.2], alternative="both")
    with pytest.raises(InputError, match="at least 2"):
        estimate_power([0.1])
    with pytest.raises(SettingError, match="num_differing"):
        smallest_p(-1)


def test_at_a_level_that_simulated_tests_cannot_reach_nothing_is_detected():
    differences = np.random.default_rng(0).normal(0.1, 1, 45)
    assert estimate_power(differences, alpha=1e-5).detectable is None
    assert estimate_power(differences, alpha=0.01).detectable > 0

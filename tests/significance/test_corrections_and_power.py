"""Corrections for many p-values, and power: worked examples, and properties that always hold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.errors import InputError, SettingError
from beir_eval.significance import corrections
from beir_eval.significance.corrections import correct, holm
from beir_eval.significance.power import _power, minimum_detectable_difference, queries_needed

#: The level of a family of tests.
A = 0.05


def test_corrections_of_a_worked_example():
    p = [0.01, 0.04, 0.03, 0.5]
    assert correct(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 1.0])
    assert holm(p) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert correct(p, "none").tolist() == p


@given(
    st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12),
    st.sampled_from(["holm", "bonferroni", "none"]),
)
def test_corrections_keep_nan_the_order_and_the_range(p, method):
    corrected = correct(p, method)
    known = [(raw, new) for raw, new in zip(p, corrected, strict=True) if not math.isnan(raw)]
    assert [math.isnan(new) for new in corrected] == [math.isnan(raw) for raw in p]
    assert all(raw <= new * (1 + 1e-15) <= 1 + 1e-15 for raw, new in known)
    assert [new for _, new in sorted(known)] == sorted(new for _, new in known)
    corrected_without_nan = correct([raw for raw, _ in known], method)
    assert corrected_without_nan.tolist() == [new for _, new in known]


def test_a_correction_keeps_the_shape_and_refuses_values_outside_0_to_1():
    assert correct(np.full((2, 3), 0.1)).shape == (2, 3)
    assert correct([]).shape == (0,)
    for wrong in ([1.1], [-0.1], ["a"], [math.inf]):
        with pytest.raises(InputError, match="from 0 to 1"):
            correct(wrong)
    with pytest.raises(SettingError, match="choose one of 'holm'"):
        correct([0.1], "max-t")


@pytest.mark.parametrize(
    ("method", "p", "levels"),
    [
        ("none", [0.2, 0.01], [A, A]),
        ("bonferroni", [0.2, 0.01], [A / 2, A / 2]),
        ("holm", [0.4, 0.2, 0.3], [A / 3, A / 3, A / 3]),
        ("holm", [0.5, 0.001, 0.2, 0.013], [A / 2, A / 4, A / 2, A / 3]),
        ("holm", [0.025, 0.001, 0.05], [A / 2, A / 3, A / 1]),
        ("holm", [A / 4, A / 3, A / 2, A], [A / 4, A / 3, A / 2, A / 1]),
        ("holm", [0.001, 0.04, 0.045], [A / 3, A / 2, A / 2]),  # the second ends it
    ],
)
def test_each_hypothesis_is_tested_at_the_level_of_its_rank_and_of_the_number_rejected(
    method, p, levels
):
    assert corrections.tested_levels(np.array(p), method, A).tolist() == levels


# Power


@settings(max_examples=settings.default.max_examples // 2)
@given(st.floats(0.01, 10), st.integers(2, 10**6), st.floats(0.001, 0.2), st.floats(0.3, 0.99))
def test_the_detectable_difference_is_detected_with_the_requested_power(sd, queries, alpha, power):
    delta = minimum_detectable_difference(sd, queries, alpha=alpha, power=power)
    assert _power(delta / sd, queries, alpha) == pytest.approx(power, rel=1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.floats(1e-4, 3), st.floats(0.3, 0.99))
def test_the_queries_needed_are_just_enough(delta, power):
    needed = queries_needed(delta, 0.3, power=power)
    assert _power(delta / 0.3, needed, A) >= power
    if needed > 2:
        assert _power(delta / 0.3, needed - 1, A) < power


def test_power_without_spread_and_impossible_power():
    assert minimum_detectable_difference(0, 50) == 0
    assert queries_needed(0.01, 0) == 2
    with pytest.raises(SettingError, match="too small against"):
        queries_needed(1e-12, 0.3)
    with pytest.raises(SettingError, match="must be above alpha"):
        queries_needed(0.1, 0.3, alpha=0.1, power=0.1)
    for wrong in (1, 0, 2.5, math.inf, math.nan, None, "50"):
        with pytest.raises(SettingError, match="num_queries"):
            minimum_detectable_difference(0.3, wrong)
    for wrong in (-1, math.nan, None):
        with pytest.raises(SettingError, match="sd"):
            queries_needed(0.1, wrong)

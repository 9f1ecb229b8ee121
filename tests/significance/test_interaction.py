"""The test of whether a difference is the same in all slices of the queries."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.errors import InputError, SettingError
from beir_eval.significance import interaction, slice_interaction

RNG = np.random.default_rng(0)
LABELS = ["a"] * 10 + ["b"] * 12 + ["c"] * 18
DRAWS = 199


def statistic(differences, labels):
    """Return the statistic by its definition, a slice at a time."""
    values = np.array(differences)
    weights, means = [], []
    for label in dict.fromkeys(labels):
        part = values[[other == label for other in labels]]
        size = len(part)
        variance = ((size - 1) * part.var(ddof=1) + values.var(ddof=1) / 4) / (size - 3 / 4)
        weights.append(size / variance)
        means.append(part.mean())
    common = np.average(means, weights=weights)
    return sum(w * (mean - common) ** 2 for w, mean in zip(weights, means, strict=True))


@pytest.mark.parametrize("labels", [LABELS, LABELS[::-1], ["x", "y"] * 20])
def test_statistic_and_p_are_those_of_the_definition(labels):
    differences = RNG.normal(0.1, 0.2, (2, 40))
    differences[1] += 5
    differences[1, :10] += 0.2
    test = slice_interaction(differences, labels, draws=20_000)
    assert test.statistics == pytest.approx([statistic(row, labels) for row in differences])
    for p, row in zip(test.p, differences, strict=True):
        permuted = [statistic(row, RNG.permutation(labels).tolist()) for _ in range(2_000)]
        share = np.mean([value >= statistic(row, labels) for value in permuted])
        assert p == pytest.approx(share, abs=4 * math.sqrt(0.25 / 2_000))


def test_equal_gains_of_unequal_spread_are_called_different_in_about_5_percent():
    sizes, spreads = (20, 40, 100), (0.4, 0.1, 0.1)
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [
            rng.normal(0.1, spread, (1_000, size))
            for size, spread in zip(sizes, spreads, strict=True)
        ],
        axis=1,
    )
    labels = np.repeat(["a", "b", "c"], sizes).tolist()
    share = (slice_interaction(values, labels, draws=999).p <= 0.05).mean()
    assert 0.05 - 4 * 0.007 < share < 0.05 + 4 * 0.007


def test_a_gain_in_one_slice_alone_is_found():
    values = RNG.normal(0, 0.1, (1, 40))
    values[0, :10] += 0.3
    assert slice_interaction(values, LABELS, draws=999).p[0] <= 0.01


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.integers(-5, 5), min_size=40, max_size=40),
    st.integers(-3, 3),
    st.sampled_from([-4.0, 0.5, 1e-9, 1e9]),
)
def test_a_constant_gain_and_the_unit_change_nothing(numbers, gain, unit):
    values = np.array(numbers, dtype=float)
    p = slice_interaction([values, (values + gain) * unit], LABELS, draws=DRAWS).p
    assert p[0] == p[1]
    assert 1 / (DRAWS + 1) <= p[0] <= 1


@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.3, -0.1, 1.0]), min_size=40, max_size=40))
def test_many_zeros_give_finite_statistics_and_a_p_above_0(numbers):
    test = slice_interaction([numbers], LABELS, draws=DRAWS)
    assert np.isfinite(test.statistics).all()
    assert 0 < test.p[0] <= 1
    if len(set(numbers)) > 1:
        assert test.statistics[0] == pytest.approx(statistic(numbers, LABELS), abs=1e-9)


@pytest.mark.parametrize(
    "row", [np.zeros(40), np.full(40, 0.3), 0.3 + RNG.normal(0, 1e-15, 40), np.full(40, -1e-300)]
)
def test_differences_that_are_equal_but_for_rounding_have_p_1(row):
    test = slice_interaction([row, RNG.normal(0, 1, 40)], LABELS, draws=DRAWS)
    assert (test.statistics[0], test.p[0]) == (0.0, 1.0)


def test_a_slice_without_any_difference_differs_from_slices_that_gain():
    labels = ["long"] * 30 + ["short"] * 30
    gains = np.concatenate([np.zeros(30), RNG.normal(0.2, 0.1, 30)])
    assert slice_interaction([gains], labels, draws=999).p[0] == 1 / 1000


def test_slices_of_fewer_than_ten_queries_are_named_and_change_nothing():
    values = RNG.normal(0, 1, (1, 49))
    test = slice_interaction(values, [*LABELS, *["d"] * 9], draws=DRAWS)
    alone = slice_interaction(values[:, :40], LABELS, draws=DRAWS)
    assert test.labels == alone.labels == ("a", "b", "c")
    assert (test.too_small, alone.too_small) == (("d",), ())
    assert test.num_queries == alone.num_queries == 40
    assert (test.p, test.statistics) == (alone.p, alone.statistics)


def test_p_is_the_same_alone_and_among_other_rows_and_in_blocks_of_any_size(monkeypatch):
    values = RNG.normal(0, 1, (3, 40))
    together = slice_interaction(values, LABELS, draws=DRAWS)
    assert together.p.tolist() == [
        slice_interaction(row[None], LABELS, draws=DRAWS).p[0] for row in values
    ]
    monkeypatch.setattr(interaction, "_BLOCK", 300)
    assert slice_interaction(values, LABELS, draws=DRAWS).p.tolist() == together.p.tolist()


def test_fewer_permutations_are_drawn_for_many_queries():
    labels = ["a", "b"] * 505
    assert slice_interaction(RNG.normal(0, 1, (1, 1_010)), labels).draws == 20_000
    assert slice_interaction(RNG.normal(0, 1, (1, 40)), LABELS).draws == 100_000


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LABELS[:-1], "one label for each of the 40 queries"),
        ("abcd" * 10, "one label for each of the 40 queries"),
        (7, "one label for each of the 40 queries"),
        ([["a"], *LABELS[1:]], "a label must be text or a number, not .* at index 0"),
        (["a"] * 31 + ["b"] * 9, "2 slices of 10 or more queries were expected, found 1"),
        (list(range(40)), "found 0; join small slices"),
    ],
)
def test_labels_that_make_no_two_slices_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        slice_interaction(np.zeros((1, 40)), labels)


def test_settings_and_differences_that_cannot_be_are_refused():
    with pytest.raises(SettingError, match="draws"):
        slice_interaction(np.zeros((1, 40)), LABELS, draws=0)
    with pytest.raises(SettingError, match="rng"):
        slice_interaction(np.zeros((1, 40)), LABELS, rng=None)
    with pytest.raises(InputError, match="NaN"):
        slice_interaction(np.full((1, 40), np.nan), LABELS)
    with pytest.raises(InputError, match="2 dimensions"):
        slice_interaction(np.zeros(40), LABELS)

"""A level that is spent over looks, and the joint sign flips that spend it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.core.ids import hash_ids
from beir_eval.errors import SettingError
from beir_eval.significance import sign_flip
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.spending import Spending, flip_looks, spend

KEYS = hash_ids([f"q{number}" for number in range(30)])
SIGNS = SignVectors.choose(30, 999, 0)
DIFFERENCES = np.random.default_rng(0).normal(0.05, 0.2, (3, 30)).round(2)

# Levels


@given(st.floats(0.001, 0.5), st.integers(1, 200), st.floats(0, 0.9), st.integers(1, 400))
def test_the_levels_ascend_and_stay_below_alpha(alpha, looks, reserve, look):
    for plan in (Spending(alpha, looks, reserve), Spending(alpha, None)):
        assert 0 < plan.up_to(look) <= plan.up_to(look + 1) <= alpha * (1 + 1e-12)


def test_planned_looks_spend_equal_shares_and_the_reserve_only_afterwards():
    plan = Spending(0.05, 20, 0.2)
    assert plan.up_to(5) == pytest.approx(0.04 * 5 / 20)
    assert plan.up_to(20) == pytest.approx(0.04)
    assert plan.up_to(21) > plan.up_to(20)
    assert plan.allows(21)
    assert not Spending(0.05, 20).allows(21)
    assert Spending(0.05, 20).up_to(20) == pytest.approx(0.05)


def test_the_weights_of_an_open_end_sum_to_1():
    # Σ beyond N lies between ∫ 1/((x + 1)·ln²(x + 1)) from N + 1, and the same with x in place of
    # the first x + 1, which is less than (1 + 1/N) as large.
    first = 100_000
    spent = Spending(0.5, None).up_to(first) / 0.5
    total = math.fsum(1 / (k * math.log(k + 1) ** 2) for k in range(1, first + 1)) / spent
    rest = (total - total * spent) / total
    assert 1 / math.log(first + 2) <= rest * total <= (1 + 2 / first) / math.log(first + 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, "alpha must lie between 0 and 1"),
        ({"alpha": 0.05, "looks": 0}, "looks must be a whole number above 0"),
        ({"alpha": 0.05, "reserve": 1.0}, "reserve must be a number from 0 to below 1"),
        ({"alpha": 0.05, "looks": None, "reserve": 0.1}, "looks=None plans none"),
    ],
)
def test_an_invalid_plan_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Spending(**settings)


# Flips


def test_the_statistics_are_those_of_the_signs_of_each_query():
    signs = 2 * np.concatenate([block.copy() for block in SIGNS.blocks(KEYS)], axis=1) - 1
    expected = DIFFERENCES @ signs / np.sqrt((DIFFERENCES**2).sum(axis=1, keepdims=True))
    flips = flip_looks(DIFFERENCES, KEYS, SIGNS, "greater")
    np.testing.assert_allclose(flips.drawn, np.hstack([expected, -expected]), atol=1e-12)
    both = flip_looks(DIFFERENCES, KEYS, SIGNS, "two-sided")
    np.testing.assert_allclose(both.drawn, np.abs(expected), atol=1e-12)
    np.testing.assert_allclose(
        both.observed, np.abs(DIFFERENCES.sum(axis=1)) / np.sqrt((DIFFERENCES**2).sum(axis=1))
    )


def test_a_look_has_the_same_flips_alone_and_in_any_order_of_the_queries():
    together = flip_looks(DIFFERENCES, KEYS, SIGNS, "two-sided")
    order = np.random.default_rng(1).permutation(30)
    alone = flip_looks(DIFFERENCES[1:2, order], KEYS[order], SIGNS, "two-sided")
    np.testing.assert_allclose(alone.drawn[0], together.drawn[1], atol=1e-12)


def test_differences_that_are_all_0_have_the_statistic_0_and_no_verdict():
    flips = flip_looks(np.zeros((1, 30)), KEYS, SIGNS, "two-sided")
    assert not flips.observed.any()
    assert not flips.drawn.any()
    crossing = spend(0.0, flips.drawn[0], 0.0, np.arange(999), count=0, level=0.5)
    assert (crossing.bound, crossing.crosses, len(crossing.spent)) == (None, False, 0)


def test_an_unknown_alternative_is_refused():
    with pytest.raises(SettingError, match="choose one of 'two-sided', 'greater'"):
        flip_looks(DIFFERENCES, KEYS, SIGNS, "less")


# Spending

#: Statistics of many sign vectors at several looks, with many ties.
STATISTICS = st.integers(1, 5).flatmap(
    lambda looks: st.lists(
        st.lists(st.integers(0, 8).map(float), min_size=looks, max_size=looks),
        min_size=5,
        max_size=40,
    )
)


def crosses_some_look(statistics, observed, levels):
    """Return whether a column of statistics, f8[looks, D + 1], crosses; the others are drawn."""
    drawn = np.delete(statistics, observed, axis=1)
    alive, count = np.arange(drawn.shape[1]), 0
    for look, level in enumerate(levels):
        crossing = spend(
            statistics[look, observed], drawn[look], 10.0, alive, count=count, level=level
        )
        if crossing.crosses:
            return True
        alive, count = np.setdiff1d(alive, crossing.spent), crossing.count
    return False


@given(STATISTICS, st.floats(0.05, 0.6))
def test_at_most_a_share_alpha_of_exchangeable_sign_vectors_crosses_any_bound(rows, alpha):
    statistics = np.array(rows).T
    looks, count = statistics.shape
    levels = [alpha * (look + 1) / looks for look in range(looks)]
    crossing = sum(crosses_some_look(statistics, column, levels) for column in range(count))
    assert crossing <= alpha * count + 1e-6


@given(STATISTICS, st.floats(0.05, 0.6), st.integers(0, 3))
def test_a_sign_vector_is_spent_if_at_most_m_have_a_statistic_as_high(rows, level, count):
    observed, *drawn = [row[0] for row in rows]
    crossing = spend(
        observed, np.array(drawn), 10.0, np.arange(len(drawn)), count=count, level=level
    )
    allowed = math.floor(level * (len(drawn) + 1) * (1 + 1e-9)) - count
    everything = [observed, *drawn]
    is_spent = [sum(other >= value for other in everything) <= allowed for value in everything]
    assert crossing.crosses == is_spent[0]
    assert crossing.spent.tolist() == [index for index, spent in enumerate(is_spent[1:]) if spent]
    assert crossing.count == count + sum(is_spent)


@given(STATISTICS, st.floats(0.05, 0.6))
def test_signs_that_crossed_at_an_earlier_look_are_not_spent_again(rows, level):
    observed, *drawn = [row[0] for row in rows]
    crossing = spend(
        observed, np.array(drawn), 10.0, np.arange(len(drawn)), count=1, level=level,
        has_crossed=True,
    )  # fmt: skip
    allowed = math.floor(level * (len(drawn) + 1) * (1 + 1e-9)) - 1
    is_spent = [sum(other >= value for other in drawn) <= allowed for value in drawn]
    assert crossing.spent.tolist() == [index for index, spent in enumerate(is_spent) if spent]
    assert crossing.count == 1 + sum(is_spent)


def test_the_first_look_is_the_sign_flip_test_at_its_level():
    for row in np.random.default_rng(2).normal(0.05, 0.2, (20, 30)):
        flips = flip_looks(row[None], KEYS, SIGNS, "two-sided")
        p = (1 + (flips.drawn[0] >= flips.observed[0] - 1e-9).sum()) / 1000
        for level in (0.01, 0.05, 0.3):
            crossing = spend(
                flips.observed[0], flips.drawn[0], flips.largest[0], np.arange(999), count=0,
                level=level,
            )  # fmt: skip
            assert crossing.crosses == (p <= level)
        assert p == pytest.approx(sign_flip(row, draws=100_000).p, abs=0.06)


def test_equal_looks_spend_nothing_new_until_the_level_rises():
    differences = np.random.default_rng(3).normal(0.05, 0.2, (1, 30))  # so that no two sums tie
    flips = flip_looks(differences, KEYS, SIGNS, "two-sided")
    alive = np.arange(999)
    first = spend(flips.observed[0], flips.drawn[0], 9.0, alive, count=0, level=0.05)
    alive = np.setdiff1d(alive, first.spent)
    second = spend(flips.observed[0], flips.drawn[0], 9.0, alive, count=first.count, level=0.05)
    assert (second.bound, len(second.spent), second.count) == (None, 0, first.count)
    third = spend(flips.observed[0], flips.drawn[0], 9.0, alive, count=first.count, level=0.1)
    at_once = spend(flips.observed[0], flips.drawn[0], 9.0, np.arange(999), count=0, level=0.1)
    assert third.bound == at_once.bound
    assert third.count == at_once.count

"""Similarity of two rankings, compared with scipy, published values and arithmetic."""

import itertools
import math
import string

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from beir_eval.comparison.rank_similarity import kendall_distance, overlap, rbo

LETTERS = list(string.ascii_lowercase)
orders = st.permutations(LETTERS[:9])
lists = st.lists(st.sampled_from(LETTERS[:12]), unique=True, max_size=10)


def distance_by_definition(first, second, penalty):
    """Return Kendall's distance by the four cases of Fagin, Kumar and Sivakumar, pair by pair."""
    union = sorted(set(first) | set(second))
    total = 0.0
    for a, b in itertools.combinations(union, 2):
        a_before_b = []
        for ranking in (first, second):
            if a not in ranking and b not in ranking:
                a_before_b.append(None)
            elif b not in ranking or (a in ranking and ranking.index(a) < ranking.index(b)):
                a_before_b.append(True)
            else:
                a_before_b.append(False)
        total += penalty if None in a_before_b else a_before_b[0] != a_before_b[1]
    return total / math.comb(len(union), 2)


@given(lists, lists, st.floats(0, 1))
def test_kendall_distance_equals_the_definition(first, second, penalty):
    assume(len(set(first) | set(second)) >= 2)
    expected = distance_by_definition(first, second, penalty)
    assert kendall_distance(first, second, penalty=penalty) == pytest.approx(expected, abs=1e-12)
    assert kendall_distance(second, first, penalty=penalty) == pytest.approx(expected, abs=1e-12)
    assert 0 <= expected <= 1


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_disjoint_lists_have_the_distance_of_the_formula_and_no_overlap(k):
    first, second = [f"a{number}" for number in range(k)], [f"b{number}" for number in range(k)]
    assert kendall_distance(first, second) == pytest.approx((3 * k - 1) / (4 * k - 2), abs=1e-15)
    assert overlap(first, second, k=k) == 0
    assert rbo(first, second).extrapolated == 0


#: RBO of the alphabet and each of these lists, from the test data of an implementation that was
#: checked against the authors' own program.
PUBLISHED = [
    ("av", 0.2, 0.9, 0.014852),
    ("b", 0.2, 0.092574, 0.107426),
    ("dnty", 0.1, 0.000250, 0.000021),
    ("ck", 0.1, 0.003245, 0.003511 - 0.003245),
    ("pciw", 0.1, 0.003250, 0.000021),
    ("bncxagm", 0.2, 0.105466, 0.000002),
    ("akdwcjomxrubqitenhspyl", 0.1, 0.948509, 0.0),
]


@pytest.mark.parametrize(("letters", "p", "extrapolated", "residual"), PUBLISHED)
def test_rbo_equals_published_values(letters, p, extrapolated, residual):
    result = rbo(LETTERS, list(letters), p=p)
    assert result.extrapolated == pytest.approx(extrapolated, abs=1e-6)
    if letters != "ck":  # that program starts this residual from a smaller lower bound
        assert result.residual == pytest.approx(residual, abs=1e-6)


def test_rbo_of_a_worked_example():
    # 1 2 3 4 5 against 2 3 4 1 5: 0, 1, 2, 4, 5 documents shared at depths 1 to 5.
    p = 0.9
    shared = [0, 1, 2, 4, 5]
    known = sum(count / depth * p**depth for depth, count in enumerate(shared, start=1))
    expected = (1 - p) / p * known + 5 / 5 * p**5
    result = rbo([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], p=p)
    assert result.extrapolated == pytest.approx(expected, abs=1e-12)
    assert round(result.extrapolated, 3) == 0.828


@given(lists, lists, st.floats(0.1, 0.95))
def test_the_bounds_of_rbo_are_those_of_the_worst_and_the_best_continuation(first, second, p):
    if not first and not second:
        assert all(map(math.isnan, rbo(first, second, p=p)))
        return
    result = rbo(first, second, p=p)
    depth = 400

    def rbo_to_depth(a, b):
        total = 0.0
        for d in range(1, depth + 1):
            total += p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d
        return (1 - p) * total

    worst = rbo_to_depth(
        first + [("x", n) for n in range(depth)], second + [("y", n) for n in range(depth)]
    )
    assert result.lowest == pytest.approx(worst, abs=1e-9)
    # The best continuation: the documents of the other list that this list lacks, then equal ones.
    tail = [("z", n) for n in range(depth)]
    best = rbo_to_depth(
        first + [doc for doc in second if doc not in first] + tail,
        second + [doc for doc in first if doc not in second] + tail,
    )
    assert result.lowest + result.residual >= best - 1e-9
    assert -1e-12 <= result.residual <= 1 + 1e-12
    assert result.lowest - 1e-9 <= result.extrapolated <= result.lowest + result.residual + 1e-9


@given(orders)
def test_equal_rankings_have_rbo_1_when_extrapolated(ranking):
    assert rbo(ranking, ranking).extrapolated == pytest.approx(1)


def test_overlap_divides_by_k_or_the_longer_list():
    assert overlap(["a", "b", "c", "d"], ["b", "x", "a"], k=2) == 1 / 2
    assert overlap(["a", "b"], ["a"], k=10) == 1 / 2
    assert math.isnan(overlap([], [], k=3))


def test_undefined_values_are_nan():
    assert kendall_distance(["a"], ["a"]) == 0
    assert math.isnan(kendall_distance(["a"], []))
    assert math.isnan(kendall_distance([], []))


def test_a_long_ranking_is_compared_exactly():
    rng = np.random.default_rng(0)
    first = [str(number) for number in rng.permutation(3000)]
    second = [str(number) for number in rng.permutation(3000)]
    rank_in_second = {doc: rank for rank, doc in enumerate(second)}
    tau = stats.kendalltau(range(3000), [rank_in_second[doc] for doc in first]).statistic
    assert kendall_distance(first, second) == pytest.approx((1 - tau) / 2, abs=1e-12)

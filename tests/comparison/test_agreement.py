"""How alike two rankings are, held against scipy, published values and arithmetic."""

import itertools
import math
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beir_eval import Run
from beir_eval.comparison import (
    Agreement,
    agree,
    kendall_distance,
    overlap,
    rbo,
    spearman,
)
from beir_eval.errors import (
    DuplicateDocumentError,
    QueryMismatchError,
    RunError,
    SettingError,
)
from strategies import qrels_and_run

LETTERS = list(string.ascii_lowercase)
orders = st.permutations(LETTERS[:9])
lists = st.lists(st.sampled_from(LETTERS[:12]), unique=True, max_size=10)


def by_the_definition(one, other, penalty):
    """Fagin, Kumar and Sivakumar's four cases, pair by pair."""
    union = sorted(set(one) | set(other))
    total = 0.0
    for a, b in itertools.combinations(union, 2):
        ahead = []
        for ranking in (one, other):
            if a not in ranking and b not in ranking:
                ahead.append(None)
            elif b not in ranking or (a in ranking and ranking.index(a) < ranking.index(b)):
                ahead.append(True)
            else:
                ahead.append(False)
        total += penalty if None in ahead else ahead[0] != ahead[1]
    return total / math.comb(len(union), 2)


@given(lists, lists, st.floats(0, 1))
def test_kendalls_distance_is_that_of_the_definition(one, other, penalty):
    if len(set(one) | set(other)) < 2:
        return
    expected = by_the_definition(one, other, penalty)
    assert kendall_distance(one, other, penalty=penalty) == pytest.approx(expected, abs=1e-12)
    assert kendall_distance(other, one, penalty=penalty) == pytest.approx(expected, abs=1e-12)
    assert 0 <= expected <= 1


@given(orders, orders)
def test_kendall_and_spearman_are_those_of_scipy_on_equal_sets(one, other):
    places = [other.index(doc) for doc in one]
    tau = stats.kendalltau(range(9), places).statistic
    assert kendall_distance(one, other) == pytest.approx((1 - tau) / 2, abs=1e-12)
    assert kendall_distance(one, other, pairs="intersection") == kendall_distance(one, other)
    rho = stats.spearmanr(range(9), places).statistic
    assert spearman(one, other) == pytest.approx(rho, abs=1e-12)


@given(lists, lists)
def test_common_documents_alone_are_compared_on_request(one, other):
    shared = [doc for doc in one if doc in other]
    if len(shared) < 2:
        assert math.isnan(spearman(one, other))
        return
    again = [doc for doc in other if doc in shared]
    assert kendall_distance(one, other, pairs="intersection") == kendall_distance(shared, again)
    assert spearman(one, other) == spearman(shared, again)


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_equal_reversed_and_swapped_rankings(n):
    ranking = [f"d{number}" for number in range(n)]
    swapped = [*ranking[:-2], ranking[-1], ranking[-2]]
    assert kendall_distance(ranking, ranking) == 0
    assert kendall_distance(ranking, ranking[::-1]) == 1
    assert kendall_distance(ranking, swapped) == 1 / (n * (n - 1) / 2)
    assert (spearman(ranking, ranking), spearman(ranking, ranking[::-1])) == (1, -1)


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_disjoint_lists(k):
    one, other = [f"a{number}" for number in range(k)], [f"b{number}" for number in range(k)]
    assert kendall_distance(one, other) == pytest.approx((3 * k - 1) / (4 * k - 2), abs=1e-15)
    assert overlap(one, other, k=k) == 0
    assert rbo(one, other).extrapolated == 0


#: From the test data of an implementation that was checked against the authors' own program:
#: the alphabet against these lists.
PUBLISHED = [
    ("av", 0.2, 0.9, 0.014852),
    ("b", 0.2, 0.092574, 0.107426),
    ("dnty", 0.1, 0.000250, 0.000021),
    ("ck", 0.1, 0.003245, 0.003511 - 0.003245),
    ("pciw", 0.1, 0.003250, 0.000021),
    ("bncxagm", 0.2, 0.105466, 0.000002),
    ("akdwcjomxrubqitenhspyl", 0.1, 0.948509, 0.0),
]


@pytest.mark.parametrize(("other", "p", "extrapolated", "residual"), PUBLISHED)
def test_rbo_equals_published_values(other, p, extrapolated, residual):
    found = rbo(LETTERS, list(other), p=p)
    assert found.extrapolated == pytest.approx(extrapolated, abs=1e-6)
    if other != "ck":  # there the other program's residual is against a lower lowest value
        assert found.residual == pytest.approx(residual, abs=1e-6)


def test_rbo_of_a_worked_example():
    # 1 2 3 4 5 against 2 3 4 1 5: 0, 1, 2, 4, 5 documents shared at depths 1 to 5.
    p = 0.9
    shared = [0, 1, 2, 4, 5]
    known = sum(count / depth * p**depth for depth, count in enumerate(shared, start=1))
    expected = (1 - p) / p * known + 5 / 5 * p**5
    found = rbo([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], p=p)
    assert found.extrapolated == pytest.approx(expected, abs=1e-12)
    assert round(found.extrapolated, 3) == 0.828


@given(lists, lists, st.floats(0.1, 0.95))
def test_the_bounds_of_rbo_are_what_the_worst_and_the_best_rest_would_give(one, other, p):
    if not one and not other:
        assert all(map(math.isnan, rbo(one, other, p=p)))
        return
    found = rbo(one, other, p=p)
    depth = 400

    def summed(first, second):
        total = 0.0
        for d in range(1, depth + 1):
            total += p ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d
        return (1 - p) * total

    worst = summed(one + [("x", n) for n in range(depth)], other + [("y", n) for n in range(depth)])
    assert found.lowest == pytest.approx(worst, abs=1e-9)
    # The best rest: what the other list showed and this one lacks, then the same documents.
    rest = [("z", n) for n in range(depth)]
    best = summed(
        one + [doc for doc in other if doc not in one] + rest,
        other + [doc for doc in one if doc not in other] + rest,
    )
    assert found.lowest + found.residual >= best - 1e-9
    assert -1e-12 <= found.residual <= 1 + 1e-12
    assert found.lowest - 1e-9 <= found.extrapolated <= found.lowest + found.residual + 1e-9


@given(orders)
def test_equal_rankings_have_rbo_1_when_extrapolated(ranking):
    assert rbo(ranking, ranking).extrapolated == pytest.approx(1)


def test_overlap_divides_by_k_or_the_longer_list():
    assert overlap(["a", "b", "c", "d"], ["b", "x", "a"], k=2) == 1 / 2
    assert overlap(["a", "b"], ["a"], k=10) == 1 / 2
    assert math.isnan(overlap([], [], k=3))


def test_what_is_undefined_is_nan():
    assert kendall_distance(["a"], ["a"]) == 0
    assert math.isnan(kendall_distance(["a"], []))
    assert math.isnan(kendall_distance([], []))
    assert math.isnan(spearman(["a"], ["a"]))


@given(qrels_and_run(min_size=1, complete=True), st.integers(1, 12))
def test_agree_compares_the_rankings_of_both_runs_query_by_query(case, k):
    _, run = case
    other = {query: {doc: -score for doc, score in ranked.items()} for query, ranked in run.items()}
    result = agree(run, other, k=k)
    assert result.query_ids == tuple(run)
    for place, ranked in enumerate(run.values()):

        def ranking(sign, ranked=ranked):
            by_id = sorted(ranked, reverse=True)
            return sorted(by_id, key=lambda doc: sign * float(ranked[doc]), reverse=True)

        expected = kendall_distance(ranking(1), ranking(-1), k=k)
        np.testing.assert_equal(result.per_query["kendall_distance"][place], expected)
    for name, mean in result.mean.items():
        values = [value for value in result.per_query[name] if not math.isnan(value)]
        assert result.num_defined[name] == len(values)
        np.testing.assert_equal(mean, math.fsum(values) / len(values) if values else math.nan)


def test_rankings_in_the_order_given_are_compared_as_they_are():
    one = Run.from_rankings({"q": ["a", "b"], "only": ["x"]})
    result = agree(one, {"q": {"a": 1.0, "b": 2.0}, "r": {}, "s": {}}, order="given")
    assert result.mean["kendall_distance"] == 0
    assert (result.only_first, result.only_second) == (1, 2)
    assert agree(one, {"q": {"a": 1.0, "b": 2.0}}).mean["kendall_distance"] == 1


def test_what_cannot_be_compared_is_refused():
    run = {"q": {"a": 1.0}}
    with pytest.raises(QueryMismatchError, match="'first' has 'q', 'second' has 'r'"):
        agree(run, {"r": {}})
    with pytest.raises(DuplicateDocumentError, match="query 'q': a ranking holds 'a' more than"):
        agree(run, Run.from_columns("qq", "aa", [1, 2]))
    for wrong in (
        *({"k": 0}, {"k": 1.5}, {"k": None}, {"p": 1}, {"p": "0.9"}, {"p": 1e-320}, {"penalty": 2}),
        *({"penalty": None}, {"ties": "best"}, {"order": "x"}, {"duplicates": "keep"}),
        *({"names": ("x",)}, {"names": (1, 2)}),
    ):
        with pytest.raises(SettingError, match=next(iter(wrong))):
            agree(run, run, **wrong)
    with pytest.raises(SettingError, match="pairs"):
        kendall_distance(["a"], ["a"], pairs="all")
    with pytest.raises(RunError, match="a list of ids, not 'ab'"):
        spearman("ab", "ba")


def test_repeated_documents_are_compared_once_on_request():
    repeated = Run.from_columns("qqq", "aba", [3, 2, 1])
    result = agree(repeated, {"q": {"a": 2.0, "b": 1.0}}, duplicates="first")
    assert result.mean["kendall_distance"] == 0


def test_a_set_has_no_order_and_is_no_ranking():
    with pytest.raises(RunError, match="a list of ids"):
        rbo({"a", "b"}, ["a"])


def test_an_agreement_survives_json():
    result = agree({"q": {"a": 1.0}}, {"q": {"b": 1.0}})
    assert math.isnan(result.per_query["spearman"][0])
    loaded = Agreement.model_validate_json(result.model_dump_json())
    assert loaded.model_dump_json() == result.model_dump_json()


def test_a_long_ranking_is_compared_exactly():
    rng = np.random.default_rng(0)
    one = [str(number) for number in rng.permutation(3000)]
    other = [str(number) for number in rng.permutation(3000)]
    place = {doc: rank for rank, doc in enumerate(other)}
    tau = stats.kendalltau(range(3000), [place[doc] for doc in one]).statistic
    assert kendall_distance(one, other) == pytest.approx((1 - tau) / 2, abs=1e-12)

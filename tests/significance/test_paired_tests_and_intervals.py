"""Paired tests and intervals: exact values, properties of every test, and refused input."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval.errors import InputError, MissingExtraError, SettingError
from beir_eval.significance import PAIRED_TESTS, sign_flip
from beir_eval.significance.corrections import holm
from beir_eval.significance.equivalence import non_inferiority
from beir_eval.significance.paired_tests import paired_t, t_p_values
from beir_eval.significance.power import minimum_detectable_difference, queries_needed
from beir_eval.significance.sign_flip import sign_flip_intervals, sign_flip_many
from beir_eval.significance.sign_vectors import SignVectors, all_subsets, position_keys
from families import max_t, max_t_of_pairs, p_equal, p_of_pairs
from paired_scores import any_score, reciprocals, some_scores, tenths

ALTERNATIVES = ["two-sided", "less", "greater"]
few_scores = st.lists(st.tuples(tenths, tenths), min_size=2, max_size=8)
pairs_of_scores = st.one_of(
    *(
        st.lists(st.tuples(kind, kind), min_size=2, max_size=25)
        for kind in (tenths, reciprocals, any_score)
    )
)


def p_by_enumeration(first, second, alternative):
    """Return the exact sign-flip p of scores that are tenths, computed in whole numbers."""
    differences = [round(10 * a) - round(10 * b) for a, b in zip(first, second, strict=True)]
    total = sum(differences)
    num_extreme = 0
    for signs in itertools.product((1, -1), repeat=len(differences)):
        flipped = sum(
            sign * difference for sign, difference in zip(signs, differences, strict=True)
        )
        num_extreme += {
            "two-sided": abs(flipped) >= abs(total),
            "less": flipped <= total,
            "greater": flipped >= total,
        }[alternative]
    return float(Fraction(num_extreme, 2 ** len(differences)))


# Sign flips


@given(few_scores, st.sampled_from(ALTERNATIVES))
def test_ties_of_precision_at_10_are_counted_as_in_whole_numbers(scores, alternative):
    first, second = zip(*scores, strict=True)
    result = sign_flip(first, second, alternative=alternative)
    assert result.exact
    num_differing = sum(ours != theirs for ours, theirs in scores)
    assert result.draws == 2 ** max(num_differing - 1, 0)
    assert result.p == p_by_enumeration(first, second, alternative)


@given(st.lists(st.tuples(tenths, tenths, tenths), min_size=2, max_size=7))
def test_all_pairs_at_once_have_the_exact_p_of_each_pair(scores):
    systems = np.array(scores).T
    p = p_of_pairs(systems)
    for system, against in itertools.product(range(3), repeat=2):
        expected = p_by_enumeration(systems[system], systems[against], "two-sided")
        assert p[system, against] == (1 if system == against else expected)


@pytest.mark.parametrize("kind", ["tenths", "reciprocal ranks", "any"])
def test_a_pair_has_the_same_random_p_alone_among_many_and_among_all_pairs(kind):
    rng = np.random.default_rng(0)
    scores = {
        "tenths": rng.integers(0, 11, (4, 61)) / 10,
        "reciprocal ranks": 1 / rng.integers(1, 11, (4, 61)),
        "any": rng.random((4, 61)),
    }[kind]
    scores[3] = scores[2]
    scores[3, 7] += 0.1  # they differ in one query only: every sign vector ties
    pairs = p_of_pairs(scores, draws=3000, rng=5)
    for system, against in itertools.combinations(range(4), 2):
        first, second = scores[system], scores[against]
        single = sign_flip(first, second, draws=3000, rng=5)
        many = sign_flip_many([first - second, first], draws=3000, rng=5)
        assert pairs[system, against] == single.p == many.p[0]
    assert pairs[2, 3] == 1


def test_random_sign_flips_come_close_to_the_exact_p():
    differences = np.random.default_rng(3).normal(0.2, 1, 14)
    exact = sign_flip(differences, draws=2**13)
    random = sign_flip(differences, draws=2**13 - 1)
    assert (exact.exact, random.exact) == (True, False)
    assert random.p == pytest.approx(exact.p, abs=5 * math.sqrt(0.25 / 2**13))


def test_every_subset_occurs_once_up_to_complement_and_random_subsets_are_fair():
    subsets = {tuple(subset) for subset in all_subsets(5).T}
    complements = {tuple(1 - query for query in subset) for subset in subsets}
    assert len(subsets) == 2**4
    assert subsets | complements == set(itertools.product((0, 1), repeat=5))
    signs = SignVectors.choose(130, 4000, 0)
    drawn = np.hstack([part.copy() for part in signs.products(np.eye(130), position_keys(130))])
    assert drawn.shape == (130, 4000)
    assert np.abs(drawn.mean(axis=1) - 0.5).max() < 2.5 / math.sqrt(4000)
    assert np.abs(np.corrcoef(drawn) - np.eye(130)).max() < 5.5 / math.sqrt(4000)
    assert signs.kept_of(1000).mean() == pytest.approx(500, abs=5 * math.sqrt(250 / 4000))


# Properties of every test


TESTS = {name: method.test for name, method in PAIRED_TESTS.items()} | {
    "random sign flip": lambda *scores, **options: sign_flip(*scores, draws=3, **options),
}
ORDER_INVARIANT = [name for name in TESTS if name != "random sign flip"]


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=settings.default.max_examples // 4)
@given(pairs_of_scores, st.sampled_from(ALTERNATIVES))
def test_swapping_the_systems_mirrors_the_test_and_p_is_never_0(name, scores, alternative):
    first, second = map(list, zip(*scores, strict=True))
    test = TESTS[name]
    mirrored = {"less": "greater", "greater": "less"}.get(alternative, alternative)
    result, swapped = (
        test(first, second, alternative=alternative),
        test(second, first, alternative=mirrored),
    )
    assert 0 < result.p <= 1
    assert result.p == pytest.approx(swapped.p, rel=1e-12)
    assert result.difference == pytest.approx(-swapped.difference, abs=1e-15)
    assert result == test(first, second, alternative=alternative)


@pytest.mark.parametrize("name", ORDER_INVARIANT)
@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.tuples(tenths, tenths), min_size=2, max_size=10), st.randoms())
def test_the_order_of_the_queries_does_not_matter(name, scores, random):
    shuffled = random.sample(scores, len(scores))
    result = TESTS[name](*zip(*scores, strict=True))
    shuffled_result = TESTS[name](*zip(*shuffled, strict=True))
    assert result.p == pytest.approx(shuffled_result.p, rel=1e-9)
    assert result.difference == shuffled_result.difference


def test_two_calls_agree_unless_they_share_a_generator():
    scores = some_scores(0, 3, 40) - 0.5
    for test in (
        lambda rng: p_of_pairs(scores, draws=300, rng=rng).tolist(),
        lambda rng: max_t(scores, draws=300, rng=rng).p.tolist(),
    ):
        assert test(0) == test(0) == test(np.random.default_rng(0))
        generator = np.random.default_rng(0)
        assert test(generator) != test(generator)


def test_arguments_are_never_modified():
    scores = some_scores(0, 3, 12)
    scores.flags.writeable = False
    p_of_pairs(scores)
    max_t(scores)
    p = np.array([0.1, 0.01])
    holm(p)
    assert p.tolist() == [0.1, 0.01]


# Degenerate and invalid input


def test_a_system_compared_with_itself_shows_no_difference():
    scores = some_scores(0, 1, 30)[0]
    for test in TESTS.values():
        for alternative in ALTERNATIVES:
            assert test(scores, scores, alternative=alternative).p == 1
    assert paired_t(scores, scores).statistic == 0
    copies = np.array([scores, scores, scores])
    for test in (p_of_pairs, max_t_of_pairs):
        assert (test(copies, draws=50) == 1).all()
    assert max_t(copies - scores, draws=50).p.tolist() == [1, 1, 1]
    # 1% of all queries could lose everything.
    assert p_equal(scores - scores, delta=0.01) == pytest.approx(0.99**30, rel=1e-9)
    assert p_equal(scores - scores, delta=0.01, score_range=None) == 1 / 2**30


@pytest.mark.parametrize("queries", [2, 5, 10, 40])
def test_equal_differences_have_the_p_of_the_exact_sign_flip_test(queries):
    first, second = np.full(queries, 0.3), np.full(queries, 0.2)
    second[0], first[0] = 0.1, 0.2  # the same difference except in its last bit
    for alternative, expected in (("two-sided", 2), ("greater", 1), ("less", 2**queries)):
        result = paired_t(first, second, alternative=alternative)
        assert result.statistic == math.inf
        assert result.p == expected / 2**queries
        assert "exact sign-flip test" in result.note
        if queries <= 10:
            assert sign_flip(first, second, alternative=alternative).p == result.p
    assert p_equal(first - second, delta=0.05) == 1


def test_a_p_too_small_for_a_float_is_the_smallest_float():
    first = np.random.default_rng(0).normal(0.9, 0.1, 6980)
    assert paired_t(first).p == np.finfo(float).tiny
    assert paired_t(np.ones(5000)).p == np.finfo(float).tiny


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (([0.1],), "cover 1 queries; at least 2"),
        (([],), "cover 0 queries"),
        (
            ([0.1, math.nan, 0.2],),
            "NaN, infinity or more than .* for 1 queries, first at index 1",
        ),
        (([0.1, 0.2], [math.inf, 1.0]), "NaN"),
        (([0.1, 0.2], [0.1, 0.2, 0.3]), "scores for 2 and 3 queries"),
        ((["0.1", "0.2"],), "must be numbers"),
        (([[0.1, 0.2]],), "in 1 dimensions"),
        (([[0.1, 0.2], [0.1]],), "rows of equal length"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(wrong, message):
    for test in [*TESTS.values(), lambda *scores: non_inferiority(*scores, delta=0.1)]:
        with pytest.raises(InputError, match=message):
            test(*wrong)


def test_rows_that_cannot_be_compared_are_refused():
    for test in (sign_flip_many, sign_flip_intervals):
        with pytest.raises(InputError, match="in 2 dimensions"):
            test([0.1, 0.2])
        with pytest.raises(InputError, match="are empty"):
            test(np.zeros((0, 5)))


@pytest.mark.parametrize(
    "wrong",
    [
        *({"draws": value} for value in (0, -1, 1.5, True)),
        *({"rng": value} for value in (None, -1, 1.5, "0", True)),
        *({"alternative": value} for value in ("both", None)),
    ],
)
def test_invalid_settings_are_refused(wrong):
    (setting,) = wrong
    scores = some_scores(0, 2, 30)
    with pytest.raises(SettingError, match=setting):
        sign_flip(scores[0], **wrong)
    if setting != "alternative":
        with pytest.raises(SettingError, match=setting):
            sign_flip_many(scores, **wrong)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, math.nan, "0.05", None, True])
def test_shares_outside_0_to_1_are_refused(wrong):
    with pytest.raises(SettingError, match="confidence"):
        sign_flip_intervals([[0.1, 0.2]], confidence=wrong)
    with pytest.raises(SettingError, match="alpha"):
        non_inferiority([0.1, 0.2], delta=0.1, alpha=wrong)
    with pytest.raises(SettingError, match="alpha"):
        queries_needed(0.1, 1, alpha=wrong)
    with pytest.raises(SettingError, match="power"):
        minimum_detectable_difference(1, 50, power=wrong)


def test_invalid_deltas_are_refused():
    for wrong in (0, -1, math.inf, math.nan, "1", None):
        with pytest.raises(SettingError, match="delta"):
            non_inferiority([0.1, 0.2], delta=wrong)
        with pytest.raises(SettingError, match="delta"):
            queries_needed(wrong, 0.3)
    with pytest.raises(SettingError, match="alpha must lie below"):
        non_inferiority([0.1, 0.2], delta=0.1, alpha=0.5)


def test_a_missing_scipy_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r"the power of a test.*beir-eval\[stats\]"):
        queries_needed(0.9, 0.1)
    assert queries_needed(0.1, 0.3) == 73
    assert sign_flip([0.1, 0.2, 0.4]).p == 0.25
    assert round(paired_t([0.1, 0.2, 0.4]).p, 4) == 0.1181


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e30, 1e90])
def test_the_unit_of_the_scores_does_not_matter(unit):
    plain = np.array([0.3, -0.1, 0.2, 0.25, 0.4])
    assert sign_flip(plain * unit).p == sign_flip(plain).p
    assert paired_t(plain * unit).p == pytest.approx(paired_t(plain).p, rel=1e-12)
    assert max_t([plain * unit, plain]).p == pytest.approx(max_t([plain, plain]).p)


def test_p_values_of_means_and_deviations_are_those_of_the_t_test():
    values = np.random.default_rng(1).normal(0.1, 0.3, (3, 25))
    values[1], values[2] = 0.0, 0.5
    p = t_p_values(values.mean(axis=1), values.std(axis=1, ddof=1), 25)
    assert p[0] == pytest.approx(stats.ttest_1samp(values[0], 0.0).pvalue)
    assert p[1] == 1.0
    assert p[2] == paired_t(values[2]).p

"""A verdict and the interval beside it never disagree, whatever the correction."""

import numpy as np
import pytest

from beir_eval.significance.corrections import CORRECTIONS, CorrectedTests, corrected_tests
from beir_eval.significance.multiple_comparisons import max_t_tests
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_flip import sign_flip
from beir_eval.significance.sign_vectors import SignVectors, position_keys
from families import all_pairs_family, interval_of, max_t

ALPHA = 0.05


def awkward_scores(seed):
    """Return scores f8[S, Q] with ties, zeros, constant differences and few queries."""
    rng = np.random.default_rng(seed)
    num_systems, num_queries = int(rng.integers(2, 6)), int(rng.choice([3, 5, 6, 7, 9, 15, 18, 30]))
    scores = rng.normal(0.5, 0.2, (num_systems, num_queries))
    kind = seed % 6
    if kind == 1:
        scores = np.round(scores, 1)
    elif kind == 2:  # most queries tie
        scores = np.where(rng.random(num_queries) < 0.8, scores[:1], scores)
    elif kind == 3:  # a constant difference
        scores[1] = scores[0] + 0.25
    elif kind == 4:  # a large difference beside small ones
        scores[-1] += 0.5
    elif kind == 5:  # an exact copy, and outcomes of 0 and 1
        scores = np.round(scores)
        scores[-1] = scores[0]
    return scores


def unadjusted_tests(seed):
    """Yield (correction, means, tests) of all pairs."""
    scores = awkward_scores(seed)
    draws = (200, 999)[seed % 2]
    family = all_pairs_family(scores)
    signs = SignVectors.choose(scores.shape[1], draws, seed)
    [flipped] = randomise([family], signs, level=ALPHA, largest="family")
    yield "max-T", flipped.means, max_t_tests(flipped, ALPHA)
    for method in CORRECTIONS:
        yield (
            method,
            flipped.means,
            corrected_tests(flipped.means, flipped.p(), flipped.intervals, method, ALPHA),
        )


def test_no_verdict_disagrees_with_its_interval_before_ends_are_adjusted(monkeypatch):
    monkeypatch.setattr(
        CorrectedTests, "agreeing", classmethod(lambda cls, _means, *fields: cls(*fields))
    )
    num_comparisons = num_significant = 0
    for seed in range(600):
        for method, means, tests in unadjusted_tests(seed):
            excludes_0 = (tests.low > 1e-9) | (tests.high < -1e-9)
            is_near_0 = np.minimum(np.abs(tests.low), np.abs(tests.high)) <= 1e-9
            disagrees = (excludes_0 != tests.is_significant) & ~is_near_0
            assert not disagrees.any(), (seed, method)
            assert (tests.is_significant == (tests.p_corrected <= ALPHA * (1 + 1e-9))).all()
            is_wrong_side = tests.is_significant & np.where(
                means > 0, tests.high < 0, tests.low > 0
            )
            assert not is_wrong_side.any(), (seed, method)
            assert ((tests.low <= means + 1e-12) & (means - 1e-12 <= tests.high)).all()
            num_comparisons += len(means)
            num_significant += int(tests.is_significant.sum())
    assert num_comparisons >= 10_000
    assert num_significant >= 1_000


def test_adjusted_ends_agree_to_the_last_bit():
    for seed in range(100):
        for method, _, tests in unadjusted_tests(seed):
            excludes_0 = (tests.low > 0) | (tests.high < 0)
            assert (excludes_0 == tests.is_significant).all(), (seed, method)


@pytest.mark.parametrize("kind", range(6))
def test_the_interval_excludes_0_exactly_if_p_is_at_most_the_level(kind):
    for seed in range(kind, 120, 6):
        scores = awkward_scores(seed)
        differences = scores[1] - scores[0]
        for confidence in (0.8, 0.95, 0.99):
            interval = interval_of(differences, confidence=confidence, draws=500, rng=seed)
            p = sign_flip(differences, draws=500, rng=seed).p
            is_significant = p <= (1 - confidence) * (1 + 1e-9)
            assert (interval.low > 0 or interval.high < 0) == is_significant


def test_the_interval_of_few_queries_is_that_of_all_shifted_tests():
    rng = np.random.default_rng(3)
    for num_queries in (6, 8, 10):
        differences = rng.normal(0.1, 0.3, num_queries)
        interval = interval_of(differences)
        inside = sign_flip(differences - (interval.low + 1e-9)).p
        outside = sign_flip(differences - (interval.low - 1e-9)).p
        assert outside <= ALPHA < inside
        inside = sign_flip(differences - (interval.high - 1e-9)).p
        outside = sign_flip(differences - (interval.high + 1e-9)).p
        assert outside <= ALPHA < inside


def test_queries_that_tie_keep_the_interval_narrow_without_entering_the_product():
    rng = np.random.default_rng(4)
    differences = np.concatenate([rng.normal(0.3, 0.2, 25), np.zeros(75)])
    with_zeros = interval_of(differences, rng=1)
    # The same with numbers that are not exactly 0 but change nothing.
    nearly_0 = np.where(differences == 0, 1e-9, differences)
    every_query = interval_of(nearly_0, rng=2)
    assert with_zeros.low == pytest.approx(every_query.low, abs=0.003)
    assert with_zeros.high == pytest.approx(every_query.high, abs=0.003)


def test_intervals_are_unbounded_where_no_outcome_is_significant():
    interval = interval_of([0.1, 0.2, 0.3, 0.4, 0.5])
    assert (interval.low, interval.high) == (-np.inf, np.inf)
    tests = max_t([[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.1, 0.0, 0.2, 0.2]])
    assert np.isinf(tests.low).all()
    assert np.isinf(tests.high).all()


def test_a_comparison_alone_and_among_others_has_the_same_p_and_nearly_the_same_interval():
    rng = np.random.default_rng(5)
    scores = rng.normal(0.5, 0.2, (10, 60))
    keys = position_keys(60)
    signs = SignVectors.choose(60, 5000, 0)
    pairs = np.arange(1, 10)
    [together] = randomise(
        [Family(scores, keys, pairs, np.zeros(9, dtype=np.int64))], signs, level=ALPHA
    )
    for index, system in enumerate(pairs.tolist()):
        [alone] = randomise(
            [Family(scores[[0, system]], keys, np.array([1]), np.array([0]))], signs, level=ALPHA
        )
        assert alone.p()[0] == together.p()[index]
        assert alone.p("greater")[0] == together.p("greater")[index]
        assert alone.intervals(np.array([ALPHA]))[0][0] == pytest.approx(
            together.intervals(np.full(9, ALPHA))[0][index], abs=1e-12
        )

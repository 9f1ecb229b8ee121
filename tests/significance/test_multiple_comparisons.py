"""Max-T: by enumeration, by simulation, for a thousand systems."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.significance import sign_flip
from beir_eval.significance.corrections import correct
from families import max_t, max_t_of_pairs, p_of_pairs
from paired_scores import reciprocals, some_scores, tenths


def t_of(rows):
    """Return the absolute t of each row of f8[D, Q]; 0 for a row of zeros, infinite if constant."""
    deviations = rows.std(axis=1, ddof=1) / math.sqrt(rows.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.abs(rows.mean(axis=1) / deviations), nan=0.0)


@pytest.mark.parametrize("seed", range(6))
def test_max_t_is_the_larger_of_two_enumerated_references(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.3, 1, (3, 7)) * [[1], [5], [0.1]]
    if seed % 2:  # a system that differs hugely hides the others in the flips of the differences
        values[0] += 6
    centred = values - values.mean(axis=1, keepdims=True)
    observed = t_of(values)
    signs = list(itertools.product((1, -1), repeat=7))
    flipped, flipped_centred = (
        np.array([t_of(rows * sign) for sign in signs]) for rows in (values, centred)
    )

    result = max_t(values)
    assert result.exact
    shares = [
        (largest.max(axis=1)[:, None] >= observed * (1 - 1e-12)).mean(axis=0)
        for largest in (flipped, flipped_centred)
    ]
    assert result.p == pytest.approx(np.max(shares, axis=0), rel=1e-12)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.tuples(*[st.one_of(tenths, reciprocals)] * 4), min_size=2, max_size=8))
def test_max_t_of_all_pairs_is_max_t_of_their_differences(scores):
    systems = np.array(scores).T
    pairs = list(itertools.combinations(range(4), 2))
    expected = max_t([systems[first] - systems[second] for first, second in pairs])
    result = max_t_of_pairs(systems)
    assert [result[pair] for pair in pairs] == expected.p.tolist()


def test_noise_in_the_last_bits_of_a_pair_does_not_change_the_other_pairs():
    scores = some_scores(5, 3, 40)
    copy = scores[0] * (1 + 1e-15)
    with_copy = max_t_of_pairs([*scores, copy], draws=500)
    assert with_copy[0, 3] == 1
    assert with_copy[:3, :3] == pytest.approx(max_t_of_pairs(scores, draws=500), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("test_pairs", [max_t_of_pairs, p_of_pairs])
def test_a_thousand_systems_are_compared_without_an_array_of_all_differences(test_pairs):
    scores = some_scores(6, 1000, 50)
    tracemalloc.start()
    try:
        result = test_pairs(scores, draws=40)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (result > 0).all()
    # The differences of all pairs by query would take 50 floats per pair, and half without
    # mirrored pairs.
    assert peak_bytes < 12 * 1000**2 * 8
    if test_pairs is p_of_pairs:
        assert result[3, 998] == sign_flip(scores[3], scores[998], draws=40).p


SIMULATIONS, SYSTEMS, QUERIES, ALPHA = 200, 5, 25, 0.05
#: At the error rate alpha, more false alarms than this have a probability of 0.1% or less.
MOST_FALSE_ALARMS = 21


def simulated(effect, seed):
    """Return scores of five systems: the first two are better by ``effect``, three are equal."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(0.5, 0.2, QUERIES)
    quality = np.array([effect, effect, 0, 0, 0])[:, None]
    return topics + quality + rng.normal(0, 0.1, (SYSTEMS, QUERIES))


def p_of_all(scores, seed):
    """Return the p-values of all pairs for each method."""
    raw = p_of_pairs(scores, draws=999, rng=seed)
    upper = np.triu_indices(SYSTEMS, 1)
    corrected = np.ones_like(raw)
    corrected[upper] = correct(raw[upper], "bonferroni")
    return {
        "max-T": max_t_of_pairs(scores, draws=999, rng=seed)[upper],
        "Bonferroni": corrected[upper],
    }


@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_the_family_wise_error_stays_under_alpha_on_full_and_partial_nulls(effect):
    differs = np.array([first < 2 <= second for first, second in pairs_of_systems()])
    null = ~differs | (effect == 0)
    false_alarms = dict.fromkeys(("max-T", "Bonferroni"), 0)
    for seed in range(SIMULATIONS):
        for method, p in p_of_all(simulated(effect, seed), seed).items():
            false_alarms[method] += bool((p[null] <= ALPHA).any())
    assert max(false_alarms.values()) <= MOST_FALSE_ALARMS


def pairs_of_systems():
    return itertools.combinations(range(SYSTEMS), 2)

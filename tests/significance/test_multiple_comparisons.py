"""Randomised Tukey HSD and max-T: by enumeration, by simulation, for a thousand systems."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.significance import (
    correct,
    max_t,
    max_t_pairs,
    randomised_tukey_hsd,
    sign_flip,
    sign_flip_many,
    sign_flip_pairs,
)
from paired_scores import any_score, reciprocals, some_scores, tenths


def test_max_t_is_the_largest_studentised_statistic_by_enumeration():
    values = np.random.default_rng(2).normal(0.3, 1, (3, 7)) * [[1], [5], [0.1]]

    def t(rows):
        return rows.mean(axis=1) / (rows.std(axis=1, ddof=1) / math.sqrt(7))

    observed = np.abs(t(values))
    every = np.array([np.abs(t(values * signs)) for signs in itertools.product((1, -1), repeat=7)])
    reached = (every.max(axis=1)[:, None] >= observed * (1 - 1e-12)).mean(axis=0)
    found = max_t(values)
    assert found.exact
    assert found.p == pytest.approx(reached, rel=1e-12)
    assert found.statistics == pytest.approx(t(values), rel=1e-12)
    # Step down: the maximum over those that are no larger, and never smaller than one before.
    order = np.argsort(-observed)
    stepwise = [
        (every[:, order[place:]].max(axis=1) >= observed[order[place]] * (1 - 1e-12)).mean()
        for place in range(3)
    ]
    expected = np.maximum.accumulate(stepwise)
    assert max_t(values, step_down=True).p[order] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.one_of(tenths, reciprocals)] * 4), min_size=2, max_size=8))
def test_max_t_of_all_pairs_is_max_t_of_their_differences(scores):
    systems = np.array(scores).T
    pairs = list(itertools.combinations(range(4), 2))
    expected = max_t([systems[one] - systems[other] for one, other in pairs])
    found = max_t_pairs(systems)
    assert [found.p[pair] for pair in pairs] == expected.p.tolist()
    assert (found.p == found.p.T).all()
    assert (np.diag(found.p) == 1).all()


@settings(max_examples=50)
@given(st.lists(st.lists(any_score, min_size=12, max_size=12), min_size=1, max_size=5))
def test_corrected_p_values_are_no_smaller_than_raw_ones_and_stepping_down_helps(rows):
    raw = sign_flip_many(rows, draws=300)
    single, stepped = max_t(rows, draws=300), max_t(rows, draws=300, step_down=True)
    assert (single.p >= raw.p).all()
    assert (single.p >= stepped.p).all()
    assert (stepped.p >= raw.p).all()


def test_tukeys_ranges_are_those_of_all_permutations():
    # Two queries, three systems: 6 x 6 permutations, of which 6 keep the two columns aligned.
    scores = np.array([[1.0, 1.0], [0.5, 0.5], [0.0, 0.0]])
    every = [
        np.ptp(np.add(one, other))
        for one, other in itertools.product(itertools.permutations((1.0, 0.5, 0.0)), repeat=2)
    ]
    found = randomised_tukey_hsd(scores, draws=20_000)
    for gap, p in ((2, found.p[0, 2]), (1, found.p[0, 1])):
        expected = np.mean([spread >= gap for spread in every])
        assert p == pytest.approx(expected, abs=5 * math.sqrt(0.25 / 20_000))
    assert (found.p == found.p.T).all()
    assert (np.diag(found.p) == 1).all()


def test_two_systems_have_the_same_p_by_permuted_labels_as_by_flipped_signs():
    scores = some_scores(4, 2, 30)
    expected = sign_flip(scores[1], scores[0]).p
    found = randomised_tukey_hsd(scores, draws=20_000).p[0, 1]
    assert found == pytest.approx(expected, abs=5 * math.sqrt(0.25 / 20_000))
    assert max_t_pairs(scores, draws=100_000).p[0, 1] == expected


def test_noise_in_the_last_bits_of_one_pair_leaves_the_others_alone():
    scores = some_scores(5, 3, 40)
    copy = scores[0] * (1 + 1e-15)
    with_copy = max_t_pairs([*scores, copy], draws=500).p
    assert with_copy[0, 3] == 1
    assert with_copy[:3, :3] == pytest.approx(max_t_pairs(scores, draws=500).p, abs=0.05)


def test_a_thousand_systems_are_compared_within_memory():
    scores = some_scores(6, 1000, 12)
    found = max_t_pairs(scores, draws=40)
    assert found.p.shape == (1000, 1000)
    assert (found.p > 0).all()
    assert randomised_tukey_hsd(scores, draws=40).p.shape == (1000, 1000)
    raw = sign_flip_pairs(scores, draws=40)
    assert raw.p[3, 998] == sign_flip(scores[3], scores[998], draws=40).p


SIMULATIONS, SYSTEMS, QUERIES, ALPHA = 200, 5, 25, 0.05
#: Under the error rate alpha, more false alarms than this come once in a thousand times or less.
MOST_FALSE_ALARMS = 21


def simulated(effect, seed):
    """Scores of five systems; the first two stand ``effect`` above the rest, which are equal."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(0.5, 0.2, QUERIES)
    quality = np.array([effect, effect, 0, 0, 0])[:, None]
    return topics + quality + rng.normal(0, 0.1, (SYSTEMS, QUERIES))


def p_of_all(scores, seed):
    """The p-values of all pairs by method."""
    raw = sign_flip_pairs(scores, draws=999, rng=seed).p
    upper = np.triu_indices(SYSTEMS, 1)
    corrected = np.ones_like(raw)
    corrected[upper] = correct(raw[upper], "bonferroni")
    return {
        "randomised Tukey HSD": randomised_tukey_hsd(scores, draws=399, rng=seed).p[upper],
        "max-T": max_t_pairs(scores, draws=999, rng=seed).p[upper],
        "Bonferroni": corrected[upper],
    }


@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_the_family_wise_error_stays_under_alpha_on_full_and_partial_nulls(effect):
    truly = np.array([one < 2 <= other for one, other in _pairs()])
    null = ~truly | (effect == 0)
    alarms = dict.fromkeys(("randomised Tukey HSD", "max-T", "Bonferroni"), 0)
    for seed in range(SIMULATIONS):
        for method, p in p_of_all(simulated(effect, seed), seed).items():
            alarms[method] += bool((p[null] <= ALPHA).any())
    assert max(alarms.values()) <= MOST_FALSE_ALARMS


def test_tukey_and_max_t_find_more_than_bonferroni():
    truly = np.array([one < 2 <= other for one, other in _pairs()])
    found = dict.fromkeys(("randomised Tukey HSD", "max-T", "Bonferroni"), 0)
    for seed in range(SIMULATIONS):
        for method, p in p_of_all(simulated(0.08, seed), seed).items():
            found[method] += int((p[truly] <= ALPHA).sum())
    assert found["max-T"] > found["Bonferroni"]
    assert found["randomised Tukey HSD"] > found["Bonferroni"]


def _pairs():
    return itertools.combinations(range(SYSTEMS), 2)

"""The best of many, how much its mean is too high, and intervals of ranks."""

from itertools import combinations

import numpy as np
import pytest

from beir_eval.errors import SettingError
from beir_eval.significance import best_of_many, resampled_ranks


def test_the_bias_of_few_queries_is_that_of_all_halvings():
    scores = np.random.default_rng(0).random((3, 6))
    excesses = []
    for half in combinations(range(6), 3):
        first = scores[:, half].mean(axis=1)
        second = np.delete(scores, half, axis=1).mean(axis=1)
        a, c = first.argmax(), second.argmax()
        excesses.append(((first[a] - first[c]) + (second[c] - second[a])) / 2)
    expected = np.mean(excesses) / np.sqrt(2)
    biases = [best_of_many(scores, draws=10, rng=seed).bias for seed in range(40)]
    assert np.mean(biases) == pytest.approx(expected, abs=4 * np.std(biases) / np.sqrt(40))


def test_the_first_of_rows_that_tie_is_the_best_and_all_are_highest():
    row = [0.2, 0.4, 0.9]
    best = best_of_many([[0.1, 0.1, 0.1], row, row], draws=50)
    assert (best.best, best.bias) == (1, 0.0)
    assert best.score == pytest.approx(0.5)
    assert best.highest_in_resamples.tolist() == [0.0, 1.0, 1.0]


def test_one_row_has_no_bias():
    assert best_of_many([[0.2, 0.4, 0.9]], draws=10).bias == 0.0


def test_the_bias_is_that_of_equal_rows():
    rng = np.random.default_rng(1)
    truth = np.mean([rng.normal(0, 1, (5, 40)).mean(axis=1).max() for _ in range(4000)])
    biases = [best_of_many(rng.normal(0, 1, (5, 40)), draws=1).bias for _ in range(300)]
    assert np.mean(biases) == pytest.approx(truth, rel=0.1)


def test_ranks_are_counted_from_the_higher_means_of_each_resample():
    rng = np.random.default_rng(2)
    resampled = rng.normal([[1.0], [0.5], [0.0], [0.0]], 0.4, (4, 2001))
    ranks = 1 + (resampled[None] > resampled[:, None]).sum(axis=1)
    computed = resampled_ranks(resampled, confidence=0.9)
    expected = np.quantile(ranks, [0.05, 0.95], axis=1, method="inverted_cdf")
    assert computed.low.tolist() == expected[0].tolist()
    assert computed.high.tolist() == expected[1].tolist()
    assert computed.first == pytest.approx((ranks == 1).mean(axis=1))


def test_a_confidence_that_is_no_share_is_refused():
    with pytest.raises(SettingError):
        resampled_ranks([[0.1, 0.2]], confidence=95)

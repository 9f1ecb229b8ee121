"""Sums over random subsets of very many queries: the same in any blocks, in little memory."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

from beir_eval.significance import sign_flip, sign_vectors
from beir_eval.significance.sign_vectors import SignVectors, position_keys, subset_sums
from families import interval_of, max_t

#: More queries than have their sums from matrix products.
MANY = sign_vectors._MOST_IN_BLOCKS + 5


def sums_of(rows, draws=1000, *, seed=0, threads=None, begin=0):
    """Return the sums f8[R, draws] of the draws from ``begin`` on."""
    words_of = partial(SignVectors(begin + draws, seed)._words, begin=begin, count=draws)
    keys = position_keys(rows.shape[1])
    return subset_sums(rows, keys, words_of, threads)[:, :draws]


@pytest.mark.parametrize("num_rows", [1, 2, 3, 6])
@pytest.mark.parametrize("num_queries", [1, 7, 8, 100, 8192, 8193, 20_011])
def test_sums_of_whole_numbers_are_those_of_a_matrix_product(num_rows, num_queries):
    rows = np.random.default_rng(num_queries).integers(-9, 9, (num_rows, num_queries)) * 1.0
    if num_rows > 2:
        rows[1] = 0.0
    signs = SignVectors(300, 5)
    expected = np.hstack([part.copy() for part in signs.products(rows, position_keys(num_queries))])
    assert (sums_of(rows, 300, seed=5) == expected).all()


def test_the_random_bits_of_a_query_are_those_of_a_generator_with_its_key():
    signs, keys = SignVectors(10_000, 3), np.array([0, 5, 2**64 - 1], dtype=np.uint64)
    words = signs._words(keys, 512, 400)
    for row, key in zip(words, keys.tolist(), strict=True):
        generator = np.random.Philox(key=3 << 64 | key, counter=2)
        assert (row == generator.random_raw(7)).all()


def test_threads_and_sizes_of_blocks_change_no_bit_of_a_sum(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(3, 20_011))
    expected = sums_of(rows, threads=1)
    for threads in (2, 3, 8):
        assert (sums_of(rows, threads=threads) == expected).all()
    assert (sums_of(rows, 232, begin=768) == expected[:, 768:]).all()
    for queries_at_once in (8, 64, 10_000):
        monkeypatch.setattr(sign_vectors, "_QUERIES_AT_ONCE", queries_at_once)
        assert (sums_of(rows) == expected).all()
    assert (sums_of(rows[[2, 0]]) == expected[[2, 0]]).all()


def test_very_many_queries_have_the_p_and_but_for_rounding_the_interval_of_products(monkeypatch):
    rng = np.random.default_rng(2)
    rows = np.round(rng.normal(0.002, 0.3, (3, 20_000)), 1)
    by_products = max_t(rows, draws=2000), interval_of(rows[0], draws=2000)
    monkeypatch.setattr(sign_vectors, "_MOST_IN_BLOCKS", 100)
    by_tables = max_t(rows, draws=2000), interval_of(rows[0], draws=2000)
    assert by_tables[0].p.tolist() == by_products[0].p.tolist()
    for end in ("low", "high"):
        expected = getattr(by_products[1], end)
        assert getattr(by_tables[1], end) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_tied_sums_of_very_many_queries_stay_tied_in_float_arithmetic():
    whole = np.random.default_rng(3).choice([-3.0, -1.0, 1.0, 3.0], MANY)
    assert sign_flip(whole * 0.1, draws=3000).p == sign_flip(whole, draws=3000).p


@pytest.mark.slow
def test_the_memory_of_sums_does_not_grow_with_the_queries():
    peaks = []
    for num_queries in (20_000, 80_000):
        rows = np.ones((2, num_queries))
        tracemalloc.start()
        sums_of(rows, 2000, threads=2)
        peaks.append(tracemalloc.get_traced_memory()[1] - 8 * num_queries)  # without the keys
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]

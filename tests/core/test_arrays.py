"""The operations on grouped arrays give the results of plain loops."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.core.arrays import (
    are_consecutive,
    concatenate_ranges,
    exact_sum,
    is_iterable,
    split_rows,
    starts_from_lengths,
)
from beir_eval.core.ids import decimal_numbers, hash_ids, pick_ids
from beir_eval.core.number_lookup import (
    find_repeated,
    first_occurrences,
    repeated_occurrences,
)

floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(st.one_of(st.text("0123456789", max_size=20), st.text(max_size=3)), max_size=8))
def test_only_decimal_strings_of_64_bits_are_numbers(ids):
    expected = [
        int(text) if text.isascii() and text.isdigit() and text == str(int(text)) else -1
        for text in ids
    ]
    assert decimal_numbers(ids).tolist() == [
        number if number < 2**63 else -1 for number in expected
    ]


def test_repeated_numbers_are_found_in_long_rankings_of_64_bit_numbers():
    rng = np.random.default_rng(0)
    numbers = rng.integers(-(2**63), 2**63 - 1, size=100_000)
    numbers[[10, 24_990]] = 5  # in one ranking, far apart
    numbers[[30_000, 60_000]] = 7  # in two
    starts = np.array([0, 25_000, 50_000, 50_000, 100_000])
    assert [part.tolist() for part in find_repeated(numbers, starts)] == [[0, 0], [10, 24_990]]


@given(st.lists(floats, max_size=40), st.integers(1, 60))
def test_a_sum_is_correctly_rounded_and_does_not_depend_on_the_order(values, times):
    array = np.array(values * times, dtype=np.float64)
    assert exact_sum(array) == math.fsum(array.tolist())
    assert exact_sum(array[::-1]) == math.fsum(array.tolist())


@pytest.mark.parametrize("count", [0, 1, 499, 500, 32_768, 100_001])
def test_a_long_sum_is_correctly_rounded(count):
    values = np.random.default_rng(count).random(count) / 3
    assert exact_sum(values) == math.fsum(values.tolist())


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_a_long_sum_of_extreme_values_is_correctly_rounded(scale):
    values = np.random.default_rng(0).random(1_000) * scale
    assert exact_sum(values) == math.fsum(values.tolist())


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_ranges_are_the_numbers_of_each_stretch_in_turn(firsts_and_counts):
    begin = np.array([first for first, _ in firsts_and_counts], dtype=np.int64)
    length = np.array([count for _, count in firsts_and_counts], dtype=np.int64)
    expected = [n for first, count in firsts_and_counts for n in range(first, first + count)]
    numbers = concatenate_ranges(begin, begin + length)
    assert (numbers.tolist(), numbers.dtype) == (expected, np.int64)


@given(st.lists(st.integers(0, 6), max_size=6))
def test_consecutive_indices_are_recognised_as_a_slice(indices):
    is_slice = bool(indices) and indices == list(range(indices[0], indices[0] + len(indices)))
    assert are_consecutive(np.array(indices, dtype=np.int64)) == is_slice
    ids = list("abcdefg")
    assert list(pick_ids(ids, np.array(indices, dtype=np.int64))) == [
        ids[index] for index in indices
    ]


@given(st.lists(st.integers(0, 5), max_size=20), st.randoms())
def test_an_item_found_several_times_counts_at_its_first_position(items, random):
    positions = random.sample(range(100), len(items))
    pairs = sorted(zip(positions, items, strict=True))
    first_position = {item: position for position, item in reversed(pairs)}
    items_and_positions = first_occurrences(
        np.array(items, dtype=np.int64), np.array(positions, dtype=np.int64)
    )
    expected = sorted(first_position.items())
    assert list(zip(*map(np.ndarray.tolist, items_and_positions), strict=True)) == expected
    copies = repeated_occurrences(
        np.array(items, dtype=np.int64), np.array(positions, dtype=np.int64)
    )
    expected = [(item, position) for position, item in pairs if items.count(item) > 1]
    assert list(zip(*map(np.ndarray.tolist, copies), strict=True)) == expected


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_stretches_cover_all_rows_once_in_their_order(lengths, size):
    bounds = list(split_rows(starts_from_lengths(np.array(lengths, dtype=np.int64)), size))
    assert [row for begin, end in bounds for row in range(begin, end)] == list(range(len(lengths)))


@pytest.mark.parametrize("value", [[], "", {}, np.zeros(2), iter(())])
def test_what_a_loop_accepts_is_iterable(value):
    assert is_iterable(value)


@pytest.mark.parametrize("value", [5, None, np.array(5), object()])
def test_a_number_is_not_iterable_and_neither_is_an_array_without_dimensions(value):
    assert not is_iterable(value)


def test_the_number_of_an_id_is_the_start_of_its_blake2b_on_every_machine():
    ids = ["", "a", "é", "\ud800"]  # the last has no bytes in UTF-8
    digests = [
        hashlib.blake2b(text, digest_size=8).digest()
        for text in (b"", b"a", b"\xc3\xa9", b"\xed\xa0\x80")
    ]
    expected = [int.from_bytes(digest, "little") for digest in digests]
    assert hash_ids(ids).tolist() == expected

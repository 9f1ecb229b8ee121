"""What a mean on so many queries supports when the scores of the queries are not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError
from beir_eval.significance.power import smallest_p
from beir_eval.significance.validation import check_share, is_number, is_whole_number, scipy_stats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BISECTIONS = 60


def proportion_interval(
    successes: int, num_queries: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the exact interval of the true share of queries with score 1, if all are 0 or 1.

    Formula: from the quantile (1 − confidence)/2 of Beta(k, Q − k + 1), 0 for k = 0, to the
    quantile (1 + confidence)/2 of Beta(k + 1, Q − k), 1 for k = Q.

    Args:
        successes: k, the number of queries with score 1.
        num_queries: Q, the number of queries, at least 1.
        confidence: the probability, at least, that such an interval contains the true share.

    Source: Clopper and Pearson, Biometrika 26(4), 1934.

    Raises:
        SettingError: k is not a whole number from 0 to Q, Q is not one from 1, or confidence is not
            between 0 and 1.
        MissingExtraError: scipy is not installed.

    >>> [round(end, 3) for end in proportion_interval(10, 10)]
    [0.692, 1.0]
    """
    _check_count("num_queries", num_queries, 1)
    _check_count("successes", successes, 0)
    check_share("confidence", confidence)
    if successes > num_queries:
        msg = f"successes must be at most num_queries={num_queries}, not {successes}"
        raise SettingError(msg)
    beta, tail = scipy_stats("an exact interval").beta, (1 - confidence) / 2
    failures = num_queries - successes
    low = float(beta.ppf(tail, successes, failures + 1)) if successes else 0.0
    high = float(beta.isf(tail, successes + 1, failures)) if failures else 1.0
    return low, high


def bounded_mean_interval(
    mean: float, num_queries: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of the true mean that holds for any scores from 0 to 1 with this mean.

    It needs the mean only. With the scores of the queries, an interval is mostly narrower.

    Formula: all μ with Q·KL(m, μ) <= log(2 / (1 − confidence)), where m is the mean and
    KL(m, μ) = m·log(m/μ) + (1 − m)·log((1 − m)/(1 − μ)).

    Args:
        mean: m, the mean score, from 0 to 1.
        num_queries: Q, the number of queries, at least 1.
        confidence: the probability, at least, that such an interval contains the true mean.

    Source: Hoeffding, J. American Statistical Association 58(301), 1963, theorem 1.

    Raises:
        SettingError: the mean is not from 0 to 1, Q is not a whole number from 1, or confidence is
            not between 0 and 1.

    >>> [round(end, 3) for end in bounded_mean_interval(0.7, 10)]
    [0.285, 0.958]
    """
    if not is_number(mean) or not 0 <= mean <= 1:
        msg = f"mean must be a number from 0 to 1, not {mean!r}"
        raise SettingError(msg)
    _check_count("num_queries", num_queries, 1)
    check_share("confidence", confidence)
    largest = math.log(2 / (1 - confidence)) / num_queries
    value = float(mean)

    def is_inside(true_mean: float) -> bool:
        return _relative_entropy(value, true_mean) <= largest

    low = _end_of_interval(is_inside, value, 0.0)
    return low, _end_of_interval(is_inside, value, 1.0)


def p_range_of_counts(
    first: Sequence[int], second: Sequence[int], num_queries: int
) -> tuple[float, float]:
    """Return the smallest and the largest p that scores of 0 and 1 with these counts can have.

    p is that of the two-sided sign-flip test, which equals McNemar's exact test here. Only queries
    on which one system scores 1 and the other 0 matter. With k1 and k2 queries that score 1, p is
    smallest if as few queries differ as possible: |k1 − k2|, all in one direction. It is largest if
    as many differ as possible.

    Formula: 2·P(Binomial(w + l, ½) >= w), at most 1, where w and l are the numbers of queries that
    the system with the higher count wins and loses; w − l = |k1 − k2|, and l is from 0 to the
    smaller of the lower count and of Q − the higher count.

    Args:
        first: the possible numbers of queries on which the first system scores 1, at least one.
        second: the same for the second system.
        num_queries: Q, the number of queries.

    Source: McNemar, Psychometrika 12(2), 1947.

    Raises:
        MissingExtraError: scipy is not installed.

    >>> p_range_of_counts([10], [7], 10)  # 3 wins, no other query can differ
    (0.25, 0.25)
    """
    higher, lower = np.meshgrid(np.array(first), np.array(second), indexing="ij")
    higher, lower = np.maximum(higher, lower), np.minimum(higher, lower)  # p has no direction
    farthest = int((higher - lower).max())
    losses = np.minimum(lower, num_queries - higher)
    wins = losses + higher - lower
    binomial = scipy_stats("an exact test").binom
    tails = binomial.sf(wins - 1, wins + losses, 0.5)
    return smallest_p(farthest), float(np.minimum(2 * tails, 1.0).max())


def _relative_entropy(mean: float, true_mean: float) -> float:
    """Return KL(mean, true_mean) of two Bernoulli distributions; infinite if it is impossible."""
    total = 0.0
    for share, true_share in ((mean, true_mean), (1 - mean, 1 - true_mean)):
        if share > 0:
            total += share * math.log(share / true_share) if true_share > 0 else math.inf
    return total


def _end_of_interval(is_inside: Callable[[float], bool], inner: float, outer: float) -> float:
    """Return the last number from ``inner`` towards ``outer`` that is inside, by bisection."""
    if is_inside(outer):
        return outer
    for _ in range(_BISECTIONS):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if is_inside(middle) else (inner, middle)
    return outer  # the wider of the two


def _check_count(setting: str, value: Any, least: int) -> None:
    """Raise SettingError unless ``value`` is a whole number of at least ``least``."""
    if not is_whole_number(value, least=least):
        msg = f"{setting} must be a whole number from {least}, not {value!r}"
        raise SettingError(msg)

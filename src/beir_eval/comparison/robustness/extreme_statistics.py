"""The largest and smallest statistics that differences within ranges can have.

The statistic of the sign-flip tests is ``r = Σx / (√Q·‖x‖)`` for the differences x on Q queries; a
sign vector puts its signs before the x. In the second reference of ``max_t``, x − x̄ stands for x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: Statistics from −1 to 1 are compared with this tolerance, wider than that of the test itself.
STATISTIC_TOLERANCE = 1e-9
#: Steps towards the largest statistic of a pair; eight reach the last digits in most cases.
_STEPS = 10
#: Values that are tried for the norm of the differences with the smallest statistic.
_NORMS = 32


def largest_statistics(
    low: Floats, high: Floats, weights: Floats, least_norm: float, *, centred: bool
) -> Floats:
    """Return upper bounds of ``Σ w·x / (√Q·‖x‖)`` over all x in a box, f8[b].

    The largest value has ``x = clip(c·w, low, high)`` for one c = ‖x‖² / Σ w·x; with ``centred``
    x − x̄ stands for x, and x = clip(m + c·w, low, high) for its mean m. Steps of Newton's method
    find c and m. For the unit vector u that they end with, and λ = Σ w·u,

        Σ w·x = λ·Σ u·x + Σ (w − λ·u)·x ≤ λ·‖x‖ + h,  h = the largest Σ (w − λ·u)·x in the box,

    so that λ + h / (smallest ‖x‖) is an upper bound, wherever the steps end; h = 0 at the largest.

    Args:
        low: the lowest differences, f8[Q].
        high: the highest differences, f8[Q].
        weights: w for each of b sign vectors, f8[Q, b]; with ``centred`` their sums are 0.
        least_norm: the smallest norm of x, or of x − x̄.
        centred: whether x is centred.
    """
    num_queries = len(low)
    if not least_norm > 0:
        return np.ones(weights.shape[1])
    x = _clipped(low, high, weights, centred=centred)
    if centred:
        x -= x.mean(axis=0)
    norm = np.linalg.norm(x, axis=0)
    x /= np.where(norm > 0, norm, 1.0)
    share = np.maximum(np.einsum("qb,qb->b", weights, x), 0.0)
    slope = weights - share * x
    room = np.maximum(slope * low[:, None], slope * high[:, None]).sum(axis=0)
    with np.errstate(over="ignore"):
        largest = (share + np.maximum(room, 0.0) / least_norm) / np.sqrt(num_queries)
    return np.asarray(np.minimum(largest, 1.0))


def _clipped(low: Floats, high: Floats, weights: Floats, *, centred: bool) -> Floats:
    """Return x = clip(m + c·w, low, high) near the largest statistic, f8[Q, b]."""
    is_free = low < high
    fixed, num_fixed = low[~is_free], int(np.count_nonzero(~is_free))
    fixed_weights = weights[~is_free]
    fixed_products, fixed_weight = fixed @ fixed_weights, fixed_weights.sum(axis=0)
    lowest, highest, free_weights = low[is_free, None], high[is_free, None], weights[is_free]
    middle = (low + high) / 2
    mean = np.full(weights.shape[1], middle.mean() if centred else 0.0)
    products = (middle - mean[0]) @ weights
    factor = _factor(
        np.square(middle - mean[0]).sum(), products, np.maximum(np.abs(low), np.abs(high)).max()
    )
    for _ in range(_STEPS):
        x = np.clip(mean + factor * free_weights, lowest, highest)
        is_clipped = (x <= lowest) | (x >= highest)
        if centred:
            num_clipped = num_fixed + np.count_nonzero(is_clipped, axis=0)
            total = fixed.sum() + np.where(is_clipped, x, 0.0).sum(axis=0)
            weight = fixed_weight + np.where(is_clipped, free_weights, 0.0).sum(axis=0)
            new_mean = (total - factor * weight) / np.maximum(num_clipped, 1)
            mean = np.where(num_clipped > 0, new_mean, mean)
        deviations = np.where(is_clipped, x - mean, 0.0)
        squares = np.square(fixed).sum() - mean * (2 * fixed.sum() - num_fixed * mean)
        squares += np.square(deviations).sum(axis=0)
        products = fixed_products - mean * fixed_weight
        products += np.einsum("qb,qb->b", free_weights, deviations)
        factor = _factor(squares, products, 4 * factor)
    result = np.empty_like(weights)
    result[~is_free] = fixed[:, None]
    result[is_free] = np.clip(mean + factor * free_weights, lowest, highest)
    return result


def _factor(squares: Floats | float, products: Floats, otherwise: Floats | float) -> Floats:
    """Return squares / products where products are above 0, else another number, at most 1e100.

    Far outside the box nothing changes any more.
    """
    is_positive = products > 0
    with np.errstate(over="ignore"):
        factor = np.where(is_positive, squares / np.where(is_positive, products, 1.0), otherwise)
    return np.clip(factor, 0.0, 1e100)


def smallest_statistics(low: Floats, high: Floats) -> Floats:
    """Return lower bounds of ``Σx / (√Q·‖x‖)`` over the x in boxes with Σx > 0, f8[D].

    For every t > 0, ‖x‖ ≤ (‖x‖² / t + t) / 2. So r·√Q·‖x‖ ≤ Σx for all x in the box if
    Σ min(x − r·√Q·x² / 2t) ≥ r·√Q·t / 2, where each minimum is at an end. The largest such r is
    the root of a concave function, which Newton's method finds from above. The best of several t
    counts.

    Args:
        low: the lowest differences of each box, f8[D, Q].
        high: the highest differences, f8[D, Q].
    """
    num_queries = low.shape[1]
    squares = np.square(low), np.square(high)
    least, most = least_squares(low, high), np.maximum(*squares).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(most > 0, low.sum(axis=1) / np.sqrt(num_queries * most), 0.0)
    for share in np.linspace(0, 1, _NORMS):
        norm = np.sqrt(least + share * (most - least))
        is_positive = norm > 0
        curvature = np.sqrt(num_queries) / (2 * np.where(is_positive, norm, 1.0))
        constant = np.sqrt(num_queries) * norm / 2
        statistic = np.ones(len(low))
        for _ in range(_STEPS):
            value, slope = _value_and_slope(statistic, low, high, squares, curvature)
            statistic += (value - statistic * constant) / (slope + constant + ~is_positive)
        statistic -= STATISTIC_TOLERANCE
        value, _ = _value_and_slope(statistic, low, high, squares, curvature)
        is_valid = is_positive & (value >= statistic * constant)
        best = np.where(is_valid, np.maximum(best, statistic), best)
    return np.asarray(best)


def _value_and_slope(
    statistic: Floats,
    low: Floats,
    high: Floats,
    squares: tuple[Floats, Floats],
    curvature: Floats,
) -> tuple[Floats, Floats]:
    """Return Σ min(x − r·k·x²) over the ends, and by how much it falls with r, f8[D] each."""
    factor = (statistic * curvature)[:, None]
    at_low, at_high = low - factor * squares[0], high - factor * squares[1]
    is_low = at_low <= at_high
    value = np.where(is_low, at_low, at_high).sum(axis=1)
    return value, curvature * np.where(is_low, squares[0], squares[1]).sum(axis=1)


def least_squares(low: Floats, high: Floats) -> Floats:
    """Return the smallest sums of squares within ranges, f8[D]."""
    nearest = np.clip(0.0, low, high)
    return np.asarray(np.square(nearest).sum(axis=1))


def smallest_squares(low: Floats, high: Floats) -> Floats:
    """Return the smallest sums of squared deviations from the mean within ranges, f8[D].

    The minimum over c of Σ (distance of c to [low, high])², which is convex in c: a search by
    thirds, less a tolerance.
    """
    if low is high:
        return np.asarray(low.var(axis=1) * low.shape[1] * (1 - STATISTIC_TOLERANCE))
    left, right = low.min(axis=1), high.max(axis=1)

    def squares(centre: Floats) -> Floats:
        outside = np.maximum(low - centre[:, None], 0) + np.maximum(centre[:, None] - high, 0)
        return np.asarray(np.square(outside).sum(axis=1))

    for _ in range(100):
        third = (right - left) / 3
        first, second = left + third, right - third
        is_left = squares(first) <= squares(second)
        left, right = np.where(is_left, left, first), np.where(is_left, second, right)
    return np.asarray(squares((left + right) / 2) * (1 - STATISTIC_TOLERANCE))

"""The mean of bounded values, with an error that holds for small samples: Gaffke's bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.validation import at_least_smallest

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: The distance of two nodes of the integral, and the number that is evaluated at once. The error
#: decreases exponentially with 1/distance; with this distance it is below 1e-9 relative to p.
_STEP, _NODES = 0.1, 8
#: A node that adds less than this, relative to the height of the integrand, ends the integral.
_NEGLIGIBLE = 1e-14
#: Factors 1 − ζ·b with |ζ·b| below the first number enter as a power series of their logarithm,
#: with this many terms: the first term left out is below 1e-13. The same series serves all ζ up to
#: this multiple of the largest one.
_SMALL, _TERMS, _REACH = 0.25, 20, 10.0
#: Slopes below the first number are small in this sense; the largest bend of the contour.
_DRIFTING, _LARGEST_BEND = 0.1, 2.0 / 3.0
#: Newton's method stops when its decrement is below this; the contour need not be the best one.
_DECREMENT, _MOST_ITERATIONS = 0.1, 100
#: Below this decrement, Newton's method needs no damping.
_NO_DAMPING = 0.25


def gaffke_p_values(values: Floats, mean: float, *, lowest: float) -> Floats:
    """Return the p of "the true mean is at most ``mean``" for each row, against "it is higher".

    The values are weighted at random, with a pseudo-query that has the lowest possible value: the
    worst that the sample could have missed. p is the probability that the weighted mean is at most
    ``mean``.

    Formula: p = P(Σ_q W_q·x_q + W_0·lowest ≤ mean), where (W_0, …, W_Q) is uniform on the simplex:
    independent standard exponentials E_q, divided by their sum. So p = P(Σ_q a_q·E_q ≤ 0) with
    a_q = x_q − mean and a_0 = lowest − mean. It is computed by numerical inversion of the moment
    generating function, to nine digits: there are no random draws.

    p does not depend on the order of the queries and never increases with any value. For values
    that are either ``lowest`` or a second value c it equals the exact binomial test (Clopper and
    Pearson).

    Args:
        values: the values by query, at least ``lowest``, f8[D, Q].
        mean: the hypothetical mean, in the unit of the values.
        lowest: the lowest possible value, in the same unit; p = 0 is reported as 2.2e-308 if it is
            above ``mean``.

    Returns:
        p-values above 0, f8[D].

    Source: Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable, Mathematical Methods of Statistics 14(4), 2005; Learned-Miller and Thomas,
    arXiv 1905.06208, 2019. Both conjecture that the error is at most alpha for all distributions;
    Gaffke proves it for distributions with two values. Vlassis and Thomas (arXiv 2607.08415, 2026,
    a preprint) report a proof for all.

    >>> gaffke_p_values(np.array([[0.0, 0.0], [0.0, -1.0]]), -0.5, lowest=-1.0).round(12).tolist()
    [0.25, 0.75]
    """
    deviations = np.empty((len(values), values.shape[1] + 1))
    deviations[:, 0] = lowest - mean
    deviations[:, 1:] = values
    deviations[:, 1:] -= mean
    deviations.sort(axis=1)  # so that p does not depend on the order, not even in the last digit
    return np.array([at_least_smallest(_share_not_positive(row)) for row in deviations])


def _share_not_positive(coefficients: Floats) -> float:
    """Return P(Σ a·E ≤ 0) for sorted coefficients a and standard exponentials E.

    Args:
        coefficients: f8[n]; overwritten.
    """
    if coefficients[0] >= 0:
        return 0.0
    if coefficients[-1] <= 0:
        return 1.0
    scaled = coefficients
    scaled /= max(-coefficients[0], coefficients[-1])
    if scaled.sum() >= 0:
        return min(_lower_tail(scaled), 1.0)
    return max(1.0 - _lower_tail(-scaled[::-1]), 0.0)


def _lower_tail(coefficients: Floats) -> float:
    """Return P(T ≤ 0) for T = Σ a·E with a mean of at least 0, some a < 0 and all |a| ≤ 1.

    With M(s) = Π 1/(1 − a·s), P(T ≤ 0) = −(1/2πi) ∫ M(s)/s ds over a line at c with
    1/min(a) < c < 0. c is near the saddle point, and the line is bent into a hyperbola:
    s = c + w·ζ(u), ζ(u) = i·sinh(u) + k·(cosh(u) − 1). The trapezoidal rule in u then converges
    exponentially (Trefethen and Weideman, SIAM Review 56(3), 2014). Far from c, many small factors
    act like exp(ζ·Σb): k is such that they decrease instead of oscillating.
    """
    if coefficients[1] >= 0:  # a single negative coefficient: M(s) at its pole
        return math.exp(-float(np.log1p(coefficients[1:] / -coefficients[0]).sum()))
    centre = _saddle_point(coefficients)
    work = -centre * coefficients
    log_height = -float(np.log1p(work, out=work).sum()) - math.log(-centre)
    # The factor −1/s is written as a further 1/(1 − ζ·b).
    slopes = np.append(_slopes(coefficients, centre, work), -1.0 / centre)
    del work  # as large as the sample
    width = 1.0 / math.sqrt(float(slopes @ slopes))
    slopes *= width
    drift = float(slopes[np.abs(slopes) < _DRIFTING].sum())
    bend = -_LARGEST_BEND * min(max(drift, -1.0), 1.0)
    total, begin, last, farthest = 0.0, 0, math.inf, 0.0
    large, series = slopes, [0.0]
    while last > _NEGLIGIBLE:
        nodes = _STEP * np.arange(begin, begin + _NODES)
        cosh, sinh = np.cosh(nodes), np.sinh(nodes)
        zeta = bend * (cosh - 1.0) + 1j * sinh
        if abs(zeta[-1]) > farthest:
            farthest = _REACH * float(abs(zeta[-1]))
            is_small = np.abs(slopes) < _SMALL / farthest
            large, series = slopes[~is_small], _logarithm_series(slopes[is_small])
        terms = np.exp(np.polyval(series, zeta)) / _product(zeta, large)
        terms *= bend * sinh + 1j * cosh
        total += float(terms.imag.sum()) - (0.0 if begin else 0.5 * float(terms.imag[0]))
        begin, last = begin + _NODES, float(np.abs(terms[-1]))
    return math.exp(log_height + math.log(_STEP * width / math.pi)) * max(total, 0.0)


def _saddle_point(coefficients: Floats) -> float:
    """Return about the c < 0 that minimises −Σ log(1 − a·c) − log(−c), by damped Newton steps.

    The function is a self-concordant barrier of the interval 1/min(a) < c < 0: the steps stay in
    the interval and converge from any start.
    """
    total, squares = float(coefficients.sum()), float(coefficients @ coefficients)
    normal = -(total + math.sqrt(total * total + 4.0 * squares)) / (2.0 * squares)
    centre = max(normal, 0.9 / float(coefficients[0]))
    work = np.empty_like(coefficients)
    for _ in range(_MOST_ITERATIONS):
        slopes = _slopes(coefficients, centre, work)
        gradient = float(slopes.sum()) - 1.0 / centre
        curvature = float(slopes @ slopes) + 1.0 / (centre * centre)
        decrement = abs(gradient) / math.sqrt(curvature)
        if decrement < _DECREMENT:
            break
        damping = 1.0 + decrement if decrement > _NO_DAMPING else 1.0
        centre -= gradient / curvature / damping
    return centre


def _slopes(coefficients: Floats, centre: float, out: Floats) -> Floats:
    """Return a / (1 − c·a) for the coefficients a, f8[n], written to ``out``."""
    np.multiply(coefficients, centre, out=out)
    np.subtract(1.0, out, out=out)
    return np.divide(coefficients, out, out=out)


def _logarithm_series(slopes: Floats) -> list[float]:
    """Return the coefficients in ζ of −Σ log(1 − ζ·b), the highest power first."""
    series, powers = [0.0], slopes.copy()
    for power in range(1, _TERMS + 1):
        series.append(float(powers.sum()) / power)
        powers *= slopes
    return series[::-1]


def _product(zeta: Any, slopes: Floats) -> Any:
    """Return Π (1 − ζ·b) over the slopes b for each of n numbers ζ, c16[n]."""
    factors = 1.0 - np.multiply.outer(slopes, zeta)
    while len(factors) > 1:  # multiply halves with each other: faster than np.prod
        half = len(factors) // 2
        middle = factors[half : len(factors) - half]
        factors = np.concatenate([factors[:half] * factors[len(factors) - half :], middle])
    return factors[0] if len(factors) else 1.0

"""Families of comparisons as ``compare`` tests them, from plain arrays."""

from types import SimpleNamespace

import numpy as np

from beir_eval.significance.equivalence import margin_tests
from beir_eval.significance.multiple_comparisons import max_t_p, max_t_tests
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_flip import sign_flip_intervals
from beir_eval.significance.sign_vectors import SignVectors, position_keys


def max_t(differences, *, alpha=0.05, draws=None, rng=0):
    """Return the max-T tests of rows of differences, f8[D, Q]."""
    values = np.asarray(differences, dtype=float)
    num_queries = values.shape[1]
    family = Family(values, position_keys(num_queries), np.arange(len(values)))
    signs = SignVectors.choose(num_queries, draws, rng)
    [flipped] = randomise([family], signs, level=alpha, largest="family")
    tests = max_t_tests(flipped, alpha)
    return SimpleNamespace(
        p=tests.p_corrected,
        low=tests.low,
        high=tests.high,
        exact=flipped.is_largest_exact,
    )


def p_of_pairs(scores, *, draws=None, rng=0, largest=None):
    """Return p of all pairs of systems f8[S, Q] as a matrix f8[S, S]; of max-T if ``largest``."""
    family = all_pairs_family(np.asarray(scores, dtype=float))
    signs = SignVectors.choose(family.rows.shape[1], draws, rng)
    [flipped] = randomise([family], signs, largest=largest)
    matrix = np.ones((len(scores), len(scores)))
    p = max_t_p(flipped) if largest else flipped.p()
    matrix[family.first, family.second] = matrix[family.second, family.first] = p
    return matrix


def all_pairs_family(scores):
    """Return the comparisons of all pairs of systems f8[S, Q]."""
    return Family(scores, position_keys(scores.shape[1]), *np.triu_indices(len(scores), 1))


def max_t_of_pairs(scores, **options):
    """Return p of max-T of all pairs of systems f8[S, Q] as a matrix f8[S, S]."""
    return p_of_pairs(scores, largest="family", **options)


def interval_of(differences, **options):
    """Return the ends of the sign-flip interval of differences f8[Q]."""
    intervals = sign_flip_intervals(np.asarray(differences)[None, :], **options)
    return SimpleNamespace(low=intervals.low[0], high=intervals.high[0])


def p_equal(differences, **options):
    """Return p of "they differ by delta or more" of differences f8[Q]."""
    return margin_tests([differences], **options).p_equal[0]

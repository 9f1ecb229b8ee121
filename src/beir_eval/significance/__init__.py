"""Paired significance tests, confidence intervals, corrections of p-values, and power.

The functions take arrays of scores by query and return numbers, arrays or frozen dataclasses. They
know no query ids: the scores of all systems must be in the same order of queries. A difference is
always first − second. No test returns a p-value of 0. The default is ``rng=0``, so two calls agree.

- One pair of systems: ``sign_flip``, or ``paired_t``.
- Several pairs: ``sign_flip_many`` and ``sign_flip_intervals``, then ``corrections.correct``; or a
  ``randomisation.Family`` of them, randomised, and ``multiple_comparisons.max_t_tests``, whose
  intervals hold simultaneously.
- To show that two systems are equal, or that one is not worse, within a margin: ``equivalence`` has
  the tests, and ``smallest_margin``, what so many queries could show at best.
- Whether a difference is the same in all slices of the queries: ``slice_interaction``.
- The size of an experiment: ``power``, before it or from its differences.
- Several data sets, whose queries must not be pooled: ``stratified.balanced`` scales the scores so
  that their mean is the average over data sets; the tests take them. ``stratified_bootstrap`` gives
  the intervals.
- Systems with repeats, such as trainings with several seeds: ``crossed_tests`` is over queries and
  repeats.
- A ranking of systems: ``stratified.resampled_ranks`` has intervals of ranks.

Sign flips and max-T draw 100,000 sign vectors, or 20,000 for more than 1,000 queries
(``draws=None``). All sign vectors are used instead if those of the queries that differ are not
more. They assume independent queries, and differences that are symmetric about 0 if there is no
true difference; docs/statistics.md has the coverage of the intervals where that does not hold.

``crossed_tests``, ``detectable_equality`` and the power of fewer than five queries need scipy
(extra ``stats``), all others only numpy.

Modules: ``paired_tests``, ``equivalence``, ``bounded_mean`` (Gaffke's bound for it),
``sign_flip`` with its ``randomisation`` (one pass for p, max-T and intervals) and
``sign_vectors``, ``multiple_comparisons`` (max-T), ``interaction`` (slices),
``corrections`` (and the levels at which they test), ``effect_sizes``,
``bootstrap``, ``stratified`` (data sets, and ranks), ``repeats`` (tests over queries and repeats),
``power``, ``distributions`` (tails and quantiles), and ``validation`` (checks of arguments).
``PAIRED_TESTS`` lists the tests that ``compare`` offers, with the interval that belongs to
each: a new test needs a function and a row there.

What users may rely on is in ``__all__``. The rest is imported from its module and may change.
"""

from __future__ import annotations

from beir_eval.significance.equivalence import smallest_margin
from beir_eval.significance.interaction import SliceInteractions, slice_interaction
from beir_eval.significance.paired_tests import PairedTest, PairedTestMethod, paired_t
from beir_eval.significance.repeats import CrossedTests, crossed_tests
from beir_eval.significance.sign_flip import sign_flip

#: The tests that ``compare`` offers, by name.
PAIRED_TESTS = {
    "sign_flip": PairedTestMethod(
        sign_flip,
        "sign-flip randomisation of the mean difference",
        interval="sign_flip",
        takes_draws=True,
    ),
    "t": PairedTestMethod(paired_t, "paired t test", interval="t"),
}

__all__ = [
    "PAIRED_TESTS",
    "CrossedTests",
    "PairedTest",
    "PairedTestMethod",
    "SliceInteractions",
    "crossed_tests",
    "paired_t",
    "sign_flip",
    "slice_interaction",
    "smallest_margin",
]

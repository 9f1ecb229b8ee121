"""Paired significance tests, confidence intervals, corrections of p-values, and power.

The functions take arrays of scores by query and return numbers, arrays or frozen dataclasses. They
know no query ids: the scores of all systems must be in the same order of queries. A difference is
always first − second. No test returns a p-value of 0. The default is ``rng=0``, so two calls agree.

- One pair of systems: ``sign_flip`` and the interval that belongs to it, ``sign_flip_interval``, or
  ``paired_t``; the effect size ``standardised_effect``.
- One baseline and several systems: ``max_t``, with simultaneous intervals; or ``sign_flip_many``
  and ``sign_flip_intervals``, then ``correct``.
- All pairs of systems: ``max_t_pairs``, whose p-values are corrected;
  ``sign_flip_pairs``, whose p-values are not.
- To show that two systems are equal, or that one is not worse, within a margin: ``equivalence``,
  ``non_inferiority``; ``margin_tests`` for many pairs. ``smallest_margin`` says what so many
  queries could show at best.
- Whether a difference is the same in all slices of the queries: ``slice_interaction``.
- The size of an experiment: ``minimum_detectable_difference`` and ``queries_needed`` before it,
  ``estimate_power`` from its differences. ``detectable_equality`` is the margin within which equal
  systems are called equal; ``smallest_p`` says whether an experiment could decide at all.
- Several data sets, whose queries must not be pooled: ``balanced`` scales the scores so that their
  mean is the average over data sets; ``sign_flip_many``, ``sign_flip_pairs``, ``max_t`` and
  ``max_t_pairs`` take them. ``stratified_bootstrap`` gives the intervals.
- Systems with repeats, such as trainings with several seeds: ``crossed_tests`` is over queries and
  repeats.
- A ranking of systems: ``resampled_ranks`` gives intervals of ranks, ``best_of_many`` the selection
  bias of the best system.

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
``bootstrap``, ``stratified``, ``selection_bias``, ``repeats`` (tests over queries and repeats),
``power``, ``distributions`` (tails and quantiles), and ``validation`` (checks of arguments).
``PAIRED_TESTS`` lists the tests that ``compare`` offers, with the interval that belongs to
each: a new test needs a function and a row there.

The public names are those in ``__all__``.
"""

from __future__ import annotations

from beir_eval.significance.bootstrap import Interval, Intervals
from beir_eval.significance.corrections import bonferroni, correct, holm
from beir_eval.significance.equivalence import (
    Equivalence,
    MarginTests,
    NonInferiority,
    detectable_equality,
    equivalence,
    margin_tests,
    non_inferiority,
    smallest_margin,
)
from beir_eval.significance.interaction import SliceInteractions, slice_interaction
from beir_eval.significance.multiple_comparisons import MaxT, max_t, max_t_pairs
from beir_eval.significance.paired_tests import (
    PairedTest,
    PairedTestMethod,
    paired_t,
    standardised_effect,
)
from beir_eval.significance.power import (
    PowerEstimate,
    estimate_power,
    minimum_detectable_difference,
    paired_t_power,
    queries_needed,
    smallest_p,
)
from beir_eval.significance.repeats import CrossedTests, crossed_tests
from beir_eval.significance.selection_bias import BestOfMany, Ranks, best_of_many, resampled_ranks
from beir_eval.significance.sign_flip import (
    AllPairs,
    SignFlips,
    sign_flip,
    sign_flip_interval,
    sign_flip_intervals,
    sign_flip_many,
    sign_flip_pairs,
)
from beir_eval.significance.stratified import StratifiedBootstrap, balanced, stratified_bootstrap

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
    "AllPairs",
    "BestOfMany",
    "CrossedTests",
    "Equivalence",
    "Interval",
    "Intervals",
    "MarginTests",
    "MaxT",
    "NonInferiority",
    "PairedTest",
    "PairedTestMethod",
    "PowerEstimate",
    "Ranks",
    "SignFlips",
    "SliceInteractions",
    "StratifiedBootstrap",
    "balanced",
    "best_of_many",
    "bonferroni",
    "correct",
    "crossed_tests",
    "detectable_equality",
    "equivalence",
    "estimate_power",
    "holm",
    "margin_tests",
    "max_t",
    "max_t_pairs",
    "minimum_detectable_difference",
    "non_inferiority",
    "paired_t",
    "paired_t_power",
    "queries_needed",
    "resampled_ranks",
    "sign_flip",
    "sign_flip_interval",
    "sign_flip_intervals",
    "sign_flip_many",
    "sign_flip_pairs",
    "slice_interaction",
    "smallest_margin",
    "smallest_p",
    "standardised_effect",
    "stratified_bootstrap",
]

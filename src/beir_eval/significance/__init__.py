"""Is one system better than another, and by how much: paired tests, intervals, corrections, power.

Plain arrays of scores by query in, small frozen dataclasses out; which queries they are is the
caller's business, except that every array holds the same ones in the same order. A difference is
always first − second. No p-value is ever 0. Randomness starts from ``rng=0``: two calls agree.

One pair: ``sign_flip``, with ``paired_t`` beside it; the interval is ``bootstrap_interval`` and the
effect ``standardised_effect``. ``wilcoxon`` and ``sign_test`` are here for those who must report
them. A baseline against many: ``sign_flip_many``, then ``correct``. All pairs: ``max_t_pairs`` or
``randomised_tukey_hsd``, whose p-values are corrected already. To show that two systems are equal
takes ``equivalence``; what an experiment could show at all, ``minimum_detectable_difference`` and
``queries_needed`` say.

Several data sets, whose queries must not be pooled: ``balanced`` gives scores whose mean is the
average over data sets, for every test above; their intervals are those of
``stratified_bootstrap``. ``resampled_ranks`` says how firm a ranking is, ``best_of_many`` how much
the best of many owes to luck.

Randomisation, bootstrap and corrections need numpy only, the rest scipy (extra ``stats``).

Inside: ``paired_tests`` and ``rank_tests``, ``sign_flip`` with its ``sign_vectors``,
``multiple_comparisons`` (max-T, Tukey), ``corrections``, ``bootstrap``, ``stratified``,
``selection_bias``, ``power``; ``validation`` of what all of them take. ``PAIRED_TESTS`` lists the
tests that a comparison offers: a new one needs a function and a row there.

Public: what ``__all__`` lists.
"""

from __future__ import annotations

from beir_eval.significance.bootstrap import (
    Interval,
    Intervals,
    bootstrap_interval,
    bootstrap_intervals,
)
from beir_eval.significance.corrections import benjamini_hochberg, bonferroni, correct, holm
from beir_eval.significance.multiple_comparisons import (
    MaxT,
    max_t,
    max_t_pairs,
    randomised_tukey_hsd,
)
from beir_eval.significance.paired_tests import (
    Equivalence,
    PairedTest,
    PairedTestMethod,
    equivalence,
    paired_t,
    standardised_effect,
)
from beir_eval.significance.power import (
    minimum_detectable_difference,
    paired_t_power,
    queries_needed,
)
from beir_eval.significance.rank_tests import sign_test, wilcoxon
from beir_eval.significance.selection_bias import BestOfMany, Ranks, best_of_many, resampled_ranks
from beir_eval.significance.sign_flip import (
    AllPairs,
    SignFlips,
    sign_flip,
    sign_flip_many,
    sign_flip_pairs,
)
from beir_eval.significance.stratified import StratifiedBootstrap, balanced, stratified_bootstrap

#: The tests that ``compare`` offers, by name.
PAIRED_TESTS = {
    "sign_flip": PairedTestMethod(
        sign_flip, "sign-flip randomisation of the mean difference", is_drawn=True
    ),
    "t": PairedTestMethod(paired_t, "paired t test"),
    "wilcoxon": PairedTestMethod(wilcoxon, "Wilcoxon's signed-rank test"),
    "sign": PairedTestMethod(sign_test, "sign test"),
}

__all__ = [
    "PAIRED_TESTS",
    "AllPairs",
    "BestOfMany",
    "Equivalence",
    "Interval",
    "Intervals",
    "MaxT",
    "PairedTest",
    "PairedTestMethod",
    "Ranks",
    "SignFlips",
    "StratifiedBootstrap",
    "balanced",
    "benjamini_hochberg",
    "best_of_many",
    "bonferroni",
    "bootstrap_interval",
    "bootstrap_intervals",
    "correct",
    "equivalence",
    "holm",
    "max_t",
    "max_t_pairs",
    "minimum_detectable_difference",
    "paired_t",
    "paired_t_power",
    "queries_needed",
    "randomised_tukey_hsd",
    "resampled_ranks",
    "sign_flip",
    "sign_flip_many",
    "sign_flip_pairs",
    "sign_test",
    "standardised_effect",
    "stratified_bootstrap",
    "wilcoxon",
]

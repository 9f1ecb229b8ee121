"""Is system B better than A, by how much, and on which queries?

Inside: ``compare`` (results or runs in, a ``Comparison`` out), ``alignment`` (which queries and
scores are compared), ``differences`` (tests, intervals and verdicts), ``result`` with its
``records``, ``tables`` and ``charts``; ``gate`` (a comparison as a check); ``agreement`` and
``rank_similarity`` (how similarly two runs rank, without judgements), ``likeness`` (the same for
every pair of a comparison). ``robustness``: what unjudged documents and ties could change;
``slices``: the comparison within parts of the queries; ``checkpoints``: one system over training
steps.

Public: what ``__all__`` lists; ``beir_eval.comparison.slices`` and
``beir_eval.comparison.checkpoints`` list their own.
"""

from beir_eval.comparison.agreement import Agreement, agree
from beir_eval.comparison.compare import compare, compare_runs
from beir_eval.comparison.gate import GateCheck, assert_no_regression, check_gate, to_junit
from beir_eval.comparison.rank_similarity import RBO, kendall_distance, overlap, rbo, spearman
from beir_eval.comparison.records import (
    ComparisonSettings,
    Difference,
    QueryDifference,
    SystemMean,
)
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.robustness.records import DocumentToJudge, Likeness, PairTrust

__all__ = [
    "RBO",
    "Agreement",
    "Comparison",
    "ComparisonSettings",
    "Difference",
    "DocumentToJudge",
    "GateCheck",
    "Likeness",
    "PairTrust",
    "QueryDifference",
    "SystemMean",
    "agree",
    "assert_no_regression",
    "check_gate",
    "compare",
    "compare_runs",
    "kendall_distance",
    "overlap",
    "rbo",
    "spearman",
    "to_junit",
]

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

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.comparison.agreement import Agreement, agree
    from beir_eval.comparison.compare import compare, compare_runs
    from beir_eval.comparison.gate import GateCheck, assert_no_regression, check_gate, to_junit
    from beir_eval.comparison.likeness import Likeness
    from beir_eval.comparison.rank_similarity import RBO, kendall_distance, overlap, rbo, spearman
    from beir_eval.comparison.records import (
        ComparisonSettings,
        Difference,
        DocumentToJudge,
        PairTrust,
        QueryDifference,
        SystemMean,
    )
    from beir_eval.comparison.result import Comparison

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

lazy_exports(
    __name__,
    {
        "RBO": "beir_eval.comparison.rank_similarity",
        "Agreement": "beir_eval.comparison.agreement",
        "Comparison": "beir_eval.comparison.result",
        "ComparisonSettings": "beir_eval.comparison.records",
        "Difference": "beir_eval.comparison.records",
        "DocumentToJudge": "beir_eval.comparison.records",
        "GateCheck": "beir_eval.comparison.gate",
        "Likeness": "beir_eval.comparison.likeness",
        "PairTrust": "beir_eval.comparison.records",
        "QueryDifference": "beir_eval.comparison.records",
        "SystemMean": "beir_eval.comparison.records",
        "agree": "beir_eval.comparison.agreement",
        "assert_no_regression": "beir_eval.comparison.gate",
        "check_gate": "beir_eval.comparison.gate",
        "compare": "beir_eval.comparison.compare",
        "compare_runs": "beir_eval.comparison.compare",
        "kendall_distance": "beir_eval.comparison.rank_similarity",
        "overlap": "beir_eval.comparison.rank_similarity",
        "rbo": "beir_eval.comparison.rank_similarity",
        "spearman": "beir_eval.comparison.rank_similarity",
        "to_junit": "beir_eval.comparison.gate",
    },
)

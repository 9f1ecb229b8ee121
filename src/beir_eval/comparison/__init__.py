"""Comparison of systems: differences with significance tests, verdicts, gates, rank similarity.

Inside:

- ``compare``: the functions ``compare`` (takes results) and ``compare_runs`` (takes runs), which
  return a ``Comparison``; and what is a sample (queries or clusters, repeats).
- ``alignment``: the scores of all systems on the queries that they share.
- ``differences``: tests, intervals and verdicts for every pair of systems.
- ``compared``: what was compared and decided; ``records``: its parts.
- ``result``: the class ``Comparison``, with its ``tables``, ``verdict_sentences``, ``overview``
  (all of it in brief) and ``charts``.
- ``limits``: what p does not cover, and what makes systems hard to compare; ``coverage``: the
  warnings on missing queries and on ids that do not match.
- ``gate``: checks for continuous integration and tests; ``gate_output``: their outcome as text.
- ``rank_similarity``: similarity of two rankings, without judgements, and of every pair.
- ``to_judge``: the documents most worth judging.
- ``slices``: the comparison within groups of queries.
- ``stages``: which stage of a pipeline lost the relevant documents.
- ``checkpoints``: one system over its training steps.
- ``experiments``: what judged queries can show before any run.

Public: the names in ``__all__``, and those in ``__all__`` of ``beir_eval.comparison.slices``
and ``beir_eval.comparison.checkpoints``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.comparison.compare import compare, compare_runs
    from beir_eval.comparison.coverage import SystemCoverage
    from beir_eval.comparison.gate import assert_no_regression, check_gate
    from beir_eval.comparison.gate_output import to_junit
    from beir_eval.comparison.rank_similarity import Likeness
    from beir_eval.comparison.records import (
        ComparisonSettings,
        Difference,
        DocumentToJudge,
        GateCheck,
        QueryDifference,
        SystemMean,
        TieRange,
    )
    from beir_eval.comparison.result import Comparison

__all__ = [
    "Comparison",
    "ComparisonSettings",
    "Difference",
    "DocumentToJudge",
    "GateCheck",
    "Likeness",
    "QueryDifference",
    "SystemCoverage",
    "SystemMean",
    "TieRange",
    "assert_no_regression",
    "check_gate",
    "compare",
    "compare_runs",
    "to_junit",
]

lazy_exports(
    __name__,
    {
        "beir_eval.comparison.compare": "compare compare_runs",
        "beir_eval.comparison.coverage": "SystemCoverage",
        "beir_eval.comparison.gate": "assert_no_regression check_gate",
        "beir_eval.comparison.gate_output": "to_junit",
        "beir_eval.comparison.rank_similarity": "Likeness",
        "beir_eval.comparison.records": (
            "ComparisonSettings Difference DocumentToJudge GateCheck QueryDifference SystemMean "
            "TieRange"
        ),
        "beir_eval.comparison.result": "Comparison",
    },
)

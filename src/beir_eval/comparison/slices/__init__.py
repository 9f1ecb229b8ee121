"""Comparison of systems within slices of the queries, corrected over all slices.

Inside: ``compare_slices`` (the function), ``interactions`` (does a gain differ between slices?),
``result`` (the class it returns), ``columns`` (labels of queries).

Public: ``compare_slices``, ``SlicedComparison``, ``Slice``, ``Interaction``; labels: ``cut``,
``by_length``, ``by_num_relevant``, ``by_metadata``.
"""

from beir_eval.comparison.slices.columns import by_length, by_metadata, by_num_relevant, cut
from beir_eval.comparison.slices.compare_slices import compare_slices
from beir_eval.comparison.slices.interactions import Interaction
from beir_eval.comparison.slices.result import Slice, SlicedComparison

__all__ = [
    "Interaction",
    "Slice",
    "SlicedComparison",
    "by_length",
    "by_metadata",
    "by_num_relevant",
    "compare_slices",
    "cut",
]

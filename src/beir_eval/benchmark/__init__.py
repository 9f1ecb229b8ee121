"""Evaluation of many systems on many data sets, and comparison of their averages.

Inside: ``runner`` (``Benchmark``); ``systems`` (data sets and retrieval systems in one form, and
what MTEB calls the data sets); ``cache`` (runs and results on disk); ``result``
(``BenchmarkResult``); ``compare_benchmark``; ``dataset_scores`` (scores, p-values and differences
by data set); ``chosen_rows`` (the best of several systems as a row); ``comparison_result``
(``AcrossDatasets``); ``choose`` (the best of several candidates, and its test).

Public: ``Benchmark``, ``BenchmarkResult``; ``compare_benchmark``, ``AcrossDatasets`` and its
records ``AcrossSettings``, ``SystemAverage``, ``AverageDifference``, ``DatasetScores``,
``DatasetDifference`` and ``ChosenRow``; ``choose`` and ``ChoiceResult``.
"""

from beir_eval.benchmark.choose import ChoiceResult, choose
from beir_eval.benchmark.compare_benchmark import compare_benchmark
from beir_eval.benchmark.comparison_result import (
    AcrossDatasets,
    AcrossSettings,
    AverageDifference,
    ChosenRow,
    DatasetDifference,
    DatasetScores,
    SystemAverage,
)
from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.benchmark.runner import Benchmark

__all__ = [
    "AcrossDatasets",
    "AcrossSettings",
    "AverageDifference",
    "Benchmark",
    "BenchmarkResult",
    "ChoiceResult",
    "ChosenRow",
    "DatasetDifference",
    "DatasetScores",
    "SystemAverage",
    "choose",
    "compare_benchmark",
]

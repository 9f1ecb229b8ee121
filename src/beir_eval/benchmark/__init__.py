"""Many systems on many data sets: making their results, and comparing their averages.

Inside: ``runner`` (``Benchmark``), ``systems`` (data sets, and what makes runs on them), ``cache``
(what is kept on disk), ``result``; ``compare_benchmark``, ``dataset_scores`` (what is tested) and
``comparison_result`` (what it returns).

Public: ``Benchmark``, ``BenchmarkResult``; ``compare_benchmark``, ``AcrossDatasets`` and its
records ``AcrossSettings``, ``SystemAverage``, ``AverageDifference``, ``DatasetScores`` and
``DatasetDifference``.
"""

from beir_eval.benchmark.compare_benchmark import compare_benchmark
from beir_eval.benchmark.comparison_result import (
    AcrossDatasets,
    AcrossSettings,
    AverageDifference,
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
    "DatasetDifference",
    "DatasetScores",
    "SystemAverage",
    "compare_benchmark",
]

"""Many systems on many data sets: making their results, and comparing their averages.

Inside: ``runner`` (``Benchmark``), ``systems`` (data sets, and what makes runs on them), ``cache``
(what is kept on disk), ``result``; ``compare_benchmark`` with ``dataset_scores``, ``records`` and
``tables``.

Public: ``Benchmark``, ``BenchmarkResult``; ``compare_benchmark``, ``AcrossDatasets`` and its
records ``AcrossSettings``, ``SystemAverage``, ``AverageDifference``, ``DatasetScores`` and
``DatasetDifference``.
"""

from beir_eval.benchmark.compare_benchmark import AcrossDatasets, compare_benchmark
from beir_eval.benchmark.records import (
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

"""Evaluation of run files that are larger than memory: ``evaluate_stream``.

Inside: ``stream`` (the way through a file); ``judgements`` (qrels in columns); ``partitions``
(parts of whole queries, as long as the file is grouped; else rows partitioned on disk);
``table_files`` (the scores of a part, and score tables as Parquet files); ``progress_files``
(finished parts, to resume); ``size`` (whether a file needs it); ``result`` (``StreamedResult``).

Public: ``evaluate_stream``, ``StreamedResult``, ``read_score_table``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.evaluation.streaming.result import StreamedResult
    from beir_eval.evaluation.streaming.stream import evaluate_stream
    from beir_eval.evaluation.streaming.table_files import read_score_table

__all__ = ["StreamedResult", "evaluate_stream", "read_score_table"]

lazy_exports(
    __name__,
    {
        "StreamedResult": "beir_eval.evaluation.streaming.result",
        "evaluate_stream": "beir_eval.evaluation.streaming.stream",
        "read_score_table": "beir_eval.evaluation.streaming.table_files",
    },
    ("polars", "files", "evaluating a run file in parts"),
)

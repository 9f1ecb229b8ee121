"""Evaluation on Apache Spark, with the same numbers as in memory, bit for bit.

``evaluate(qrels_df, run_df, measures)`` returns a DataFrame with a row for each judged query;
``summarise(scores)`` runs its job and returns the ``EvaluationResult``. Classic sessions and Spark
Connect both work.

Inside: ``evaluate`` (what is public); ``inputs`` (checks of columns and types on the driver);
``distribution`` (how the rows of a query come together in one Python worker); ``worker`` (what runs
there, and how its errors get to the driver; it imports no Spark); ``score_table`` (the rows that
workers return).

Public: ``evaluate``, ``check``, ``summarise``. They need the extra ``spark``, and each Python
worker needs this package too.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.spark.evaluate import check, evaluate, summarise

__all__ = ["check", "evaluate", "summarise"]

lazy_exports(
    __name__,
    {
        "beir_eval.integrations.spark.evaluate": "check evaluate summarise",
    },
)

"""``check`` and ``summarise``, which run the job of a score table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.errors import InputError, ResultError, first_few, needs_extra
from beir_eval.integrations.spark.inputs import check_unambiguous, column
from beir_eval.integrations.spark.score_table import (
    FACTS_KEY,
    QUERY_ID,
    TableFacts,
    column_types,
    result_of_table,
)
from beir_eval.integrations.spark.worker import worker_errors_raised

with needs_extra("pyspark", "spark", "evaluating with Spark"):
    from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from beir_eval.evaluation.result import EvaluationResult


def check(scores: DataFrame) -> None:
    """Run the job of a score table and keep nothing, to find out whether its inputs are valid.

    Only ``summarise`` sees all queries together, and finds that the run has none of them.

    Args:
        scores: what ``evaluate`` returned. To keep the rows too, write them as a table, then check
            or summarise the table that was written.

    Raises:
        RunError, DuplicateDocumentError, QueryMismatchError, QrelsError: the input that stopped the
            job; Spark's exception is the cause.
        MissingExtraError: a Python worker has not this package.
        SettingError: a Python worker has another version of it.
        InputError: ``scores`` is not a DataFrame of Spark.
        ResultError: ``scores`` is another DataFrame.
    """
    _facts_of(scores)
    with worker_errors_raised():
        scores.write.format("noop").mode("overwrite").save()


def summarise(scores: DataFrame) -> EvaluationResult:
    """Return the result over all queries of a score table; this runs its job.

    All rows come to the driver: 24 measures of a million queries are about 300 MB. Queries are in
    the order of their ids, since Spark does not keep that of the qrels.

    Args:
        scores: what ``evaluate`` returned, or the table of it that was written as Parquet and read
            again.

    Returns:
        What ``beir_eval.evaluate`` returns. ``counted.queries_not_judged`` is None: the queries of
        the run that are not judged are not counted.

    Raises:
        RunError, DuplicateDocumentError, QrelsError: the input that stopped the job; Spark's
            exception is the cause. RunError also if float32 makes the different scores of every
            ranking one value.
        QueryMismatchError: the run has no judged query; or, with ``missing="error"``, not all.
        MissingExtraError: a Python worker has not this package.
        SettingError: a Python worker has another version of it.
        InputError: ``scores`` is not a DataFrame of Spark.
        ResultError: ``scores`` is another DataFrame, lacks columns, or has several of a name.
    """
    facts = _facts_of(scores)
    names = _names_of_columns(scores, facts)
    with worker_errors_raised():
        rows = scores.select(*map(column, names)).toArrow().sort_by(QUERY_ID)
    return result_of_table(facts, {name: rows[name].to_numpy() for name in names})


def _facts_of(scores: Any) -> TableFacts:
    """Return what is known about a score table, or raise InputError or ResultError."""
    if not isinstance(scores, DataFrame):
        msg = (
            "a score table must be the DataFrame that beir_eval.integrations.spark.evaluate "
            f"returned, not {type(scores).__module__}.{type(scores).__name__}"
        )
        raise InputError(msg)
    fields = {field.name: field for field in scores.schema.fields}
    text = fields[QUERY_ID].metadata.get(FACTS_KEY) if QUERY_ID in fields else None
    if text is None:
        msg = (
            "this DataFrame is not a score table: no column query_id has facts in its metadata. "
            "Pass what beir_eval.integrations.spark.evaluate returned, or the table of it that was "
            "written as Parquet or with saveAsTable; files of other formats lose the metadata"
        )
        raise ResultError(msg)
    return TableFacts.from_text(text, "the score table")


def _names_of_columns(scores: DataFrame, facts: TableFacts) -> list[str]:
    """Return the columns to read; others that a score table may have stay where they are.

    Args:
        scores: the score table.
        facts: what is known about it.

    Raises:
        ResultError: a column is missing, or several have its name.
    """
    available, label = scores.columns, f"the score table of {facts.name!r}"
    names = list(column_types(facts.measures))
    if absent := [name for name in names if name not in available]:
        msg = f"{label} lacks the columns {first_few(absent)}"
        raise ResultError(msg)
    for name in names:
        check_unambiguous(available, name, label, ResultError)
    return names

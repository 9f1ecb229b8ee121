"""Checks of Spark DataFrames on the driver, before any job: columns, types, what needs an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import DOC, GRADE, QUERY, SCORE, choose_column
from beir_eval.errors import InputError, SettingError, needs_extra, shown

with needs_extra("pyspark", "spark", "evaluating with Spark"):
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812 - its usual name
    from pyspark.sql.types import (
        BooleanType,
        IntegralType,
        NumericType,
        StringType,
    )

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.errors import BeirEvalError

POSITION = "position"

_IDS = (StringType, IntegralType), "ids must be text or integers"
_TYPES = {
    QUERY: _IDS,
    DOC: _IDS,
    SCORE: ((NumericType, BooleanType), "scores must be numbers"),
    GRADE: ((NumericType, BooleanType), "grades must be numbers"),
    POSITION: ((IntegralType,), "positions must be integers"),
}


def checked_columns(
    frame: Any,
    roles: Mapping[str, str | None],
    label: str,
    error_class: type[InputError],
) -> list[str]:
    """Return the names of a DataFrame's columns for these roles, in their order.

    Args:
        frame: the DataFrame.
        roles: {role: column name}; a role with None is recognised by the usual names.
        label: what messages call the frame, for example "the run".
        error_class: the class of the error.

    Raises:
        InputError: (of class ``error_class``) not a DataFrame of Spark; or a column is missing, not
            recognised, one of several, or of another type.
    """
    if not isinstance(frame, DataFrame):
        msg = (
            f"{label} must be a DataFrame of Spark, not {type(frame).__module__}."
            f"{type(frame).__name__}; spark.createDataFrame and spark.read make one, and "
            "beir_eval.evaluate takes what is in memory"
        )
        raise error_class(msg)
    types = {field.name: field.dataType for field in frame.schema.fields}
    chosen = []
    for role, requested in roles.items():
        name = choose_column(
            frame.columns,
            role,
            requested,
            error_class,
            label,
            how_to_state="state it in evaluate: {role}='…'",
        )
        check_unambiguous(frame.columns, name, label, error_class)
        expected, rule = _TYPES[role]
        if not isinstance(types[name], expected):
            msg = (
                f"{label}: the column {shown(name)} ({role}) holds {types[name].simpleString()}; "
                f"{rule}. Name another column, or cast it"
            )
            raise error_class(msg)
        chosen.append(name)
    return chosen


def check_unambiguous(
    columns: Sequence[str], name: str, label: str, error_class: type[BeirEvalError]
) -> None:
    """Raise an error if Spark, which ignores case, finds several columns of a name.

    Args:
        columns: the names of all columns.
        name: the name.
        label: what messages call the frame, for example "the run".
        error_class: the class of the error.
    """
    same = [column for column in columns if column.lower() == name.lower()]
    if len(same) > 1:
        msg = (
            f"{label} has {len(same)} columns named {shown(name)}, upper and lower case apart; "
            "rename or drop the others"
        )
        raise error_class(msg)


def column(name: str) -> Column:
    """Return the column of this name, which may have dots in it."""
    return F.col(f"`{name.replace('`', '``')}`")


def check_order_is_known(settings: EvaluationSettings, position: str | None) -> bool:
    """Return whether the settings use the order of a query's documents.

    Args:
        settings: how the run is evaluated.
        position: the column that has the order, if there is one.

    Raises:
        SettingError: the settings use the order, and no column has it.
    """
    needing = [
        f"{name}={value!r}"
        for name, value in (("order", "given"), ("ties", "input"), ("duplicates", "first"))
        if getattr(settings, name) == value
    ]
    if needing and position is None:
        msg = (
            f"{needing[0]} needs the order of each query's documents, and Spark does not keep the "
            "order of rows: pass position='…', a column of integers that ascend in that order"
        )
        raise SettingError(msg)
    return bool(needing)

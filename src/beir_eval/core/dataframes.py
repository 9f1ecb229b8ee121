"""Reading of dataframes into checked polars columns, through the Arrow PyCapsule interface.

The interface is provided by polars, pyarrow tables, and pandas (which needs
pyarrow for it). This module imports no other dataframe package than polars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import DOC, FILTER_IT, QUERY, RowFilter, choose_column
from beir_eval.core.files import is_of_polars
from beir_eval.core.ids import check_unicode
from beir_eval.errors import InputError, MissingExtraError, needs_extra, shown

with needs_extra("polars", "files", "reading a dataframe"):
    import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def to_columns(  # noqa: PLR0913 - what is read, and what messages say
    frame: object,
    *,
    number_role: str,
    names: Mapping[str, str | None],
    error_class: type[InputError],
    label: str,
    first_row: int = 0,
) -> pl.DataFrame:
    """Return a polars frame of query ids and document ids as text, and finite numbers as f8.

    Args:
        frame: anything with ``__arrow_c_stream__``, or a polars LazyFrame.
        number_role: the column of numbers to read, ``SCORE`` or ``GRADE``.
        names: {role: column name}; a role without a name, or with None, is recognised by the
            usual names.
        error_class: the class of the error to raise.
        label: what messages call the frame, for example "the run".
        first_row: the number of the first row, for messages, if the frame is a part of a table.

    Raises:
        InputError: (of class ``error_class``) the frame cannot be read, a column is missing, not
            recognised or one of several that match, an id is null, empty or neither text nor an
            integer, or a number is null, NaN, infinite or not numeric.
        InputError: a column has the values of several systems.
        MissingExtraError: a pandas frame without pyarrow.
    """
    table = _read_frame(frame, error_class, label)
    RowFilter({}, FILTER_IT).rows_of_frame(table)
    name_of = _names_of(table.columns, number_role, names, error_class, label)
    columns = [
        _as_ids(table[name_of[role]], role, error_class, label, first_row).alias(role)
        for role in (QUERY, DOC)
    ]
    numbers = _as_numbers(table[name_of[number_role]], number_role, error_class, label, first_row)
    columns.append(numbers.alias(number_role))
    return pl.DataFrame(columns)


def _names_of(
    available: Sequence[str],
    number_role: str,
    names: Mapping[str, str | None],
    error_class: type[InputError],
    label: str,
) -> dict[str, str]:
    return {
        role: choose_column(available, role, names.get(role), error_class, label)
        for role in (QUERY, DOC, number_role)
    }


def frame_of_rows(
    rows: Iterable[tuple[str, str, float]], number_name: str, label: str
) -> pl.DataFrame:
    """Return rows of query id, document id and number as a polars DataFrame.

    Args:
        rows: the rows.
        number_name: the name of the column of numbers.
        label: what messages call the object that the rows come from.

    Raises:
        InputError: an id is not valid Unicode.
    """
    listed = list(rows)
    check_unicode(label, {text for row in listed for text in row[:2]})
    schema = {QUERY: pl.String, DOC: pl.String, number_name: pl.Float64}
    return pl.DataFrame(listed, schema=schema, orient="row")


def frame_of_records(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return records with the same keys as a polars DataFrame, a row for each.

    Args:
        records: {column: text, number, True, False or None}. A column of None only holds floats.
    """
    frame = pl.DataFrame(list(records), infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))


def _read_frame(frame: Any, error_class: type[InputError], label: str) -> pl.DataFrame:
    try:
        # Of a relation of DuckDB, even the attribute may fail: its table was dropped.
        if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
            frame = frame.reset_index()  # a named pandas index is read as a column
        return frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    except ImportError as error:
        package, extra = "pyarrow", "pandas"
        raise MissingExtraError(package, extra, f"reading {label} from a pandas frame") from error
    except BaseException as error:
        # polars, pyarrow, pandas and DuckDB each raise their own errors for unreadable frames.
        if not is_of_polars(error):
            raise
        msg = (
            f"{label} cannot be read as a dataframe: {error}. Pass the columns of query ids, "
            "document ids and numbers only, each of one type"
        )
        raise error_class(msg) from error


def _as_ids(
    column: pl.Series, role: str, error_class: type[InputError], label: str, first_row: int
) -> pl.Series:
    if not (
        column.dtype.is_integer()
        or column.dtype in (pl.String, pl.Null)
        or isinstance(column.dtype, (pl.Categorical, pl.Enum))
    ):
        msg = (
            f"{label}: the column {column.name!r} ({role}) holds {column.dtype}; ids must be text "
            "or integers"
        )
        raise error_class(msg)
    if column.null_count():
        row = first_row + column.is_null().arg_true()[0]
        msg = f"{label}: ids are null in the column {column.name!r}, first in row {row}"
        raise error_class(msg)
    text = column.cast(pl.String)
    empty_rows = (text == "").arg_true()
    if len(empty_rows):
        row = first_row + empty_rows[0]
        msg = f"{label}: an id is empty in the column {column.name!r}, row {row}"
        raise error_class(msg)
    return text


def _as_numbers(
    column: pl.Series, role: str, error_class: type[InputError], label: str, first_row: int
) -> pl.Series:
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        msg = f"{label}: the column {column.name!r} ({role}) holds {column.dtype}, not numbers"
        raise error_class(msg)
    numbers = column.cast(pl.Float64)
    invalid_rows = (~numbers.is_finite().fill_null(value=False)).arg_true()
    if len(invalid_rows):
        msg = (
            f"{label}: the {role} in row {first_row + invalid_rows[0]} of the column "
            f"{column.name!r} is {shown(column[invalid_rows[0]])}; it must be a finite number"
        )
        raise error_class(msg)
    return numbers

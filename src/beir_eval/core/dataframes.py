"""Dataframes of any kind, through the Arrow PyCapsule interface, as columns of a polars frame.

pandas (which needs pyarrow for it), polars, pyarrow tables and DuckDB relations have that
interface; no package but polars is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import DOC_NAMES, GRADE_NAMES, QUERY_NAMES, SCORE_NAMES, matching
from beir_eval.errors import InputError, MissingExtraError, needs_extra, some

with needs_extra("polars", "files", "reading a dataframe"):
    import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

QUERY, DOC, SCORE, GRADE = "query_id", "doc_id", "score", "grade"

USUAL_NAMES = {QUERY: QUERY_NAMES, DOC: DOC_NAMES, SCORE: SCORE_NAMES, GRADE: GRADE_NAMES}


def to_columns(
    frame: object,
    *,
    number: str,
    names: Mapping[str, str | None],
    error: type[InputError],
    what: str,
) -> pl.DataFrame:
    """Return query and document ids as text and a number as f8, checked.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        number: which number is wanted, ``SCORE`` or ``GRADE``.
        names: the caller's names for the columns; None where they are to be recognised.
        error: the class of error to raise.
        what: how messages call the frame, for example "the run".

    Raises:
        InputError: (as ``error``) a column is not there or not to be told, an id is null, empty or
            neither text nor an integer, a number is null, NaN, infinite or no number.
        MissingExtraError: a pandas frame without pyarrow.
    """
    table = _read(frame, error, what)
    chosen = {
        role: _choose(table.columns, role, names.get(role), error, what)
        for role in (QUERY, DOC, number)
    }
    columns = [_as_ids(table[chosen[role]], role, error, what).alias(role) for role in (QUERY, DOC)]
    columns.append(_as_numbers(table[chosen[number]], number, error, what).alias(number))
    return pl.DataFrame(columns)


def _read(frame: Any, error: type[InputError], what: str) -> pl.DataFrame:
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()  # a pandas index that has a name is a column
    try:
        return frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    except ImportError as missing:
        package, extra = "pyarrow", "pandas"
        raise MissingExtraError(package, extra, f"reading {what} from a pandas frame") from missing
    except Exception as problem:
        # polars, pyarrow, pandas and DuckDB each have their own errors for what cannot be said.
        msg = (
            f"{what} cannot be read as a dataframe: {problem}. Hand over the columns of query ids, "
            "document ids and numbers only, each of one type"
        )
        raise error(msg) from problem


def _choose(
    columns: Iterable[str], role: str, stated: str | None, error: type[InputError], what: str
) -> str:
    listed = list(columns)
    if stated is not None:
        if stated in listed:
            return stated
        msg = f"{what} has no column {stated!r}; it has {some(listed)}"
        raise error(msg)
    usual = USUAL_NAMES[role]
    found = matching(listed, usual)
    if len(found) == 1:
        return found[0]
    if found:
        problem = f"several columns that could be {role}: {some(found)}"
    else:
        problem = (
            f"no column that is recognisably {role} (one of {', '.join(usual)}); it has "
            f"{some(listed)}"
        )
    msg = f"{what} has {problem}. State it: {role}='…'"
    raise error(msg)


def _as_ids(column: pl.Series, role: str, error: type[InputError], what: str) -> pl.Series:
    if not (
        column.dtype.is_integer()
        or column.dtype in (pl.String, pl.Null)
        or isinstance(column.dtype, (pl.Categorical, pl.Enum))
    ):
        msg = (
            f"{what}: the column {column.name!r} ({role}) holds {column.dtype}; ids must be text "
            "or integers"
        )
        raise error(msg)
    if nulls := column.null_count():
        first = column.is_null().arg_true()[0]
        msg = f"{what}: {nulls} ids are null in the column {column.name!r}, first in row {first}"
        raise error(msg)
    text = column.cast(pl.String)
    empty = (text == "").arg_true()
    if len(empty):
        msg = f"{what}: an id is empty in the column {column.name!r}, row {empty[0]}"
        raise error(msg)
    return text


def _as_numbers(column: pl.Series, role: str, error: type[InputError], what: str) -> pl.Series:
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        msg = f"{what}: the column {column.name!r} ({role}) holds {column.dtype}, not numbers"
        raise error(msg)
    numbers = column.cast(pl.Float64)
    bad = (~numbers.is_finite().fill_null(value=False)).arg_true()
    if len(bad):
        msg = (
            f"{what}: the {role} in row {bad[0]} of the column {column.name!r} is "
            f"{column[bad[0]]!r}; it must be a finite number"
        )
        raise error(msg)
    return numbers

"""What runs in Spark's Python workers: rows of complete queries become rows of the score table.

``evaluate_buckets`` gets the judgements and the documents of a bucket of queries;
``evaluate_batches`` gets both in one stream that is sorted by query, and keeps the last query of a
batch until its other rows have come. Both compute scores with the engine of ``evaluate``.

Nothing here imports Spark.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval import errors
from beir_eval._version import __version__
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.run import Run
from beir_eval.errors import (
    BeirEvalError,
    InputError,
    QrelsError,
    QueryMismatchError,
    RunError,
    SettingError,
    first_few,
    needs_extra,
    shown,
)
from beir_eval.integrations.spark.score_table import (
    QUERY_ID,
    REPEATED,
    RETRIEVED,
    column_types,
    score_queries,
)
from beir_eval.measures import parse_all

with needs_extra("polars", "spark", "a Python worker of Spark"):
    import polars as pl
with needs_extra("pyarrow", "spark", "a Python worker of Spark"):
    import pyarrow as pa

from beir_eval.core.run_sources.dataframe import source_from_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from beir_eval.measures import Measure

#: The columns of judgements and of documents, as Spark passes them. ``NUMBER`` is the grade or the
#: score; ``IS_JUDGEMENT`` tells the two apart where they come in one stream.
QUERY, DOC, NUMBER, PLACE, IS_JUDGEMENT = "query_id", "doc_id", "score", "place", "is_judgement"

#: Complete queries are evaluated when so many rows have come.
_ROWS_AT_ONCE = 100_000

_ARROW_TYPES = {str: pa.string(), float: pa.float64(), bool: pa.bool_(), int: pa.int64()}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a worker must know, as plain values.

    Attributes:
        version: the version of beir-eval on the driver.
        measures: the names of the measures.
        settings: the fields of ``EvaluationSettings``.
        max_grade: the highest grade of the whole qrels.
        ordered: whether the column ``PLACE`` gives the order of the documents.
        qrels_columns: the user's columns of query ids, document ids and grades, for messages.
        run_columns: the user's columns of query ids, document ids, scores and positions.
    """

    version: str
    measures: list[str]
    settings: dict[str, Any]
    max_grade: float
    ordered: bool
    qrels_columns: list[str]
    run_columns: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, which the closure of the worker's function carries."""
        return asdict(self)

    @classmethod
    def from_driver(cls, content: dict[str, Any]) -> Plan:
        """Return the plan with the fields that the driver sent.

        Raises:
            SettingError: the driver has another version, whose fields may be others.
        """
        if content["version"] != __version__:
            msg = (
                f"a Python worker of Spark ({sys.executable}) has beir-eval {__version__}, and the "
                f"driver has {content['version']}: install the same version on both"
            )
            raise SettingError(msg)
        return cls(**content)


def evaluate_buckets(plan: dict[str, Any], judged: pa.Table, retrieved: pa.Table) -> pa.Table:
    """Return the rows of the score table for a bucket of queries.

    Args:
        plan: the fields of ``Plan``.
        judged: the judgements of these queries: ``QUERY``, ``DOC``, ``NUMBER``.
        retrieved: the documents of these queries: the same, and ``PLACE`` if the plan is ordered.

    Raises:
        RuntimeError: the text of a ``BeirEvalError``.
    """
    try:
        content = Plan.from_driver(plan)
        evaluator = _PartEvaluator(content)
        rows = evaluator.evaluate(_as_frame(judged), _as_frame(retrieved))
    except BeirEvalError as error:
        raise as_worker_error(error) from None
    table = pa.Table.from_batches([] if rows is None else [rows], schema=evaluator.schema)
    # Spark expects text of the type that it passes, which one of its settings changes.
    text = judged.schema.field(QUERY).type
    types = [text if kind == pa.string() else kind for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, types, strict=True)))


def evaluate_batches(
    plan: dict[str, Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the score table for a partition that is sorted by query.

    Args:
        plan: the fields of ``Plan``.
        batches: judgements and documents together: ``QUERY``, ``DOC``, ``NUMBER``,
            ``IS_JUDGEMENT``, and ``PLACE`` if the plan is ordered.

    Raises:
        RuntimeError: the text of a ``BeirEvalError``.
    """
    try:
        content = Plan.from_driver(plan)
        evaluator = _PartEvaluator(content)
        for part in complete_queries(map(_as_frame, batches), _ROWS_AT_ONCE):
            is_judgement = part[IS_JUDGEMENT]
            rows = evaluator.evaluate(part.filter(is_judgement), part.filter(~is_judgement))
            if rows is not None:
                yield rows
    except BeirEvalError as error:
        raise as_worker_error(error) from None


def complete_queries(frames: Iterable[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of frames in parts of complete queries, each of at least ``size`` rows.

    The last part may be smaller. A query with more rows than that is in one part.

    Args:
        frames: rows whose column ``QUERY`` is sorted, over all frames together.
        size: the number of rows.

    >>> frames = [pl.DataFrame({QUERY: ids}) for ids in (["a", "b"], ["b", "b"], ["b", "c"])]
    >>> [part[QUERY].to_list() for part in complete_queries(frames, 1)]
    [['a'], ['b', 'b', 'b', 'b'], ['c']]
    """
    ready: list[pl.DataFrame] = []
    open_query: list[pl.DataFrame] = []
    num_ready = 0
    for frame in frames:
        if frame.is_empty():
            continue
        query = frame[QUERY]
        # Null ids are equal here: they are one group, and refused later.
        num_before_last = int(query.ne_missing(query[-1]).sum())
        continues = bool(open_query) and open_query[-1][QUERY][-1] == query[-1]
        if continues and not num_before_last:
            open_query.append(frame)
            continue
        ready += [*open_query, *([frame[:num_before_last]] if num_before_last else [])]
        num_ready += sum(part.height for part in open_query) + num_before_last
        open_query = [frame[num_before_last:]]
        if num_ready >= size:
            yield pl.concat(ready)
            ready, num_ready = [], 0
    if ready or open_query:
        yield pl.concat([*ready, *open_query])


def _as_frame(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Return rows of Spark as a frame.

    Raises:
        pa.ArrowInvalid: an id is not valid UTF-8, which polars would not notice.
    """
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    table.validate(full=True)
    frame: pl.DataFrame = pl.from_arrow(table)  # type: ignore[assignment]
    return frame


class _PartEvaluator:
    """An evaluator of parts with complete queries.

    Attributes:
        schema: the columns of the rows that it returns.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._measures: tuple[Measure, ...] = parse_all(plan.measures)
        self._settings = EvaluationSettings(**plan.settings)
        self._types = column_types(plan.measures)
        self.schema = pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in self._types.items()])

    def evaluate(self, judged: pl.DataFrame, retrieved: pl.DataFrame) -> pa.RecordBatch | None:
        """Return the rows of the score table, or None without any judgement.

        Raises:
            BeirEvalError: an input that cannot be evaluated; see ``evaluate``.
        """
        _check_rows(judged, self._plan.qrels_columns, "the qrels", "grade", QrelsError)
        _check_rows(retrieved, self._plan.run_columns, "the run", "score", RunError)
        if self._plan.ordered and not retrieved.is_empty():
            retrieved = _in_order(retrieved, self._plan.run_columns[3])
        if judged.is_empty():
            return None
        with _columns_named("the qrels", self._plan.qrels_columns, QrelsError):
            qrels = Qrels.from_columns(*(judged[name].to_list() for name in (QUERY, DOC, NUMBER)))
        run = Run.from_source(source_from_frames([retrieved.select(QUERY, DOC, NUMBER)]))
        with _columns_named("the run", self._plan.run_columns, RunError):
            columns = score_queries(
                qrels, run, self._measures, self._settings, max_grade=self._plan.max_grade
            )
        self._check_missing(columns)
        columns[REPEATED] = _repeated_judgements(judged, qrels)
        arrays = [
            # An undefined score is null, which Spark's own aggregates leave out.
            pa.array(columns[name], type=_ARROW_TYPES[kind], from_pandas=kind is float)
            for name, kind in self._types.items()
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _check_missing(self, columns: dict[str, Any]) -> None:
        """Raise QueryMismatchError for a query that the run lacks, if none may be missing."""
        missing = np.flatnonzero(~columns[RETRIEVED])
        if self._settings.missing != "error" or not len(missing):
            return
        missing_ids = first_few(columns[QUERY_ID][row] for row in missing)
        msg = (
            f"judged queries are missing from the run, in this part of the data {missing_ids}. "
            "Complete the run, or choose missing='zero' or 'skip'"
        )
        raise QueryMismatchError(msg)


@contextmanager
def _columns_named(label: str, names: list[str], error_class: type[InputError]) -> Iterator[None]:
    """Let an error of this class in the ``with`` block name the columns too.

    Args:
        label: what messages call the rows.
        names: the user's names of the columns of query ids, document ids and numbers; "" for none.
        error_class: the class; a class derived from it stays as it is.
    """
    try:
        yield
    except error_class as error:
        msg = f"{label} (columns {first_few(filter(None, names[:3]))}): {error}"
        raise type(error)(msg) from None


def _check_rows(
    rows: pl.DataFrame,
    names: list[str],
    label: str,
    number_role: str,
    error_class: type[InputError],
) -> None:
    """Raise an error with the column, an example and the remedy unless ids and numbers are valid.

    Args:
        rows: ``QUERY``, ``DOC``, ``NUMBER``.
        names: the user's names of these columns.
        label: what messages call the rows.
        number_role: "grade" or "score".
        error_class: the class of the error.
    """
    if rows.is_empty():
        return
    checks: list[tuple[str, Callable[[pl.Series], pl.Series], str]] = [
        (QUERY, pl.Series.is_null, "ids are null"),
        (DOC, pl.Series.is_null, "ids are null"),
        (QUERY, lambda ids: ids == "", "ids are empty"),
        (DOC, lambda ids: ids == "", "ids are empty"),
        (NUMBER, _are_not_finite, f"values of the {number_role} are not finite numbers"),
    ]
    name_of = dict(zip((QUERY, DOC, NUMBER), names, strict=False))
    for column, find, problem in checks:
        invalid = find(rows[column])
        if not invalid.any():
            continue
        query_id, doc_id, number = rows.select(QUERY, DOC, NUMBER).row(int(invalid.arg_true()[0]))
        msg = (
            f"{label}: {int(invalid.sum()):,} {problem} in the column {shown(name_of[column])}, in "
            f"this part of the data; the first is in the row of query {shown(query_id)}, document "
            f"{shown(doc_id)}, {number_role} {shown(number)}. Remove or correct such rows; "
            f"DataFrame.dropna(subset=[{shown(name_of[column])}]) removes nulls"
        )
        raise error_class(msg)


def _are_not_finite(numbers: pl.Series) -> pl.Series:
    return ~numbers.is_finite().fill_null(value=False)


def _in_order(retrieved: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the rows in the order of ``PLACE``.

    Raises:
        RunError: a position is null, or two documents of a query have the same.
    """
    invalid, problem = retrieved[PLACE].is_null(), "is null"
    if not invalid.any():
        invalid, problem = retrieved.select(QUERY, PLACE).is_duplicated(), "is there twice"
    if invalid.any():
        query_id, doc_id, position = retrieved.select(QUERY, DOC, PLACE).row(
            int(invalid.arg_true()[0])
        )
        msg = (
            f"the run: the position {shown(position)} of document {shown(doc_id)} {problem} in the "
            f"ranking of query {shown(query_id)}, in the column {shown(name)}. Number the "
            "documents of each query with different integers"
        )
        raise RunError(msg)
    return retrieved.sort(PLACE)


def _repeated_judgements(judged: pl.DataFrame, qrels: Qrels) -> Any:
    """Return how many rows of each query repeat a judgement, i8[Q]."""
    if not qrels.repeated_judgements:
        return np.zeros(len(qrels), dtype=np.int64)
    row = qrels.find_rows(judged[QUERY].to_list())
    return np.bincount(row, minlength=len(qrels)) - qrels.num_judged


#: What surrounds the class and the message of an error, as a JSON list.
BEGIN, END = "BEIR_EVAL_ERROR:", ":BEIR_EVAL_END"

_DECODER = json.JSONDecoder()


def as_worker_error(error: errors.BeirEvalError) -> RuntimeError:
    """Return what a worker raises, so that ``decoded`` finds class and message in Spark's error."""
    content = json.dumps([type(error).__name__, str(error)], ensure_ascii=False)
    return RuntimeError(f"{BEGIN}{content}{END}")


def decoded(text: str) -> errors.BeirEvalError | None:
    """Return the error that a worker raised, from the text of Spark's error; None if there is none.

    >>> decoded(f"PythonException: {as_worker_error(errors.RunError('an id is null'))} SQLSTATE")
    RunError('an id is null')
    """
    position = text.find(BEGIN)
    while position >= 0:
        try:
            # JSON knows where it ends: ids in the message may contain BEGIN or END.
            (name, message), _ = _DECODER.raw_decode(text, position + len(BEGIN))
        except (TypeError, ValueError):  # shortened on the way, or not ours
            position = text.find(BEGIN, position + 1)
        else:
            return _error_of(name, message)
    return None


def _error_of(name: str, message: str) -> errors.BeirEvalError:
    """Return an error with this message.

    Args:
        name: the name of its class.
        message: its text.
    """
    if name == "MissingExtraError":
        missing = errors.MissingExtraError("beir_eval", "spark", "a worker")
        missing.args, missing.msg = (message,), message
        return missing
    error_class = getattr(errors, name, None)
    if isinstance(error_class, type) and issubclass(error_class, errors.BeirEvalError):
        return error_class(message)
    return errors.InputError(message)


@contextmanager
def worker_errors_raised() -> Iterator[None]:
    """Raise the ``BeirEvalError`` of a worker in place of Spark's error in the ``with`` block.

    Raises:
        BeirEvalError: a worker raised it; Spark's error is its cause.
    """
    try:
        yield
    except Exception as spark_error:  # classic and Connect have a class each
        error = decoded(str(spark_error))
        if error is None:
            raise
        raise error from spark_error

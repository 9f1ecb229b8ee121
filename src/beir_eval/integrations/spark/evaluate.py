"""``evaluate``: a DataFrame of Spark with the scores of each judged query; what runs its job."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.core.column_names import DOC as DOC_ROLE
from beir_eval.core.column_names import GRADE, SCORE, columns_of_role
from beir_eval.core.column_names import QUERY as QUERY_ROLE
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import (
    InputError,
    QrelsError,
    ResultError,
    RunError,
    check_choice,
    check_count,
    check_name,
    first_few,
    needs_extra,
    shown,
    warn_caller,
)
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.records import Provenance
from beir_eval.inspection.judgements import fractional_grades
from beir_eval.integrations.spark.distribution import METHODS, score_table
from beir_eval.integrations.spark.inputs import (
    POSITION,
    check_order_is_known,
    check_unambiguous,
    checked_columns,
    column,
)
from beir_eval.integrations.spark.score_table import (
    FACTS_KEY,
    QUERY_ID,
    TableFacts,
    column_types,
    result_of_table,
)
from beir_eval.integrations.spark.worker import (
    DOC,
    NUMBER,
    PLACE,
    QUERY,
    Plan,
    worker_errors_raised,
)

with needs_extra("pyspark", "spark", "evaluating with Spark"):
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike


def evaluate(  # noqa: PLR0913 - one keyword a policy
    qrels_df: DataFrame,
    run_df: DataFrame,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    query_id: str | None = None,
    doc_id: str | None = None,
    score: str | None = None,
    grade: str | None = None,
    position: str | None = None,
    order: str = "score",
    ties: str = "trec_eval9",
    missing: str = "zero",
    no_relevant: str = "zero",
    duplicates: str = "error",
    drop_identical_ids: bool = False,
    name: str = "run",
    method: str | None = None,
    partitions: int | None = None,
) -> DataFrame:
    """Return a DataFrame with a row for each judged query: its scores, and what was counted.

    The scores are those of ``beir_eval.evaluate``, bit for bit. A job over the judgements runs at
    once, to check them and to find the highest grade. The run is read by the job of the DataFrame
    that is returned: write it as a table, or pass it to ``summarise``.

    Args:
        qrels_df: a DataFrame of Spark with one row per judgement, in any order.
        run_df: a DataFrame of Spark with one row per retrieved document, in any order.
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        query_id: the name of the column of query ids in both DataFrames; by default each is
            recognised by its usual names, such as query_id, qid or query-id.
        doc_id: the name of the column of document ids in both DataFrames; by default each is
            recognised by its usual names, such as doc_id, docno, docid or corpus-id.
        score: the name of the column of scores in the run; by default score or sim. With
            ``order="given"`` the run needs none.
        grade: the name of the column of grades in the qrels; by default grade, relevance, label,
            rel or score.
        position: the name of a column of integers in the run that ascend in the order of each
            query's documents. Spark does not keep the order of rows, so ``order="given"``,
            ``ties="input"`` and ``duplicates="first"`` need it.
        order: "score" or "given", as for ``Evaluator``.
        ties: "trec_eval9", "trec_eval10", "input", "best" or "worst", as for ``Evaluator``.
        missing: what happens to judged queries that the run does not have. They have a row in any
            case; ``summarise`` counts them with "zero" and leaves them out with "skip"; "error"
            stops the job.
        no_relevant: "zero" or "skip", as for ``Evaluator``.
        duplicates: "error", which stops the job, "first" or "keep", as for ``Evaluator``.
        drop_identical_ids: whether documents whose id equals the query id are removed from the
            rankings.
        name: the name of the system that made the run, for tables and reports.
        method: how the rows of a query come together. "cogroup" passes buckets of queries to the
            workers as a whole; "sort" sorts by query and streams, which needs less memory. By
            default "cogroup" for a run of at most 256 MiB, as far as Spark knows its size without a
            job, and "sort" for others.
        partitions: the number of buckets or of partitions; by default as many as the size and
            Spark's settings suggest.

    Returns:
        The columns ``query_id``, each measure by its name (null if it is undefined for the query),
        ``retrieved`` (whether the run has the query), counts of documents and judgements,
        ``judged_in_top_<k>`` for each cutoff, and ``double_precision``, which ``summarise`` reads.
        A name with a dot needs backticks in Spark's SQL.

    Raises:
        QrelsError, RunError: not a DataFrame of Spark, or a column is missing, not recognised or of
            another type; a judgement has a null id, or a grade that is not a finite number; or
            there is no judgement.
        MeasureError: a measure does not exist (UnknownMeasureError), or its parameter or cutoff is
            impossible.
        SettingError: a setting has another value, or needs ``position``.
        MissingExtraError: pyspark is not installed.

        Errors in the run stop the job, with the message inside Spark's exception; ``check`` and
        ``summarise`` raise them as RunError, DuplicateDocumentError or QueryMismatchError.

    Warns:
        BeirEvalWarning: the qrels have fractional grades, and a measure without a threshold counts
            every grade above 0 as relevant.
    """
    policies: dict[str, Any] = {
        "order": order,
        "ties": ties,
        "missing": missing,
        "no_relevant": no_relevant,
        "duplicates": duplicates,
        "drop_identical_ids": drop_identical_ids,
    }
    settings = EvaluationSettings(**policies)
    # The evaluator checks measures and settings together; it sees other qrels.
    evaluator = Evaluator({"q": {"d": 1}}, measures, **policies)
    check_name("name", name)
    if method is not None:
        check_choice("method", method, METHODS)
    if partitions is not None:
        check_count("partitions", partitions)
        partitions = operator.index(partitions)
    ordered = check_order_is_known(settings, position)

    ids = {QUERY_ROLE: query_id, DOC_ROLE: doc_id}
    qrels_columns = checked_columns(qrels_df, {**ids, GRADE: grade}, "the qrels", QrelsError)
    is_scored = order == "score" or score is not None or _has_scores(run_df)
    roles = {**ids, **({SCORE: score} if is_scored else {})}
    if position is not None:
        roles[POSITION] = position
    run_columns = checked_columns(run_df, roles, "the run", RunError)
    if not is_scored:
        run_columns.insert(2, "")

    judged = _selected(qrels_df, [*qrels_columns, ""])
    retrieved = _selected(run_df, [*run_columns[:3], position if ordered and position else ""])
    max_grade, has_fractions = _check_judgements(judged, qrels_columns)
    if has_fractions:
        for finding in fractional_grades(1, 1, evaluator.measures):
            warn_caller(finding.sentence)
    plan = Plan(
        version=__version__,
        measures=[str(measure) for measure in evaluator.measures],
        settings=asdict(settings),
        max_grade=max_grade,
        ordered=ordered,
        qrels_columns=qrels_columns,
        run_columns=run_columns,
    )
    facts = TableFacts(
        name=name,
        measures=tuple(plan.measures),
        settings=settings,
        provenance=Provenance(package_version=__version__),
        max_grade=max_grade,
    )
    table = score_table(judged, retrieved, plan.as_dict(), method, partitions)
    return table.withMetadata(QUERY_ID, {FACTS_KEY: facts.model_dump_json()})


def _has_scores(run_df: Any) -> bool:
    """Return whether a column of the run is recognisably of scores."""
    return isinstance(run_df, DataFrame) and bool(columns_of_role(run_df.columns, "score"))


def _selected(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the columns that workers read: ids as text, numbers as double, positions as bigint.

    Args:
        frame: judgements or documents.
        names: the columns of query ids, document ids, numbers and positions; "" for none.
    """
    query, document, number, position = names
    columns = [
        column(query).cast("string").alias(QUERY),
        column(document).cast("string").alias(DOC),
        (column(number).cast("double") if number else F.lit(0.0)).alias(NUMBER),
    ]
    if position:
        columns.append(column(position).cast("bigint").alias(PLACE))
    return frame.select(*columns)


def _check_judgements(judged: DataFrame, names: Sequence[str]) -> tuple[float, bool]:
    """Return the highest grade, and whether a grade above 0 is a fraction; this runs a job.

    Args:
        judged: the judgements.
        names: the user's columns of query ids, document ids and grades.

    Raises:
        QrelsError: there is no judgement, an id is null, or a grade is not a finite number.
    """
    grade = F.col(NUMBER)
    is_invalid = grade.isNull() | F.isnan(grade) | (F.abs(grade) == float("inf"))
    is_fraction = (grade > 0) & (grade % 1 != 0)
    problems = {
        "ids are null": (F.col(QUERY).isNull(), names[0]),
        "ids are null ": (F.col(DOC).isNull(), names[1]),
        "grades are not finite numbers": (is_invalid, names[2]),
    }
    counts = [
        F.count(F.lit(1)),
        F.max(F.when(~is_invalid, grade)),
        F.count_if(~is_invalid & is_fraction),
        *(F.count_if(condition) for condition, _ in problems.values()),
    ]
    [row] = judged.agg(*(count.alias(f"n{index}") for index, count in enumerate(counts))).collect()
    total, highest, num_fractions, *numbers = row
    if not total:
        msg = "the qrels are empty: there is no judgement in them, so nothing can be evaluated"
        raise QrelsError(msg)
    for number, (problem, (condition, name)) in zip(numbers, problems.items(), strict=True):
        if number:
            query, document, value = judged.filter(condition).head(1)[0][:3]
            msg = (
                f"the qrels: {number:,} {problem.strip()} in the column {shown(name)}, for example "
                f"in the row of query {shown(query)}, document {shown(document)}, grade "
                f"{shown(value)}. Remove or correct such rows; DataFrame.dropna(subset="
                f"[{shown(name)}]) removes nulls"
            )
            raise QrelsError(msg)
    return float(highest), bool(num_fractions)


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

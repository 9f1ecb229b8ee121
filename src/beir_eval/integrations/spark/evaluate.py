"""``evaluate``: a DataFrame of Spark with the scores of each judged query."""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval._version import __version__
from beir_eval.core.column_names import DOC as DOC_ROLE
from beir_eval.core.column_names import GRADE, SCORE, columns_of_role
from beir_eval.core.column_names import QUERY as QUERY_ROLE
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import (
    QrelsError,
    RunError,
    check_choice,
    check_count,
    check_name,
    needs_extra,
    shown,
    warn_caller,
)
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.records import Provenance
from beir_eval.evaluation.suspicions.judgements import fractional_grades
from beir_eval.integrations.spark.distribution import METHODS, score_table
from beir_eval.integrations.spark.inputs import (
    POSITION,
    check_order_is_known,
    checked_columns,
    column,
)
from beir_eval.integrations.spark.score_table import FACTS_KEY, QUERY_ID, TableFacts
from beir_eval.integrations.spark.worker import DOC, NUMBER, PLACE, QUERY, Plan

with needs_extra("pyspark", "spark", "evaluating with Spark"):
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        for suspicion in fractional_grades(np.array([0.5]), evaluator.measures):
            warn_caller(suspicion.sentence)
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

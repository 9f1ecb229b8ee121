"""The score table: a row for each judged query, with its scores and what was counted for it.

It is made part by part, because nothing in a row depends on other queries: ``score_queries``
returns the columns of a part, in a worker, and ``result_of_table`` the result over all rows, on the
driver. What belongs to the whole table is in its ``TableFacts``, JSON in the metadata of a column.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from beir_eval.core.qrels import hash_text
from beir_eval.core.relevance_matrix import relate
from beir_eval.core.saved import SCHEMA_VERSION, Saved
from beir_eval.errors import MeasureError, ResultError, first_few
from beir_eval.evaluation.given_scores import check_measure_names
from beir_eval.evaluation.query_scores import (
    QueryCounts,
    check_float32,
    check_missing,
    cutoffs_of,
    differences_as_given,
    judged_rows,
    scores_of,
)
from beir_eval.evaluation.records import Provenance, QrelsHash, SavedSettings, sums_of
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.inspection.unmatched_ids import finding_of_counts
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Counted
    from beir_eval.measures import Measure

#: {name: the values of a column}: ids as a list, scores f8[Q] with NaN for an undefined score,
#: counts i8[Q], ``RETRIEVED`` bool[Q].
Columns: TypeAlias = "dict[str, Any]"

#: The query of a row, as text.
QUERY_ID = "query_id"
#: Whether the run has the query. If not, the row has the scores of an empty ranking.
RETRIEVED = "retrieved"
#: The columns of counts: the fields of ``QueryCounts``, i8.
COUNTS = (
    "documents_retrieved",
    "documents_judged",
    "relevant_judgements",
    "negative_judgements",
    "tied_documents",
    "duplicates",
    "identical_ids",
    "float32",
)
#: By how much each score is higher in double precision, as ``differences_as_given`` returns it:
#: a list as JSON, empty where none is.
DOUBLE_PRECISION = "double_precision"
#: The column of the hash of each query's judgements, the sum of which is the hash of all: i8,
#: since Spark has no unsigned numbers.
HASH = "qrels_hash"
#: How many judgements of the query are listed again with the same grade, i8.
REPEATED = "repeated_judgements"
#: The key of the facts in the metadata.
FACTS_KEY = "beir_eval.score_table"


class TableFacts(Saved):
    """What is known about a whole score table, saved as JSON beside its rows.

    Attributes:
        name: the name of the system that made the run.
        measures: the canonical names of the measures, in the order of the columns.
        settings: how the run was ranked and averaged.
        provenance: the package version.
        max_grade: the highest grade of the whole qrels; ERR depends on it.
    """

    WHAT: ClassVar[str] = "score table"
    REMEDY: ClassVar[str] = "evaluate again"

    name: str
    measures: tuple[str, ...]
    settings: SavedSettings
    provenance: Provenance
    max_grade: float

    @classmethod
    def from_text(cls, text: str, origin: str | Path) -> TableFacts:
        """Return the facts that are saved beside the rows.

        Args:
            text: the JSON.
            origin: the table, for messages.

        Raises:
            ResultError: the text is something else, or names a measure that does not exist.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            msg = f"{origin}: not a score table: its facts are not JSON: {error}"
            raise ResultError(msg) from error
        facts = cls.from_content(content, origin)
        try:
            check_measure_names(facts.measures, {})
        except (ValueError, MeasureError) as error:
            msg = f"{origin}: not a score table of this version: {error}"
            raise ResultError(msg) from error
        return facts

    def provenance_of(self, total: int) -> Provenance:
        """Return the provenance of the whole table.

        Args:
            total: the sum of the column ``qrels_hash``.
        """
        return self.provenance.model_copy(update={"qrels_hash": QrelsHash(hash_text(total))})


def judged_in_top_column(cutoff: int) -> str:
    """Return the name of the column that counts judged documents in the first ``cutoff`` ranks."""
    return f"judged_in_top_{cutoff}"


def score_queries(
    qrels: Qrels,
    run: Run,
    measures: Sequence[Measure],
    settings: EvaluationSettings,
    *,
    max_grade: float | None = None,
) -> Columns:
    """Return the rows of a score table for a part of the judged queries.

    The scores have the same bits as those of ``Evaluator.evaluate`` on the whole. ``missing`` has
    no effect here; ``result_of_table`` applies it.

    Args:
        qrels: the judgements of Q queries.
        run: the rankings of these queries; a query that it lacks is missing from the run, and
            queries that are not judged are ignored.
        measures: the measures, from ``parse_all``.
        settings: how the run is ranked.
        max_grade: the highest grade of the whole qrels, by default that of ``qrels``.

    Returns:
        The columns ``query_id`` (a list), each measure by its name (f8[Q], NaN if it is undefined),
        ``retrieved`` (bool[Q]), ``COUNTS`` and ``qrels_hash`` (i8[Q] each), ``judged_in_top_<k>``
        (i8[Q]) for each cutoff of the measures, and ``double_precision`` (a list). Rows are in the
        order of the qrels.

    Raises:
        RunError, DuplicateDocumentError, MeasureError: as ``Evaluator.evaluate``.
        QrelsError: ``max_grade`` is below the highest grade of the part.

    >>> from beir_eval import MRR, Qrels, Run
    >>> qrels, run = Qrels({"q1": {"a": 1}, "q2": {"b": 1}}), Run({"q1": {"a": 0.9}})
    >>> from beir_eval.core import EvaluationSettings
    >>> columns = score_queries(qrels, run, [MRR @ 10], EvaluationSettings())
    >>> columns["query_id"], columns["MRR@10"].tolist(), columns["retrieved"].tolist()
    (['q1', 'q2'], [1.0, 0.0], [True, False])
    """
    if max_grade is not None and max_grade != qrels.max_grade:
        qrels = qrels.select(qrels.query_ids, max_grade=max_grade)
    matrix, summary = relate(qrels, run, settings)
    counts = QueryCounts.of_matrix(matrix, summary, qrels)
    values = scores_of(matrix, measures, settings)
    moved = differences_as_given(matrix, summary, measures, settings)
    return {
        QUERY_ID: list(matrix.query_ids),
        **dict(zip(map(str, measures), values, strict=True)),
        RETRIEVED: ~counts.missing,
        **{name: np.asarray(getattr(counts, name), dtype=np.int64) for name in COUNTS},
        HASH: qrels.query_hashes.view(np.int64),
        **{
            judged_in_top_column(cutoff): matrix.count(judged_rows(matrix, cutoff))
            for cutoff in cutoffs_of(measures)
        },
        DOUBLE_PRECISION: [json.dumps(moved.get(row, [])) for row in range(len(qrels))],
    }


def column_types(measures: Iterable[str]) -> dict[str, type]:
    """Return {column: str, float, bool or int} of a table of these measures, in their order.

    Args:
        measures: canonical names.
    """
    names = list(measures)
    cutoffs = cutoffs_of(map(parse, names))
    return {
        QUERY_ID: str,
        **dict.fromkeys(names, float),
        RETRIEVED: bool,
        **dict.fromkeys((*COUNTS, HASH, *map(judged_in_top_column, cutoffs)), int),
        DOUBLE_PRECISION: str,
        REPEATED: int,
    }


def result_of_table(facts: TableFacts, columns: Mapping[str, Any]) -> EvaluationResult:
    """Return the result over all rows of a score table.

    It equals what ``Evaluator.evaluate`` returns for the whole qrels and run, apart from what
    Spark does not look for: signs of mistakes, the reason why ids do not match, and queries of the
    run that are not judged.

    Args:
        facts: what is known about the table.
        columns: {name: values}, in any order; lists, or what numpy reads as an array. An undefined
            score is NaN or None.

    Raises:
        ResultError: there is no row, a column is missing, a query is listed twice, or a value is of
            another type.
        QueryMismatchError: the run has no judged query; or, with ``missing="error"``, not all of
            them.
        RunError: float32 makes the different scores of every ranking one value.
    """
    rows = _Rows.read(facts, columns)
    missing = rows.counts.missing
    check_missing(rows.counts.query_ids, missing, facts.settings)
    check_float32(rows.counts.float32, rows.counts.documents_retrieved)
    values, query_ids, skipped = rows.values, rows.counts.query_ids, None
    if facts.settings.missing == "skip" and missing.any():
        skipped = ScoreMatrix.from_owned_array(values[:, missing])
        values = values[:, ~missing]
        query_ids = tuple(query_ids[row] for row in np.flatnonzero(~missing).tolist())
    return EvaluationResult.model_construct(
        schema_version=SCHEMA_VERSION,
        name=facts.name,
        measures=facts.measures,
        query_ids=query_ids,
        values=ScoreMatrix.from_owned_array(values),
        skipped_values=skipped,
        counted=rows.counted(facts, columns[DOUBLE_PRECISION]),
        settings=facts.settings,
        provenance=facts.provenance_of(rows.qrels_hash),
    )


class _Rows(NamedTuple):
    """The rows of a table as arrays.

    Attributes:
        values: the scores, f8[M, Q].
        counts: the counts of each query.
        judged_in_top: {cutoff: judged documents in the first ``cutoff`` ranks of all queries}.
        qrels_hash: the sum of the hashes of the judgements.
        repeated_judgements: the number of judgements listed again.
    """

    values: Any
    counts: QueryCounts
    judged_in_top: dict[int, int]
    qrels_hash: int
    repeated_judgements: int

    @classmethod
    def read(cls, facts: TableFacts, columns: Mapping[str, Any]) -> _Rows:
        """Return the rows.

        Raises:
            ResultError: as ``result_of_table``.
        """
        types = column_types(facts.measures)
        if absent := [name for name in types if name not in columns]:
            msg = f"the score table of {facts.name!r} lacks the columns {first_few(absent)}"
            raise ResultError(msg)
        query_ids = list(columns[QUERY_ID])
        problem = None
        if not query_ids:
            problem = "has no row"
        elif len(set(query_ids)) < len(query_ids):
            problem = "lists a query more than once"
        if problem is not None:
            msg = f"the score table of {facts.name!r} {problem}; evaluate again"
            raise ResultError(msg)
        arrays = {
            name: _read_column(name, columns[name], kind, len(query_ids))
            for name, kind in types.items()
            if kind is not str
        }
        counts = QueryCounts(
            query_ids=tuple(query_ids),
            missing=~arrays[RETRIEVED],
            **{name: arrays[name] for name in COUNTS},
        )
        judged_in_top = {
            cutoff: int(arrays[judged_in_top_column(cutoff)].sum())
            for cutoff in cutoffs_of(map(parse, facts.measures))
        }
        values = np.array([arrays[name] for name in facts.measures])
        totals = (int(arrays[name].sum()) for name in (HASH, REPEATED))
        return cls(values, counts, judged_in_top, *totals)

    def counted(self, facts: TableFacts, differences: Iterable[str]) -> Counted:
        """Return the counts over all queries; ``differences`` are of ``DOUBLE_PRECISION``."""
        counted = self.counts.counted(
            facts.settings,
            self.judged_in_top,
            queries_not_judged=None,
            queries_without_judgements=0,
            duplicates_checked="all",
            repeated_judgements=self.repeated_judgements,
            max_grade=facts.max_grade,
            double_precision=sums_of(filter(None, map(json.loads, differences)), facts.measures),
        )
        return counted.model_copy(update={"findings": finding_of_counts(counted)})


def _read_column(name: str, values: Any, kind: type, length: int) -> Any:
    """Return a column as an array of its type.

    Raises:
        ResultError: a value is of another type, or there is another number of values.
    """
    try:
        if kind is float:
            array = np.array(values, dtype=np.float64)  # None becomes NaN
        else:
            array = np.asarray(values)
            array = array.astype(np.int64 if kind is int else np.bool_, casting="same_kind")
    except (TypeError, ValueError) as error:
        msg = f"the column {name} of a score table holds something else than {kind.__name__}"
        raise ResultError(msg) from error
    if array.shape != (length,):
        msg = f"the column {name} of a score table has not {length:,} values"
        raise ResultError(msg)
    return array

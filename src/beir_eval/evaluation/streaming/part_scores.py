"""The rows of a score table from the rows of a run: whole queries at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from beir_eval.core.arrays import starts_from_lengths
from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.core.run import Run
from beir_eval.core.run_sources.columns import ColumnSource
from beir_eval.core.run_sources.dataframe import FrameRankings
from beir_eval.evaluation.score_table import POSITION, score_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Ints
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.streaming.judgements import Judgements
    from beir_eval.measures import Measure

#: The column of the places of rows in their file.
ROW = "row_in_file"


class PartScores(NamedTuple):
    """What was evaluated of some rows of a run.

    Attributes:
        columns: the columns of a score table, with ``position``; None if no query is judged.
        not_judged: the number of queries that are not judged.
    """

    columns: dict[str, Any] | None
    not_judged: int


class Scorer:
    """Evaluates whole queries of a run.

    Args:
        judgements: the judgements of all queries.
        measures: the measures.
        settings: how the run is ranked.
    """

    def __init__(
        self, judgements: Judgements, measures: Sequence[Measure], settings: EvaluationSettings
    ) -> None:
        """Keep the arguments."""
        self.judgements, self.measures, self.settings = judgements, measures, settings

    def grouped(self, frame: pl.DataFrame, queries: pl.Series, lengths: Ints) -> PartScores:
        """Return the scores of queries whose rows follow each other.

        Args:
            frame: query, document and score.
            queries: the queries, each once. [S]
            lengths: the number of rows of each, i8[S].
        """
        rows = self.judgements.find(queries)
        is_judged = rows >= 0
        if not is_judged.any():
            return PartScores(None, len(rows))
        if not is_judged.all():
            frame = frame.filter(pl.Series(np.repeat(is_judged, lengths)))
        lengths = lengths[is_judged]
        rows = rows[is_judged]
        query_ids = queries.filter(pl.Series(is_judged)).to_list()
        run = run_of_rows(frame, query_ids, lengths)
        return PartScores(self._score(np.sort(rows), run), int(np.count_nonzero(~is_judged)))

    def ungrouped(self, frame: pl.DataFrame) -> PartScores:
        """Return the scores of all queries in some rows, which may be in any order.

        Args:
            frame: query, document, score, and ``ROW`` if the order of the file matters.
        """
        rows = self.judgements.find(frame[QUERY])
        is_judged = rows >= 0
        not_judged = 0
        if not is_judged.all():
            mask = pl.Series(is_judged)
            not_judged = frame.filter(~mask)[QUERY].n_unique()
            frame, rows = frame.filter(mask), rows[is_judged]
        if not len(rows):
            return PartScores(None, not_judged)
        order = (
            np.lexsort((frame[ROW].to_numpy(), rows))
            if ROW in frame.columns
            else np.argsort(rows, kind="stable")
        )
        frame, rows = frame[order], rows[order]
        distinct, lengths = np.unique(rows, return_counts=True)
        query_ids = self.judgements.queries[distinct].to_list()
        run = run_of_rows(frame, query_ids, lengths.astype(np.int64))
        return PartScores(self._score(distinct, run), not_judged)

    def missing(self, rows: Ints) -> dict[str, Any]:
        """Return the rows of queries that the run does not have.

        Args:
            rows: indices of judged queries, at least one.
        """
        return self._score(rows, Run({}))

    def _score(self, rows: Ints, run: Run) -> dict[str, Any]:
        columns = score_queries(self.judgements.select(rows), run, self.measures, self.settings)
        return {**columns, POSITION: rows}


def run_of_rows(frame: pl.DataFrame, query_ids: Sequence[str], lengths: Ints) -> Run:
    """Return a run of grouped rows.

    Args:
        frame: query, document and score; a row without a document stands for an empty ranking.
        query_ids: the queries, each once. [S]
        lengths: the number of rows of each, i8[S].
    """
    if frame[DOC].null_count():
        is_document = frame[DOC].is_not_null()
        row = np.repeat(np.arange(len(lengths)), lengths)[is_document.to_numpy()]
        lengths = np.bincount(row, minlength=len(lengths)).astype(np.int64)
        frame = frame.filter(is_document)
    has_scores = not len(frame) or frame[SCORE].null_count() == 0
    frame = frame.rechunk()
    scores = frame[SCORE] if has_scores else None
    rankings = FrameRankings(starts_from_lengths(lengths), frame[DOC], scores)
    return Run.from_source(ColumnSource(query_ids, rankings))


def run_of_rows_in_any_order(frame: pl.DataFrame) -> Run:
    """Return a run of a few rows, its queries in the order of their first rows.

    Args:
        frame: query, document and score; a row without a document stands for an empty ranking.
    """
    row_of: dict[str, int] = {}
    queries = frame[QUERY].to_list()
    rows = np.array([row_of.setdefault(query, len(row_of)) for query in queries])
    frame = frame[np.argsort(rows, kind="stable")]
    return run_of_rows(frame, list(row_of), np.bincount(rows).astype(np.int64))

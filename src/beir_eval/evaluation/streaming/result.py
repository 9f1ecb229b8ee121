"""``StreamedResult``: means and counts of a run; its score table has the scores of queries."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from beir_eval.core.arrays import exact_layers
from beir_eval.errors import ResultError, check_choice
from beir_eval.evaluation.query_scores import QueryCounts, check_missing, cutoffs_of
from beir_eval.evaluation.records import Counted, sums_of
from beir_eval.evaluation.score_table import COUNTS, HASH, POSITION, RETRIEVED, judged_in_top_column
from beir_eval.evaluation.streaming.table_files import ScoreTableFile, columns_of
from beir_eval.evaluation.summary import Summary
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from beir_eval.core.arrays import Floats
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Provenance
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures.scales import ScoreScale

#: The lists of query ids in ``Counted``.
_ID_LISTS = ("queries_missing", "queries_empty", "queries_without_relevant")


class _Mean:
    """The exact sum of the scores of a measure, whatever parts they come in."""

    def __init__(self, measure: Measure) -> None:
        self._aggregate = measure.definition.aggregate
        self._layers: list[float] = []
        self.count = 0

    def add(self, scores: Floats) -> None:
        """Add scores, f8[Q]; NaN is left out."""
        defined = scores[~np.isnan(scores)]
        self.count += len(defined)
        if self._aggregate == "geometric":
            defined = np.array(list(map(math.log, defined.tolist())))
        self._layers.extend(exact_layers(defined))

    @property
    def value(self) -> float:
        """The mean, sum or geometric mean, the same as over all scores at once."""
        total = math.fsum(self._layers)
        if self._aggregate == "sum":
            return total
        if not self.count:
            return math.nan
        mean = total / self.count
        return math.exp(mean) if self._aggregate == "geometric" else mean


class _Totals:
    """The means and counts over the rows of a score table, read some at a time."""

    def __init__(self, table: ScoreTableFile) -> None:
        self._facts = table.facts
        measures = [parse(name) for name in table.facts.measures]
        self.over_judged = {str(measure): _Mean(measure) for measure in measures}
        self.over_retrieved = {str(measure): _Mean(measure) for measure in measures}
        self._cutoffs = cutoffs_of(measures)
        self._parts: list[Counted] = []
        self.qrels_hash = 0
        self._position_of: dict[str, int] = {}
        num_rows = 0
        for frame in table.batches():
            positions = frame[POSITION].to_numpy() if table.has_positions else None
            if positions is None:
                positions = np.arange(num_rows, num_rows + len(frame))
            self._add(frame, positions)
            num_rows += len(frame)

    def _add(self, frame: pl.DataFrame, positions: Any) -> None:
        columns = columns_of(frame)
        is_retrieved = columns[RETRIEVED]
        for name in self._facts.measures:
            scores = np.array(columns[name], dtype=np.float64)
            self.over_judged[name].add(scores)
            self.over_retrieved[name].add(scores[is_retrieved])
        counts = QueryCounts(
            query_ids=tuple(columns["query_id"]),
            missing=~is_retrieved,
            **{name: columns[name] for name in COUNTS},
        )
        judged_in_top = {
            cutoff: int(columns[judged_in_top_column(cutoff)].sum()) for cutoff in self._cutoffs
        }
        part = counts.counted(
            self._facts.settings,
            judged_in_top,
            queries_not_judged=0,
            queries_without_judgements=0,
            duplicates_checked=self._facts.duplicates_checked,
            repeated_judgements=0,
            max_grade=self._facts.max_grade,
            double_precision=sums_of(
                filter(None, map(json.loads, columns["double_precision"])), self._facts.measures
            ),
        )
        self._parts.append(part)
        self.qrels_hash += int(columns[HASH].sum())
        position_of = dict(zip(counts.query_ids, positions.tolist(), strict=True))
        for ids in (getattr(part, name) for name in _ID_LISTS):
            self._position_of.update((query_id, position_of[query_id]) for query_id in ids)

    def counted(self) -> Counted:
        """Return the counts over all rows."""
        facts = self._facts
        counted = Counted.from_parts(self._parts)
        unmatched = facts.unmatched_ids
        if not facts.ids_compared:
            unmatched = counted.unmatched_ids
        update = {
            name: tuple(sorted(getattr(counted, name), key=self._position_of.__getitem__))
            for name in _ID_LISTS
        }
        return counted.model_copy(
            update={
                **update,
                "queries_not_judged": facts.queries_not_judged,
                "queries_without_judgements": facts.queries_without_judgements,
                "repeated_judgements": facts.repeated_judgements,
                "unmatched_ids": unmatched,
                "suspicions": facts.suspicions,
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class StreamedResult(Summary):
    """The means, counts and notes of one run; the scores of each query are in its score table.

    ``result["nDCG@10"]`` is the mean, with the bits of that of ``evaluate``. ``load()`` returns the
    whole ``EvaluationResult``.

    Attributes:
        name: the name of the system that made the run.
        measures: the canonical names of the measures. [M]
        counted: the counts of queries, documents and judgements. Memory grows with the number of
            queries that are missing, empty or without a relevant document, whose ids it lists.
        settings: how the run was ranked and averaged.
        provenance: the package version, and the hash of the judgements.
        table: the score table, a Parquet file; None if it was not kept.
        how: how the file was read, as a sentence.
        parts_resumed: how many parts an interrupted evaluation had finished before.
        custom_measures: none: a run has no measures of another tool.
        retrieval: None: no pipeline was run.
    """

    name: str
    measures: tuple[str, ...]
    counted: Counted
    settings: EvaluationSettings
    provenance: Provenance
    table: Path | None
    how: str = ""
    parts_resumed: int = 0
    custom_measures: dict[str, ScoreScale] = field(default_factory=dict, init=False)
    retrieval: None = field(default=None, init=False)
    _over: dict[str, dict[str, float]] = field(default_factory=dict)
    _scored: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_table(
        cls, path: str | Path, *, kept: bool = True, how: str = "", parts_resumed: int = 0
    ) -> StreamedResult:
        """Return the means and counts of a score table, read some rows at a time.

        Args:
            path: the score table.
            kept: whether the table is there for ``load``.
            how: as the attribute.
            parts_resumed: as the attribute.

        Raises:
            ResultError: the file is no score table.
            QueryMismatchError: judged queries are missing, and ``missing="error"``.
        """
        table = ScoreTableFile(path)
        totals = _Totals(table)
        facts, counted = table.facts, totals.counted()
        if counted.queries_missing and facts.settings.missing == "error":
            missing = np.ones(len(counted.queries_missing), np.bool_)
            check_missing(counted.queries_missing, missing, facts.settings)
        skips = facts.settings.missing == "skip"
        scored = totals.over_retrieved if skips else totals.over_judged
        return cls(
            name=facts.name,
            measures=facts.measures,
            counted=counted,
            settings=facts.settings,
            provenance=facts.provenance_of(totals.qrels_hash),
            table=table.path if kept else None,
            how=how,
            parts_resumed=parts_resumed,
            _over={
                "judged": {name: mean.value for name, mean in totals.over_judged.items()},
                "retrieved": {name: mean.value for name, mean in totals.over_retrieved.items()},
            },
            _scored={name: mean.count for name, mean in scored.items()},
        )

    @property
    def num_queries(self) -> int:
        """The number of queries that means are taken over, apart from undefined scores."""
        skips = self.settings.missing == "skip"
        return self.counted.queries_retrieved if skips else self.counted.queries_judged

    @property
    def aggregate(self) -> dict[str, float]:
        """{measure: mean, sum or geometric mean over queries}; NaN if no query has a score."""
        return self.mean_over("retrieved" if self.settings.missing == "skip" else "judged")

    @property
    def num_scored(self) -> dict[str, int]:
        """{measure: number of queries that have a score, over which its mean is taken}."""
        return dict(self._scored)

    def mean_over(self, queries: Literal["judged", "retrieved"]) -> dict[str, float]:
        """Return the means over all judged queries, or only those that the run has.

        Args:
            queries: "judged" or "retrieved".

        Raises:
            SettingError: ``queries`` has another value.
        """
        check_choice("queries", queries, ("judged", "retrieved"))
        return dict(self._over[queries])

    __iter__ = None  # it is no sequence

    def load(self) -> EvaluationResult:
        """Return the result with the scores of every query, in memory.

        Raises:
            ResultError: the score table was not kept, or another file has its name now.
            FileFormatError: the file cannot be read.
        """
        if self.table is None:
            msg = "the score table was not kept; pass table='scores.parquet' to keep it"
            raise ResultError(msg)
        return ScoreTableFile(self.table).load()

    def __repr__(self) -> str:
        """Return the name and the size, not the content."""
        return (
            f"StreamedResult({self.name!r}, {len(self.measures)} measures, "
            f"{self.num_queries:,} queries, table={self.table and str(self.table)!r})"
        )

"""``EvaluationResult``: scores, means, counts and settings of one evaluation."""

from __future__ import annotations

import math
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from beir_eval.core.arrays import exact_sum
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.relevance_matrix import TopDocuments
from beir_eval.core.saved import FROZEN, Saved, require_all_fields
from beir_eval.display.tables import Table, markdown_list, score_text
from beir_eval.errors import NotEvaluatedError, ResultError, check_choice, first_few, needs_extra
from beir_eval.evaluation.notes import notes_on
from beir_eval.evaluation.records import Counted, Provenance, Retrieval
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures import Measure, MeasureLike, parse, spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.display.figure import Figure


class EvaluationResult(Saved):
    """The scores of one run on one qrels; frozen, comparable with ``==``, saved as JSON.

    ``result["nDCG@10"]`` is the mean over queries, ``result.scores("nDCG@10")`` the score of
    every query, aligned with ``result.query_ids``; both take every spelling that ``parse`` takes.
    Nothing is rounded. A score is NaN if a measure is undefined for a query; such a query is left
    out of the mean of that measure (``num_scored``).

    Attributes:
        schema_version: the version of the layout of saved results.
        name: the name of the system that made the run.
        measures: the canonical names of the measures. [M]
        query_ids: the evaluated queries, in the order of the qrels. [Q]
        values: the scores, f8[M, Q], read-only.
        skipped_values: the scores of the missing queries as empty rankings, f8[M, missing]. None
            unless ``missing="skip"`` left queries out of ``query_ids``.
        counted: the counts of queries, documents and judgements.
        settings: how the run was ranked and averaged.
        provenance: the package version, and the hashes of qrels and run.
        top: with ``keep_top=k``, {query_id: the k best documents} of the judged queries that the
            run has; else None.
        retrieval: the times and failures of the queries, if a pipeline was run for them; else None.

    >>> from beir_eval import evaluate
    >>> result = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 0.9}}, ["MRR@10"])
    >>> result["MRR@10"], result.scores("RR@10").tolist()
    (0.5, [1.0, 0.0])
    """

    model_config = ConfigDict(**FROZEN, ignored_types=(cached_property,))

    WHAT = "result"
    REMEDY = "evaluate again"

    name: str
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: ScoreMatrix
    skipped_values: ScoreMatrix | None = None
    counted: Counted
    settings: Annotated[EvaluationSettings, require_all_fields(EvaluationSettings)]
    provenance: Provenance
    top: Annotated[dict[str, TopDocuments] | None, Field(repr=False)] = None
    retrieval: Annotated[Retrieval | None, Field(repr=False)] = None

    @model_validator(mode="after")
    def _check_shapes(self) -> EvaluationResult:
        """Raise ValueError unless shapes, query ids, scores and names of measures are valid."""
        expected = (len(self.measures), len(self.query_ids))
        if self.values.array.shape != expected:
            msg = f"values must be [measures, queries] = {expected}, not {self.values.array.shape}"
            raise ValueError(msg)
        skipped = self.skipped_values
        expected = (len(self.measures), len(self.counted.queries_missing))
        if skipped is not None and skipped.array.shape != expected:
            msg = f"skipped_values must be [measures, missing] = {expected}"
            raise ValueError(msg)
        if len(set(self.query_ids)) < len(self.query_ids):
            msg = "a query stands twice in query_ids"
            raise ValueError(msg)
        if np.isinf(self.values.array).any():
            msg = "a score is infinite"
            raise ValueError(msg)
        for name in self.measures:
            if str(parse(name)) != name:
                msg = f"{name!r} is not the canonical name of a measure"
                raise ValueError(msg)
        return self

    # Scores

    def scores(self, measure: MeasureLike) -> Floats:
        """Return the score of every query, f8[Q] aligned with ``query_ids``, read-only.

        Args:
            measure: a measure, or its name in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        scores: Floats = self.values.array[self._index(measure)]
        return scores

    def __getitem__(self, measure: MeasureLike) -> float:
        """Return the mean over queries (for ``num_*`` the sum, for gm_map the geometric mean).

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return self._means[self.measures[self._index(measure)]]

    def __contains__(self, measure: MeasureLike) -> bool:
        """Return whether the result has this measure, in any spelling that ``parse`` reads.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return str(parse(measure)) in self.measures

    @property
    def aggregate(self) -> dict[str, float]:
        """{measure: mean, sum or geometric mean over queries}, as ``result[measure]``.

        NaN if no query has a score.
        """
        return dict(self._means)

    @cached_property
    def _means(self) -> dict[str, float]:
        """``aggregate``, computed once; not to be changed."""
        return self._aggregates(self.values.array)

    @property
    def num_scored(self) -> dict[str, int]:
        """{measure: number of queries that have a score, over which its mean is taken}."""
        scored = np.count_nonzero(~np.isnan(self.values.array), axis=1)
        return dict(zip(self.measures, scored.tolist(), strict=True))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query_id: {measure: score}}; a new dict at every access."""
        columns = self.values.array.T.tolist()
        return {
            query_id: dict(zip(self.measures, scores, strict=True))
            for query_id, scores in zip(self.query_ids, columns, strict=True)
        }

    def mean_over(self, queries: Literal["judged", "retrieved"]) -> dict[str, float]:
        """Return ``aggregate`` over all judged queries, or only those that the run has.

        The two differ if judged queries are missing from the run.

        Args:
            queries: "judged" counts missing queries with the score of an empty ranking (0 in most
                measures); "retrieved" leaves them out, as BEIR and pytrec_eval do.

        Raises:
            SettingError: ``queries`` has another value.
        """
        check_choice("queries", queries, ("judged", "retrieved"))
        if queries == "judged":
            skipped = self.skipped_values
            parts = [self.values.array] + ([] if skipped is None else [skipped.array])
            return self._aggregates(np.concatenate(parts, axis=1))
        return self._aggregates(self.values.array[:, self._retrieved_mask()])

    def _retrieved_mask(self) -> Mask:
        """Return which of ``query_ids`` the run has, bool[Q]."""
        missing = set(self.counted.queries_missing)
        return np.array([query_id not in missing for query_id in self.query_ids], dtype=np.bool_)

    def _aggregates(self, values: Floats) -> dict[str, float]:
        """Return {measure: mean, sum or geometric mean} of f8[M, Q]."""
        return {
            name: _aggregate_of(parse(name), row)
            for name, row in zip(self.measures, values, strict=True)
        }

    def _index(self, measure: MeasureLike) -> int:
        """Return the index of a measure in ``measures``, or raise NotEvaluatedError."""
        name = str(parse(measure))
        try:
            return self.measures.index(name)
        except ValueError:
            msg = f"{name} was not evaluated for {self.name!r}; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg) from None

    # Export

    def as_dict(self, names: str | None = None) -> dict[str, float]:
        """Return {measure: mean}, with the measures' names in this package or in another tool.

        Args:
            names: the tool whose names are used: "beir", "trec_eval" or "ir_measures"; by default
                the canonical names. A measure that the tool does not have keeps its canonical name.

        Raises:
            SettingError: ``names`` has another value.
        """
        if names is None:
            return dict(self.aggregate)
        return {spelled(parse(name), names): value for name, value in self.aggregate.items()}

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each query.

        The columns are ``query_id`` and each measure, f8, NaN if it is undefined for the query.

        Raises:
            MissingExtraError: polars is not installed.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            import polars as pl  # noqa: PLC0415 - an extra
        columns = dict(zip(self.measures, self.values.array, strict=True))
        return pl.DataFrame({"query_id": list(self.query_ids), **columns})

    def to_table(self) -> Table:
        """Return a table of the means and of the number of queries that each is taken over.

        A ``*`` marks cutoffs beyond the deepest ranking.
        """
        header, scored = ("measure", self.name, "queries"), self.num_scored
        rows = [
            (self.label(name), score_text(value), str(scored[name]))
            for name, value in self.aggregate.items()
        ]
        return Table(header, rows)

    def label(self, name: str) -> str:
        """Return the name of a measure, with a ``*`` if its cutoff is beyond the deepest ranking.

        Args:
            name: the name of a measure, in any spelling that ``parse`` reads; it is shown as it is.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        cutoff = parse(name).cutoff
        return f"{name} *" if cutoff and cutoff > self.counted.deepest_ranking else name

    def to_markdown(self) -> str:
        """Return the table of means and the notes, as markdown."""
        return f"{self.to_table().markdown()}\n\n{markdown_list(self.notes())}"

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return a figure of the scores on one measure, a bar for each query, highest first.

        A notebook shows it; ``figure.save("scores.svg")`` writes it.

        Args:
            measure: a measure, or its name in any spelling that ``parse`` reads; by default the
                first.

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        from beir_eval.display.chart_parts import score_rows  # noqa: PLC0415
        from beir_eval.display.charts import query_scores  # noqa: PLC0415 - few results are drawn

        name = self.measures[0 if measure is None else self._index(measure)]
        rows = score_rows(self.query_ids, self.scores(name).tolist())
        return query_scores(rows, measure=name, system=self.name)

    def _repr_html_(self) -> str:
        notes = Table(("counted",), [(note,) for note in self.notes()])
        return self.to_table().html() + notes.html()

    def notes(self) -> list[str]:
        """Return the counts in sentences; ties, duplicates and the like only if there are any."""
        return notes_on(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> EvaluationResult:
        """Return a copy that shares the scores: they are read-only, and Haystack copies results."""
        return self.__copy__()

    # Several results

    def merge(self, *others: EvaluationResult) -> EvaluationResult:
        """Return one result over the queries of this result and others, which must be disjoint.

        Args:
            others: results of the same name, measures, settings and package version.

        Returns:
            The queries in the order of the results. Its ``provenance`` has no hashes; ``top`` is
            None unless all results have one.

        Raises:
            ResultError: an argument is not a result; results share queries, or differ in name,
                measures, settings or package version; or ERR was computed with different highest
                grades.
        """
        results = [self, *others]
        for other in others:
            if not isinstance(other, EvaluationResult):
                msg = f"only results can be merged, not {type(other).__name__}"
                raise ResultError(msg)
            _check_mergeable(self, other)
        _check_disjoint(results)
        skipped = [
            result.skipped_values.array for result in results if result.skipped_values is not None
        ]
        tops = [result.top for result in results if result.top is not None]
        retrievals = [result.retrieval for result in results if result.retrieval is not None]
        return EvaluationResult(
            name=self.name,
            measures=self.measures,
            query_ids=tuple(query_id for result in results for query_id in result.query_ids),
            values=ScoreMatrix(np.concatenate([result.values.array for result in results], axis=1)),
            skipped_values=ScoreMatrix(np.concatenate(skipped, axis=1)) if skipped else None,
            counted=Counted.from_parts([result.counted for result in results]),
            settings=self.settings,
            # The merged result is not of one qrels file and one run file, so it has no hashes.
            provenance=Provenance(package_version=self.provenance.package_version),
            top={query: top for part in tops for query, top in part.items()}
            if len(tops) == len(results)
            else None,
            retrieval=Retrieval.from_parts(retrievals) if retrievals else None,
        )


def _aggregate_of(measure: Measure, scores: Floats) -> float:
    """Return the mean, sum or geometric mean of the scores that are not NaN.

    The sum is correctly rounded, so the order of the queries has no effect.
    """
    undefined = np.isnan(scores)
    defined = scores[~undefined] if undefined.any() else scores
    aggregate = measure.definition.aggregate
    total = exact_sum(defined)
    if aggregate == "sum":
        return total
    if not len(defined):
        return math.nan
    if aggregate == "geometric":
        return math.exp(math.fsum(map(math.log, defined.tolist())) / len(defined))
    return total / len(defined)


def _check_mergeable(first: EvaluationResult, second: EvaluationResult) -> None:
    """Raise ResultError unless both have the same name, measures, settings and version."""
    for field in ("name", "measures", "settings", "provenance.package_version"):
        value, other = attrgetter(field)(first), attrgetter(field)(second)
        if value != other:
            msg = f"only results with the same {field} can be merged, not {value} and {other}"
            raise ResultError(msg)
    grades = first.counted.max_grade, second.counted.max_grade
    if grades[0] != grades[1] and any(_uses_max_grade_of_qrels(name) for name in first.measures):
        msg = (
            f"ERR depends on the highest grade of the whole qrels, but these results were made "
            f"with {grades[0]:g} and {grades[1]:g}; state it: ERR(max_grade=…)"
        )
        raise ResultError(msg)


def _uses_max_grade_of_qrels(name: str) -> bool:
    """Return whether a measure takes ``max_grade`` and its name does not state it."""
    measure = parse(name)
    parameters = dict(measure.parameters)
    return "max_grade" in measure.definition.defaults and "max_grade" not in parameters


def _check_disjoint(results: Sequence[EvaluationResult]) -> None:
    """Raise ResultError if two results have the same query, evaluated or missing."""
    seen: set[str] = set()
    for result in results:
        queries = {*result.query_ids, *result.counted.queries_missing}
        if shared := seen & queries:
            shared_ids = first_few(sorted(shared))
            msg = f"results over disjoint queries were expected, but they share {shared_ids}"
            raise ResultError(msg)
        seen |= queries

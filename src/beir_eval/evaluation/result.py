"""The result of an evaluation: every score, what was counted, and how."""

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
from beir_eval.core.saved import FROZEN, Saved, stated_in_full
from beir_eval.display.tables import Table, markdown_list, number
from beir_eval.errors import NotEvaluatedError, ResultError, check_choice, needs_extra, some
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
    Nothing is rounded. A score is NaN where a measure is undefined for a query; such a query is
    left out of that measure's mean (``num_scored``).

    Attributes:
        schema_version: the version of this layout.
        name: what made the run.
        measures: canonical names. [M]
        query_ids: the queries evaluated, in the order of the qrels. [Q]
        values: f8[M, Q], read-only.
        skipped_values: the scores that the missing queries would count with, f8[M, missing];
            only with ``missing="skip"``, where they are not among ``query_ids``.
        counted: what was met on the way.
        settings: how the numbers were made.
        provenance: package version, hashes.
        top: with ``keep_top=k``, the k best documents of each query that the run has.
        retrieval: what the queries took and which failed, where a pipeline was run for them.

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
    settings: Annotated[EvaluationSettings, stated_in_full(EvaluationSettings)]
    provenance: Provenance
    top: Annotated[dict[str, TopDocuments] | None, Field(repr=False)] = None
    retrieval: Annotated[Retrieval | None, Field(repr=False)] = None

    @model_validator(mode="after")
    def _check_shapes(self) -> EvaluationResult:
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

        Raises:
            NotEvaluatedError: the result does not hold this measure.
            MeasureError: nothing goes by that name.
        """
        scores: Floats = self.values.array[self._index(measure)]
        return scores

    def __getitem__(self, measure: MeasureLike) -> float:
        """Return the mean over queries (for ``num_*`` the sum, for gm_map the geometric mean)."""
        return self._means[self.measures[self._index(measure)]]

    def __contains__(self, measure: MeasureLike) -> bool:
        """Return whether the result holds this measure, in any spelling."""
        return str(parse(measure)) in self.measures

    @property
    def aggregate(self) -> dict[str, float]:
        """{measure: mean over the evaluated queries}; NaN where no query has a score."""
        return dict(self._means)

    @cached_property
    def _means(self) -> dict[str, float]:
        return self._summaries(self.values.array)

    @property
    def num_scored(self) -> dict[str, int]:
        """{measure: number of queries that its mean is over}."""
        scored = np.count_nonzero(~np.isnan(self.values.array), axis=1)
        return dict(zip(self.measures, scored.tolist(), strict=True))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query_id: {measure: score}}, made anew on every access."""
        columns = self.values.array.T.tolist()
        return {
            query_id: dict(zip(self.measures, scores, strict=True))
            for query_id, scores in zip(self.query_ids, columns, strict=True)
        }

    def mean_over(self, queries: Literal["judged", "retrieved"]) -> dict[str, float]:
        """Return {measure: mean} over all judged queries, or only those that the run has.

        The two differ where queries are missing: the first counts them with the score of an empty
        ranking (mostly 0), the second leaves them out, as BEIR and pytrec_eval do.
        """
        check_choice("queries", queries, ("judged", "retrieved"))
        if queries == "judged":
            skipped = self.skipped_values
            parts = [self.values.array] + ([] if skipped is None else [skipped.array])
            return self._summaries(np.concatenate(parts, axis=1))
        return self._summaries(self.values.array[:, self._is_retrieved()])

    def _is_retrieved(self) -> Mask:
        missing = set(self.counted.queries_missing)
        return np.array([query_id not in missing for query_id in self.query_ids], dtype=np.bool_)

    def _summaries(self, values: Floats) -> dict[str, float]:
        return {
            name: _summary(parse(name), row)
            for name, row in zip(self.measures, values, strict=True)
        }

    def _index(self, measure: MeasureLike) -> int:
        name = str(parse(measure))
        try:
            return self.measures.index(name)
        except ValueError:
            msg = f"{name} was not evaluated for {self.name!r}; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg) from None

    # Other shapes

    def as_dict(self, names: str | None = None) -> dict[str, float]:
        """Return {measure: mean}, named as ``"beir"``, ``"trec_eval"`` or ``"ir_measures"`` do.

        A measure that the tool does not have keeps our name.

        Raises:
            SettingError: another value of ``names``.
        """
        if names is None:
            return dict(self.aggregate)
        return {spelled(parse(name), names): value for name, value in self.aggregate.items()}

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame: query_id and one column a measure, one row a query.

        Raises:
            MissingExtraError: polars is not installed.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            import polars as pl  # noqa: PLC0415 - an extra
        columns = dict(zip(self.measures, self.values.array, strict=True))
        return pl.DataFrame({"query_id": list(self.query_ids), **columns})

    def to_table(self) -> Table:
        """Return the means as a table, cutoffs beyond the deepest ranking marked with ``*``."""
        header, scored = ("measure", self.name, "queries"), self.num_scored
        rows = [
            (self.label(name), number(value), str(scored[name]))
            for name, value in self.aggregate.items()
        ]
        return Table(header, rows)

    def label(self, name: str) -> str:
        """Return a measure's name for display: with a ``*`` where no ranking is that deep."""
        cutoff = parse(name).cutoff
        return f"{name} *" if cutoff and cutoff > self.counted.deepest_ranking else name

    def to_markdown(self) -> str:
        """Return the table of means and the notes on what was counted, as markdown."""
        return f"{self.to_table().markdown()}\n\n{markdown_list(self.notes())}"

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return one measure (by default the first) of every query, best first, as a figure.

        A notebook shows it; ``figure.save("scores.svg")`` writes it.

        Raises:
            NotEvaluatedError: the result does not hold this measure.
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
        """Return what was counted, in sentences; what did not occur is not mentioned."""
        return notes_on(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> EvaluationResult:
        """Return a copy that shares the scores: nothing in it changes, and hosts copy results."""
        return self.__copy__()

    # Several

    def merge(self, *others: EvaluationResult) -> EvaluationResult:
        """Return one result over the queries of all, which must be disjoint.

        Raises:
            ResultError: they share queries, or differ in name, measures, settings or version; or
                ERR was computed with different highest grades.
        """
        results = [self, *others]
        for other in others:
            if not isinstance(other, EvaluationResult):
                msg = f"only results can be merged, not {type(other).__name__}"
                raise ResultError(msg)
            _check_mergeable(self, other)
        _check_disjoint(results)
        skipped = [one.skipped_values.array for one in results if one.skipped_values is not None]
        tops = [one.top for one in results if one.top is not None]
        retrievals = [one.retrieval for one in results if one.retrieval is not None]
        return EvaluationResult(
            name=self.name,
            measures=self.measures,
            query_ids=tuple(query_id for one in results for query_id in one.query_ids),
            values=ScoreMatrix(np.concatenate([one.values.array for one in results], axis=1)),
            skipped_values=ScoreMatrix(np.concatenate(skipped, axis=1)) if skipped else None,
            counted=Counted.joined([one.counted for one in results]),
            settings=self.settings,
            # No one file stands behind the whole.
            provenance=Provenance(package_version=self.provenance.package_version),
            top={query: top for one in tops for query, top in one.items()}
            if len(tops) == len(results)
            else None,
            retrieval=Retrieval.joined(retrievals) if retrievals else None,
        )


def _summary(measure: Measure, scores: Floats) -> float:
    """Return the mean, sum or geometric mean of the defined scores, correctly rounded."""
    undefined = np.isnan(scores)
    defined = scores[~undefined] if undefined.any() else scores
    how = measure.definition.aggregate
    total = exact_sum(defined)
    if how == "sum":
        return total
    if not len(defined):
        return math.nan
    if how == "geometric":
        return math.exp(math.fsum(map(math.log, defined.tolist())) / len(defined))
    return total / len(defined)


def _check_mergeable(first: EvaluationResult, second: EvaluationResult) -> None:
    """Raise ResultError unless both were made in the same way."""
    for what in ("name", "measures", "settings", "provenance.package_version"):
        ours, theirs = attrgetter(what)(first), attrgetter(what)(second)
        if ours != theirs:
            msg = f"only results with the same {what} can be merged, not {ours} and {theirs}"
            raise ResultError(msg)
    grades = first.counted.max_grade, second.counted.max_grade
    if grades[0] != grades[1] and any(_takes_max_grade(name) for name in first.measures):
        msg = (
            f"ERR depends on the highest grade of the whole qrels, but these results were made "
            f"with {grades[0]:g} and {grades[1]:g}; state it: ERR(max_grade=…)"
        )
        raise ResultError(msg)


def _takes_max_grade(name: str) -> bool:
    measure = parse(name)
    given = dict(measure.parameters)
    return "max_grade" in measure.definition.defaults and "max_grade" not in given


def _check_disjoint(results: Sequence[EvaluationResult]) -> None:
    """Raise ResultError where two results hold the same query."""
    seen: set[str] = set()
    for result in results:
        queries = {*result.query_ids, *result.counted.queries_missing}
        if shared := seen & queries:
            twice = some(sorted(shared))
            msg = f"results over disjoint queries were expected, but they share {twice}"
            raise ResultError(msg)
        seen |= queries

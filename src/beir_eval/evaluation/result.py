"""``EvaluationResult``: scores, means, counts and settings of one evaluation."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, computed_field, model_validator

from beir_eval._version import __version__
from beir_eval.core.arrays import exact_sum
from beir_eval.core.files import kind_of_json
from beir_eval.core.ids import check_unicode
from beir_eval.core.relevance_matrix import TopDocuments
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.document import Document, Shown, warnings_latex
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import (
    InputError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    check_choice,
    first_few,
    needs_extra,
    number_of,
)
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.depths import is_cut_short
from beir_eval.evaluation.given_scores import check_measure_names, check_unique, read_given_scores
from beir_eval.evaluation.notes import notes_on
from beir_eval.evaluation.records import Counted, MeasureMean, Provenance, Retrieval, SavedSettings
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.evaluation.tables import screen_of
from beir_eval.measures import TOOLS, parse, spelled
from beir_eval.measures.names import name_among, registered
from beir_eval.measures.scales import ScoreScale, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from beir_eval.core.arrays import Floats
    from beir_eval.display.figure import Figure
    from beir_eval.measures import Measure, MeasureLike

#: What a name that every tracker accepts does not have; underscores too, so that there is no run.
_NOT_IN_NAMES = re.compile(r"[\W_]+")


class EvaluationResult(Shown, Saved):
    """The scores of one run on one qrels; frozen, comparable with ``==``, saved as JSON.

    ``result["nDCG@10"]`` is the mean over queries, ``result.scores("nDCG@10")`` the score of
    every query, aligned with ``result.query_ids``; both take every spelling that ``parse`` takes.
    Nothing is rounded. A score is NaN if a measure is undefined for a query; such a query is left
    out of the mean of that measure (``num_scored``).

    Attributes:
        schema_version: the version of the layout of saved results.
        name: the name of the system that made the run.
        measures: the canonical names of the measures, and the names of custom ones. [M]
        query_ids: the evaluated queries, in the order of the qrels. [Q]
        values: the scores, f8[M, Q], read-only.
        skipped_values: the scores of the missing queries as empty rankings, f8[M, missing]. None
            unless ``missing="skip"`` left queries out of ``query_ids``.
        counted: the counts of queries, documents and judgements; None if the scores were computed
            elsewhere (``from_scores``).
        settings: how the run was ranked and averaged; None if the scores were computed elsewhere.
        provenance: the package version, and the hashes of qrels and run.
        custom_measures: {name: its bounds, and whether higher scores are better} of the measures
            that are not measures of this package: ``from_scores`` makes them, and ``beside`` adds
            them to others.
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
    counted: Counted | None
    settings: SavedSettings | None
    provenance: Provenance
    custom_measures: dict[str, ScoreScale] = Field(default_factory=dict)
    top: Annotated[dict[str, TopDocuments] | None, Field(repr=False)] = None
    retrieval: Annotated[Retrieval | None, Field(repr=False)] = None

    @model_validator(mode="before")
    @classmethod
    def _without_means(cls, content: Any) -> Any:
        """Return the content of a file without the means, which follow from the scores."""
        if isinstance(content, dict) and "means" in content:
            return {name: value for name, value in content.items() if name != "means"}
        return content

    @model_validator(mode="after")
    def _check_shapes(self) -> EvaluationResult:
        """Raise ValueError unless shapes, query ids, scores and names of measures are valid."""
        expected = (len(self.measures), len(self.query_ids))
        if self.values.array.shape != expected:
            msg = f"values must be [measures, queries] = {expected}, not {self.values.array.shape}"
            raise ValueError(msg)
        skipped = self.skipped_values
        expected = (len(self.measures), len(self._missing))
        if skipped is not None and skipped.array.shape != expected:
            msg = f"skipped_values must be [measures, missing] = {expected}"
            raise ValueError(msg)
        if len(set(self.query_ids)) < len(self.query_ids):
            msg = "a query is listed twice in query_ids"
            raise ValueError(msg)
        if (self.counted is None) != (self.settings is None):
            msg = "counted and settings are both known, or both null for scores from elsewhere"
            raise ValueError(msg)
        check_measure_names(self.measures, self.custom_measures)
        return self

    def _check_loaded(self) -> None:
        check_unique("measures", self.measures)

    @classmethod
    def from_content(cls, content: Any, path: str | Path) -> EvaluationResult:
        """Return the result from the parsed JSON of a file.

        Args:
            content: the parsed JSON: a saved result, or a list with one of them, as ``beir-eval
                evaluate -o r.json`` writes it for one run.
            path: the file, for messages.

        Raises:
            ResultError: the content is something else, has several results or another schema
                version, or impossible names or scores; the message names the field.
        """
        if isinstance(content, list) and content:
            if len(content) == 1:
                return super().from_content(content[0], path)
            if all(kind_of_json(entry)[0] == f"a saved {cls.WHAT}" for entry in content):
                names = first_few(str(entry.get("name")) for entry in content)
                msg = (
                    f"{path}: one result was expected, but the file has {len(content):,}: {names}. "
                    "Evaluate each run into a file of its own, or read each entry of the list with "
                    "EvaluationResult.from_content(entry, path)"
                )
                raise ResultError(msg)
        return super().from_content(content, path)

    @classmethod
    def from_scores(
        cls,
        name: str,
        scores: Mapping[str, Mapping[str, float | None]],
        *,
        bounds: tuple[float, float] | Mapping[str, tuple[float, float] | None] | None = None,
        higher_is_better: bool | Mapping[str, bool] | None = None,
    ) -> EvaluationResult:
        """Return a result of scores that were computed elsewhere, to compare, report and save.

        The scores are another tool's, or those of a custom measure: the faithfulness that a
        language model judges, or the seconds that a query takes. This package counted nothing for
        them and does not know the settings of the other tool: ``counted`` and ``settings`` are
        None, and the notes say so. A result of ``evaluate`` can be compared with such a result;
        whether both were computed from the same judgements and in the same way is not checked.

        Args:
            name: the name of the system, for tables and reports.
            scores: {measure: {query_id: score}}. A measure that ``parse`` knows in any spelling
                gets its canonical name, and keeps its own bounds and direction ("accuracy" is
                Success). Any other name is a custom measure. A query that a measure lacks, or whose
                score is NaN or None, has no score on it, and its mean leaves the query out.
            bounds: the lowest and the highest possible score of the custom measures, as
                (low, high), or by measure as {measure: (low, high)}. None, or no entry, is for
                scores without such bounds, such as a number of seconds. A score that exceeds a
                bound by rounding (less than a millionth of the range) is set to it.
            higher_is_better: whether a higher score of the custom measures is better: True, False,
                or by measure as {measure: True or False}. It must be stated for each of them, so
                that a misspelled name is not taken for a custom measure.

        Returns:
            A result whose queries are in the order of their first appearance in ``scores``.

        Raises:
            InputError: ``scores`` has another shape, no measure or no query; a query id is empty or
                neither text nor an integer; or a score is not a number, is infinite, or lies
                outside the bounds of its measure.
            MeasureError: no measure has one of the names, and ``higher_is_better`` is not stated
                for it (UnknownMeasureError); a parameter or cutoff is impossible; two names are of
                the same measure; or the name of a custom measure is not printable, has blanks
                around it, or is "query_id" or "system".
            SettingError: ``bounds`` are not two finite numbers in ascending order;
                ``higher_is_better`` is not True or False; or one of them is stated for a
                name that is not a custom measure.

        >>> scores = {"faithfulness": {"q1": 0.9, "q2": 0.5}, "ndcg_cut_10": {"q1": 1, "q2": 0.5}}
        >>> judged = EvaluationResult.from_scores(
        ...     "bm25", scores, bounds=(0, 1), higher_is_better=True
        ... )
        >>> judged.aggregate
        {'faithfulness': 0.7, 'nDCG@10': 0.75}
        """
        given = read_given_scores(scores, bounds, higher_is_better)
        return cls(
            name=name,
            measures=given.measures,
            query_ids=given.query_ids,
            values=ScoreMatrix.from_owned_array(given.values),
            counted=None,
            settings=None,
            provenance=Provenance(package_version=__version__),
            custom_measures=given.custom_measures,
        )

    @classmethod
    def from_haystack(
        cls,
        name: str,
        outputs: Mapping[str, Mapping[str, Any]],
        *,
        query_ids: Sequence[str],
        bounds: tuple[float, float] | Mapping[str, tuple[float, float] | None] | None = (0.0, 1.0),
        higher_is_better: bool | Mapping[str, bool] = True,
    ) -> EvaluationResult:
        """Return a result of the outputs of Haystack's own evaluators, to compare and report.

        These are SASEvaluator, FaithfulnessEvaluator, ContextRelevanceEvaluator and every other one
        that returns "individual_scores". A score of NaN is no score.

        Args:
            name: the name of the system.
            outputs: {measure: the output of an evaluator}, such as {"faithfulness": output}.
            query_ids: the queries, in the order in which the evaluators got them. [Q]
            bounds: as for ``from_scores``: (0, 1) unless stated; of custom measures only.
            higher_is_better: likewise: True unless stated.

        Raises:
            InputError: an output has no "individual_scores", or not one for each query; or as
                ``from_scores``.
            MeasureError, SettingError: as ``from_scores``.

        >>> output = {"score": 0.75, "individual_scores": [1.0, 0.5]}
        >>> EvaluationResult.from_haystack(
        ...     "rag", {"faithfulness": output}, query_ids=["q1", "q2"]
        ... )["faithfulness"]
        0.75
        """
        scores: dict[str, dict[str, float | None]] = {}
        for measure, output in outputs.items():
            individual = list(output.get("individual_scores") or ())
            if len(individual) != len(query_ids):
                msg = (
                    f"the output of {measure!r} has {len(individual):,} individual_scores for "
                    f"{len(query_ids):,} query_ids; one for each query was expected"
                )
                raise InputError(msg)
            scores[measure] = dict(zip(query_ids, individual, strict=True))
        has_custom = any(registered(measure) is None for measure in scores)
        return cls.from_scores(
            name,
            scores,
            bounds=bounds if has_custom else None,
            higher_is_better=higher_is_better if has_custom else None,
        )

    @property
    def _missing(self) -> tuple[str, ...]:
        """The judged queries that the run does not have, as far as they were counted."""
        return () if self.counted is None else self.counted.queries_missing

    # Scores

    def __getitem__(self, measure: MeasureLike) -> float:
        """Return the mean over queries (for ``num_*`` the sum, for gm_map the geometric mean).

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return self.aggregate[self.measures[self._row_of(measure)]]

    def __contains__(self, measure: MeasureLike) -> bool:
        """Return whether the result has this measure, in any spelling that ``parse`` reads.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return name_among(self.measures, measure) in self.measures

    def _row_of(self, measure: MeasureLike) -> int:
        """Return the index of a measure in ``measures``, or raise NotEvaluatedError."""
        name = name_among(self.measures, measure)
        try:
            return self.measures.index(name)
        except ValueError:
            msg = f"{name} was not evaluated for {self.name!r}; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg) from None

    def scores(self, measure: MeasureLike) -> Floats:
        """Return the score of every query, f8[Q] aligned with ``query_ids``, read-only.

        Args:
            measure: a measure, or its name in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        scores: Floats = self.values.array[self._row_of(measure)]
        return scores

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

    def as_metrics(self) -> dict[str, float]:
        """Return means and counts, {name: number}, by names that experiment trackers accept.

        In the name of a measure "@" becomes ``_at_``, and what is neither a letter nor a digit one
        underscore: ``Precision_rel_2_at_5``. The counts say which queries the means are taken over:
        ``counts/queries``; ``counts/queries_missing``, unless the scores were computed elsewhere;
        and ``counts/queries_scored/<measure>`` for a measure that some queries have no score on.
        The mean of no score is NaN.

        Raises:
            ResultError: two measures would get the same name, or one an empty name.

        >>> from beir_eval import evaluate
        >>> evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 0.9}}, "MRR@10").as_metrics()
        {'MRR_at_10': 0.5, 'counts/queries': 2, 'counts/queries_missing': 1}
        """
        means = {
            _NOT_IN_NAMES.sub("_", name.replace("@", " at ")).strip("_"): mean
            for name, mean in self._means.items()
        }
        if "" in means or len(means) < len(self.measures):
            listed = ", ".join(self.measures)
            msg = f"these names differ by special characters only, or have no others: {listed}"
            raise ResultError(msg)
        metrics = {**means, "counts/queries": self.num_queries}
        if self.counted is not None:
            metrics["counts/queries_missing"] = len(self._missing)
        for name, number in zip(means, self.num_scored.values(), strict=True):
            if number < self.num_queries:
                metrics[f"counts/queries_scored/{name}"] = number
        return metrics

    @computed_field(repr=False)  # type: ignore[prop-decorator]
    @property
    def means(self) -> dict[str, MeasureMean]:
        """{measure: ``aggregate`` and ``num_scored`` of it}, which saved files hold too."""
        queries = self.num_scored
        return {
            measure: MeasureMean(None if math.isnan(mean) else mean, queries[measure])
            for measure, mean in self._means.items()
        }

    @property
    def num_queries(self) -> int:
        """The number of evaluated queries, Q."""
        return len(self.query_ids)

    @property
    def num_scored(self) -> dict[str, int]:
        """{measure: number of queries that have a score, over which its mean is taken}."""
        scored = np.count_nonzero(~np.isnan(self.values.array), axis=1)
        return dict(zip(self.measures, scored.tolist(), strict=True))

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """{query_id: {measure: score}}; a new dict at every access.

        The inner dicts also find a score by every spelling of its measure that ``parse`` reads.
        """
        columns = self.values.array.T.tolist()
        return {
            query_id: _ScoresByName(zip(self.measures, scores, strict=True))
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
            NotEvaluatedError: the scores were computed elsewhere, so that it is not known which
                queries are judged.
        """
        check_choice("queries", queries, ("judged", "retrieved"))
        if self.counted is None:
            msg = (
                f"the scores of {self.name!r} were computed elsewhere: which queries are judged, "
                "and which the run has, is not known; result[measure] is the mean over those with "
                "a score"
            )
            raise NotEvaluatedError(msg)
        if queries == "judged":
            skipped = self.skipped_values
            parts = [self.values.array] + ([] if skipped is None else [skipped.array])
            return self._aggregates(np.concatenate(parts, axis=1))
        missing = set(self._missing)
        is_retrieved = [query_id not in missing for query_id in self.query_ids]
        return self._aggregates(self.values.array[:, np.array(is_retrieved, dtype=np.bool_)])

    def _aggregates(self, values: Floats) -> dict[str, float]:
        """Return {measure: mean, sum or geometric mean} of f8[M, Q]."""
        return {
            name: _aggregate_of(registered(name), row)
            for name, row in zip(self.measures, values, strict=True)
        }

    # Export

    def as_dict(self, names: str | None = None) -> dict[str, float]:
        """Return {measure: mean}, with the measures' names in this package or in another tool.

        Args:
            names: the tool whose names are used: "beir", "trec_eval" or "ir_measures"; by default
                the canonical names. A measure that the tool does not have keeps its canonical name,
                and a custom measure its own.

        Raises:
            SettingError: ``names`` has another value.
        """
        if names is None:
            return dict(self.aggregate)
        check_choice("names", names, TOOLS)
        return {
            name if name in self.custom_measures else spelled(parse(name), names): value
            for name, value in self.aggregate.items()
        }

    def label(self, name: str) -> str:
        """Return the name of a measure, with a ``*`` if rankings are too short for it.

        Args:
            name: the name of a measure, in any spelling that ``parse`` reads, or of a custom one;
                it is shown as it is.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        is_custom = type(name) is str and name in self.custom_measures
        measure = None if is_custom else parse(name)
        if measure is None or self.counted is None:
            return name
        return f"{name} *" if is_cut_short(measure, self.counted.deepest_ranking) else name

    def to_table(self) -> Table:
        """Return a table of the means and of the number of queries that each is taken over.

        A ``*`` marks measures that all rankings are too short for: cutoffs beyond the longest, or
        no cutoff and fewer than 100 documents.
        """
        header, scored = ("measure", self.name, "queries"), self.num_scored
        rows = [
            (self.label(name), score_text(value), str(scored[name]))
            for name, value in self.aggregate.items()
        ]
        return Table(header, rows)

    def document(self) -> Document:
        """Return the means and what was counted."""
        return Document(warnings=warnings_on(self), tables=[self.to_table()], notes=notes_on(self))

    def warnings(self) -> list[str]:
        """Return what a reader must know before the scores: mostly nothing, an empty list.

        There is a sentence if document ids do not match those of the qrels, with ids of both and
        the likely reason, and one if judged queries are missing, with the means over all judged
        queries and over those that the run has.
        """
        return warnings_on(self)

    def __str__(self) -> str:
        """Return a line with the first measure, warnings, and the other means as plain text."""
        return screen_of([self]).text()

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each query.

        The columns are ``query_id`` and each measure, f8, NaN if it is undefined for the query.

        Raises:
            MissingExtraError: polars is not installed.
            InputError: a query id is not valid Unicode.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            import polars as pl  # noqa: PLC0415 - an extra
        columns = dict(zip(self.measures, self.values.array, strict=True))
        check_unicode("the result", self.query_ids)
        return pl.DataFrame({"query_id": list(self.query_ids), **columns})

    def beside(self, other: EvaluationResult) -> EvaluationResult:
        """Return this result with the custom measures of another one on the same queries.

        So the measures of documents and of answers stand in one table, comparison, gate and report.

        Args:
            other: a result of ``from_scores`` or ``from_haystack``, whose measures are not measures
                of this package. A query that it lacks has no score on them.

        Raises:
            ResultError: both hold a measure of one name, or ``other`` holds measures of this
                package, whose documents would be other ones.
            QueryMismatchError: ``other`` has queries that this result lacks, or none of them.

        >>> from beir_eval import evaluate
        >>> found = evaluate({"q1": {"a": 1}}, {"q1": {"a": 0.9}}, ["MRR@10"])
        >>> em = EvaluationResult.from_scores("run", {"EM": {"q1": 1}}, higher_is_better=True)
        >>> found.beside(em).aggregate
        {'MRR@10': 1.0, 'EM': 1.0}
        """
        if shared := [name for name in other.measures if name in self.measures]:
            msg = f"both results hold {first_few(shared)}; rename the measure in one of them"
            raise ResultError(msg)
        own = [name for name in other.measures if name not in other.custom_measures]
        if own:
            msg = (
                f"{first_few(own)} of {other.name!r} are measures of this package, of other "
                "documents or judgements: evaluate these together, or name them otherwise with "
                "from_scores"
            )
            raise ResultError(msg)
        known = {*self.query_ids, *self._missing}
        if lacking := [query_id for query_id in other.query_ids if query_id not in known]:
            msg = (
                f"{other.name!r} has queries that {self.name!r} lacks: {first_few(lacking)}; both "
                "must be about the same queries"
            )
            raise QueryMismatchError(msg)
        column_of = {query_id: column for column, query_id in enumerate(other.query_ids)}

        def rows_of(query_ids: Sequence[str]) -> Floats:
            rows = np.full((len(other.measures), len(query_ids)), np.nan)
            for index, query_id in enumerate(query_ids):
                if query_id in column_of:
                    rows[:, index] = other.values.array[:, column_of[query_id]]
            return rows

        values = np.concatenate([self.values.array, rows_of(self.query_ids)])
        skipped = self.skipped_values
        if skipped is not None:
            both = np.concatenate([skipped.array, rows_of(self._missing)])
            skipped = ScoreMatrix.from_owned_array(both)
        changes = {
            "measures": (*self.measures, *other.measures),
            "values": ScoreMatrix.from_owned_array(values),
            "skipped_values": skipped,
            "custom_measures": self.custom_measures | other.custom_measures,
        }
        # A copy of the model would keep the means that this result has computed.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_construct(**(fields | changes))

    def to_latex(self) -> str:
        """Return the warnings as comments, and the table of means as LaTeX (booktabs)."""
        return warnings_latex(self.warnings()) + self.to_table().latex()

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return a figure of the scores on one measure, a bar for each query, best first.

        A notebook shows it; ``figure.save("scores.svg")`` writes it.

        Args:
            measure: a measure, or its name in any spelling that ``parse`` reads; by default the
                first.

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        from beir_eval.display.charts import (  # noqa: PLC0415 - few results are drawn
            query_scores,
            score_rows,
        )

        name = self.measures[0 if measure is None else self._row_of(measure)]
        rows = score_rows(
            self.query_ids,
            self.scores(name).tolist(),
            higher_is_better=scale_of(name, self.custom_measures).higher_is_better,
        )
        return query_scores(rows, measure=name, system=self.name)

    def __repr__(self) -> str:
        """Return the name and the size, not the content."""
        return (
            f"EvaluationResult({self.name!r}, {number_of(len(self.measures), 'measure')}, "
            f"{number_of(len(self.query_ids), 'query')})"
        )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> EvaluationResult:
        """Return a copy that shares the scores: they are read-only, and Haystack copies results."""
        return self.__copy__()

    # Several results


class _ScoresByName(dict[str, float]):
    """{measure: score}, which finds a score by every spelling that ``result[measure]`` takes."""

    def __missing__(self, measure: MeasureLike) -> float:
        """Return the score of a measure in another spelling, or raise KeyError."""
        name = name_among(tuple(self), measure)
        if name not in self:
            raise KeyError(measure)
        return self[name]


def _aggregate_of(measure: Measure | None, scores: Floats) -> float:
    """Return the mean, sum or geometric mean of the scores that are not NaN.

    The sum is correctly rounded, so the order of the queries has no effect.

    Args:
        measure: the measure; None for a custom one, which has a mean.
        scores: the scores, f8[Q].
    """
    undefined = np.isnan(scores)
    defined = scores[~undefined] if undefined.any() else scores
    aggregate = "mean" if measure is None else measure.definition.aggregate
    total = exact_sum(defined)
    if aggregate == "sum":
        return total
    if not len(defined):
        return math.nan
    if aggregate == "geometric":
        return math.exp(math.fsum(map(math.log, defined.tolist())) / len(defined))
    return total / len(defined)


def check_highest_grade(
    first: EvaluationResult, second: EvaluationResult, measures: Iterable[str]
) -> None:
    """Raise ResultError if a measure depends on the highest grade of the qrels, and that differs.

    Args:
        first: a result.
        second: another one.
        measures: names of measures that both hold.
    """
    if first.counted is None or second.counted is None:
        return
    grades = first.counted.max_grade, second.counted.max_grade
    if grades[0] != grades[1] and any(map(_uses_max_grade_of_qrels, measures)):
        msg = (
            f"ERR depends on the highest grade of the whole qrels, but these results were made "
            f"with {grades[0]:g} and {grades[1]:g}; state it: ERR(max_grade=…)"
        )
        raise ResultError(msg)


def _uses_max_grade_of_qrels(name: str) -> bool:
    """Return whether a measure takes ``max_grade`` and its name does not state it."""
    measure = registered(name)
    return (
        measure is not None
        and "max_grade" in measure.definition.defaults
        and "max_grade" not in dict(measure.parameters)
    )

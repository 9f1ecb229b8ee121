"""What a report shows of one data set: scores and top lists by query, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import custom_scales
from beir_eval.comparison.coverage import choice_that_allows
from beir_eval.comparison.tables import in_shown_order
from beir_eval.datasets.corpus import Corpus
from beir_eval.errors import InputError, ResultError, first_few
from beir_eval.evaluation.tables import shared_measures
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures.scales import ScoreScale

_MAIN_MEASURE = "nDCG@10"


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetView:
    """The scores and top lists of S systems on the Q queries of one data set.

    Attributes:
        name: the name of the data set; "" if the report has no data set names.
        systems: the names of the systems. [S]
        measures: canonical names, the most important first. [M]
        query_ids: the ids of the queries. [Q]
        scores: {measure: f8[S, Q]}; NaN where a system has no score.
        results: {system: the result whose top lists are shown}; {} if the results are unknown.
        repeats: the number of runs that each system's scores are the mean of, 1 if it is unknown.
            [S]
        pair: the indices of the system shown first and of the system it is compared with; the
            second is None if there is only one system.
        custom_measures: {name: scale} of the measures that are not in the registry.
    """

    name: str
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: Mapping[str, Floats]
    results: Mapping[str, EvaluationResult]
    repeats: tuple[int, ...]
    pair: tuple[int, int | None]
    custom_measures: Mapping[str, ScoreScale]

    @property
    def lower_is_better(self) -> list[str]:
        """The measures for which lower is better."""
        return [
            measure
            for measure, scale in self.custom_measures.items()
            if measure in self.measures and not scale.higher_is_better
        ]

    def spread(self) -> Floats:
        """Return f8[Q]: each query's highest minus lowest score on the first measure.

        With one system: how far the score of each query is from the best score of all queries. It
        is 0 for queries without a score.
        """
        scale = scale_of(self.measures[0], self.custom_measures)
        scores = scale.gains(self.scores[self.measures[0]])
        unknown = np.isnan(scores)
        high = np.where(unknown, -np.inf, scores).max(axis=0)
        low = np.where(unknown, np.inf, scores).min(axis=0)
        if len(self.systems) == 1:
            high = np.full_like(low, high.max())
        return np.where(unknown.all(axis=0), 0.0, high - low)


def main_measure(measures: Sequence[str]) -> str:
    """Return nDCG@10, which most readers look for first, or the first measure if it is missing."""
    return _MAIN_MEASURE if _MAIN_MEASURE in measures else measures[0]


def view_of_comparison(comparison: Comparison) -> DatasetView:
    """Return a comparison's scores and top lists by query."""
    best = in_shown_order(comparison, by_step=False)
    against = comparison.baseline or best[1]
    system = next(name for name in best if name != against)
    return DatasetView(
        name="",
        systems=comparison.systems,
        measures=comparison.measures,
        query_ids=comparison.query_ids,
        scores={measure: comparison.scores[measure].array for measure in comparison.measures},
        results={system: repeats[0] for system, repeats in comparison.results.items()},
        repeats=tuple(len(comparison.results[system]) for system in comparison.systems),
        pair=(comparison.systems.index(system), comparison.systems.index(against)),
        custom_measures=comparison.custom_measures,
    )


def view_of_results(results: Sequence[EvaluationResult]) -> DatasetView:
    """Return the scores and top lists of results on the same qrels, on the queries of any of them.

    Raises:
        ResultError: two results have the same name, the results have different judgements (as far
            as their hashes are known), they have no measure in common, or they state different
            bounds or directions of a custom measure.
    """
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        msg = f"results of different names were expected, not {names}"
        raise ResultError(msg)
    hashed = [result for result in results if result.provenance.qrels_hash]
    if any(choice_that_allows(hashed[0], result) == "any-judgements" for result in hashed):
        msg = f"the results {first_few(names)} were evaluated on different judgements"
        raise ResultError(msg)
    return _dataset_view("", dict(zip(names, results, strict=True)))


def _dataset_view(name: str, result_of: Mapping[str, EvaluationResult]) -> DatasetView:
    results = list(result_of.values())
    measures = shared_measures(results)
    if not measures:
        msg = f"the results {first_few(result_of)} have no measure in common"
        raise ResultError(msg)
    first = main_measure(measures)
    measures.sort(key=lambda measure: measure != first)
    query_ids = tuple(
        dict.fromkeys(query_id for result in results for query_id in result.query_ids)
    )
    index_of = {query_id: index for index, query_id in enumerate(query_ids)}
    scores = {measure: np.full((len(results), len(query_ids)), np.nan) for measure in measures}
    for row, result in enumerate(results):
        columns = [index_of[query_id] for query_id in result.query_ids]
        for measure in measures:
            scores[measure][row, columns] = result.scores(measure)
    return DatasetView(
        name=name,
        systems=tuple(result_of),
        measures=tuple(measures),
        query_ids=query_ids,
        scores=scores,
        results=result_of,
        repeats=(1,) * len(result_of),
        pair=(0, None) if len(results) == 1 else (1, 0),
        custom_measures=custom_scales(list(result_of.items()), measures),
    )


def views_of_benchmark(
    benchmark: BenchmarkResult, first: str, baseline: str | None = None
) -> list[DatasetView]:
    """Return a view for each data set with at least one result.

    Args:
        benchmark: the results.
        first: the first measure of each view.
        baseline: the system with which another is compared first; None for the first system.
    """
    views = []
    for name in benchmark.infos:
        result_of = {
            system: by_dataset[name]
            for system, by_dataset in benchmark.results.items()
            if name in by_dataset
        }
        if result_of:
            view = _dataset_view(name, result_of)
            others = [measure for measure in view.measures if measure != first]
            pair = view.pair
            if baseline in result_of and len(result_of) > 1:
                against_index = view.systems.index(baseline)
                pair = (0 if against_index else 1, against_index)
            views.append(replace(view, measures=(first, *others), pair=pair))
    return views


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of a data set's queries and documents; both may be unknown.

    Attributes:
        queries: {query_id: text}.
        corpus: a ``Corpus``, {doc_id: text} or {doc_id: {"title", "text"}}; None if unknown.

    Raises:
        InputError: an argument has another type, such as a path: of its texts none would be shown.
    """

    queries: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check the types of both arguments, not their content."""
        if not isinstance(self.queries, Mapping):
            msg = f"queries must be {{query_id: text}}, not {type(self.queries).__name__}"
            raise InputError(msg)
        if not isinstance(self.corpus, Corpus | Mapping | None):
            msg = (
                "corpus must be a Dataset's, {doc_id: text} or {doc_id: {'title', 'text'}}, not "
                f"{type(self.corpus).__name__}"
            )
            raise InputError(msg)

    def query(self, query_id: str, length: int) -> str:
        """Return the text of a query, cut to ``length`` characters; "" if it is unknown."""
        return excerpt(str(self.queries.get(query_id) or ""), length)

    def documents(self, wanted: set[str]) -> dict[str, tuple[str, str]]:
        """Return {doc_id: (title, text)} of those wanted documents that the corpus has."""
        if self.corpus is None or not wanted:
            return {}
        if isinstance(self.corpus, Corpus):
            return {
                doc_id: (document.title, document.text)
                for doc_id, document in self.corpus.documents(wanted).items()
            }
        documents = {doc_id: self.corpus[doc_id] for doc_id in wanted if doc_id in self.corpus}
        return {doc_id: _title_and_text(document) for doc_id, document in documents.items()}


def _title_and_text(document: Any) -> tuple[str, str]:
    if isinstance(document, Mapping):
        return str(document.get("title") or ""), str(document.get("text") or "")
    return "", "" if document is None else str(document)


def excerpt(text: str, length: int) -> str:
    """Return the first ``length`` characters of a text on one line.

    If the text is longer, " …" follows; with ``length`` 0 the result is "".
    """
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    return f"{flat[:length].rstrip()} …" if length else ""

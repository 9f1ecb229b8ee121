"""The scores and rankings that a report shows by query: a ``DatasetView`` for each data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import ResultError, some
from beir_eval.evaluation.side_by_side import shared_measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult


_MAIN = "nDCG@10"


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetView:
    """Systems on the queries of one data set.

    Attributes:
        name: the data set's; "" where there is just one.
        systems: names. [S]
        measures: canonical names, the most important first. [M]
        query_ids: [Q]
        scores: by measure f8[S, Q]; NaN where a system has no score.
        results: by system the result whose top lists are shown; {} where there is none at hand.
        repeats: how many runs of each system the scores are the mean of. [S]
        pair: the places of the two systems that are shown first; the second is None where there is
            just one system.
    """

    name: str
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: Mapping[str, Floats]
    results: Mapping[str, EvaluationResult]
    repeats: tuple[int, ...]
    pair: tuple[int, int | None]

    def spread(self) -> Floats:
        """Return f8[Q]: by how much the systems differ on the first measure; 0 where unknown.

        With one system it is by how much a query falls short of the best one.
        """
        scores = self.scores[self.measures[0]]
        unknown = np.isnan(scores)
        high = np.where(unknown, -np.inf, scores).max(axis=0)
        low = np.where(unknown, np.inf, scores).min(axis=0)
        if len(self.systems) == 1:
            high = np.full_like(low, high.max())
        return np.where(unknown.all(axis=0), 0.0, high - low)


def main_measure(measures: Sequence[str]) -> str:
    """Return the measure people look for first; the first one of many is often one at 1."""
    return _MAIN if _MAIN in measures else measures[0]


def view_of_comparison(found: Comparison) -> DatasetView:
    """Return what a comparison holds, query by query."""
    results = found.results or {}
    against = 0 if found.baseline is None else found.systems.index(found.baseline)
    return DatasetView(
        name="",
        systems=found.systems,
        measures=found.measures,
        query_ids=found.query_ids,
        scores={name: found.scores[name].array for name in found.measures},
        results={name: repeats[0] for name, repeats in results.items()},
        repeats=tuple(len(results.get(name, ".")) for name in found.systems),
        pair=(0 if against else 1, against),
    )


def view_of_results(results: Sequence[EvaluationResult]) -> DatasetView:
    """Return results on one qrels, query by query: all queries that one of them has.

    Raises:
        ResultError: two results of one name, of different judgements (where their hashes are
            known), or no measure that all of them have.
    """
    names = [one.name for one in results]
    if len(set(names)) < len(names):
        msg = f"results of different names were expected, not {names}"
        raise ResultError(msg)
    if len({one.provenance.qrels_sha256 for one in results} - {None}) > 1:
        msg = f"the results {some(names)} were evaluated on different judgements"
        raise ResultError(msg)
    return _view("", dict(zip(names, results, strict=True)))


def _view(name: str, named: Mapping[str, EvaluationResult]) -> DatasetView:
    results = list(named.values())
    measures = shared_measures(results)
    if not measures:
        msg = f"the results {some(named)} have no measure in common"
        raise ResultError(msg)
    main = main_measure(measures)
    measures.sort(key=lambda one: one != main)
    query_ids = tuple(dict.fromkeys(query for one in results for query in one.query_ids))
    place_of = {query_id: place for place, query_id in enumerate(query_ids)}
    scores = {one: np.full((len(results), len(query_ids)), np.nan) for one in measures}
    for row, result in enumerate(results):
        places = [place_of[query_id] for query_id in result.query_ids]
        for measure in measures:
            scores[measure][row, places] = result.scores(measure)
    return DatasetView(
        name=name,
        systems=tuple(named),
        measures=tuple(measures),
        query_ids=query_ids,
        scores=scores,
        results=named,
        repeats=(1,) * len(named),
        pair=(0, None) if len(results) == 1 else (1, 0),
    )


def views_of_benchmark(found: BenchmarkResult, first: str) -> list[DatasetView]:
    """Return a view a data set that some system has a result for, ``first`` its first measure."""
    views = []
    for name in found.infos:
        named = {
            system: of_system[name]
            for system, of_system in found.results.items()
            if name in of_system
        }
        if named:
            view = _view(name, named)
            others = [measure for measure in view.measures if measure != first]
            views.append(replace(view, measures=(first, *others)))
    return views

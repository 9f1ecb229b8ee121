"""Alignment of results: the scores of several systems as arrays over the queries they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.coverage import choice_that_allows, coverage_of, warn_of_content
from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import hash_ids
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
    first_few,
    shown,
)
from beir_eval.evaluation.inputs import as_result
from beir_eval.evaluation.result import EvaluationResult, check_highest_grade
from beir_eval.evaluation.tables import check_same_scale, shared_measures
from beir_eval.measures.names import names_among, registered, with_rel
from beir_eval.measures.scales import scale_of
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.measures import MeasureLike
    from beir_eval.measures.scales import ScoreScale
    from beir_eval.significance.sign_vectors import Keys

#: Scores whose relative difference is at most this are equal but for rounding of floats.
ROUNDING_TOLERANCE = 1e-12

#: Queries whose scores are made equal at a time.
_QUERIES_AT_ONCE = 2**16

#: A result, or the path of a saved one.
ResultLike = EvaluationResult | str | Path
#: The results of a system: one, or a list with one for each repeat.
SystemResults = ResultLike | Sequence[ResultLike]


class Units(NamedTuple):
    """What is sampled and gets a random sign: queries, or clusters of related queries.

    Attributes:
        rows: numbers by unit whose row means are the means over the queries, f8[R, U]: the scores
            of a query, or the sums of a cluster times U / Q.
        weights: the number of queries of each cluster times U / Q, with a mean of 1, f8[U]; None if
            the units are queries.
        keys: the key of each unit, by which its random signs are drawn, u8[U].
    """

    rows: Floats
    weights: Floats | None
    keys: Keys


class MeasureScores(NamedTuple):
    """The scores of all systems on one measure, NaN where it is undefined.

    Attributes:
        measure: its canonical name.
        systems: names. [S]
        repeats: for each system the scores of its R repeats, f8[R, Q]. [S]
        scores: the mean over repeats, f8[S, Q]; scores that differ only by rounding are made equal.
        keys: the key of each query, by which its random signs are drawn, u8[Q].
        scale: the bounds of the scores, and whether higher ones are better.
        clusters: the key of the cluster of each query, u8[Q]; None if queries are not related.
    """

    measure: str
    systems: tuple[str, ...]
    repeats: Sequence[Floats]
    scores: Floats
    keys: Keys
    scale: ScoreScale
    clusters: Keys | None = None

    @property
    def units(self) -> Units:
        """The scores of all systems by unit, f8[S, U]."""
        return self.units_of(self.scores)

    def units_of(self, rows: Floats) -> Units:
        """Return numbers by query as numbers by unit: f8[R, Q] -> f8[R, U]."""
        if self.clusters is None:
            return Units(rows, None, self.keys)
        keys, number = np.unique(self.clusters, return_inverse=True)
        scale = len(keys) / len(number)
        sums = [np.bincount(number, weights=row, minlength=len(keys)) for row in rows]
        sizes = np.bincount(number, minlength=len(keys)).astype(np.float64)
        return Units(np.stack(sums).astype(np.float64) * scale, sizes * scale, keys)

    @property
    def num_clusters(self) -> int | None:
        """The number of clusters; None if queries are not related."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def is_defined(self) -> Mask:
        """Whether all systems have a score on each query, bool[Q]."""
        return np.logical_not(np.isnan(self.scores).any(axis=0))

    def select(self, queries: Mask) -> MeasureScores:
        """Return the scores on the queries selected by a mask, bool[Q]."""
        if queries.all():  # as below, without copies of the scores of systems without repeats
            repeats = [np.asfortranarray(repeats_of_system) for repeats_of_system in self.repeats]
            return self._replace(repeats=repeats, scores=np.asfortranarray(self.scores))
        repeats = [system_scores[:, queries] for system_scores in self.repeats]
        return self._replace(
            repeats=repeats,
            scores=self.scores[:, queries],
            keys=self.keys[queries],
            clusters=None if self.clusters is None else self.clusters[queries],
        )

    def where_defined(self) -> MeasureScores:
        """Return the scores on the queries for which all systems have a score.

        Raises:
            InputError: there are fewer than two such queries.
        """
        defined = self.is_defined
        if (num_queries := int(defined.sum())) < FEWEST_QUERIES:
            msg = (
                f"{self.measure}: {num_queries} query on which all systems have a score; a "
                "comparison needs two or more"
            )
            raise InputError(msg)
        selected = self.select(defined)
        if selected.num_clusters == 1:
            msg = (
                f"clusters: the {num_queries:,} queries with a score on {self.measure} are all in "
                "one cluster; a comparison needs two clusters, and six for a verdict"
            )
            raise InputError(msg)
        return selected


class AlignedScores(NamedTuple):
    """Scores of all systems over the same queries, sorted by id.

    Attributes:
        systems: names. [S]
        query_ids: sorted. [Q]
        by_measure: the scores on each measure. [M]
        left_out: {system: number of its queries that another system lacks}, for systems that have
            such queries.
        results: {system: its results, one for each repeat}.
        custom_measures: {name: scale} of the measures that are not in the registry.
        computed_elsewhere: the systems with scores that this package did not compute.
        clusters: the label of the cluster of each query; None if queries are not related. [Q]
    """

    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    by_measure: tuple[MeasureScores, ...]
    left_out: dict[str, int]
    results: dict[str, Sequence[EvaluationResult]]
    custom_measures: dict[str, ScoreScale]
    computed_elsewhere: tuple[str, ...]
    clusters: tuple[str, ...] | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names of the measures. [M]."""
        return tuple(scores.measure for scores in self.by_measure)

    def stated(self) -> dict[str, Any]:
        """Return the fields that a result states of its systems; warn of what their runs hold."""
        coverage = coverage_of(self.results, self.measures)
        warn_of_content(coverage)
        return {
            "measures": self.measures,
            "left_out": self.left_out,
            "custom_measures": self.custom_measures,
            "computed_elsewhere": self.computed_elsewhere,
            "coverage": coverage,
        }


def without_rounding_noise(scores: Floats) -> Floats:
    """Return f8[S, Q] in which scores of a query that differ only by rounding are made equal.

    The mean of three times 0.1 is not 0.1, and a test would count such differences as real.
    Each group of equal scores gets the lowest score of the group; NaN stays NaN.
    """
    result = np.empty_like(scores)
    for begin in range(0, scores.shape[1], _QUERIES_AT_ONCE):
        part = scores[:, begin : begin + _QUERIES_AT_ONCE]
        order = np.argsort(part, axis=0, kind="stable")
        ranked = np.take_along_axis(part, order, axis=0)
        magnitude = np.maximum(np.abs(ranked[1:]), np.abs(ranked[:-1]))
        is_new_value = ranked[1:] - ranked[:-1] > ROUNDING_TOLERANCE * magnitude
        first_rank = np.zeros(part.shape, dtype=np.int64)
        first_rank[1:] = np.where(is_new_value, np.arange(1, len(part))[:, None], 0)
        merged = np.take_along_axis(ranked, np.maximum.accumulate(first_rank, axis=0), axis=0)
        merged = np.where(np.isnan(ranked), ranked, merged)
        np.put_along_axis(result[:, begin : begin + _QUERIES_AT_ONCE], order, merged, axis=0)
    return result


def align_scores(
    systems: Mapping[str, Sequence[EvaluationResult]],
    measures: Iterable[MeasureLike] | MeasureLike | None,
    on: str | None,
    clusters: Mapping[str, str] | None = None,
    *,
    rel: float | None = None,
) -> AlignedScores:
    """Return the scores of all systems on the queries that they share.

    Args:
        systems: {system: its results, one for each repeat}, as ``repeats_by_system`` returns them.
        measures: the measures to compare; None takes all that every result holds and that can be
            compared.
        on: one of ``ON_CHOICES``, for systems with different queries or judgements; None is
            "error" for a caller without this argument, which messages do not name then.
        clusters: {query_id: label} of the clusters of related queries.
        rel: the lowest relevant grade of the measures that take one and state none.

    Raises:
        InputError: a query that is compared has no cluster.
        ResultError: there are fewer than two systems, or the results have different settings or
            different judgements (unless ``on`` allows it), or different bounds or directions of a
            custom measure.
        QueryMismatchError: the systems have different queries (with on="error"), or none in common.
        NotEvaluatedError: a result does not hold one of ``measures``.
        MeasureError: the results have no measure in common, or one of ``measures`` cannot be
            compared.
    """
    if len(systems) < 2:  # noqa: PLR2004 - a comparison
        msg = f"two systems or more were expected, not {first_few(systems) or 'none'}"
        raise ResultError(msg)
    _check_alike(systems)
    results = [result for repeats in systems.values() for result in repeats]
    names = _measures_to_compare(results, measures, rel)
    if rel is not None:
        names = _with_rel_evaluated(results, names, rel)
    return align_checked(systems, names, on, clusters)


def align_checked(
    systems: Mapping[str, Sequence[EvaluationResult]],
    measure_names: Sequence[str],
    on: str | None,
    clusters: Mapping[str, str] | None = None,
) -> AlignedScores:
    """Return what ``align_scores`` does, of one system or more that can be compared.

    Args:
        systems: {system: its results, one for each repeat}.
        measure_names: the names by which all results list the measures.
        on: as for ``align_scores``.
        clusters: likewise.

    Raises:
        ResultError: the results have different judgements (unless ``on`` allows it), or different
            bounds or directions of a custom measure.
        InputError, QueryMismatchError, NotEvaluatedError: as ``align_scores``.
    """
    named_results = [(system, result) for system, of in systems.items() for result in of]
    custom_measures = custom_scales(named_results, measure_names)
    query_ids, left_out = _shared_queries(named_results, on)
    _check_judgements(named_results, measure_names, on)
    system_arrays = []
    known: Sequence[str] = ()
    for repeats in systems.values():
        array = np.empty((len(repeats), len(measure_names), len(query_ids)))
        for rows, result in zip(array, repeats, strict=True):
            if result.query_ids != known:  # those of one evaluation are the same
                known = result.query_ids
                position_of = dict(zip(known, range(len(known)), strict=True))
                ordered = map(position_of.__getitem__, query_ids)
                positions = np.fromiter(ordered, np.int64, len(query_ids))
            for row, measure in zip(rows, measure_names, strict=True):
                row[:] = result.scores(measure)[positions]
        system_arrays.append(array)
    keys = hash_ids(query_ids)
    labels = None if clusters is None else _labels_of(query_ids, clusters)
    by_measure = []
    for index, measure in enumerate(measure_names):
        by_system = [array[:, index] for array in system_arrays]
        means = np.stack([repeats.mean(axis=0) for repeats in by_system])
        by_measure.append(
            MeasureScores(
                measure,
                tuple(systems),
                by_system,
                without_rounding_noise(means),
                keys,
                scale_of(measure, custom_measures),
                None if labels is None else hash_ids(labels),
            )
        )
    computed_elsewhere = tuple(
        system
        for system, repeats in systems.items()
        if any(None in (result.settings, result.provenance.qrels_hash) for result in repeats)
    )
    return AlignedScores(
        tuple(systems),
        query_ids,
        tuple(by_measure),
        left_out,
        dict(systems),
        custom_measures,
        computed_elsewhere,
        labels,
    )


def _labels_of(query_ids: Sequence[str], clusters: Mapping[str, str]) -> tuple[str, ...]:
    """Return the label of the cluster of each query. [Q].

    Args:
        query_ids: the queries. [Q]
        clusters: {query_id: label}.

    Raises:
        InputError: a query has no label.
    """
    missing = [query_id for query_id in query_ids if query_id not in clusters]
    if missing:
        msg = (
            f"clusters: {len(missing):,} of {len(query_ids):,} queries have no cluster: "
            f"{first_few(missing)}. Give every query one; a query that is related to no other is a "
            "cluster of its own"
        )
        raise InputError(msg)
    return tuple(clusters[query_id] for query_id in query_ids)


def repeats_by_system(results: Any) -> dict[str, list[EvaluationResult]]:
    """Return {system: list of its results}, from what ``compare`` takes.

    Raises:
        ResultError: a value is not a result, or two systems have one name.
    """
    if isinstance(results, Mapping):
        named = [(name, list_repeats(value)) for name, value in results.items()]
    elif isinstance(results, str) or not is_iterable(results):
        msg = (
            "results must be {name: EvaluationResult} or a list of EvaluationResult, not "
            f"{shown(results)}; compare_runs(qrels, runs) takes runs"
        )
        raise ResultError(msg)
    elif isinstance(results, EvaluationResult):
        named = [(results.name, [results])]
    else:
        named = []
        for index, entry in enumerate(results):
            result = as_result(entry)
            if not isinstance(result, EvaluationResult):
                remedy = "compare_runs(qrels, {name: run}) takes runs"
                if isinstance(entry, (str, Path)):
                    remedy = "EvaluationResult.load(path) reads a saved result"
                kind = type(entry).__name__
                msg = f"results[{index}] must be an EvaluationResult, not {kind}; {remedy}"
                raise ResultError(msg)
            named.append((result.name, [result]))
    for name, repeats in named:
        if not repeats or not all(isinstance(result, EvaluationResult) for result in repeats):
            msg = (
                f"system {shown(name)} must be an EvaluationResult, or a list of them for repeats; "
                "compare_runs(qrels, runs) takes runs"
            )
            raise ResultError(msg)
    systems = dict(named)
    if len(systems) < len(named):
        msg = (
            f"systems must have different names, not {first_few(name for name, _ in named)}; pass "
            "them as {name: result}"
        )
        raise ResultError(msg)
    return systems


def list_repeats(value: Any) -> list[Any]:
    """Return the results of one system as a list; a value of another type as its only item."""
    result = as_result(value)
    is_list = is_iterable(result) and not isinstance(result, (EvaluationResult, str))
    return [as_result(entry) for entry in result] if is_list else [result]


def _check_alike(systems: Mapping[str, Sequence[EvaluationResult]]) -> None:
    """Raise ResultError if the results of systems were evaluated differently.

    The settings of scores that were computed elsewhere are not known, and not compared.
    """
    evaluated = [
        (name, result.settings)
        for name, repeats in systems.items()
        for result in repeats
        if result.settings is not None
    ]
    for name, theirs in evaluated[1:]:
        first_name, ours = evaluated[0]
        if ours != theirs:
            setting_names = [
                field.name
                for field in fields(ours)
                if getattr(ours, field.name) != getattr(theirs, field.name)
            ]
            different_values = ", ".join(
                f"{setting}={getattr(ours, setting)!r} and {getattr(theirs, setting)!r}"
                for setting in setting_names
            )
            msg = f"{first_name!r} and {name!r} were evaluated differently: {different_values}"
            raise ResultError(msg)


def _check_judgements(
    results: Sequence[tuple[str, EvaluationResult]], measures: Sequence[str], on: str | None
) -> None:
    """Raise ResultError if results, (system, result) each, are of different judgements.

    Args:
        results: the results; those without a hash of their judgements are not compared.
        measures: the measures to compare.
        on: with "any-judgements" they may differ; with "intersection" results of different queries
            may, since the hash is of all of them.
    """
    hashed = [(name, result) for name, result in results if result.provenance.qrels_hash]
    for name, result in hashed[1:]:
        first_name, first = hashed[0]
        needed = choice_that_allows(first, result)
        if needed and on not in (needed, "any-judgements"):
            excluded = {of.provenance.excluded_sha256 for of in (first, result)}
            what = "on different qrels" + " or excluded documents" * (len(excluded) > 1)
            msg = (
                f"{first_name!r} and {name!r} were evaluated {what}; evaluate both on the same "
                f"judgements{or_compare(on, 'any-judgements')}"
            )
            raise ResultError(msg)
        check_highest_grade(first, result, measures)


def or_compare(on: str | None, allowing: str) -> str:
    """Return the end of a remedy: another value of ``on``, if the caller has this argument."""
    return "" if on is None else f", or compare with on={allowing!r}"


def _measures_to_compare(
    results: Sequence[EvaluationResult],
    measures: Iterable[MeasureLike] | MeasureLike | None,
    rel: float | None,
) -> tuple[str, ...]:
    """Return the names of the measures, without repeats.

    Raises:
        MeasureError: a measure cannot be compared, or the results have none in common.
        NotEvaluatedError: a result does not hold a custom measure, or one with this ``rel``.
    """
    if measures is None:
        names = [
            name
            for name in shared_measures(results)
            if (measure := registered(name)) is None  # a custom measure
            or (measure.definition.aggregate == "mean" and measure.definition.rates_systems)
        ]
        if not names:
            msg = "the results have no measure in common; evaluate the systems with the same ones"
            raise MeasureError(msg)
        return tuple(names)
    listed = {name for result in results for name in result.measures}
    if rel is not None:  # this level decides, not the one that is listed
        listed = {name for name in listed if registered(name) is None}
    chosen = names_among(listed, measures)
    for name in chosen:
        measure = registered(name)
        if measure is not None and not measure.definition.rates_systems:
            msg = f"{measure} says how much is unjudged, not how good a system is; compare Judged"
            raise MeasureError(msg)
        if measure is not None and measure.definition.aggregate != "mean":
            msg = f"{measure} is no mean over queries, so its differences cannot be tested"
            raise MeasureError(msg)
        for result in results if measure is None or rel is None else ():
            if name not in result.measures:
                held = ", ".join(result.measures)
                msg = f"{name} was not evaluated for {result.name!r}; it holds {held}"
                raise NotEvaluatedError(msg)
    return chosen


def _with_rel_evaluated(
    results: Sequence[EvaluationResult], names: Sequence[str], rel: float
) -> tuple[str, ...]:
    """Return the names of the measures with this ``rel`` where they take one and state none.

    Raises:
        MeasureError: ``rel`` is not a finite number above 0.
        NotEvaluatedError: a result does not hold a measure with this ``rel``.
    """
    at_level = []
    for name in names:
        measure = registered(name)
        of_level = name if measure is None else str(*with_rel([measure], rel))
        for result in results:
            if name != of_level not in result.measures:
                msg = (
                    f"{of_level} was not evaluated for {result.name!r}; it holds "
                    f"{', '.join(result.measures)}; evaluate the runs with the same rel= first"
                )
                raise NotEvaluatedError(msg)
        at_level.append(of_level)
    return tuple(dict.fromkeys(at_level))


def custom_scales(
    results: Sequence[tuple[str, EvaluationResult]], measures: Sequence[str]
) -> dict[str, ScoreScale]:
    """Return {name: scale} of the custom measures among the measures.

    Raises:
        ResultError: two results, (system, result) each, have different scales for one of them.
    """
    scales: dict[str, tuple[str, ScoreScale]] = {}
    for system, result in results:
        for name, scale in result.custom_measures.items():
            first = scales.setdefault(name, (system, scale))
            if name in measures:
                check_same_scale(name, first, (system, scale))
    return {name: scale for name, (_, scale) in scales.items() if name in measures}


def _shared_queries(
    results: Sequence[tuple[str, EvaluationResult]], on: str | None
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the sorted ids of the queries in all results, and {system: number of its others}.

    Args:
        results: (system, result) of each result.
        on: as for ``align_scores``.

    Raises:
        QueryMismatchError: there is no shared query, or with on="error" a query is not shared.
    """
    first = results[0][1].query_ids
    if first and all(result.query_ids == first for _, result in results):
        return tuple(sorted(first)), {}
    named_query_ids = [(name, set(result.query_ids)) for name, result in results]
    shared_ids = set.intersection(*(system_ids for _, system_ids in named_query_ids))
    if not shared_ids:
        msg = f"the systems have no query in common: {first_few(name for name, _ in results)}"
        raise QueryMismatchError(msg)
    extra_ids_by_system: dict[str, set[str]] = {}
    for name, system_ids in named_query_ids:
        if extra_ids := system_ids - shared_ids:
            extra_ids_by_system.setdefault(name, set()).update(extra_ids)
    left_out = {name: len(extra_ids) for name, extra_ids in extra_ids_by_system.items()}
    if left_out and on in {None, "error"}:
        examples = "; ".join(
            f"{name}: {first_few(sorted(extra_ids))}"
            for name, extra_ids in list(extra_ids_by_system.items())[:3]
        )
        settings = [result.settings for _, result in results]
        remedy = "Give every system the same queries, those of the same qrels"
        if any(stated is not None and stated.missing == "skip" for stated in settings):
            remedy = "Evaluate with missing='zero'"
        msg = (
            f"the systems were evaluated on different queries. Beyond the {len(shared_ids)} that "
            f"all have, {examples}. {remedy}{or_compare(on, 'intersection')}"
        )
        raise QueryMismatchError(msg)
    return tuple(sorted(shared_ids)), left_out


def check_baseline(baseline: object, systems: Sequence[str]) -> None:
    """Raise SettingError unless the baseline is None or one of the systems."""
    if isinstance(baseline, EvaluationResult):
        msg = f"baseline must be the name of a system, such as {baseline.name!r}, not its result"
        raise SettingError(msg)
    if baseline is not None and not (isinstance(baseline, str) and baseline in systems):
        msg = (
            f"there is no system {shown(baseline)} to be the baseline; there are "
            f"{first_few(systems)}"
        )
        raise SettingError(msg)

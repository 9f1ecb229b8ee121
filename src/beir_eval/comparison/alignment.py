"""Results of several systems as arrays over the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.errors import (
    InputError,
    MeasureError,
    QueryMismatchError,
    ResultError,
    SettingError,
    some,
)
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import shared_measures
from beir_eval.measures import parse, parse_all
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.measures import Measure, MeasureLike

#: Scores closer than this, relative to their size, differ by the rounding of a float.
ROUNDING = 1e-12

#: A system: one result, or those of several repeats.
SystemResults = EvaluationResult | Sequence[EvaluationResult]


class MeasureScores(NamedTuple):
    """The scores of all systems on one measure, NaN where it is undefined.

    Attributes:
        measure: its canonical name.
        systems: names. [S]
        repeats: by system, f8[R, Q] with R repeats.
        scores: the mean over repeats, f8[S, Q]; what differs by rounding alone is equal.
    """

    measure: str
    systems: tuple[str, ...]
    repeats: Sequence[Floats]
    scores: Floats

    @property
    def is_defined(self) -> Mask:
        """Whether all systems have a score, bool[Q]."""
        return np.logical_not(np.isnan(self.scores).any(axis=0))

    def on(self, queries: Mask) -> MeasureScores:
        """Return the scores on some of the queries, bool[Q]."""
        repeats = [of_system[:, queries] for of_system in self.repeats]
        return self._replace(repeats=repeats, scores=self.scores[:, queries])

    def where_defined(self) -> MeasureScores:
        """Return the scores on the queries on which all systems have one.

        Raises:
            InputError: fewer than two queries.
        """
        defined = self.is_defined
        if (num_queries := int(defined.sum())) < FEWEST_QUERIES:
            msg = (
                f"{self.measure}: {num_queries} query on which all systems have a score; a "
                "comparison needs two or more"
            )
            raise InputError(msg)
        return self.on(defined)


class Joined(NamedTuple):
    """Scores of all systems over the same queries, sorted by id.

    Attributes:
        systems: names. [S]
        query_ids: sorted. [Q]
        by_measure: the scores on each measure. [M]
        left_out: {system: queries that it has and others have not}.
        results: the repeats of each system.
    """

    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    by_measure: tuple[MeasureScores, ...]
    left_out: dict[str, int]
    results: dict[str, list[EvaluationResult]]

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names. [M]."""
        return tuple(scores.measure for scores in self.by_measure)


def settled(scores: Floats) -> Floats:
    """Return f8[S, Q] in which the scores of a query that differ by rounding alone are the same.

    The mean of three times 0.1 is not 0.1, and a test would take such differences for real ones.
    """
    order = np.argsort(scores, axis=0, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=0)
    size = np.maximum(np.abs(ranked[1:]), np.abs(ranked[:-1]))
    apart = ranked[1:] - ranked[:-1] > ROUNDING * size
    first = np.zeros(scores.shape, dtype=np.int64)
    first[1:] = np.where(apart, np.arange(1, len(scores))[:, None], 0)
    same = np.take_along_axis(ranked, np.maximum.accumulate(first, axis=0), axis=0)
    same = np.where(np.isnan(ranked), ranked, same)
    made = np.empty_like(scores)
    np.put_along_axis(made, order, same, axis=0)
    return made


def join(
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    measures: Iterable[MeasureLike] | MeasureLike | None,
    on: str,
) -> Joined:
    """Return the scores of all systems on the queries that they share.

    Raises:
        ResultError: fewer than two systems, two of one name, results that were not made alike.
        QueryMismatchError: they have different queries, with on="error"; or none in common.
        NotEvaluatedError: a result lacks a measure that was asked for.
        MeasureError: results have no measure in common; a measure that is no mean over queries.
    """
    systems = _systems(results)
    flat = [(name, result) for name, repeats in systems.items() for result in repeats]
    _check_alike(flat)
    names = _measures([result for _, result in flat], measures)
    query_ids, left_out = _queries(flat, on)
    wanted = np.array(query_ids)
    arrays = []
    for repeats in systems.values():
        listed = []
        for result in repeats:
            order = np.argsort(np.array(result.query_ids))
            places = order[np.searchsorted(np.array(result.query_ids), wanted, sorter=order)]
            listed.append(np.stack([result.scores(name)[places] for name in names]))
        arrays.append(np.stack(listed))
    by_measure = []
    for index, name in enumerate(names):
        of_systems = [of_system[:, index] for of_system in arrays]
        means = np.stack([scores.mean(axis=0) for scores in of_systems])
        by_measure.append(MeasureScores(name, tuple(systems), of_systems, settled(means)))
    return Joined(tuple(systems), query_ids, tuple(by_measure), left_out, systems)


def _systems(given: Any) -> dict[str, list[EvaluationResult]]:
    if isinstance(given, Mapping):
        named = [
            (name, [one] if isinstance(one, EvaluationResult) else list(one))
            for name, one in given.items()
        ]
    elif isinstance(given, EvaluationResult):
        named = [(given.name, [given])]
    else:
        named = [(getattr(one, "name", None), [one]) for one in given]
    for name, repeats in named:
        if not repeats or not all(isinstance(one, EvaluationResult) for one in repeats):
            msg = (
                f"system {name!r} must be an EvaluationResult, or a list of them for repeats; "
                "compare_runs(qrels, runs) takes runs"
            )
            raise ResultError(msg)
    systems = dict(named)
    if len(systems) < len(named):
        msg = (
            f"systems must have different names, not {some(name for name, _ in named)}; hand them "
            "over as {name: result}"
        )
        raise ResultError(msg)
    if len(systems) < 2:  # noqa: PLR2004 - a comparison
        msg = f"two systems or more were expected, not {some(systems) or 'none'}"
        raise ResultError(msg)
    return systems


def _check_alike(results: Sequence[tuple[str, EvaluationResult]]) -> None:
    first_name, first = results[0]
    for name, result in results[1:]:
        ours, theirs = first.settings, result.settings
        if ours != theirs:
            differing = [
                field.name
                for field in fields(ours)
                if getattr(ours, field.name) != getattr(theirs, field.name)
            ]
            shown = ", ".join(
                f"{one}={getattr(ours, one)!r} and {getattr(theirs, one)!r}" for one in differing
            )
            msg = f"{first_name!r} and {name!r} were evaluated differently: {shown}"
            raise ResultError(msg)
        hashes = first.provenance.qrels_sha256, result.provenance.qrels_sha256
        if None not in hashes and hashes[0] != hashes[1]:
            msg = f"{first_name!r} and {name!r} were evaluated on different qrels"
            raise ResultError(msg)


def _measures(
    results: Sequence[EvaluationResult], asked: Iterable[MeasureLike] | MeasureLike | None
) -> tuple[str, ...]:
    if asked is None:
        names = [one for one in shared_measures(results) if _is_compared(parse(one))]
        if not names:
            msg = "the results have no measure in common; evaluate the systems with the same ones"
            raise MeasureError(msg)
        return tuple(names)
    chosen = parse_all(asked)  # type: ignore[arg-type]
    for measure in chosen:
        if not measure.definition.higher_is_better:
            msg = f"{measure} says how much is unjudged, not how good a system is; compare Judged"
            raise MeasureError(msg)
        if measure.definition.aggregate != "mean":
            msg = f"{measure} is no mean over queries, so its differences cannot be tested"
            raise MeasureError(msg)
    return tuple(dict.fromkeys(map(str, chosen)))


def _is_compared(measure: Measure) -> bool:
    return measure.definition.aggregate == "mean" and measure.definition.higher_is_better


def _queries(
    results: Sequence[tuple[str, EvaluationResult]], on: str
) -> tuple[tuple[str, ...], dict[str, int]]:
    sets = [(name, set(result.query_ids)) for name, result in results]
    shared = set.intersection(*(query_ids for _, query_ids in sets))
    if not shared:
        msg = f"the systems have no query in common: {some(name for name, _ in results)}"
        raise QueryMismatchError(msg)
    extras: dict[str, set[str]] = {}
    for name, query_ids in sets:
        if extra := query_ids - shared:
            extras.setdefault(name, set()).update(extra)
    left_out = {name: len(ids) for name, ids in extras.items()}
    if left_out and on == "error":
        shown = "; ".join(f"{name}: {some(sorted(ids))}" for name, ids in list(extras.items())[:3])
        msg = (
            f"the systems were evaluated on different queries. Beyond the {len(shared)} that all "
            f"have, {shown}. Evaluate with missing='zero', or compare with on='intersection'"
        )
        raise QueryMismatchError(msg)
    return tuple(sorted(shared)), left_out


def check_baseline(baseline: str | None, systems: Sequence[str]) -> None:
    """Raise SettingError unless the baseline is None or one of the systems."""
    if baseline is not None and baseline not in systems:
        msg = f"there is no system {baseline!r} to be the baseline; there are {some(systems)}"
        raise SettingError(msg)

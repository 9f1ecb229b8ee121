"""Systems × data sets as strata of scores, and what is tested on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.benchmark.comparison_result import DatasetDifference, DatasetScores
from beir_eval.comparison.alignment import join
from beir_eval.comparison.differences import direction_of, sign_flip_p
from beir_eval.datasets.catalogue import group_of
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    ResultError,
    some,
)
from beir_eval.significance import balanced, holm, max_t_pairs
from beir_eval.significance.validation import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.comparison_result import AcrossSettings
    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.differences import Pair, Pairs
    from beir_eval.core.arrays import Floats


class Stratum(NamedTuple):
    """One data set, or one part of a data set in parts.

    Attributes:
        name: its name.
        unit: the data set that it is a part of, else its own name.
        scores: f8[S, Q], no NaN.
        left_out: queries that not all systems have a score for.
    """

    name: str
    unit: str
    scores: Floats
    left_out: int


def systems_of(results: Any) -> dict[str, Mapping[str, SystemResults]]:
    """Return {system: {data set: result}}, of a ``BenchmarkResult`` too.

    Raises:
        ResultError: it is neither, or there are fewer than two systems.
    """
    given = getattr(results, "results", results)
    if not isinstance(given, Mapping) or not all(isinstance(o, Mapping) for o in given.values()):
        msg = (
            "a BenchmarkResult or {system: {data set: EvaluationResult}} was expected, not "
            f"{type(results).__name__}; compare(results) takes the results of one data set"
        )
        raise ResultError(msg)
    if len(given) < 2:  # noqa: PLR2004 - a comparison
        msg = f"two systems or more were expected, not {some(given) or 'none'}"
        raise ResultError(msg)
    return dict(given)


def datasets_of(
    systems: Mapping[str, Mapping[str, SystemResults]], on: str
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the data sets that all systems have, and {data set: systems that lack it}.

    Raises:
        ResultError: a system lacks one, with on="error"; or there is none that all have.
    """
    every = dict.fromkeys(name for of_system in systems.values() for name in of_system)
    lacking = {
        name: tuple(system for system, of_system in systems.items() if name not in of_system)
        for name in every
    }
    left_out = {name: without for name, without in lacking.items() if without}
    shared = [name for name in every if name not in left_out]
    if left_out and on == "error":
        by_system = {
            system: [name for name, without in left_out.items() if system in without]
            for system in systems
        }
        shown = "; ".join(
            f"{system}: {some(names)}" for system, names in by_system.items() if names
        )
        msg = (
            f"not every system has every data set. Without a result are {shown}. Evaluate them, or "
            "compare with on='intersection'"
        )
        raise ResultError(msg)
    if not shared:
        msg = f"there is no data set that all of {some(systems)} have a result for"
        raise ResultError(msg)
    return shared, left_out


def stratum_of(
    name: str, systems: Mapping[str, Mapping[str, SystemResults]], measure: str, on: str
) -> Stratum:
    """Return the scores of all systems on one data set.

    Raises:
        ResultError, QueryMismatchError, NotEvaluatedError, MeasureError: as ``compare``; the
            message begins with the data set.
        InputError: fewer than two queries.
    """
    try:
        joined = join({system: of[name] for system, of in systems.items()}, measure, on)
        scores = joined.by_measure[0].where_defined().scores
    except (ResultError, InputError, NotEvaluatedError, MeasureError) as error:
        msg = f"{name}: {error}"
        raise type(error)(msg) from error
    most = len(joined.query_ids) + max(joined.left_out.values(), default=0)
    group = group_of(name)
    unit = name if group is None else group.name
    return Stratum(name, unit, scores, most - scores.shape[1])


def means_on(strata: Sequence[Stratum], systems: Sequence[str]) -> list[DatasetScores]:
    """Return the data sets, parts together, with the mean of every system."""
    return [
        DatasetScores(
            name=unit,
            parts={one.name: one.scores.shape[1] for one in parts},
            means={
                system: math.fsum(math.fsum(one.scores[row]) / one.scores.shape[1] for one in parts)
                / len(parts)
                for row, system in enumerate(systems)
            },
        )
        for unit, parts in _units(strata)
    ]


def _units(strata: Sequence[Stratum]) -> list[tuple[str, list[Stratum]]]:
    names = dict.fromkeys(one.unit for one in strata)
    return [(name, [one for one in strata if one.unit == name]) for name in names]


def p_values(
    strata: Sequence[Stratum], pairs: Pairs, settings: AcrossSettings
) -> tuple[Floats, Floats]:
    """Return p of every pair by sign flips within the data sets, and the same corrected."""
    draws, rng = settings.draws, settings.rng
    rows = balanced([one.scores for one in strata], units=[one.unit for one in strata])
    p = sign_flip_p(rows, pairs, draws=draws, rng=rng)
    if settings.correction == "holm":
        return p, holm(p)
    return p, pairs.values_in(max_t_pairs(rows, draws=draws, rng=rng).p)


def on_each(
    strata: Sequence[Stratum],
    datasets: Sequence[DatasetScores],
    systems: Sequence[str],
    pairs: Pairs,
    settings: AcrossSettings,
) -> list[DatasetDifference]:
    """Return every pair on every data set, data set by data set, in the order of the pairs.

    Args:
        strata: the scores.
        datasets: what ``means_on`` makes of them.
        systems: names. [S]
        pairs: which systems are compared.
        settings: tests and levels.
    """
    draws, rng = settings.draws, settings.rng
    p = np.stack(
        [
            sign_flip_p(balanced([one.scores for one in parts]), pairs, draws=draws, rng=rng)
            for _, parts in _units(strata)
        ]
    )
    corrected = holm(p)
    found = []
    for row, dataset in enumerate(datasets):
        for column, pair in enumerate(pairs.listed):
            system, against = systems[pair.system], systems[pair.against]
            difference = dataset.means[system] - dataset.means[against]
            found.append(
                DatasetDifference(
                    dataset=dataset.name,
                    system=system,
                    against=against,
                    # What rounding makes of equal means is no win.
                    difference=difference if abs(difference) > TOLERANCE else 0.0,
                    p=float(p[row, column]),
                    p_corrected=float(corrected[row, column]),
                    verdict=direction_of(difference, corrected[row, column], settings.alpha),
                )
            )
    return found


def groups_of(
    order: Sequence[int], pairs: Sequence[Pair], corrected: Floats, alpha: float
) -> list[list[int]]:
    """Return the longest runs of systems in which no two differ significantly.

    Args:
        order: systems, highest average first.
        pairs: all pairs.
        corrected: their p-values, f8[pairs].
        alpha: the level.
    """
    differ = np.zeros((len(order), len(order)), dtype=np.bool_)
    for pair, p in zip(pairs, corrected.tolist(), strict=True):
        differ[pair.system, pair.against] = differ[pair.against, pair.system] = p <= alpha
    runs: list[list[int]] = []
    reached = 0
    for begin in range(len(order)):
        end = begin + 1
        while end < len(order) and not differ[order[end], order[begin:end]].any():
            end += 1
        if end > reached:  # else it lies within the run before
            runs.append(list(order[begin:end]))
            reached = end
    return runs

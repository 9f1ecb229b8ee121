"""Scores of systems by data set: alignment, means, p-values, differences and groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.benchmark.comparison_result import DatasetDifference, DatasetScores
from beir_eval.comparison.alignment import align_scores, list_repeats, or_compare, repeats_by_system
from beir_eval.comparison.coverage import coverage_of, retrieved_by_all
from beir_eval.comparison.differences import direction_of, sign_vectors_for, too_few_clusters
from beir_eval.core.ids import hash_ids
from beir_eval.datasets.catalogue import parent_info
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    ResultError,
    first_few,
    number_of,
)
from beir_eval.evaluation.tables import check_same_scale
from beir_eval.significance.corrections import corrected_tests, holm
from beir_eval.significance.multiple_comparisons import max_t_tests
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.repeats import crossed_tests
from beir_eval.significance.sign_flip import sign_flip_many
from beir_eval.significance.stratified import balanced
from beir_eval.significance.validation import TOLERANCE, check_draws_suffice, row_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.comparison_result import AcrossSettings
    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.coverage import SystemCoverage
    from beir_eval.comparison.differences import Pair, Pairs
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.measures.scales import ScoreScale
    from beir_eval.significance.corrections import CorrectedTests
    from beir_eval.significance.repeats import CrossedTests
    from beir_eval.significance.sign_vectors import Keys


class Stratum(NamedTuple):
    """The scores on one data set, or on one part of a data set in parts.

    Attributes:
        name: the name of the data set or part.
        unit: the data set that it is a part of; its own name if it is not a part.
        scores: the scores of S systems on Q queries, f8[S, Q], no NaN.
        repeats: for each system the scores of its R repeats, f8[R, Q]. [S]
        keys: the key of each query, different from those of other data sets, u8[Q].
        left_out: the number of queries left out: those that some system has, but not all have a
            score for.
        scale: the bounds of the scores, and whether higher ones are better.
        computed_elsewhere: the systems with scores that this package did not compute.
        coverage: the systems that miss judged queries or whose document ids do not match.
        is_common: whether every system has the query, rather than a score of 0 for a missing one,
            bool[Q].
    """

    name: str
    unit: str
    scores: Floats
    repeats: Sequence[Floats]
    keys: Keys
    left_out: int
    scale: ScoreScale
    computed_elsewhere: tuple[str, ...]
    coverage: tuple[SystemCoverage, ...]
    is_common: Mask

    def on_common_queries(self) -> Stratum:
        """Return the scores on the queries that every system has."""
        return self._replace(
            scores=self.scores[:, self.is_common],
            repeats=[repeats[:, self.is_common] for repeats in self.repeats],
            keys=self.keys[self.is_common],
            is_common=self.is_common[self.is_common],
        )


def results_by_system(results: Any) -> dict[str, Mapping[str, SystemResults]]:
    """Return {system: {data set: result}} of a ``BenchmarkResult`` or of such a mapping.

    Raises:
        ResultError: the results are neither, or there are fewer than two systems.
    """
    systems = getattr(results, "results", results)
    if not isinstance(systems, Mapping) or not all(
        isinstance(by_dataset, Mapping) for by_dataset in systems.values()
    ):
        msg = (
            "a BenchmarkResult or {system: {data set: EvaluationResult}} was expected, not "
            f"{type(results).__name__}; compare(results) takes the results of one data set"
        )
        raise ResultError(msg)
    if len(systems) < 2:  # noqa: PLR2004 - a comparison
        msg = f"two systems or more were expected, not {first_few(systems) or 'none'}"
        raise ResultError(msg)
    return dict(systems)


def lacking_datasets(
    systems: Mapping[str, Mapping[str, SystemResults]],
) -> dict[str, tuple[str, ...]]:
    """Return {system: the data sets that it lacks and another one has}, of systems that lack some.

    Args:
        systems: {system: {data set: result}}.
    """
    names = dict.fromkeys(name for by_dataset in systems.values() for name in by_dataset)
    return {
        system: missing
        for system, by_dataset in systems.items()
        if (missing := tuple(name for name in names if name not in by_dataset))
    }


def gaps_of(
    systems: Mapping[str, Mapping[str, SystemResults]], baseline: str | None
) -> dict[str, tuple[str, ...]]:
    """Return {system: the data sets that it lacks} of systems that have a row with gaps.

    Beside a baseline with all data sets, and another such system, the others need no average.

    Args:
        systems: {system: {data set: result}}.
        baseline: the system that the others are compared with.
    """
    gaps = lacking_datasets(systems)
    is_possible = baseline is not None and baseline not in gaps and len(gaps) < len(systems) - 1
    return gaps if is_possible else {}


def shared_datasets(
    systems: Mapping[str, Mapping[str, SystemResults]], on: str | None
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the data sets that all systems have, and {data set: systems that lack it}.

    Args:
        systems: {system: {data set: result}}.
        on: as in ``align_scores``.

    Raises:
        ResultError: a system lacks a data set, with on="error"; or no data set is common to all.
    """
    lacking = lacking_datasets(systems)
    if lacking and on in {None, "error"}:
        gaps = "; ".join(f"{system}: {first_few(missing)}" for system, missing in lacking.items())
        msg = (
            f"not every system has every data set. Without a result are {gaps}. Evaluate them"
            f"{or_compare(on, 'intersection')}"
        )
        raise ResultError(msg)
    names = dict.fromkeys(name for by_dataset in systems.values() for name in by_dataset)
    without = {
        name: tuple(system for system, missing in lacking.items() if name in missing)
        for name in names
    }
    left_out = {name: lacking_it for name, lacking_it in without.items() if lacking_it}
    shared = [name for name in names if name not in left_out]
    if not shared:
        msg = f"there is no data set that all of {first_few(systems)} have a result for"
        raise ResultError(msg)
    return shared, left_out


def check_other_queries(
    dev: Mapping[str, Mapping[str, SystemResults]],
    results: Mapping[str, Mapping[str, SystemResults]],
    *,
    by_name: bool = True,
) -> None:
    """Raise InputError if queries that choose are compared too.

    Args:
        dev: the results that choose, {system: {data set: result or repeats}}.
        results: the others.
        by_name: whether queries of data sets with different names, and different judgements, may
            have the same id.
    """
    names: dict[object, str] = {}
    chosen, compared = (
        {
            f"{data_set}/{query_id}" if by_name else query_id
            for by_dataset in systems.values()
            for name, of_dataset in by_dataset.items()
            for result in list_repeats(of_dataset)
            for data_set in [names.setdefault(result.provenance.qrels_hash or name, name)]
            for query_id in result.query_ids
        }
        for systems in (dev, results)
    )
    if shared := sorted(chosen & compared):
        msg = (
            f"{number_of(len(shared), 'query')} choose and are compared: "
            f"{first_few(shared)}; leave them out of one of both"
        )
        raise InputError(msg)


@contextmanager
def about(name: str) -> Iterator[None]:
    """Begin the message of an error about results with a name, if any, as of a data set."""
    try:
        yield
    except (ResultError, InputError, NotEvaluatedError, MeasureError) as error:
        error.args = (f"{name}: {error}" if name else str(error),)
        raise


def stratum_of(
    name: str,
    systems: Mapping[str, Mapping[str, SystemResults]],
    measure: str,
    on: str | None,
    clusters: Mapping[str, str] | None = None,
) -> Stratum:
    """Return the scores of all systems on one data set, by cluster if there are clusters.

    Args:
        name: the data set.
        systems: {system: {data set: result}}.
        measure: the canonical name of the measure, or the name of a custom one.
        on: as in ``align_scores``.
        clusters: likewise.

    Raises:
        ResultError: the results were evaluated differently. This and all following messages begin
            with the data set.
        QueryMismatchError: the results have different queries, with on="error"; or none in common.
        NotEvaluatedError: a result does not have the measure.
        MeasureError: the measure is not a mean over queries.
        InputError: fewer than two queries have a score from all systems, or clusters are too few
            for any verdict.
    """
    with about(name):
        of_dataset = {system: by_dataset[name] for system, by_dataset in systems.items()}
        joined = align_scores(repeats_by_system(of_dataset), measure, on, clusters)
        defined = joined.by_measure[0].where_defined()
        if too_few := too_few_clusters(defined):
            raise InputError(too_few)
    all_queries = {
        query_id
        for repeats in joined.results.values()
        for result in repeats
        for query_id in result.query_ids
    }
    dataset_in_parts = parent_info(name)
    unit = name if dataset_in_parts is None else dataset_in_parts.name
    is_common = retrieved_by_all(joined.results, joined.query_ids)[joined.by_measure[0].is_defined]
    return Stratum(
        name,
        unit,
        defined.units.rows,
        defined.repeats,
        # Data sets may have queries with the same id.
        defined.units.keys ^ hash_ids([name])[0],
        len(all_queries) - len(is_common),
        defined.scale,
        joined.computed_elsewhere,
        coverage_of(joined.results, joined.measures, name),
        is_common,
    )


def shared_scale(measure: str, strata: Sequence[Stratum]) -> ScoreScale:
    """Return the scale of a measure's scores, which must be the same on all data sets.

    Raises:
        ResultError: the data sets have different scales.
    """
    first = strata[0]
    for stratum in strata[1:]:
        check_same_scale(measure, (first.name, first.scale), (stratum.name, stratum.scale))
    return first.scale


def mean_scores(strata: Sequence[Stratum], systems: Sequence[str]) -> list[DatasetScores]:
    """Return the mean of every system on each data set, where parts are one data set."""
    return [
        DatasetScores(
            name=unit,
            parts={part.name: part.scores.shape[1] for part in parts},
            means={
                system: math.fsum(
                    math.fsum(part.scores[row]) / part.scores.shape[1] for part in parts
                )
                / len(parts)
                for row, system in enumerate(systems)
            },
        )
        for unit, parts in _parts_by_unit(strata)
    ]


def repeats_of(strata: Sequence[Stratum], row: int) -> Floats:
    """Return the scores of a system's repeats, as ``balanced`` scales them, f8[R, Q].

    There is one row, of the means of its repeats, if the strata have different numbers of them.
    """
    arrays = [stratum.repeats[row] for stratum in strata]
    if len(set(map(len, arrays))) > 1:
        arrays = [stratum.scores[[row]] for stratum in strata]
    return balanced(arrays, units=[stratum.unit for stratum in strata])


def repeat_means(
    strata: Sequence[Stratum], systems: Sequence[str]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return {system: {data set: the mean of each of its repeats}} of systems with repeats."""
    means: dict[str, dict[str, tuple[float, ...]]] = {}
    for unit, parts in _parts_by_unit(strata):
        for row, system in enumerate(systems):
            if len(parts[0].repeats[row]) > 1 < len(repeats := repeats_of(parts, row)):
                means.setdefault(system, {})[unit] = tuple(row_means(repeats).tolist())
    return means


def tests_over_repeats(
    strata: Sequence[Stratum], pairs: Pairs
) -> tuple[list[int], CrossedTests | None]:
    """Return which pairs have a system with repeats, and their tests over queries and repeats.

    A system with one result has no noise: the tests are about this result.
    """
    if all(len(repeats) == 1 for repeats in strata[0].repeats):
        return [], None
    repeats = [repeats_of(strata, row) for row in range(len(strata[0].repeats))]
    single = {row for row, array in enumerate(repeats) if len(array) == 1}
    noisy = [index for index, pair in enumerate(pairs.listed) if not single.issuperset(pair)]
    if not noisy:
        return [], None
    sizes = [np.ones((1, stratum.scores.shape[1])) for stratum in strata]
    return noisy, crossed_tests(
        repeats,
        [pairs.listed[index] for index in noisy],
        deterministic=single,
        weights=balanced(sizes, units=[stratum.unit for stratum in strata])[0],
    )


def _parts_by_unit(strata: Sequence[Stratum]) -> list[tuple[str, list[Stratum]]]:
    """Return (data set, its parts) for each data set; one without parts is its own part."""
    units = dict.fromkeys(stratum.unit for stratum in strata)
    return [(unit, [stratum for stratum in strata if stratum.unit == unit]) for unit in units]


def average_tests(
    strata: Sequence[Stratum], pairs: Pairs, settings: AcrossSettings
) -> tuple[Floats, CorrectedTests]:
    """Return the tests of all pairs on the average: uncorrected p, f8[D], and corrected tests.

    The signs of differences are flipped query by query, within each data set, so the tests are
    about these data sets. With ``settings.hierarchical`` the signs of whole data sets are flipped,
    and the tests are about other data sets like these. Else the difference of a system with repeats
    must also be significant over queries and repeats (``crossed_tests``, by Holm).

    Args:
        strata: the scores by data set or part.
        pairs: the D pairs of systems that are compared.
        settings: the level, the number of draws and the seed.
    """
    units = [stratum.unit for stratum in strata]
    if settings.hierarchical:
        names = list(dict.fromkeys(units))
        of_units = [
            np.mean([row_means(part.scores) for part in parts], axis=0)
            for _, parts in _parts_by_unit(strata)
        ]
        rows = np.stack(of_units, axis=1)
        keys, weights = hash_ids(names), None
    else:
        rows = balanced([stratum.scores for stratum in strata], units=units)
        weights = balanced(
            [np.ones((1, stratum.scores.shape[1])) for stratum in strata], units=units
        )[0]
        keys = np.concatenate([stratum.keys for stratum in strata])
    signs = sign_vectors_for(rows.shape[1], pairs, draws=settings.draws, rng=settings.rng)
    check_draws_suffice(signs.draws, settings.alpha)
    system, against = np.array(pairs.listed).T
    family = Family(rows, keys, system, against, weights)
    is_family = len(pairs.listed) > 1
    [flipped] = randomise(
        [family], signs, level=settings.alpha, largest="family" if is_family else "none"
    )
    p = flipped.p()
    if is_family:
        corrected = max_t_tests(flipped, settings.alpha)
    else:
        corrected = corrected_tests(flipped.means, p, flipped.intervals, "none", settings.alpha)
    noisy, crossed = ([], None) if settings.hierarchical else tests_over_repeats(strata, pairs)
    if crossed is None:
        return p, corrected
    p[noisy] = np.maximum(p[noisy], crossed.p())
    over_repeats = corrected_tests(
        flipped.means[noisy], crossed.p(), crossed.intervals, "holm", settings.alpha
    )
    of_both = {}
    for name, larger in (
        ("p_corrected", np.maximum),
        ("is_significant", np.logical_and),
        ("low", np.minimum),
        ("high", np.maximum),
    ):
        of_both[name] = getattr(corrected, name).copy()
        of_both[name][noisy] = larger(of_both[name][noisy], getattr(over_repeats, name))
    return p, replace(corrected, **of_both)


def dataset_differences(
    compared: Sequence[tuple[Sequence[Stratum], Sequence[str], Pairs]],
    datasets: Sequence[DatasetScores],
    settings: AcrossSettings,
) -> list[DatasetDifference]:
    """Return the difference of every pair on every data set, with p-values and verdict.

    p of a system with repeats is the larger of that over queries, and that over queries and
    repeats. p-values are corrected by Holm over all differences.

    Args:
        compared: scores by data set or part, the names of their systems, and which are compared:
            of all systems, then of each system with gaps. The differences have this order, then
            that of the data sets and pairs.
        datasets: the means of all systems.
        settings: the level of the verdicts, the number of draws and the seed.
    """
    tested: list[dict[str, Any]] = []
    drawn: set[int] = set()
    means = {dataset.name: dataset.means for dataset in datasets}
    for strata, systems, pairs in compared:
        for unit, parts in _parts_by_unit(strata):
            rows = pairs.differences(balanced([part.scores for part in parts]))
            flips = sign_flip_many(rows, draws=settings.draws, rng=settings.rng)
            if not np.all(flips.exact):
                drawn.add(flips.draws)
            all_p = np.array(flips.p)
            noisy, crossed = tests_over_repeats(parts, pairs)
            if crossed is not None:
                all_p[noisy] = np.maximum(all_p[noisy], crossed.p())
            for pair, p, row in zip(pairs.listed, all_p.tolist(), rows, strict=True):
                system, against = systems[pair.system], systems[pair.against]
                difference = means[unit][system] - means[unit][against]
                fields = {"dataset": unit, "system": system, "against": against, "p": p}
                # Means that differ only by rounding are equal.
                fields["difference"] = difference if abs(difference) > TOLERANCE else 0.0
                tested.append(fields | {"verdict": "undecided" if row.any() else "identical"})
    for draws in drawn:
        check_draws_suffice(draws, settings.alpha / len(tested))
    corrected = holm(np.array([fields["p"] for fields in tested])).tolist()
    gain = compared[0][0][0].scale.gains
    for fields, p in zip(tested, corrected, strict=True):
        if fields["verdict"] != "identical":
            fields["verdict"] = direction_of(gain(fields["difference"]), p, settings.alpha)
    return [
        DatasetDifference(**fields, p_corrected=p)
        for fields, p in zip(tested, corrected, strict=True)
    ]


def groups_without_difference(
    order: Sequence[int], pairs: Sequence[Pair], is_significant: Mask
) -> list[list[int]]:
    """Return the longest sequences of systems, by average, in which no two differ significantly.

    Args:
        order: the indices of the systems, best average first. [S]
        pairs: all pairs of systems.
        is_significant: which pairs differ significantly, bool[pairs].
    """
    differ = np.zeros((len(order), len(order)), dtype=np.bool_)
    for pair, is_different in zip(pairs, is_significant.tolist(), strict=True):
        differ[pair.system, pair.against] = differ[pair.against, pair.system] = is_different
    groups: list[list[int]] = []
    previous_end = 0
    for begin in range(len(order)):
        end = begin + 1
        while end < len(order) and not differ[order[end], order[begin:end]].any():
            end += 1
        if end > previous_end:  # else the previous group contains it
            groups.append(list(order[begin:end]))
            previous_end = end
    return groups

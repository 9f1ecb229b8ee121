"""``compare_benchmark``: comparison of systems by their average over data sets.

The average is the unweighted mean of the means on the data sets. Queries of different data sets are
never pooled, since the largest data set would then decide. Intervals and p-values account for the
choice of queries within each data set, or for the choice of data sets with ``hierarchical``.
"""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.benchmark.chosen_rows import with_chosen_rows
from beir_eval.benchmark.comparison_result import (
    AcrossDatasets,
    AcrossSettings,
    AverageDifference,
    CommonAverages,
    SystemAverage,
)
from beir_eval.benchmark.dataset_scores import (
    average_tests,
    dataset_differences,
    gaps_of,
    groups_without_difference,
    mean_scores,
    repeat_means,
    results_by_system,
    shared_datasets,
    shared_scale,
    stratum_of,
)
from beir_eval.comparison.alignment import check_baseline
from beir_eval.comparison.coverage import warn_of_content
from beir_eval.comparison.differences import pairs_to_compare
from beir_eval.measures.names import name_among, registered
from beir_eval.significance.stratified import (
    StratifiedBootstrap,
    resampled_ranks,
    stratified_bootstrap,
)
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.benchmark.comparison_result import DatasetDifference
    from beir_eval.benchmark.dataset_scores import Stratum
    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.differences import Pair, Pairs
    from beir_eval.comparison.records import Verdict
    from beir_eval.core.arrays import Floats
    from beir_eval.measures import MeasureLike
    from beir_eval.measures.scales import ScoreScale
    from beir_eval.significance.corrections import CorrectedTests


def compare_benchmark(  # noqa: PLR0913 - one keyword a setting
    results: BenchmarkResult | Mapping[str, Mapping[str, SystemResults]],
    measure: MeasureLike = "nDCG@10",
    *,
    baseline: str | None = None,
    hierarchical: bool = False,
    alpha: float = 0.05,
    on: str = "error",
    draws: int | None = None,
    rng: int = 0,
    choose: Mapping[str, Sequence[str]] | None = None,
    dev: BenchmarkResult | Mapping[str, Mapping[str, SystemResults]] | None = None,
) -> AcrossDatasets:
    """Return a comparison of systems by their average over data sets.

    The average of a system is the unweighted mean of its means on the data sets. A data set in
    parts (CQADupStack's forums) is one data set, whose mean is that of its parts. Queries for which
    a system has no score (NaN) are left out.

    Verdicts, p-values and intervals of the differences come from one sign-flip test: the signs of
    the differences are flipped query by query, and the statistic is the average over data sets of
    the mean differences. With ``hierarchical`` the signs of whole data sets are flipped. Several
    pairs are corrected by max-T, with simultaneous intervals. p-values on single data sets are
    corrected by Holm's method over data sets and pairs. A system with as many repeats on each data
    set must also differ over queries and repeats (``significance.crossed_tests``); one with a
    single result is taken as it is. Ranks, and the intervals of the averages,
    come from 10,000 bootstrap resamples of the queries within each data set, the same for all
    systems: BCa intervals, or percentile intervals with ``hierarchical``.

    Args:
        results: a ``BenchmarkResult``, or {system: {data set: result}}. A result is an
            ``EvaluationResult``, or a list of those of several repeats, whose scores are averaged
            by query. Repeat i on one data set belongs to repeat i on the others, if the same.
        measure: the measure, or its name in any spelling that ``parse`` reads. It must be a mean
            over queries, and not one of what is unjudged (Hole, RBP_residual). Of a custom measure
            for which lower is better, the best system is the one with the lowest average.
        baseline: the system that all others are compared with; by default all pairs are compared.
        hierarchical: whether all statements are about other data sets like these, not about these
            data sets; needs five data sets or more. With five no difference is significant at
            alpha = .05, since the smallest p is .0625.
        alpha: the level of significance of the verdicts, between 0 and 1; intervals have the
            confidence 1 − alpha: those of the differences for all pairs together, those of the
            averages each.
        on: what happens if a system lacks a data set, or a query of a data set:

            - "error": ResultError or QueryMismatchError is raised; but beside a baseline and
              another system that have all data sets, a system that lacks some has gaps, and no
              average;
            - "intersection": only what all systems have is compared, and chooses;
            - "any-judgements": the same, also if results were evaluated on different judgements.
        draws: the number of random sign vectors of the test; None: 100,000, or 20,000 for more than
            1,000 queries or 500 pairs. If a pair has no more than this, up to their opposites, all
            are used.
        rng: the seed of the random numbers, a whole number, 0 or more.
        choose: {name of a row: systems}: of these only the one with the best average over ``dev``
            is a row. Beside fixed rows a chosen one needs other queries.
        dev: results of these systems on other queries, in the form of ``results``.

    Returns:
        The averages with intervals and ranks, and the differences with p-values and verdicts.

    Raises:
        ResultError: there are fewer than two systems; a system lacks a data set, with on="error";
            no data set is common to all systems; the results of a data set were evaluated with
            different settings or on different judgements (unless ``on="any-judgements"``); or
            bounds or direction of a custom measure differ.
        QueryMismatchError: the results of a data set have different queries, with on="error"; or
            none in common.
        NotEvaluatedError: a result does not have the measure.
        MeasureError: the measure does not exist (UnknownMeasureError), is not a mean over
            queries, or measures what is unjudged.
        InputError: fewer than two queries of a data set have a score from all systems.
        SettingError: a setting has another value; the baseline is not one of the systems;
            ``hierarchical`` with fewer than five data sets; all pairs of more than 100 systems.

    Warns:
        BeirEvalWarning: the document ids of a system do not match those of the qrels.

    Source: stratified and hierarchical bootstrap: Davison and Hinkley, Bootstrap Methods and their
    Application, 1997, sections 3.2 and 3.8.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> first = evaluate(qrels, {query: {"a": 2, "x": 1} for query in qrels}, "MRR")
    >>> second = evaluate(qrels, {query: {"a": 1, "x": 2} for query in qrels}, "MRR")
    >>> results = {"A": {"one": first, "two": first}, "B": {"one": second, "two": first}}
    >>> pair = compare_benchmark(results, "MRR", baseline="B").difference("A")
    >>> pair.difference, pair.p, pair.better, pair.verdict  # p: 2 of 2^8 patterns
    (0.25, 0.0078125, 1, 'better')
    """
    given = results_by_system(results)
    canonical = measure_name(measure, given)
    all_results, chosen = with_chosen_rows(given, choose, dev, canonical, baseline=baseline, on=on)
    check_baseline(baseline, tuple(all_results))
    gaps = {} if on == "intersection" else gaps_of(all_results, baseline)
    results_of = {name: of_system for name, of_system in all_results.items() if name not in gaps}
    systems = tuple(results_of)
    pairs = pairs_to_compare(systems, baseline)
    settings = AcrossSettings(
        hierarchical=hierarchical,
        correction="max-t",
        alpha=alpha,
        on=on,
        draws=draws,
        rng=rng,
    )
    names, left_out = shared_datasets(results_of, on)
    strata = [stratum_of(name, results_of, canonical, on) for name in names]
    scale = shared_scale(canonical, strata)
    bootstrap = stratified_bootstrap(
        [stratum.scores for stratum in strata],
        units=[stratum.unit for stratum in strata],
        hierarchical=hierarchical,
        rng=rng,
    )
    p, corrected = average_tests(strata, pairs, settings)
    order = np.argsort(-scale.gains(bootstrap.averages), kind="stable").tolist()
    groups = (
        []
        if baseline is not None
        else groups_without_difference(order, pairs.listed, corrected.is_significant)
    )
    coverage = tuple(covered for stratum in strata for covered in stratum.coverage)
    datasets, repeats = mean_scores(strata, systems), repeat_means(strata, systems)
    with_gaps = []
    for name in gaps:
        named = (name, str(baseline))
        both = {system: all_results[system] for system in named}
        lacking = {stratum.unit for stratum in strata if stratum.name not in both[name]}
        of_system = [
            stratum_of(stratum.name, both, canonical, on)
            for stratum in strata
            if stratum.unit not in lacking
        ]
        with_gaps.append((of_system, named, pairs_to_compare(named, baseline)))
        for theirs in mean_scores(of_system, (name,)):
            [dataset] = [dataset for dataset in datasets if dataset.name == theirs.name]
            dataset.means.update(theirs.means)
        repeats |= repeat_means(of_system, (name,))
        warned = (covered for stratum in of_system for covered in stratum.coverage)
        coverage += tuple(covered for covered in warned if covered.system == name)
    warn_of_content(coverage)
    by_dataset = dataset_differences([(strata, systems, pairs), *with_gaps], datasets, settings)
    return AcrossDatasets(
        measure=canonical,
        baseline=baseline,
        datasets=tuple(datasets),
        averages=tuple(_averages(bootstrap, scale, systems, order, groups, alpha)),
        differences=tuple(
            _differences(
                bootstrap.averages,
                scale,
                systems,
                pairs.listed,
                (p, corrected),
                by_dataset[: len(datasets) * len(pairs.listed)],  # without those with gaps
            )
        ),
        by_dataset=tuple(by_dataset),
        groups=tuple(tuple(systems[row] for row in group) for group in groups),
        settings=settings,
        left_out=left_out,
        gaps=gaps,
        queries_left_out={stratum.name: stratum.left_out for stratum in strata if stratum.left_out},
        custom_scale=None if registered(canonical) is not None else scale,
        computed_elsewhere=tuple(
            system
            for system in systems
            if any(system in stratum.computed_elsewhere for stratum in strata)
        ),
        coverage=coverage,
        chosen=chosen,
        repeats=repeats,
        on_common_queries=_on_common_queries(strata, scale, systems, pairs, settings),
    )


def _on_common_queries(
    strata: Sequence[Stratum],
    scale: ScoreScale,
    systems: tuple[str, ...],
    pairs: Pairs,
    settings: AcrossSettings,
) -> CommonAverages | None:
    """Return the comparison over the queries that all systems have; None if these are all."""
    if all(stratum.is_common.all() for stratum in strata):
        return None
    common = [stratum.on_common_queries() for stratum in strata]
    differences: list[AverageDifference] = []
    if all(len(stratum.keys) >= FEWEST_QUERIES for stratum in common):
        datasets = mean_scores(common, systems)
        averages = np.array(
            [
                math.fsum(dataset.means[system] for dataset in datasets) / len(datasets)
                for system in systems
            ]
        )
        differences = _differences(
            averages,
            scale,
            systems,
            pairs.listed,
            average_tests(common, pairs, settings),
            dataset_differences([(common, systems, pairs)], datasets, settings),
        )
    return CommonAverages(
        num_queries=sum(len(stratum.keys) for stratum in common),
        differences=tuple(differences),
    )


def measure_name(
    measure: MeasureLike, results_of: Mapping[str, Mapping[str, SystemResults]]
) -> str:
    """Return the canonical name of a measure, or the name of a custom one that a result has."""
    custom_measures = {
        name
        for by_dataset in results_of.values()
        for results in by_dataset.values()
        for result in (results if isinstance(results, (list, tuple)) else [results])
        for name in getattr(result, "custom_measures", ())
    }
    return name_among(custom_measures, measure)


def _averages(  # noqa: PLR0913, PLR0917 - what an average and its rank depend on
    bootstrap: StratifiedBootstrap,
    scale: ScoreScale,
    systems: Sequence[str],
    order: Sequence[int],
    groups: Sequence[Sequence[int]],
    alpha: float,
) -> list[SystemAverage]:
    """Return the average of every system with interval, rank and groups, best average first."""
    ranks = resampled_ranks(scale.gains(bootstrap.resampled), confidence=1 - alpha)
    gains = scale.gains(bootstrap.averages)
    averages = []
    for row in order:
        low, high = bootstrap.interval(row, confidence=1 - alpha)
        averages.append(
            SystemAverage(
                system=systems[row],
                average=float(bootstrap.averages[row]),
                low=low,
                high=high,
                rank=1 + int((gains > gains[row]).sum()),
                rank_low=int(ranks.low[row]),
                rank_high=int(ranks.high[row]),
                first=float(ranks.first[row]),
                groups="".join(
                    _letter_at(index) for index, group in enumerate(groups) if row in group
                ),
            )
        )
    return averages


def _differences(  # noqa: PLR0913, PLR0917 - all that the verdicts depend on
    averages: Floats,
    scale: ScoreScale,
    systems: Sequence[str],
    pairs: Sequence[Pair],
    tests: tuple[Floats, CorrectedTests],
    by_dataset: Sequence[DatasetDifference],
) -> list[AverageDifference]:
    """Return the difference of the averages of every pair, with interval, p-values and verdict."""
    differences = []
    p, corrected = tests
    for index, pair in enumerate(pairs):
        difference = float(averages[pair.system] - averages[pair.against])
        verdict: Verdict = "undecided"
        on_datasets = by_dataset[index :: len(pairs)]
        if all(on_dataset.verdict == "identical" for on_dataset in on_datasets):
            verdict = "identical"
        elif corrected.is_significant[index]:
            verdict = "better" if scale.gains(difference) > 0 else "worse"
        gains = scale.gains(np.array([on_dataset.difference for on_dataset in on_datasets]))
        differences.append(
            AverageDifference(
                system=systems[pair.system],
                against=systems[pair.against],
                difference=difference,
                low=float(corrected.low[index]),
                high=float(corrected.high[index]),
                p=float(p[index]),
                p_corrected=float(corrected.p_corrected[index]),
                better=int((gains > 0).sum()),
                worse=int((gains < 0).sum()),
                significantly_better=sum(
                    on_dataset.verdict == "better" for on_dataset in on_datasets
                ),
                significantly_worse=sum(
                    on_dataset.verdict == "worse" for on_dataset in on_datasets
                ),
                verdict=verdict,
            )
        )
    return differences


def _letter_at(index: int) -> str:
    """Return the letter of a group; a number in brackets after z.

    >>> _letter_at(0), _letter_at(25), _letter_at(26)
    ('a', 'z', '[27]')
    """
    return ascii_lowercase[index] if index < len(ascii_lowercase) else f"[{index + 1}]"

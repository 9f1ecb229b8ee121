"""Which system is better over several data sets: ``compare_benchmark``.

Queries of different data sets are never pooled: a large data set would decide alone. The average is
the unweighted mean of the data sets' means, chance enters by the queries within each data set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.benchmark.comparison_result import (
    AcrossDatasets,
    AcrossSettings,
    AverageDifference,
    SystemAverage,
)
from beir_eval.benchmark.dataset_scores import (
    datasets_of,
    groups_of,
    means_on,
    on_each,
    p_values,
    stratum_of,
    systems_of,
)
from beir_eval.comparison.alignment import check_baseline
from beir_eval.comparison.differences import direction_of, pairs_of
from beir_eval.comparison.tables import letter_at
from beir_eval.measures import parse
from beir_eval.significance import resampled_ranks, stratified_bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.benchmark.comparison_result import DatasetDifference
    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.differences import Pair
    from beir_eval.core.arrays import Floats
    from beir_eval.measures import MeasureLike
    from beir_eval.significance import StratifiedBootstrap


def compare_benchmark(  # noqa: PLR0913 - one keyword a setting
    results: BenchmarkResult | Mapping[str, Mapping[str, SystemResults]],
    baseline: str | None = None,
    measure: MeasureLike = "nDCG@10",
    *,
    hierarchical: bool = False,
    alpha: float = 0.05,
    on: str = "error",
    draws: int = 100_000,
    rng: int = 0,
) -> AcrossDatasets:
    """Compare systems by their average over data sets.

    The average is the unweighted mean of the data sets' means; a data set in parts (CQADupStack's
    forums) is one data set, the mean of its parts. Intervals and ranks come from 10,000 resamples
    of the queries within each data set, the same for all systems. p: the signs of the differences
    are flipped query by query, and the statistic is the average over data sets of the mean
    differences. It is corrected by Holm with a baseline, by max-T for all pairs.

    Args:
        results: a ``BenchmarkResult``, or {system: {data set: result}}; a result may be a list, the
            repeats of the system.
        baseline: the system that all others are compared with; without one, all pairs are.
        measure: which measure.
        hierarchical: whether the data sets are resampled too, so that intervals and ranks speak of
            data sets that there might have been. Takes five or more. p stays that of these data
            sets.
        alpha: the level of the verdicts; intervals have the confidence 1 − alpha.
        on: where systems lack a data set, or a query of one: an "error", or compared on the
            "intersection".
        draws: sign vectors that are drawn; all of them are tried where there are no more.
        rng: the seed.

    Raises:
        ResultError: fewer than two systems, a data set that a system lacks, none that all have,
            results of one data set that were evaluated differently.
        QueryMismatchError: different queries in a data set (named).
        NotEvaluatedError, MeasureError: a result lacks the measure, or it is no mean.
        InputError: fewer than two queries in a data set.
        SettingError: a value that does not exist; hierarchical with fewer than five data sets; all
            pairs of more than 100 systems.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> first = evaluate(qrels, {query: {"a": 2, "x": 1} for query in qrels}, "MRR")
    >>> second = evaluate(qrels, {query: {"a": 1, "x": 2} for query in qrels}, "MRR")
    >>> results = {"A": {"one": first, "two": first}, "B": {"one": second, "two": first}}
    >>> found = compare_benchmark(results, "B", "MRR").difference("A")
    >>> found.difference, found.p, found.better, found.verdict  # p: 2 of 2^8 patterns
    (0.25, 0.0078125, 1, 'better')
    """
    name = str(parse(measure))
    by_system = systems_of(results)
    systems = tuple(by_system)
    check_baseline(baseline, systems)
    pairs = pairs_of(systems, baseline)
    settings = AcrossSettings(
        hierarchical=hierarchical,
        correction="max-t" if baseline is None else "holm",
        alpha=alpha,
        on=on,
        draws=draws,
        rng=rng,
    )
    names, left_out = datasets_of(by_system, on)
    strata = [stratum_of(one, by_system, name, on) for one in names]
    drawn = stratified_bootstrap(
        [one.scores for one in strata],
        units=[one.unit for one in strata],
        hierarchical=hierarchical,
        rng=rng,
    )
    p, corrected = p_values(strata, pairs, settings)
    order = np.argsort(-drawn.averages, kind="stable").tolist()
    groups = [] if baseline is not None else groups_of(order, pairs.listed, corrected, alpha)
    datasets = means_on(strata, systems)
    by_dataset = on_each(strata, datasets, systems, pairs, settings)
    return AcrossDatasets(
        measure=name,
        baseline=baseline,
        datasets=tuple(datasets),
        averages=tuple(_averages(drawn, systems, order, groups, alpha)),
        differences=tuple(
            _differences(drawn, systems, pairs.listed, (p, corrected), by_dataset, alpha)
        ),
        by_dataset=tuple(by_dataset),
        groups=tuple(tuple(systems[row] for row in group) for group in groups),
        settings=settings,
        left_out=left_out,
        queries_left_out={one.name: one.left_out for one in strata if one.left_out},
    )


def _averages(
    drawn: StratifiedBootstrap,
    systems: Sequence[str],
    order: Sequence[int],
    groups: Sequence[Sequence[int]],
    alpha: float,
) -> list[SystemAverage]:
    ranks = resampled_ranks(drawn.resampled, confidence=1 - alpha)
    found = []
    for row in order:
        low, high = drawn.interval(row, confidence=1 - alpha)
        found.append(
            SystemAverage(
                system=systems[row],
                average=float(drawn.averages[row]),
                low=low,
                high=high,
                rank=1 + int((drawn.averages > drawn.averages[row]).sum()),
                rank_low=int(ranks.low[row]),
                rank_high=int(ranks.high[row]),
                first=float(ranks.first[row]),
                groups="".join(
                    letter_at(place) for place, group in enumerate(groups) if row in group
                ),
            )
        )
    return found


def _differences(  # noqa: PLR0913, PLR0917 - what the verdicts come from
    drawn: StratifiedBootstrap,
    systems: Sequence[str],
    pairs: Sequence[Pair],
    p_values: tuple[Floats, Floats],
    by_dataset: Sequence[DatasetDifference],
    alpha: float,
) -> list[AverageDifference]:
    found = []
    for place, (pair, p, corrected) in enumerate(zip(pairs, *p_values, strict=True)):
        difference = float(drawn.averages[pair.system] - drawn.averages[pair.against])
        low, high = drawn.interval(pair.system, pair.against, confidence=1 - alpha)
        on_each_one = by_dataset[place :: len(pairs)]
        found.append(
            AverageDifference(
                system=systems[pair.system],
                against=systems[pair.against],
                difference=difference,
                low=low,
                high=high,
                p=float(p),
                p_corrected=float(corrected),
                better=sum(one.difference > 0 for one in on_each_one),
                worse=sum(one.difference < 0 for one in on_each_one),
                significantly_better=sum(one.verdict == "better" for one in on_each_one),
                significantly_worse=sum(one.verdict == "worse" for one in on_each_one),
                verdict=direction_of(difference, corrected, alpha),
            )
        )
    return found
